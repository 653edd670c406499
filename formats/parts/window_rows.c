/*
 * window_rows.c - the columns of window cells, and the rows that explain a growth, for all writers
 * of windows.
 *
 * In: windows, and a row that grows. Out: values of cells, and which rows of a second table belong
 * to it. Invariant: a row explains a growth only if all keys of the growing group agree (is_part).
 */
#include "window_rows.h"

#include "formats/io/text_buffer.h"
#include "outline.h"
#include "layout_read.h"

#define SHARE_LEAST 100 /* parts of a growth */

static const etlheap_field fields[] = { ETLHEAP_CELL_COLUMNS(ETLHEAP_COLUMN_FIELD) };
const etlheap_field_list etlheap_cell_columns = { fields, NULL, ETLHEAP_CELL_COLUMN_COUNT };

static bool is_part(const etlheap_table *part, const etlheap_row *row, const etlheap_table *whole,
                    const etlheap_row *of);
static bool same_stack(const etlheap_table *a, u32 stack_a, const etlheap_table *b, u32 stack_b);
static bool same_frame(const etlheap_table *a, u32 frame_a, const etlheap_table *b, u32 frame_b);
static bool same_text(const char *a, const char *b);

void etlheap_cell_values(const etlheap_cell *c, u32 kind,
                         etlheap_value out[ETLHEAP_CELL_COLUMN_COUNT])
{
    const etlheap_value values[] = { ETLHEAP_CELL_COLUMNS(ETLHEAP_COLUMN_VALUE) };
    memcpy(out, values, sizeof values);
    etlheap_values_hide(kind, fields, out, ETLHEAP_CELL_COLUMN_COUNT);
}

etlheap_window_span etlheap_windows_span(const etlheap_windows *windows,
                                         const etlheap_growth *growth)
{
    if (growth)
        return (etlheap_window_span){ growth->first_window, growth->window_count };
    return (etlheap_window_span){ 0, windows->window_count };
}

const etlheap_mark *etlheap_mark_at(const etlheap_marks *marks, i64 time_ns)
{
    u32 first = 0, end = marks->count; /* the last mark not after time_ns */
    while (first < end) {
        const u32 middle = first + (end - first) / 2;
        if (marks->at[middle].time_ns <= time_ns)
            first = middle + 1;
        else
            end = middle;
    }
    const bool is_at = first > 0 && marks->at[first - 1].time_ns == time_ns;
    return is_at ? &marks->at[first - 1] : NULL;
}

const etlheap_mark *etlheap_windows_mark(const etlheap_windows_answer *answer, i64 from_ns)
{
    return answer->marks ? etlheap_mark_at(answer->marks, from_ns) : NULL;
}

u32 etlheap_windows_explain(const etlheap_windows_answer *answer, const etlheap_layout *layout,
                            bool *explains)
{
    const etlheap_table *const whole = answer->windows->table;
    const etlheap_table *const part = answer->stacks->table;
    etlheap_layout own;
    const bool is_read = layout && etlheap_layout_read(layout, &own) == ETL_OK;
    const u32 rows_max = is_read && own.rows_max > 0 ? own.rows_max : UINT32_MAX;
    const bool is_choosy = is_read && own.rows_of_each_kind;
    const i64 least = is_choosy ? etlheap_windows_moves(answer).grown_size / SHARE_LEAST : 0;
    u32 marked = 0;
    u32 left_out = 0;
    for (u32 i = 0; i < part->row_count; i++) {
        const etlheap_row *const row = &part->rows[i];
        const i64 growth = row->measures[ETLHEAP_MEASURE_IMPACTING_SIZE];
        const bool grew =
            growth > 0 && is_part(part, row, whole, &whole->rows[answer->growth->row]);
        explains[i] = grew && marked < rows_max && growth >= least;
        marked += explains[i] ? 1 : 0;
        left_out += grew && !explains[i] ? 1 : 0;
    }
    return left_out;
}

/* What grew and what shrank are told apart: of their difference a stack can be more than all. */
etlheap_window_moves etlheap_windows_moves(const etlheap_windows_answer *answer)
{
    const etlheap_table *const whole = answer->windows->table;
    const etlheap_table *const part = answer->stacks->table;
    etlheap_window_moves moves = { 0 };
    for (u32 i = 0; i < part->row_count; i++) {
        const i64 size = part->rows[i].measures[ETLHEAP_MEASURE_IMPACTING_SIZE];
        i64 *const sum = size > 0 ? &moves.grown_size : &moves.shrunk_size;
        if (is_part(part, &part->rows[i], whole, &whole->rows[answer->growth->row]))
            *sum = etl_sat_add_i64(*sum, size > 0 ? size : size == INT64_MIN ? INT64_MAX : -size);
    }
    return moves;
}

/* The row has the keys of the other one, which may be of another table. */
static bool is_part(const etlheap_table *part, const etlheap_row *row, const etlheap_table *whole,
                    const etlheap_row *of)
{
    for (u32 k = 0; k < whole->group_by_count; k++) {
        const etlheap_key key = whole->group_by[k];
        const etlheap_key_value x = etlheap_row_value(row, key), y = etlheap_row_value(of, key);
        const bool same =
            x.form == ETLHEAP_FORM_STACK   ? same_stack(part, (u32)x.number, whole, (u32)y.number)
            : x.form == ETLHEAP_FORM_FRAME ? same_frame(part, (u32)x.number, whole, (u32)y.number)
                                           : etlheap_row_compare_key(row, of, key) == 0;
        if (!same)
            return false;
    }
    return true;
}

u32 etlheap_windows_shown(const etlheap_windows_answer *answer)
{
    return answer->spikes ? answer->spikes->count : answer->windows->window_count;
}

u32 etlheap_windows_spike_row(const etlheap_windows_answer *answer, u32 window)
{
    const etlheap_table *const table = answer->windows->table;
    const etlheap_table *const groups = answer->spikes->groups;
    const etlheap_row *const group = etlheap_table_row(groups, answer->spikes->spikes[window].row);
    u32 row = 0;
    while (row < table->row_count && !is_part(table, &table->rows[row], groups, group))
        row++;
    return row;
}

static bool same_stack(const etlheap_table *a, u32 stack_a, const etlheap_table *b, u32 stack_b)
{
    const etlheap_indices left = etlheap_stack_members(a, stack_a);
    const etlheap_indices right = etlheap_stack_members(b, stack_b);
    for (u32 i = 0; i < left.count && i < right.count; i++) {
        if (!same_frame(a, left.at[i], b, right.at[i]))
            return false;
    }
    return left.count == right.count;
}

/* A frame with a name stands for its function, whose lowest offset depends on the
 * table; one without for itself. */
static bool same_frame(const etlheap_table *a, u32 frame_a, const etlheap_table *b, u32 frame_b)
{
    if (frame_a == ETLHEAP_NO_INDEX || frame_b == ETLHEAP_NO_INDEX)
        return frame_a == frame_b;
    const etlheap_frame *const left = &a->frames[frame_a];
    const etlheap_frame *const right = &b->frames[frame_b];
    if (!same_text(left->module, right->module) || !same_text(left->symbol, right->symbol))
        return false;
    if (!left->module)
        return left->address == right->address;
    return left->symbol || left->offset == right->offset;
}

static bool same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}
