/*
 * etlheap_suspects.h - which allocation stacks probably leak: engine.h includes this.
 *
 *     etlheap_question { ETLHEAP_ASK_SUSPECTS, query } ──▶ etlheap_ask ──▶ answer.suspects
 *
 * A suspect is a group of blocks, by default those of one call stack, of which some are never
 * freed, all over the time in which the process ran, and live far longer than the others. Memory
 * that is allocated once, caches that level off and sessions that are still open are none.
 * suspect_score.c explains how that is judged.
 */
#include "engine.h" /* before the guard, as etlheap_ask.h, which that includes, takes all of this */

#ifndef ETLHEAP_SUSPECTS_H
#define ETLHEAP_SUSPECTS_H

#ifdef __cplusplus
extern "C" {
#endif

#define ETLHEAP_SUSPECT_THREADS_MAX 8

/* The time in which a process ran, as far as it lies in the window, is cut into as many
 * equal parts. */
#define ETLHEAP_SUSPECT_PARTS 32

/* Of the blocks that a row allocated within the window. A block is never freed if no record frees
 * it, after the window either; how a process's exit counts is for the query to say. */
typedef struct etlheap_suspect {
    u32 score; /* 50 to 100: the larger, the more likely it leaks */
    i64 alloc_count, never_freed_count;
    i64 never_freed_size;  /* bytes */
    i64 first_ns, last_ns; /* when the first and the last of those never freed were allocated */
    i64 oldest_ns; /* how long the first of these lived, until the process or window ended */
    /* Half of the freed blocks lived at most about so long: the middle of a step of a half or a
     * third of the time. ETLHEAP_NOT_KNOWN: none was freed. */
    i64 typical_lifetime_ns;
    u32 part_count; /* parts of the time in which blocks were allocated that were never freed */
    u32 thread_count;
    bool has_more_threads;                    /* that allocated such blocks */
    u32 threads[ETLHEAP_SUSPECT_THREADS_MAX]; /* the lowest ids, ascending */
} etlheap_suspect;

/* The answer; owned by the caller (etlheap_suspects_free), borrows strings from the result. */
typedef struct etlheap_suspects {
    /* The rows, the highest score first, then the largest outstanding size. The caller may shorten it
     * (etlheap_table_keep_top) and name its frames (etlheap_table_name) in place. Of the
     * measures GROWTH_RATE and STEADINESS are of the time in which the row's process ran,
     * OUTSTANDING_* of the window's end; totals are 0. */
    const etlheap_table *table;
    const etlheap_suspect *rows; /* rows[i] belongs to table->rows[i] */
    u32 group_count;             /* groups with blocks that were never freed, suspects among them */
} etlheap_suspects;

void etlheap_suspects_free(etlheap_suspects *suspects); /* NULL is allowed */

#ifdef __cplusplus
}
#endif

#endif
