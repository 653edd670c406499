/*
 * lifetimes_source.h - reads the heap blocks of a log, each with its end.
 *
 * A log has allocations and ends in time order, so the end of a block may be in any later segment.
 * A source therefore reads a chunk of segments twice. First it finds the ends of all blocks that
 * the chunk opens, as far as these blocks live, and keeps 10 bytes for each. Then the caller reads
 * the chunk's allocations together with their ends.
 *
 *     segments     0   1   2   3   4   5   6   7
 *     chunk               [first   end)
 *     ends read           |-----------|...  as far as its blocks live
 *     blocks read         |-------|
 *
 * A window that begins late starts at the checkpoint before it. The checkpoint's blocks belong to
 * the first chunk and come before the others.
 */
#ifndef ETLHEAP_LIFETIMES_SOURCE_H
#define ETLHEAP_LIFETIMES_SOURCE_H

#include "engine/core/workers.h"
#include "engine/query/query.h"
#include "engine/result/archive.h"

/* The number of blocks whose ends are found at a time, unless less memory is allowed: 80 MiB. */
#define LIFETIMES_ENDS_MAX  ((u64)8 << 20)
#define LIFETIMES_END_BYTES (sizeof(i64) + 2) /* plus 4 if allocations are counted */

/* The request for a source: blocks that may belong to a window. */
typedef struct lifetimes_wanted {
    i64 from_ticks, to_ticks;
    u64 size_min_bytes, size_max_bytes;
    u64 ends_max;       /* number of ends kept at a time; at least a segment's */
    bool counts_allocs; /* ends include the number of allocations before them */
    u32 jobs;
    const u32 *cancel;     /* NULL: nobody cancels */
    memory_count *memory;  /* NULL: ends are not counted */
    u32 more;              /* additional columns of batches: EHS_WANT_THREAD, EHS_WANT_ADDRESS */
    bool has_frees;        /* read who freed; the file has it */
    bool has_free_threads; /* and with which thread; only with has_frees */
} lifetimes_wanted;

/* A run of segments whose blocks have their ends. */
typedef struct lifetimes_chunk {
    u32 first, end;    /* segments */
    u64 first_ordinal; /* of their blocks */
    u64 open_count;    /* rows of the checkpoint before them, in front; else 0 */
    u64 count;         /* number of ends: rows of the checkpoint and blocks */
} lifetimes_chunk;

struct end_reader;

typedef struct lifetimes_source {
    const ehs_archive *archive;
    lifetimes_wanted wanted;
    u32 first, end;     /* segments that open blocks of the window */
    ehs_open_rows open; /* blocks open before the first of them */
    lifetimes_chunk chunk;
    i64 *end_ticks;  /* of the chunk's blocks; ETLHEAP_TICKS_NEVER: none */
    u8 *end_how;     /* etlheap_free_type */
    u8 *is_marked;   /* opened by a realloc, as a later event showed */
    u32 *end_freer;  /* with has_frees: who ended it; valid */
    u32 *end_thread; /* with has_free_threads */
    u32 *end_allocs; /* with counts_allocs: allocations before the end */
    u64 end_capacity, held_bytes;
    bool has_ends; /* the ends of the chunk were found */
    struct end_reader *readers;
} lifetimes_source;

/* The number of segments with events before a time. */
u32 lifetimes_source_end(const ehs_archive *archive, i64 to_ticks);

/* Opens a source. Close it in any case. ETL_ERR_MEMORY, ETL_ERR_CORRUPT. */
etl_status lifetimes_source_open(lifetimes_source *out, const ehs_archive *archive,
                                 const lifetimes_wanted *wanted, etl_error *err);
void lifetimes_source_close(lifetimes_source *source);

/* The request of a query, whose result must have been read from a store. */
lifetimes_wanted lifetimes_wanted_for(const query_plan *plan);

/* Goes to the chunk that begins with a segment. Its ends are found when needed; the current chunk
 * keeps its ends. */
void lifetimes_source_seek(lifetimes_source *source, u32 first);

/* Finds the ends of the current chunk, with all threads. ETL_ERR_MEMORY, ETL_ERR_CORRUPT. */
etl_status lifetimes_source_find_ends(lifetimes_source *source, etl_error *err);

/* True if the segment may open blocks of a wanted size. */
bool lifetimes_source_wants(const lifetimes_source *source, u32 segment);

/* The bytes held in memory; only large parts. */
u64 lifetimes_source_bytes(const lifetimes_source *source);

/* --- all blocks, by all threads ------------------------------------------------------- */

/* Blocks of a log, opened one after the other, or rows in memory (feed_rows.h), as arrays. */
typedef struct lifetimes_batch {
    u32 count;
    const u32 *ordinal; /* NULL for rows, which follow each other from `first_row` on */
    u64 first_row;
    const u32 *origin; /* valid origin numbers; of rows: their origins */
    const u64 *size;
    const u32 *thread;  /* ETL_NO_ID: that of the origin, if it has one; NULL unless requested */
    const u64 *address; /* valid only if wanted.more includes it */
    const i64 *alloc_ticks, *free_ticks;
    const u8 *is_realloc, *is_marked; /* opened by a realloc if either is set */
    const u8 *how;                    /* etlheap_free_type */
    const u32 *freer, *free_thread;   /* who freed; each NULL unless requested */
    const u32 *end_allocs;            /* NULL unless the source counts them */
    const u8 *kind;                   /* etlheap_kind; NULL for a log, which has heap blocks */
    const u32 *process;               /* of rows; NULL for a log, where the origin tells */
    const u8
        *type; /* etlheap_type in the query's window (block_selection.h); NULL: not filled in */
} lifetimes_batch;

#define BLOCK_NOT_SELECTED ETLHEAP_TYPE_COUNT /* in place of a type */

/* The thread that allocated a block; ETL_NO_ID if it is not known or not requested: origins are all
 * over memory, so they are read only for those who ask. */
static inline u32 lifetimes_batch_thread(const ehs_archive *archive, const lifetimes_batch *batch,
                                         u32 at)
{
    if (batch->thread == NULL)
        return ETL_NO_ID;
    const u32 thread = batch->thread[at];
    const bool is_of_origin = thread == ETL_NO_ID && batch->process == NULL;
    return is_of_origin ? archive->origins.origins.at[batch->origin[at] - 1].thread : thread;
}

/* The process of a block's memory; 0 if threads are not requested, as only their names need it. The
 * archive may be NULL for rows. */
static inline u32 lifetimes_batch_process(const ehs_archive *archive, const lifetimes_batch *batch,
                                          u32 at)
{
    if (batch->process != NULL)
        return batch->process[at];
    if (batch->thread == NULL)
        return 0;
    const ehs_origins *const origins = &archive->origins;
    const u32 owner = origins->origins.at[batch->origin[at] - 1].owner;
    return origins->heaps.at[origins->owners.at[owner - 1].heap - 1].process;
}

static inline etlheap_kind lifetimes_batch_kind(const lifetimes_batch *batch, u32 at)
{
    return batch->kind == NULL ? ETLHEAP_KIND_HEAP : (etlheap_kind)batch->kind[at];
}

/* A block in the form that a query examines. */
static inline query_block lifetimes_batch_block(const ehs_archive *archive,
                                                const lifetimes_batch *batch, u32 at)
{
    return (query_block){
        .alloc_ticks = batch->alloc_ticks[at],
        .free_ticks = batch->free_ticks[at],
        .size_bytes = batch->size[at],
        .thread = lifetimes_batch_thread(archive, batch, at),
        .process = lifetimes_batch_process(archive, batch, at),
        .free_type = batch->how[at],
    };
}

/* The number by which others know the block. */
static inline u64 lifetimes_batch_ordinal(const lifetimes_batch *batch, u32 at)
{
    return batch->ordinal == NULL ? batch->first_row + at : batch->ordinal[at];
}

#define LIFETIMES_ORIGINS_AHEAD 32u

/* Prefetches what an array by origin has for a block that comes soon. Always inlined, because
 * compilers drop a function that only prefetches. */
__attribute__((always_inline)) static inline void lifetimes_fetch_origin(
    const lifetimes_batch *batch, u32 at, const u32 *by_origin)
{
    if (at + LIFETIMES_ORIGINS_AHEAD < batch->count)
        __builtin_prefetch(&by_origin[batch->origin[at + LIFETIMES_ORIGINS_AHEAD]]);
}

/* An array with a state for each task. Borrowed. */
typedef struct lifetimes_states {
    void *at;
    size_t state_bytes;
} lifetimes_states;

static inline void *lifetimes_state_of(const lifetimes_states *states, u32 task)
{
    return (u8 *)states->at + task * states->state_bytes;
}

/*
 * Processes a batch of blocks. Each task passes its batches only to its own state. In a task
 * ordinals never decrease, but which blocks a task meets is up to chance. Any status but ETL_OK
 * stops everything.
 */
typedef etl_status lifetimes_step_fn(void *state, const lifetimes_batch *batch, etl_error *err);

/* Reads all blocks, chunk by chunk, with `task_count` parallel tasks per chunk. Errors as above,
 * and those of the step. */
etl_status lifetimes_source_fold(lifetimes_source *source, u32 task_count, lifetimes_step_fn *step,
                                 const lifetimes_states *states, etl_error *err);

#endif
