/*
 * summary_cells.c - adding up; see summary.h.
 *
 * The windows of an entry are a function of the window's number, which is 0 nearly
 * everywhere or stays as it is for long: memory that nobody touches. So they are
 * kept as runs of windows that are alike, as few as can be, and two of them are
 * added piece by piece between all ends of their runs. What comes out depends on
 * the functions alone, not on how they were cut.
 */
#include <inttypes.h>
#include <stdio.h>

#include "summary.h"

/* A list that is gone through from a window on. */
typedef struct cell_list {
    const summary_cell *at;
    size_t count;
} cell_list;

static i64 start_from(const cell_list *list, i64 position);
static i64 end_of(const cell_list *list);
static void add_amounts(summary_amounts *to, const summary_amounts *from);
static bool push_cell(summary_cells *out, const summary_cell *cell);

void summary_add_peak(summary_peak *to, bool is_first, const summary_peak *peak)
{
    *to = is_first ? *peak : summary_peak_unknown;
}

void summary_add_sum(summary_sum *to, const summary_sum *sum)
{
    if (sum->count == 0)
        return;
    summary_add_peak(&to->peak, to->count == 0, &sum->peak);
    to->count = etl_sat_add_u64(to->count, sum->count);
    to->size_bytes = etl_sat_add_u64(to->size_bytes, sum->size_bytes);
    to->realloc_count = etl_sat_add_u64(to->realloc_count, sum->realloc_count);
}

bool summary_add_cells(summary_cells *to, const summary_cell *cells, size_t count,
                       summary_cells *scratch)
{
    cell_list a = { to->at, to->count }, b = { cells, count };
    i64 position = INT64_MIN;
    scratch->count = 0;
    while (a.count > 0 || b.count > 0) {
        const i64 a_start = start_from(&a, position), b_start = start_from(&b, position);
        const i64 start = a_start < b_start ? a_start : b_start;
        i64 end = a_start > start ? a_start : end_of(&a);
        const i64 b_limit = b_start > start ? b_start : end_of(&b);
        end = b_limit < end ? b_limit : end;
        summary_cell piece = { .window = start, .window_count = (u64)(end - start) };
        if (a_start == start)
            add_amounts(&piece.amounts, &a.at->amounts);
        if (b_start == start)
            add_amounts(&piece.amounts, &b.at->amounts);
        if (!push_cell(scratch, &piece))
            return false;
        position = end;
        const size_t a_done = a.count > 0 && end_of(&a) <= position;
        const size_t b_done = b.count > 0 && end_of(&b) <= position;
        /* A list that is over may have no address to add to. */
        a = (cell_list){ a_done ? a.at + 1 : a.at, a.count - a_done };
        b = (cell_list){ b_done ? b.at + 1 : b.at, b.count - b_done };
    }
    to->count = 0;
    if (!ETLHEAP_RESERVE(to, scratch->count))
        return false;
    if (scratch->count > 0)
        memcpy(to->at, scratch->at, scratch->count * sizeof *to->at);
    to->count = scratch->count;
    return true;
}

void summary_every_text(i64 every_ns, char text[SUMMARY_EVERY_TEXT])
{
    static const char *const units[] = { "ns", "us", "ms", "s" };
    u32 unit = 0;
    while (every_ns != 0 && every_ns % 1000 == 0 && unit + 1 < ETL_COUNT_OF(units)) {
        every_ns /= 1000;
        unit++;
    }
    text[0] = '\0';
    if (every_ns != 0)
        snprintf(text, SUMMARY_EVERY_TEXT, "%" PRId64 "%s", every_ns, units[unit]);
}

/* Where the rest of the list begins; INT64_MAX at its end. */
static i64 start_from(const cell_list *list, i64 position)
{
    if (list->count == 0)
        return INT64_MAX;
    return list->at->window > position ? list->at->window : position;
}

/* Where the first run ends; loading checks that it fits. */
static i64 end_of(const cell_list *list)
{
    return list->count == 0 ? INT64_MAX : list->at->window + (i64)list->at->window_count;
}

static bool has_lifetimes(const summary_amounts *amounts)
{
    u64 any = 0;
    for (u32 type = 0; type < ETLHEAP_TYPE_COUNT; type++)
        any |= amounts->count[type];
    return any > 0;
}

static void add_amounts(summary_amounts *to, const summary_amounts *from)
{
    if (!has_lifetimes(from))
        return;
    summary_add_peak(&to->peak, !has_lifetimes(to), &from->peak);
    for (u32 type = 0; type < ETLHEAP_TYPE_COUNT; type++) {
        to->count[type] = etl_sat_add_u64(to->count[type], from->count[type]);
        to->size_bytes[type] = etl_sat_add_u64(to->size_bytes[type], from->size_bytes[type]);
    }
}

static bool push_cell(summary_cells *out, const summary_cell *cell)
{
    static const summary_amounts nothing;
    if (memcmp(&cell->amounts, &nothing, sizeof nothing) == 0)
        return true;
    summary_cell *const last = out->count == 0 ? NULL : &out->at[out->count - 1];
    if (last != NULL && last->window + (i64)last->window_count == cell->window &&
        memcmp(&last->amounts, &cell->amounts, sizeof cell->amounts) == 0) {
        last->window_count += cell->window_count;
        return true;
    }
    return ETLHEAP_PUSH(out, *cell);
}
