/*
 * etlheap_suspects.h - call stacks that probably leak. Part of engine.h.
 *
 *     etlheap_question { ETLHEAP_ASK_SUSPECTS, query } ──▶ etlheap_ask ──▶ answer.suspects
 *
 * A suspect is a group of blocks, by default those of one call stack, some of which are never
 * freed. These were allocated throughout the time the process ran, and live far longer than the
 * group's other blocks. Memory that is allocated once, caches that stop growing, and sessions that
 * are still open are not suspects. fold/suspect_score.c explains the rule.
 */
#include "engine.h" /* before the guard: it includes etlheap_ask.h, which needs this header */

#ifndef ETLHEAP_SUSPECTS_H
#define ETLHEAP_SUSPECTS_H

#ifdef __cplusplus
extern "C" {
#endif

#define ETLHEAP_SUSPECT_THREADS_MAX 8

/* The part of the window in which a process ran is cut into this many equal parts. */
#define ETLHEAP_SUSPECT_PARTS 32

/* Facts about the blocks that a row allocated in the window. A block is never freed if no record
 * frees it, not even after the window; the query says whether a process exit frees. */
typedef struct etlheap_suspect {
    /* 50 to 100: the larger, the more likely it leaks. At most 75 if the row does not grow over the
     * time its process ran, or has_stopped. */
    uint32_t score;
    /* The part of all outstanding memory of the row's kind that the query selects, in millionths.
     * ETLHEAP_NOT_KNOWN: nothing is outstanding. */
    int64_t outstanding_share;
    int64_t alloc_count, never_freed_count;
    int64_t never_freed_size;  /* bytes */
    int64_t first_ns, last_ns; /* when the first and the last never-freed block were allocated */
    int64_t oldest_ns;         /* age of the first of these when its process or the window ended */
    /* About half of the freed blocks lived at most this long: the middle of a step of a half or a
     * third of the time. ETLHEAP_NOT_KNOWN: none was freed. */
    int64_t typical_lifetime_ns;
    uint32_t part_count; /* parts of the time in which never-freed blocks were allocated */
    uint32_t thread_count;
    bool has_stopped;      /* no never-freed block was allocated in the second half of the time */
    bool has_more_threads; /* more threads allocated never-freed blocks */
    uint32_t threads[ETLHEAP_SUSPECT_THREADS_MAX]; /* these threads: lowest ids, ascending */
} etlheap_suspect;

/* The suspects. Owned by the caller (etlheap_suspects_free); strings are borrowed from the
 * result. */
typedef struct etlheap_suspects {
    /* One row per suspect, ordered by score, then by outstanding size. The caller may shorten the
     * table (etlheap_table_keep_top) and name its frames (etlheap_table_name) in place. GROWTH_RATE
     * and STEADINESS are over the time the row's process ran, OUTSTANDING_* at the end of the
     * window. Totals are 0. */
    etlheap_table *table;
    const etlheap_suspect *rows; /* rows[i] belongs to table->rows[i] */
    uint32_t group_count;        /* groups with never-freed blocks, including the suspects */
} etlheap_suspects;

void etlheap_suspects_free(etlheap_suspects *suspects); /* NULL is allowed */

#ifdef __cplusplus
}
#endif

#endif
