/*
 * late_stacks.c - updates blocks whose stack arrived, or was given up, after their slice.
 * late_stacks.h draws the way.
 *
 * In: resolved waits of the join. Out: origins of open blocks, words of the event list and counts
 * of the tally. Invariant: a resolved number may already lead to another block; ranks are compared
 * before anything is changed.
 */
#include "late_stacks.h"

#include <stdlib.h>

/* The word of an event of the block gets the origin, or will with others that are late. */
static bool set_word(late_stacks *late, u32 rank, u32 origin)
{
    const ranked_origin wanted = { rank, origin };
    return rank == ENTRY_NO_RANK || event_list_set_origin(late->event_list, wanted) ||
           ETLHEAP_PUSH(&late->words, wanted);
}

/* An end that was noticed late has the rank of the block. */
static bool set_words(late_stacks *late, const waiting_block *row, u32 origin)
{
    const bool is_late_end = row->is_ended && row->end_rank == ENTRY_NO_RANK;
    return set_word(late, row->rank, origin) && set_word(late, row->realloc_rank, origin) &&
           set_word(late, row->end_rank, origin) &&
           (!is_late_end || ETLHEAP_PUSH(&late->words, (ranked_origin){ row->rank, origin }));
}

/* The block has another origin than that of no stack, or a thread that was not known. */
static bool change_block(late_stacks *late, const block_table *table, const waiting_block *row,
                         u32 origin, u32 tid)
{
    block *const open =
        row->is_ended ? NULL : blocks_find(table, row->heap, row->address, row->rank);
    assert(row->is_ended || open != NULL);
    if (open != NULL) {
        open->origin = origin;
        open->tid = open->tid == ETL_NO_ID ? tid : open->tid;
    }
    if (!late->event_list->is_kept)
        return true;
    if (tid != ETL_NO_ID)
        event_list_set_thread(late->event_list, row->rank, tid);
    return set_words(late, row, origin);
}

/* It ended while it waited. */
static bool count_end(const late_stacks *late, const waiting_block *row, u32 origin)
{
    const tally_block counted = { { row->size, 1, row->is_realloc }, origin, row->bin };
    return row->bin == WAITING_BIN_NONE || tally_add(&late->workers->tallies[0], &counted);
}

static bool resolve(late_stacks *late, const resolved_block *resolved)
{
    pair_shard *const shard = &late->workers->shards[resolved->shard];
    if (resolved->number >= shard->blocks.waiting.at.count)
        return true; /* its event opened no block */
    waiting_block *const row = &shard->blocks.waiting.at.at[resolved->number];
    if (row->rank == ENTRY_NO_RANK)
        return true;
    u32 origin = row->origin;
    if (resolved->stack != STACK_NONE)
        origin = origins_add(late->origins, resolved->stack,
                             late->origins->origins.at[origin - 1].owner);
    const bool is_changed = resolved->stack != STACK_NONE || resolved->tid != ETL_NO_ID;
    const bool is_unsure = resolved->stack == STACK_NONE || (resolved->stack & STACK_TAG_MASK) != 0;
    const bool ok =
        origin != 0 &&
        (!is_changed || change_block(late, &shard->blocks, row, origin, resolved->tid)) &&
        count_end(late, row, origin) &&
        (!is_unsure || ETLHEAP_PUSH(&shard->out.events->unsure, origin));
    row->rank = ENTRY_NO_RANK;
    return ok;
}

static bool set_freer(const late_stacks *late, u32 rank, u32 owner, stack_ref stack)
{
    const u32 freer = origins_add(&late->freers->origins, stack, owner);
    if (freer != 0)
        event_list_set_freer(late->event_list, rank, freer);
    return freer != 0;
}

/* The stack of a realloc is that of what it ended, too. */
static bool resolve_freer(const late_stacks *late, const resolved_block *resolved)
{
    freer_table *const freers = late->freers;
    if (resolved->number >= freers->waits[resolved->shard].count)
        return true;
    freer_place *const place = &freers->waits[resolved->shard].at[resolved->number];
    const u32 rank = place->rank;
    place->rank = ENTRY_NO_RANK;
    return rank == ENTRY_NO_RANK || resolved->stack == STACK_NONE ||
           set_freer(late, rank, place->owner, resolved->stack);
}

/* Stacks of what ended something in an earlier slice. */
static bool resolve_freers(const late_stacks *late, const stack_join *join)
{
    bool ok = true;
    for (size_t i = 0; ok && i < join->resolved.count; i++)
        ok = resolve_freer(late, &join->resolved.at[i]);
    for (size_t i = 0; ok && i < late->frees->resolved.count; i++) {
        const resolved_free *const row = &late->frees->resolved.at[i];
        ok = set_freer(late, row->rank, row->owner, row->stack);
    }
    return ok;
}

bool late_stacks_apply(late_stacks *late, const stack_join *join)
{
    late->words.count = 0;
    for (size_t i = 0; i < join->resolved.count; i++) {
        if (!resolve(late, &join->resolved.at[i]))
            return false;
    }
    event_list_set_late_origins(late->event_list, late->words.at, late->words.count);
    return late->freers == NULL || resolve_freers(late, join);
}

void late_stacks_free(late_stacks *late)
{
    ETLHEAP_VECTOR_FREE(&late->words);
}
