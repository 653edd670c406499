/* map_parts.h - shared by the formats of an address space map. */
#ifndef ETLHEAP_MAP_PARTS_H
#define ETLHEAP_MAP_PARTS_H

#include "columns.h"

/* X(field, value of the amounts `a`) and, of a region `r` in the process `p`, X(field, value). What
 * no event says is unknown, not 0; so is the heap, if there is none or several. */
#define MAP_AMOUNT_COLUMNS(X)                                                                      \
    X(SIZE, etlheap_value_count(a->size))                                                          \
    X(COMMITTED_SIZE, map_value(a, a->committed))                                                  \
    X(OUTSTANDING_SIZE, etlheap_value_count(a->live))                                              \
    X(OUTSTANDING_COUNT, etlheap_value_count(a->blocks))                                           \
    X(USED_SIZE, map_value(a, a->used))                                                            \
    X(LARGEST_UNCOMMITTED, map_value(a, a->largest_uncommitted))                                   \
    X(LARGEST_EMPTY, etlheap_value_count(a->largest_empty))
#define MAP_REGION_COLUMNS(X)                                                                      \
    MAP_AMOUNT_COLUMNS(X)                                                                          \
    X(PROCESS, etlheap_value_text(p->name))                                                        \
    X(PID, etlheap_value_count(p->pid))                                                            \
    X(ADDRESS, etlheap_value_if(true, ETLHEAP_VALUE_ADDRESS, r->address))                          \
    X(CATEGORY, etlheap_value_text(etlheap_map_category_word((etlheap_map_category)r->category)))  \
    X(HEAP, etlheap_value_if(r->has_heap, ETLHEAP_VALUE_HEAP, r->heap))                            \
    X(MODULE, etlheap_value_text(r->module))

typedef enum map_column {
#define MAP_COLUMN_ENUM(name, value) MAP_##name,
    MAP_REGION_COLUMNS(MAP_COLUMN_ENUM)
#undef MAP_COLUMN_ENUM
        MAP_COLUMN_COUNT
} map_column;

enum { MAP_AMOUNT_COUNT = MAP_AMOUNT_COLUMNS(ETLHEAP_COLUMN_ONE) };

extern const etlheap_field map_fields[MAP_COLUMN_COUNT];
void map_amount_values(const etlheap_map_amounts *a, etlheap_value out[MAP_AMOUNT_COUNT]);
void map_region_values(const etlheap_map_process *p, const etlheap_map_region *r,
                       etlheap_value out[MAP_COLUMN_COUNT]);

/* Marks the regions of a process (region_count entries) to list: the `most` regions with the most
 * committed, outstanding or reserved bytes; 0: all. The caller frees the array; NULL if memory runs
 * out. */
bool *map_choose(const etlheap_map *map, const etlheap_map_process *process, u32 most);

/* Do the levels of a region's parts tell anything? No event says what is inside an image or a view,
 * unless parts of it were committed. */
static inline bool map_region_has_levels(const etlheap_map_region *region)
{
    return (region->category != ETLHEAP_MAP_IMAGE && region->category != ETLHEAP_MAP_MAPPED) ||
           region->amounts.committed > 0;
}

/* The level of a part of a region, as etlheap_map_level gives it for a run. */
u32 map_level_of(const etlheap_map *map, const etlheap_map_region *region, u64 start, u64 end);

/* A sentence about what the map lacks; NULL: nothing. */
const char *map_hint(const etlheap_map *map);

#endif
