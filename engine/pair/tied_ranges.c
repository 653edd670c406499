/*
 * tied_ranges.c - puts events of ranges and custom blocks that have one time in the order that
 * their addresses tell.
 *
 * In: events of one time, in the list of a range shard. Out: the same list, in which the events
 * that begin at one address may have changed places. Memory is live if it is reserved or committed,
 * so a decommit changes nothing here.
 */
#include "tied_ranges.h"

#include <stdlib.h>

#include "range_map.h"
#include "range_owners.h"
#include "ties.h"

/* An event, to be sorted by what it is about. */
typedef struct tied_range {
    u64 address, heap;
    u32 process;
    u32 at; /* in the list */
    u8 kind;
} tied_range;

static bool is_same_place(const tied_range *a, const tied_range *b)
{
    return a->address == b->address && a->heap == b->heap && a->process == b->process &&
           a->kind == b->kind;
}

static int by_place(const void *a, const void *b)
{
    const tied_range *const x = a, *const y = b;
    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if (x->heap != y->heap)
        return x->heap < y->heap ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

static u8 effect_of(u8 op)
{
    switch ((memory_op)op) {
    case OP_COMMIT:
    case OP_RESERVE_ALONE:
    case OP_EXPAND:
    case OP_CUSTOM_ALLOC:
        return TIE_ALLOC;
    case OP_RELEASE:
    case OP_CONTRACT:
    case OP_CUSTOM_FREE:
        return TIE_FREE;
    default:
        break;
    }
    const key_effect effect = op_key_effect(op);
    return effect == KEY_ALLOC ? TIE_ALLOC : effect == KEY_FREE ? TIE_FREE : TIE_NONE;
}

static bool is_live(const tied_tables *tables, const ordered_event *events, const tied_range *place)
{
    if (key_blocks_has_kind(place->kind))
        return key_blocks_is_live(tables->keyed, events[place->at].range, place->kind,
                                  events[place->at].heap);
    const range_owner *const owner =
        range_owner_of(tables->ranges, place->process, place->kind, place->heap);
    const u64 end = etl_sat_add_u64(place->address, 1);
    return owner != NULL && (range_map_has(&owner->committed, place->address, end) ||
                             range_map_has(&owner->reserved, place->address, end) ||
                             range_map_has(&owner->empty, place->address, end));
}

/* Orders the events of one place. */
static void decide_group(ordered_event *events, const tied_range *rows, u32 count, bool live,
                         shard_output *out)
{
    tie_event ties[TIE_EVENTS_MAX] = { { 0 } };
    ordered_event moved[TIE_EVENTS_MAX];
    u8 order[TIE_EVENTS_MAX];
    for (u32 i = 0; i < count; i++) {
        moved[i] = events[rows[i].at];
        ties[i] = (tie_event){ moved[i].cpu, effect_of(moved[i].op) };
    }
    if (!ties_merge(ties, count, live, order))
        return;
    etl_diag_add(&out->diag, ETL_DIAG_ties_reordered, 1);
    for (u32 i = 0; i < count; i++)
        events[rows[i].at] = moved[order[i]];
}

/* What an event is about: an address of an owner, or a key. */
static tied_range place_of(const ordered_event *ordered, u8 kind)
{
    const memory_event *const event = ordered->range;
    tied_range place = { .address = event->address, .process = ordered->heap, .kind = kind };
    if (key_blocks_has_kind(kind))
        place.process = key_blocks_space(event, kind, ordered->heap);
    else if (etlheap_kind_has(kind, ETLHEAP_KIND_HAS_HEAP))
        place.heap = event->heap;
    return place;
}

void tied_ranges_decide(ordered_event *events, u32 count, const tied_tables *tables,
                        shard_output *out)
{
    u32 same = 1;
    while (same < count && events[same].cpu == events[0].cpu)
        same++;
    if (same == count)
        return;
    tied_range *const rows = malloc(count * sizeof *rows);
    if (rows == NULL) {
        out->out_of_memory = true;
        return;
    }
    for (u32 i = 0; i < count; i++) {
        const u8 kind = (u8)op_kind(events[i].op);
        rows[i] = place_of(&events[i], kind);
        rows[i].at = i;
    }
    qsort(rows, count, sizeof *rows, by_place);
    for (u32 first = 0, end = 0; first < count; first = end) {
        bool is_shared = false;
        for (; end < count && is_same_place(&rows[end], &rows[first]); end++)
            is_shared |= events[rows[end].at].cpu != events[rows[first].at].cpu;
        if (is_shared && end - first > TIE_EVENTS_MAX)
            etl_diag_add(&out->diag, ETL_DIAG_ties_limited, 1);
        else if (is_shared)
            decide_group(events, rows + first, end - first, is_live(tables, events, &rows[first]),
                         out);
    }
    free(rows);
}
