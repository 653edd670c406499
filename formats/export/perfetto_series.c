/*
 * perfetto_series.c - follows rows of time windows and adds up what they allocate and free.
 *
 * In: windows that follow each other. Out: for each series, what was allocated and freed up to the
 * end of a window. Cells tell of one window only:
 *
 *     allocated = in use at the start + allocated inside     AIFO + AIFI, of the first AOFO + AOFI
 *     freed     = freed inside                               AIFI + AOFI
 *
 * Invariant: both only grow, because Perfetto drops what shrinks.
 */
#include "perfetto_series.h"

#include <stdlib.h>

static int compare_rows(const void *a, const void *b);
static void add_cell(perfetto_row *row, const etlheap_cell *cell, bool is_first);

bool perfetto_series_open(const etlheap_windows *windows, perfetto_stack_fn *stack_of, void *user,
                          perfetto_series *out)
{
    const etlheap_table *const table = windows->table;
    *out = (perfetto_series){ .windows = windows };
    out->rows = calloc((size_t)table->row_count + 1, sizeof *out->rows);
    if (!out->rows)
        return false;
    for (u32 i = 0; i < table->row_count; i++) {
        const etlheap_row *const row = &table->rows[i];
        out->rows[out->count++] = (perfetto_row){
            .pid = row->pid,
            .kind = row->kind,
            .stack = stack_of ? stack_of(user, row) : 0,
            .row = i,
        };
    }
    qsort(out->rows, out->count, sizeof *out->rows, compare_rows);
    return true;
}

void perfetto_series_close(perfetto_series *series)
{
    free(series->rows);
    *series = (perfetto_series){ 0 };
}

static int compare_rows(const void *a, const void *b)
{
    const perfetto_row *const x = a;
    const perfetto_row *const y = b;
    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if (x->stack != y->stack)
        return x->stack < y->stack ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

bool perfetto_series_step(perfetto_series *series, u32 window)
{
    bool changed = false;
    for (u32 i = 0; i < series->count; i++) {
        perfetto_row *const row = &series->rows[i];
        etlheap_cell cell;
        row->is_changed = row->next_news <= window;
        if (!row->is_changed)
            continue;
        (void)etlheap_windows_cell(series->windows, row->row, window, &cell);
        add_cell(row, &cell, window == 0);
        row->next_news = etlheap_windows_next_news(series->windows, row->row, window + 1);
        changed = true;
    }
    return changed;
}

static void add_cell(perfetto_row *row, const etlheap_cell *cell, bool is_first)
{
    const i64 *const size = cell->size, *const count = cell->count;
    enum { AIFO = ETLHEAP_TYPE_AIFO, AIFI = ETLHEAP_TYPE_AIFI };
    enum { AOFI = ETLHEAP_TYPE_AOFI, AOFO = ETLHEAP_TYPE_AOFO };
    const i64 start_size = is_first ? etl_sat_add_i64(size[AOFO], size[AOFI]) : 0;
    const i64 start_count = is_first ? etl_sat_add_i64(count[AOFO], count[AOFI]) : 0;
    const i64 made_size = etl_sat_add_i64(start_size, etl_sat_add_i64(size[AIFO], size[AIFI]));
    const i64 made_count = etl_sat_add_i64(start_count, etl_sat_add_i64(count[AIFO], count[AIFI]));
    const i64 gone_size = etl_sat_add_i64(size[AIFI], size[AOFI]);
    const i64 gone_count = etl_sat_add_i64(count[AIFI], count[AOFI]);
    row->allocated_size = etl_sat_add_i64(row->allocated_size, made_size);
    row->allocated_count = etl_sat_add_i64(row->allocated_count, made_count);
    row->freed_size = etl_sat_add_i64(row->freed_size, gone_size);
    row->freed_count = etl_sat_add_i64(row->freed_count, gone_count);
}

u32 perfetto_series_end(const perfetto_series *series, u32 first, bool with_stack)
{
    const perfetto_row *const row = &series->rows[first];
    u32 end = first + 1;
    while (end < series->count && series->rows[end].pid == row->pid &&
           series->rows[end].kind == row->kind &&
           (!with_stack || series->rows[end].stack == row->stack))
        end++;
    return end;
}

perfetto_row perfetto_series_sum(const perfetto_series *series, u32 first, u32 end)
{
    perfetto_row sum = series->rows[first];
    for (u32 i = first + 1; i < end; i++) {
        const perfetto_row *const row = &series->rows[i];
        sum.is_changed = sum.is_changed || row->is_changed;
        sum.allocated_size = etl_sat_add_i64(sum.allocated_size, row->allocated_size);
        sum.allocated_count = etl_sat_add_i64(sum.allocated_count, row->allocated_count);
        sum.freed_size = etl_sat_add_i64(sum.freed_size, row->freed_size);
        sum.freed_count = etl_sat_add_i64(sum.freed_count, row->freed_count);
    }
    return sum;
}
