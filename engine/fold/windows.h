/*
 * windows.h - what the engine's other parts ask of windows.
 */
#ifndef ETLHEAP_WINDOWS_INSIDE_H
#define ETLHEAP_WINDOWS_INSIDE_H

#include "aggregate.h"

/* Adds a group's measures to the totals of its kind; peaks do not add up and are 0. */
void windows_add_total(aggregator *a, const group_row *row);

#endif
