/*
 * shared_addresses.h - counts outstanding blocks that have the address of a block of another heap.
 *
 * Two heaps of a process never own the same bytes, so the free of one of the blocks, or the
 * destruction of its heap, is missing. Pairing looks up a block by heap and address and never sees
 * the other one. Another look-up for each allocation would slow down every analysis, so this counts
 * once, at the end of the run, over the blocks that are left. A pair of which one block was freed
 * since is not counted.
 */
#ifndef ETLHEAP_SHARED_ADDRESSES_H
#define ETLHEAP_SHARED_ADDRESSES_H

#include "block_pool.h"

/* Sets *count to the number of open blocks of which an earlier one in the pool has the process and
 * address. Blocks of heaps and processes that ended do not count. False if memory runs out. */
bool shared_addresses_count(const block_pool *pool, const origin_table *origins,
                            const trace_context *context, u64 *count);

#endif
