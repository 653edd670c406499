/*
 * json_histogram.c - the `histogram` of a report document.
 */
#include "json_histogram.h"

#include "formats/parts/bucket_parts.h"
#include "json_rows.h"

/* Rounding is absent where there is none. */
static void write_bucket(etlheap_json *json, const etlheap_histogram *histogram,
                         const etlheap_bucket *bucket)
{
    const etlheap_field_list columns =
        etlheap_bucket_columns(histogram, etlheap_bucket_has_rounding(histogram, bucket));
    etlheap_value values[ETLHEAP_BUCKET_COLUMN_COUNT];
    etlheap_bucket_values(histogram, bucket, values);
    etlheap_json_object(json, NULL);
    etlheap_json_values(json, &columns, values);
    etlheap_json_object_close(json);
}

void etlheap_json_histogram(etlheap_json *json, const etlheap_histogram *histogram)
{
    etlheap_json_object(json, "histogram");
    etlheap_json_string(json, "by", etlheap_histogram_word(histogram->by));
    etlheap_json_array(json, "buckets");
    for (u32 i = 0; i < histogram->bucket_count; i++)
        write_bucket(json, histogram, &histogram->buckets[i]);
    etlheap_json_array_close(json);
    etlheap_json_object_close(json);
}
