/*
 * space_ranges.c - address ranges of processes at one moment, sorted, and unions of them.
 *
 * In: ranges by process and kind (reserved, committed, extent, image, large block). Out: slices of
 * one process, and disjoint spans. Invariant: look-ups need the ranges sorted first
 * (space_ranges_sort).
 */
#include "space_ranges.h"

#include <stdlib.h>

static int compare_u64(u64 a, u64 b)
{
    return (a > b) - (a < b);
}

static int by_place(const void *a, const void *b)
{
    const space_range *const x = a, *const y = b;
    int order = compare_u64(x->process, y->process);
    if (order == 0)
        order = compare_u64(x->what, y->what);
    if (order == 0)
        order = compare_u64(x->start, y->start);
    if (order == 0)
        order = compare_u64(x->end, y->end);
    if (order == 0)
        order = compare_u64(x->heap, y->heap);
    return order != 0 ? order : compare_u64(x->module, y->module);
}

void space_ranges_sort(space_range_list *list)
{
    if (list->count > 0)
        qsort(list->at, list->count, sizeof *list->at, by_place);
}

/* The first range that is not before the process and what. */
static size_t first_of(const space_range_list *list, u32 process, u32 what)
{
    size_t low;
    ETL_BISECT(low, 0, list->count,
               list->at[low].process < process ||
                   (list->at[low].process == process && list->at[low].what < what));
    return low;
}

space_slice space_ranges_of(const space_range_list *list, u32 process, space_what what)
{
    const size_t first = first_of(list, process, what), end = first_of(list, process, what + 1u);
    return (space_slice){ list->at == NULL ? NULL : list->at + first, (u32)(end - first) };
}

static bool add_span(space_spans *out, const space_range *range)
{
    space_span *const last = out->count == 0 ? NULL : &out->at[out->count - 1];
    if (last == NULL || range->start > last->end)
        return ETLHEAP_PUSH(out, ((space_span){ range->start, range->end }));
    last->end = etl_max_u64(last->end, range->end);
    return true;
}

bool space_spans_unite(space_spans *out, space_slice a, space_slice b)
{
    bool ok = true;
    for (u32 i = 0, k = 0; ok && (i < a.count || k < b.count);) {
        const bool from_a = k == b.count || (i < a.count && a.at[i].start <= b.at[k].start);
        ok = add_span(out, from_a ? &a.at[i] : &b.at[k]);
        i += from_a;
        k += !from_a;
    }
    return ok;
}

u32 space_spans_after(const space_spans *spans, u64 address)
{
    size_t low;
    ETL_BISECT(low, 0, spans->count, spans->at[low].end <= address);
    return (u32)low;
}

u64 space_spans_bytes(const space_spans *spans, u32 *at, u64 start, u64 end)
{
    u64 bytes = 0;
    while (*at < spans->count && spans->at[*at].end <= start)
        ++*at;
    for (u32 i = *at; i < spans->count && spans->at[i].start < end; i++)
        bytes += etl_min_u64(spans->at[i].end, end) - etl_max_u64(spans->at[i].start, start);
    return bytes;
}
