/*
 * csv_histogram.c - the buckets of a histogram as comma-separated values.
 */
#include "csv_rows.h"
#include "formats/parts/bucket_parts.h"
#include "formats/parts/field_units.h"
#include "formats/writers.h"

/* Bounds are in bytes or ns. */
static void write_head(etlheap_csv *csv, const etlheap_field_list *columns, const char *unit)
{
    for (u32 i = 0; i < columns->count; i++) {
        const etlheap_field field = columns->fields[etlheap_column_at(columns, i)];
        const bool is_bound = field == ETLHEAP_FIELD_FROM || field == ETLHEAP_FIELD_TO;
        etlheap_csv_field_unit(csv, field, is_bound ? unit : etlheap_field_unit(field));
    }
    etlheap_csv_line(csv);
}

etl_status etlheap_write_histogram_csv(const etlheap_result *result, const etlheap_table *table,
                                       const etlheap_histogram *histogram,
                                       const etlheap_layout *given, etlheap_sink *sink)
{
    const bool by_size = histogram->by == ETLHEAP_HISTOGRAM_SIZE;
    const etlheap_field_list columns = etlheap_bucket_columns(histogram, by_size);
    etlheap_value values[ETLHEAP_BUCKET_COLUMN_COUNT];
    etlheap_csv csv;
    const etl_status status = etlheap_csv_begin(given, sink, &csv);
    if (status != ETL_OK)
        return status;
    (void)result;
    (void)table;
    write_head(&csv, &columns, by_size ? "B" : "ns");
    for (u32 i = 0; i < histogram->bucket_count; i++) {
        etlheap_bucket_values(histogram, &histogram->buckets[i], values);
        etlheap_csv_values(&csv, &columns, values);
        etlheap_csv_line(&csv);
    }
    return etlheap_csv_end(&csv);
}
