/* range_owners.h - whose ranges are whose: the owners of a range table. */
#ifndef ETLHEAP_RANGE_OWNERS_H
#define ETLHEAP_RANGE_OWNERS_H

#include "ranges.h"

/* Finds or makes an owner; NULL if memory runs out. `heap` is 0 for VirtualAlloc. */
range_owner *range_owner_of(range_table *table, u32 process, u8 kind, u64 heap);

#endif
