/*
 * symbol_world.h - an analysis whose modules have symbols of all kinds, made by
 * hand.
 *
 *     app.exe    app.pdb: functions, inlined calls, lines, an allocation's type
 *     crt.dll    crt.pdb: public symbols only
 *     lib.dll    no PDB, but the program file with exports
 *     gone.dll   names a PDB that is nowhere
 *     blank.dll  the trace does not say which build it is
 *
 * One process, 10 "a.exe", has them all. Files lie in a folder of their own.
 */
#ifndef TESTS_SYMBOL_WORLD_H
#define TESTS_SYMBOL_WORLD_H

#include "engine/names/symbols.h"
#include "hand_result.h"
#include "temporary.h"

#define WORLD_APP   UINT64_C(0x400000)
#define WORLD_CRT   UINT64_C(0x500000)
#define WORLD_LIB   UINT64_C(0x600000)
#define WORLD_GONE  UINT64_C(0x700000)
#define WORLD_BLANK UINT64_C(0x800000)

/*
 * Offsets in app.exe to return to. grow is
 *
 *     1100            1108       1110      1117    1130   1140        1200
 *       |  grow :11     |  push    |  allocate      |  push |  grow :12  |
 *                                       ^ an int came from the call that ends here
 */
#define WORLD_NEW       UINT64_C(0x1018) /* operator new */
#define WORLD_NEW_END   UINT64_C(0x1040) /* behind its last byte */
#define WORLD_GROW      UINT64_C(0x1104) /* a.cpp:11 */
#define WORLD_GROW_LATE UINT64_C(0x1180) /* a.cpp:12 */
#define WORLD_PUSH      UINT64_C(0x110c) /* vec<int>::push < grow */
#define WORLD_ALLOCATE  UINT64_C(0x1117) /* allocate < vec<int>::push < grow, type int */
#define WORLD_MAIN      UINT64_C(0x1308)
#define WORLD_MAIN_AT   UINT64_C(0x1300) /* its first byte: the call before it is nobody's */

#define WORLD_UNNAMED UINT64_C(0x1418) /* two inlined calls without names < stripped */

#define WORLD_MALLOC   UINT64_C(0x1010) /* in crt.dll: malloc + 0x10 */
#define WORLD_FILE     UINT64_C(0x1108) /* in crt.dll: File::open + 8 */
#define WORLD_LIB_MAKE UINT64_C(0x1120) /* in lib.dll: make + 0x20 */
#define WORLD_LIB_GROW UINT64_C(0x1210) /* in lib.dll: Heap::grow + 0x10 */

typedef struct symbol_world {
    char folder[TEMPORARY_PATH_BYTES];
    etlheap_result *result;
    etlheap_symbols *symbols;
    etlheap_query query; /* with the symbols */
    u32 process;
    char text[4096];
} symbol_world;

/* The analysis and the files; symbols are opened by world_open_symbols. */
symbol_world *world_new(void);
void world_free(symbol_world *w);

/* Options may be NULL: the folder is the path, one job. */
void world_open_symbols(symbol_world *w, const etlheap_symbol_options *options);

/* The module's index in the result; fails the test when there is none. */
u32 world_module(const symbol_world *w, const char *name);

/* A file of the folder; valid until the next call. */
const char *world_file(symbol_world *w, const char *name);

/* What is known of a place: "allocate a.h:3 < vec<int>::push < grow a.cpp:11 new int",
 * "near malloc+0x10", "guess make+0x20", or "-". */
const char *world_name(symbol_world *w, const char *module, u64 offset);

u64 world_diag(const symbol_world *w, etl_diag diag);

/* A heap block that is never freed. Returns the id of its stack. */
u32 world_block(symbol_world *w, u64 size, const u64 *frames, u32 count);

#endif
