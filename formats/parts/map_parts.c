/*
 * map_parts.c - the columns of a map's regions, the processes and regions to show, and the fullness
 * of a part of a region, for all formats.
 */
#include "map_parts.h"

#include <stdlib.h>

typedef struct ranked_region {
    const etlheap_map_region *region;
    u32 index;
} ranked_region;

const etlheap_field map_fields[MAP_COLUMN_COUNT] = { MAP_REGION_COLUMNS(ETLHEAP_COLUMN_FIELD) };

static etlheap_value map_value(const etlheap_map_amounts *amounts, u64 number)
{
    return etlheap_value_if(amounts->is_committed_known, ETLHEAP_VALUE_COUNT, number);
}

void map_amount_values(const etlheap_map_amounts *a, etlheap_value out[MAP_AMOUNT_COUNT])
{
    const etlheap_value values[] = { MAP_AMOUNT_COLUMNS(ETLHEAP_COLUMN_VALUE) };
    memcpy(out, values, sizeof values);
}

void map_region_values(const etlheap_map_process *p, const etlheap_map_region *r,
                       etlheap_value out[MAP_COLUMN_COUNT])
{
    const etlheap_map_amounts *const a = &r->amounts;
    const etlheap_value values[] = { MAP_REGION_COLUMNS(ETLHEAP_COLUMN_VALUE) };
    memcpy(out, values, sizeof values);
}

static int by_bytes(const void *a, const void *b)
{
    const ranked_region *const x = a, *const y = b;
    const etlheap_map_amounts *const p = &x->region->amounts, *const q = &y->region->amounts;
    if (p->committed != q->committed)
        return p->committed > q->committed ? -1 : 1;
    if (p->live != q->live)
        return p->live > q->live ? -1 : 1;
    if (p->size != q->size)
        return p->size > q->size ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

bool *map_choose(const etlheap_map *map, const etlheap_map_process *process, u32 most)
{
    const u32 count = process->region_count;
    const bool is_all = most == 0 || most >= count;
    bool *const listed = calloc(count + (size_t)1, sizeof *listed);
    ranked_region *const ranks = is_all ? NULL : calloc(count, sizeof *ranks);
    if (listed == NULL || (ranks == NULL && !is_all)) {
        free(listed);
        free(ranks);
        return NULL;
    }
    if (is_all) {
        memset(listed, true, count * sizeof *listed);
        return listed;
    }
    for (u32 i = 0; i < count; i++)
        ranks[i] = (ranked_region){ &map->regions[process->first_region + i], i };
    qsort(ranks, count, sizeof *ranks, by_bytes);
    for (u32 i = 0; i < most; i++)
        listed[ranks[i].index] = true;
    free(ranks);
    return listed;
}

/* The share of a run's bytes that lies in [start, end): units of a run are alike. */
static u64 share(u64 bytes, const etlheap_map_run *run, u64 start, u64 end)
{
    const u64 low = start > run->address ? start : run->address;
    const u64 run_end = run->address + run->size;
    const u64 high = end < run_end ? end : run_end;
    return low >= high ? 0 : (u64)((double)bytes * ((double)(high - low) / (double)run->size));
}

u32 map_level_of(const etlheap_map *map, const etlheap_map_region *region, u64 start, u64 end)
{
    etlheap_map_run part = { .address = start, .size = end - start };
    for (u32 i = 0; i < region->run_count; i++) {
        const etlheap_map_run *const run = &map->runs[region->first_run + i];
        if (run->address >= end || run->address + run->size <= start)
            continue;
        part.committed += share(run->committed, run, start, end);
        part.live += share(run->live, run, start, end);
        part.blocks += run->blocks > 0; /* small ones would be lost in a large part */
    }
    return etlheap_map_level(&part);
}

const char *map_hint(const etlheap_map *map)
{
    if (!map->has_virtualalloc && !map->has_extents)
        return "the trace has no VirtualAlloc events, so reserved and committed memory is unknown: "
               "regions are derived from blocks";
    if (!map->has_virtualalloc)
        return "the trace has no VirtualAlloc events, so reserved memory is unknown: only heap "
               "extents show what is committed";
    if (!map->has_reservations)
        return "the store was written before stores kept reservations: regions are derived from "
               "committed memory";
    return NULL;
}
