/*
 * tied_ranges.h - puts events of ranges and custom blocks that have one time in the order that
 * their addresses tell (ties.h).
 */
#ifndef ETLHEAP_TIED_RANGES_H
#define ETLHEAP_TIED_RANGES_H

#include "order.h"
#include "ranges.h"

/* Orders the events of each address that processors share. The events, of a range shard, have one
 * time, and all events before them were applied. Failures are in *out. */
void tied_ranges_settle(ordered_event *events, u32 count, range_table *table, shard_output *out);

#endif
