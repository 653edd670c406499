/* lifetimes_memory.c - the memory that a walk takes; see lifetimes.h. */
#include "lifetimes.h"

/* What of frames grows with the stacks; what is reserved for more is not in use. */
static u64 frames_bytes(const frame_table *frames)
{
    return frames_finder_bytes(&frames->finder) +
           ((u64)frames->first_count + 1) * sizeof *frames->firsts +
           frames->frames.count * sizeof *frames->frames.at +
           frames->pool.count * sizeof *frames->pool.at +
           frames->stacks.count * sizeof *frames->stacks.at +
           frames->cache.capacity * sizeof *frames->cache.at;
}

static u64 table_bytes(const owned_table *table)
{
    return table == NULL ? 0
                         : table->frames.capacity * sizeof *table->frames.at +
                               table->places.capacity * sizeof *table->places.at +
                               table->stack_starts.capacity * sizeof *table->stack_starts.at +
                               table->frame_indices.capacity * sizeof *table->frame_indices.at;
}

/* Sorting takes the items once more. */
static u64 list_bytes(const walk_list *list)
{
    return list->rows.capacity * sizeof *list->rows.at +
           list->items.capacity * 2 * sizeof *list->items.at;
}

static u64 result_bytes(const etlheap_result *result)
{
    return result->stacks.arena.total_bytes +
           result->stacks.number_count * sizeof *result->stacks.addresses +
           result->stacks.numbered_count * sizeof *result->stacks.numbers +
           result->context.strings.arena.total_bytes +
           result->stacks.list.capacity * sizeof *result->stacks.list.at +
           result->store.rows * sizeof(lifetime);
}

etl_status walk_check_memory(const etlheap_lifetimes *walk, etl_error *err)
{
    const u64 allowed = walk->options.memory_bytes_max;
    if (allowed == 0)
        return ETL_OK;
    const u64 rows = list_bytes(&walk->kept);
    const u64 bytes = result_bytes(walk->result) + frames_bytes(&walk->frames) +
                      table_bytes(walk->table) + table_bytes(walk->base) + rows +
                      list_bytes(&walk->batch) + lifetimes_source_bytes(&walk->archive.source);
    if (bytes <= allowed)
        return ETL_OK;
    return etl_fail_hint(err, ETL_ERR_LIMIT,
                         rows > bytes / 2 ? ETL_HINT_FEWER_ROWS : ETL_HINT_NARROWER_WINDOW,
                         "this needs %llu MiB of memory, more than allowed",
                         (unsigned long long)(bytes / ETL_MIB + 1));
}
