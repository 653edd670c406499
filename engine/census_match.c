/* census_match.c - see census_match.h. */
#include "census_match.h"

#include <stdlib.h>

#define PATIENCE_NS ((i64)2 * 1000 * 1000 * 1000)

static bool has_target(const census_matcher *matcher, const stack_piece *piece);

void census_match_open(census_matcher *matcher, const timebase *base)
{
    *matcher = (census_matcher){ .patience_ticks = timebase_span(base, PATIENCE_NS) };
}

void census_match_close(census_matcher *matcher)
{
    ETLHEAP_VECTOR_FREE(&matcher->targets);
}

static int by_time(const void *a, const void *b)
{
    const census_target *const x = a, *const y = b;
    if (x->ticks != y->ticks)
        return x->ticks < y->ticks ? -1 : 1;
    if (x->tid != y->tid)
        return x->tid < y->tid ? -1 : 1;
    return (x->cpu > y->cpu) - (x->cpu < y->cpu);
}

static void forget_old(census_matcher *matcher, i64 end_ticks)
{
    if (end_ticks == INT64_MAX)
        return;
    const i64 oldest = etl_sat_add_i64(end_ticks, -matcher->patience_ticks);
    size_t kept = 0;
    for (size_t i = 0; i < matcher->targets.count; i++) {
        if (matcher->targets.at[i].ticks >= oldest)
            matcher->targets.at[kept++] = matcher->targets.at[i];
    }
    matcher->targets.count = kept;
}

bool census_match_slice(census_matcher *matcher, deferred_stacks *deferred,
                        const scan_output *tasks, u32 task_count, i64 end_ticks)
{
    for (u32 i = 0; i < task_count; i++) {
        for (size_t k = 0; k < tasks[i].targets.count; k++) {
            if (!ETLHEAP_PUSH(&matcher->targets, tasks[i].targets.at[k]))
                return false;
        }
    }
    if (matcher->targets.count > 0)
        qsort(matcher->targets.at, matcher->targets.count, sizeof *matcher->targets.at, by_time);
    for (u32 i = 0; i < task_count; i++) {
        for (size_t k = 0; k < tasks[i].pieces.count; k++) {
            const stack_piece *const piece = &tasks[i].pieces.at[k];
            const bool matched = has_target(matcher, piece);
            matcher->matched += matched;
            matcher->unmatched += !matched;
            stack_ref unused;
            if (piece->is_key && !deferred_use(deferred, piece->key, piece->part == PART_KERNEL,
                                               piece->ticks, &unused))
                return false;
        }
    }
    forget_old(matcher, end_ticks);
    return true;
}

/* The first target at or after a time, thread and CPU; NULL: none. */
static const census_target *target_from(const census_matcher *matcher, i64 ticks, u32 tid, u16 cpu)
{
    const census_target wanted = { ticks, tid, cpu };
    size_t low = 0, high = matcher->targets.count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (by_time(&matcher->targets.at[middle], &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < matcher->targets.count ? &matcher->targets.at[low] : NULL;
}

/* The same thread, or an event that names none: on the same CPU, or anywhere
 * for a user part, which may be written on another. Targets are sorted, so one
 * look at each place is enough, however many there are of one time. */
static bool has_target(const census_matcher *matcher, const stack_piece *piece)
{
    const i64 ticks = piece->event_ticks;
    const census_target *found = target_from(matcher, ticks, piece->tid, 0);
    if (found != NULL && found->ticks == ticks && found->tid == piece->tid)
        return true;
    const bool is_user = piece->part == PART_USER;
    found = target_from(matcher, ticks, ETL_NO_ID, is_user ? 0 : piece->cpu);
    return found != NULL && found->ticks == ticks && found->tid == ETL_NO_ID &&
           (is_user || found->cpu == piece->cpu);
}
