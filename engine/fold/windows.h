/* windows.h - window functions for other parts of the engine. */
#ifndef ETLHEAP_WINDOWS_INSIDE_H
#define ETLHEAP_WINDOWS_INSIDE_H

#include "aggregate.h"

/* Adds a group's measures to the totals of its kind; peaks do not add up and are 0. */
void windows_add_total(aggregator *a, const group_row *row);

#endif
