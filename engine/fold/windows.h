/* windows.h - window functions for other parts of the engine. */
#ifndef ETLHEAP_WINDOWS_INSIDE_H
#define ETLHEAP_WINDOWS_INSIDE_H

#include "aggregate.h"

/* Adds a group's measures to the totals of its kind. Peaks do not add up; their total is 0. */
void windows_add_total(aggregator *a, const group_row *row);

#endif
