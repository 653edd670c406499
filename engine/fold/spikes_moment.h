/* spikes_moment.h - narrows the windows of spikes down to the moments of their peaks. */
#ifndef ETLHEAP_SPIKES_MOMENT_H
#define ETLHEAP_SPIKES_MOMENT_H

#include "spikes_find.h"

/* Is the row, maybe of another table, of that group: the same kind and keys? */
bool spikes_is_of_group(const etlheap_table *groups, u32 group, const etlheap_row *row);

/* Finds for each spike, a row of `groups`, the first tick in its top window that makes the peak:
 * at_ns[i] is just after it, as for --at. `query` is that of the groups. Errors as of
 * etlheap_windows_make. */
etl_status spikes_find_moments(const etlheap_result *result, const etlheap_query *query,
                               const etlheap_windows *groups, const found_spikes *found, i64 *at_ns,
                               etl_error *err);

#endif
