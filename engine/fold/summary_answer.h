/*
 * summary_answer.h - reports from a summary.
 */
#ifndef ETLHEAP_SUMMARY_ANSWER_H
#define ETLHEAP_SUMMARY_ANSWER_H

#include "aggregate.h"
#include "engine/result/summary.h"

/* Is the entry among those that the query is answered from? */
bool summary_selects(const aggregator *a, const summary_entry *entry);

/* The index of the group that a part of an entry belongs to, GROUP_UNWANTED: none.
 * False without memory. */
bool summary_group(aggregator *a, const summary_entry *entry, etlheap_type type, u32 *group);

/* Makes the groups of the entries, with their peaks. An aggregator that only collects stacks
 * (is_collecting) gets the stacks and no groups. False without memory. */
bool summary_rows(aggregator *a);

#endif
