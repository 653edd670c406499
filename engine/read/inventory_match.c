/*
 * inventory_match.c - checks for `info` whether every stack walk has its event. inventory_match.h
 * says what that is good for.
 *
 * In: stack pieces that were not matched while scanning, and the targets (events that could have a
 * stack) of each task. Out: counts of matched and unmatched stacks.
 *
 *     runs    | targets of task 0, by time | task 1 | ...      kept until patience is over
 *     piece   looked for in its own task's run first, then in all runs that reach its time
 *
 * A task's targets come in order of time except for ties, so each is kept as one sorted run.
 * Invariant: runs are dropped only if all their targets are older than the patience (forget_old),
 * so the count does not depend on where slices are cut.
 */
#include "inventory_match.h"

#include <stdlib.h>

#define PATIENCE_NS ((i64)2 * 1000 * 1000 * 1000)

static bool keep_targets(inventory_matcher *matcher, const scan_output *task);

/* The event of a stack. */
typedef enum found_target { FOUND_NONE, FOUND_FREE, FOUND_OTHER } found_target;

static found_target find_target(const inventory_matcher *matcher, size_t own,
                                const stack_piece *piece);

void inventory_match_open(inventory_matcher *matcher, const timebase *base)
{
    *matcher = (inventory_matcher){ .oldest_ticks = INT64_MIN,
                                    .patience_ticks = timebase_span(base, PATIENCE_NS) };
}

void inventory_match_close(inventory_matcher *matcher)
{
    for (size_t i = 0; i < matcher->runs.count; i++)
        free(matcher->runs.at[i].at);
    ETLHEAP_VECTOR_FREE(&matcher->runs);
}

static void forget_old(inventory_matcher *matcher, i64 end_ticks)
{
    if (end_ticks == INT64_MAX)
        return;
    const i64 oldest = etl_sat_add_i64(end_ticks, -matcher->patience_ticks);
    matcher->oldest_ticks = oldest;
    size_t kept = 0;
    for (size_t i = 0; i < matcher->runs.count; i++) {
        const inventory_run run = matcher->runs.at[i];
        if (run.at[run.count - 1].ticks >= oldest)
            matcher->runs.at[kept++] = run;
        else
            free(run.at);
    }
    matcher->runs.count = kept;
}

bool inventory_match_slice(inventory_matcher *matcher, const scan_output *tasks, u32 task_count,
                           i64 end_ticks)
{
    matcher->old_runs = matcher->runs.count;
    for (u32 i = 0; i < task_count; i++) {
        if (!keep_targets(matcher, &tasks[i]))
            return false;
    }
    size_t own = matcher->old_runs; /* the task's run, or where it would be */
    for (u32 i = 0; i < task_count; i++) {
        matcher->matched += tasks[i].met;
        for (size_t k = 0; k < tasks[i].pieces.count; k++) {
            const found_target found = find_target(matcher, own, &tasks[i].pieces.at[k]);
            matcher->matched += found != FOUND_NONE;
            matcher->unmatched += found == FOUND_NONE;
            matcher->of_frees += found == FOUND_FREE;
        }
        matcher->of_frees += tasks[i].item_free_stacks;
        own += tasks[i].targets.count > 0;
    }
    forget_old(matcher, end_ticks);
    return true;
}

bool inventory_count_keys(keyed_stacks *keyed, const scan_output *tasks, u32 task_count)
{
    for (u32 i = 0; i < task_count; i++) {
        for (size_t k = 0; k < tasks[i].key_uses.count; k++) {
            const key_use *const use = &tasks[i].key_uses.at[k];
            if (!keyed_pass(keyed, use->key, false, use->ticks))
                return false;
        }
        for (size_t k = 0; k < tasks[i].pieces.count; k++) {
            const stack_piece *const piece = &tasks[i].pieces.at[k];
            if (piece->is_key &&
                !keyed_pass(keyed, piece->key, piece->part == PART_KERNEL, piece->ticks))
                return false;
        }
    }
    return true;
}

u64 inventory_match_bytes(const inventory_matcher *matcher)
{
    u64 targets = 0;
    for (size_t i = 0; i < matcher->runs.count; i++)
        targets += matcher->runs.at[i].count;
    return targets * sizeof(inventory_target);
}

static int by_time(const void *a, const void *b)
{
    const inventory_target *const x = a, *const y = b;
    if (x->ticks != y->ticks)
        return x->ticks < y->ticks ? -1 : 1;
    if (x->tid != y->tid)
        return x->tid < y->tid ? -1 : 1;
    return (x->cpu > y->cpu) - (x->cpu < y->cpu);
}

/* Sorts a run. Elements out of order are nearly always ties, so only these are sorted. */
static void sort_run(inventory_run *run)
{
    bool is_ordered = true;
    for (size_t i = 1; i < run->count; i++)
        is_ordered = is_ordered && run->at[i - 1].ticks <= run->at[i].ticks;
    if (!is_ordered)
        qsort(run->at, run->count, sizeof *run->at, by_time);
    for (size_t first = 0; is_ordered && first < run->count;) {
        size_t end = first + 1;
        while (end < run->count && run->at[end].ticks == run->at[first].ticks)
            end++;
        if (end - first > 1)
            qsort(run->at + first, end - first, sizeof *run->at, by_time);
        first = end;
    }
}

static bool keep_targets(inventory_matcher *matcher, const scan_output *task)
{
    if (task->targets.count == 0)
        return true;
    inventory_run run = { malloc(task->targets.count * sizeof *run.at), task->targets.count };
    if (run.at == NULL || !ETLHEAP_PUSH(&matcher->runs, run)) {
        free(run.at);
        return false;
    }
    memcpy(run.at, task->targets.at, run.count * sizeof *run.at);
    sort_run(&run);
    return true;
}

/* The first target at or after a time, thread and CPU; NULL: none. */
static const inventory_target *target_from(const inventory_run *run, i64 ticks, u32 tid, u16 cpu)
{
    const inventory_target wanted = { .ticks = ticks, .tid = tid, .cpu = cpu };
    size_t low;
    ETL_BISECT(low, 0, run->count, by_time(&run->at[low], &wanted) < 0);
    return low < run->count ? &run->at[low] : NULL;
}

/* What a stack of the thread of `first` at its time belongs to. If the thread logged several events
 * at that time, it is a free's only if all of them free memory. */
static found_target target_kind(const inventory_run *run, const inventory_target *first)
{
    const inventory_target *const end = run->at + run->count;
    bool frees = true;
    for (const inventory_target *at = first;
         at < end && at->ticks == first->ticks && at->tid == first->tid; at++)
        frees = frees && at->frees;
    return frees ? FOUND_FREE : FOUND_OTHER;
}

/* Finds the piece's event in the run. It is of the same thread, or names no thread: then on the
 * same CPU, or anywhere for a user part, which may be written on another CPU. Targets are sorted,
 * so one look at each place is enough. */
static found_target find_in_run(const inventory_run *run, const stack_piece *piece)
{
    const i64 ticks = piece->event_ticks;
    if (ticks < run->at[0].ticks || ticks > run->at[run->count - 1].ticks)
        return FOUND_NONE;
    const inventory_target *found = target_from(run, ticks, piece->tid, 0);
    if (found != NULL && found->ticks == ticks && found->tid == piece->tid)
        return target_kind(run, found);
    const bool is_user = piece->part == PART_USER;
    found = target_from(run, ticks, ETL_NO_ID, is_user ? 0 : piece->cpu);
    const bool has = found != NULL && found->ticks == ticks && found->tid == ETL_NO_ID &&
                     (is_user || found->cpu == piece->cpu);
    return has ? FOUND_OTHER : FOUND_NONE;
}

static found_target find_target(const inventory_matcher *matcher, size_t own,
                                const stack_piece *piece)
{
    found_target found =
        own < matcher->runs.count ? find_in_run(&matcher->runs.at[own], piece) : FOUND_NONE;
    const bool is_recent = piece->event_ticks >= matcher->oldest_ticks;
    const size_t oldest = is_recent ? 0 : matcher->old_runs;
    for (size_t i = matcher->runs.count; found == FOUND_NONE && i > oldest; i--)
        found = find_in_run(&matcher->runs.at[i - 1], piece);
    return found;
}
