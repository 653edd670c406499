/*
 * heap_sizes.c - makes the history of committed and reserved sizes of each heap from notes taken
 * while reading.
 *
 * In: notes in the order in which they were met in each stream. Out: rows by process, heap and
 * time.
 *
 * Heap records state both sizes. Heap ranges are a second source of reserved sizes and are used
 * only for heaps without the first. Invariant: of several rows at one moment only the last
 * remains.
 *
 * A heap that grows may write two records about the same pages: Commit with the pages, and Expand
 * with the pages and the sizes after that. Which comes first is not published, so the second of two
 * neighbours about the same pages changes nothing. The same holds for Decommit and Contract, and
 * for the commits that create a heap, which Create includes.
 */
#include "heap_sizes.h"

#include <stdlib.h>

#include "context.h"

/* A note, and the process whose heap it is about. */
typedef struct owned_note {
    heap_note note;
    u32 process;
    size_t order;
} owned_note;

/* What is known about one heap while its notes are read. */
typedef struct heap_state {
    u64 committed, reserved, ranges, decommitted;
    heap_note pages; /* the last note about pages */
    heap_sizes_odd odd;
    bool is_gone, is_destroyed;
    bool has_pages; /* the heap has records of single commits or decommits */
} heap_state;

static bool note_of_pages(const etl_event *event, heap_note *out);
static u64 told(u64 bytes);
static u64 sum_of_ranges(const etl_heap_range_rundown *rundown);
static int by_heap_and_time(const void *a, const void *b);
static bool append_history(heap_size_list *out, const owned_note *notes, size_t count,
                           heap_sizes_odd *odd);
static void apply(heap_state *state, const heap_note *note);

bool heap_note_of(const etl_event *event, u32 pid, heap_note *out)
{
    *out = (heap_note){ .pid = pid,
                        .committed = HEAP_SIZE_UNKNOWN,
                        .reserved = HEAP_SIZE_UNKNOWN,
                        .kind = HEAP_NOTE_SIZES };
    switch (event->kind) {
    case ETL_EVENT_HEAP_CREATE:
        out->handle = event->as.heap_create.heap_handle;
        out->kind = HEAP_NOTE_CREATED;
        out->committed = told(event->as.heap_create.committed_space_bytes);
        out->reserved = told(event->as.heap_create.reserved_space_bytes);
        return true;
    case ETL_EVENT_HEAP_EXPAND:
    case ETL_EVENT_HEAP_CONTRACT:
        out->handle = event->as.heap_extent.heap_handle;
        out->committed = told(event->as.heap_extent.committed_space_bytes);
        out->reserved = told(event->as.heap_extent.reserved_space_bytes);
        out->address = event->as.heap_extent.address;
        out->bytes = event->as.heap_extent.size_bytes;
        out->kind =
            event->kind == ETL_EVENT_HEAP_EXPAND ? HEAP_NOTE_EXPANDED : HEAP_NOTE_CONTRACTED;
        return true;
    case ETL_EVENT_HEAP_COMMIT:
    case ETL_EVENT_HEAP_DECOMMIT:
        return note_of_pages(event, out);
    case ETL_EVENT_HEAP_SNAPSHOT:
        out->handle = event->as.heap_snapshot.heap_handle;
        out->committed = told(event->as.heap_snapshot.committed_space_bytes);
        out->reserved = told(event->as.heap_snapshot.reserved_space_bytes);
        if (event->as.heap_snapshot.process_id != 0)
            out->pid = event->as.heap_snapshot.process_id;
        return true;
    case ETL_EVENT_HEAP_DESTROY:
    case ETL_EVENT_HEAP_RANGE_DESTROY:
        out->handle = event->as.heap_handle.heap_handle;
        out->kind = HEAP_NOTE_DESTROYED;
        return true;
    case ETL_EVENT_HEAP_RANGE_RUNDOWN:
        out->handle = event->as.heap_range_rundown.heap_handle;
        out->pid = event->as.heap_range_rundown.process_id;
        out->reserved = sum_of_ranges(&event->as.heap_range_rundown);
        out->kind = HEAP_NOTE_RANGES;
        return true;
    case ETL_EVENT_HEAP_RANGE_CREATE:
        out->handle = event->as.heap_range_create.heap_handle;
        out->reserved = event->as.heap_range_create.first_range_size_bytes;
        out->kind = HEAP_NOTE_RANGES;
        return true;
    case ETL_EVENT_HEAP_RANGE_RESERVE:
    case ETL_EVENT_HEAP_RANGE_RELEASE:
        out->handle = event->as.heap_range.heap_handle;
        out->reserved = event->as.heap_range.size_bytes;
        out->kind = event->kind == ETL_EVENT_HEAP_RANGE_RESERVE ? HEAP_NOTE_RANGE_ADDED
                                                                : HEAP_NOTE_RANGE_REMOVED;
        return true;
    default:
        return false;
    }
}

static bool note_of_pages(const etl_event *event, heap_note *out)
{
    const etl_heap_commit *const pages = &event->as.heap_commit;
    out->handle = pages->heap_handle;
    out->address = pages->address;
    out->bytes = pages->size_bytes;
    out->kind = event->kind == ETL_EVENT_HEAP_COMMIT ? HEAP_NOTE_COMMITTED : HEAP_NOTE_DECOMMITTED;
    return pages->caller != ETL_HEAP_COMMIT_CREATES_HEAP;
}

/* A heap that exists has committed memory, so 0 means that an older version left the field
 * empty. */
static u64 told(u64 bytes)
{
    return bytes == 0 ? HEAP_SIZE_UNKNOWN : bytes;
}

/* The sum of a rundown's ranges: pairs of address and size, whose width follows from their
 * number. */
static u64 sum_of_ranges(const etl_heap_range_rundown *rundown)
{
    u64 sum = 0;
    for (u32 i = 0; i < rundown->range_count; i++) {
        const size_t width = rundown->ranges.size / 2 / rundown->range_count;
        const u8 *const size = rundown->ranges.at + (2 * (size_t)i + 1) * width;
        sum = etl_sat_add_u64(sum, width == 8 ? etl_load_u64(size) : etl_load_u32(size));
    }
    return sum;
}

bool heap_sizes_build(heap_size_list *out, const heap_notes *notes, const trace_context *context,
                      const u32 *process_ids, heap_sizes_odd *odd)
{
    owned_note *const owned = malloc((notes->count + 1) * sizeof *owned);
    size_t count = 0;
    bool ok = owned != NULL;
    *odd = (heap_sizes_odd){ 0 };
    for (size_t i = 0; ok && i < notes->count; i++) {
        const heap_note *const note = &notes->at[i];
        const u32 process = context_process_at(context, note->pid, note->ticks);
        if (process != 0)
            owned[count++] = (owned_note){ *note, process_ids[process], i };
    }
    if (ok && count > 0)
        qsort(owned, count, sizeof *owned, by_heap_and_time);
    for (size_t first = 0; ok && first < count;) {
        size_t end = first + 1;
        while (end < count && owned[end].process == owned[first].process &&
               owned[end].note.handle == owned[first].note.handle)
            end++;
        ok = append_history(out, owned + first, end - first, odd);
        first = end;
    }
    free(owned);
    return ok;
}

static int compare_u64(u64 x, u64 y)
{
    return (x > y) - (x < y);
}

static int by_heap_and_time(const void *a, const void *b)
{
    const owned_note *const x = a, *const y = b;
    int order = compare_u64(x->process, y->process);
    if (order == 0)
        order = compare_u64(x->note.handle, y->note.handle);
    if (order == 0)
        order = (x->note.ticks > y->note.ticks) - (x->note.ticks < y->note.ticks);
    if (order == 0)
        order = compare_u64(x->note.stream, y->note.stream);
    return order != 0 ? order : compare_u64(x->order, y->order);
}

static bool append_history(heap_size_list *out, const owned_note *notes, size_t count,
                           heap_sizes_odd *odd)
{
    heap_state state = { .committed = HEAP_SIZE_UNKNOWN,
                         .reserved = HEAP_SIZE_UNKNOWN,
                         .ranges = HEAP_SIZE_UNKNOWN };
    for (size_t i = 0; i < count; i++) {
        apply(&state, &notes[i].note);
        if (i + 1 < count && notes[i + 1].note.ticks == notes[i].note.ticks)
            continue;
        const u64 reserved = state.reserved == HEAP_SIZE_UNKNOWN ? state.ranges : state.reserved;
        const heap_size row = { .handle = notes[i].note.handle,
                                .ticks = notes[i].note.ticks,
                                .committed = state.is_gone ? 0 : state.committed,
                                .reserved = state.is_gone ? 0 : reserved,
                                .decommitted = state.decommitted,
                                .process = notes[i].process };
        if (!ETLHEAP_PUSH(out, row))
            return false;
    }
    odd->recreated += state.odd.recreated;
    odd->differing += state.odd.differing;
    return true;
}

static bool is_decommit(const heap_note *note)
{
    return note->kind == HEAP_NOTE_CONTRACTED || note->kind == HEAP_NOTE_DECOMMITTED;
}

/* Are both notes about the same pages, and both about a commit, or both about a decommit? */
static bool is_of_same_pages(const heap_note *a, const heap_note *b)
{
    return a->bytes != 0 && a->bytes == b->bytes && a->address == b->address &&
           is_decommit(a) == is_decommit(b) && a->kind != b->kind;
}

/* Adds pages to the committed size, or takes them from it. */
static void apply_pages(heap_state *state, const heap_note *note)
{
    const bool takes = is_decommit(note), is_new = !is_of_same_pages(&state->pages, note);
    state->has_pages |= note->kind == HEAP_NOTE_COMMITTED || note->kind == HEAP_NOTE_DECOMMITTED;
    state->pages = *note;
    if (!is_new)
        return;
    if (takes)
        state->decommitted = etl_sat_add_u64(state->decommitted, note->bytes);
    if (state->committed == HEAP_SIZE_UNKNOWN)
        return;
    if (takes)
        state->committed -= etl_min_u64(state->committed, note->bytes);
    else
        state->committed =
            etl_min_u64(etl_sat_add_u64(state->committed, note->bytes), HEAP_SIZE_UNKNOWN - 1);
}

/* Takes over the sizes that a record states. If the heap has records of single commits, these must
 * add up to the same. */
static void apply_sizes(heap_state *state, const heap_note *note)
{
    const bool is_told = note->committed != HEAP_SIZE_UNKNOWN;
    state->odd.differing += is_told && state->has_pages && state->committed != HEAP_SIZE_UNKNOWN &&
                            state->committed != note->committed;
    state->committed = is_told ? note->committed : state->committed;
    state->reserved = note->reserved == HEAP_SIZE_UNKNOWN ? state->reserved : note->reserved;
}

static void apply(heap_state *state, const heap_note *note)
{
    const bool has_ranges = state->ranges != HEAP_SIZE_UNKNOWN;
    state->is_gone &= note->kind == HEAP_NOTE_RANGE_REMOVED;
    switch ((heap_note_kind)note->kind) {
    case HEAP_NOTE_CREATED:
        state->odd.recreated += state->is_destroyed;
        state->is_destroyed = state->has_pages = false;
        state->committed = note->committed;
        state->reserved = note->reserved;
        break;
    case HEAP_NOTE_SIZES:
        apply_sizes(state, note);
        break;
    case HEAP_NOTE_EXPANDED:
    case HEAP_NOTE_CONTRACTED:
        apply_pages(state, note);
        apply_sizes(state, note);
        break;
    case HEAP_NOTE_COMMITTED:
    case HEAP_NOTE_DECOMMITTED:
        apply_pages(state, note);
        break;
    case HEAP_NOTE_DESTROYED:
        state->committed = state->reserved = HEAP_SIZE_UNKNOWN;
        state->ranges = has_ranges ? 0 : HEAP_SIZE_UNKNOWN;
        state->is_gone = state->is_destroyed = true;
        state->pages.bytes = 0;
        break;
    case HEAP_NOTE_RANGES:
        state->ranges = note->reserved;
        break;
    case HEAP_NOTE_RANGE_ADDED:
        if (has_ranges)
            state->ranges = etl_sat_add_u64(state->ranges, note->reserved);
        break;
    case HEAP_NOTE_RANGE_REMOVED:
        if (has_ranges)
            state->ranges -= etl_min_u64(state->ranges, note->reserved);
        break;
    }
}

bool heap_sizes_are_known(const heap_size_list *list)
{
    bool known = false;
    for (size_t i = 0; i < list->count && !known; i++)
        known =
            list->at[i].committed != HEAP_SIZE_UNKNOWN || list->at[i].reserved != HEAP_SIZE_UNKNOWN;
    return known;
}

const heap_size *heap_sizes_at(const heap_size_list *list, u32 process, u64 handle, i64 to_ticks)
{
    const heap_size wanted = { .handle = handle, .ticks = to_ticks, .process = process };
    size_t next;
    ETL_BISECT(next, 0, list->count, heap_size_precedes(&list->at[next], &wanted));
    const heap_size *const last = next == 0 ? NULL : &list->at[next - 1];
    return last != NULL && last->process == process && last->handle == handle ? last : NULL;
}

u64 heap_size_uncommitted(const heap_size *size)
{
    const bool is_known = size->committed != HEAP_SIZE_UNKNOWN &&
                          size->reserved != HEAP_SIZE_UNKNOWN && size->committed <= size->reserved;
    return is_known ? size->reserved - size->committed : HEAP_SIZE_UNKNOWN;
}

bool heap_size_precedes(const heap_size *a, const heap_size *b)
{
    if (a->process != b->process)
        return a->process < b->process;
    return a->handle != b->handle ? a->handle < b->handle : a->ticks < b->ticks;
}
