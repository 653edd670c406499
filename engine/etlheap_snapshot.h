/*
 * etlheap_snapshot.h - makes a result of a heap snapshot that another tool took. Part of engine.h.
 *
 * UMDH, for example, lists the outstanding blocks of a process with their call stacks. A result
 * made of such a list answers every question about memory that needs no times: all blocks were
 * allocated before it begins and are never freed, so they are outstanding and of type AOFO.
 */
#ifndef ETLHEAP_SNAPSHOT_H
#define ETLHEAP_SNAPSHOT_H

#include "engine.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A module of the process. */
typedef struct etlheap_snapshot_module {
    uint64_t base, size_bytes;
    const char *name; /* file name of the module */
} etlheap_snapshot_module;

/* A call stack. */
typedef struct etlheap_snapshot_stack {
    const uint64_t *addresses; /* innermost first */
    uint32_t count;            /* at least 1 */
} etlheap_snapshot_stack;

/* An outstanding block. */
typedef struct etlheap_snapshot_block {
    uint64_t address, size_bytes, heap_handle;
    uint32_t stack; /* index + 1; 0: none */
} etlheap_snapshot_block;

/* A snapshot. Start from {0} with `size` set. Everything is borrowed for the call. */
typedef struct etlheap_snapshot {
    size_t size;          /* sizeof(etlheap_snapshot) */
    const char *file;     /* the snapshot's file name, for output */
    const char *tool;     /* the tool's name, shown as the session */
    const char *computer; /* "" unknown */
    const char *process;
    uint32_t pid;
    uint32_t pointer_bits;
    uint64_t file_bytes;
    int64_t taken_filetime; /* local time; 0 unknown */
    const etlheap_snapshot_module *modules;
    uint32_t module_count;
    const etlheap_snapshot_stack *stacks;
    uint32_t stack_count;
    const etlheap_snapshot_block *blocks;
    uint64_t block_count;
    uint64_t skipped_lines; /* lines of the file that were not understood */
} etlheap_snapshot;

/*
 * Makes a result, which copies all it needs. The modules have no build, so a PDB is found through
 * the program file beside it, if its size is that of the module, or loosely by name. On success the
 * caller owns *out (etlheap_result_free). ETL_ERR_ARGUMENT (a block has a stack that does not
 * exist), ETL_ERR_UNSUPPORTED, ETL_ERR_MEMORY.
 */
etl_status etlheap_snapshot_result(const etlheap_snapshot *snapshot, etlheap_result **out,
                                   etl_error *err);

/* True if the result was made from a snapshot. Allocation and free times are then unknown. */
bool etlheap_result_is_snapshot(const etlheap_result *result);

/*
 * Names the functions of frames by their addresses, in a result with one process that `symbols` was
 * opened for. Inlined calls are left out. The frames borrow the names from the symbols.
 * ETL_ERR_MEMORY, ETL_ERR_CANCELLED.
 */
etl_status etlheap_symbols_name_frames(etlheap_symbols *symbols, etlheap_frame *frames,
                                       uint32_t count, etl_error *err);

#ifdef __cplusplus
}
#endif

#endif
