/*
 * json_histogram.c - the `histogram` of a report document.
 */
#include "json_histogram.h"

#include "formats/parts/rounding_parts.h"

static void write_bucket(etlheap_json *json, const etlheap_histogram *histogram,
                         const etlheap_bucket *bucket);

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

/* A bound that there is not, or that no integer has, is null. */
static void write_bucket(etlheap_json *json, const etlheap_histogram *histogram,
                         const etlheap_bucket *bucket)
{
    etlheap_json_object(json, NULL);
    etlheap_json_string(json, etlheap_field_key(ETLHEAP_FIELD_KIND),
                        etlheap_kind_name((etlheap_kind)bucket->kind));
    if (histogram->by_process) {
        etlheap_json_process(json, etlheap_field_key(ETLHEAP_FIELD_PROCESS), bucket->process);
        etlheap_json_u64(json, etlheap_field_key(ETLHEAP_FIELD_PID), bucket->pid);
    }
    if (bucket->is_open)
        etlheap_json_null(json, etlheap_field_key(ETLHEAP_FIELD_FROM));
    else
        etlheap_json_u64(json, etlheap_field_key(ETLHEAP_FIELD_FROM), bucket->from);
    if (bucket->is_open || bucket->to == UINT64_MAX)
        etlheap_json_null(json, etlheap_field_key(ETLHEAP_FIELD_TO));
    else
        etlheap_json_u64(json, etlheap_field_key(ETLHEAP_FIELD_TO), bucket->to);
    etlheap_json_i64(json, etlheap_field_key(ETLHEAP_FIELD_COUNT), bucket->count);
    etlheap_json_i64(json, etlheap_field_key(ETLHEAP_FIELD_SIZE), bucket->size_bytes);
    etlheap_json_i64(json, etlheap_field_key(ETLHEAP_FIELD_OUTSTANDING_COUNT),
                     bucket->outstanding_count);
    etlheap_json_i64(json, etlheap_field_key(ETLHEAP_FIELD_OUTSTANDING_SIZE),
                     bucket->outstanding_size_bytes);
    if (etlheap_bucket_has_rounding(histogram, bucket)) {
        etlheap_json_i64(json, etlheap_field_key(ETLHEAP_FIELD_ROUNDING_SIZE),
                         bucket->rounding_size_bytes);
        etlheap_json_i64(json, etlheap_field_key(ETLHEAP_FIELD_LFH_ROUNDING_SIZE),
                         bucket->lfh_rounding_size_bytes);
    }
    etlheap_json_object_close(json);
}
