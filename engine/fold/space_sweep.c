/*
 * space_sweep.c - walks the regions of a process from low to high addresses and makes the rows of
 * the map: regions, runs of equal fullness, heaps and pins.
 *
 * In: the regions and placed cells of a process, its commits, extents and large blocks. Out: rows
 * appended to a space_output, and the sums of the process.
 *
 *     region     [───────────────────────────────────────────)
 *     committed     [────────────────────)
 *     cells             x  x
 *     steps      |      |  |  |          |                   |   one unit where blocks are,
 *     runs       | .    | ▅▅▅ | ░        | .                 |   else up to the next change
 *
 * A step is one unit, or the whole stretch in which no cell, commit or large block begins or ends.
 * So terabytes of reserved addresses cost a step. Invariant: `placed`, `begun` and `ended` only
 * move forward, so regions must be swept in order of address.
 */
#include "space_sweep.h"

#include <stdlib.h>

/* The state of a sweep over one process. */
typedef struct sweep {
    space_output *to;
    const space_process *from;
    const space_regions *regions;
    u32 process;
    u32 solid, placed;             /* at hand */
    u64 *starts, *ends;            /* of what large blocks fill, each in order */
    u32 inner_count, begun, ended; /* how many of them lie before the address at hand */
} sweep;

/* The region that is being swept. */
typedef struct region_sweep {
    const space_region *region;
    u32 number;
    etlheap_map_region out;
    u64 empty; /* bytes without a live block up to here */
    bool has_pin, has_heap, is_mixed;
    space_pin pin;
} region_sweep;

const char *etlheap_map_category_word(etlheap_map_category category)
{
    static const char *const words[ETLHEAP_MAP_CATEGORY_COUNT] = { "image", "heap", "private",
                                                                   "reserved", "mapped" };
    return (u32)category < ETLHEAP_MAP_CATEGORY_COUNT ? words[category] : "";
}

u32 etlheap_map_level(const etlheap_map_run *run)
{
    const u64 quarter = (run->committed > 0 ? run->committed : run->size) / 4;
    if (run->live == 0 && run->blocks == 0)
        return run->committed > 0;
    return run->live >= 3 * quarter   ? 5
           : run->live >= 2 * quarter ? 4
           : run->live >= quarter     ? 3
                                      : 2;
}

/* --- one step ------------------------------------------------------------------------ */

static int by_value(const void *a, const void *b)
{
    const u64 x = *(const u64 *)a, y = *(const u64 *)b;
    return (x > y) - (x < y);
}

static bool order_inner(sweep *s)
{
    const space_slice inner = s->from->of[SPACE_INNER];
    s->inner_count = inner.count;
    s->starts = calloc(inner.count + (size_t)1, sizeof *s->starts);
    s->ends = calloc(inner.count + (size_t)1, sizeof *s->ends);
    if (s->starts == NULL || s->ends == NULL)
        return false;
    for (u32 i = 0; i < inner.count; i++) {
        s->starts[i] = inner.at[i].start;
        s->ends[i] = inner.at[i].end;
    }
    qsort(s->starts, inner.count, sizeof *s->starts, by_value);
    qsort(s->ends, inner.count, sizeof *s->ends, by_value);
    return true;
}

/* Moves forward to an address and returns how many large blocks cover it. */
static u32 inner_at(sweep *s, u64 address)
{
    while (s->begun < s->inner_count && s->starts[s->begun] <= address)
        s->begun++;
    while (s->ended < s->inner_count && s->ends[s->ended] <= address)
        s->ended++;
    return s->begun - s->ended;
}

static const space_cell *cell_at_hand(const sweep *s, u32 region)
{
    const bool is_there =
        s->placed < s->regions->placed.count && s->regions->placed.at[s->placed].region == region;
    return is_there ? s->regions->placed.at[s->placed].cell : NULL;
}

/* The end of the step that starts at a unit: where something changes next, but at least the end of
 * the unit. */
static u64 step_end(const sweep *s, const region_sweep *r, u64 unit_start)
{
    const u32 shift = s->from->shift;
    const u64 mask = ~(((u64)1 << shift) - 1);
    const u64 unit_end = etl_sat_add_u64(unit_start, (u64)1 << shift);
    const u64 low = etl_max_u64(unit_start, r->region->start);
    const space_cell *const cell = cell_at_hand(s, r->number);
    u64 end = etl_sat_add_u64(r->region->end, ~mask) & mask;
    if (cell != NULL && cell->number << shift <= unit_start)
        return unit_end;
    if (cell != NULL)
        end = etl_min_u64(end, cell->number << shift);
    if (s->solid < s->regions->solid.count) {
        const space_span *const solid = &s->regions->solid.at[s->solid];
        end = etl_min_u64(end, (solid->start <= low ? solid->end : solid->start) & mask);
    }
    if (s->begun < s->inner_count)
        end = etl_min_u64(end, s->starts[s->begun]);
    if (s->ended < s->inner_count)
        end = etl_min_u64(end, s->ends[s->ended]);
    return etl_max_u64(end, unit_end);
}

/* Takes the region's cells in a unit; returns the one that has the largest block. */
static const space_cell *take_cells(sweep *s, region_sweep *r, u64 unit_start, etlheap_map_run *run)
{
    const space_cell *largest = NULL;
    const space_cell *cell = cell_at_hand(s, r->number);
    while (cell != NULL && cell->number << s->from->shift <= unit_start) {
        if (cell->blocks > 0 && (largest == NULL || cell->largest.size > largest->largest.size))
            largest = cell;
        run->live = etl_sat_add_u64(run->live, cell->live);
        run->blocks += cell->blocks;
        r->is_mixed |= r->has_heap && r->out.heap != cell->heap;
        r->has_heap = true;
        r->out.heap = cell->heap;
        s->placed++;
        cell = cell_at_hand(s, r->number);
    }
    return largest;
}

/* --- what a step adds to --------------------------------------------------------------- */

static bool add_run(space_output *to, const region_sweep *r, const etlheap_map_run *run)
{
    etlheap_map_run *const last =
        to->runs.count == r->out.first_run ? NULL : &to->runs.at[to->runs.count - 1];
    if (last == NULL || etlheap_map_level(last) != etlheap_map_level(run))
        return ETLHEAP_PUSH(&to->runs, *run);
    last->size += run->size;
    last->committed += run->committed;
    last->live = etl_sat_add_u64(last->live, run->live);
    last->blocks += run->blocks;
    return true;
}

static bool end_pin(sweep *s, region_sweep *r)
{
    const bool is_one = r->has_pin && r->pin.pin.blocks > 0;
    r->has_pin = false;
    return !is_one || ETLHEAP_PUSH(&s->to->pins, r->pin);
}

/* Adds a step to the current pin. A pin ends at units that are well filled or not committed. */
static bool add_to_pin(sweep *s, region_sweep *r, const etlheap_map_run *run,
                       const space_cell *largest, const space_span *inside)
{
    etlheap_map_pin *const pin = &r->pin.pin;
    if (run->committed == 0 || run->live > run->committed / ETLHEAP_MAP_PIN_SHARE)
        return end_pin(s, r);
    if (!r->has_pin)
        r->pin = (space_pin){ .pin = { .process = s->process, .address = inside->start } };
    r->has_pin = true;
    if (largest != NULL && (pin->blocks == 0 || largest->largest.size > pin->largest_size)) {
        pin->largest_address = largest->largest.address;
        pin->largest_size = largest->largest.size;
        r->pin.largest = largest->largest;
        r->pin.heap = largest->heap;
    }
    pin->size = inside->end - pin->address;
    pin->committed += run->committed;
    pin->live += run->live;
    pin->blocks += run->blocks;
    return true;
}

/* Is the region mapped as a whole, without memory that could be committed? */
static bool is_mapping(const space_region *region)
{
    return region->is_image || region->is_view;
}

static bool add_step(sweep *s, region_sweep *r, u64 start, u64 end)
{
    const space_span inside = { etl_max_u64(start, r->region->start),
                                etl_min_u64(end, r->region->end) };
    etlheap_map_amounts *const sum = &r->out.amounts;
    etlheap_map_run run = { .address = start, .size = end - start };
    const u64 filled = (inside.end - inside.start) * (u64)inner_at(s, start);
    run.committed = space_spans_bytes(&s->regions->solid, &s->solid, inside.start, inside.end);
    const space_cell *const largest = take_cells(s, r, start, &run);
    run.live = etl_sat_add_u64(run.live, filled);
    sum->committed += run.committed;
    sum->live = etl_sat_add_u64(sum->live, run.live);
    sum->used += etl_min_u64(run.live, run.committed);
    sum->blocks += run.blocks;
    r->empty = run.live == 0 && run.blocks == 0 ? r->empty + (inside.end - inside.start) : 0;
    if (!is_mapping(r->region))
        sum->largest_empty = etl_max_u64(sum->largest_empty, r->empty);
    return add_run(s->to, r, &run) && add_to_pin(s, r, &run, largest, &inside);
}

/* --- a region ---------------------------------------------------------------------------- */

static u64 largest_gap(const space_spans *solid, const space_region *region)
{
    u64 from = region->start, largest = 0;
    for (u32 i = space_spans_after(solid, region->start);
         i < solid->count && solid->at[i].start < region->end; i++) {
        if (solid->at[i].start > from)
            largest = etl_max_u64(largest, solid->at[i].start - from);
        from = solid->at[i].end;
    }
    return from < region->end ? etl_max_u64(largest, region->end - from) : largest;
}

/* Extents say which heap a region belongs to, even if no block lies in it. */
static void note_extents(const space_process *from, region_sweep *r)
{
    const space_slice extents = from->of[SPACE_EXTENT];
    u32 low;
    ETL_BISECT(low, 0, extents.count, extents.at[low].start < r->region->start);
    for (u32 i = low; i < extents.count && extents.at[i].start < r->region->end; i++) {
        r->is_mixed |= r->has_heap && r->out.heap != extents.at[i].heap;
        r->has_heap = true;
        r->out.heap = extents.at[i].heap;
    }
}

/* Blocks, images and views need memory: if no event says that it was committed, the event is
 * missing, or the memory is that of a file. */
static void judge_committed(const sweep *s, region_sweep *r)
{
    etlheap_map_amounts *const amounts = &r->out.amounts;
    const bool needs_memory = is_mapping(r->region) || amounts->live > 0 || amounts->blocks > 0;
    amounts->is_committed_known = amounts->committed > 0 || !needs_memory;
    if (amounts->is_committed_known && !is_mapping(r->region))
        amounts->largest_uncommitted = largest_gap(&s->regions->solid, r->region);
}

static bool sweep_region(sweep *s, u32 number)
{
    const space_region *const region = &s->regions->list.at[number];
    const u32 shift = s->from->shift;
    region_sweep r = { .region = region, .number = number };
    r.out = (etlheap_map_region){ .address = region->start,
                                  .is_known = region->is_known,
                                  .first_run = (u32)s->to->runs.count,
                                  .amounts = { .size = region->end - region->start } };
    s->solid = space_spans_after(&s->regions->solid, region->start);
    bool ok = true;
    for (u64 at = region->start >> shift << shift; ok && at < region->end;) {
        (void)inner_at(s, at);
        const u64 end = step_end(s, &r, at);
        ok = add_step(s, &r, at, end);
        at = end;
    }
    ok = ok && end_pin(s, &r);
    note_extents(s->from, &r);
    r.out.run_count = (u32)s->to->runs.count - r.out.first_run;
    r.out.has_heap = r.has_heap && !r.is_mixed;
    r.out.heap = r.out.has_heap ? r.out.heap : 0;
    judge_committed(s, &r);
    r.out.category = (u8)(region->is_image              ? ETLHEAP_MAP_IMAGE
                          : r.has_heap                  ? ETLHEAP_MAP_HEAP
                          : region->is_view             ? ETLHEAP_MAP_MAPPED
                          : r.out.amounts.committed > 0 ? ETLHEAP_MAP_PRIVATE
                                                        : ETLHEAP_MAP_RESERVED);
    return ok && ETLHEAP_PUSH(&s->to->regions, r.out);
}

/* --- a process ----------------------------------------------------------------------------- */

static void add_amounts(etlheap_map_amounts *to, const etlheap_map_amounts *from)
{
    to->size = etl_sat_add_u64(to->size, from->size);
    to->committed = etl_sat_add_u64(to->committed, from->committed);
    to->live = etl_sat_add_u64(to->live, from->live);
    to->used = etl_sat_add_u64(to->used, from->used);
    to->blocks += from->blocks;
    to->largest_uncommitted = etl_max_u64(to->largest_uncommitted, from->largest_uncommitted);
    to->largest_empty = etl_max_u64(to->largest_empty, from->largest_empty);
}

static int by_heap(const void *a, const void *b)
{
    const etlheap_map_heap *const x = a, *const y = b;
    return (x->heap > y->heap) - (x->heap < y->heap);
}

/* Joins the rows of each heap, which are neighbours after sorting. */
static void join_heaps(space_output *to, u32 first)
{
    u32 kept = first;
    for (u32 i = first; i < to->heaps.count; i++) {
        const etlheap_map_heap row = to->heaps.at[i];
        etlheap_map_heap *const last = kept == first ? NULL : &to->heaps.at[kept - 1];
        if (last == NULL || last->heap != row.heap) {
            to->heaps.at[kept++] = row;
            continue;
        }
        last->committed = etl_sat_add_u64(last->committed, row.committed);
        last->live = etl_sat_add_u64(last->live, row.live);
        last->blocks += row.blocks;
        last->touched = etl_sat_add_u64(last->touched, row.touched);
    }
    to->heaps.count = kept;
}

static bool add_heap_rows(space_output *to, const space_process *from)
{
    const space_slice extents = from->of[SPACE_EXTENT], inner = from->of[SPACE_INNER];
    bool ok = true;
    for (u32 i = 0; ok && i < extents.count; i++) {
        const space_range *const one = &extents.at[i];
        ok = ETLHEAP_PUSH(&to->heaps, ((etlheap_map_heap){ .heap = one->heap,
                                                           .committed = one->end - one->start }));
    }
    for (u32 i = 0; ok && i < inner.count; i++) {
        const space_range *const one = &inner.at[i];
        ok = ETLHEAP_PUSH(&to->heaps,
                          ((etlheap_map_heap){ .heap = one->heap, .live = one->end - one->start }));
    }
    for (u32 i = 0; ok && i < from->cell_count; i++) {
        const space_cell *const cell = &from->cells[i];
        ok = ETLHEAP_PUSH(&to->heaps, ((etlheap_map_heap){ .heap = cell->heap,
                                                           .live = cell->live,
                                                           .blocks = cell->blocks,
                                                           .touched = (u64)1 << from->shift }));
    }
    return ok;
}

/* The bytes of all units that hold blocks of a heap, each unit counted once. Large blocks may share
 * units with others if frees were lost. Cells and large blocks are sorted by address. */
static u64 touched_by(const space_process *from, u64 heap)
{
    const space_slice inner = from->of[SPACE_INNER];
    u64 touched = 0, reached = 0; /* all before it is counted */
    for (u32 i = 0, k = 0; i < from->cell_count || k < inner.count;) {
        const u64 cell = i < from->cell_count ? from->cells[i].number << from->shift : UINT64_MAX;
        const bool is_cell =
            k == inner.count || (i < from->cell_count && cell <= inner.at[k].start);
        const u64 start = is_cell ? cell : inner.at[k].start;
        const u64 end = is_cell ? etl_sat_add_u64(cell, (u64)1 << from->shift) : inner.at[k].end;
        const bool is_own = (is_cell ? from->cells[i].heap : inner.at[k].heap) == heap;
        if (is_own && end > reached) {
            touched += end - etl_max_u64(start, reached);
            reached = end;
        }
        i += is_cell;
        k += !is_cell;
    }
    return touched;
}

/* Corrects `touched` for heaps with large blocks. For all other heaps, adding up their cells is
 * exact. Few heaps have large blocks, so only these are counted again. */
static bool mend_touched(const space_process *from, etlheap_map_heap *heaps, u32 count)
{
    const space_slice inner = from->of[SPACE_INNER];
    bool *const has_large = calloc((size_t)count + 1, sizeof *has_large);
    for (u32 i = 0; has_large != NULL && i < inner.count; i++) {
        const etlheap_map_heap wanted = { .heap = inner.at[i].heap };
        const etlheap_map_heap *const found =
            bsearch(&wanted, heaps, count, sizeof *heaps, by_heap);
        has_large[found - heaps] = true;
    }
    for (u32 i = 0; has_large != NULL && i < count; i++) {
        if (has_large[i])
            heaps[i].touched = touched_by(from, heaps[i].heap);
    }
    free(has_large);
    return has_large != NULL;
}

static bool add_heaps(space_output *to, const space_process *from, etlheap_map_process *out)
{
    out->first_heap = (u32)to->heaps.count;
    if (!add_heap_rows(to, from))
        return false;
    etlheap_map_heap *const rows = to->heaps.at == NULL ? NULL : to->heaps.at + out->first_heap;
    if (to->heaps.count > out->first_heap)
        qsort(rows, to->heaps.count - out->first_heap, sizeof *rows, by_heap);
    join_heaps(to, out->first_heap);
    out->heap_count = (u32)to->heaps.count - out->first_heap;
    return out->heap_count == 0 || mend_touched(from, rows, out->heap_count);
}

/* Sums what is known of regions. A process has images and views anyway, so they say nothing about
 * whether its commits are known; if it has nothing else, they are not. */
static void add_regions(const space_output *to, etlheap_map_process *out)
{
    u32 unknown[ETLHEAP_MAP_CATEGORY_COUNT] = { 0 }, unknown_memory = 0, mappings = 0;
    for (u32 i = 0; i < out->region_count; i++) {
        const etlheap_map_region *const region = &to->regions.at[out->first_region + i];
        const bool is_unknown = !region->amounts.is_committed_known;
        add_amounts(&out->amounts, &region->amounts);
        add_amounts(&out->categories[region->category], &region->amounts);
        out->category_regions[region->category]++;
        unknown[region->category] += is_unknown;
        const bool is_mapped = region->category == ETLHEAP_MAP_MAPPED;
        mappings += is_mapped || region->category == ETLHEAP_MAP_IMAGE;
        unknown_memory += is_unknown && !is_mapped && region->category != ETLHEAP_MAP_IMAGE;
    }
    for (u32 c = 0; c < ETLHEAP_MAP_CATEGORY_COUNT; c++)
        out->categories[c].is_committed_known = out->categories[c].committed > 0 || unknown[c] == 0;
    const bool has_memory =
        mappings < out->region_count || out->category_regions[ETLHEAP_MAP_MAPPED] == 0;
    out->amounts.is_committed_known =
        out->amounts.committed > 0 || (unknown_memory == 0 && has_memory);
}

bool space_sweep(space_output *to, const space_process *from, const space_regions *regions,
                 u32 process, etlheap_map_process *out)
{
    sweep s = { .to = to, .from = from, .regions = regions, .process = process };
    bool ok = order_inner(&s);
    out->first_region = (u32)to->regions.count;
    for (u32 i = 0; ok && i < regions->list.count; i++)
        ok = sweep_region(&s, i);
    out->region_count = (u32)to->regions.count - out->first_region;
    add_regions(to, out);
    const space_slice reserved = from->of[SPACE_RESERVED];
    for (u32 i = 0; i < reserved.count; i++)
        out->reserved += reserved.at[i].end - reserved.at[i].start;
    free(s.starts);
    free(s.ends);
    return ok && add_heaps(to, from, out);
}
