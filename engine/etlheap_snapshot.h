/*
 * etlheap_snapshot.h - results of what another tool told about a heap at one moment.
 *
 * Part of engine.h. UMDH, for one, lists the blocks of a process that are outstanding, with
 * their stacks. A result that is made of such a list answers every question about memory that
 * needs no times: all blocks were allocated before it begins and none is freed, so they are
 * outstanding and of type AOFO.
 */
#ifndef ETLHEAP_SNAPSHOT_H
#define ETLHEAP_SNAPSHOT_H

#include "engine.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct etlheap_snapshot_module {
    u64 base, size_bytes;
    const char *name; /* of the file */
} etlheap_snapshot_module;

typedef struct etlheap_snapshot_stack {
    const u64 *addresses; /* innermost first */
    u32 count;            /* at least 1 */
} etlheap_snapshot_stack;

typedef struct etlheap_snapshot_block {
    u64 address, size_bytes, heap_handle;
    u32 stack; /* index + 1; 0: none */
} etlheap_snapshot_block;

typedef struct etlheap_snapshot {
    size_t size;          /* sizeof(etlheap_snapshot) */
    const char *file;     /* that it is from, for output */
    const char *tool;     /* that took it, in the place of a session's name */
    const char *computer; /* "" unknown */
    const char *process;
    u32 pid;
    u32 pointer_bits;
    u64 file_bytes;
    i64 taken_filetime; /* 0 unknown */
    const etlheap_snapshot_module *modules;
    u32 module_count;
    const etlheap_snapshot_stack *stacks;
    u32 stack_count;
    const etlheap_snapshot_block *blocks;
    u64 block_count;
    u64 skipped_lines; /* of the file, which were not understood */
} etlheap_snapshot;

/*
 * Makes a result, which takes copies of all it needs. Its modules have no build: symbols are
 * found by the program file beside the PDB, if its size is the module's, or loosely by name.
 * On success the caller owns *out. ETL_ERR_ARGUMENT (a block whose stack there is not),
 * ETL_ERR_UNSUPPORTED, ETL_ERR_MEMORY.
 */
etl_status etlheap_snapshot_result(const etlheap_snapshot *snapshot, etlheap_result **out,
                                   etl_error *err);

/* Was the result made so? Then its blocks were allocated and freed at unknown times. */
bool etlheap_result_is_snapshot(const etlheap_result *result);

/*
 * Names the functions of single frames by their addresses in a result of one process, which
 * has `symbols`. Inlined calls are left out. The frames borrow the names from the symbols.
 * ETL_ERR_MEMORY, ETL_ERR_CANCELLED.
 */
etl_status etlheap_symbols_name_frames(etlheap_symbols *symbols, etlheap_frame *frames, u32 count,
                                       etl_error *err);

#ifdef __cplusplus
}
#endif

#endif
