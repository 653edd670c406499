/*
 * csv_windows.c - time windows as comma-separated values: one line for each window
 * and group that concern each other.
 *
 * With --find-growth the groups are those that explain the growth, in its windows. If windows are
 * named, the mark at which they begin is the last column.
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
    etlheap_cell_values(cell, values);
    etlheap_csv_values(csv, &etlheap_cell_columns, values);
}

etl_status etlheap_write_windows_csv(const etlheap_result *result,
                                     const etlheap_windows_answer *answer,
                                     const etlheap_layout *given, etlheap_sink *sink)
{
    const bool explains = answer->growth_wanted && answer->growth;
    const etlheap_windows *const windows = explains ? answer->stacks : answer->windows;
    const etlheap_window_span span = etlheap_windows_span(windows, answer->growth);
    const u32 row_count = answer->growth_wanted && !explains ? 0 : windows->table->row_count;
    etlheap_csv csv;
    const etl_status status = etlheap_csv_begin(given, sink, &csv);
    if (status != ETL_OK)
        return status;
    (void)result;
    write_head(&csv, answer, windows->table);
    for (u32 w = span.first; w < span.first + span.count && etlheap_sink_ok(sink); w++) {
        for (u32 i = 0; i < row_count; i++) {
            etlheap_cell cell;
            if ((explains && !answer->explains[i]) || !etlheap_windows_cell(windows, i, w, &cell))
                continue;
            write_cell(&csv, windows, i, w, &cell);
            write_mark(&csv, answer, windows->windows[w].from_ns);
            etlheap_csv_line(&csv);
        }
    }
    return etlheap_csv_end(&csv);
}
