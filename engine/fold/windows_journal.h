/* windows_journal.h - checks which windows a journal can answer for. */
#ifndef ETLHEAP_WINDOWS_JOURNAL_H
#define ETLHEAP_WINDOWS_JOURNAL_H

#include "aggregate.h"
#include "engine/query/windows_plan.h"

/* True if the result can answer for these windows without lifetimes. A log answers for any windows,
 * a journal for those it was kept for. */
bool windows_journal_answers(const aggregator *a, const windows_plan *plan);

#endif
