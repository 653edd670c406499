/*
 * csv_windows.c - time windows as comma-separated values: one line for each window
 * and group that concern each other.
 *
 * With --find-growth the groups are those that explain the growth, in its windows. If windows are
 * named, the mark at which they begin is the last column.
 */
#include "formats/io/text_buffer.h"
#include "formats/parts/window_rows.h"
#include "formats/writers.h"
#include "formats/parts/layout_read.h"
#include "csv_rows.h"

static void write_head(const etlheap_windows_answer *answer, const etlheap_table *table,
                       const etlheap_layout *layout, etlheap_sink *sink);
static void write_cell(const etlheap_windows *windows, u32 row, u32 window,
                       const etlheap_cell *cell, etlheap_text *text, etlheap_sink *sink);
static void write_mark(const etlheap_windows_answer *answer, i64 from_ns, etlheap_text *text,
                       etlheap_sink *sink);

etl_status etlheap_write_windows_csv(const etlheap_result *result,
                                     const etlheap_windows_answer *answer,
                                     const etlheap_layout *given, etlheap_sink *sink)
{
    etlheap_layout own;
    const etlheap_layout *const layout = &own;
    const etl_status layout_status = etlheap_layout_read(given, &own);
    if (layout_status != ETL_OK)
        return layout_status;
    const bool explains = answer->growth_wanted && answer->growth;
    const etlheap_windows *const windows = explains ? answer->stacks : answer->windows;
    const etlheap_window_span span = etlheap_windows_span(windows, answer->growth);
    const u32 row_count = answer->growth_wanted && !explains ? 0 : windows->table->row_count;
    etlheap_text text = { 0 };
    (void)result;
    write_head(answer, windows->table, layout, sink);
    for (u32 w = span.first; w < span.first + span.count && etlheap_sink_ok(sink); w++) {
        for (u32 i = 0; i < row_count; i++) {
            etlheap_cell cell;
            if ((explains && !answer->explains[i]) || !etlheap_windows_cell(windows, i, w, &cell))
                continue;
            write_cell(windows, i, w, &cell, &text, sink);
            write_mark(answer, windows->windows[w].from_ns, &text, sink);
            etlheap_sink_text(sink, "\n");
        }
    }
    const bool failed = text.failed;
    etlheap_text_free(&text);
    return failed ? ETL_ERR_MEMORY : ETL_OK;
}

static void write_head(const etlheap_windows_answer *answer, const etlheap_table *table,
                       const etlheap_layout *layout, etlheap_sink *sink)
{
    etlheap_csv_head head = etlheap_csv_head_begin(layout, sink);
    etlheap_csv_head_field(&head, ETLHEAP_FIELD_FROM_NS);
    etlheap_csv_head_field(&head, ETLHEAP_FIELD_TO_NS);
    etlheap_csv_head_keys(&head, table);
    for (int c = 0; c < ETLHEAP_CELL_COLUMN_COUNT; c++)
        etlheap_csv_head_field(&head, etlheap_cell_field((etlheap_cell_column)c));
    if (answer->marks)
        etlheap_csv_head_field(&head, ETLHEAP_FIELD_WINDOW_MARK);
    etlheap_csv_head_end(&head);
}

static void write_cell(const etlheap_windows *windows, u32 row, u32 window,
                       const etlheap_cell *cell, etlheap_text *text, etlheap_sink *sink)
{
    etlheap_sink_signed(sink, windows->windows[window].from_ns);
    etlheap_sink_text(sink, ",");
    etlheap_sink_signed(sink, windows->windows[window].to_ns);
    etlheap_sink_text(sink, ",");
    etlheap_csv_keys(windows->table, &windows->table->rows[row], text, sink);
    for (int c = 0; c < ETLHEAP_CELL_COLUMN_COUNT; c++) {
        etlheap_sink_text(sink, c > 0 ? "," : "");
        const i64 value = etlheap_cell_value(cell, (etlheap_cell_column)c);
        if (value != ETLHEAP_NOT_KNOWN)
            etlheap_sink_signed(sink, value);
    }
}

static void write_mark(const etlheap_windows_answer *answer, i64 from_ns, etlheap_text *text,
                       etlheap_sink *sink)
{
    const etlheap_mark *const mark = etlheap_windows_mark(answer, from_ns);
    if (!answer->marks)
        return;
    etlheap_text_clear(text);
    if (mark)
        etlheap_text_add_mark(text, mark->name, mark->number);
    etlheap_sink_text(sink, ",");
    etlheap_csv_cell(sink, etlheap_text_of(text));
}
