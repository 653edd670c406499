/*
 * join.c - the stacks that scanning could not settle on the spot.
 *
 * A stack piece names its event by exact time and thread. Its event is older,
 * so it lies in this slice or in an earlier one, never in a later one: pieces
 * are used up slice by slice, and it is the events that wait, for two seconds of
 * trace time (latest user half observed: 0.40 s). The cases:
 *
 *  - A kernel part comes first, on the event's CPU; the user part comes when the
 *    thread returns to user mode, maybe on another CPU, much later.
 *  - VirtualAlloc events of some Windows versions carry no thread. Such an event
 *    is found by time and CPU (or time and process for a user part), and learns
 *    its thread from its first piece.
 *  - The user part is written once for all kernel parts that the thread left
 *    since it entered the kernel: it goes to every event of the thread that has
 *    a kernel part, no user part, and is not later than the piece.
 *
 * Sources: etl-events.md D.3 and D.4 (TraceEvent's behaviour and observation).
 */
#include "join.h"

#include <stdlib.h>

#define PATIENCE_NS ((i64)2 * 1000 * 1000 * 1000)

/* Hash chains over `waiting`, made anew per slice. */
typedef struct chain_set {
    u32 *by_event;  /* same time and thread; index + 1 of the newest */
    u32 *by_thread; /* those with a kernel part only */
    u32 mask;
} chain_set;

static bool gather(stack_join *join, scan_output *tasks, u32 task_count);
static bool use_keys(deferred_stacks *deferred, scan_output *task);
static bool make_chains(stack_join *join, chain_set *out);
static bool attach_piece(stack_join *join, chain_set *chains, deferred_stacks *deferred,
                         const stack_piece *piece);
static bool settle_waiting(stack_join *join, deferred_stacks *deferred, i64 end_ticks);

void join_open(stack_join *join, const timebase *base)
{
    *join = (stack_join){ .patience_ticks = timebase_span(base, PATIENCE_NS) };
}

void join_close(stack_join *join)
{
    ETLHEAP_VECTOR_FREE(&join->waiting);
    ETLHEAP_VECTOR_FREE(&join->slots);
    ETLHEAP_VECTOR_FREE(&join->pieces);
}

bool join_slice(stack_join *join, deferred_stacks *deferred, scan_output *tasks, u32 task_count,
                i64 end_ticks)
{
    for (u32 i = 0; i < task_count; i++) {
        if (!use_keys(deferred, &tasks[i]))
            return false;
    }
    if (!gather(join, tasks, task_count))
        return false;
    bool ok = true;
    if (join->pieces.count > 0) {
        chain_set chains = { 0 };
        ok = make_chains(join, &chains);
        for (size_t i = 0; ok && i < join->pieces.count; i++)
            ok = attach_piece(join, &chains, deferred, &join->pieces.at[i]);
        free(chains.by_event);
        free(chains.by_thread);
    }
    return ok && settle_waiting(join, deferred, end_ticks);
}

static bool use_keys(deferred_stacks *deferred, scan_output *task)
{
    for (size_t i = 0; i < task->key_uses.count; i++) {
        const key_use *const use = &task->key_uses.at[i];
        stack_ref *const stack = &task->events.at[use->event].stack;
        if (!deferred_use(deferred, use->key, false, use->ticks, stack))
            return false;
    }
    return true;
}

static int by_time(const void *a, const void *b)
{
    const stack_piece *const x = a, *const y = b;
    if (x->ticks != y->ticks)
        return x->ticks < y->ticks ? -1 : 1;
    if (x->event_ticks != y->event_ticks)
        return x->event_ticks < y->event_ticks ? -1 : 1;
    if (x->tid != y->tid)
        return x->tid < y->tid ? -1 : 1;
    return (int)x->part - (int)y->part;
}

static bool gather(stack_join *join, scan_output *tasks, u32 task_count)
{
    join->pieces.count = 0;
    for (u32 i = 0; i < task_count; i++) {
        scan_output *const task = &tasks[i];
        for (size_t k = 0; k < task->pieces.count; k++) {
            if (!ETLHEAP_PUSH(&join->pieces, task->pieces.at[k]))
                return false;
        }
        for (size_t k = 0; k < task->events.count; k++) {
            memory_event *const event = &task->events.at[k];
            if (!op_wants_stack(event->op) || event->stack != STACK_NONE)
                continue;
            const waiting_event row = { .ticks = event->ticks,
                                        .event = event,
                                        .pid = event->pid,
                                        .tid = event->tid,
                                        .cpu = event->cpu };
            if (!ETLHEAP_PUSH(&join->waiting, row))
                return false;
        }
    }
    if (join->pieces.count > 0)
        qsort(join->pieces.at, join->pieces.count, sizeof *join->pieces.at, by_time);
    return true;
}

static u32 *chain_of_event(const chain_set *chains, i64 ticks, u32 tid)
{
    const u64 hash = etlheap_hash_u64((u64)ticks ^ (u64)tid << 40);
    return &chains->by_event[(u32)(hash >> 32) & chains->mask];
}

static u32 *chain_of_thread(const chain_set *chains, u32 tid)
{
    return &chains->by_thread[(u32)(etlheap_hash_u64(tid) >> 32) & chains->mask];
}

static void link_event(stack_join *join, const chain_set *chains, u32 index)
{
    waiting_event *const row = &join->waiting.at[index];
    u32 *const head = chain_of_event(chains, row->ticks, row->tid);
    row->next = *head;
    *head = index + 1;
}

static void link_thread(stack_join *join, const chain_set *chains, u32 index)
{
    waiting_event *const row = &join->waiting.at[index];
    u32 *const head = chain_of_thread(chains, row->tid);
    row->next_of_thread = *head;
    *head = index + 1;
}

static bool make_chains(stack_join *join, chain_set *out)
{
    u32 size = 64;
    while (size < join->waiting.count && size < (u32)1 << 30)
        size *= 2;
    out->mask = size - 1;
    out->by_event = calloc(size, sizeof *out->by_event);
    out->by_thread = calloc(size, sizeof *out->by_thread);
    if (out->by_event == NULL || out->by_thread == NULL || join->waiting.count >= UINT32_MAX)
        return false;
    for (u32 i = 0; i < join->waiting.count; i++) {
        const waiting_event *const row = &join->waiting.at[i];
        link_event(join, out, i);
        if (row->has_kernel && !row->has_user)
            link_thread(join, out, i);
    }
    return true;
}

static bool lacks_part(const waiting_event *row, stack_part part)
{
    return part == PART_KERNEL ? !row->has_kernel : !row->has_user;
}

/* How well an event without a thread fits: 2 same CPU, 1 same process. A
 * kernel or whole part is always written on the event's own CPU. */
static int closeness(const waiting_event *row, const stack_piece *piece)
{
    if (row->cpu == piece->cpu)
        return 2;
    return piece->part == PART_USER && row->pid == piece->pid ? 1 : 0;
}

/* The link to the closest event of a chain, the oldest of equals; NULL: none. */
static u32 *find_link(stack_join *join, u32 *link, const stack_piece *piece, u32 tid)
{
    u32 *best = NULL;
    int best_closeness = 1;
    for (; *link != 0; link = &join->waiting.at[*link - 1].next) {
        const waiting_event *const row = &join->waiting.at[*link - 1];
        if (row->ticks != piece->event_ticks || row->tid != tid || !lacks_part(row, piece->part))
            continue;
        const int close = tid == ETL_NO_ID ? closeness(row, piece) : 1;
        if (close >= best_closeness) {
            best = link;
            best_closeness = close;
        }
    }
    return best;
}

/* The event of a piece, index + 1, 0: none. One without a thread learns it. */
static u32 find_event(stack_join *join, const chain_set *chains, const stack_piece *piece)
{
    const i64 ticks = piece->event_ticks;
    u32 *link = find_link(join, chain_of_event(chains, ticks, piece->tid), piece, piece->tid);
    if (link != NULL)
        return *link;
    link = find_link(join, chain_of_event(chains, ticks, ETL_NO_ID), piece, ETL_NO_ID);
    if (link == NULL)
        return 0;
    const u32 found = *link;
    *link = join->waiting.at[found - 1].next;
    join->waiting.at[found - 1].tid = piece->tid;
    link_event(join, chains, found - 1);
    return found;
}

/* Every event of the thread that a user part serves besides its own. */
static void serve_thread(stack_join *join, chain_set *chains, const stack_piece *piece,
                         stack_ref user)
{
    u32 *link = chain_of_thread(chains, piece->tid);
    while (*link != 0) {
        waiting_event *const row = &join->waiting.at[*link - 1];
        const bool serves = row->tid == piece->tid && row->ticks <= piece->ticks;
        if (serves && !row->has_user) {
            row->has_user = true;
            row->user = user;
        }
        if (serves || row->has_user)
            *link = row->next_of_thread;
        else
            link = &row->next_of_thread;
    }
}

static bool attach_piece(stack_join *join, chain_set *chains, deferred_stacks *deferred,
                         const stack_piece *piece)
{
    stack_ref ref = piece->stack;
    const bool is_kernel = piece->part == PART_KERNEL;
    const u32 found = find_event(join, chains, piece);
    join->pieces_unmatched += found == 0;
    const bool serves_others =
        piece->part == PART_USER && *chain_of_thread(chains, piece->tid) != 0;
    if (found == 0 && !serves_others)
        return true;
    if (piece->is_key && !deferred_use(deferred, piece->key, is_kernel, piece->ticks, &ref))
        return false;
    if (found != 0) {
        waiting_event *const row = &join->waiting.at[found - 1];
        if (is_kernel) {
            row->has_kernel = true;
            row->kernel = ref;
            if (!row->has_user)
                link_thread(join, chains, found - 1);
        } else {
            row->has_user = true;
            row->user = ref;
        }
    }
    if (serves_others)
        serve_thread(join, chains, piece, ref);
    return true;
}

/* An event that goes on waiting leaves a slot number behind as its stack. */
static bool keep_waiting(stack_join *join, waiting_event *row)
{
    if (row->slot == 0) {
        if (join->slots.count >= STACK_NUMBER_MAX || !ETLHEAP_PUSH(&join->slots, STACK_NONE))
            return false;
        row->slot = (u32)join->slots.count;
        row->event->stack = STACK_TAG_WAITING | (row->slot - 1);
    }
    row->event = NULL;
    return true;
}

static bool settle_waiting(stack_join *join, deferred_stacks *deferred, i64 end_ticks)
{
    const i64 oldest = end_ticks == INT64_MAX ? INT64_MAX : end_ticks - join->patience_ticks;
    size_t kept = 0;
    for (size_t i = 0; i < join->waiting.count; i++) {
        waiting_event *const row = &join->waiting.at[i];
        stack_ref ref;
        if (!deferred_pair(deferred, row->kernel, row->user, &ref))
            return false;
        const bool waits = !row->has_user && row->ticks >= oldest;
        if (row->event != NULL)
            row->event->tid = row->tid;
        if (waits && !keep_waiting(join, row))
            return false;
        if (row->slot != 0)
            join->slots.at[row->slot - 1] = ref;
        else if (row->event != NULL)
            row->event->stack = ref;
        if (waits)
            join->waiting.at[kept++] = *row;
    }
    join->waiting.count = kept;
    return true;
}
