/*
 * summary_answer.h - reports from a summary.
 */
#ifndef ETLHEAP_SUMMARY_ANSWER_H
#define ETLHEAP_SUMMARY_ANSWER_H

#include "aggregate.h"
#include "engine/result/summary.h"

/* True if the query selects the entry. */
bool summary_selects(const aggregator *a, const summary_entry *entry);

/* Finds the group of a part of an entry; GROUP_UNWANTED: none. False if memory runs out. */
bool summary_group(aggregator *a, const summary_entry *entry, etlheap_type type, u32 *group);

/* Makes the groups of the entries, with their peaks. If the aggregator only collects stacks
 * (is_collecting), adds the stacks and makes no groups. False if memory runs out. */
bool summary_rows(aggregator *a);

#endif
