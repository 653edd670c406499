/*
 * churn_rows.c - churn of lifetimes in memory: which are temporary, and the rates of rows. churn.c
 * does the same for heap blocks of a log.
 *
 * In: rows of a feed (ranges, extents, custom blocks) and their groups. Out: sums of what is
 * temporary by group, and allocations per second.
 *
 * There are few such lifetimes, so they are sorted by thread and time. The moments at which a
 * thread allocates are listed; a lifetime is temporary if it ends before the moment after its own.
 * A thread may commit memory in another process, so the id alone tells who commits (thread_of).
 * Invariant: the pieces of one commit or block are one allocation (is_piece), or a piece that is
 * freed later than another would never look temporary.
 */
#include "churn_rows.h"

#include <stdlib.h>

#include "churn_blocks.h"

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

/* Who allocates. Memory of a heap is allocated by threads of its process, as are ranges if the
 * thread is unknown; any thread may commit a range. */
static u64 thread_of(const lifetimes_batch *batch, u32 at)
{
    const u32 thread = batch->thread[at];
    const bool is_own =
        etlheap_kind_has(batch->kind[at], ETLHEAP_KIND_HAS_HEAP) || thread == ETL_NO_ID;
    return is_own ? (u64)batch->process[at] << 32 | thread : thread;
}

bool churn_rows_note(const churn_view *view, timed_rows *out, const lifetimes_batch *batch, u32 at,
                     u32 group, const query_row *row)
{
    const query_plan *const plan = view->plan;
    const u8 kind = batch->kind[at];
    const i64 alloc_ticks = batch->alloc_ticks[at];
    const bool is_freed =
        group != 0 && row->type == ETLHEAP_TYPE_AIFI && batch->how[at] != ETLHEAP_FREE_PROCESS_EXIT;
    if ((query_kinds(plan->query) >> kind & 1) == 0 || alloc_ticks < plan->from_ticks ||
        alloc_ticks >= plan->to_ticks)
        return true;
    const timed_row noted = { .thread = thread_of(batch, at),
                              .alloc_ticks = alloc_ticks,
                              .free_ticks = batch->free_ticks[at],
                              .address = batch->address[at],
                              .size = batch->size[at],
                              .heap = origin_groups_owner(view->origins, batch->origin[at]).heap,
                              .group = is_freed ? group : 0,
                              .origin = batch->origin[at],
                              .order = (u32)lifetimes_batch_ordinal(batch, at),
                              .kind = kind,
                              .is_fast = is_freed && churn_is_fast(plan, view->fast_ticks, row) };
    return ETLHEAP_PUSH(out, noted);
}

bool churn_rows_append(timed_rows *to, const timed_rows *from)
{
    if (!ETLHEAP_RESERVE(to, from->count))
        return false;
    if (from->count > 0)
        memcpy(to->at + to->count, from->at, from->count * sizeof *from->at);
    to->count += from->count;
    return true;
}

static etlheap_kind_split split_of(const timed_row *row)
{
    return etlheap_kind_at((etlheap_kind)row->kind)->split;
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
    const bool is_placed = split_of(x) == ETLHEAP_SPLIT_BLOCKS;
    if (is_placed && x->heap != y->heap)
        return x->heap < y->heap ? -1 : 1;
    if (is_placed && x->address != y->address)
        return x->address < y->address ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

static bool same_thread(const timed_row *a, const timed_row *b)
{
    return a->kind == b->kind && a->thread == b->thread;
}

/* Is the row another piece of the same allocation as the one before? Pieces of a commit, which may
 * have gaps, have its time. On one tick a thread can allocate several blocks that are freed in
 * pieces, which have no gaps. */
static bool is_piece(const timed_row *row, const timed_row *last)
{
    if (row->alloc_ticks != last->alloc_ticks || split_of(row) == ETLHEAP_SPLIT_NEVER)
        return false;
    return split_of(row) == ETLHEAP_SPLIT_RANGES ||
           (row->origin == last->origin &&
            row->address == etl_sat_add_u64(last->address, last->size));
}

typedef ETLHEAP_VECTOR(i64) moment_ticks;

/* Numbers the moments of the thread that these rows belong to. */
static bool list_moments(moment_ticks *moments, timed_row *own, size_t count)
{
    moments->count = 0;
    for (size_t i = 0; i < count; i++) {
        if ((i == 0 || !is_piece(&own[i], &own[i - 1])) &&
            !ETLHEAP_PUSH(moments, own[i].alloc_ticks))
            return false;
        own[i].moment = (u32)moments->count - 1;
    }
    return true;
}

/* Is the row freed before its thread allocates for the nth time after it? */
static bool ends_before(const moment_ticks *moments, const timed_row *row, u32 nth)
{
    const size_t later = row->moment + (size_t)nth;
    return later >= moments->count || row->free_ticks <= moments->at[later];
}

static void add_row(churn_sums *sums, const moment_ticks *moments, const timed_row *row)
{
    if (row->group == 0)
        return;
    churn_sums *const to = &sums[row->group - 1];
    if (ends_before(moments, row, 1)) {
        to->count++;
        to->size = etl_sat_add_i64(to->size, (i64)etl_min_u64(row->size, INT64_MAX));
    }
    to->near_count += ends_before(moments, row, CHURN_NEAR);
    to->fast_count += row->is_fast;
}

bool churn_rows_finish(timed_rows *rows, churn_sums *sums)
{
    moment_ticks moments = { 0 };
    bool ok = true;
    if (rows->count > 0)
        qsort(rows->at, rows->count, sizeof *rows->at, by_thread);
    for (size_t first = 0, end; ok && first < rows->count; first = end) {
        timed_row *const own = &rows->at[first];
        end = first + 1;
        while (end < rows->count && same_thread(own, &rows->at[end]))
            end++;
        ok = list_moments(&moments, own, end - first);
        for (size_t i = first; ok && i < end; i++)
            add_row(sums, &moments, &rows->at[i]);
    }
    ETLHEAP_VECTOR_FREE(&moments);
    return ok;
}
