/*
 * tied_ranges.h - puts events of range shards that have one time in the order that their addresses
 * tell (ties.h).
 */
#ifndef ETLHEAP_TIED_RANGES_H
#define ETLHEAP_TIED_RANGES_H

#include "key_blocks.h"
#include "order.h"
#include "ranges.h"

/* What is live in the shard. */
typedef struct tied_tables {
    range_table *ranges;
    const key_blocks *keyed;
} tied_tables;

/* Orders the events of each address that processors share. The events, of a range shard, have one
 * time, and all events before them were applied. Failures are in *out. */
void tied_ranges_decide(ordered_event *events, u32 count, const tied_tables *tables,
                        shard_output *out);

#endif
