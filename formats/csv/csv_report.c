/*
 * csv_report.c - the rows of a report as comma-separated values.
 *
 * A line of names, then one line a row (RFC 4180 quoting, plain numbers). A stack is
 * one cell, its frames from the innermost on, each "called by" (<) the next.
 */
#include "formats/io/text_buffer.h"
#include "formats/writers.h"
#include "formats/parts/layout_read.h"
#include "csv_rows.h"

static void write_head(const etlheap_table *table, const etlheap_layout *layout,
                       etlheap_sink *sink);
static void write_measures(const etlheap_table *table, const etlheap_row *row, etlheap_sink *sink);
static bool has_marks(const etlheap_table *table);

etl_status etlheap_write_report_csv(const etlheap_result *result, const etlheap_table *table,
                                    const etlheap_layout *given, etlheap_sink *sink)
{
    etlheap_layout own;
    const etlheap_layout *const layout = &own;
    const etl_status layout_status = etlheap_layout_read(given, &own);
    if (layout_status != ETL_OK)
        return layout_status;
    etlheap_text text = { 0 };
    (void)result;
    write_head(table, layout, sink);
    for (u32 i = 0; i < table->row_count && etlheap_sink_ok(sink); i++) {
        const etlheap_row *const row = &table->rows[i];
        etlheap_csv_keys(table, row, &text, sink);
        write_measures(table, row, sink);
        etlheap_sink_text(sink, "\n");
    }
    const bool failed = text.failed;
    etlheap_text_free(&text);
    return failed ? ETL_ERR_MEMORY : ETL_OK;
}

static void write_head(const etlheap_table *table, const etlheap_layout *layout, etlheap_sink *sink)
{
    etlheap_csv_head head = etlheap_csv_head_begin(layout, sink);
    etlheap_csv_head_keys(&head, table);
    for (int m = 0; m < ETLHEAP_MEASURES_COUNT; m++) {
        if ((table->measures >> m & 1) != 0)
            etlheap_csv_head_field(&head, etlheap_measure_field((etlheap_measure)m));
    }
    if (has_marks(table))
        etlheap_csv_head_field(&head, ETLHEAP_FIELD_GROWS_MOST);
    etlheap_csv_head_end(&head);
}

/* Nothing between two commas stands for what is not known. */
static void write_measures(const etlheap_table *table, const etlheap_row *row, etlheap_sink *sink)
{
    const char *comma = "";
    for (int m = 0; m < ETLHEAP_MEASURES_COUNT; m++) {
        if ((table->measures >> m & 1) == 0)
            continue;
        etlheap_sink_text(sink, comma);
        comma = ",";
        if (row->measures[m] != ETLHEAP_NOT_KNOWN)
            etlheap_sink_signed(sink, row->measures[m]);
    }
    if (has_marks(table))
        etlheap_sink_text(sink, row->grows_most ? ",1" : ",0");
}

/* Is there a column of the mark of the heap that grows most? */
static bool has_marks(const etlheap_table *table)
{
    return (table->measures >> ETLHEAP_MEASURE_COMMITTED_SIZE & 1) != 0;
}
