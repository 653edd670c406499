/* lattice_plan.h - makes the lattice of a journal from the windows of a query. */
#ifndef ETLHEAP_LATTICE_PLAN_H
#define ETLHEAP_LATTICE_PLAN_H

#include "engine/log/windows_lattice.h"

/*
 * Makes the lattice for a query's windows; without options: its single window. If windows overlap
 * or would be refused, there is no lattice: its session is NULL. False if memory runs out.
 */
bool windows_lattice_open(windows_lattice *out, const etl_session *session,
                          const etlheap_query *query, const etlheap_windows_options *options);

#endif
