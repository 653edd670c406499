/*
 * peak_moment.c - the moment at which most is outstanding.
 *
 * Rows come in order of their allocation. So a moment can be a new peak only when
 * something is allocated in it, and its height is known once all frees up to it
 * are taken off: those wait in a heap, the next one first. What lives at once is
 * all that is kept.
 */
#include <stdlib.h>

#include "engine/query/query.h"

typedef struct pending_free {
    i64 ticks;
    i64 size;
} pending_free;

/* The curve of one kind. */
typedef struct kind_curve {
    ETLHEAP_VECTOR(pending_free) frees; /* a heap: none is before its parent */
    bool is_moving;                     /* there are allocations at `ticks`, not looked at yet */
    i64 ticks;
    i64 size, count;
    i64 best_ticks, best_size, best_count;
} kind_curve;

static etl_status follow(etlheap_lifetimes *walk, const query_plan *plan,
                         kind_curve curves[ETLHEAP_KIND_COUNT], etl_error *err);
static etlheap_peak_moment peak_of(const kind_curve *curve, const query_plan *plan);
static bool add_row(kind_curve *curve, const query_plan *plan, const etlheap_lifetime *row);
static void look(kind_curve *curve);
static bool push(kind_curve *curve, pending_free item);
static pending_free pop(kind_curve *curve);

etl_status etlheap_find_peaks(const etlheap_result *result, const etlheap_query *query,
                              etlheap_peak_moment peaks[ETLHEAP_KIND_CAPACITY], etl_error *err)
{
    kind_curve curves[ETLHEAP_KIND_COUNT] = { 0 };
    etlheap_query whole;
    etlheap_lifetimes *walk = NULL;
    query_plan plan;
    etl_status status = query_read(query, &whole, err);
    memset(peaks, 0, ETLHEAP_KIND_CAPACITY * sizeof *peaks);
    whole.types = 0;
    whole.at_end = false;
    whole.kind_to_ticks = NULL;
    if (status != ETL_OK)
        return status;
    status = query_open(&plan, result, &whole, err);
    if (status == ETL_OK)
        status = etlheap_lifetimes_open(result, &whole, NULL, &walk, err);
    if (status == ETL_OK)
        status = follow(walk, &plan, curves, err);
    for (u32 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++) {
        if (status == ETL_OK)
            peaks[kind] = peak_of(&curves[kind], &plan);
        free(curves[kind].frees.at);
    }
    etlheap_lifetimes_close(walk);
    query_close(&plan);
    return status;
}

/* Without anything outstanding the moment is the end of the window. */
static etlheap_peak_moment peak_of(const kind_curve *curve, const query_plan *plan)
{
    const bool found = curve->best_size > 0;
    const i64 end_ticks = etl_time_ticks(plan->result->base.base, plan->to_ns);
    const i64 to_ticks = found ? curve->best_ticks + 1 : end_ticks;
    return (etlheap_peak_moment){ .found = found,
                                  .to_ticks = to_ticks,
                                  .at_ns = query_end_ns(plan, to_ticks),
                                  .size_bytes = curve->best_size,
                                  .count = curve->best_count };
}

static etl_status follow(etlheap_lifetimes *walk, const query_plan *plan,
                         kind_curve curves[ETLHEAP_KIND_COUNT], etl_error *err)
{
    etlheap_lifetime row;
    while (etlheap_lifetimes_next(walk, &row)) {
        if (!add_row(&curves[row.kind], plan, &row))
            return etl_fail_with(err, ETL_ERR_MEMORY, 0, "out of memory");
    }
    for (u32 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++)
        look(&curves[kind]);
    return etlheap_lifetimes_status(walk, err);
}

/* What is older than the window is there just before its first tick. */
static bool add_row(kind_curve *curve, const query_plan *plan, const etlheap_lifetime *row)
{
    const i64 before = etl_sat_add_i64(plan->from_ticks, -1);
    const i64 ticks = row->alloc_ticks > before ? row->alloc_ticks : before;
    const i64 size = row->size_bytes > INT64_MAX ? INT64_MAX : (i64)row->size_bytes;
    assert(!curve->is_moving || ticks >= curve->ticks);
    if (ticks != curve->ticks)
        look(curve);
    curve->is_moving = true;
    curve->ticks = ticks;
    curve->size = etl_sat_add_i64(curve->size, size);
    curve->count++;
    return row->free_ticks >= plan->to_ticks ||
           push(curve, (pending_free){ row->free_ticks, size });
}

static void look(kind_curve *curve)
{
    if (!curve->is_moving)
        return;
    while (curve->frees.count > 0 && curve->frees.at[0].ticks <= curve->ticks) {
        curve->size = etl_sat_add_i64(curve->size, -pop(curve).size);
        curve->count--;
    }
    if (curve->size > curve->best_size) {
        curve->best_ticks = curve->ticks;
        curve->best_size = curve->size;
        curve->best_count = curve->count;
    }
    curve->is_moving = false;
}

static bool push(kind_curve *curve, pending_free item)
{
    if (!ETLHEAP_PUSH(&curve->frees, item))
        return false;
    pending_free *const heap = curve->frees.at;
    size_t at = curve->frees.count - 1;
    for (; at > 0 && heap[(at - 1) / 2].ticks > item.ticks; at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = item;
    return true;
}

static pending_free pop(kind_curve *curve)
{
    pending_free *const heap = curve->frees.at;
    const size_t count = --curve->frees.count;
    const pending_free first = heap[0], last = heap[count];
    size_t at = 0;
    for (size_t child = 1; child < count; child = 2 * at + 1) {
        if (child + 1 < count && heap[child + 1].ticks < heap[child].ticks)
            child++;
        if (heap[child].ticks >= last.ticks)
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = last;
    return first;
}
