/*
 * churn_rows.c - churn of lifetimes in memory: which are temporary, and the rates of rows. churn.c
 * does the same for heap blocks of a log.
 *
 * In: the rows of a result's store (ranges, extents, custom blocks). Out: measures of temporary
 * memory, and allocations per second, in the groups of an aggregator.
 *
 * There are few such lifetimes, so they are sorted by thread and time. The moments at which a
 * thread allocates are listed; a lifetime is temporary if it ends before the moment after its own.
 * A thread may commit memory in another process, so the id alone tells who commits (thread_of).
 * Invariant: the pieces of one commit or block are one allocation (is_piece), or a piece that is
 * freed later than another would never look temporary.
 */
#include "churn_rows.h"

#include <stdlib.h>

/* A lifetime that begins inside the window. */
typedef struct timed_row {
    u64 thread;
    i64 alloc_ticks, free_ticks;
    u64 address, size, heap;
    u32 group;  /* + 1; 0: it is not selected, or not freed inside the window */
    u32 moment; /* its thread's, by number */
    u32 order;
    u32 stack;
    u8 kind;
    bool is_fast;
} timed_row;

typedef struct timed_rows {
    ETLHEAP_VECTOR(timed_row) list;
    ETLHEAP_VECTOR(i64) moments; /* of the thread at hand */
    i64 fast_ticks;
} timed_rows;

i64 churn_fast_ticks(const query_plan *plan)
{
    const etl_session *const session = plan->result->base.base;
    const i64 origin = etl_time_ticks(session, 0);
    return etl_time_ticks(session, CHURN_1MS_NS) - origin + 1; /* for what is rounded */
}

/* Is the lifetime shorter than 1 ms? Ticks decide most cases. */
bool churn_is_fast(const query_plan *plan, i64 fast_ticks, const query_row *row)
{
    i64 ns;
    return (u64)row->free_ticks - (u64)row->alloc_ticks <= (u64)fast_ticks &&
           query_lifetime_ns(plan, row, &ns) && ns <= CHURN_1MS_NS;
}

void churn_add(i64 *measures, const churn_sums *sums)
{
    i64 *const size = &measures[ETLHEAP_MEASURE_TEMPORARY_SIZE];
    measures[ETLHEAP_MEASURE_TEMPORARY_COUNT] += sums->count;
    measures[ETLHEAP_MEASURE_TEMPORARY_10_COUNT] += sums->near_count;
    measures[ETLHEAP_MEASURE_TEMPORARY_1MS_COUNT] += sums->fast_count;
    *size = etl_sat_add_i64(*size, sums->size);
}

void churn_set_rates(i64 *measures, i64 ns)
{
    measures[ETLHEAP_MEASURE_ALLOC_RATE] =
        etlheap_per_second(measures[ETLHEAP_MEASURE_ALLOC_COUNT], ns);
    measures[ETLHEAP_MEASURE_ALLOC_BYTES_RATE] =
        etlheap_per_second(measures[ETLHEAP_MEASURE_ALLOC_SIZE], ns);
}

/* The group of a lifetime that may be temporary. False without memory. */
static bool find_group(aggregator *a, const timed_rows *rows, const etlheap_segment *segment,
                       u32 at, timed_row *row)
{
    selected_row selected = { .segment = segment, .at = at };
    u32 group;
    if (!query_select(&a->plan, segment, at, &selected.row) ||
        selected.row.type != ETLHEAP_TYPE_AIFI ||
        segment->free_type[at] == ETLHEAP_FREE_PROCESS_EXIT)
        return true;
    if (!aggregate_selected_key(a, &selected))
        return false;
    if (selected.key.unwanted)
        return true;
    row->is_fast = churn_is_fast(&a->plan, rows->fast_ticks, &selected.row);
    row->group = aggregate_group(a, &selected.key, &group) ? group + 1 : 0;
    return row->group != 0;
}

/* Who allocates. Memory of a heap is allocated by threads of its process, as are ranges if the thread
 * is unknown; any thread may commit a range. */
static u64 thread_of(const etlheap_segment *segment, u32 at)
{
    const u32 thread = segment->thread[at];
    const bool is_own = query_kind_has_heap(segment->kind[at]) || thread == ETL_NO_ID;
    return is_own ? (u64)segment->process[at] << 32 | thread : thread;
}

static bool list_rows(aggregator *a, timed_rows *out)
{
    const u32 kinds = a->query->kinds;
    for (size_t s = 0; s < a->result->store.segments.count; s++) {
        const etlheap_segment segment = store_view(&a->result->store.segments.at[s]);
        for (u32 at = 0; at < segment.rows; at++) {
            timed_row row = { .thread = thread_of(&segment, at),
                              .alloc_ticks = segment.alloc_ticks[at],
                              .free_ticks = segment.free_ticks[at],
                              .address = segment.address[at],
                              .size = segment.size_bytes[at],
                              .heap = segment.heap_handle[at],
                              .order = (u32)out->list.count,
                              .stack = segment.stack[at],
                              .kind = segment.kind[at] };
            if ((kinds != 0 && (kinds >> row.kind & 1) == 0) ||
                row.alloc_ticks < a->plan.from_ticks || row.alloc_ticks >= a->plan.to_ticks)
                continue;
            if (!find_group(a, out, &segment, at, &row) || !ETLHEAP_PUSH(&out->list, row))
                return false;
        }
    }
    return true;
}

static int by_thread(const void *a, const void *b)
{
    const timed_row *const x = a, *const y = b;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    if (x->alloc_ticks != y->alloc_ticks)
        return x->alloc_ticks < y->alloc_ticks ? -1 : 1;
    if (x->kind == ETLHEAP_KIND_CUSTOM && x->heap != y->heap)
        return x->heap < y->heap ? -1 : 1;
    if (x->kind == ETLHEAP_KIND_CUSTOM && x->address != y->address)
        return x->address < y->address ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

static bool same_thread(const timed_row *a, const timed_row *b)
{
    return a->kind == b->kind && a->thread == b->thread;
}

/* Is the row another piece of the same allocation as the one before? Pieces of a commit, which may
 * have gaps, have its time. On one tick a thread can allocate several custom blocks, whose pieces
 * have no gaps. */
static bool is_piece(const timed_row *row, const timed_row *last)
{
    if (row->alloc_ticks != last->alloc_ticks || row->kind == ETLHEAP_KIND_HEAP)
        return false;
    return row->kind != ETLHEAP_KIND_CUSTOM ||
           (row->heap == last->heap && row->stack == last->stack &&
            row->address == etl_sat_add_u64(last->address, last->size));
}

/* Numbers the moments of the thread that these rows belong to. */
static bool list_moments(timed_rows *rows, timed_row *own, size_t count)
{
    rows->moments.count = 0;
    for (size_t i = 0; i < count; i++) {
        if ((i == 0 || !is_piece(&own[i], &own[i - 1])) &&
            !ETLHEAP_PUSH(&rows->moments, own[i].alloc_ticks))
            return false;
        own[i].moment = (u32)rows->moments.count - 1;
    }
    return true;
}

/* Is the row freed before its thread allocates for the nth time after it? */
static bool ends_before(const timed_rows *rows, const timed_row *row, u32 nth)
{
    const size_t later = row->moment + (size_t)nth;
    return later >= rows->moments.count || row->free_ticks <= rows->moments.at[later];
}

static void add_row(aggregator *a, const timed_rows *rows, const timed_row *row)
{
    const bool is_temporary = ends_before(rows, row, 1);
    const churn_sums sums = { .count = is_temporary,
                              .size = is_temporary ? (i64)etl_min_u64(row->size, INT64_MAX) : 0,
                              .near_count = ends_before(rows, row, CHURN_NEAR),
                              .fast_count = row->is_fast };
    if (row->group == 0)
        return;
    churn_add(aggregate_measures(a, row->group - 1), &sums);
    churn_add(a->totals[row->kind], &sums);
}

bool churn_fill(aggregator *a)
{
    timed_rows rows = { .fast_ticks = churn_fast_ticks(&a->plan) };
    bool ok = list_rows(a, &rows);
    if (ok && rows.list.count > 0)
        qsort(rows.list.at, rows.list.count, sizeof *rows.list.at, by_thread);
    for (size_t first = 0, end; ok && first < rows.list.count; first = end) {
        timed_row *const own = &rows.list.at[first];
        end = first + 1;
        while (end < rows.list.count && same_thread(own, &rows.list.at[end]))
            end++;
        ok = list_moments(&rows, own, end - first);
        for (size_t i = first; ok && i < end; i++)
            add_row(a, &rows, &rows.list.at[i]);
    }
    ETLHEAP_VECTOR_FREE(&rows.list);
    ETLHEAP_VECTOR_FREE(&rows.moments);
    return ok;
}
