/*
 * windows_steepest.c - finds the window in which a row adds the most bytes per second.
 */
#include "engine/engine.h"
#include "parser/base.h"

__extension__ typedef __int128 i128;

/* Rates are compared as fractions, which are exact whatever the lengths of the windows. */
static bool is_steeper(const etlheap_steepest *a, const etlheap_steepest *b)
{
    return (i128)a->size * (b->to_ns - b->from_ns) > (i128)b->size * (a->to_ns - a->from_ns);
}

bool etlheap_windows_find_steepest(const etlheap_windows *windows, u32 row, etlheap_steepest *out)
{
    etlheap_steepest best = { .size = 0, .to_ns = 1 };
    for (u32 w = 0; w < windows->window_count; w++) {
        const etlheap_time_range range = windows->windows[w];
        etlheap_cell cell;
        if (range.to_ns <= range.from_ns || !etlheap_windows_cell(windows, row, w, &cell))
            continue;
        const etlheap_steepest found = { .from_ns = range.from_ns,
                                         .to_ns = range.to_ns,
                                         .size = cell.impacting_size };
        if (is_steeper(&found, &best))
            best = found;
    }
    if (best.size > 0)
        *out = best;
    return best.size > 0;
}

i64 etlheap_steepest_rate(const etlheap_steepest *rise)
{
    const i128 rate = (i128)rise->size * 1000000000 / (rise->to_ns - rise->from_ns);
    return rate > INT64_MAX ? INT64_MAX : (i64)rate;
}
