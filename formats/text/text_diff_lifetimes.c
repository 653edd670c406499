/*
 * text_diff_lifetimes.c - see text_diff_lifetimes.h.
 *
 * Two tables a kind: the lifetimes of all of its blocks by several measures, one below the other,
 * and their spread over steps of 1, 2 and 5. The sides have different numbers of blocks, so bars
 * compare shares: each is as long as its class's part of the blocks that its side freed.
 */
#include "text_diff_lifetimes.h"

#include "formats/io/units.h"
#include "formats/parts/diff_parts.h"
#include "text_bar.h"

#include <stdio.h>

#define BAR_COLUMNS 16u
#define SHARE_WHOLE 1000000000 /* of all blocks of a side */

void text_diff_add_cell(etlheap_grid *grid, etlheap_measure measure, i64 value, bool is_change)
{
    char words[ETLHEAP_UNITS_SIZE];
    etlheap_diff_words(measure, value, is_change, words);
    etlheap_grid_cell(grid, words);
}

static etl_status write_totals(const etlheap_diff *diff, const etlheap_layout *layout,
                               etlheap_sink *sink)
{
    static const etlheap_column columns[] = {
        { .title = "Kind" },
        { .title = "Measure" },
        { .title = "Change", .right = true },
        { .title = "Base", .right = true },
        { .title = "New", .right = true },
    };
    etlheap_grid grid = etlheap_grid_begin(columns, (u32)ETL_COUNT_OF(columns));
    for (u32 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++) {
        const etlheap_change *const change = &diff->totals[kind];
        const u32 count = diff->table.totals[kind].present ? ETLHEAP_DIFF_LIFETIME_MEASURES : 0;
        for (u32 i = 0; i < count; i++) {
            const etlheap_measure m = etlheap_diff_lifetime_measures[i];
            etlheap_grid_row(&grid, ETLHEAP_EMPHASIS_NONE);
            etlheap_grid_cell(&grid, i == 0 ? etlheap_kind_name((etlheap_kind)kind) : "");
            etlheap_grid_cell(&grid, etlheap_measure_title(m));
            text_diff_add_cell(&grid, m, diff->table.totals[kind].measures[m], true);
            text_diff_add_cell(&grid, m, change->base[m], false);
            text_diff_add_cell(&grid, m, change->now[m], false);
        }
    }
    etlheap_text_heading(sink, layout, "Lifetimes");
    return etlheap_grid_write(&grid, layout, sink);
}

static u32 end_of_kind(const etlheap_diff *diff, u32 first)
{
    u32 end = first + 1;
    while (end < diff->lifetime_count && diff->lifetimes[end].kind == diff->lifetimes[first].kind)
        end++;
    return end;
}

/* Of a count of `all`, in billionths: integers, so that every machine draws the same. */
static i64 share_of(i64 count, i64 all)
{
    return all == 0 ? 0 : (i64)((double)count / (double)all * SHARE_WHOLE + 0.5);
}

static void add_bound(etlheap_grid *grid, u64 ns)
{
    char words[ETLHEAP_UNITS_SIZE];
    etlheap_units_estimate(ns > INT64_MAX ? INT64_MAX : (i64)ns, words); /* "500 us" */
    etlheap_grid_cell(grid, words);
}

static etl_status write_classes(const etlheap_diff *diff, u32 first, u32 end,
                                const etlheap_layout *layout, etlheap_sink *sink)
{
    static const etlheap_column columns[] = {
        { .title = "From", .right = true }, { .title = "Below", .right = true },
        { .title = "Base", .right = true }, { .title = "New", .right = true },
        { .title = "Share of the base" },   { .title = "Share of the new side" },
    };
    i64 base = 0, now = 0, largest = 1;
    etlheap_grid grid = etlheap_grid_begin(columns, (u32)ETL_COUNT_OF(columns));
    etlheap_text bar = { 0 };
    for (u32 i = first; i < end; i++) {
        base += diff->lifetimes[i].base_count;
        now += diff->lifetimes[i].new_count;
    }
    for (u32 i = first; i < end; i++) {
        const etlheap_lifetime_class *const lifetimes = &diff->lifetimes[i];
        const i64 shares[] = { share_of(lifetimes->base_count, base),
                               share_of(lifetimes->new_count, now) };
        largest = shares[0] > largest ? shares[0] : largest;
        largest = shares[1] > largest ? shares[1] : largest;
    }
    for (u32 i = first; i < end; i++) {
        const etlheap_lifetime_class *const lifetimes = &diff->lifetimes[i];
        etlheap_grid_row(&grid, ETLHEAP_EMPHASIS_NONE);
        add_bound(&grid, lifetimes->from_ns);
        add_bound(&grid, lifetimes->to_ns);
        etlheap_grid_count(&grid, lifetimes->base_count);
        etlheap_grid_count(&grid, lifetimes->new_count);
        text_bar_draw(share_of(lifetimes->base_count, base), largest, BAR_COLUMNS, &bar);
        etlheap_grid_cell(&grid, etlheap_text_of(&bar));
        text_bar_draw(share_of(lifetimes->new_count, now), largest, BAR_COLUMNS, &bar);
        etlheap_grid_cell(&grid, etlheap_text_of(&bar));
    }
    const bool failed = bar.failed;
    etlheap_text_free(&bar);
    const etl_status status = etlheap_grid_write(&grid, layout, sink);
    return failed ? ETL_ERR_MEMORY : status;
}

etl_status text_diff_write_lifetimes(const etlheap_diff *diff, const etlheap_layout *layout,
                                     etlheap_sink *sink)
{
    etl_status status = write_totals(diff, layout, sink);
    for (u32 first = 0, end; first < diff->lifetime_count && status == ETL_OK; first = end) {
        char heading[64];
        end = end_of_kind(diff, first);
        snprintf(heading, sizeof heading, "%s, by lifetime",
                 etlheap_kind_name((etlheap_kind)diff->lifetimes[first].kind));
        etlheap_text_heading(sink, layout, heading);
        status = write_classes(diff, first, end, layout, sink);
    }
    return status;
}
