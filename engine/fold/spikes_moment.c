/*
 * spikes_moment.c - finds the moments of spikes, to the tick.
 *
 * In: spikes, each with the window that has its peak. Out: moments. Each window is cut into parts,
 * of which the first with the peak is cut again, until it is one tick:
 *
 *     window   |----------------|----------------|     parts
 *     part                      |---|---|---|---|      ... of the part with the peak
 *
 * All spikes share each reading of the events, which costs far more than a part does. So each
 * spike's window is cut into as many parts as there is room for, and two readings do unless the
 * recording is long. Invariant: a part is never shorter than a tick, and of equal peaks the first
 * part is taken.
 */
#include "spikes_moment.h"

#include <stdlib.h>

#include "engine/query/query.h"
#include "engine/result/result.h"

#define PARTS_MIN     64u
#define PARTS_MAX     4096u
#define RANGES_WANTED 65536u /* of all spikes */
#define READINGS_MAX  12u    /* PARTS_MIN to this power is more than there are ticks */

/* Where the peak of a spike is: in [from_ticks, to_ticks). */
typedef struct spike_part {
    i64 from_ticks, to_ticks;
    u32 first, count; /* its ranges in this reading; 0: it is found */
} spike_part;

typedef struct narrowing {
    const etlheap_result *result;
    const etl_session *session;
    const etlheap_windows *groups;
    const found_spikes *found;
    spike_part *parts; /* by spike */
    etlheap_time_range *ranges;
    u32 range_count, part_max; /* of all spikes in this reading; of one */
} narrowing;

static i64 bound_of(const spike_part *part, u32 at)
{
    const u64 span = (u64)(part->to_ticks - part->from_ticks);
    return part->from_ticks +
           (i64)(span / part->count * at + span % part->count * at / part->count);
}

static u32 part_max(size_t spikes)
{
    const u64 room = spikes == 0 ? PARTS_MIN : RANGES_WANTED / spikes;
    return (u32)etl_min_u64(PARTS_MAX, etl_max_u64(PARTS_MIN, room));
}

/* Cuts the parts that are longer than a tick. */
static void cut_parts(narrowing *n)
{
    n->range_count = 0;
    for (size_t i = 0; i < n->found->count; i++) {
        spike_part *const part = &n->parts[i];
        const i64 span = part->to_ticks - part->from_ticks;
        part->first = n->range_count;
        part->count = span <= 1 ? 0 : (u32)etl_min_u64((u64)span, n->part_max);
        for (u32 k = 0; k < part->count; k++)
            n->ranges[n->range_count++] =
                (etlheap_time_range){ etl_time_ns(n->session, bound_of(part, k)),
                                      etl_time_ns(n->session, bound_of(part, k + 1)) };
    }
}

bool spikes_is_of_group(const etlheap_table *groups, u32 group, const etlheap_row *row)
{
    const etlheap_row *const of = &groups->rows[group];
    bool is_same = row->kind == of->kind;
    for (u32 k = 0; is_same && k < groups->group_by_count; k++)
        is_same = etlheap_row_compare_key(row, of, groups->group_by[k]) == 0;
    return is_same;
}

/* The row of another table of the same groups. */
static u32 row_in(const etlheap_table *table, const etlheap_table *groups, u32 group)
{
    for (u32 i = 0; i < table->row_count; i++) {
        if (spikes_is_of_group(groups, group, &table->rows[i]))
            return i;
    }
    return ETLHEAP_NO_INDEX;
}

static i64 peak_in(const etlheap_windows *windows, u32 row, u32 window)
{
    etlheap_cell cell;
    return etlheap_windows_cell(windows, row, window, &cell)
               ? cell.peak_size
               : etlheap_windows_start_size(windows, row, window);
}

static void choose_parts(narrowing *n, const etlheap_windows *windows)
{
    for (size_t i = 0; i < n->found->count; i++) {
        spike_part *const part = &n->parts[i];
        if (part->count == 0)
            continue;
        const u32 row = row_in(windows->table, n->groups->table, n->found->at[i].row);
        u32 best = 0;
        i64 peak = INT64_MIN;
        for (u32 k = 0; k < part->count; k++) {
            const i64 own = peak_in(windows, row, part->first + k);
            best = own > peak ? k : best;
            peak = own > peak ? own : peak;
        }
        const i64 from = bound_of(part, best), to = bound_of(part, best + 1);
        part->from_ticks = from;
        part->to_ticks = to;
    }
}

static etl_status narrow(narrowing *n, const etlheap_query *query, etl_error *err)
{
    for (u32 reading = 0; reading < READINGS_MAX; reading++) {
        etlheap_windows *windows;
        cut_parts(n);
        if (n->range_count == 0)
            return ETL_OK;
        const etlheap_windows_options options = { .size = sizeof options,
                                                  .ranges = n->ranges,
                                                  .range_count = n->range_count };
        const etl_status status = etlheap_windows_make(n->result, query, &options, &windows, err);
        if (status != ETL_OK)
            return status;
        choose_parts(n, windows);
        etlheap_windows_free(windows);
    }
    return ETL_OK;
}

etl_status spikes_find_moments(const etlheap_result *result, const etlheap_query *query,
                               const etlheap_windows *groups, const found_spikes *found, i64 *at_ns,
                               etl_error *err)
{
    const etl_session *const session = result->base.base;
    narrowing n = { .result = result, .session = session, .groups = groups, .found = found };
    n.parts = calloc(found->count + 1, sizeof *n.parts);
    n.part_max = part_max(found->count);
    n.ranges = calloc(found->count * n.part_max + 1, sizeof *n.ranges);
    etl_status status = n.parts != NULL && n.ranges != NULL ? ETL_OK : etl_no_memory(err);
    for (size_t i = 0; status == ETL_OK && i < found->count; i++) {
        const etlheap_time_range *const window = &groups->windows[found->at[i].top];
        n.parts[i].from_ticks = etl_time_ticks(session, window->from_ns);
        n.parts[i].to_ticks = etl_time_ticks(session, window->to_ns);
    }
    if (status == ETL_OK)
        status = narrow(&n, query, err);
    for (size_t i = 0; status == ETL_OK && i < found->count; i++)
        at_ns[i] = query_end_ns(session, n.parts[i].to_ticks);
    free(n.parts);
    free(n.ranges);
    return status;
}
