/*
 * csv_histogram.c - the buckets of a histogram as comma-separated values.
 */
#include "formats/writers.h"
#include "formats/parts/layout_read.h"
#include "formats/parts/rounding_parts.h"
#include "csv_rows.h"

#include <inttypes.h>

static void write_head(const etlheap_histogram *histogram, const etlheap_layout *layout,
                       etlheap_sink *sink);
static void write_bucket(const etlheap_histogram *histogram, const etlheap_bucket *bucket,
                         etlheap_sink *sink);

etl_status etlheap_write_histogram_csv(const etlheap_result *result, const etlheap_table *table,
                                       const etlheap_histogram *histogram,
                                       const etlheap_layout *given, etlheap_sink *sink)
{
    etlheap_layout own;
    const etlheap_layout *const layout = &own;
    const etl_status layout_status = etlheap_layout_read(given, &own);
    if (layout_status != ETL_OK)
        return layout_status;
    (void)result;
    (void)table;
    write_head(histogram, layout, sink);
    for (u32 i = 0; i < histogram->bucket_count; i++)
        write_bucket(histogram, &histogram->buckets[i], sink);
    return ETL_OK;
}

static void write_head(const etlheap_histogram *histogram, const etlheap_layout *layout,
                       etlheap_sink *sink)
{
    const char *const unit = histogram->by == ETLHEAP_HISTOGRAM_SIZE ? "B" : "ns";
    etlheap_csv_head head = etlheap_csv_head_begin(layout, sink);
    etlheap_csv_head_field(&head, ETLHEAP_FIELD_KIND);
    if (histogram->by_process) {
        etlheap_csv_head_field(&head, ETLHEAP_FIELD_PROCESS);
        etlheap_csv_head_field(&head, ETLHEAP_FIELD_PID);
    }
    etlheap_csv_head_unit(&head, ETLHEAP_FIELD_FROM, unit);
    etlheap_csv_head_unit(&head, ETLHEAP_FIELD_TO, unit);
    etlheap_csv_head_field(&head, ETLHEAP_FIELD_COUNT);
    etlheap_csv_head_field(&head, ETLHEAP_FIELD_SIZE);
    etlheap_csv_head_field(&head, ETLHEAP_FIELD_OUTSTANDING_COUNT);
    etlheap_csv_head_field(&head, ETLHEAP_FIELD_OUTSTANDING_SIZE);
    if (histogram->by == ETLHEAP_HISTOGRAM_SIZE) {
        etlheap_csv_head_field(&head, ETLHEAP_FIELD_ROUNDING_SIZE);
        etlheap_csv_head_field(&head, ETLHEAP_FIELD_LFH_ROUNDING_SIZE);
    }
    etlheap_csv_head_end(&head);
}

/* Bytes or ns; a bound that there is not is an empty cell. */
static void write_bucket(const etlheap_histogram *histogram, const etlheap_bucket *bucket,
                         etlheap_sink *sink)
{
    etlheap_sink_text(sink, etlheap_kind_name((etlheap_kind)bucket->kind));
    etlheap_sink_text(sink, ",");
    if (histogram->by_process) {
        etlheap_csv_cell(sink, bucket->process);
        etlheap_sink_format(sink, ",%" PRIu32 ",", bucket->pid);
    }
    if (!bucket->is_open)
        etlheap_sink_unsigned(sink, bucket->from);
    etlheap_sink_text(sink, ",");
    if (!bucket->is_open && bucket->to != UINT64_MAX)
        etlheap_sink_unsigned(sink, bucket->to);
    etlheap_sink_format(sink, ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64, bucket->count,
                        bucket->size_bytes, bucket->outstanding_count,
                        bucket->outstanding_size_bytes);
    if (etlheap_bucket_has_rounding(histogram, bucket))
        etlheap_sink_format(sink, ",%" PRId64 ",%" PRId64, bucket->rounding_size_bytes,
                            bucket->lfh_rounding_size_bytes);
    else if (histogram->by == ETLHEAP_HISTOGRAM_SIZE)
        etlheap_sink_text(sink, ",,");
    etlheap_sink_text(sink, "\n");
}
