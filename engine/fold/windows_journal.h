/*
 * windows_journal.h - which windows a journal answers for.
 */
#ifndef ETLHEAP_WINDOWS_JOURNAL_H
#define ETLHEAP_WINDOWS_JOURNAL_H

#include "aggregate.h"
#include "engine/query/windows_plan.h"

/* Does what the result has in place of lifetimes answer for these windows? A log does for any, a
 * journal for those it was kept for. */
bool windows_journal_answers(const aggregator *a, const windows_plan *plan);

#endif
