/*
 * tied_blocks.c - puts events of heap blocks that have one time in the order that their addresses
 * tell.
 *
 * In: a run of events of one time, in the list of a shard. Out: the same list, in which the events
 * of an address may have changed places.
 *
 *     run          F(a) A(b) F(c) A(a)     of processors 0 0 0 1
 *     by address   a: F A   b: A   c: F    only a is shared
 *     decided      A(a) A(b) F(c) F(a)     if a is not live before
 *
 * With a fine clock nearly all runs have one event, and are not even listed. Invariant: ranks
 * ascend in the list, so a block has a lower rank than its free; whatever else is kept by rank
 * (wide) must change places too.
 */
#include "tied_blocks.h"

#include <stdlib.h>

#include "order_freers.h"
#include "ties.h"

#define SMALL_RUN 8u /* events that are compared pair by pair */

/* Are there two events of one address on different processors? */
static bool shares_address(const ordered_event *events, u32 count)
{
    bool shares = false;
    for (u32 i = 1; i < count; i++) {
        for (u32 k = 0; k < i; k++)
            shares |= events[i].address == events[k].address && events[i].cpu != events[k].cpu;
    }
    return shares;
}

static bool has_two_cpus(const ordered_event *events, u32 count)
{
    u32 same = 1;
    while (same < count && events[same].cpu == events[0].cpu)
        same++;
    return same < count;
}

static int by_address(const void *a, const void *b)
{
    const tied_row *const x = a, *const y = b;
    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    if (x->heap != y->heap)
        return x->heap < y->heap ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

bool tied_run_open(tied_run *run)
{
    if (run->count < 2 || !has_two_cpus(run->events, run->count) ||
        (run->count <= SMALL_RUN && !shares_address(run->events, run->count)))
        return true;
    if (!ETLHEAP_RESERVE(&run->rows, run->count))
        return false;
    for (u32 i = 0; i < run->count; i++) {
        const ordered_event *const event = &run->events[i];
        if (event->op != OP_COUNT_HEAP && event->address != 0)
            run->rows.at[run->rows.count++] =
                (tied_row){ event->address, order_heap_number(run->bucket, event->heap), i };
    }
    if (run->rows.count > 0)
        qsort(run->rows.at, run->rows.count, sizeof *run->rows.at, by_address);
    return true;
}

void tied_run_close(tied_run *run)
{
    ETLHEAP_VECTOR_FREE(&run->rows);
}

static u8 effect_of(u8 op)
{
    switch ((memory_op)op) {
    case OP_ALLOC:
    case OP_REALLOC_SAME:
    case OP_REALLOC_UNSEEN:
        return TIE_ALLOC;
    case OP_FREE:
        return TIE_FREE;
    case OP_REALLOC_OLD:
    case OP_REALLOC_ALONE:
    case OP_REALLOC_CLOSE:
        return TIE_CLOSE;
    default:
        return TIE_NONE;
    }
}

/* What the event list keeps by rank. */
typedef struct wide_row {
    u64 address, size;
    u32 thread, freer;
} wide_row;

static wide_row wide_take(const chunk_columns *wide, u32 rank)
{
    return (wide_row){ .address = wide->addresses == NULL ? 0 : wide->addresses[rank],
                       .size = wide->sizes == NULL ? 0 : wide->sizes[rank],
                       .thread = wide->threads == NULL ? 0 : wide->threads[rank],
                       .freer = wide->freers == NULL ? 0 : wide->freers[rank] };
}

static void wide_put(const chunk_columns *wide, u32 rank, const wide_row *row)
{
    if (wide->addresses != NULL)
        wide->addresses[rank] = row->address;
    if (wide->sizes != NULL)
        wide->sizes[rank] = row->size;
    if (wide->threads != NULL)
        wide->threads[rank] = row->thread;
    if (wide->freers != NULL)
        wide->freers[rank] = row->freer;
}

/* Moves events of a group to the places of others. A freer that still waits for its stack is known
 * by the rank of its event. False if memory runs out. */
static bool move(const tied_run *run, const tied_row *rows, u32 count, const u8 *from,
                 shard_output *out)
{
    const chunk_columns *const wide = &run->order->wide;
    ordered_event events[TIE_EVENTS_MAX];
    wide_row kept[TIE_EVENTS_MAX];
    bool ok = true;
    for (u32 i = 0; i < count; i++) {
        events[i] = run->events[rows[i].at];
        kept[i] = wide_take(wide, events[i].rank);
    }
    for (u32 i = 0; i < count; i++) {
        ordered_event *const place = &run->events[rows[i].at];
        const rank_move moved = { events[from[i]].rank, events[i].rank };
        *place = events[from[i]];
        place->rank = moved.to;
        wide_put(wide, moved.to, &kept[from[i]]);
        ok = ok &&
             (order_find_wait(run->bucket, moved.from) == NULL || ETLHEAP_PUSH(&out->moves, moved));
    }
    return ok;
}

/* Orders the events of one address. */
static void decide_group(const tied_run *run, const tied_row *rows, u32 count, bool is_live,
                         shard_output *out)
{
    tie_event events[TIE_EVENTS_MAX] = { { 0 } };
    u8 order[TIE_EVENTS_MAX];
    for (u32 i = 0; i < count; i++) {
        const ordered_event *const event = &run->events[rows[i].at];
        events[i] = (tie_event){ event->cpu, effect_of(event->op) };
    }
    if (!ties_merge(events, count, is_live, order))
        return;
    etl_diag_add(&out->diag, ETL_DIAG_ties_reordered, 1);
    out->out_of_memory |= !move(run, rows, count, order, out);
}

void tied_run_decide(tied_run *run, const block_table *table, const block_rules *rules,
                     shard_output *out)
{
    const tied_row *const rows = run->rows.at;
    for (u32 first = 0, end = 0; first < run->rows.count; first = end) {
        bool is_shared = false;
        while (end < run->rows.count && rows[end].address == rows[first].address &&
               rows[end].heap == rows[first].heap) {
            is_shared |= run->events[rows[end].at].cpu != run->events[rows[first].at].cpu;
            end++;
        }
        const i64 ticks = run->events[rows[first].at].ticks;
        if (is_shared && end - first > TIE_EVENTS_MAX)
            etl_diag_add(&out->diag, ETL_DIAG_ties_limited, 1);
        else if (is_shared)
            decide_group(run, rows + first, end - first,
                         blocks_is_live(table, rules, rows[first].heap, rows[first].address, ticks),
                         out);
    }
}
