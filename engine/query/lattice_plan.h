/*
 * lattice_plan.h - from the windows that a query asks for to the lattice of its journal.
 */
#ifndef ETLHEAP_LATTICE_PLAN_H
#define ETLHEAP_LATTICE_PLAN_H

#include "engine/log/windows_lattice.h"

/*
 * What the options say for a query; without options its window alone. When they ask
 * for windows that overlap, or for what is refused, there is no lattice: its session
 * is NULL. False without memory.
 */
bool windows_lattice_open(windows_lattice *out, const etl_session *session,
                          const etlheap_query *query, const etlheap_windows_options *options);

#endif
