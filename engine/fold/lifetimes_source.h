/*
 * lifetimes_source.h - the heap blocks of a log, each with its end.
 *
 * A log has allocations and ends in the order of time, so what becomes of a block is known
 * when the segment with its end was read, which may be any later one. A source therefore reads
 * a chunk of segments twice: first it looks for the ends of all blocks that the chunk opens, as
 * far as these blocks live, and keeps 10 bytes for each; then whoever wants the blocks reads the
 * chunk's allocations and finds the ends beside them.
 *
 *     segments     0   1   2   3   4   5   6   7
 *     chunk               [first   end)
 *     ends read           |-----------|...  as far as its blocks live
 *     blocks read         |-------|
 *
 * A window that begins late starts at the checkpoint before it, whose blocks belong to the
 * first chunk and come before the others.
 */
#ifndef ETLHEAP_LIFETIMES_SOURCE_H
#define ETLHEAP_LIFETIMES_SOURCE_H

#include "engine/query/query.h"
#include "engine/result/archive.h"

/* Blocks whose ends are found at once unless less memory is allowed: 80 MiB. */
#define LIFETIMES_ENDS_MAX  ((u64)8 << 20)
#define LIFETIMES_END_BYTES (sizeof(i64) + 2) /* and 4 if allocations are counted */

/* What a source is to find: blocks that may belong to a window. */
typedef struct lifetimes_wanted {
    i64 from_ticks, to_ticks;
    u64 size_min_bytes, size_max_bytes;
    u64 ends_max;       /* blocks whose ends are kept at once; at least a segment's */
    bool counts_allocs; /* ends are to know how many allocations there had been */
    u32 jobs;
    u32 more;       /* columns of batches beside the usual ones: EHS_WANT_ADDRESS or 0 */
    bool has_frees; /* who freed is wanted; the file says so */
} lifetimes_wanted;

/* A run of segments whose blocks have their ends. */
typedef struct lifetimes_chunk {
    u32 first, end;    /* segments */
    u64 first_ordinal; /* of their blocks */
    u64 open_count;    /* rows of the checkpoint before them, in front; else 0 */
    u64 count;         /* of ends: rows of the checkpoint and blocks */
} lifetimes_chunk;

struct end_reader;

typedef struct lifetimes_source {
    const ehs_archive *archive;
    lifetimes_wanted wanted;
    u32 first, end;     /* segments that open blocks of the window */
    ehs_open_rows open; /* blocks open before the first of them */
    lifetimes_chunk chunk;
    i64 *end_ticks;              /* of the chunk's blocks; ETLHEAP_TICKS_NEVER: none */
    u8 *end_how;                 /* etlheap_free_type */
    u8 *is_marked;               /* opened by a realloc, as was found out later */
    u32 *end_actor, *end_thread; /* with has_frees: who ended it; checked */
    u32 *end_allocs;             /* with counts_allocs: allocations before the end; else NULL */
    u64 end_capacity;
    bool has_ends; /* those of the chunk are there */
    struct end_reader *readers;
} lifetimes_source;

/* How many segments have events before a time. */
u32 lifetimes_source_end(const ehs_archive *archive, i64 to_ticks);

/* To be closed in any case. MEMORY, CORRUPT. */
etl_status lifetimes_source_open(lifetimes_source *out, const ehs_archive *archive,
                                 const lifetimes_wanted *wanted, etl_error *err);
void lifetimes_source_close(lifetimes_source *source);

/* What a query asks about; its result was read from a store. */
lifetimes_wanted lifetimes_wanted_for(const query_plan *plan);

/* Makes the chunk that begins with a segment the one at hand; its ends are looked for when
 * they are asked for. The chunk at hand keeps its ends. */
void lifetimes_source_seek(lifetimes_source *source, u32 first);

/* Finds the ends of the chunk at hand, by all threads. MEMORY, CORRUPT. */
etl_status lifetimes_source_find_ends(lifetimes_source *source, etl_error *err);

/* May the segment open blocks of a wanted size? */
bool lifetimes_source_wants(const lifetimes_source *source, u32 segment);

/* Bytes that it holds, the large parts. */
u64 lifetimes_source_bytes(const lifetimes_source *source);

/* --- all blocks, by all threads ------------------------------------------------------- */

/* Blocks that were opened one after the other, as arrays. */
typedef struct lifetimes_batch {
    u32 count;
    const u32 *ordinal;
    const u32 *slot; /* checked: there is such a slot */
    const u64 *size;
    const u32 *thread;  /* ETL_NO_ID: that of the slot */
    const u64 *address; /* means nothing unless wanted.more says that it is wanted */
    const i64 *alloc_ticks, *free_ticks;
    const u8 *is_realloc, *is_marked; /* a realloc opened it if one of them is set */
    const u8 *how;                    /* etlheap_free_type */
    const u32 *actor, *free_thread;   /* who freed; NULL unless wanted */
    const u32 *end_allocs;            /* NULL unless the source counts them */
} lifetimes_batch;

/* A block as a query looks at it. */
static inline query_block lifetimes_batch_block(const ehs_archive *archive,
                                                const lifetimes_batch *batch, u32 at)
{
    const u32 thread = batch->thread[at];
    return (query_block){
        .alloc_ticks = batch->alloc_ticks[at],
        .free_ticks = batch->free_ticks[at],
        .size_bytes = batch->size[at],
        .thread =
            thread == ETL_NO_ID ? archive->slots.slots.at[batch->slot[at] - 1].thread : thread,
        .free_type = batch->how[at],
    };
}

/* A state for each task, one behind the other. Borrowed. */
typedef struct lifetimes_states {
    void *at;
    size_t state_bytes;
} lifetimes_states;

static inline void *lifetimes_state_of(const lifetimes_states *states, u32 task)
{
    return (u8 *)states->at + task * states->state_bytes;
}

/*
 * What is done with the blocks. There are as many states as tasks; a task hands its batches
 * to its own state alone. Of the blocks of one task an ordinal never is below the one before,
 * and none below those of the task before it in the same chunk. ETL_OK or what stops it all.
 */
typedef etl_status lifetimes_step_fn(void *state, const lifetimes_batch *batch, etl_error *err);

/* Hands out all blocks: chunk by chunk, those of a chunk by `task_count` tasks at the same
 * time. Errors as above, and those of the step. */
etl_status lifetimes_source_fold(lifetimes_source *source, u32 task_count, lifetimes_step_fn *step,
                                 const lifetimes_states *states, etl_error *err);

#endif
