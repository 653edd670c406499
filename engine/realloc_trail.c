/* realloc_trail.c - see realloc_trail.h. */
#include "realloc_trail.h"

#include <stdlib.h>

/* order.h takes the highest bit of such a number. */
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

/* Is it the alloc, or the free, that belongs to the realloc? Its rows are at `summary`. */
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

/* Is `a` later than `b`? Of one tick, the free is: it follows the alloc. */
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

/* Says what the thread's latest events mean for the realloc. */
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

/* Goes back through `count` events of a CPU, of which *left may still be looked at. True:
 * two of the thread were found, or nothing is left to look at. */
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

/* + 1: the smallest time stands for no time. */
static void note_first(i64 *first_ticks, const memory_event *summary)
{
    const i64 ticks = etl_sat_add_i64(summary->ticks, 1);
    if (*first_ticks == 0 || ticks < *first_ticks)
        *first_ticks = ticks == 0 ? -1 : ticks;
}

/* Nearly always both are among the task's own events, just before the summary. */
bool realloc_trail_begin(scan_output *out)
{
    const size_t event = out->events.count - 2;
    memory_event *const summary = &out->events.at[event];
    thread_events found = { { NULL, NULL } };
    u32 left = TRAIL_EVENTS_MAX, taken = 0;
    search(summary, out->events.at, event, &found, &left, &taken);
    if (taken == 2 && is_own_free(summary, found.at[0]) && is_own_alloc(summary, found.at[1])) {
        settle(summary, &found);
        note_first(&out->first_trail_ticks, summary);
        return true;
    }
    return ETLHEAP_PUSH(&out->trails, (u32)event);
}

static trail_tail *find_tail(const trail_tails *tails, u64 stream)
{
    for (size_t i = 0; i < tails->at.count; i++) {
        if (tails->at.at[i].stream == stream)
            return &tails->at.at[i];
    }
    return NULL;
}

/* How many events of the task are not later than the summary, which is in another stream. */
static size_t count_until(const scan_output *task, i64 ticks)
{
    size_t low = 0, high = task->events.count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (task->events.at[middle].ticks <= ticks)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Searches the stream that ends with task `last`; of the summary's own only what is before
 * it. */
static void search_stream(const trail_tails *tails, const scan_output *tasks, u32 last,
                          const scan_output *own, const memory_event *summary, thread_events *found)
{
    const u64 stream = tasks[last].stream;
    u32 left = TRAIL_EVENTS_MAX, taken = 0;
    for (u32 t = last + 1; t > 0 && tasks[t - 1].stream == stream; t--) {
        const scan_output *const task = &tasks[t - 1];
        size_t count;
        if (stream != own->stream)
            count = count_until(task, summary->ticks);
        else if (task != own)
            count = task < own ? task->events.count : 0;
        else
            count = (size_t)(summary - task->events.at);
        if (search(summary, task->events.at, count, found, &left, &taken))
            return;
    }
    const trail_tail *const tail = find_tail(tails, stream);
    if (tail != NULL)
        (void)search(summary, tail->events, tail->count, found, &left, &taken);
}

/* Streams that have no events in the slice. */
static void search_tails(const trail_tails *tails, const scan_output *tasks, u32 task_count,
                         const memory_event *summary, thread_events *found)
{
    for (size_t i = 0; i < tails->at.count; i++) {
        u32 left = TRAIL_EVENTS_MAX, taken = 0;
        bool is_here = false;
        for (u32 t = 0; t < task_count && !is_here; t++)
            is_here = tasks[t].stream == tails->at.at[i].stream;
        if (!is_here)
            (void)search(summary, tails->at.at[i].events, tails->at.at[i].count, found, &left,
                         &taken);
    }
}

/* The last task of the stream that task `t` is of. */
static u32 last_of_stream(const scan_output *tasks, u32 task_count, u32 t)
{
    while (t + 1 < task_count && tasks[t + 1].stream == tasks[t].stream)
        t++;
    return t;
}

static void complete_on_own_cpu(trail_tails *tails, scan_output *tasks, u32 task_count, u32 task,
                                u32 event)
{
    memory_event *const summary = &tasks[task].events.at[event];
    thread_events found = { { NULL, NULL } };
    search_stream(tails, tasks, last_of_stream(tasks, task_count, task), &tasks[task], summary,
                  &found);
    settle(summary, &found);
    if (summary[1].op == OP_REALLOC_FREED)
        note_first(&tails->first_ticks, summary);
}

/* The thread may have been moved to another CPU. */
static void complete_on_all_cpus(const trail_tails *tails, scan_output *tasks, u32 task_count,
                                 u32 task, u32 event)
{
    memory_event *const summary = &tasks[task].events.at[event];
    thread_events found = { { NULL, NULL } };
    if (summary[1].op == OP_REALLOC_FREED)
        return;
    if (tails->first_ticks == 0 || summary->ticks < tails->first_ticks) {
        summary[1].op = OP_REALLOC_ALONE;
        return;
    }
    for (u32 t = 0; t < task_count; t = last_of_stream(tasks, task_count, t) + 1)
        search_stream(tails, tasks, last_of_stream(tasks, task_count, t), &tasks[task], summary,
                      &found);
    search_tails(tails, tasks, task_count, summary, &found);
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
        const i64 first_ticks = tasks[t].first_trail_ticks;
        if (first_ticks != 0 && (tails->first_ticks == 0 || first_ticks < tails->first_ticks))
            tails->first_ticks = first_ticks;
        for (size_t i = 0; i < tasks[t].trails.count; i++)
            complete_on_own_cpu(tails, tasks, task_count, t, tasks[t].trails.at[i]);
    }
    for (u32 t = 0; t < task_count; t++) {
        for (size_t i = 0; i < tasks[t].trails.count; i++)
            complete_on_all_cpus(tails, tasks, task_count, t, tasks[t].trails.at[i]);
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
