/*
 * map_parts.h - what the formats of a map of address space say alike.
 */
#ifndef ETLHEAP_MAP_PARTS_H
#define ETLHEAP_MAP_PARTS_H

#include "formats/formats.h"

/* Which regions of a process (region_count of them) are listed: the `most` with the most
 * committed, outstanding or reserved bytes, in that order; 0: all. To be freed; NULL without
 * memory. */
bool *map_choose(const etlheap_map *map, const etlheap_map_process *process, u32 most);

/* How many regions of a process a document lists: all, unless the user says how many. */
u32 map_limit(const etlheap_layout *layout);

/* The level of a part of a region, as etlheap_map_level says it of a run. */
u32 map_level_of(const etlheap_map *map, const etlheap_map_region *region, u64 start, u64 end);

/* What there is to know about what the map lacks; NULL: nothing. */
const char *map_hint(const etlheap_map *map);

#endif
