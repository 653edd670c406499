/*
 * realloc_frees.c - gives the free that a moving realloc logs the realloc's stack. realloc_frees.h
 * has the cases.
 *
 * In: the events of a slice that have their stacks, and blocks of earlier slices. Out: stacks of
 * frees, set in events or by rank. Invariant: a free that has a stack of its own keeps it.
 */
#include "realloc_frees.h"

#include <stdlib.h>

/* A realloc of the slice whose free is of an earlier one. */
typedef struct earlier_free {
    i64 ticks;
    const memory_event *summary;
} earlier_free;

typedef ETLHEAP_VECTOR(earlier_free) earlier_frees;

static bool waits(stack_ref stack)
{
    return (stack & STACK_TAG_MASK) == STACK_TAG_WAITING;
}

/* A free that sleeps and has no stack of its own yet gets the realloc's, or follows it. */
static void set_fallback(sleeping_free *row, const memory_event *summary)
{
    if (row->has_stack || summary->stack == STACK_NONE)
        return;
    if (waits(summary->stack)) {
        row->follows = 1 + (summary->stack & STACK_NUMBER_MAX);
        row->follows_shard = summary->shard;
    } else {
        row->of_realloc = summary->stack;
    }
}

/* The same for a free of this slice. One that did not fall asleep does so if the realloc waits. */
static bool follow_in_slice(free_stacks *frees, memory_event *event, const memory_event *summary)
{
    if (waits(event->stack)) {
        set_fallback(&frees->sleeping.at[event->stack & STACK_NUMBER_MAX], summary);
        return true;
    }
    if (event->stack != STACK_NONE || !waits(summary->stack)) {
        event->stack = event->stack != STACK_NONE ? event->stack : summary->stack;
        return true;
    }
    sleeping_free row = { .ticks = event->ticks,
                          .pid = event->pid,
                          .tid = event->tid,
                          .rank = FREE_RANK_NONE,
                          .address = event->address };
    set_fallback(&row, summary);
    if (frees->sleeping.count > STACK_NUMBER_MAX || !ETLHEAP_PUSH(&frees->sleeping, row))
        return false;
    event->stack = STACK_TAG_WAITING | (u32)(frees->sleeping.count - 1);
    return true;
}

static bool follow_task(free_stacks *frees, const free_stacks_slice *slice, u32 number,
                        earlier_frees *earlier)
{
    const scan_output *const task = &slice->tasks[number];
    bool ok = true;
    for (size_t i = 0; ok && i < task->realloc_frees.count; i++) {
        const realloc_free *const row = &task->realloc_frees.at[i];
        const memory_event *const summary = &task->events.at[row->summary];
        if (summary->stack == STACK_NONE)
            continue;
        if (row->task == 0) {
            ok = ETLHEAP_PUSH(earlier, (earlier_free){ row->ticks, summary });
            continue;
        }
        const u32 of = row->task == REALLOC_FREE_SAME_TASK ? number : row->task - 1;
        memory_event *const event = &slice->tasks[of].events.at[row->event];
        if (!free_stacks_is_late(slice, event->ticks, summary->ticks))
            ok = follow_in_slice(frees, event, summary);
    }
    return ok;
}

static int by_time(const void *a, const void *b)
{
    const earlier_free *const x = a, *const y = b;
    return (x->ticks > y->ticks) - (x->ticks < y->ticks);
}

static bool is_free_of(const sleeping_free *row, const earlier_free *realloc)
{
    const memory_event *const summary = realloc->summary;
    return row->ticks == realloc->ticks && row->tid == summary->tid && row->pid == summary->pid &&
           row->address == summary[1].address;
}

/* The realloc that logged a free; NULL: none of the list. */
static const earlier_free *realloc_of(const earlier_frees *earlier, const sleeping_free *row)
{
    size_t low;
    ETL_BISECT(low, 0, earlier->count, earlier->at[low].ticks < row->ticks);
    for (; low < earlier->count && earlier->at[low].ticks == row->ticks; low++) {
        if (is_free_of(row, &earlier->at[low]))
            return &earlier->at[low];
    }
    return NULL;
}

/* Frees of earlier slices have ranks, so a known stack is resolved at once. */
static bool follow_earlier(free_stacks *frees, const free_stacks_slice *slice,
                           earlier_frees *earlier)
{
    bool ok = true;
    if (earlier->count == 0)
        return true;
    qsort(earlier->at, earlier->count, sizeof *earlier->at, by_time);
    for (size_t i = 0; ok && i < frees->sleeping.count; i++) {
        sleeping_free *const row = &frees->sleeping.at[i];
        const earlier_free *const found = realloc_of(earlier, row);
        if (found == NULL || free_stacks_is_late(slice, row->ticks, found->summary->ticks))
            continue;
        set_fallback(row, found->summary);
        if (row->of_realloc != STACK_NONE)
            ok = free_stacks_resolve(frees, row, row->of_realloc);
        row->of_realloc = STACK_NONE;
    }
    return ok;
}

static int by_number(const void *a, const void *b)
{
    const resolved_block *const x = a, *const y = b;
    if (x->shard != y->shard)
        return x->shard < y->shard ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

/* Reallocs that frees follow have their stacks, or never will. */
static bool resolve_followers(free_stacks *frees, const resolved_block *resolved, size_t count)
{
    bool ok = true, has_any = false;
    for (size_t i = 0; !has_any && i < frees->sleeping.count; i++)
        has_any = frees->sleeping.at[i].follows != 0;
    if (!has_any || count == 0)
        return true;
    resolved_block *const sorted = malloc(count * sizeof *sorted);
    if (sorted == NULL)
        return false;
    memcpy(sorted, resolved, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, by_number);
    for (size_t i = 0; ok && i < frees->sleeping.count; i++) {
        sleeping_free *const row = &frees->sleeping.at[i];
        const resolved_block wanted = { .number = row->follows - 1, .shard = row->follows_shard };
        const resolved_block *const found =
            row->follows == 0 ? NULL : bsearch(&wanted, sorted, count, sizeof *sorted, by_number);
        if (found == NULL)
            continue;
        row->follows = 0;
        if (!row->has_stack && found->stack != STACK_NONE)
            ok = free_stacks_resolve(frees, row, found->stack);
    }
    free(sorted);
    return ok;
}

bool realloc_frees_follow(free_stacks *frees, const free_stacks_slice *slice,
                          const resolved_block *resolved, size_t resolved_count)
{
    /* Numbers that are resolved may have been given out again in this slice, so they come first. */
    bool ok = resolve_followers(frees, resolved, resolved_count);
    earlier_frees earlier = { 0 };
    for (u32 i = 0; ok && i < slice->task_count; i++)
        ok = follow_task(frees, slice, i, &earlier);
    ok = ok && follow_earlier(frees, slice, &earlier);
    ETLHEAP_VECTOR_FREE(&earlier);
    return ok;
}
