/*
 * free_stacks.c - finds the call stacks of heap frees, for questions about who freed.
 *
 * In: the stack pieces of a slice that no allocation took, and frees of this slice and earlier
 * ones. Out: the stack of each free of the slice, `resolved` for frees of earlier slices, and the
 * fate of each piece used.
 *
 *     offer    among the LOOK_BACK events before the piece: nearly always found there
 *     finish   all pieces left: a bit filter of their times and threads picks the frees that
 *              they may name; these are sorted, and each piece finds its free by bisection
 *     sleep    frees that still lack a stack are kept, for a limited time and number of events
 *
 * Invariants: a free takes only what the join has left (PIECE_LEFT), so asking who freed does not
 * change the stack of any allocation. Until its slice is in order, a sleeping free's `stack` holds
 * its index in `sleeping`.
 */
#include "free_stacks.h"

#include <stdlib.h>

/* A free gets no stack any more once this many memory events have followed it. */
#define EVENTS_MAX ((u64)1 << 17)

/* How many events before a piece are searched for its free at once. */
#define LOOK_BACK 32u

#define FILTER_BITS 65536u

/* A free that a piece names: an event of the slice, or one that sleeps. */
typedef struct named_free {
    i64 ticks;
    u32 pid, tid;
    u32 task;            /* + 1; 0: of an earlier slice */
    u32 event;           /* in the task, or among what sleeps */
    memory_event *found; /* NULL: of an earlier slice */
    u8 session;
} named_free;

typedef ETLHEAP_VECTOR(named_free) named_frees;

/* A filter of the times and threads that pieces name. */
typedef struct piece_names {
    i64 first_ticks, last_ticks;
    u64 bits[FILTER_BITS / 64];
} piece_names;

static bool wake(free_stacks *frees, const free_stacks_slice *slice, const piece_names *names,
                 named_frees *out);
static bool take_left(free_stacks *frees, const free_stacks_slice *slice, const named_frees *named,
                      stack_piece *piece);

/* The limit of waiting allocations, but with fewer events. */
static wait_limit limit_of(const free_stacks_slice *slice)
{
    wait_limit limit = *slice->limit;
    limit.events_max = EVENTS_MAX;
    return limit;
}

/* May the piece belong to a free? */
static bool may_be_of_free(const stack_piece *piece)
{
    return piece->part != PART_KERNEL && piece->sort != SORT_BLOCK && piece->sort != SORT_COMMIT &&
           piece->sort != SORT_EXTENT && piece->sort != SORT_UNWANTED;
}

bool free_stacks_is_late(const free_stacks_slice *slice, i64 free_ticks, i64 later_ticks)
{
    const wait_limit limit = limit_of(slice);
    return later_ticks > etl_sat_add_i64(free_ticks, slice->patience_ticks) ||
           wait_limit_is_over(&limit, free_ticks, later_ticks);
}

static bool is_late(const free_stacks_slice *slice, i64 free_ticks, const stack_piece *piece)
{
    return free_stacks_is_late(slice, free_ticks, piece->ticks);
}

static bool is_named(const memory_event *event, const stack_piece *piece)
{
    return event->op == OP_FREE && event->ticks == piece->event_ticks && event->tid == piece->tid &&
           event->pid == piece->pid && event->stack == STACK_NONE;
}

static bool stack_of_piece(const free_stacks_slice *slice, const stack_piece *piece, stack_ref *out)
{
    *out = piece->stack;
    return !piece->is_key || keyed_use_again(slice->keyed, piece->key, false, piece->ticks, out);
}

bool free_stacks_resolve(free_stacks *frees, const sleeping_free *row, stack_ref stack)
{
    const resolved_free resolved = { row->rank, row->owner, stack };
    return row->rank == FREE_RANK_NONE || ETLHEAP_PUSH(&frees->resolved, resolved);
}

/* Frees that fell asleep in the slice before, with a realloc whose stack was known, have ranks
 * now. */
bool free_stacks_begin(free_stacks *frees)
{
    bool ok = true;
    frees->resolved.count = frees->left.count = 0;
    for (size_t i = 0; ok && i < frees->sleeping.count; i++) {
        sleeping_free *const row = &frees->sleeping.at[i];
        if (row->of_realloc == STACK_NONE)
            continue;
        ok = free_stacks_resolve(frees, row, row->of_realloc);
        row->of_realloc = STACK_NONE;
    }
    return ok;
}

bool free_stacks_offer(free_stacks *frees, const free_stacks_slice *slice, u32 place)
{
    stack_piece *const piece = &slice->pieces[place];
    memory_event *const events = slice->tasks[piece->task].events.at;
    if (piece->fate != PIECE_LEFT || !may_be_of_free(piece) ||
        (!piece->is_key && piece->stack == STACK_NONE))
        return true;
    for (u32 i = 1; i <= LOOK_BACK && i <= piece->events_before; i++) {
        memory_event *const event = &events[piece->events_before - i];
        if (event->ticks < piece->event_ticks)
            break;
        if (!is_named(event, piece))
            continue;
        piece->fate = PIECE_TAKEN;
        return is_late(slice, event->ticks, piece) || stack_of_piece(slice, piece, &event->stack);
    }
    return ETLHEAP_PUSH(&frees->left, place);
}

static u32 bit_of(i64 ticks, u32 tid)
{
    return (u32)(etlheap_hash_u64((u64)ticks ^ (u64)tid << 40) >> 32) % FILTER_BITS;
}

static void name_pieces(const free_stacks *frees, const free_stacks_slice *slice, piece_names *out)
{
    *out = (piece_names){ .first_ticks = INT64_MAX, .last_ticks = INT64_MIN };
    for (size_t i = 0; i < frees->left.count; i++) {
        const stack_piece *const piece = &slice->pieces[frees->left.at[i]];
        const u32 bit = bit_of(piece->event_ticks, piece->tid);
        out->bits[bit / 64] |= (u64)1 << (bit % 64);
        out->first_ticks =
            piece->event_ticks < out->first_ticks ? piece->event_ticks : out->first_ticks;
        out->last_ticks =
            piece->event_ticks > out->last_ticks ? piece->event_ticks : out->last_ticks;
    }
}

static bool may_be_named(const piece_names *names, i64 ticks, u32 tid)
{
    const u32 bit = bit_of(ticks, tid);
    return ticks >= names->first_ticks && ticks <= names->last_ticks &&
           (names->bits[bit / 64] >> (bit % 64) & 1) != 0;
}

/* By time and thread, then in the order in which they were logged. */
static int by_name(const void *a, const void *b)
{
    const named_free *const x = a, *const y = b;
    if (x->ticks != y->ticks)
        return x->ticks < y->ticks ? -1 : 1;
    if (x->tid != y->tid)
        return x->tid < y->tid ? -1 : 1;
    if (x->task != y->task)
        return x->task < y->task ? -1 : 1;
    return (x->event > y->event) - (x->event < y->event);
}

bool free_stacks_finish(free_stacks *frees, const free_stacks_slice *slice)
{
    if (frees->left.count == 0)
        return true;
    named_frees named = { 0 };
    piece_names *const names = malloc(sizeof *names);
    bool ok = names != NULL;
    if (ok)
        name_pieces(frees, slice, names);
    ok = ok && wake(frees, slice, names, &named);
    if (named.count > 0)
        qsort(named.at, named.count, sizeof *named.at, by_name);
    for (size_t i = 0; ok && i < frees->left.count; i++)
        ok = take_left(frees, slice, &named, &slice->pieces[frees->left.at[i]]);
    ETLHEAP_VECTOR_FREE(&named);
    free(names);
    return ok;
}

/* The first event of a task at or after a time; of an unsorted one, the first. */
static size_t first_at(const scan_output *task, i64 ticks)
{
    size_t low;
    ETL_BISECT(low, 0, task->is_unsorted ? 0 : task->events.count,
               task->events.at[low].ticks < ticks);
    return low;
}

static bool wake_task(const free_stacks_slice *slice, u32 number, const piece_names *names,
                      named_frees *out)
{
    const scan_output *const task = &slice->tasks[number];
    bool ok = true;
    for (size_t i = first_at(task, names->first_ticks); ok && i < task->events.count; i++) {
        memory_event *const event = &task->events.at[i];
        if (event->ticks > names->last_ticks && !task->is_unsorted)
            break;
        if (event->op != OP_FREE || event->stack != STACK_NONE ||
            !may_be_named(names, event->ticks, event->tid))
            continue;
        const named_free row = { .ticks = event->ticks,
                                 .pid = event->pid,
                                 .tid = event->tid,
                                 .task = number + 1,
                                 .event = (u32)i,
                                 .found = event,
                                 .session = stream_session(task->stream) };
        ok = ETLHEAP_PUSH(out, row);
    }
    return ok;
}

/* Collects all frees that pieces may name, sleeping ones first. */
static bool wake(free_stacks *frees, const free_stacks_slice *slice, const piece_names *names,
                 named_frees *out)
{
    bool ok = true;
    for (u32 i = 0; ok && i < frees->sleeping.count; i++) {
        const sleeping_free *const row = &frees->sleeping.at[i];
        const named_free named = { .ticks = row->ticks,
                                   .pid = row->pid,
                                   .tid = row->tid,
                                   .event = i,
                                   .session = row->session };
        if (!row->has_stack && may_be_named(names, row->ticks, row->tid))
            ok = ETLHEAP_PUSH(out, named);
    }
    for (u32 i = 0; ok && i < slice->task_count; i++)
        ok = wake_task(slice, i, names, out);
    return ok;
}

/* Was the free logged before the piece? For another processor this is unknown and counts as yes. */
static bool is_before(const free_stacks_slice *slice, const named_free *named,
                      const stack_piece *piece)
{
    if (named->task == 0)
        return true;
    const u32 task = named->task - 1;
    if (task == piece->task)
        return named->event < piece->events_before;
    return task < piece->task || slice->tasks[task].stream != slice->tasks[piece->task].stream;
}

/* Gives a free its stack. */
static bool give(free_stacks *frees, const named_free *named, stack_ref stack)
{
    if (named->found != NULL) {
        named->found->stack = stack;
        return true;
    }
    sleeping_free *const row = &frees->sleeping.at[named->event];
    row->has_stack = true;
    return free_stacks_resolve(frees, row, stack);
}

static bool has_stack(const free_stacks *frees, const named_free *named)
{
    return named->found != NULL ? named->found->stack != STACK_NONE
                                : frees->sleeping.at[named->event].has_stack;
}

/* The end of the run of frees with the piece's time and thread. */
static size_t end_of_name(const named_frees *named, const stack_piece *piece)
{
    size_t low;
    ETL_BISECT(
        low, 0, named->count,
        named->at[low].ticks < piece->event_ticks ||
            (named->at[low].ticks == piece->event_ticks && named->at[low].tid <= piece->tid));
    return low;
}

static bool take_left(free_stacks *frees, const free_stacks_slice *slice, const named_frees *named,
                      stack_piece *piece)
{
    for (size_t i = end_of_name(named, piece); i > 0; i--) {
        const named_free *const row = &named->at[i - 1];
        if (row->ticks != piece->event_ticks || row->tid != piece->tid)
            break;
        if (row->session != piece->session || row->pid != piece->pid || has_stack(frees, row) ||
            !is_before(slice, row, piece))
            continue;
        stack_ref stack;
        piece->fate = PIECE_TAKEN;
        return is_late(slice, row->ticks, piece) ||
               (stack_of_piece(slice, piece, &stack) && give(frees, row, stack));
    }
    return true;
}

/* Puts a task's frees without a stack to sleep, from the last one back to `oldest_ticks`. */
static bool sleep_task(free_stacks *frees, const scan_output *task, i64 oldest_ticks)
{
    for (size_t i = task->events.count; i > 0; i--) {
        memory_event *const event = &task->events.at[i - 1];
        if (event->ticks < oldest_ticks && !task->is_unsorted)
            break;
        if (event->op != OP_FREE || event->stack != STACK_NONE || event->ticks < oldest_ticks)
            continue;
        const sleeping_free row = { .ticks = event->ticks,
                                    .pid = event->pid,
                                    .tid = event->tid,
                                    .rank = FREE_RANK_NONE,
                                    .address = event->address,
                                    .session = stream_session(task->stream) };
        if (frees->sleeping.count > STACK_NUMBER_MAX || !ETLHEAP_PUSH(&frees->sleeping, row))
            return false;
        event->stack = STACK_TAG_WAITING | (u32)(frees->sleeping.count - 1);
    }
    return true;
}

bool free_stacks_sleep(free_stacks *frees, const free_stacks_slice *slice, i64 end_ticks)
{
    const wait_limit limit = limit_of(slice);
    const bool is_last = end_ticks == INT64_MAX;
    const i64 horizon = is_last ? INT64_MAX : wait_limit_horizon(&limit, end_ticks);
    const i64 patience = etl_sat_add_i64(end_ticks, -slice->patience_ticks);
    const i64 oldest_ticks = horizon > patience ? horizon : patience;
    size_t kept = 0;
    /* After the last slice none is needed, but its reallocs may still give those stacks. */
    for (size_t i = 0; i < frees->sleeping.count; i++) {
        const sleeping_free *const row = &frees->sleeping.at[i];
        if (!row->has_stack && (is_last || row->ticks >= oldest_ticks || row->follows != 0))
            frees->sleeping.at[kept++] = *row;
    }
    frees->sleeping.count = kept;
    bool ok = true;
    for (u32 i = 0; ok && !is_last && i < slice->task_count; i++)
        ok = sleep_task(frees, &slice->tasks[i], oldest_ticks);
    return ok;
}

i64 free_stacks_oldest(const free_stacks *frees)
{
    i64 oldest = INT64_MAX;
    for (size_t i = 0; i < frees->sleeping.count; i++)
        oldest = frees->sleeping.at[i].ticks < oldest ? frees->sleeping.at[i].ticks : oldest;
    return oldest;
}

u64 free_stacks_bytes(const free_stacks *frees)
{
    return frees->sleeping.capacity * sizeof *frees->sleeping.at +
           frees->resolved.capacity * sizeof *frees->resolved.at +
           frees->left.capacity * sizeof *frees->left.at;
}

void free_stacks_free(free_stacks *frees)
{
    ETLHEAP_VECTOR_FREE(&frees->sleeping);
    ETLHEAP_VECTOR_FREE(&frees->resolved);
    ETLHEAP_VECTOR_FREE(&frees->left);
}
