/*
 * join_pieces.c - gives the stack pieces of a slice to the events that wait for them.
 *
 * In: pieces of a slice, and chains of waiting events (join_chains.h). Out: parts of stacks in
 * waiting events, and for each piece whether it was taken.
 *
 *     piece ──find_event──▶ the event it names ──▶ kernel part, user part or whole stack
 *       └──▶ a user part also goes to all events that it serves
 *
 * The cases are at the top of join.c. Invariant: pieces are taken in order of time; among equal
 * times their order does not depend on tasks (by_event).
 */
#include "join_pieces.h"

#include "join_chains.h"

#define FETCH_STEP 6u /* pieces between two steps of fetching what one looks at */

/* Compares pieces of one tick. */
static int by_event(const void *owner, u32 a, u32 b)
{
    const stack_piece *const pieces = owner, *const x = &pieces[a], *const y = &pieces[b];
    if (x->event_ticks != y->event_ticks)
        return x->event_ticks < y->event_ticks ? -1 : 1;
    if (x->tid != y->tid)
        return x->tid < y->tid ? -1 : 1;
    return (int)x->part - (int)y->part;
}

/* Sorts pieces by time, stably where by_event sees no difference. NULL without memory. */
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

/* The place among foreign parts of the event's part by the piece's thread, or where it would be. */
static size_t foreign_place(const stack_join *join, const stack_piece *piece)
{
    const foreign_part *const rows = join->foreign.at;
    const size_t count = join->foreign.count;
    size_t at;
    if (count > 0 && rows[count - 1].event_ticks < piece->event_ticks)
        return count;
    ETL_BISECT(at, 0, count,
               rows[at].event_ticks < piece->event_ticks ||
                   (rows[at].event_ticks == piece->event_ticks && rows[at].tid < piece->tid));
    return at;
}

static bool is_foreign(const stack_join *join, const stack_piece *piece)
{
    const size_t place = foreign_place(join, piece);
    return place < join->foreign.count &&
           join->foreign.at[place].event_ticks == piece->event_ticks &&
           join->foreign.at[place].tid == piece->tid;
}

/* Notes a foreign part. Parts come nearly in the order of their events, so little is moved. */
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
 * Finds the event of a piece: index + 1, or 0. An event with a kernel part waits for the next user
 * part. Otherwise: programs raise the events of blocks and the kernel raises commits, so a stack
 * with a kernel part is tried with commits first; sessions hardly ever ask for stacks of extents.
 * An event without a thread, always a commit, is found on the same CPU, where a kernel or whole
 * part is always written, or by the same process for a user part.
 */
static u32 find_event(const stack_join *join, chain_set *chains, const stack_piece *piece)
{
    static const u8 orders[][6] = {
        [PART_KERNEL] = { CHAIN_OF(CHAIN_KERNEL, SORT_COMMIT), CHAIN_CPU_KERNEL,
                          CHAIN_OF(CHAIN_KERNEL, SORT_BLOCK), CHAIN_END },
        [PART_USER] = { CHAIN_OF(CHAIN_USER, SORT_UNKNOWN), CHAIN_OF(CHAIN_USER, SORT_BLOCK),
                        CHAIN_OF(CHAIN_USER, SORT_COMMIT), CHAIN_CPU_USER, CHAIN_PROCESS_USER,
                        CHAIN_OF(CHAIN_USER, SORT_EXTENT) },
        [PART_WHOLE] = { CHAIN_OF(CHAIN_USER, SORT_COMMIT), CHAIN_CPU_USER,
                         CHAIN_OF(CHAIN_USER, SORT_BLOCK), CHAIN_OF(CHAIN_USER, SORT_UNKNOWN),
                         CHAIN_END },
    };
    const u8 *const order = orders[piece->part];
    u32 found = 0;
    for (size_t i = 0; found == 0 && i < ETL_COUNT_OF(orders[0]) && order[i] != CHAIN_END; i++)
        found = chains_find(chains, join, (chain_kind)order[i], piece);
    if (found == 0 || piece->part == PART_KERNEL || join->waiting.at[found - 1].has_kernel)
        return found;
    return is_foreign(join, piece) ? 0 : found;
}

/* Gives a part to an event, and puts the event into the chains where it belongs from then on. */
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
        return chains_link_missing(chains, join, event);
    const bool to_serve = piece->part == PART_KERNEL && !row->has_user;
    return !to_serve || (chains_link(chains, join, CHAIN_SERVED, event) &&
                         chains_link(chains, join, CHAIN_OF(CHAIN_USER, SORT_UNKNOWN), event));
}

/* The event that takes the piece: index + 1, or 0. Frees get only pieces that no event that opens a
 * lifetime has taken. */
static u32 find_taker(stack_join *join, chain_set *chains, stack_piece *piece)
{
    if (piece->fate != PIECE_LEFT)
        return 0;
    const u32 taker = find_event(join, chains, piece);
    if (taker != 0)
        piece->fate = join->waiting.at[taker - 1].has_kernel ? PIECE_SHARED : PIECE_TAKEN;
    return taker;
}

static bool use_key(const stack_join *join, keyed_stacks *keyed, const stack_piece *piece,
                    stack_ref *ref)
{
    const bool is_kernel = piece->part == PART_KERNEL;
    *ref = piece->stack;
    return !piece->is_key || (join->is_of_frees ? keyed_use_again : keyed_use)(
                                 keyed, piece->key, is_kernel, piece->ticks, ref);
}

/* Gives a piece to its event, and a user part also to all other events that it serves. */
static bool attach_piece(stack_join *join, chain_set *chains, keyed_stacks *keyed,
                         stack_piece *piece)
{
    u32 taker = find_taker(join, chains, piece);
    /* If an event has no kernel part, its stack walk began in user mode. Scanning resolves such an
     * event on the spot, so its stack must not serve others. */
    const bool serves = piece->part == PART_USER && piece->fate != PIECE_TAKEN;
    if (taker == 0 && serves)
        taker = chains_find(chains, join, CHAIN_SERVED, piece);
    const bool is_kernel = piece->part == PART_KERNEL;
    if (taker == 0)
        return note_foreign(join, piece) &&
               (!piece->is_key || join->is_of_frees ||
                keyed_pass(keyed, piece->key, is_kernel, piece->ticks));
    stack_ref ref;
    if (!use_key(join, keyed, piece, &ref))
        return false;
    while (taker != 0) {
        if (!take_part(join, chains, taker - 1, piece, ref))
            return false;
        taker = serves ? chains_find(chains, join, CHAIN_SERVED, piece) : 0;
    }
    return true;
}

bool join_attach_pieces(stack_join *join, keyed_stacks *keyed, const free_stacks_slice *frees)
{
    const size_t count = join->pieces.count;
    stack_piece *const pieces = join->pieces.at;
    const digit_row *const sorted = sort_pieces(join);
    chain_set chains = { 0 };
    bool ok = sorted != NULL && chains_make(&chains, join);
    for (size_t i = 0; ok && i < count; i++) {
        if (count - i > 4 * FETCH_STEP)
            __builtin_prefetch(&pieces[sorted[i + 4 * FETCH_STEP].id]);
        if (count - i > 3 * FETCH_STEP)
            chains_fetch_bucket(&chains, &pieces[sorted[i + 3 * FETCH_STEP].id]);
        if (count - i > 2 * FETCH_STEP)
            chains_fetch_link(&chains, &pieces[sorted[i + 2 * FETCH_STEP].id]);
        if (count - i > FETCH_STEP)
            chains_fetch_event(&chains, join, &pieces[sorted[i + FETCH_STEP].id]);
        ok = attach_piece(join, &chains, keyed, &pieces[sorted[i].id]) &&
             (frees == NULL || free_stacks_offer(join->frees, frees, sorted[i].id));
    }
    chains_free(&chains);
    return ok;
}
