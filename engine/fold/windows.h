/*
 * windows.h - what the engine's other parts ask of windows.
 */
#ifndef ETLHEAP_WINDOWS_INSIDE_H
#define ETLHEAP_WINDOWS_INSIDE_H

#include "aggregate.h"

/* The first window from this one on in which something happens to the row; the number
 * of windows when there is none. Those before it are all alike. The windows must
 * follow each other without gaps, and be of no summary. */
u32 windows_next_news(const etlheap_windows *windows, u32 row, u32 window);

/* Adds a group's measures to the totals of its kind; peaks do not add up and are 0. */
void windows_add_total(aggregator *a, const group_row *row);

#endif
