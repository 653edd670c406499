/*
 * text_umdh.c - two logs of one process, compared as UMDH does it.
 *
 *     +  6f8178 ( 7e5f88 - ede10)    70a allocs	BackTrace7E5CE0
 *     +     636 (   70a -    d4)	BackTrace7E5CE0	allocations
 *
 *     	module+offset
 *
 *     Total increase == bb0f00 requested +  92580 overhead = c43480
 *
 * All numbers are hexadecimal, without "0x". What is less has "-" in front and no sign of its own;
 * no change at all is a decrease of 0.
 * Source: observed, a comparison of UMDH 6.1, and decreases in comparisons that people have
 * published.
 */
#include "formats/parts/diff_parts.h"
#include "formats/parts/text_parts.h"
#include "formats/writers.h"
#include "formats/parts/layout_read.h"

#include <inttypes.h>

static void write_row(const etlheap_diff *diff, u32 index, etlheap_text *text, etlheap_sink *sink);
static void write_total(const etlheap_diff *diff, etlheap_sink *sink);
static u64 magnitude(i64 value);

void etlheap_write_umdh_text(const etlheap_diff_answer *answer, const etlheap_layout *layout,
                             etlheap_text *text, etlheap_sink *sink)
{
    const etlheap_diff *const diff = answer->diff;
    const u32 count = diff->table.row_count;
    const u32 listed = layout->rows_max == 0 ? count : (u32)etl_min_u64(count, layout->rows_max);
    for (u32 i = 0; i < listed && etlheap_sink_ok(sink); i++)
        write_row(diff, i, text, sink);
    etlheap_text_more(sink, layout, count - listed, listed, "row");
    write_total(diff, sink);
}

static void write_row(const etlheap_diff *diff, u32 index, etlheap_text *text, etlheap_sink *sink)
{
    const etlheap_row *const row = &diff->table.rows[index];
    const etlheap_change *const change = &diff->changes[index];
    const i64 size = row->measures[ETLHEAP_MEASURE_OUTSTANDING_SIZE];
    const i64 count = row->measures[ETLHEAP_MEASURE_OUTSTANDING_COUNT];
    const u64 new_count = (u64)change->now[ETLHEAP_MEASURE_OUTSTANDING_COUNT];
    etlheap_sink_format(
        sink, "\n%c%8" PRIx64 " ( %5" PRIx64 " - %5" PRIx64 ") %6" PRIx64 " allocs\t%s\n",
        size < 0 ? '-' : '+', magnitude(size), (u64)change->now[ETLHEAP_MEASURE_OUTSTANDING_SIZE],
        (u64)change->base[ETLHEAP_MEASURE_OUTSTANDING_SIZE], new_count, row->type_name);
    etlheap_sink_format(sink, "%c%8" PRIx64 " ( %5" PRIx64 " - %5" PRIx64 ")\t%s\tallocations\n\n",
                        count < 0 ? '-' : '+', magnitude(count), new_count,
                        (u64)change->base[ETLHEAP_MEASURE_OUTSTANDING_COUNT], row->type_name);
    const etlheap_indices frames = etlheap_row_frames(&diff->table, row);
    for (u32 i = 0; i < frames.count; i++) {
        etlheap_text_clear(text);
        etlheap_text_add_frame(text, &diff->table.frames[frames.at[i]]);
        etlheap_sink_text(sink, "\t");
        etlheap_sink_printable(sink, etlheap_text_of(text), text->size);
        etlheap_sink_text(sink, "\n");
    }
}

/* Of everything in the logs, not only of what is listed. */
static void write_total(const etlheap_diff *diff, etlheap_sink *sink)
{
    const i64 *const measures = diff->table.totals[ETLHEAP_KIND_HEAP].measures;
    const i64 requested = measures[ETLHEAP_MEASURE_OUTSTANDING_SIZE];
    const i64 overhead = measures[ETLHEAP_MEASURE_OVERHEAD_SIZE];
    const i64 sum = etl_sat_add_i64(requested, overhead);
    const bool is_increase = sum > 0;
    etlheap_sink_format(sink, "\n\nTotal %s == %s%6" PRIx64, is_increase ? "increase" : "decrease",
                        requested != 0 && (requested > 0) != is_increase ? "-" : "",
                        magnitude(requested));
    etlheap_sink_format(sink, " requested + %s%6" PRIx64 " overhead = %6" PRIx64 "\n",
                        overhead != 0 && (overhead > 0) != is_increase ? "-" : "",
                        magnitude(overhead), magnitude(sum));
}

static u64 magnitude(i64 value)
{
    return value < 0 ? 0 - (u64)value : (u64)value;
}
