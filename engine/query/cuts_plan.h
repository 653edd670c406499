/* cuts_plan.h - makes the cuts of an event list from the windows of a query. */
#ifndef ETLHEAP_CUTS_PLAN_H
#define ETLHEAP_CUTS_PLAN_H

#include "engine/log/window_cuts.h"

/*
 * Makes the cuts for a query's windows; without options: its single window. If windows overlap
 * or would be refused, there are no cuts, and the session is NULL. False if memory runs out.
 */
bool window_cuts_open(window_cuts *out, const etl_session *session, const etlheap_query *query,
                      const etlheap_windows_options *options);

#endif
