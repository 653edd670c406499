/*
 * range_map.c - a map of disjoint address ranges, for ranges.c.
 *
 * In: ranges that do not overlap. Out: look-ups by address, removed parts, bytes and gaps in a
 * region.
 *
 *     leaves   [ a b c d ] [ e f g ] [ h i j k l ]      a sorted array of pointers to sorted leaves
 *
 * Finding is two binary searches. Inserting moves at most one leaf's tail; a full leaf splits in
 * two, which moves the tail of the pointer array: for n ranges n/64 pointers for each 64
 * insertions.
 *
 * A leaf knows the bytes of its ranges. So the bytes of a large region are added up leaf by leaf,
 * and a leaf whose bytes fill its extent has no gap: a search for a gap in memory committed page by
 * page steps over it at once. Invariant: every change of a range must update its leaf's bytes.
 */
#include "range_map.h"

#include <stdlib.h>

static u64 leaf_end(const range_leaf *leaf)
{
    return leaf->at[leaf->count - 1].end;
}

/* Finds the first leaf whose last range ends after the address. */
static u32 seek_leaf(const range_map *map, u64 address)
{
    size_t leaf;
    ETL_BISECT(leaf, 0, map->leaves.count, leaf_end(map->leaves.at[leaf]) <= address);
    return (u32)leaf;
}

range *range_map_seek(const range_map *map, u64 address, range_place *place)
{
    *place = (range_place){ seek_leaf(map, address), 0 };
    if (place->leaf == map->leaves.count)
        return NULL;
    range_leaf *const leaf = map->leaves.at[place->leaf];
    u32 low;
    ETL_BISECT(low, 0, leaf->count, leaf->at[low].end <= address);
    assert(low < leaf->count);
    place->index = low;
    return &leaf->at[low];
}

range *range_map_next(const range_map *map, range_place *place)
{
    if (place->leaf >= map->leaves.count)
        return NULL;
    if (++place->index >= map->leaves.at[place->leaf]->count) {
        place->leaf++;
        place->index = 0;
    }
    return place->leaf < map->leaves.count ? &map->leaves.at[place->leaf]->at[place->index] : NULL;
}

static bool insert_leaf(range_map *map, u32 before, range_leaf *leaf)
{
    if (!ETLHEAP_RESERVE(&map->leaves, 1))
        return false;
    memmove(&map->leaves.at[before + 1], &map->leaves.at[before],
            (map->leaves.count - before) * sizeof *map->leaves.at);
    map->leaves.at[before] = leaf;
    map->leaves.count++;
    return true;
}

static u64 bytes_of(const range *ranges, u32 count)
{
    u64 total = 0;
    for (u32 i = 0; i < count; i++)
        total += ranges[i].end - ranges[i].start;
    return total;
}

static bool split_leaf(range_map *map, u32 index)
{
    range_leaf *const full = map->leaves.at[index];
    range_leaf *const upper = malloc(sizeof *upper);
    if (upper == NULL)
        return false;
    const u32 half = full->count / 2;
    upper->count = full->count - half;
    memcpy(upper->at, full->at + half, upper->count * sizeof *upper->at);
    upper->bytes = bytes_of(upper->at, upper->count);
    if (!insert_leaf(map, index + 1, upper)) {
        free(upper);
        return false;
    }
    full->count = half;
    full->bytes -= upper->bytes;
    return true;
}

/* The leaf for a new range, with room in it; NULL without memory. */
static range_leaf *leaf_for(range_map *map, u64 start)
{
    if (map->leaves.count == 0) {
        range_leaf *const first = malloc(sizeof *first);
        if (first == NULL)
            return NULL;
        first->count = 0;
        first->bytes = 0;
        if (!insert_leaf(map, 0, first)) {
            free(first);
            return NULL;
        }
        return first;
    }
    for (;;) {
        u32 index = seek_leaf(map, start);
        if (index == map->leaves.count)
            index--;
        range_leaf *const leaf = map->leaves.at[index];
        if (leaf->count < RANGE_LEAF_MAX)
            return leaf;
        if (!split_leaf(map, index))
            return NULL;
    }
}

bool range_map_insert(range_map *map, range added)
{
    assert(added.start < added.end);
    range_leaf *const leaf = leaf_for(map, added.start);
    if (leaf == NULL)
        return false;
    u32 at = leaf->count;
    while (at > 0 && leaf->at[at - 1].start > added.start)
        at--;
    assert(at == 0 || leaf->at[at - 1].end <= added.start);
    memmove(&leaf->at[at + 1], &leaf->at[at], (leaf->count - at) * sizeof *leaf->at);
    leaf->at[at] = added;
    leaf->count++;
    leaf->bytes += added.end - added.start;
    return true;
}

void range_map_shrink(range_map *map, range_place place, u64 end)
{
    range_leaf *const leaf = map->leaves.at[place.leaf];
    range *const cut = &leaf->at[place.index];
    assert(cut->start < end && end <= cut->end);
    leaf->bytes -= cut->end - end;
    cut->end = end;
}

void range_map_remove(range_map *map, range_place place)
{
    range_leaf *const leaf = map->leaves.at[place.leaf];
    leaf->bytes -= leaf->at[place.index].end - leaf->at[place.index].start;
    memmove(&leaf->at[place.index], &leaf->at[place.index + 1],
            (leaf->count - place.index - 1) * sizeof *leaf->at);
    if (--leaf->count > 0)
        return;
    free(leaf);
    memmove(&map->leaves.at[place.leaf], &map->leaves.at[place.leaf + 1],
            (map->leaves.count - place.leaf - 1) * sizeof *map->leaves.at);
    map->leaves.count--;
}

u64 range_map_bytes(const range_map *map, u64 start, u64 end)
{
    u64 total = 0;
    range_place place;
    const range *found = range_map_seek(map, start, &place);
    while (found != NULL && found->start < end) {
        const range_leaf *const leaf = map->leaves.at[place.leaf];
        const bool is_whole =
            place.index == 0 && found->start >= start && leaf->at[leaf->count - 1].end <= end;
        if (is_whole) {
            total += leaf->bytes;
            place.index = leaf->count - 1;
        } else {
            total += etl_min_u64(found->end, end) - etl_max_u64(found->start, start);
        }
        found = range_map_next(map, &place);
    }
    return total;
}

u64 range_map_gap(const range_map *map, u64 address)
{
    range_place place;
    const range *found = range_map_seek(map, address, &place);
    while (found != NULL && found->start <= address) {
        const range_leaf *const leaf = map->leaves.at[place.leaf];
        const range *const last = &leaf->at[leaf->count - 1];
        const bool is_solid = place.index == 0 && leaf->bytes == last->end - found->start;
        if (is_solid)
            place.index = leaf->count - 1;
        address = is_solid ? last->end : found->end;
        found = range_map_next(map, &place);
    }
    return address;
}

void range_map_free(range_map *map)
{
    for (size_t i = 0; i < map->leaves.count; i++)
        free(map->leaves.at[i]);
    ETLHEAP_VECTOR_FREE(&map->leaves);
}

bool range_map_has(const range_map *map, u64 start, u64 end)
{
    range_place place;
    const range *const found = range_map_seek(map, start, &place);
    return found != NULL && found->start < end;
}
