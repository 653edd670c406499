/*
 * join_chains.c - indexes the events that still lack a part of their stack, by time and thread,
 * for the stack pieces of a slice.
 *
 * In: waiting events. Out: chains that join.c and join_pieces.c follow from a piece to its
 * candidates.
 *
 * Invariant: chains are rebuilt for each slice, so an event that got its stack is in no chain of
 * the next one.
 */
#include "join_chains.h"

#include <stdlib.h>

#define CHAIN_ROOM 4u /* buckets for each event, which is in two or three chains */

static u32 *bucket_of(const chain_set *chains, chain_kind kind, i64 ticks, u32 place)
{
    const u64 hash = etlheap_hash_u64((u64)ticks ^ (u64)place << 40 ^ (u64)kind << 36);
    return &chains->buckets[(u32)(hash >> 32) & chains->mask];
}

/* The time of a chain; chains by thread alone have none. */
static i64 chain_ticks(chain_kind kind, i64 ticks)
{
    return kind == CHAIN_SERVED ? 0 : ticks;
}

/* Whom a chain belongs to, within a session: a session logs stacks only for its own events. Chains
 * of user parts that serve several events are of a thread of a process. */
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

bool chains_link(chain_set *chains, const stack_join *join, chain_kind kind, u32 event)
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

bool chains_link_missing(chain_set *chains, const stack_join *join, u32 event)
{
    const waiting_event *const row = &join->waiting.at[event];
    const bool has_thread = row->tid != ETL_NO_ID;
    const event_sort sort = event_sort_of(row->op);
    const chain_kind kernel = has_thread ? CHAIN_OF(CHAIN_KERNEL, sort) : CHAIN_CPU_KERNEL;
    const chain_kind user = CHAIN_OF(CHAIN_USER, row->has_kernel ? SORT_UNKNOWN : sort);
    if (!row->has_kernel && !chains_link(chains, join, kernel, event))
        return false;
    if (row->has_user)
        return true;
    if (row->has_kernel && !chains_link(chains, join, CHAIN_SERVED, event))
        return false;
    if (has_thread)
        return chains_link(chains, join, user, event);
    return chains_link(chains, join, CHAIN_CPU_USER, event) &&
           chains_link(chains, join, CHAIN_PROCESS_USER, event);
}

bool chains_make(chain_set *out, const stack_join *join)
{
    u32 size = 64;
    while (size / CHAIN_ROOM < join->waiting.count && size < (u32)1 << 30)
        size *= 2;
    out->mask = size - 1;
    out->buckets = calloc(size, sizeof *out->buckets);
    if (out->buckets == NULL || join->waiting.count >= UINT32_MAX)
        return false;
    for (u32 i = (u32)join->waiting.count; i > 0; i--) {
        if (!chains_link_missing(out, join, i - 1))
            return false;
    }
    return true;
}

void chains_free(chain_set *chains)
{
    ETLHEAP_VECTOR_FREE(&chains->links);
    free(chains->buckets);
    chains->buckets = NULL;
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

/* Did a thread with the id start or end in (from_ticks, to_ticks]? */
static bool has_turned(const stack_join *join, u32 tid, i64 from_ticks, i64 to_ticks)
{
    size_t low;
    ETL_BISECT(low, 0, join->turns.count,
               join->turns.at[low].tid < tid ||
                   (join->turns.at[low].tid == tid && join->turns.at[low].ticks <= from_ticks));
    return low < join->turns.count && join->turns.at[low].tid == tid &&
           join->turns.at[low].ticks <= to_ticks;
}

/* Has the wait ended? Pieces come in order of time, so it never resumes. */
static bool ends_before(const stack_join *join, waiting_event *row, const stack_piece *piece)
{
    row->is_limited = join_is_limited(join, row, piece->ticks);
    return row->is_limited || piece->ticks > etl_sat_add_i64(row->ticks, join->patience_ticks) ||
           (row->tid != ETL_NO_ID && join->turns.count > 0 &&
            has_turned(join, row->tid, row->ticks, piece->ticks));
}

/*
 * May a piece belong to this event although a later event on the piece's processor has no thread? A
 * stack that begins in the kernel is not of a program's event. And without threads to tell events
 * apart, the processor decides: an event of the process on another one is no closer.
 */
static bool may_be_unsure(const chain_link *link, const waiting_event *row,
                          const stack_piece *piece)
{
    if (link->kind == CHAIN_PROCESS_USER)
        return row->cpu == piece->cpu;
    return event_sort_of(row->op) == SORT_COMMIT || piece->part == PART_USER;
}

/* Is it an event of the piece's process and sort? The user part of an unwanted event also serves
 * all events for which the thread left a kernel part. */
static bool is_of_piece(const chain_link *link, const waiting_event *row, const stack_piece *piece)
{
    const event_sort sort = event_sort_of(row->op);
    if (row->has_kernel && row->stack_pid != piece->pid)
        return false;
    if (link->kind == CHAIN_SERVED || piece->sort == SORT_UNKNOWN)
        return true;
    if (piece->sort == SORT_UNSURE)
        return may_be_unsure(link, row, piece);
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

u32 chains_find(chain_set *chains, const stack_join *join, chain_kind kind,
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

static u32 *first_bucket(const chain_set *chains, const stack_piece *piece)
{
    const chain_kind kind = piece->part == PART_KERNEL ? CHAIN_OF(CHAIN_KERNEL, SORT_COMMIT)
                                                       : CHAIN_OF(CHAIN_USER, SORT_UNKNOWN);
    return bucket_of(chains, kind, piece->event_ticks, place_of_piece(kind, piece));
}

void chains_fetch_bucket(const chain_set *chains, const stack_piece *piece)
{
    __builtin_prefetch(first_bucket(chains, piece));
}

void chains_fetch_link(const chain_set *chains, const stack_piece *piece)
{
    const u32 link = *first_bucket(chains, piece);
    if (link != 0)
        __builtin_prefetch(&chains->links.at[link - 1]);
}

void chains_fetch_event(const chain_set *chains, const stack_join *join, const stack_piece *piece)
{
    const u32 link = *first_bucket(chains, piece);
    if (link != 0)
        __builtin_prefetch(&join->waiting.at[chains->links.at[link - 1].event]);
}

bool join_is_limited(const stack_join *join, const waiting_event *row, i64 at_ticks)
{
    const i64 until_ticks = etl_sat_add_i64(row->ticks, join->patience_ticks);
    return row->op < OP_COMMIT &&
           wait_limit_is_over(&join->limit, row->ticks,
                              at_ticks < until_ticks ? at_ticks : until_ticks);
}
