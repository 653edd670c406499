/*
 * event_log.h - heap allocations and frees as a resolved event log. Throwaway: see bench_log.c.
 *
 * One row is one event, in time order. A row that ends a block repeats the block's origin and
 * size, so a fold never looks anything up:
 *
 *     word   origin:27  end:1  later:1  realloc:1  how:2     later: time moves on here
 *     size   u32                                             4 GiB and more: not in this spike
 *
 * Rows lie in parts of up to LOG_PART_ROWS, as two arrays. A report either keeps the parts and
 * folds curves over them when the run ends, or folds sums per origin as each part closes and
 * keeps nothing.
 */
#ifndef BENCH_EVENT_LOG_H
#define BENCH_EVENT_LOG_H

#include <stdatomic.h>

#include "engine/fold/replay_walk.h"
#include "engine/core/workers.h"

#define LOG_PART_ROWS   65536u
#define LOG_ORIGIN_MASK (((u32)1 << 27) - 1)
#define LOG_END         ((u32)1 << 27)
#define LOG_LATER       ((u32)1 << 28)
#define LOG_REALLOC     ((u32)1 << 29)
#define LOG_HOW_SHIFT   30

typedef struct log_part {
    u32 *words; /* one allocation, sizes behind the words */
    u32 *sizes;
    u32 rows;
    u32 origin_max;
    u32 first_rank;  /* of the first row that has one: see event_log.survivors */
    bool ends_later; /* time moves on after the last row */
} log_part;

/* Allocations at [0] and ends at [1]: what is outstanding is their difference. */
typedef struct origin_sums {
    i64 size[2];
    u32 count[2], reallocs[2];
} origin_sums;

static_assert(sizeof(origin_sums) == 32, "two origins share a cache line");

/* What one task of a slice keeps; no other task touches it. */
typedef struct log_lane {
    ETLHEAP_VECTOR(origin_sums) sums;  /* by origin */
    ETLHEAP_VECTOR(u32) late_reallocs; /* origins of blocks that a later record calls reallocs */
    u8 padding[SHARD_PADDING];
} log_lane;

typedef struct event_log {
    bool keeps_parts; /* else sums are folded as parts close */
    u32 jobs;
    etlheap_crew *crew; /* the run's */
    log_lane *lanes;    /* one per job */
    ETLHEAP_VECTOR(log_part) parts;
    size_t taken; /* chunks of the journal that became parts */
    u64 rows, bytes;
    atomic_ullong write_ns, fold_ns; /* processor time of all threads */
    /* A bit for each rank: is the block that was opened there outstanding at the end? In a run
     * all rows have ranks but ends that were noticed late; in a store begins alone have them. */
    const u8 *survivors;
    bool is_store;
} event_log;

/* Memory for so many rows. Ends the program without memory, like everything in bench/. */
log_part log_part_open(u32 rows_max);

/* Turns the journal's closed chunks into parts and gives their memory back. */
void event_log_take(event_log *log, event_journal *journal);

/* Folds curves and sums over all parts, into the groups that the walk names. */
etl_status event_log_fold_curves(event_log *log, const replay_walk *walk, live_group **out);

/* Joins the sums per origin that were folded as parts closed. */
etl_status event_log_join_sums(const event_log *log, const replay_walk *walk, live_group **out);

void event_log_free(event_log *log);

/* The engine's own function, which __wrap_replay_walk_run stands in for. */
etl_status replay_walk_run_real(const replay_walk *walk, const replay_source *source,
                                live_group **out) __asm__("__real_replay_walk_run");

/* Processor time of the calling thread, in nanoseconds: other programs do not count. */
unsigned long long log_thread_ns(void);

/* Ends the program with a sentence. */
_Noreturn void log_give_up(const char *sentence);

#endif
