/*
 * join.c - gives stacks to the events that scanning could not match on the spot.
 *
 * In: the slice's stack pieces and events that wait, also those of earlier slices. Out: a stack for
 * each event, or a wait for the next slice.
 *
 * A stack piece names its event by exact time and thread. The event is older, so it lies in this
 * slice or an earlier one, never in a later one. So pieces are used up slice by slice, and events
 * wait, for two seconds of trace time (latest user half observed: 0.40 s). join_pieces.c decides
 * these cases:
 *
 *  - A kernel part comes first, on the event's CPU; the user part comes when the thread returns
 *    to user mode, maybe on another CPU and much later.
 *  - VirtualAlloc events of some Windows versions carry no thread. Such an event is found by time
 *    and CPU (or time and process for a user part), and learns its thread from its first piece. A
 *    user part whose kernel part belongs to some other event does not belong to it.
 *  - If a process allocates in another one, the memory belongs to the other process, but the
 *    addresses of the stack belong to itself.
 *  - The user part is written once for all kernel parts that the thread left since it entered the
 *    kernel. It goes to every event of the thread that has a kernel part, has no user part, and is
 *    not later than the piece.
 *  - A user part completes a kernel part only if both come from the same process and the same life
 *    of the thread. A thread that ends in the kernel leaves a kernel part that nothing completes,
 *    and Windows may soon give its id to another thread.
 *
 * Invariant: waiting ends by trace time and by number of events, never by where slices end.
 *
 * Sources: docs/format/events.md, 3 (TraceEvent's behaviour and observation).
 */
#include "join.h"

#include <stdlib.h>

#include "join_pieces.h"
#include "realloc_frees.h"

#define AHEAD 12u /* uses whose keys are fetched before they are looked up */

void join_open(stack_join *join, const timebase *base)
{
    *join = (stack_join){ .patience_ticks = timebase_span(base, WAIT_PATIENCE_NS),
                          .waits_from_ticks = INT64_MAX };
    join->origins = &join->own_origins;
    wait_limit_open(&join->limit, base);
}

void join_open_frees(stack_join *join, const timebase *base, stack_join *opening)
{
    join_open(join, base);
    join->origins = opening->origins;
    join->is_of_frees = true;
}

void join_close(stack_join *join)
{
    ETLHEAP_VECTOR_FREE(&join->waiting);
    ETLHEAP_VECTOR_FREE(&join->own_origins);
    ETLHEAP_VECTOR_FREE(&join->pieces);
    ETLHEAP_VECTOR_FREE(&join->rows);
    ETLHEAP_VECTOR_FREE(&join->scratch);
    ETLHEAP_VECTOR_FREE(&join->turns);
    ETLHEAP_VECTOR_FREE(&join->foreign);
    ETLHEAP_VECTOR_FREE(&join->resolved);
    for (u32 i = 0; i < HEAP_SHARDS; i++)
        ETLHEAP_VECTOR_FREE(&join->numbers[i].unused);
    wait_limit_free(&join->limit);
    recent_free(&join->recent);
}

u64 join_bytes(const stack_join *join)
{
    u64 bytes = join->waiting.capacity * sizeof *join->waiting.at;
    bytes += join->own_origins.capacity * sizeof *join->own_origins.at;
    bytes += join->resolved.capacity * sizeof *join->resolved.at;
    for (u32 i = 0; i < HEAP_SHARDS; i++)
        bytes += join->numbers[i].unused.capacity * sizeof(u32);
    return bytes;
}

static bool use_keys(keyed_stacks *keyed, scan_output *task)
{
    const size_t count = task->key_uses.count;
    for (size_t i = 0; i < count; i++) {
        const key_use *const use = &task->key_uses.at[i];
        if (count - i > 2 * AHEAD)
            keyed_fetch_place(keyed, use[2 * AHEAD].key);
        if (count - i > AHEAD) {
            keyed_fetch_key(keyed, use[AHEAD].key);
            __builtin_prefetch(&task->events.at[use[AHEAD].event].stack);
        }
        stack_ref *const stack = &task->events.at[use->event].stack;
        if (!(use->is_unasked ? keyed_use_again : keyed_use)(keyed, use->key, false, use->ticks,
                                                             stack))
            return false;
    }
    return true;
}

static int by_thread_and_time(const void *a, const void *b)
{
    const thread_turn *const x = a, *const y = b;
    if (x->tid != y->tid)
        return x->tid < y->tid ? -1 : 1;
    return (x->ticks > y->ticks) - (x->ticks < y->ticks);
}

/* Gathers starts and ends of threads. Of earlier slices, only those after the oldest waiting event
 * matter. */
static bool gather_turns(stack_join *join, const scan_output *tasks, u32 task_count)
{
    i64 oldest = INT64_MAX;
    for (size_t i = 0; i < join->waiting.count; i++)
        oldest = join->waiting.at[i].ticks < oldest ? join->waiting.at[i].ticks : oldest;
    size_t kept = 0;
    for (size_t i = 0; i < join->turns.count; i++) {
        if (join->turns.at[i].ticks >= oldest)
            join->turns.at[kept++] = join->turns.at[i];
    }
    join->turns.count = kept;
    for (u32 i = 0; i < task_count; i++) {
        for (size_t k = 0; k < tasks[i].turns.count; k++) {
            if (!ETLHEAP_PUSH(&join->turns, tasks[i].turns.at[k]))
                return false;
        }
    }
    if (join->turns.count > 0)
        qsort(join->turns.at, join->turns.count, sizeof *join->turns.at, by_thread_and_time);
    return true;
}

static waiting_event waiting_event_of(const scan_output *task, memory_event *event)
{
    return (waiting_event){ .ticks = event->ticks,
                            .event = event,
                            .pid = event->pid,
                            .tid = event->tid,
                            .cpu = event->cpu,
                            .op = event->op,
                            .shard = event->shard,
                            .session = stream_session(task->stream) };
}

static bool gather(stack_join *join, scan_output *tasks, u32 task_count)
{
    join->pieces.count = 0;
    if (!gather_turns(join, tasks, task_count))
        return false;
    for (u32 i = 0; i < task_count; i++) {
        scan_output *const task = &tasks[i];
        if (!recent_pass(&join->recent, task))
            return false;
        for (size_t k = 0; k < task->pieces.count; k++) {
            task->pieces.at[k].task = i;
            if (!ETLHEAP_PUSH(&join->pieces, task->pieces.at[k]))
                return false;
        }
        for (size_t k = task->unresolved.count; k > 0; k--) {
            memory_event *const event = &task->events.at[task->unresolved.at[k - 1]];
            const waiting_event row = waiting_event_of(task, event);
            if (!ETLHEAP_PUSH(&join->waiting, row))
                return false;
        }
    }
    return true;
}

static bool has_number(const stack_join *join, const waiting_event *row)
{
    return join->numbers_blocks && row->op < OP_COMMIT;
}

static bool take_origin(stack_join *join, waiting_event *row)
{
    if (join->origins->count >= STACK_NUMBER_MAX ||
        !ETLHEAP_PUSH(join->origins, (waiting_origin){ STACK_NONE, ETL_NO_ID }))
        return false;
    row->origin = (u32)join->origins->count;
    return true;
}

static bool take_number(stack_join *join, waiting_event *row)
{
    waiting_numbers *const numbers = &join->numbers[row->shard];
    if (numbers->unused.count == 0 && numbers->count >= STACK_NUMBER_MAX)
        return false;
    row->origin = numbers->unused.count > 0 ? numbers->unused.at[--numbers->unused.count] + 1
                                            : ++numbers->count;
    return true;
}

/* Lets an event wait on. Its stack is then the number of its origin. */
static bool keep_waiting(stack_join *join, waiting_event *row)
{
    if (row->origin == 0) {
        if (!(has_number(join, row) ? take_number(join, row) : take_origin(join, row)))
            return false;
        row->event->stack = STACK_TAG_WAITING | (row->origin - 1);
        row->has_thread = row->tid != ETL_NO_ID;
    }
    row->event = NULL;
    return true;
}

/* Puts the reference where the event's stack will be looked up. */
static bool tell_stack(stack_join *join, const waiting_event *row, bool waits, stack_ref ref)
{
    if (row->origin == 0) {
        row->event->stack = ref;
    } else if (!has_number(join, row)) {
        join->origins->at[row->origin - 1] = (waiting_origin){ ref, row->tid };
    } else if (!waits) {
        const resolved_block resolved = { row->origin - 1, row->shard, ref,
                                          row->has_thread ? ETL_NO_ID : row->tid };
        return ETLHEAP_PUSH(&join->resolved, resolved) &&
               ETLHEAP_PUSH(&join->numbers[row->shard].unused, resolved.number);
    }
    return true;
}

static void forget_foreign(stack_join *join, i64 oldest)
{
    size_t kept = 0;
    for (size_t i = 0; i < join->foreign.count; i++) {
        if (join->foreign.at[i].event_ticks >= oldest)
            join->foreign.at[kept++] = join->foreign.at[i];
    }
    join->foreign.count = kept;
}

/* The limits of waiting at the end of a slice. */
typedef struct slice_end {
    i64 ticks;
    i64 oldest;  /* what is earlier was waited for long enough */
    i64 horizon; /* what is earlier had too many events after it */
} slice_end;

static slice_end end_of_slice(const stack_join *join, i64 end_ticks)
{
    const bool is_last = end_ticks == INT64_MAX;
    return (slice_end){
        .ticks = end_ticks,
        .oldest = is_last ? INT64_MAX : etl_sat_add_i64(end_ticks, -join->patience_ticks),
        .horizon = wait_limit_horizon(&join->limit, end_ticks),
    };
}

static bool is_limited_at_end(const stack_join *join, const waiting_event *row,
                              const slice_end *end)
{
    if (row->is_limited || row->is_over)
        return row->is_limited;
    if (row->ticks < end->oldest)
        return join_is_limited(join, row, end->ticks);
    return row->op < OP_COMMIT && row->ticks < end->horizon;
}

/* Does the event wait for another slice? */
static bool goes_on_waiting(stack_join *join, const waiting_event *row, const slice_end *end)
{
    if (row->has_user)
        return false;
    const bool is_limited = is_limited_at_end(join, row, end);
    join->limited += is_limited;
    return !is_limited && !row->is_over && row->ticks >= end->oldest;
}

/* The process, other than the event's, that the addresses of the stack belong to; 0: none. Without
 * a user part, the kernel part names it for what outlives processes, which is listed with the one
 * that asked. That is decided once no part can come, because the stack gets an id for it. */
static u32 foreign_pid(const waiting_event *row, bool waits)
{
    const bool is_told = !waits && row->has_kernel && row->stack_pid != row->pid &&
                         row->stack_pid != ETL_NO_ID &&
                         etlheap_kind_has(op_kind(row->op), ETLHEAP_KIND_OUTLIVES);
    return row->walked_pid == 0 && is_told ? row->stack_pid : row->walked_pid;
}

static bool resolve_waiting(stack_join *join, keyed_stacks *keyed, i64 end_ticks)
{
    const slice_end end = end_of_slice(join, end_ticks);
    size_t kept = 0;
    join->resolved.count = 0;
    join->waits_from_ticks = INT64_MAX;
    for (size_t i = 0; i < join->waiting.count; i++) {
        waiting_event *const row = &join->waiting.at[i];
        stack_ref ref;
        const bool waits = goes_on_waiting(join, row, &end);
        const u32 pid = foreign_pid(row, waits);
        if (!keyed_pair(keyed, row->kernel, row->user, &ref) ||
            (pid != 0 && !keyed_foreign(keyed, ref, pid, row->ticks, &ref)))
            return false;
        if (row->event != NULL)
            row->event->tid = row->tid;
        if ((waits && !keep_waiting(join, row)) || !tell_stack(join, row, waits, ref))
            return false;
        if (waits && has_number(join, row) && row->ticks < join->waits_from_ticks)
            join->waits_from_ticks = row->ticks;
        if (waits)
            join->waiting.at[kept++] = *row;
    }
    join->waiting.count = kept;
    forget_foreign(join, end.oldest);
    if (end_ticks != INT64_MAX)
        wait_limit_forget(&join->limit, end.oldest);
    return true;
}

/* Gives the slice's pieces to its events, and those left over to frees. */
static bool attach(stack_join *join, const free_stacks_slice *given, i64 end_ticks)
{
    free_stacks_slice slice = *given;
    slice.pieces = join->pieces.at;
    if (join->frees == NULL)
        return join->pieces.count == 0 || join_attach_pieces(join, slice.keyed, NULL);
    return free_stacks_begin(join->frees) &&
           (join->pieces.count == 0 || join_attach_pieces(join, slice.keyed, &slice)) &&
           free_stacks_finish(join->frees, &slice) &&
           free_stacks_sleep(join->frees, &slice, end_ticks);
}

/* Gives frees without a stack those of the reallocs that logged them. */
static bool follow_reallocs(stack_join *join, const free_stacks_slice *slice)
{
    return join->frees == NULL ||
           realloc_frees_follow(join->frees, slice, join->resolved.at, join->resolved.count);
}

bool join_slice(stack_join *join, keyed_stacks *keyed, scan_output *tasks, u32 task_count,
                i64 end_ticks)
{
    for (u32 i = 0; i < task_count; i++) {
        if (!use_keys(keyed, &tasks[i]))
            return false;
    }
    const free_stacks_slice slice = { .tasks = tasks,
                                      .task_count = task_count,
                                      .keyed = keyed,
                                      .limit = &join->limit,
                                      .patience_ticks = join->patience_ticks };
    return wait_limit_add(&join->limit, tasks, task_count) && gather(join, tasks, task_count) &&
           attach(join, &slice, end_ticks) && resolve_waiting(join, keyed, end_ticks) &&
           follow_reallocs(join, &slice);
}

/* The op of an event that opens lifetimes and has stacks like this one. */
static u8 op_like(u8 op)
{
    return op == OP_CONTRACT ? OP_EXPAND : OP_COMMIT;
}

/*
 * The sort of a piece for a join that wants the events that end ranges instead of those that open
 * them.
 */
static event_sort sort_among_frees(event_sort sort)
{
    switch (sort) {
    case SORT_UNWANTED:
        return SORT_COMMIT;
    case SORT_SPENT:
        return SORT_EXTENT;
    case SORT_BLOCK:
    case SORT_COMMIT:
    case SORT_EXTENT:
        return SORT_UNWANTED;
    default:
        return sort;
    }
}

static bool gather_frees(stack_join *join, const stack_join *opening, const scan_output *tasks,
                         u32 task_count)
{
    join->pieces.count = 0;
    if (!gather_turns(join, tasks, task_count))
        return false;
    for (size_t i = 0; i < opening->pieces.count; i++) {
        stack_piece piece = opening->pieces.at[i];
        piece.sort = sort_among_frees((event_sort)piece.sort) & 15u;
        if (!ETLHEAP_PUSH(&join->pieces, piece))
            return false;
    }
    for (u32 i = 0; i < task_count; i++) {
        for (size_t k = 0; k < tasks[i].range_frees.count; k++) {
            memory_event *const event = &tasks[i].events.at[tasks[i].range_frees.at[k]];
            waiting_event row = waiting_event_of(&tasks[i], event);
            row.op = op_like(event->op);
            if (!ETLHEAP_PUSH(&join->waiting, row))
                return false;
        }
    }
    return true;
}

bool join_frees_slice(stack_join *join, const stack_join *opening, keyed_stacks *keyed,
                      scan_output *tasks, u32 task_count, i64 end_ticks)
{
    bool has_any = join->waiting.count > 0;
    for (u32 i = 0; !has_any && i < task_count; i++)
        has_any = tasks[i].range_frees.count > 0;
    return !has_any || (gather_frees(join, opening, tasks, task_count) &&
                        (join->pieces.count == 0 || join_attach_pieces(join, keyed, NULL)) &&
                        resolve_waiting(join, keyed, end_ticks));
}
