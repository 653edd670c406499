/*
 * csv_report.c - the rows of a report as comma-separated values.
 *
 * A line of names, then one line a row (RFC 4180 quoting, plain numbers). A stack is
 * one cell, its frames from the innermost on, each "called by" (<) the next.
 */
#include "csv_rows.h"
#include "formats/parts/field_units.h"
#include "formats/parts/report_columns.h"
#include "formats/writers.h"

/* Rows that are heaps have these, and so a column of the mark of the heap that grows most. */
static const u32 heap_sizes = ETLHEAP_MEASURE_BIT(COMMITTED_SIZE);

static void write_head(etlheap_csv *csv, const etlheap_table *table, const report_columns *columns)
{
    etlheap_csv_key_names(csv, table);
    for (u32 i = 0; i < columns->count; i++)
        etlheap_csv_field(csv, etlheap_measure_field((etlheap_measure)columns->at[i]));
    if (columns->has_marks)
        etlheap_csv_field(csv, ETLHEAP_FIELD_GROWS_MOST);
    etlheap_csv_line(csv);
}

static void write_row(etlheap_csv *csv, const etlheap_table *table, const report_columns *columns,
                      const etlheap_row *row)
{
    etlheap_csv_keys(csv, table, row);
    for (u32 i = 0; i < columns->count; i++)
        etlheap_csv_number(
            csv, etlheap_shown_measure(row->kind, columns->at[i], row->measures[columns->at[i]]));
    if (columns->has_marks)
        etlheap_csv_number(csv, row->grows_most);
    etlheap_csv_line(csv);
}

etl_status etlheap_write_report_csv(const etlheap_result *result, const etlheap_table *table,
                                    const etlheap_layout *given, etlheap_sink *sink)
{
    etlheap_csv csv;
    const etl_status status = etlheap_csv_begin(given, sink, &csv);
    if (status != ETL_OK)
        return status;
    (void)result;
    report_columns columns = report_columns_all(table, &csv.layout);
    columns.has_marks &= (report_measures_of(table, &csv.layout) & heap_sizes) != 0;
    write_head(&csv, table, &columns);
    for (u32 i = 0; i < table->row_count && etlheap_sink_ok(sink); i++)
        write_row(&csv, table, &columns, &table->rows[i]);
    return etlheap_csv_end(&csv);
}
