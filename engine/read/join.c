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
 *    A user part whose kernel part belongs to some other event does not belong to it.
 *  - A process that allocates in another one is who walks the stack: the memory is
 *    the other's, the addresses are its own.
 *  - The user part is written once for all kernel parts that the thread left
 *    since it entered the kernel: it goes to every event of the thread that has
 *    a kernel part, no user part, and is not later than the piece.
 *
 *  - A part is of the process and the life of the thread that its event's kernel part is
 *    of: a thread that ends in the kernel leaves a kernel part that nothing completes, and
 *    its id may soon be another thread's.
 *
 * Sources: etl-events.md D.3 and D.4 (TraceEvent's behaviour and observation).
 */
#include "join.h"

#include <stdlib.h>

#define PATIENCE_NS ((i64)2 * 1000 * 1000 * 1000)
#define AHEAD       12u /* uses whose keys are fetched before they are looked up */
#define FETCH_STEP  6u  /* pieces between two steps of fetching what one looks at */
#define CHAIN_ROOM  4u  /* buckets for each event, which is in two or three chains */

/*
 * Where an event that lacks a part is looked for. Chains are oldest first, so
 * parts of events that time and thread do not tell apart go to them in order. A
 * link is spent once its event has the part, or has learned its thread; spent
 * links are dropped when met, so a crowd in one chain is walked once and not
 * once per piece.
 */
typedef enum chain_kind {
    CHAIN_KERNEL, /* by time and thread, for each event_sort: lacks the kernel part */
    CHAIN_KERNEL_LAST = CHAIN_KERNEL + SORT_EXTENT,
    CHAIN_USER, /* likewise; what has the kernel part is in the first one, whatever its sort */
    CHAIN_CPU_KERNEL = CHAIN_USER + SORT_EXTENT + 1, /* without a thread, by time and CPU */
    CHAIN_CPU_USER,
    CHAIN_PROCESS_USER, /* without a thread, by time and process */
    CHAIN_SERVED,       /* by thread: has a kernel part and lacks the user part */
    CHAIN_END
} chain_kind;

typedef struct chain_link {
    u32 event; /* index in `waiting` */
    u32 place; /* place_of its thread, CPU or process */
    u32 next;  /* index + 1 */
    u8 kind;   /* chain_kind */
} chain_link;

/* Made anew per slice. */
typedef struct chain_set {
    ETLHEAP_VECTOR(chain_link) links;
    u32 *buckets; /* index + 1 of the first link */
    u32 mask;
} chain_set;

static bool gather(stack_join *join, scan_output *tasks, u32 task_count);
static bool attach_pieces(stack_join *join, deferred_stacks *deferred);
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
    ETLHEAP_VECTOR_FREE(&join->rows);
    ETLHEAP_VECTOR_FREE(&join->scratch);
    ETLHEAP_VECTOR_FREE(&join->turns);
    ETLHEAP_VECTOR_FREE(&join->foreign);
    recent_free(&join->recent);
}

u64 join_bytes(const stack_join *join)
{
    return join->waiting.capacity * sizeof *join->waiting.at +
           join->slots.capacity * sizeof *join->slots.at;
}

bool join_slice(stack_join *join, deferred_stacks *deferred, scan_output *tasks, u32 task_count,
                i64 end_ticks)
{
    for (u32 i = 0; i < task_count; i++) {
        if (!use_keys(deferred, &tasks[i]))
            return false;
    }
    return gather(join, tasks, task_count) &&
           (join->pieces.count == 0 || attach_pieces(join, deferred)) &&
           settle_waiting(join, deferred, end_ticks);
}

static bool use_keys(deferred_stacks *deferred, scan_output *task)
{
    const size_t count = task->key_uses.count;
    for (size_t i = 0; i < count; i++) {
        const key_use *const use = &task->key_uses.at[i];
        if (count - i > 2 * AHEAD)
            deferred_fetch_place(deferred, use[2 * AHEAD].key);
        if (count - i > AHEAD) {
            deferred_fetch_key(deferred, use[AHEAD].key);
            __builtin_prefetch(&task->events.at[use[AHEAD].event].stack);
        }
        stack_ref *const stack = &task->events.at[use->event].stack;
        if (!deferred_use(deferred, use->key, false, use->ticks, stack))
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

/* Of earlier slices, only what lies behind the oldest event that waits is asked for. */
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
            if (!ETLHEAP_PUSH(&join->pieces, task->pieces.at[k]))
                return false;
        }
        for (size_t k = task->unsettled.count; k > 0; k--) {
            memory_event *const event = &task->events.at[task->unsettled.at[k - 1]];
            const waiting_event row = { .ticks = event->ticks,
                                        .event = event,
                                        .pid = event->pid,
                                        .tid = event->tid,
                                        .cpu = event->cpu,
                                        .op = event->op,
                                        .session = stream_session(task->stream) };
            if (!ETLHEAP_PUSH(&join->waiting, row))
                return false;
        }
    }
    return true;
}

/* Of one tick. */
static int by_event(const void *owner, u32 a, u32 b)
{
    const stack_piece *const pieces = owner, *const x = &pieces[a], *const y = &pieces[b];
    if (x->event_ticks != y->event_ticks)
        return x->event_ticks < y->event_ticks ? -1 : 1;
    if (x->tid != y->tid)
        return x->tid < y->tid ? -1 : 1;
    return (int)x->part - (int)y->part;
}

/* In time order; those that are alike in all by_event looks at stay as they came. NULL
 * without memory. */
static const digit_row *sort_pieces(stack_join *join)
{
    const size_t count = join->pieces.count;
    join->rows.count = join->scratch.count = 0;
    if (count >= UINT32_MAX || !ETLHEAP_RESERVE(&join->rows, count) ||
        !ETLHEAP_RESERVE(&join->scratch, count))
        return NULL;
    for (size_t i = 0; i < count; i++) {
        const u64 ticks = (u64)join->pieces.at[i].ticks ^ (u64)1 << 63;
        join->rows.at[i] = (digit_row){ .low = ticks, .id = (u32)i };
    }
    return digit_sort(join->rows.at, join->scratch.at, count, by_event, join->pieces.at);
}

static u32 *bucket_of(const chain_set *chains, chain_kind kind, i64 ticks, u32 place)
{
    const u64 hash = etlheap_hash_u64((u64)ticks ^ (u64)place << 40 ^ (u64)kind << 36);
    return &chains->buckets[(u32)(hash >> 32) & chains->mask];
}

/* Chains by thread alone are for all times. */
static i64 chain_ticks(chain_kind kind, i64 ticks)
{
    return kind == CHAIN_SERVED ? 0 : ticks;
}

/* Who a chain is of, within a session: it logs the stacks of its own events alone. One that
 * is served is of a thread of a process. */
static u32 place_of(chain_kind kind, u8 session, u32 tid, u16 cpu, u32 pid)
{
    const u32 mixed = session * 0x9E3779B1u;
    switch (kind) {
    case CHAIN_CPU_KERNEL:
    case CHAIN_CPU_USER:
        return mixed ^ cpu;
    case CHAIN_PROCESS_USER:
        return mixed ^ pid;
    case CHAIN_SERVED:
        return mixed ^ tid ^ pid * 0x85EBCA6Bu;
    default:
        return mixed ^ tid;
    }
}

static u32 place_of_piece(chain_kind kind, const stack_piece *piece)
{
    return place_of(kind, piece->session, piece->tid, piece->cpu, piece->pid);
}

/* Puts an event first into a chain. */
static bool link_event(stack_join *join, chain_set *chains, chain_kind kind, u32 event)
{
    const waiting_event *const row = &join->waiting.at[event];
    const u32 pid = kind == CHAIN_SERVED ? row->stack_pid : row->pid;
    const u32 place = place_of(kind, row->session, row->tid, row->cpu, pid);
    u32 *const head = bucket_of(chains, kind, chain_ticks(kind, row->ticks), place);
    const chain_link link = { event, place, *head, (u8)kind };
    if (chains->links.count >= UINT32_MAX || !ETLHEAP_PUSH(&chains->links, link))
        return false;
    *head = (u32)chains->links.count;
    return true;
}

static bool link_missing(stack_join *join, chain_set *chains, u32 event)
{
    const waiting_event *const row = &join->waiting.at[event];
    const bool has_thread = row->tid != ETL_NO_ID;
    const event_sort sort = event_sort_of(row->op);
    const chain_kind kernel = has_thread ? CHAIN_KERNEL + sort : CHAIN_CPU_KERNEL;
    const chain_kind user = CHAIN_USER + (row->has_kernel ? SORT_UNKNOWN : sort);
    if (!row->has_kernel && !link_event(join, chains, kernel, event))
        return false;
    if (row->has_user)
        return true;
    if (row->has_kernel && !link_event(join, chains, CHAIN_SERVED, event))
        return false;
    if (has_thread)
        return link_event(join, chains, user, event);
    return link_event(join, chains, CHAIN_CPU_USER, event) &&
           link_event(join, chains, CHAIN_PROCESS_USER, event);
}

static bool make_chains(stack_join *join, chain_set *out)
{
    u32 size = 64;
    while (size / CHAIN_ROOM < join->waiting.count && size < (u32)1 << 30)
        size *= 2;
    out->mask = size - 1;
    out->buckets = calloc(size, sizeof *out->buckets);
    if (out->buckets == NULL || join->waiting.count >= UINT32_MAX)
        return false;
    for (u32 i = (u32)join->waiting.count; i > 0; i--) {
        if (!link_missing(join, out, i - 1))
            return false;
    }
    return true;
}

static bool is_spent(const chain_link *link, const waiting_event *row)
{
    if (row->is_over)
        return true;
    if (link->kind <= CHAIN_KERNEL_LAST)
        return row->has_kernel;
    if (link->kind == CHAIN_CPU_KERNEL)
        return row->has_kernel || row->tid != ETL_NO_ID;
    const bool is_threadless = link->kind == CHAIN_CPU_USER || link->kind == CHAIN_PROCESS_USER;
    return row->has_user || (is_threadless && row->tid != ETL_NO_ID);
}

/* Did the thread id begin or end to stand for a thread in (from_ticks, to_ticks]? */
static bool has_turned(const stack_join *join, u32 tid, i64 from_ticks, i64 to_ticks)
{
    size_t low = 0, high = join->turns.count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const thread_turn *const turn = &join->turns.at[middle];
        if (turn->tid < tid || (turn->tid == tid && turn->ticks <= from_ticks))
            low = middle + 1;
        else
            high = middle;
    }
    return low < join->turns.count && join->turns.at[low].tid == tid &&
           join->turns.at[low].ticks <= to_ticks;
}

/* Pieces come in time order, so what is too late once is over. */
static bool ends_before(const stack_join *join, const waiting_event *row, const stack_piece *piece)
{
    return piece->ticks > etl_sat_add_i64(row->ticks, join->patience_ticks) ||
           (row->tid != ETL_NO_ID && join->turns.count > 0 &&
            has_turned(join, row->tid, row->ticks, piece->ticks));
}

/* Is it an event of the piece's process and sort? The user part of an unwanted event is that
 * of all for which the thread left a kernel part, too. */
static bool is_of_piece(const chain_link *link, const waiting_event *row, const stack_piece *piece)
{
    const event_sort sort = event_sort_of(row->op);
    if (row->has_kernel && row->stack_pid != piece->pid)
        return false;
    if (link->kind == CHAIN_SERVED || piece->sort == SORT_UNKNOWN || piece->sort == SORT_UNSURE)
        return true;
    if (piece->sort == SORT_SPENT && sort == SORT_BLOCK && row->cpu != piece->cpu)
        return true; /* of two processors, nobody knows what came first */
    return piece->sort == (u8)sort ||
           (row->has_kernel && (piece->sort == SORT_UNWANTED || piece->sort == SORT_SPENT));
}

static bool is_in_chain(const chain_link *link, const waiting_event *row, chain_kind kind,
                        i64 ticks, u32 place)
{
    const bool in_time = kind == CHAIN_SERVED ? row->ticks <= ticks : row->ticks == ticks;
    return link->kind == kind && link->place == place && in_time;
}

/* The first event of a chain that can take the piece, index + 1; 0: none. */
static u32 find_in(const stack_join *join, chain_set *chains, chain_kind kind,
                   const stack_piece *piece)
{
    const i64 ticks = kind == CHAIN_SERVED ? piece->ticks : piece->event_ticks;
    const u32 place = place_of_piece(kind, piece);
    u32 *at = bucket_of(chains, kind, chain_ticks(kind, ticks), place);
    while (*at != 0) {
        chain_link *const link = &chains->links.at[*at - 1];
        waiting_event *const row = &join->waiting.at[link->event];
        const bool is_meant = is_in_chain(link, row, kind, ticks, place);
        if (is_meant && !row->is_over)
            row->is_over = ends_before(join, row, piece);
        if (is_spent(link, row)) {
            *at = link->next;
            continue;
        }
        if (is_meant && is_of_piece(link, row, piece))
            return link->event + 1;
        at = &link->next;
    }
    return 0;
}

/* Where the event's part by the piece's thread is among the foreign ones, or would be. */
static size_t foreign_place(const stack_join *join, const stack_piece *piece)
{
    size_t low = 0, high = join->foreign.count;
    if (high > 0 && join->foreign.at[high - 1].event_ticks < piece->event_ticks)
        return high;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const foreign_part *const row = &join->foreign.at[middle];
        if (row->event_ticks < piece->event_ticks ||
            (row->event_ticks == piece->event_ticks && row->tid < piece->tid))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_foreign(const stack_join *join, const stack_piece *piece)
{
    const size_t place = foreign_place(join, piece);
    return place < join->foreign.count &&
           join->foreign.at[place].event_ticks == piece->event_ticks &&
           join->foreign.at[place].tid == piece->tid;
}

/* Parts come nearly in the order of their events, so little is moved. */
static bool note_foreign(stack_join *join, const stack_piece *piece)
{
    if (piece->part != PART_KERNEL || is_foreign(join, piece))
        return true;
    const size_t place = foreign_place(join, piece);
    const foreign_part row = { piece->event_ticks, piece->tid };
    if (!ETLHEAP_PUSH(&join->foreign, row))
        return false;
    memmove(&join->foreign.at[place + 1], &join->foreign.at[place],
            (join->foreign.count - 1 - place) * sizeof row);
    join->foreign.at[place] = row;
    return true;
}

/*
 * The event of a piece, index + 1; 0: none. An event that has a kernel part waits for the
 * user part that comes next; of others, programs raise the events of blocks, and the
 * kernel raises commits, so that is where a stack with a kernel part is tried first;
 * sessions hardly ever ask for stacks of extents. An event without a thread, always a
 * commit, is one of the same CPU, where a kernel or whole part is always written, or else
 * for a user part one of the same process.
 */
static u32 find_event(const stack_join *join, chain_set *chains, const stack_piece *piece)
{
    static const u8 orders[][6] = {
        [PART_KERNEL] = { CHAIN_KERNEL + SORT_COMMIT, CHAIN_CPU_KERNEL, CHAIN_KERNEL + SORT_BLOCK,
                          CHAIN_END },
        [PART_USER] = { CHAIN_USER + SORT_UNKNOWN, CHAIN_USER + SORT_BLOCK,
                        CHAIN_USER + SORT_COMMIT, CHAIN_CPU_USER, CHAIN_PROCESS_USER,
                        CHAIN_USER + SORT_EXTENT },
        [PART_WHOLE] = { CHAIN_USER + SORT_COMMIT, CHAIN_CPU_USER, CHAIN_USER + SORT_BLOCK,
                         CHAIN_USER + SORT_UNKNOWN, CHAIN_END },
    };
    const u8 *const order = orders[piece->part];
    u32 found = 0;
    for (size_t i = 0; found == 0 && i < ETL_COUNT_OF(orders[0]) && order[i] != CHAIN_END; i++)
        found = find_in(join, chains, (chain_kind)order[i], piece);
    if (found == 0 || piece->part == PART_KERNEL || join->waiting.at[found - 1].has_kernel)
        return found;
    return is_foreign(join, piece) ? 0 : found;
}

/* Gives a part to an event, and puts it into the chains it belongs to from then
 * on. */
static bool take_part(stack_join *join, chain_set *chains, u32 event, const stack_piece *piece,
                      stack_ref ref)
{
    waiting_event *const row = &join->waiting.at[event];
    const bool learns = row->tid == ETL_NO_ID && piece->tid != ETL_NO_ID;
    if (learns)
        row->tid = piece->tid;
    if (piece->part == PART_KERNEL) {
        row->has_kernel = true;
        row->kernel = ref;
        row->stack_pid = piece->pid;
    } else {
        row->has_user = true;
        row->user = ref;
        row->walked_pid = piece->pid != row->pid && piece->pid != ETL_NO_ID ? piece->pid : 0;
    }
    if (learns)
        return link_missing(join, chains, event);
    const bool to_serve = piece->part == PART_KERNEL && !row->has_user;
    return !to_serve || (link_event(join, chains, CHAIN_SERVED, event) &&
                         link_event(join, chains, CHAIN_USER + SORT_UNKNOWN, event));
}

/* A user part goes to its event and to all that it serves besides. */
static bool attach_piece(stack_join *join, chain_set *chains, deferred_stacks *deferred,
                         const stack_piece *piece)
{
    bool serves = piece->part == PART_USER;
    u32 taker = find_event(join, chains, piece);
    /* The walk of an event without a kernel part began in user mode. Scanning
     * settles such an event on the spot, so its stack must not serve others. */
    if (taker != 0 && !join->waiting.at[taker - 1].has_kernel)
        serves = false;
    if (taker == 0 && serves)
        taker = find_in(join, chains, CHAIN_SERVED, piece);
    const bool is_kernel = piece->part == PART_KERNEL;
    if (taker == 0)
        return note_foreign(join, piece) &&
               (!piece->is_key || deferred_pass(deferred, piece->key, is_kernel, piece->ticks));
    stack_ref ref = piece->stack;
    if (piece->is_key && !deferred_use(deferred, piece->key, is_kernel, piece->ticks, &ref))
        return false;
    while (taker != 0) {
        if (!take_part(join, chains, taker - 1, piece, ref))
            return false;
        taker = serves ? find_in(join, chains, CHAIN_SERVED, piece) : 0;
    }
    return true;
}

/* What the piece will look at first misses the cache nearly always: its bucket, the link in
 * it and the event of that. Each is fetched some pieces after the one that leads to it. */
static u32 *first_bucket(const chain_set *chains, const stack_piece *piece)
{
    const chain_kind kind =
        piece->part == PART_KERNEL ? CHAIN_KERNEL + SORT_COMMIT : CHAIN_USER + SORT_UNKNOWN;
    return bucket_of(chains, kind, piece->event_ticks, place_of_piece(kind, piece));
}

static void fetch_link(const chain_set *chains, const stack_piece *piece)
{
    const u32 link = *first_bucket(chains, piece);
    if (link != 0)
        __builtin_prefetch(&chains->links.at[link - 1]);
}

static void fetch_event(const stack_join *join, const chain_set *chains, const stack_piece *piece)
{
    const u32 link = *first_bucket(chains, piece);
    if (link != 0)
        __builtin_prefetch(&join->waiting.at[chains->links.at[link - 1].event]);
}

static bool attach_pieces(stack_join *join, deferred_stacks *deferred)
{
    const size_t count = join->pieces.count;
    const stack_piece *const pieces = join->pieces.at;
    const digit_row *const sorted = sort_pieces(join);
    chain_set chains = { 0 };
    bool ok = sorted != NULL && make_chains(join, &chains);
    for (size_t i = 0; ok && i < count; i++) {
        if (count - i > 4 * FETCH_STEP)
            __builtin_prefetch(&pieces[sorted[i + 4 * FETCH_STEP].id]);
        if (count - i > 3 * FETCH_STEP)
            __builtin_prefetch(first_bucket(&chains, &pieces[sorted[i + 3 * FETCH_STEP].id]));
        if (count - i > 2 * FETCH_STEP)
            fetch_link(&chains, &pieces[sorted[i + 2 * FETCH_STEP].id]);
        if (count - i > FETCH_STEP)
            fetch_event(join, &chains, &pieces[sorted[i + FETCH_STEP].id]);
        ok = attach_piece(join, &chains, deferred, &pieces[sorted[i].id]);
    }
    ETLHEAP_VECTOR_FREE(&chains.links);
    free(chains.buckets);
    return ok;
}

/* An event that goes on waiting leaves a slot number behind as its stack. */
static bool keep_waiting(stack_join *join, waiting_event *row)
{
    if (row->slot == 0) {
        if (join->slots.count >= STACK_NUMBER_MAX ||
            !ETLHEAP_PUSH(&join->slots, (waiting_slot){ STACK_NONE, ETL_NO_ID }))
            return false;
        row->slot = (u32)join->slots.count;
        row->event->stack = STACK_TAG_WAITING | (row->slot - 1);
    }
    row->event = NULL;
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

static bool settle_waiting(stack_join *join, deferred_stacks *deferred, i64 end_ticks)
{
    const i64 oldest =
        end_ticks == INT64_MAX ? INT64_MAX : etl_sat_add_i64(end_ticks, -join->patience_ticks);
    size_t kept = 0;
    for (size_t i = 0; i < join->waiting.count; i++) {
        waiting_event *const row = &join->waiting.at[i];
        stack_ref ref;
        if (!deferred_pair(deferred, row->kernel, row->user, &ref) ||
            (row->walked_pid != 0 &&
             !deferred_foreign(deferred, ref, row->walked_pid, row->ticks, &ref)))
            return false;
        const bool waits = !row->has_user && !row->is_over && row->ticks >= oldest;
        if (row->event != NULL)
            row->event->tid = row->tid;
        if (waits && !keep_waiting(join, row))
            return false;
        if (row->slot != 0)
            join->slots.at[row->slot - 1] = (waiting_slot){ ref, row->tid };
        else if (row->event != NULL)
            row->event->stack = ref;
        if (waits)
            join->waiting.at[kept++] = *row;
    }
    join->waiting.count = kept;
    forget_foreign(join, oldest);
    return true;
}
