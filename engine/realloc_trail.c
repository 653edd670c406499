/* realloc_trail.c - see realloc_trail.h. */
#include "realloc_trail.h"

#include <stdlib.h>

/* order.h takes the highest bit of such a number. */
#define SINCE_MAX ((u64)INT32_MAX - 1)

typedef enum trail_step { TRAIL_ON, TRAIL_END } trail_step;

/* Times are the file's and may be anything. */
static u32 ticks_between(i64 from, i64 to)
{
    const u64 between = to > from ? (u64)to - (u64)from : 0;
    return (u32)etl_min_u64(between, SINCE_MAX);
}

/* What an event before the summary means for it; the events of other threads mean
 * nothing. */
static trail_step step_back(memory_event *summary, const memory_event *before)
{
    memory_event *const fresh = &summary[0], *const old = &summary[1];
    if (before->op >= OP_COMMIT || before->op == OP_COUNT_HEAP || before->tid != fresh->tid ||
        before->pid != fresh->pid)
        return TRAIL_ON;
    const bool same_heap = before->heap == fresh->heap;
    if (before->op == OP_FREE && same_heap && before->address == old->address &&
        old->op == OP_REALLOC_OLD) {
        old->op = OP_REALLOC_FREED;
        return TRAIL_ON;
    }
    if (before->op == OP_ALLOC && same_heap && before->address == fresh->address &&
        before->size == fresh->size) {
        fresh->op = OP_REALLOC_MARK;
        if (old->op == OP_REALLOC_OLD)
            old->since_alloc = 1 + ticks_between(before->ticks, fresh->ticks);
    }
    return TRAIL_END;
}

/* Goes back through `count` events. True: the search is over; else *left are still to be
 * looked at. */
static bool search(memory_event *summary, const memory_event *events, size_t count, u32 *left)
{
    for (; count > 0 && *left > 0; count--, --*left) {
        if (step_back(summary, &events[count - 1]) == TRAIL_END)
            return true;
    }
    return *left == 0;
}

bool realloc_trail_begin(scan_output *out)
{
    const size_t event = out->events.count - 2;
    u32 left = TRAIL_EVENTS_MAX;
    if (search(&out->events.at[event], out->events.at, event, &left))
        return true;
    return ETLHEAP_PUSH(&out->trails, ((open_trail){ (u32)event, left }));
}

static trail_tail *find_tail(const trail_tails *tails, u64 stream)
{
    for (size_t i = 0; i < tails->at.count; i++) {
        if (tails->at.at[i].stream == stream)
            return &tails->at.at[i];
    }
    return NULL;
}

/* Goes on in the tasks of the stream before, and then in what the slices before left. */
static void complete(const trail_tails *tails, scan_output *tasks, u32 task, open_trail trail)
{
    memory_event *const summary = &tasks[task].events.at[trail.event];
    for (u32 t = task; t > 0 && tasks[t - 1].stream == tasks[task].stream; t--) {
        const scan_output *const before = &tasks[t - 1];
        if (search(summary, before->events.at, before->events.count, &trail.left))
            return;
    }
    const trail_tail *const tail = find_tail(tails, tasks[task].stream);
    if (tail != NULL)
        (void)search(summary, tail->events, tail->count, &trail.left);
}

/* Keeps the latest events of the tail and of a task that goes on from it. */
static void extend(trail_tail *tail, const scan_output *task)
{
    const size_t taken = etl_min_u64(task->events.count, TRAIL_EVENTS_MAX);
    const u32 kept = (u32)etl_min_u64(tail->count, TRAIL_EVENTS_MAX - taken);
    memmove(tail->events, tail->events + (tail->count - kept), kept * sizeof *tail->events);
    if (taken > 0)
        memcpy(tail->events + kept, task->events.at + (task->events.count - taken),
               taken * sizeof *tail->events);
    tail->count = kept + (u32)taken;
}

static bool keep_tail(trail_tails *tails, const scan_output *task)
{
    trail_tail *tail = find_tail(tails, task->stream);
    if (tail == NULL) {
        if (!ETLHEAP_RESERVE(&tails->at, 1))
            return false;
        tail = &tails->at.at[tails->at.count++];
        tail->stream = task->stream;
        tail->count = 0;
    }
    extend(tail, task);
    return true;
}

bool realloc_trail_end(trail_tails *tails, scan_output *tasks, u32 task_count)
{
    for (u32 t = 0; t < task_count; t++) {
        for (size_t i = 0; i < tasks[t].trails.count; i++)
            complete(tails, tasks, t, tasks[t].trails.at[i]);
    }
    for (u32 t = 0; t < task_count; t++) {
        if (tasks[t].events.count > 0 && !keep_tail(tails, &tasks[t]))
            return false;
    }
    return true;
}

void realloc_trail_free(trail_tails *tails)
{
    ETLHEAP_VECTOR_FREE(&tails->at);
}
