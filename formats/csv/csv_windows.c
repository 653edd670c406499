/*
 * csv_windows.c - time windows as comma-separated values: one line for each window
 * and group that concern each other.
 *
 * With --find-growth the groups are those that explain the growth, in its windows; with
 * --find-spikes each window has the group of its spike. If windows are named, the mark at which
 * they begin is the last column.
 */
#include "csv_rows.h"
#include "formats/parts/window_rows.h"
#include "formats/writers.h"

static void write_head(etlheap_csv *csv, const etlheap_windows_answer *answer,
                       const etlheap_table *table)
{
    etlheap_csv_field(csv, ETLHEAP_FIELD_FROM_NS);
    etlheap_csv_field(csv, ETLHEAP_FIELD_TO_NS);
    etlheap_csv_key_names(csv, table);
    etlheap_csv_fields(csv, &etlheap_cell_columns);
    if (answer->spikes) {
        etlheap_csv_field(csv, ETLHEAP_FIELD_AT);
        etlheap_csv_field(csv, ETLHEAP_FIELD_HEIGHT_SIZE);
    }
    if (answer->marks)
        etlheap_csv_field(csv, ETLHEAP_FIELD_WINDOW_MARK);
    etlheap_csv_line(csv);
}

static void write_mark(etlheap_csv *csv, const etlheap_windows_answer *answer, i64 from_ns)
{
    const etlheap_mark *const mark = etlheap_windows_mark(answer, from_ns);
    if (!answer->marks)
        return;
    etlheap_text_clear(&csv->text);
    if (mark)
        etlheap_text_add_mark(&csv->text, mark->name, mark->number);
    etlheap_csv_text(csv, etlheap_text_of(&csv->text));
}

static void write_cell(etlheap_csv *csv, const etlheap_windows *windows, u32 row, u32 window,
                       const etlheap_cell *cell)
{
    etlheap_value values[ETLHEAP_CELL_COLUMN_COUNT];
    etlheap_csv_number(csv, windows->windows[window].from_ns);
    etlheap_csv_number(csv, windows->windows[window].to_ns);
    etlheap_csv_keys(csv, windows->table, &windows->table->rows[row]);
    etlheap_cell_values(cell, windows->table->rows[row].kind, values);
    etlheap_csv_values(csv, &etlheap_cell_columns, values);
}

static void write_spike(etlheap_csv *csv, const etlheap_windows_answer *answer, u32 window)
{
    if (!answer->spikes)
        return;
    etlheap_csv_number(csv, answer->spikes->spikes[window].at_ns);
    etlheap_csv_number(csv, answer->spikes->spikes[window].height_size);
}

/* The rows that are listed in a window. */
static bool is_listed(const etlheap_windows_answer *answer, u32 row, u32 window)
{
    if (answer->growth_wanted)
        return answer->growth && answer->explains[row];
    return !answer->spikes || row == etlheap_windows_spike_row(answer, window);
}

etl_status etlheap_write_windows_csv(const etlheap_result *result,
                                     const etlheap_windows_answer *answer,
                                     const etlheap_layout *given, etlheap_sink *sink)
{
    const bool explains = answer->growth_wanted && answer->growth;
    const etlheap_windows *const windows = explains ? answer->stacks : answer->windows;
    const etlheap_window_span span = answer->spikes
                                         ? (etlheap_window_span){ 0, etlheap_windows_shown(answer) }
                                         : etlheap_windows_span(windows, answer->growth);
    etlheap_csv csv;
    const etl_status status = etlheap_csv_begin(given, sink, &csv);
    if (status != ETL_OK)
        return status;
    (void)result;
    write_head(&csv, answer, windows->table);
    for (u32 w = span.first; w < span.first + span.count && etlheap_sink_ok(sink); w++) {
        for (u32 i = 0; i < windows->table->row_count; i++) {
            etlheap_cell cell;
            if (!is_listed(answer, i, w) || !etlheap_windows_cell(windows, i, w, &cell))
                continue;
            write_cell(&csv, windows, i, w, &cell);
            write_spike(&csv, answer, w);
            write_mark(&csv, answer, windows->windows[w].from_ns);
            etlheap_csv_line(&csv);
        }
    }
    return etlheap_csv_end(&csv);
}
