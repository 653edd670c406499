/* bucket_parts.h - the columns of a histogram, and the bytes that heaps add to sizes. */
#ifndef ETLHEAP_BUCKET_PARTS_H
#define ETLHEAP_BUCKET_PARTS_H

#include "columns.h"

/* True if a bucket has rounding: kind heap, in a histogram of sizes. */
static inline bool etlheap_bucket_has_rounding(const etlheap_histogram *histogram,
                                               const etlheap_bucket *bucket)
{
    return histogram->by == ETLHEAP_HISTOGRAM_SIZE && bucket->kind == ETLHEAP_KIND_HEAP;
}

/* X(field, value of the bucket `b` of the histogram `h`). A bound that does not exist, or that no
 * integer holds, is unknown. */
#define ETLHEAP_BUCKET_COLUMNS(X)                                                                  \
    X(KIND, etlheap_value_text(etlheap_kind_name((etlheap_kind)b->kind)))                          \
    X(PROCESS, etlheap_value_process(b->process))                                                  \
    X(PID, etlheap_value_count(b->pid))                                                            \
    X(FROM, etlheap_value_if(!b->is_open, ETLHEAP_VALUE_COUNT, b->from))                           \
    X(TO, etlheap_value_if(!b->is_open && b->to != UINT64_MAX, ETLHEAP_VALUE_COUNT, b->to))        \
    X(COUNT, etlheap_value_number(b->count))                                                       \
    X(SIZE, etlheap_value_number(b->size_bytes))                                                   \
    X(OUTSTANDING_COUNT, etlheap_value_number(b->outstanding_count))                               \
    X(OUTSTANDING_SIZE, etlheap_value_number(b->outstanding_size_bytes))                           \
    X(ROUNDING_SIZE, rounding_value(h, b, b->rounding_size_bytes))                                 \
    X(LFH_ROUNDING_SIZE, rounding_value(h, b, b->lfh_rounding_size_bytes))

typedef enum etlheap_bucket_column {
#define ETLHEAP_BUCKET_ENUM(name, value) ETLHEAP_BUCKET_##name,
    ETLHEAP_BUCKET_COLUMNS(ETLHEAP_BUCKET_ENUM)
#undef ETLHEAP_BUCKET_ENUM
        ETLHEAP_BUCKET_COLUMN_COUNT
} etlheap_bucket_column;

/* The columns of the histogram: processes only if buckets have them. */
etlheap_field_list etlheap_bucket_columns(const etlheap_histogram *histogram, bool has_rounding);
void etlheap_bucket_values(const etlheap_histogram *h, const etlheap_bucket *b,
                           etlheap_value out[ETLHEAP_BUCKET_COLUMN_COUNT]);

/* Writes the sentence below buckets [first, end) of one kind and process, if they have rounding and
 * something is outstanding. ETL_ERR_MEMORY. */
etl_status etlheap_write_rounding_text(const etlheap_histogram *histogram, u32 first, u32 end,
                                       const etlheap_layout *layout, etlheap_sink *sink);

#endif
