/*
 * realloc_trail.c - finds the alloc and free that belong to a moving realloc. realloc_trail.h
 * explains why and draws the search.
 *
 * In: the events of a task, then of the slice, with the latest events of each CPU from earlier
 * slices. Out: the ops of the two rows of each moving realloc, decided.
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

/* An event, and the task of the slice that has it: + 1; 0: an earlier slice had it. */
typedef struct trail_event {
    const memory_event *event; /* NULL: not found */
    u32 task;
} trail_event;

/* What a search from the summary backwards has found. */
typedef struct trail {
    trail_event alloc, free;
    u32 skipped;       /* events of the thread about other blocks */
    bool is_disturbed; /* another thread has an event at the new address */
    bool is_over;
} trail;

static bool is_of_thread(const memory_event *summary, const memory_event *event)
{
    return event->tid == summary->tid && event->pid == summary->pid && is_of_block(event);
}

static bool is_at(const memory_event *row, const memory_event *event)
{
    return event->address == row->address && event->heap == row->heap && event->pid == row->pid;
}

/*
 * Does an event of the thread show that no older event belongs to the realloc? Between its own
 * alloc and the summary, the thread does nothing else with the new address. The old block exists
 * before the alloc does, so only a block of another size can be at the old address later.
 */
static bool refutes(const trail *found, const memory_event *summary, const memory_event *event)
{
    const memory_event *const fresh = &summary[0], *const old = &summary[1];
    if (is_at(fresh, event))
        return true;
    return is_at(old, event) &&
           (found->free.event != NULL || event->op != OP_ALLOC || event->size == old->size);
}

/* Looks at the next older event. */
static void look_at(trail *found, const memory_event *summary, const trail_event *next)
{
    const memory_event *const event = next->event;
    if (!is_of_thread(summary, event)) {
        found->is_disturbed |= is_of_block(event) && is_at(&summary[0], event);
    } else if (found->free.event == NULL && is_own_free(summary, event)) {
        found->free = *next;
    } else if (is_own_alloc(summary, event)) {
        found->alloc = *next;
        found->is_over = true;
    } else {
        /* One realloc is two rows. */
        found->skipped += event->op != OP_REALLOC_OLD && event->op != OP_REALLOC_FREED &&
                          event->op != OP_REALLOC_ALONE && event->op != OP_REALLOC_CLOSE;
        found->is_over = refutes(found, summary, event) || found->skipped > TRAIL_SKIPPED_MAX;
    }
}

/* Are both the realloc's own? If the thread's events are not next to each other, another thread's
 * event at the new address shows that the alloc is that of an older block. */
static bool is_whole(const trail *found)
{
    return found->alloc.event != NULL && found->free.event != NULL &&
           (found->skipped == 0 || !found->is_disturbed);
}

/* Sets the ops of the realloc's rows. */
static void set_ops(memory_event *summary, const trail *found)
{
    memory_event *const old = &summary[1];
    if (is_whole(found))
        old->op = OP_REALLOC_FREED;
    else if (found->alloc.event != NULL && found->free.event == NULL && found->skipped == 0)
        old->since_alloc = 1 + ticks_between(found->alloc.event->ticks, summary->ticks);
}

/* How far a search of one CPU is. */
typedef struct cpu_search {
    u32 left; /* events that may still be looked at */
    u32 task; /* as in trail_event */
} cpu_search;

/* Goes back through `count` events of a CPU, until the search is over. */
static void follow(trail *found, const memory_event *summary, const memory_event *events,
                   size_t count, cpu_search *cpu)
{
    const u32 tid = summary->tid;
    const u64 address = summary->address;
    for (; count > 0 && cpu->left > 0 && !found->is_over; count--, cpu->left--) {
        const memory_event *const event = &events[count - 1];
        if (event->tid == tid || event->address == address)
            look_at(found, summary, &(trail_event){ event, cpu->task });
    }
}

/* The thread's latest events before the summary, and others at the new address: the last one
 * first. */
typedef struct thread_events {
    trail_event at[TRAIL_GATHERED_MAX];
    u32 count, wanted;
    u32 taken; /* from the CPU that is searched */
} thread_events;

/* Is `a` later than `b`? Within one tick, the free is: it follows the alloc. */
static bool is_later(const memory_event *a, const memory_event *b)
{
    if (a->ticks != b->ticks)
        return a->ticks > b->ticks;
    return a->op == OP_FREE && b->op != OP_FREE;
}

static void add_event(thread_events *found, const trail_event *added)
{
    u32 place = found->count;
    while (place > 0 && is_later(added->event, found->at[place - 1].event))
        place--;
    if (place == found->wanted)
        return;
    found->count += found->count < found->wanted;
    for (u32 i = found->count - 1; i > place; i--)
        found->at[i] = found->at[i - 1];
    found->at[place] = *added;
}

/* Goes back through `count` events of a CPU, until as many events of the thread as are wanted are
 * found. */
static void gather(thread_events *found, const memory_event *summary, const memory_event *events,
                   size_t count, cpu_search *cpu)
{
    for (; count > 0 && cpu->left > 0 && found->taken < found->wanted; count--, cpu->left--) {
        const memory_event *const event = &events[count - 1];
        if (!is_of_thread(summary, event))
            continue;
        add_event(found, &(trail_event){ event, cpu->task });
        found->taken++;
    }
}

static void note_first(first_trail *first, i64 ticks)
{
    if (!first->is_known || ticks < first->ticks)
        *first = (first_trail){ .ticks = ticks, .is_known = true };
}

/* Notes the free, which may have no stack of its own. */
static bool note_free(scan_output *own, u32 summary, const trail_event *free, u32 index)
{
    const realloc_free row = {
        .ticks = free->event->ticks, .summary = summary, .task = free->task, .event = index
    };
    return ETLHEAP_PUSH(&own->realloc_frees, row);
}

/* Searches within the task: nearly always both events are there, just before the summary. */
bool realloc_trail_begin(scan_output *out, bool wants_frees)
{
    const size_t event = out->events.count - 2;
    memory_event *const summary = &out->events.at[event];
    trail found = { 0 };
    cpu_search cpu = { .left = TRAIL_EVENTS_MAX, .task = REALLOC_FREE_SAME_TASK };
    follow(&found, summary, out->events.at, event, &cpu);
    if (!is_whole(&found))
        return ETLHEAP_PUSH(&out->trails, (u32)event);
    set_ops(summary, &found);
    note_first(&out->first_trail, summary->ticks);
    return !wants_frees ||
           note_free(out, (u32)event, &found.free, (u32)(found.free.event - out->events.at));
}

/* The number of a CPU's events at or before a time. */
static size_t count_until(const memory_event *events, size_t count, i64 ticks)
{
    size_t low;
    ETL_BISECT(low, 0, count, events[low].ticks <= ticks);
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

/* One realloc whose trail is searched. */
typedef struct trail_case {
    scan_output *tasks;
    memory_event *summary;
    u32 task, event; /* of the summary */
} trail_case;

/* Where the events of a search go: into a trail, on one CPU, or into a list, for several. */
typedef struct trail_sink {
    trail *trail;
    thread_events *gathered; /* without a trail */
} trail_sink;

static void take(const trail_sink *sink, const memory_event *summary, const memory_event *events,
                 size_t count, cpu_search *cpu)
{
    if (sink->trail != NULL)
        follow(sink->trail, summary, events, count, cpu);
    else
        gather(sink->gathered, summary, events, count, cpu);
}

static bool has_all(const trail_sink *sink)
{
    return sink->trail != NULL ? sink->trail->is_over
                               : sink->gathered->taken == sink->gathered->wanted;
}

/* Searches one CPU for events later than `after`; on the summary's own CPU only before it. False if
 * there may be more of the thread, with too many events of others after them. */
static bool search_cpu(const trail_tail *tail, const trail_case *at, i64 after,
                       const trail_sink *sink)
{
    cpu_search cpu = { .left = TRAIL_EVENTS_MAX };
    const bool is_whole_cpu = after == INT64_MIN;
    const scan_output *const tasks = at->tasks;
    for (u32 t = tail->end_task; t > tail->first_task; t--) {
        const memory_event *const events = tasks[t - 1].events.at;
        const size_t count = count_before(&tasks[t - 1], &tasks[at->task], at->summary);
        if (count == 0)
            continue;
        const size_t first = is_whole_cpu ? 0 : count_until(events, count, after);
        cpu.task = t;
        take(sink, at->summary, events + first, count - first, &cpu);
        if (has_all(sink) || cpu.left == 0)
            return has_all(sink);
        if (first > 0)
            return true;
    }
    const size_t first = is_whole_cpu ? 0 : count_until(tail->events, tail->count, after);
    cpu.task = 0;
    take(sink, at->summary, tail->events + first, tail->count - first, &cpu);
    return cpu.left > 0 || has_all(sink);
}

static const trail_tail *own_tail(const trail_tails *tails, const scan_output *task)
{
    const trail_tail *tail = tails->at.at;
    while (tail->stream != task->stream)
        tail++;
    return tail;
}

/* Notes the realloc's free, if questions need it. False if memory runs out. */
static bool note_case(const trail_tails *tails, const trail_case *at, const trail_event *free)
{
    if (!tails->wants_frees)
        return true;
    const size_t index =
        free->task == 0 ? 0 : (size_t)(free->event - at->tasks[free->task - 1].events.at);
    return note_free(&at->tasks[at->task], at->event, free, (u32)index);
}

static bool complete_on_own_cpu(trail_tails *tails, const trail_case *at)
{
    trail found = { 0 };
    const trail_sink sink = { .trail = &found };
    (void)search_cpu(own_tail(tails, &at->tasks[at->task]), at, INT64_MIN, &sink);
    set_ops(at->summary, &found);
    if (!is_whole(&found))
        return true;
    note_first(&tails->first, at->summary->ticks);
    return note_case(tails, at, &found.free);
}

/* Gathers the thread's two latest events. What the thread did elsewhere before the two on the
 * summary's own CPU does not matter. True if it is certain that they are the latest. */
static bool gather_latest(const trail_tails *tails, const trail_case *at, thread_events *found)
{
    const trail_tail *const own = own_tail(tails, &at->tasks[at->task]);
    const trail_sink sink = { .gathered = found };
    *found = (thread_events){ .wanted = 2 };
    bool is_certain = search_cpu(own, at, INT64_MIN, &sink);
    const i64 after = found->count < 2 ? INT64_MIN : etl_sat_add_i64(found->at[1].event->ticks, -1);
    for (size_t i = 0; is_certain && i < tails->at.count; i++) {
        const trail_tail *const tail = &tails->at.at[i];
        found->taken = 0;
        is_certain = tail == own || search_cpu(tail, at, after, &sink);
    }
    return is_certain;
}

/* Is neither of the thread's two latest events the free, and the last one not the alloc? */
static bool is_unseen(const memory_event *summary, const thread_events *found)
{
    for (u32 i = 0; i < found->count; i++) {
        if (is_own_free(summary, found->at[i].event))
            return false;
    }
    return found->count == 0 || !is_own_alloc(summary, found->at[0].event);
}

/* The realloc logged the free if that is the thread's last event, even if the alloc was lost. */
static bool note_last(const trail_tails *tails, const trail_case *at, const thread_events *found)
{
    return found->count == 0 || !is_own_free(at->summary, found->at[0].event) ||
           note_case(tails, at, &found->at[0]);
}

/* Until the first trail, a realloc without one is alone. */
static bool set_alone(const trail_tails *tails, const trail_case *at)
{
    memory_event *const summary = at->summary;
    thread_events found;
    summary[1].op = OP_REALLOC_ALONE;
    if (!gather_latest(tails, at, &found))
        return true;
    if (is_unseen(summary, &found))
        summary[0].op = OP_REALLOC_UNSEEN;
    return note_last(tails, at, &found);
}

/* Completes a trail on all CPUs, because the thread may have moved. */
static bool complete_on_all_cpus(const trail_tails *tails, const trail_case *at)
{
    memory_event *const summary = at->summary;
    if (summary[1].op == OP_REALLOC_FREED)
        return true;
    if (!tails->first.is_known || summary->ticks <= tails->first.ticks)
        return set_alone(tails, at);
    thread_events gathered = { .wanted = TRAIL_GATHERED_MAX };
    const trail_sink sink = { .gathered = &gathered };
    for (size_t i = 0; i < tails->at.count; i++) {
        gathered.taken = 0;
        (void)search_cpu(&tails->at.at[i], at, INT64_MIN, &sink);
    }
    trail found = { 0 };
    for (u32 i = 0; i < gathered.count && !found.is_over; i++)
        look_at(&found, summary, &gathered.at[i]);
    summary[1].since_alloc = 0;
    set_ops(summary, &found);
    return is_whole(&found) ? note_case(tails, at, &found.free) : note_last(tails, at, &gathered);
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

/* Completes the trails of the slice, first on their own CPUs, then on all. False if memory runs
 * out. */
static bool complete(trail_tails *tails, scan_output *tasks, u32 task_count, bool is_on_own_cpu)
{
    bool ok = true;
    for (u32 t = 0; t < task_count; t++) {
        for (size_t i = 0; ok && i < tasks[t].trails.count; i++) {
            const u32 event = tasks[t].trails.at[i];
            const trail_case at = { tasks, &tasks[t].events.at[event], t, event };
            ok = is_on_own_cpu ? complete_on_own_cpu(tails, &at) : complete_on_all_cpus(tails, &at);
        }
    }
    return ok;
}

bool realloc_trail_end(trail_tails *tails, scan_output *tasks, u32 task_count)
{
    if (!place_tasks(tails, tasks, task_count))
        return false;
    for (u32 t = 0; t < task_count; t++) {
        if (tasks[t].first_trail.is_known)
            note_first(&tails->first, tasks[t].first_trail.ticks);
    }
    if (!complete(tails, tasks, task_count, true) || !complete(tails, tasks, task_count, false))
        return false;
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
