/*
 * spikes_find.c - finds the spikes in what a row has outstanding over time.
 *
 * In: the cells of a row in windows that follow each other. Out: spikes, in the order of time.
 *
 *     outstanding      __|\__          ____|\___         a step is a level from its first
 *                     /      \        /                  window on, so it is not a spike
 *     level        __/        \__  __/
 *
 * The level of a window is the most that is outstanding all through a run of windows that touches
 * it, and runs are a tenth of all windows long. (Image processing calls this an opening: a minimum
 * over each run, then the maximum over all runs that touch the window.) A spike is what the peak of
 * a window has above its level. Neighbouring windows are one spike as long as what stands above the
 * level does not fall below half of the lower of two tops between them.
 *
 * Invariant: best_of_runs looks at each value twice, so the time is linear in the number of
 * windows.
 */
#include "spikes_find.h"

#include <stdlib.h>

#include "engine/core/arena.h"

/* What a row has outstanding: at the bounds of windows, and at most inside of each. */
typedef struct spike_curve {
    u32 windows, run;
    i64 *edges;  /* windows + 1 */
    i64 *peaks;  /* by window */
    i64 *levels; /* by window */
    i64 *least;  /* by the end of the run: the least of each run of edges */
    u32 *queue;  /* of best_of_runs */
} spike_curve;

u32 spikes_level_windows(const etlheap_windows *windows)
{
    return (u32)etl_max_u64(1, (windows->window_count + SPIKES_PART / 2) / SPIKES_PART);
}

static bool open_curve(spike_curve *curve, const etlheap_windows *windows)
{
    const size_t count = windows->window_count, run = spikes_level_windows(windows);
    *curve = (spike_curve){ .windows = (u32)count, .run = (u32)run };
    curve->edges = malloc((count + 1) * sizeof *curve->edges);
    curve->peaks = malloc((count + 1) * sizeof *curve->peaks);
    curve->least = malloc((count + run + 1) * sizeof *curve->least);
    curve->levels = malloc((count + 2 * run + 1) * sizeof *curve->levels);
    curve->queue = malloc((count + run + 1) * sizeof *curve->queue);
    return curve->edges != NULL && curve->peaks != NULL && curve->least != NULL &&
           curve->levels != NULL && curve->queue != NULL;
}

static void close_curve(spike_curve *curve)
{
    free(curve->edges);
    free(curve->peaks);
    free(curve->least);
    free(curve->levels);
    free(curve->queue);
}

/* Windows without news are all alike, so their cells are not read. */
static void read_curve(spike_curve *curve, const etlheap_windows *windows, u32 row)
{
    i64 size = etlheap_windows_start_size(windows, row, 0);
    u32 news = etlheap_windows_next_news(windows, row, 0);
    curve->edges[0] = size;
    for (u32 w = 0; w < curve->windows; w++) {
        etlheap_cell cell = { .outstanding_size = size, .peak_size = size };
        if (w == news) {
            (void)etlheap_windows_cell(windows, row, w, &cell);
            news = etlheap_windows_next_news(windows, row, w + 1);
        }
        size = cell.outstanding_size;
        curve->peaks[w] = cell.peak_size;
        curve->edges[w + 1] = size;
    }
}

static bool is_kept(i64 last, i64 value, bool wants_least)
{
    return wants_least ? last < value : last > value;
}

/* The best of each run of `size` neighbours: out[i] of the run that ends with value i. Runs at both
 * ends are cut short. The queue has the values that are still to be the best, the best first. */
static void best_of_runs(const spike_curve *curve, const i64 *values, u32 count, u32 size,
                         bool wants_least, i64 *out)
{
    u32 *const queue = curve->queue;
    u32 first = 0, end = 0;
    for (u32 i = 0; i < count + size - 1; i++) {
        if (i < count) {
            while (end > first && !is_kept(values[queue[end - 1]], values[i], wants_least))
                end--;
            queue[end++] = i;
        }
        if (queue[first] + size <= i)
            first++;
        out[i] = values[queue[first]];
    }
}

/* Runs that touch window i end with the edges from i to i + run. Outside of the windows nothing is
 * known: what reaches one of their ends may have lasted. */
static void find_levels(spike_curve *curve)
{
    const u32 run = curve->run, edges = curve->windows + 1;
    best_of_runs(curve, curve->edges, edges, run, true, curve->least);
    best_of_runs(curve, curve->least, edges + run - 1, run + 1, false, curve->levels);
    memmove(curve->levels, curve->levels + run, curve->windows * sizeof *curve->levels);
}

/* What stands above the levels of both windows at the edge between them. */
static i64 above_edge(const spike_curve *curve, u32 window)
{
    const i64 before = curve->levels[window - 1], after = curve->levels[window];
    const i64 above = curve->edges[window] - (before > after ? before : after);
    return above > 0 ? above : 0;
}

bool spikes_find(const etlheap_windows *windows, u32 row, found_spikes *out)
{
    spike_curve curve;
    bool ok = windows->window_count > 0 && open_curve(&curve, windows);
    if (!ok)
        return windows->window_count == 0;
    read_curve(&curve, windows, row);
    find_levels(&curve);
    found_spike *spike = NULL;
    i64 dip = 0; /* the least above the level since the top */
    for (u32 w = 0; ok && w < curve.windows; w++) {
        const i64 height = curve.peaks[w] - curve.levels[w];
        if (spike != NULL) {
            const i64 above = above_edge(&curve, w);
            dip = above < dip ? above : dip;
            if (height <= 0 ||
                dip < (spike->height_size < height ? spike->height_size : height) / 2)
                spike = NULL;
        }
        if (height <= 0)
            continue;
        if (spike == NULL) {
            ok = ETLHEAP_PUSH(out, ((found_spike){ .row = row, .first = w, .top = w }));
            if (!ok)
                break;
            spike = &out->at[out->count - 1];
        }
        spike->end = w + 1;
        if (height <= spike->height_size)
            continue;
        spike->height_size = height;
        spike->peak_size = curve.peaks[w];
        spike->top = w;
        dip = INT64_MAX;
    }
    close_curve(&curve);
    return ok;
}
