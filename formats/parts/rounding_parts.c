/*
 * rounding_parts.c - says in words how many bytes heaps add to sizes, below a histogram.
 */
#include "rounding_parts.h"

#include "display.h"
#include "formats/io/text_buffer.h"
#include "formats/io/units.h"

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
