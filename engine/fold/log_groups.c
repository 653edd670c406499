/*
 * log_groups.c - finds the groups of heap events: by slot if a query depends only on owners and
 * stacks, else by single block.
 *
 * In: a query and a log or journal. Out: `of_word`, by which a walk finds the group of an event.
 * Invariant: both ways give the same groups if both are possible.
 */
#include "log_groups.h"

#include <stdlib.h>

#include "engine/query/needs.h"

static etl_status no_memory(etl_error *err)
{
    return etl_fail_with(err, ETL_ERR_MEMORY, 0, "out of memory");
}

/* Words have numbers of groups + 1. */
static bool number_words(log_groups *groups)
{
    const u32 count = groups->count;
    groups->identity = malloc(((size_t)count + 1) * sizeof *groups->identity);
    if (groups->identity == NULL)
        return false;
    groups->identity[0] = GROUP_NONE;
    for (u32 i = 1; i <= count; i++)
        groups->identity[i] = i - 1;
    groups->of_word = groups->identity;
    return true;
}

etl_status log_groups_begin(log_groups *out, aggregator *a, const log_groups_wanted *wanted,
                            struct log_pass *pass, etl_error *err)
{
    const u32 heap_bit = 1u << ETLHEAP_KIND_HEAP;
    const bool has_heap = (query_kinds(a->query) & heap_bit) != 0;
    *out = (log_groups){ .by_block = has_heap && query_needs(a->query, NEEDS_BLOCKS) };
    if (!slot_groups_open(&out->slots, a, NULL))
        return no_memory(err);
    out->of_word = out->slots.of_slot;
    out->word_count = (u32)out->slots.slots->slots.count;
    out->count = (u32)out->slots.keys.count;
    if (!out->by_block)
        return ETL_OK;
    if (query_needs(a->query, NEEDS_FREES) && !free_groups_open(&out->frees, a))
        return no_memory(err);
    const block_groups_wanted blocks = { &out->slots, &out->frees, wanted->first_group,
                                         wanted->walks_events };
    return block_groups_begin(&out->blocks, a, &blocks, pass, err);
}

etl_status log_groups_finish(log_groups *groups, etl_error *err)
{
    if (!groups->by_block)
        return ETL_OK;
    const etl_status status = block_groups_finish(&groups->blocks, err);
    if (status != ETL_OK)
        return status;
    groups->word_count = groups->count = (u32)groups->blocks.groups.count;
    return number_words(groups) ? ETL_OK : no_memory(err);
}

void log_groups_close(log_groups *groups)
{
    block_groups_close(&groups->blocks);
    slot_groups_close(&groups->slots);
    free_groups_close(&groups->frees);
    free(groups->identity);
    groups->identity = NULL;
}

group_key log_groups_key(const log_groups *groups, u32 number)
{
    return groups->by_block ? block_groups_key(&groups->blocks, number)
                            : groups->slots.keys.at[number];
}
