/*
 * bucket_parts.c - the columns of a histogram, and how many bytes heaps add to sizes, in words.
 */
#include "bucket_parts.h"

#include "display.h"
#include "formats/io/text_buffer.h"
#include "formats/io/units.h"

static const etlheap_field fields[] = { ETLHEAP_BUCKET_COLUMNS(ETLHEAP_COLUMN_FIELD) };

etlheap_field_list etlheap_bucket_columns(const etlheap_histogram *histogram, bool has_rounding)
{
    static const u8 without_process[] = {
        ETLHEAP_BUCKET_KIND,
        ETLHEAP_BUCKET_FROM,
        ETLHEAP_BUCKET_TO,
        ETLHEAP_BUCKET_COUNT,
        ETLHEAP_BUCKET_SIZE,
        ETLHEAP_BUCKET_OUTSTANDING_COUNT,
        ETLHEAP_BUCKET_OUTSTANDING_SIZE,
        ETLHEAP_BUCKET_ROUNDING_SIZE,
        ETLHEAP_BUCKET_LFH_ROUNDING_SIZE,
    };
    const u32 left_out = has_rounding ? 0 : 2;
    if (histogram->by_process)
        return (etlheap_field_list){ fields, NULL, ETLHEAP_BUCKET_COLUMN_COUNT - left_out };
    return (etlheap_field_list){ fields, without_process,
                                 (u32)ETL_COUNT_OF(without_process) - left_out };
}

static etlheap_value rounding_value(const etlheap_histogram *histogram,
                                    const etlheap_bucket *bucket, i64 size_bytes)
{
    return etlheap_value_number(etlheap_bucket_has_rounding(histogram, bucket) ? size_bytes
                                                                               : ETLHEAP_NOT_KNOWN);
}

void etlheap_bucket_values(const etlheap_histogram *h, const etlheap_bucket *b,
                           etlheap_value out[ETLHEAP_BUCKET_COLUMN_COUNT])
{
    const etlheap_value values[] = { ETLHEAP_BUCKET_COLUMNS(ETLHEAP_COLUMN_VALUE) };
    memcpy(out, values, sizeof values);
}

static void add_loss(etlheap_text *text, i64 rounding, i64 outstanding)
{
    char size[ETLHEAP_UNITS_SIZE], share[ETLHEAP_UNITS_SIZE];
    etlheap_units_size(rounding, size);
    etlheap_units_share(rounding, outstanding, share);
    etlheap_text_add_string(text, size);
    if (share[0] != '\0')
        etlheap_text_add_format(text, " (%s)", share);
}

etl_status etlheap_write_rounding_text(const etlheap_histogram *histogram, u32 first, u32 end,
                                       const etlheap_layout *layout, etlheap_sink *sink)
{
    i64 outstanding = 0, count = 0, rounding = 0, lfh_rounding = 0;
    for (u32 i = first; i < end; i++) {
        const etlheap_bucket *const bucket = &histogram->buckets[i];
        outstanding = etl_sat_add_i64(outstanding, bucket->outstanding_size_bytes);
        count += bucket->outstanding_count;
        rounding = etl_sat_add_i64(rounding, bucket->rounding_size_bytes);
        lfh_rounding = etl_sat_add_i64(lfh_rounding, bucket->lfh_rounding_size_bytes);
    }
    if (count == 0 || !etlheap_bucket_has_rounding(histogram, &histogram->buckets[first]))
        return ETL_OK;
    etlheap_text text = { 0 };
    etlheap_text_add_string(&text, "Estimate: rounding up to the heap's granularity adds ");
    add_loss(&text, rounding, outstanding);
    etlheap_text_add_string(&text, " to what is outstanding; in the size classes of the "
                                   "low-fragmentation heap it would be ");
    add_loss(&text, lfh_rounding, outstanding);
    etlheap_text_add_string(&text, ".");
    etlheap_sink_text(sink, "\n");
    etlheap_display_wrap(sink, etlheap_text_of(&text), 0, 0, layout->width);
    const bool failed = text.failed;
    etlheap_text_free(&text);
    return failed ? ETL_ERR_MEMORY : ETL_OK;
}
