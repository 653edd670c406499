/*
 * feed_rows.h - the blocks of a result that are rows in memory, as batches of a feed.
 *
 * A log gives each block an origin: its owner and call stack as one small number. Rows in memory
 * have no such number, so they get one here, after those of the log:
 *
 *     origins     1 ... origins of the log | first ... origins of rows
 *
 * So a fold decides once for each origin what does not depend on single blocks (origin_groups.h),
 * and needs one look-up a block, wherever the block is kept.
 */
#ifndef ETLHEAP_FEED_ROWS_H
#define ETLHEAP_FEED_ROWS_H

#include "engine/query/query.h"
#include "lifetimes_source.h"

/* Where blocks come from. */
typedef enum feed_source { FEED_ROWS, FEED_LOG, FEED_SOURCE_COUNT } feed_source;

/* What rows of one origin share, compared and hashed as bytes. The epochs are those of the modules
 * of the process and of the kernel: in another epoch, the same stack may have other frames. */
typedef struct origin_key {
    u64 heap;
    u32 process, stack;
    u32 epoch, kernel_epoch;
    u32 kind;
    u32 padding;
} origin_key;

static_assert(sizeof(origin_key) == 32, "no hidden padding: keys are hashed as bytes");

typedef struct row_origin {
    origin_key key;
    i64 first_ticks, last_ticks; /* of the first and the last allocation */
    i64 until_ticks;             /* of the last free; NEVER if a query may see none */
    bool has_outstanding;        /* a row was never freed */
    bool has_exited;             /* a row was freed by the end of its process */
} row_origin;

/* Origins, and the origin of each row. */
typedef struct row_origins {
    u32 first; /* number of the first one */
    ETLHEAP_VECTOR(row_origin) list;
    u32 *of_row; /* by ordinal: its number; 0: it has none */
} row_origins;

/* Start from {0}. Ordinals of rows count through all segments of the store. */
typedef struct feed_rows {
    const etlheap_result *result;
    row_origins origins;
    row_origins freers; /* by the stack and the moment of the free; rows have what a freer is to a
                         * log */
    u64 *starts;        /* by segment: its first row; then their number */
} feed_rows;

/* Numbers the origins of a result's rows, from `first` on. False if memory runs out or the flag is
 * set; close it in any case. */
bool feed_rows_open(feed_rows *out, const etlheap_result *result, u32 first, const u32 *cancel);
void feed_rows_close(feed_rows *rows);

/* Numbers who freed rows, from `first` on, unless that is done. False as above. */
bool feed_rows_number_freers(feed_rows *rows, u32 first, const u32 *cancel);

static inline u64 feed_rows_count(const feed_rows *rows)
{
    return rows->starts[rows->result->store.segments.count];
}

/* The moment at which a row begins. */
i64 feed_rows_alloc_ticks(const feed_rows *rows, u64 ordinal);

/* Hands all rows to the step, with `task_count` parallel tasks. ETL_ERR_MEMORY, and errors of the
 * step. */
etl_status feed_rows_fold(const feed_rows *rows, u32 task_count, lifetimes_step_fn *step,
                          const lifetimes_states *states, etl_error *err);

#endif
