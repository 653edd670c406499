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

/* How far the search has come on one CPU. */
typedef struct cpu_search {
    i64 from_ticks; /* earlier events do not matter */
    u32 left;       /* events that may still be looked at */
    u32 taken;      /* of the thread; 2 as well if what is left does not matter */
} cpu_search;

/* Goes back through `count` events of a CPU. True: it has come to its end. */
static bool search(const memory_event *summary, const memory_event *events, size_t count,
                   thread_events *found, cpu_search *at)
{
    for (; count > 0 && at->left > 0 && at->taken < 2; count--, at->left--) {
        const memory_event *const event = &events[count - 1];
        if (event->ticks < at->from_ticks) {
            at->taken = 2;
            break;
        }
        if (event->tid != summary->tid || event->pid != summary->pid || !is_of_block(event))
            continue;
        add_event(found, event);
        at->taken++;
    }
    return at->left == 0 || at->taken == 2;
}

static void note_first(first_trail *first, i64 ticks)
{
    if (!first->is_known || ticks < first->ticks)
        *first = (first_trail){ .ticks = ticks, .is_known = true };
}

/* Nearly always both are among the task's own events, just before the summary. */
bool realloc_trail_begin(scan_output *out)
{
    const size_t event = out->events.count - 2;
    memory_event *const summary = &out->events.at[event];
    thread_events found = { { NULL, NULL } };
    cpu_search at = { .from_ticks = INT64_MIN, .left = TRAIL_EVENTS_MAX };
    search(summary, out->events.at, event, &found, &at);
    if (at.taken == 2 && is_own_free(summary, found.at[0]) && is_own_alloc(summary, found.at[1])) {
        settle(summary, &found);
        note_first(&out->first_trail, summary->ticks);
        return true;
    }
    return ETLHEAP_PUSH(&out->trails, (u32)event);
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

/* Searches one CPU; of the summary's own, only what is before it. False: there may be more of
 * the thread since from_ticks, but too many events of others are behind it. */
static bool search_cpu(const trail_tail *tail, const scan_output *tasks, u32 own,
                       const memory_event *summary, i64 from_ticks, thread_events *found)
{
    cpu_search at = { .from_ticks = from_ticks, .left = TRAIL_EVENTS_MAX };
    for (u32 t = tail->end_task; t > tail->first_task; t--) {
        const scan_output *const task = &tasks[t - 1];
        size_t count = task->events.count;
        if (t - 1 == own)
            count = (size_t)(summary - task->events.at);
        else if (task->stream != tasks[own].stream)
            count = count_until(task, summary->ticks);
        else if (t - 1 > own)
            count = 0;
        if (search(summary, task->events.at, count, found, &at))
            return at.taken == 2;
    }
    (void)search(summary, tail->events, tail->count, found, &at);
    return at.left > 0 || at.taken == 2;
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

/* Is it certain that neither of the thread's latest two events is the free? What the thread did
 * elsewhere before the two on the summary's own CPU does not matter. */
static bool is_unseen(const trail_tails *tails, const scan_output *tasks, u32 task,
                      const memory_event *summary)
{
    const trail_tail *const own = own_tail(tails, &tasks[task]);
    thread_events found = { { NULL, NULL } };
    bool is_certain = search_cpu(own, tasks, task, summary, INT64_MIN, &found);
    const i64 from_ticks = found.at[1] == NULL ? INT64_MIN : found.at[1]->ticks;
    for (size_t i = 0; is_certain && i < tails->at.count; i++) {
        const trail_tail *const tail = &tails->at.at[i];
        is_certain = tail == own || search_cpu(tail, tasks, task, summary, from_ticks, &found);
    }
    for (u32 i = 0; i < 2; i++)
        is_certain = is_certain && (found.at[i] == NULL || !is_own_free(summary, found.at[i]));
    return is_certain;
}

/* The thread may have been moved to another CPU. */
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

/* Tells each CPU which tasks of the slice are its own. */
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
