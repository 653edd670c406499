/*
 * space_regions.c - makes the regions of a process's address space and puts each cell into one.
 *
 * In: the images, views, reservations, commits, extents, large blocks and cells of one process.
 * Out: disjoint regions in order of address, and the cells by region.
 *
 *     1. images, views and what views leave of reservations become regions, clipped where they
 *        overlap
 *     2. what lies outside of them (commits, large blocks, cells) becomes pieces
 *     3. pieces with a small gap and no known region between them become one region
 *
 * Invariant: regions do not overlap, and the address of every cell lies in one of them; the sweep
 * (space_sweep.c) relies on both.
 */
#include "space_regions.h"

#include <stdlib.h>

/* Adds a recorded region, without the part that the one before it covers. If an image and a
 * reservation begin together, the image comes first: a rundown may report an image as a
 * reservation. So does a view. */
static bool add_known(space_regions *out, const space_range *range)
{
    const u64 from = out->list.count == 0 ? 0 : out->list.at[out->list.count - 1].end;
    const space_region region = { .start = etl_max_u64(range->start, from),
                                  .end = range->end,
                                  .is_known = true,
                                  .is_image = range->what == SPACE_IMAGE,
                                  .is_view = range->what == SPACE_VIEW,
                                  .module = range->module,
                                  .file = range->heap };
    return region.start >= region.end || ETLHEAP_PUSH(&out->list, region);
}

static int by_range(const void *a, const void *b)
{
    const space_range *const x = a, *const y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return (x->end > y->end) - (x->end < y->end);
}

/* Adds what views leave of the reservations, in order of address. */
static bool cut_reservations(space_range_list *out, const space_process *process)
{
    const space_slice views = process->of[SPACE_VIEW], reserved = process->of[SPACE_RESERVED];
    bool ok = true;
    for (u32 i = 0, first = 0; ok && i < reserved.count; i++) {
        space_range rest = reserved.at[i];
        while (first < views.count && views.at[first].end <= rest.start)
            first++;
        for (u32 k = first; ok && k < views.count && views.at[k].start < rest.end; k++) {
            space_range part = rest;
            part.end = views.at[k].start;
            ok = part.start >= part.end || ETLHEAP_PUSH(out, part);
            rest.start = etl_max_u64(rest.start, views.at[k].end);
        }
        ok = ok && (rest.start >= rest.end || ETLHEAP_PUSH(out, rest));
    }
    if (out->count > 0)
        qsort(out->at, out->count, sizeof *out->at, by_range);
    return ok;
}

enum { KNOWN_LISTS = 3 };

/* Adds the ranges of lists, in order of address; of those that begin together, the first list's is
 * added first. A view of an image is left out. */
static bool add_lists(space_regions *out, const space_slice lists[KNOWN_LISTS])
{
    u32 at[KNOWN_LISTS] = { 0 };
    u64 image_start = UINT64_MAX;
    for (;;) {
        const space_range *next = NULL;
        u32 from = 0;
        for (u32 i = 0; i < KNOWN_LISTS; i++) {
            const space_range *const range = at[i] < lists[i].count ? &lists[i].at[at[i]] : NULL;
            if (range == NULL || (next != NULL && range->start >= next->start))
                continue;
            next = range;
            from = i;
        }
        if (next == NULL)
            return true;
        at[from]++;
        if (next->what == SPACE_IMAGE)
            image_start = next->start;
        if ((next->what != SPACE_VIEW || next->start != image_start) && !add_known(out, next))
            return false;
    }
}

static bool add_all_known(space_regions *out, const space_process *process)
{
    space_range_list rests = { 0 };
    space_slice lists[KNOWN_LISTS] = { process->of[SPACE_IMAGE], process->of[SPACE_VIEW],
                                       process->of[SPACE_RESERVED] };
    bool ok = true;
    if (process->of[SPACE_VIEW].count > 0) {
        ok = cut_reservations(&rests, process);
        lists[KNOWN_LISTS - 1] = (space_slice){ rests.at, (u32)rests.count };
    }
    ok = ok && add_lists(out, lists);
    ETLHEAP_VECTOR_FREE(&rests);
    return ok;
}

/* The first of `count` sorted regions that ends after an address. */
static size_t region_after(const space_regions *regions, size_t count, u64 address)
{
    size_t low;
    ETL_BISECT(low, 0, count, regions->list.at[low].end <= address);
    return low;
}

/* The start of that region; UINT64_MAX if there is none. */
static u64 start_after(const space_regions *regions, size_t count, u64 address)
{
    const size_t at = region_after(regions, count, address);
    return at < count ? regions->list.at[at].start : UINT64_MAX;
}

/* An address in the cell that blocks occupy. If no block begins in the cell, the bytes of an
 * earlier block begin where the unit does. */
static u64 address_of(const space_process *process, const space_cell *cell)
{
    return cell->blocks > 0 ? cell->largest.address : cell->number << process->shift;
}

static bool is_solid(const space_regions *regions, u64 address)
{
    const u32 at = space_spans_after(&regions->solid, address);
    return at < regions->solid.count && regions->solid.at[at].start <= address;
}

/* Adds the parts of [start, end) that lie outside the known regions, the first `known` ones. */
static bool add_outside(space_spans *out, const space_regions *regions, size_t known, u64 start,
                        u64 end)
{
    bool ok = true;
    size_t at = region_after(regions, known, start);
    while (ok && start < end) {
        const space_region *const next = at < known ? &regions->list.at[at++] : NULL;
        const u64 stop = next == NULL ? end : etl_min_u64(end, next->start);
        if (start < stop)
            ok = ETLHEAP_PUSH(out, ((space_span){ start, stop }));
        start = next == NULL ? end : next->end;
    }
    return ok;
}

static int by_start(const void *a, const void *b)
{
    const space_span *const x = a, *const y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return (x->end > y->end) - (x->end < y->end);
}

/* Gathers all pieces outside the known regions, in order of address; pieces may overlap. */
static bool gather_pieces(space_spans *out, const space_regions *regions,
                          const space_process *process)
{
    const size_t known = regions->list.count;
    const space_slice inner = process->of[SPACE_INNER];
    bool ok = true;
    for (size_t i = 0; ok && i < regions->solid.count; i++)
        ok = add_outside(out, regions, known, regions->solid.at[i].start, regions->solid.at[i].end);
    for (u32 i = 0; ok && i < inner.count; i++)
        ok = add_outside(out, regions, known, inner.at[i].start, inner.at[i].end);
    for (u32 i = 0; ok && i < process->cell_count; i++) {
        const u64 address = address_of(process, &process->cells[i]);
        const u64 start = process->cells[i].number << process->shift;
        if (start_after(regions, known, address) > address && !is_solid(regions, address))
            ok = add_outside(out, regions, known, start,
                             etl_sat_add_u64(start, (u64)1 << process->shift));
    }
    if (ok && out->count > 0)
        qsort(out->at, out->count, sizeof *out->at, by_start);
    return ok;
}

/* May one region reach across the gap between `end` and `start`? */
static bool are_near(const space_regions *regions, size_t known, u64 end, u64 start, u32 shift)
{
    if (start <= end)
        return true;
    const bool is_far = (start - end) >> shift >= SPACE_JOIN_UNITS;
    return !is_far && start_after(regions, known, end) >= start;
}

static bool add_pieced(space_regions *out, const space_process *process)
{
    const size_t known = out->list.count;
    space_spans pieces = { 0 };
    bool ok = gather_pieces(&pieces, out, process);
    for (size_t i = 0; ok && i < pieces.count; i++) {
        const space_span *const piece = &pieces.at[i];
        space_region *const last =
            out->list.count == known ? NULL : &out->list.at[out->list.count - 1];
        if (last != NULL && are_near(out, known, last->end, piece->start, process->shift))
            last->end = etl_max_u64(last->end, piece->end);
        else
            ok = ETLHEAP_PUSH(&out->list,
                              ((space_region){ .start = piece->start, .end = piece->end }));
    }
    ETLHEAP_VECTOR_FREE(&pieces);
    return ok;
}

static int by_address(const void *a, const void *b)
{
    const space_region *const x = a, *const y = b;
    return (x->start > y->start) - (x->start < y->start);
}

static int by_region(const void *a, const void *b)
{
    const space_placed *const x = a, *const y = b;
    if (x->region != y->region)
        return x->region < y->region ? -1 : 1;
    return (x->cell > y->cell) - (x->cell < y->cell);
}

static bool place_cells(space_regions *out, const space_process *process)
{
    for (u32 i = 0; i < process->cell_count; i++) {
        const space_cell *const cell = &process->cells[i];
        const u64 address = address_of(process, cell);
        const size_t region = region_after(out, out->list.count, address);
        assert(region < out->list.count && out->list.at[region].start <= address);
        if (!ETLHEAP_PUSH(&out->placed, ((space_placed){ (u32)region, cell })))
            return false;
    }
    if (out->placed.count > 0)
        qsort(out->placed.at, out->placed.count, sizeof *out->placed.at, by_region);
    return true;
}

bool space_regions_make(space_regions *out, const space_process *process)
{
    const bool ok =
        space_spans_unite(&out->solid, process->of[SPACE_COMMITTED], process->of[SPACE_EXTENT]) &&
        add_all_known(out, process) && add_pieced(out, process);
    if (ok && out->list.count > 0)
        qsort(out->list.at, out->list.count, sizeof *out->list.at, by_address);
    return ok && place_cells(out, process);
}

void space_regions_free(space_regions *regions)
{
    ETLHEAP_VECTOR_FREE(&regions->solid);
    ETLHEAP_VECTOR_FREE(&regions->list);
    ETLHEAP_VECTOR_FREE(&regions->placed);
    *regions = (space_regions){ 0 };
}
