/*
 * windows_growth.c - finds the largest lasting rise: where outstanding memory goes to a new level.
 *
 * In: the cells of windows. Out: the row and the two windows between which it rises most.
 *
 * Every curve moves up and down all the time, so the rise must last: from i to j, where the levels
 * before i were low and those after j stay high. Levels are taken at the bounds of windows. A tenth
 * of them, before i and after j, are examined:
 *
 *     high(i)  three quarters of the levels before i, and level i, are not above it
 *     low(j)   three quarters of the levels after j, and level j, are not below it
 *     growth   low(j) - high(i)
 *
 *     size                    ┌──┐      ┌─────────── low(j)
 *               ┌┐    ┌┐      │  │   ┌──┘
 *     high(i) ──┘└────┘└──────┘  └───┘
 *                                    i  j
 *
 * So neither a spike nor a dip is a rise unless it is longer than a quarter of a tenth of the
 * windows. The rise with the largest growth² / (j - i) wins: four times the time is worth it only
 * for twice the growth. That finds a step at its place, and all of a steady growth. But a spike
 * shortly before a step rises from the same level to the same level. So growth is weighted by the
 * number of levels that keep below high(i) or above low(j): after such a spike some do not. Levels
 * beyond the ends of the trace count as keeping.
 *
 * At first only points with a full tenth of levels on each side are tried. If no row has such a
 * rise, points near the ends are tried with the levels that they have. Invariant: the score is
 * computed in integers of 128 bits, which is why growth is capped at 256 TiB.
 */
#include <stdlib.h>

#include "engine/core/arena.h"
#include "engine/engine.h"

#define POINTS_MAX 1000u
#define SHARE      10u /* of all levels that are looked at on each side */

__extension__ typedef unsigned __int128 u128;

/* 39 KiB on the stack, so that no function that uses it can run out of memory. */
typedef struct level_curve {
    const etlheap_windows *windows;
    u32 stride; /* windows between two levels */
    u32 last;   /* number of the last level */
    u32 reach;  /* how many levels are looked at */
    i64 levels[POINTS_MAX + 1];
    i64 high[POINTS_MAX + 1], low[POINTS_MAX + 1];
    i64 sorted[POINTS_MAX + 1];
    u32 above[POINTS_MAX + 1], below[POINTS_MAX + 1]; /* compared levels above high, below low */
    bool is_strict; /* both sides must have all levels that are looked at */
} level_curve;

typedef struct rise {
    u32 from, to;
    u64 growth; /* 0: none */
    u32 agreed; /* levels looked at that keep to it */
} rise;

/* A rise of a row. */
typedef struct row_rise {
    rise at;
    u32 row;
    bool is_strict; /* with a past and a future: better than any without */
    i64 before_size, after_size;
} row_rise;

static bool open_curve(level_curve *curve, const etlheap_windows *windows);
static void read_row(level_curve *curve, u32 row);
static rise find_rise(const level_curve *curve);
static bool is_better(const rise *a, const rise *b);

/* The best rise of a row. One without a past or a future counts only if `any`. */
static row_rise rise_of_row(level_curve *curve, u32 row, bool any)
{
    read_row(curve, row);
    curve->is_strict = true;
    rise at = find_rise(curve);
    const bool is_strict = at.growth > 0;
    if (!is_strict && any) {
        curve->is_strict = false;
        at = find_rise(curve);
    }
    return (row_rise){ .at = at,
                       .row = row,
                       .is_strict = is_strict,
                       .before_size = curve->high[at.from],
                       .after_size = curve->low[at.to] };
}

/* Puts a rise among the best `max`, the best first; the first of equal ones. */
static void put_rise(row_rise *best, u32 *count, u32 max, const row_rise *found)
{
    u32 at = *count;
    while (at > 0 && is_better(&found->at, &best[at - 1].at))
        at--;
    if (at >= max)
        return;
    *count += *count < max ? 1 : 0;
    memmove(best + at + 1, best + at, (*count - 1 - at) * sizeof *best);
    best[at] = *found;
}

static etlheap_growth growth_of(const etlheap_windows *windows, u32 stride, const row_rise *found)
{
    const u32 first = found->at.from * stride, to = found->at.to * stride;
    const u32 end = to < windows->window_count ? to : windows->window_count;
    return (etlheap_growth){ .row = found->row,
                             .first_window = first,
                             .window_count = end - first,
                             .from_ns = windows->windows[first].from_ns,
                             .to_ns = windows->windows[end - 1].to_ns,
                             .before_size = found->before_size,
                             .after_size = found->after_size };
}

/* Finds the best rises of rows [first, end). */
static u32 find_rises(const etlheap_windows *windows, u32 first, u32 end, etlheap_growth *out,
                      u32 max)
{
    level_curve curve;
    row_rise best[ETLHEAP_RISES_MAX];
    bool has_strict = false;
    u32 count = 0;
    if (!open_curve(&curve, windows))
        return 0;
    for (u32 r = first; r < end; r++) {
        const row_rise found = rise_of_row(&curve, r, !has_strict);
        if (found.is_strict && !has_strict)
            count = 0;
        has_strict |= found.is_strict;
        if (found.at.growth > 0)
            put_rise(best, &count, max, &found);
    }
    for (u32 i = 0; i < count; i++)
        out[i] = growth_of(windows, curve.stride, &best[i]);
    return count;
}

u32 etlheap_windows_find_rises(const etlheap_windows *windows, etlheap_growth *out, u32 max)
{
    max = max < ETLHEAP_RISES_MAX ? max : ETLHEAP_RISES_MAX;
    return max == 0 ? 0 : find_rises(windows, 0, windows->table->row_count, out, max);
}

bool etlheap_windows_find_growth(const etlheap_windows *windows, u32 row, etlheap_growth *out)
{
    const u32 count = windows->table->row_count;
    if (row == ETLHEAP_NO_INDEX)
        return find_rises(windows, 0, count, out, 1) > 0;
    return row < count && find_rises(windows, row, row + 1, out, 1) > 0;
}

static bool open_curve(level_curve *curve, const etlheap_windows *windows)
{
    const u32 count = windows->window_count;
    const u32 stride = (count + POINTS_MAX - 1) / POINTS_MAX;
    curve->windows = windows;
    curve->stride = stride;
    for (u32 w = 1; w < count; w++) {
        if (windows->windows[w].from_ns != windows->windows[w - 1].to_ns)
            return false;
    }
    if (count == 0)
        return false;
    curve->last = (count + stride - 1) / stride;
    curve->reach = (u32)etl_max_u64(1, curve->last / SHARE);
    assert(curve->last <= POINTS_MAX);
    return true;
}

static int by_value(const void *a, const void *b)
{
    const i64 x = *(const i64 *)a, y = *(const i64 *)b;
    return (x > y) - (x < y);
}

/* Sorts the levels [from, to]; returns how many there are. */
static u32 sort_levels(level_curve *curve, u32 from, u32 to)
{
    const u32 count = to - from + 1;
    memcpy(curve->sorted, curve->levels + from, count * sizeof *curve->sorted);
    qsort(curve->sorted, count, sizeof *curve->sorted, by_value);
    return count;
}

/* The number of sorted levels outside [low, high]. */
static u32 count_outside(const level_curve *curve, u32 count, i64 low, i64 high)
{
    u32 outside = 0;
    for (u32 i = 0; i < count; i++)
        outside += curve->sorted[i] < low || curve->sorted[i] > high ? 1 : 0;
    return outside;
}

static void read_row(level_curve *curve, u32 row)
{
    const u32 window_count = curve->windows->window_count;
    for (u32 p = 0; p < curve->last; p++)
        curve->levels[p] = etlheap_windows_start_size(curve->windows, row, p * curve->stride);
    etlheap_cell cell;
    (void)etlheap_windows_cell(curve->windows, row, window_count - 1, &cell);
    curve->levels[curve->last] = cell.outstanding_size;
    for (u32 p = 0; p <= curve->last; p++) {
        const i64 level = curve->levels[p];
        u32 count = sort_levels(curve, p < curve->reach ? 0 : p - curve->reach, p);
        const i64 high = curve->sorted[count - 1 - (count - 1) / 4];
        curve->high[p] = high > level ? high : level;
        curve->above[p] = count_outside(curve, count, INT64_MIN, curve->high[p]);
        count = sort_levels(curve, p, (u32)etl_min_u64(curve->last, (u64)p + curve->reach));
        const i64 low = curve->sorted[(count - 1) / 4];
        curve->low[p] = low < level ? low : level;
        curve->below[p] = count_outside(curve, count, curve->low[p], INT64_MAX);
    }
}

/* Growth is capped at 256 TiB, so that the square fits into 128 bits. */
static u128 score(const rise *r, u32 length_of_other)
{
    const u128 growth = (u128)etl_min_u64(r->growth, (u64)1 << 48) * r->agreed;
    return growth * growth * length_of_other;
}

static bool is_better(const rise *a, const rise *b)
{
    const u128 x = score(a, b->to - b->from), y = score(b, a->to - a->from);
    return b->growth == 0 || x > y;
}

static rise find_rise(const level_curve *curve)
{
    rise best = { .growth = 0 };
    const u32 margin = curve->is_strict ? curve->reach : 0;
    if (curve->last < 2 * margin)
        return best;
    for (u32 from = margin; from + 1 <= curve->last - margin; from++) {
        for (u32 to = from + 1; to <= curve->last - margin; to++) {
            if (curve->low[to] <= curve->high[from])
                continue;
            const rise found = {
                .from = from,
                .to = to,
                .growth = (u64)(curve->low[to] - curve->high[from]),
                .agreed = 2 * (curve->reach + 1) - curve->above[from] - curve->below[to],
            };
            if (is_better(&found, &best))
                best = found;
        }
    }
    return best;
}
