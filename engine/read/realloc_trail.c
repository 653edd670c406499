/*
 * realloc_trail.c - finds the alloc and free that belong to a moving realloc. realloc_trail.h
 * explains why and draws the search.
 *
 * In: the events of a task, then of the slice, with the latest events of each CPU from earlier
 * slices. Out: the ops of the two rows of each moving realloc, settled.
 *
 * Searching starts within the task, where nearly all trails are complete. Only the rest is
 * finished after the scan, over all tasks of the slice. Invariant: the result is the same
 * wherever tasks and slices are cut.
 */
#include "realloc_trail.h"

#include <stdlib.h>

/* The largest distance in ticks; order.h uses the highest bit. */
#define SINCE_MAX ((u64)INT32_MAX - 1)

static bool is_of_block(const memory_event *event)
{
    return event->op < OP_COMMIT && event->op != OP_COUNT_HEAP;
}

/* Times are the file's and may be anything. */
static u32 ticks_between(i64 from, i64 to)
{
    const u64 between = to > from ? (u64)to - (u64)from : 0;
    return (u32)etl_min_u64(between, SINCE_MAX);
}

/* Is the event the realloc's alloc or free? The realloc's rows are at `summary`. */
static bool is_own_alloc(const memory_event *summary, const memory_event *event)
{
    const memory_event *const fresh = &summary[0];
    return event->op == OP_ALLOC && event->heap == fresh->heap &&
           event->address == fresh->address && event->size == fresh->size;
}

static bool is_own_free(const memory_event *summary, const memory_event *event)
{
    const memory_event *const old = &summary[1];
    return event->op == OP_FREE && event->heap == old->heap && event->address == old->address;
}

/* The thread's latest events before the summary, the last one first. */
typedef struct thread_events {
    const memory_event *at[2]; /* NULL: not found */
} thread_events;

/* Is `a` later than `b`? Within one tick, the free is: it follows the alloc. */
static bool is_later(const memory_event *a, const memory_event *b)
{
    if (b == NULL || a->ticks != b->ticks)
        return b == NULL || a->ticks > b->ticks;
    return a->op == OP_FREE && b->op != OP_FREE;
}

static void add_event(thread_events *found, const memory_event *event)
{
    if (is_later(event, found->at[0])) {
        found->at[1] = found->at[0];
        found->at[0] = event;
    } else if (is_later(event, found->at[1])) {
        found->at[1] = event;
    }
}

/* Sets the ops of the realloc's rows by the thread's latest events. */
static void settle(memory_event *summary, const thread_events *found)
{
    const memory_event *const last = found->at[0], *const before = found->at[1];
    memory_event *const old = &summary[1];
    if (last == NULL)
        return;
    if (is_own_alloc(summary, last))
        old->since_alloc = 1 + ticks_between(last->ticks, summary->ticks);
    else if (before != NULL && is_own_free(summary, last) && is_own_alloc(summary, before))
        old->op = OP_REALLOC_FREED;
}

/* Goes back through `count` events of a CPU, at most *left of them. True if two events of the
 * thread were found, or nothing is left to look at. */
static bool search(const memory_event *summary, const memory_event *events, size_t count,
                   thread_events *found, u32 *left, u32 *taken)
{
    for (; count > 0 && *left > 0 && *taken < 2; count--, --*left) {
        const memory_event *const event = &events[count - 1];
        if (event->tid != summary->tid || event->pid != summary->pid || !is_of_block(event))
            continue;
        add_event(found, event);
        ++*taken;
    }
    return *left == 0 || *taken == 2;
}

static void note_first(first_trail *first, i64 ticks)
{
    if (!first->is_known || ticks < first->ticks)
        *first = (first_trail){ .ticks = ticks, .is_known = true };
}

/* Searches within the task: nearly always both events are there, just before the summary. */
bool realloc_trail_begin(scan_output *out)
{
    const size_t event = out->events.count - 2;
    memory_event *const summary = &out->events.at[event];
    thread_events found = { { NULL, NULL } };
    u32 left = TRAIL_EVENTS_MAX, taken = 0;
    search(summary, out->events.at, event, &found, &left, &taken);
    if (taken == 2 && is_own_free(summary, found.at[0]) && is_own_alloc(summary, found.at[1])) {
        settle(summary, &found);
        note_first(&out->first_trail, summary->ticks);
        return true;
    }
    return ETLHEAP_PUSH(&out->trails, (u32)event);
}

/* The number of a CPU's events at or before a time. */
static size_t count_until(const memory_event *events, size_t count, i64 ticks)
{
    size_t low = 0, high = count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (events[middle].ticks <= ticks)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The number of the task's events before the summary, which is an event of `own`. */
static size_t count_before(const scan_output *task, const scan_output *own,
                           const memory_event *summary)
{
    if (task == own)
        return (size_t)(summary - task->events.at);
    if (task->stream != own->stream)
        return count_until(task->events.at, task->events.count, summary->ticks);
    return task > own ? 0 : task->events.count;
}

/* Searches one CPU for events later than `after`; on the summary's own CPU only before it. False if
 * there may be more of the thread, with too many events of others after them. */
static bool search_cpu(const trail_tail *tail, const scan_output *tasks, u32 own,
                       const memory_event *summary, i64 after, thread_events *found)
{
    u32 left = TRAIL_EVENTS_MAX, taken = 0;
    const bool is_whole = after == INT64_MIN;
    for (u32 t = tail->end_task; t > tail->first_task; t--) {
        const memory_event *const events = tasks[t - 1].events.at;
        const size_t count = count_before(&tasks[t - 1], &tasks[own], summary);
        if (count == 0)
            continue;
        const size_t first = is_whole ? 0 : count_until(events, count, after);
        if (search(summary, events + first, count - first, found, &left, &taken))
            return taken == 2;
        if (first > 0)
            return true;
    }
    const size_t first = is_whole ? 0 : count_until(tail->events, tail->count, after);
    (void)search(summary, tail->events + first, tail->count - first, found, &left, &taken);
    return left > 0 || taken == 2;
}

static const trail_tail *own_tail(const trail_tails *tails, const scan_output *task)
{
    const trail_tail *tail = tails->at.at;
    while (tail->stream != task->stream)
        tail++;
    return tail;
}

static void complete_on_own_cpu(trail_tails *tails, scan_output *tasks, u32 task, u32 event)
{
    memory_event *const summary = &tasks[task].events.at[event];
    thread_events found = { { NULL, NULL } };
    (void)search_cpu(own_tail(tails, &tasks[task]), tasks, task, summary, INT64_MIN, &found);
    settle(summary, &found);
    if (summary[1].op == OP_REALLOC_FREED)
        note_first(&tails->first, summary->ticks);
}

/* Is it certain that neither of the thread's two latest events is the free, and that the last one
 * is not the alloc? What the thread did elsewhere before the two on the summary's own CPU does not
 * matter. */
static bool is_unseen(const trail_tails *tails, const scan_output *tasks, u32 task,
                      const memory_event *summary)
{
    const trail_tail *const own = own_tail(tails, &tasks[task]);
    thread_events found = { { NULL, NULL } };
    bool is_certain = search_cpu(own, tasks, task, summary, INT64_MIN, &found);
    const i64 after = found.at[1] == NULL ? INT64_MIN : etl_sat_add_i64(found.at[1]->ticks, -1);
    for (size_t i = 0; is_certain && i < tails->at.count; i++) {
        const trail_tail *const tail = &tails->at.at[i];
        is_certain = tail == own || search_cpu(tail, tasks, task, summary, after, &found);
    }
    for (u32 i = 0; i < 2; i++)
        is_certain = is_certain && (found.at[i] == NULL || !is_own_free(summary, found.at[i]));
    return is_certain && (found.at[0] == NULL || !is_own_alloc(summary, found.at[0]));
}

/* Completes a trail on all CPUs, because the thread may have moved. */
static void complete_on_all_cpus(const trail_tails *tails, scan_output *tasks, u32 task, u32 event)
{
    memory_event *const summary = &tasks[task].events.at[event];
    thread_events found = { { NULL, NULL } };
    if (summary[1].op == OP_REALLOC_FREED)
        return;
    if (!tails->first.is_known || summary->ticks <= tails->first.ticks) {
        summary[1].op = OP_REALLOC_ALONE;
        if (is_unseen(tails, tasks, task, summary))
            summary[0].op = OP_REALLOC_UNSEEN;
        return;
    }
    for (size_t i = 0; i < tails->at.count; i++)
        (void)search_cpu(&tails->at.at[i], tasks, task, summary, INT64_MIN, &found);
    summary[1].since_alloc = 0;
    settle(summary, &found);
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

/* The tail of a CPU that has events in the slice; a new one is empty. NULL without memory. */
static trail_tail *tail_of(trail_tails *tails, u64 stream)
{
    for (size_t i = 0; i < tails->at.count; i++) {
        if (tails->at.at[i].stream == stream)
            return &tails->at.at[i];
    }
    if (!ETLHEAP_RESERVE(&tails->at, 1))
        return NULL;
    trail_tail *const tail = &tails->at.at[tails->at.count++];
    tail->stream = stream;
    tail->count = tail->first_task = tail->end_task = 0;
    return tail;
}

/* Finds the tasks of the slice for each CPU. */
static bool place_tasks(trail_tails *tails, const scan_output *tasks, u32 task_count)
{
    for (size_t i = 0; i < tails->at.count; i++)
        tails->at.at[i].first_task = tails->at.at[i].end_task = 0;
    for (u32 t = 0; t < task_count; t++) {
        if (tasks[t].events.count == 0)
            continue;
        trail_tail *const tail = tail_of(tails, tasks[t].stream);
        if (tail == NULL)
            return false;
        if (tail->end_task == 0)
            tail->first_task = t;
        tail->end_task = t + 1;
    }
    return true;
}

bool realloc_trail_end(trail_tails *tails, scan_output *tasks, u32 task_count)
{
    if (!place_tasks(tails, tasks, task_count))
        return false;
    for (u32 t = 0; t < task_count; t++) {
        if (tasks[t].first_trail.is_known)
            note_first(&tails->first, tasks[t].first_trail.ticks);
        for (size_t i = 0; i < tasks[t].trails.count; i++)
            complete_on_own_cpu(tails, tasks, t, tasks[t].trails.at[i]);
    }
    for (u32 t = 0; t < task_count; t++) {
        for (size_t i = 0; i < tasks[t].trails.count; i++)
            complete_on_all_cpus(tails, tasks, t, tasks[t].trails.at[i]);
    }
    for (size_t i = 0; i < tails->at.count; i++) {
        trail_tail *const tail = &tails->at.at[i];
        for (u32 t = tail->first_task; t < tail->end_task; t++)
            extend(tail, &tasks[t]);
    }
    return true;
}

void realloc_trail_free(trail_tails *tails)
{
    ETLHEAP_VECTOR_FREE(&tails->at);
}
