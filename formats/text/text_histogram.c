/*
 * text_histogram.c - how sizes or lifetimes are spread, for people.
 *
 * One table for each kind, or kind and process: a line a bucket, with a bar for
 * the bytes in it. Bars of one table have one scale, eighths of a character fine.
 */
#include "formats/io/text_buffer.h"
#include "formats/io/units.h"
#include "formats/parts/bucket_parts.h"
#include "formats/parts/text_parts.h"
#include "formats/writers.h"
#include "text_bar.h"

#include <stdio.h>

#define BAR_COLUMNS 24u

static u32 run_end(const etlheap_histogram *histogram, u32 first);
static void write_heading(const etlheap_histogram *histogram, const etlheap_bucket *bucket,
                          const etlheap_layout *layout, etlheap_sink *sink);
static etl_status write_run(const etlheap_histogram *histogram, u32 first, u32 end,
                            const etlheap_layout *layout, etlheap_sink *sink);

etl_status etlheap_write_buckets_text(const etlheap_histogram *histogram,
                                      const etlheap_layout *layout, etlheap_sink *sink)
{
    etl_status status = ETL_OK;
    for (u32 first = 0; first < histogram->bucket_count && status == ETL_OK;) {
        const u32 end = run_end(histogram, first);
        write_heading(histogram, &histogram->buckets[first], layout, sink);
        status = write_run(histogram, first, end, layout, sink);
        if (status == ETL_OK)
            status = etlheap_write_rounding_text(histogram, first, end, layout, sink);
        first = end;
    }
    return status;
}

/* Where the buckets of one kind and process end. */
static u32 run_end(const etlheap_histogram *histogram, u32 first)
{
    const etlheap_bucket *const of = &histogram->buckets[first];
    u32 end = first + 1;
    for (; end < histogram->bucket_count; end++) {
        const etlheap_bucket *const bucket = &histogram->buckets[end];
        if (bucket->kind != of->kind || bucket->pid != of->pid || bucket->process != of->process)
            break;
    }
    return end;
}

static void write_heading(const etlheap_histogram *histogram, const etlheap_bucket *bucket,
                          const etlheap_layout *layout, etlheap_sink *sink)
{
    etlheap_text heading = { 0 };
    etlheap_text_add_string(&heading, etlheap_kind_name((etlheap_kind)bucket->kind));
    if (bucket->process)
        etlheap_text_add_format(&heading, ", %s (%u)", bucket->process, (unsigned)bucket->pid);
    etlheap_text_add_format(&heading, ", by %s", etlheap_histogram_word(histogram->by));
    etlheap_text_heading(sink, layout, etlheap_text_of(&heading));
    etlheap_text_free(&heading);
}

static void add_bound(etlheap_histogram_by by, u64 value, char out[ETLHEAP_UNITS_SIZE])
{
    const i64 bounded = value > INT64_MAX ? INT64_MAX : (i64)value;
    if (by == ETLHEAP_HISTOGRAM_SIZE)
        etlheap_units_size(bounded, out);
    else
        etlheap_units_estimate(bounded, out); /* "500 us" */
}

/* "64 B to 128 B": the second is the first that is too large. */
static void add_bounds(const etlheap_histogram *histogram, const etlheap_bucket *bucket,
                       etlheap_grid *grid)
{
    char from[ETLHEAP_UNITS_SIZE];
    char to[ETLHEAP_UNITS_SIZE];
    if (bucket->is_open) {
        etlheap_grid_cell(grid, "no beginning");
        etlheap_grid_cell(grid, "or no end");
        return;
    }
    add_bound(histogram->by, bucket->from, from);
    add_bound(histogram->by, bucket->to, to);
    etlheap_grid_cell(grid, from);
    etlheap_grid_cell(grid, to);
}

static etl_status write_run(const etlheap_histogram *histogram, u32 first, u32 end,
                            const etlheap_layout *layout, etlheap_sink *sink)
{
    static const etlheap_column columns[] = {
        { .title = "From", .right = true },
        { .title = "Below", .right = true },
        { .title = "Count", .right = true },
        { .title = "Size", .right = true },
        { .title = "Outstanding Count", .right = true },
        { .title = "Outstanding Size", .right = true },
        { .title = "Size" },
    };
    etlheap_grid grid = etlheap_grid_begin(columns, (u32)ETL_COUNT_OF(columns));
    etlheap_text bar = { 0 };
    i64 largest = 0;
    for (u32 i = first; i < end; i++) {
        const i64 size = histogram->buckets[i].size_bytes;
        largest = size > largest ? size : largest;
    }
    for (u32 i = first; i < end; i++) {
        const etlheap_bucket *const bucket = &histogram->buckets[i];
        etlheap_grid_row(&grid, ETLHEAP_EMPHASIS_NONE);
        add_bounds(histogram, bucket, &grid);
        etlheap_grid_count(&grid, bucket->count);
        etlheap_grid_size(&grid, bucket->size_bytes);
        etlheap_grid_count(&grid, bucket->outstanding_count);
        etlheap_grid_size(&grid, bucket->outstanding_size_bytes);
        text_bar_draw(bucket->size_bytes, largest, BAR_COLUMNS, &bar);
        etlheap_grid_cell(&grid, etlheap_text_of(&bar));
    }
    const bool failed = bar.failed;
    etlheap_text_free(&bar);
    const etl_status status = etlheap_grid_write(&grid, layout, sink);
    return failed ? ETL_ERR_MEMORY : status;
}
