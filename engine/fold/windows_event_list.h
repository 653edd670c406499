/* windows_event_list.h - checks which windows an event list can answer for. */
#ifndef ETLHEAP_WINDOWS_EVENT_LIST_H
#define ETLHEAP_WINDOWS_EVENT_LIST_H

#include "aggregate.h"
#include "engine/query/windows_plan.h"

/* True if the result can answer for these windows without lifetimes. A log answers for any windows,
 * an event list for those it was kept for. */
bool windows_event_list_answers(const aggregator *a, const windows_plan *plan);

#endif
