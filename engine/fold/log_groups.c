/*
 * log_groups.c - finds the groups of events: by origin if a query depends only on owners and
 * stacks, else by single block. Rows are few or in memory, so they are always grouped one by one.
 *
 * In: a query, and a log, an event list or rows. Out: `of_word`, by which a walk finds the group of
 * an event. Invariant: both ways give the same groups if both are possible.
 */
#include "log_groups.h"

#include <stdlib.h>

#include "engine/query/needs.h"
#include "log_pass.h"

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

bool log_groups_exist(const aggregator *a, feed_source source)
{
    return source == FEED_LOG ? etlheap_result_is_for_questions(a->result)
                              : a->result->store.rows > 0;
}

/* Without a walk, there are sums by type, of which the query may select some. */
static bool needs_blocks(const etlheap_query *query, const log_groups_wanted *wanted)
{
    return query_needs(query, NEEDS_BLOCKS) &&
           (wanted->walks_events || !query_fits_typed_sums(query));
}

etl_status log_groups_begin(log_groups *out, aggregator *a, const log_groups_wanted *wanted,
                            log_pass *pass, etl_error *err)
{
    const u32 heap_bit = 1u << ETLHEAP_KIND_HEAP;
    const bool has_heap = (query_kinds(a->query) & heap_bit) != 0;
    const bool is_log = wanted->source == FEED_LOG;
    const feed_rows *const rows = is_log ? NULL : &pass->feed.rows;
    *out = (log_groups){ .source = wanted->source,
                         .by_block = !is_log || (has_heap && needs_blocks(a->query, wanted)) };
    if (!origin_groups_open(&out->origins, a, rows, is_log))
        return etl_no_memory(err);
    const etl_status status = origin_groups_count(&out->origins, err);
    if (status != ETL_OK)
        return status;
    out->of_word = out->origins.of_origin;
    out->word_count = out->origins.origin_count;
    out->count = (u32)out->origins.keys.count;
    if (!out->by_block)
        return ETL_OK;
    if (query_needs(a->query, NEEDS_FREES) && !free_groups_open(&out->frees, a, rows))
        return etl_no_memory(err);
    const block_groups_wanted blocks = { &out->origins, &out->frees, wanted->walks_events,
                                         wanted->churns };
    return block_groups_begin(&out->blocks, a, &blocks, pass, err);
}

etl_status log_groups_finish(log_groups *groups, u32 first_group, etl_error *err)
{
    if (!groups->by_block)
        return ETL_OK;
    const etl_status status = block_groups_finish(&groups->blocks, first_group, err);
    if (status != ETL_OK)
        return status;
    groups->word_count = groups->count = (u32)groups->blocks.groups.count;
    return number_words(groups) ? ETL_OK : etl_no_memory(err);
}

void log_groups_close(log_groups *groups)
{
    block_groups_close(&groups->blocks);
    origin_groups_close(&groups->origins);
    free_groups_close(&groups->frees);
    free(groups->identity);
    groups->identity = NULL;
}

group_key log_groups_key(const log_groups *groups, u32 number)
{
    return groups->by_block ? block_groups_key(&groups->blocks, number)
                            : groups->origins.keys.at[number];
}
