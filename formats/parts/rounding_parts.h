/* rounding_parts.h - the bytes that heaps add to sizes, in histograms of sizes. */
#ifndef ETLHEAP_ROUNDING_PARTS_H
#define ETLHEAP_ROUNDING_PARTS_H

#include "formats/formats.h"

#include "parser/base.h"

/* True if a bucket has rounding: kind heap, in a histogram of sizes. */
static inline bool etlheap_bucket_has_rounding(const etlheap_histogram *histogram,
                                               const etlheap_bucket *bucket)
{
    return histogram->by == ETLHEAP_HISTOGRAM_SIZE && bucket->kind == ETLHEAP_KIND_HEAP;
}

/* Writes the sentence below buckets [first, end) of one kind and process, if they have rounding and
 * something is outstanding. ETL_ERR_MEMORY. */
etl_status etlheap_write_rounding_text(const etlheap_histogram *histogram, u32 first, u32 end,
                                       const etlheap_layout *layout, etlheap_sink *sink);

#endif
