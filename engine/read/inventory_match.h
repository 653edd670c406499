/*
 * inventory_match.h - checks that every stack walk has its event, for `info`.
 *
 * The inventory checks stacks of all records, not only of memory events. A stack without its event
 * shows that events were lost. A trace in which no stack matches shows that we misread its clock.
 * Most stacks find their event during the scan; this file finds the others. Those of frees are
 * among them, and are counted.
 */
#ifndef ETLHEAP_INVENTORY_MATCH_H
#define ETLHEAP_INVENTORY_MATCH_H

#include "keyed.h"

/* The targets of one task, by time, thread and CPU. */
typedef struct inventory_run {
    inventory_target *at;
    size_t count; /* at least 1 */
} inventory_run;

typedef struct inventory_matcher {
    ETLHEAP_VECTOR(inventory_run) runs; /* of the last two seconds */
    size_t old_runs;                    /* runs of earlier slices */
    i64 oldest_ticks;                   /* older targets of these are forgotten */
    i64 patience_ticks;
    u64 matched, unmatched;
    u64 of_frees; /* stacks of events that free memory */
} inventory_matcher;

void inventory_match_open(inventory_matcher *matcher, const timebase *base);
void inventory_match_close(inventory_matcher *matcher);

/* Counts the stacks of the slice's tasks, with and without an event. The tasks must have been
 * scanned with keeps_targets. False if memory runs out. */
bool inventory_match_slice(inventory_matcher *matcher, const scan_output *tasks, u32 task_count,
                           i64 end_ticks);

/* Counts every key of the tasks, instead of a join. Call keyed_define for the slice first. False
 * if memory runs out. */
bool inventory_count_keys(keyed_stacks *keyed, const scan_output *tasks, u32 task_count);

u64 inventory_match_bytes(const inventory_matcher *matcher); /* held between slices */

#endif
