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

/* The first range that ends after `address`; NULL if there is none. */
range *range_map_seek(const range_map *map, u64 address, range_place *place);

/* The next range in address order; NULL at the end. */
range *range_map_next(const range_map *map, range_place *place);

/* Adds a range that overlaps no other; false if memory runs out. */
bool range_map_insert(range_map *map, range added);

/* Shortens the range at `place` to `end`, which lies inside it. */
void range_map_shrink(range_map *map, range_place place, u64 end);

/* True if any byte of [start, end) lies in a range. */
bool range_map_has(const range_map *map, u64 start, u64 end);

/* The number of bytes of [start, end) that lie in ranges. */
u64 range_map_bytes(const range_map *map, u64 start, u64 end);

/* The first address at or after `address` that lies in no range. */
u64 range_map_gap(const range_map *map, u64 address);

/* Removes the range at `place`. Invalidates all places. */
void range_map_remove(range_map *map, range_place place);

void range_map_free(range_map *map);

#endif
