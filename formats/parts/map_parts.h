/* map_parts.h - shared by the formats of an address space map. */
#ifndef ETLHEAP_MAP_PARTS_H
#define ETLHEAP_MAP_PARTS_H

#include "formats/formats.h"

#include "parser/base.h"

/* Marks the regions of a process (region_count entries) to list: the `most` regions with the most
 * committed, outstanding or reserved bytes; 0: all. The caller frees the array; NULL if memory runs
 * out. */
bool *map_choose(const etlheap_map *map, const etlheap_map_process *process, u32 most);

/* The number of regions of a process in a document: all, unless the user sets a number. */
u32 map_limit(const etlheap_layout *layout);

/* The level of a part of a region, as etlheap_map_level gives it for a run. */
u32 map_level_of(const etlheap_map *map, const etlheap_map_region *region, u64 start, u64 end);

/* A sentence about what the map lacks; NULL: nothing. */
const char *map_hint(const etlheap_map *map);

#endif
