/*
 * ranges.c - keeps the committed ranges, reservations and empty blocks of each owner (process, heap
 * or custom allocator), and turns events into lifetimes. ranges.h has the rules.
 *
 * In: VirtualAlloc events, rundowns, extents and custom blocks of one shard, in time order; ends of
 * processes and heaps. event->heap is the region's size in rundowns, and 1 in a reservation that
 * replaces a placeholder. Out, in shard_output: lifetimes, with RESERVE rows if these are kept;
 * frees without an allocation, counted and if wanted as rows; diagnostics. Sweeps emit the ranges
 * of dead processes and heaps, and ranges_finish emits the rest.
 *
 *     committed   [---A---)      [--B--)        a commit of [x, y) opens lifetimes only
 *     commit          [-----------------)       in the gaps between A and B
 *
 * Invariant: ranges of a map are disjoint and sorted by address. A decommit in the middle of a
 * range splits it: the outer parts keep time and stack.
 */
#include "ranges.h"

#include <stdlib.h>

#include "range_map.h"
#include "range_owners.h"

static void count_unknown(const range_owner *owner, const memory_event *event, shard_output *out);
static void reserve(range_owner *owner, range wanted, shard_output *out);
static void end_overlapped(range_owner *owner, range_map *map, range wanted, shard_output *out);
static void sweep_owner(const trace_context *context, range_owner *owner, i64 now_ticks,
                        shard_output *out);

/* [start, start + size), cut at the end of the address space. */
static u64 end_of(u64 start, u64 size)
{
    return etl_sat_add_u64(start, size);
}

/* Notes who freed. Ranges that make room for another one have no freer. */
static void note_freer(const memory_event *event, shard_output *out)
{
    const bool frees = op_ends_range(event->op) || event->op == OP_CUSTOM_FREE;
    out->free_stack = frees && out->keeps_frees ? event->stack : STACK_NONE;
    out->free_thread = frees && out->keeps_frees ? event->tid : ETL_NO_ID;
}

/* Counts frees of memory that is neither committed nor reserved: it was allocated before the trace.
 * Uncommitted pages in a known reservation are normal. */
static void count_if_unknown(const range_owner *owner, const memory_event *event, u64 start,
                             u64 end, shard_output *out)
{
    if (!range_map_has(&owner->committed, start, end) &&
        !range_map_has(&owner->reserved, start, end))
        count_unknown(owner, event, out);
}

static void count_unknown(const range_owner *owner, const memory_event *event, shard_output *out)
{
    process_counts *const counts = shard_counts(out, owner->process);
    if (counts != NULL)
        counts->free_without_alloc[owner->kind]++;
    if (out->keeps_frees)
        shard_emit_unmatched(out, event, owner->process, owner->kind);
}

/* Ends the extents of a destroyed heap, which must not be attributed to a new heap that reuses the
 * handle. Looks at extents only if the heap was destroyed since the last look. */
static void end_destroyed(const trace_context *context, range_owner *owner, i64 now_ticks,
                          shard_output *out)
{
    if (context_heap_end(context, owner->process, owner->heap, owner->swept_ticks) >= now_ticks)
        return;
    sweep_owner(context, owner, now_ticks, out);
    range_map_free(&owner->reserved);
    owner->swept_ticks = now_ticks;
}

/* The gap between ranges that begins at `at`, up to `end`. */
static range gap_at(const range_map *map, range wanted, u64 at, u64 end)
{
    range_place place;
    const range *const next = range_map_seek(map, at, &place);
    wanted.start = at;
    wanted.end = next == NULL || next->start >= end ? end : next->start;
    return wanted;
}

/* Opens lifetimes in the gaps; existing ranges keep their place. */
static void fill_gaps(range_map *map, range wanted, shard_output *out)
{
    u64 at = range_map_gap(map, wanted.start);
    while (at < wanted.end) {
        const range gap = gap_at(map, wanted, at, wanted.end);
        if (!range_map_insert(map, gap)) {
            out->out_of_memory = true;
            return;
        }
        at = range_map_gap(map, gap.end);
    }
}

/* The kind of a lifetime in the map; ETLHEAP_KIND_COUNT if none is emitted. */
static u8 kind_of_map(const range_owner *owner, const range_map *map, const shard_output *out)
{
    if (map != &owner->reserved)
        return owner->kind;
    const bool is_kept = owner->kind == ETLHEAP_KIND_VIRTUALALLOC && out->keeps_named_kinds;
    return is_kept ? ETLHEAP_KIND_RESERVE : ETLHEAP_KIND_COUNT;
}

static void emit_range(const range_owner *owner, const range_map *map, const range *from, i64 ticks,
                       shard_output *out)
{
    const u8 kind = kind_of_map(owner, map, out);
    if (kind == ETLHEAP_KIND_COUNT)
        return;
    const lifetime row = { .alloc_ticks = from->alloc_ticks,
                           .free_ticks = ticks > from->alloc_ticks ? ticks : from->alloc_ticks,
                           .address = from->start,
                           .size = from->end - from->start,
                           .heap = owner->heap,
                           .process = owner->process,
                           .stack = from->stack,
                           .thread = from->tid,
                           .free_stack = out->free_stack,
                           .free_thread = out->free_thread,
                           .kind = kind,
                           .free_type = ETLHEAP_FREE_FREE };
    shard_emit(out, &row);
}

/* Cuts [start, end) out of a range that overlaps it; the rest on either side stays. Returns the
 * removed part. */
static range cut(range_map *map, const range *found, range_place place, u64 start, u64 end,
                 shard_output *out)
{
    range removed = *found;
    range right = *found;
    removed.start = found->start > start ? found->start : start;
    removed.end = found->end < end ? found->end : end;
    right.start = removed.end;
    if (found->start < removed.start)
        range_map_shrink(map, place, removed.start);
    else
        range_map_remove(map, place);
    if (right.start < right.end && !range_map_insert(map, right))
        out->out_of_memory = true;
    return removed;
}

/* Ends everything in [start, end) of one of the owner's maps. */
static void remove_ranges(range_owner *owner, range_map *map, u64 start, u64 end, i64 ticks,
                          shard_output *out)
{
    while (start < end) {
        range_place place;
        const range *const found = range_map_seek(map, start, &place);
        if (found == NULL || found->start >= end)
            return;
        const range removed = cut(map, found, place, start, end, out);
        emit_range(owner, map, &removed, ticks, out);
        start = removed.end;
    }
}

static void remove_committed(range_owner *owner, u64 start, u64 end, i64 ticks, shard_output *out)
{
    remove_ranges(owner, &owner->committed, start, end, ticks, out);
}

/* Could a release still be the replaced reservation's? */
static bool is_recent(const trace_context *context, const replaced_range *replaced, i64 ticks)
{
    return ticks <= etl_sat_add_i64(replaced->ticks, context->after_end_ticks);
}

static void forget_replaced(const trace_context *context, range_owner *owner, i64 now_ticks)
{
    size_t kept = 0;
    for (size_t i = 0; i < owner->replaced.count; i++) {
        if (is_recent(context, &owner->replaced.at[i], now_ticks))
            owner->replaced.at[kept++] = owner->replaced.at[i];
    }
    owner->replaced.count = kept;
}

/* Notes reservations that a new one replaces without a release, and ends what was committed inside
 * the new one. */
static void note_replaced(const trace_context *context, range_owner *owner,
                          const memory_event *event, shard_output *out)
{
    const u64 end = end_of(event->address, event->size);
    if (event->address >= end || (!range_map_has(&owner->reserved, event->address, end) &&
                                  !range_map_has(&owner->committed, event->address, end)))
        return;
    forget_replaced(context, owner, event->ticks);
    range_place place;
    const range *found = range_map_seek(&owner->reserved, event->address, &place);
    for (; found != NULL && found->start < end; found = range_map_next(&owner->reserved, &place)) {
        const replaced_range row = { found->start, event->ticks, event->tid, event->cpu };
        out->out_of_memory |= !ETLHEAP_PUSH(&owner->replaced, row);
    }
    if (!range_map_has(&owner->committed, event->address, end))
        return;
    etl_diag_add(&out->diag, ETL_DIAG_reserve_over_live, 1);
    remove_committed(owner, event->address, end, event->ticks, out);
}

static bool is_late_release(const trace_context *context, range_owner *owner,
                            const memory_event *event, shard_output *out)
{
    for (size_t i = 0; i < owner->replaced.count; i++) {
        const replaced_range *const row = &owner->replaced.at[i];
        const bool is_own = row->tid == event->tid && event->tid != ETL_NO_ID;
        if (row->start != event->address || is_own || !may_be_two_cpus(row->cpu, event->cpu) ||
            !is_recent(context, row, event->ticks))
            continue;
        etl_diag_add(&out->diag, ETL_DIAG_pairing_guessed, 1);
        owner->replaced.count--;
        memmove(&owner->replaced.at[i], &owner->replaced.at[i + 1],
                (owner->replaced.count - i) * sizeof *row);
        return true;
    }
    return false;
}

/* Opens a reservation, except in a placeholder: that one was reserved already. */
static void open_reservation(const trace_context *context, range_owner *owner,
                             const memory_event *event, range wanted, shard_output *out)
{
    const bool replaces_placeholder = event->heap != 0;
    if (replaces_placeholder) {
        fill_gaps(&owner->reserved, wanted, out);
        return;
    }
    note_replaced(context, owner, event, out);
    reserve(owner, wanted, out);
}

/* Names a reservation. If a call reserves and commits, its stack, and the thread if only the stack
 * names it, come with the commit, the next row. */
static void name_reservation(range_owner *owner, const range *commit)
{
    range_place place;
    range *const found = range_map_seek(&owner->reserved, commit->start, &place);
    const bool is_own = found != NULL && found->start == commit->start &&
                        found->alloc_ticks == commit->alloc_ticks && found->end == commit->end;
    if (!is_own || found->stack != STACK_NONE)
        return;
    found->stack = commit->stack;
    found->tid = commit->tid;
}

/* Adds a reservation; it replaces whatever an unseen release left behind. */
static void reserve(range_owner *owner, range wanted, shard_output *out)
{
    end_overlapped(owner, &owner->reserved, wanted, out);
    if (wanted.start < wanted.end && !range_map_insert(&owner->reserved, wanted))
        out->out_of_memory = true;
}

/* The end of what a VirtualFree covers. Size 0 means the whole reservation at the address, or the
 * committed range there if the start of the reservation was not seen. */
static u64 end_of_free(const range_owner *owner, const memory_event *event, shard_output *out)
{
    const u64 base = event->address, size = event->size;
    const u64 end = size == 0 ? end_of(base, 1) : end_of(base, size);
    range_place place;
    count_if_unknown(owner, event, base, end, out);
    if (size != 0)
        return end;
    const range *const reserved = range_map_seek(&owner->reserved, base, &place);
    if (reserved != NULL && reserved->start == base)
        return reserved->end;
    const range *const found = range_map_seek(&owner->committed, base, &place);
    return found != NULL && found->start <= base ? found->end : base;
}

/* Only placeholders are released in part, with a size. */
static void release(range_owner *owner, const memory_event *event, shard_output *out)
{
    const u64 base = event->address, end = end_of_free(owner, event, out);
    remove_ranges(owner, &owner->reserved, base, end, event->ticks, out);
    remove_committed(owner, base, end, event->ticks, out);
}

/* Applies a rundown, which says how many bytes of a region are committed, not which. Missing bytes
 * fill the lowest gaps: sizes are then right, and addresses too if the whole region is committed.
 * The region is a reservation, unless it is part of a known one. */
static void rundown(range_owner *owner, const memory_event *event, shard_output *out)
{
    const u64 end = end_of(event->address, event->heap);
    range seeded = {
        .start = event->address, .end = end, .alloc_ticks = ETLHEAP_TICKS_BEFORE, .tid = ETL_NO_ID
    };
    if (!range_map_has(&owner->reserved, event->address, end))
        reserve(owner, seeded, out);
    const u64 known = range_map_bytes(&owner->committed, event->address, end);
    u64 missing = event->size > known ? event->size - known : 0;
    u64 at = range_map_gap(&owner->committed, event->address);
    while (missing > 0 && at < end) {
        range gap = gap_at(&owner->committed, seeded, at, end);
        if (gap.end - gap.start > missing)
            gap.end = gap.start + missing;
        if (!range_map_insert(&owner->committed, gap)) {
            out->out_of_memory = true;
            return;
        }
        missing -= gap.end - gap.start;
        at = range_map_gap(&owner->committed, gap.end);
    }
}

/*
 * Applies the rundown at the end. For a process from before the trace that no record listed, it may
 * know more than the events, never less. For others it must agree with the events; any difference
 * is counted: events were lost, or there were none, as when a stack grows.
 */
static void rundown_at_end(range_owner *owner, const memory_event *event, bool was_started,
                           shard_output *out)
{
    const u64 end = end_of(event->address, event->heap);
    const u64 known = range_map_bytes(&owner->committed, event->address, end);
    const bool is_known = known > 0 || range_map_has(&owner->reserved, event->address, end);
    const bool has_all = was_started || owner->was_told;
    const bool contradicts = known > event->size || (has_all && known < event->size);
    if (contradicts && !range_map_has(&owner->disputed, event->address, end)) {
        etl_diag_add(&out->diag,
                     is_known ? ETL_DIAG_rundown_size_differs : ETL_DIAG_rundown_range_unseen, 1);
        fill_gaps(&owner->disputed, (range){ .start = event->address, .end = end }, out);
    }
    if (!was_started)
        rundown(owner, event, out);
}

/* Ends the empty block at the address; false if there is none. */
static bool remove_empty(range_owner *owner, u64 address, i64 ticks, shard_output *out)
{
    range_place place;
    const range *const found = range_map_seek(&owner->empty, address, &place);
    if (found == NULL || found->start != address)
        return false;
    range block = *found;
    block.end = block.start;
    emit_range(owner, &owner->empty, &block, ticks, out);
    range_map_remove(&owner->empty, place);
    return true;
}

/* Opens a custom block. A failed call has no address. A block is cut at the end of the address
 * space. */
static void open_custom(range_owner *owner, range wanted, shard_output *out)
{
    const bool is_empty = wanted.end == wanted.start;
    if (wanted.start == 0 || wanted.start == UINT64_MAX)
        return;
    wanted.end += is_empty;
    const bool is_over = range_map_has(&owner->committed, wanted.start, wanted.end) ||
                         range_map_has(&owner->empty, wanted.start, wanted.start + 1);
    etl_diag_add(&out->diag, ETL_DIAG_alloc_over_live, is_over);
    (void)remove_empty(owner, wanted.start, wanted.alloc_ticks, out);
    if (is_over)
        end_overlapped(owner, &owner->committed, wanted, out);
    if (!range_map_insert(is_empty ? &owner->empty : &owner->committed, wanted))
        out->out_of_memory = true;
}

/* Ends whole ranges: if any addresses of it are given out again, the old range is entirely gone. */
static void end_overlapped(range_owner *owner, range_map *map, range wanted, shard_output *out)
{
    range_place place;
    const range *found = range_map_seek(map, wanted.start, &place);
    while (found != NULL && found->start < wanted.end) {
        emit_range(owner, map, found, wanted.alloc_ticks, out);
        range_map_remove(map, place);
        found = range_map_seek(map, wanted.start, &place);
    }
}

/* Frees a custom block. Freeing NULL does nothing. A free with a size takes bytes of one
 * allocation, possibly already split; one without needs the address of a block. */
static void free_custom(range_owner *owner, const memory_event *event, shard_output *out)
{
    range_place place;
    const u64 start = event->address;
    if (start == 0 || remove_empty(owner, start, event->ticks, out))
        return;
    const range *found = range_map_seek(&owner->committed, start, &place);
    const bool is_block = found != NULL && found->start == start;
    const u64 end = event->size > 0 ? end_of(start, event->size) : is_block ? found->end : start;
    if (start == end || found == NULL || found->start >= end) {
        count_unknown(owner, event, out);
        return;
    }
    const i64 alloc_ticks = found->alloc_ticks;
    while (found != NULL && found->start < end && found->alloc_ticks == alloc_ticks) {
        const range removed = cut(&owner->committed, found, place, start, end, out);
        emit_range(owner, &owner->committed, &removed, event->ticks, out);
        found = range_map_seek(&owner->committed, removed.end, &place);
    }
}

static void emit_unfreed(const trace_context *context, const range_owner *owner,
                         const range_map *map, const range *from, shard_output *out)
{
    lifetime row = { .alloc_ticks = from->alloc_ticks,
                     .address = from->start,
                     .size = map == &owner->empty ? 0 : from->end - from->start,
                     .heap = owner->heap,
                     .process = owner->process,
                     .stack = from->stack,
                     .thread = from->tid,
                     .free_thread = ETL_NO_ID,
                     .kind = kind_of_map(owner, map, out) };
    shard_end_unfreed(context, &row);
    shard_emit(out, &row);
}

static bool is_dead(const trace_context *context, const range_owner *owner, const range *from,
                    i64 now_ticks)
{
    const i64 exit_ticks = context->processes.at[owner->process - 1].end_ticks;
    if (etl_sat_add_i64(exit_ticks, context->after_end_ticks) < now_ticks)
        return true;
    return owner->kind == ETLHEAP_KIND_EXTENT &&
           context_heap_end(context, owner->process, owner->heap, from->alloc_ticks) < now_ticks;
}

static void sweep_map(const trace_context *context, const range_owner *owner, range_map *map,
                      i64 now_ticks, shard_output *out)
{
    range_place place;
    const range *found = range_map_seek(map, 0, &place);
    while (found != NULL) {
        if (!is_dead(context, owner, found, now_ticks)) {
            found = range_map_next(map, &place);
            continue;
        }
        const u64 end = found->end;
        emit_unfreed(context, owner, map, found, out);
        range_map_remove(map, place);
        found = range_map_seek(map, end, &place);
    }
}

static void sweep_owner(const trace_context *context, range_owner *owner, i64 now_ticks,
                        shard_output *out)
{
    sweep_map(context, owner, &owner->committed, now_ticks, out);
    sweep_map(context, owner, &owner->empty, now_ticks, out);
    if (kind_of_map(owner, &owner->reserved, out) != ETLHEAP_KIND_COUNT)
        sweep_map(context, owner, &owner->reserved, now_ticks, out);
}

void ranges_apply(range_table *table, const trace_context *context, const memory_event *event,
                  u32 process, shard_output *out)
{
    const u8 kind = (u8)op_kind(event->op);
    const bool is_extent = kind == ETLHEAP_KIND_EXTENT;
    const u64 heap = etlheap_kind_has(kind, ETLHEAP_KIND_HAS_HEAP) ? event->heap : 0;
    range_owner *const owner = range_owner_of(table, process, kind, heap);
    if (owner == NULL) {
        out->out_of_memory = true;
        return;
    }
    const range wanted = { .start = event->address,
                           .end = end_of(event->address, event->size),
                           .alloc_ticks = event->ticks,
                           .stack = event->stack,
                           .tid = event->tid };
    note_freer(event, out);
    if (is_extent)
        end_destroyed(context, owner, event->ticks, out);
    switch ((memory_op)event->op) {
    case OP_EXPAND:
        fill_gaps(&owner->reserved, wanted, out);
        fill_gaps(&owner->committed, wanted, out);
        break;
    case OP_COMMIT:
        fill_gaps(&owner->committed, wanted, out);
        name_reservation(owner, &wanted);
        break;
    case OP_CUSTOM_ALLOC:
        open_custom(owner, wanted, out);
        break;
    case OP_CUSTOM_FREE:
        free_custom(owner, event, out);
        break;
    case OP_RESERVE:
    case OP_RESERVE_ALONE:
        open_reservation(context, owner, event, wanted, out);
        break;
    case OP_DECOMMIT:
        remove_committed(owner, wanted.start, end_of_free(owner, event, out), event->ticks, out);
        break;
    case OP_CONTRACT:
        if (wanted.start < wanted.end)
            count_if_unknown(owner, event, wanted.start, wanted.end, out);
        remove_committed(owner, wanted.start, wanted.end, event->ticks, out);
        break;
    case OP_RELEASE:
        if (is_late_release(context, owner, event, out))
            break;
        release(owner, event, out);
        break;
    case OP_RUNDOWN_END:
        rundown_at_end(owner, event, context->processes.at[process - 1].was_started, out);
        break;
    case OP_RUNDOWN_START:
        owner->was_told = true;
        rundown(owner, event, out);
        break;
    default:
        break;
    }
}

void ranges_sweep(range_table *table, const trace_context *context, i64 now_ticks,
                  shard_output *out)
{
    for (size_t i = 0; i < table->owners.count; i++)
        sweep_owner(context, &table->owners.at[i], now_ticks, out);
}

static void finish_map(const trace_context *context, const range_owner *owner, const range_map *map,
                       shard_output *out)
{
    range_place place;
    const range *found = range_map_seek(map, 0, &place);
    for (; found != NULL; found = range_map_next(map, &place))
        emit_unfreed(context, owner, map, found, out);
}

void ranges_finish(range_table *table, const trace_context *context, shard_output *out)
{
    for (size_t i = 0; i < table->owners.count; i++) {
        const range_owner *const owner = &table->owners.at[i];
        finish_map(context, owner, &owner->committed, out);
        finish_map(context, owner, &owner->empty, out);
        if (kind_of_map(owner, &owner->reserved, out) != ETLHEAP_KIND_COUNT)
            finish_map(context, owner, &owner->reserved, out);
    }
    ranges_free(table);
}

void ranges_free(range_table *table)
{
    for (size_t i = 0; i < table->owners.count; i++) {
        range_map_free(&table->owners.at[i].committed);
        range_map_free(&table->owners.at[i].reserved);
        range_map_free(&table->owners.at[i].empty);
        ETLHEAP_VECTOR_FREE(&table->owners.at[i].replaced);
        range_map_free(&table->owners.at[i].disputed);
    }
    ETLHEAP_VECTOR_FREE(&table->owners);
    etlheap_index_free(&table->index);
}
