/*
 * range_map.h - a map of disjoint address ranges, for ranges.c.
 */
#ifndef ETLHEAP_RANGE_MAP_H
#define ETLHEAP_RANGE_MAP_H

#include "ranges.h"

/* A place in a map; valid until the map changes. */
typedef struct range_place {
    u32 leaf, index;
} range_place;

/* The first range that ends after `address`; NULL when there is none. */
range *range_map_seek(const range_map *map, u64 address, range_place *place);

/* The next one in address order; NULL at the end. */
range *range_map_next(const range_map *map, range_place *place);

/* Adds a range that overlaps no other; false without memory. */
bool range_map_insert(range_map *map, range added);

/* Moves the end of the range at `place` back to `end`, which lies inside it. */
void range_map_shrink(range_map *map, range_place place, u64 end);

/* How many bytes of [start, end) lie in ranges. */
u64 range_map_bytes(const range_map *map, u64 start, u64 end);

/* The first address from `address` on that lies in no range. */
u64 range_map_gap(const range_map *map, u64 address);

/* Removes the range at `place`; no place is valid afterwards. */
void range_map_remove(range_map *map, range_place place);

void range_map_free(range_map *map);

#endif
