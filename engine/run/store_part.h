/*
 * store_part.h - writes a store of a part of another store.
 *
 * Blocks are kept whole, so three readings of the events decide and write, and memory grows only by
 * two bits for each block of the store:
 *
 *     1  which blocks belong to the part           a bit for each block
 *     2  which origins and freers these name       marks, later new numbers
 *     3  the events of these blocks                segments of the new file
 *
 * Everything that has a number (stacks, origins, owners, heaps, processes) is renumbered in the old
 * order, so that rows that compare equal keep their order.
 */
#ifndef ETLHEAP_STORE_PART_H
#define ETLHEAP_STORE_PART_H

#include "engine/log/store_batch.h"
#include "engine/query/query.h"
#include "engine/result/archive.h"

/* New numbers by old ones. While the part is being chosen: 1 for what is kept. */
typedef struct part_numbers {
    u32 *of; /* [0] stays 0 */
    u32 count;
    u32 kept; /* after part_number */
} part_numbers;

typedef struct store_part {
    const etlheap_result *from;
    const ehs_archive *archive;
    const etlheap_part *part;
    query_plan plan; /* processes of the part */
    u32 kinds;
    i64 from_ticks, to_ticks; /* open ends: the least and the largest number */
    bool *origin_selected;
    rank_map blocks; /* ordinals of kept blocks, as ranks that opened one */
    part_numbers stacks, origins, owners, heaps, freers, processes;
    const u32 *cancel;
} store_part;

/* True if a lifetime belongs to the part, whether or not exits of processes count as ends. */
bool store_part_touches(const store_part *part, i64 alloc_ticks, i64 free_ticks, u8 free_type);

static inline void part_mark(const part_numbers *numbers, u32 old)
{
    numbers->of[old] = old != 0;
}

/* Readings 1 and 2 of the heap events; reading 3 writes into a batch. ETL_ERR_CORRUPT,
 * ETL_ERR_MEMORY, ETL_ERR_IO, ETL_ERR_CANCELLED. */
etl_status part_blocks_find(store_part *part, etl_error *err);
etl_status part_blocks_mark(store_part *part, etl_error *err);
etl_status part_blocks_write(store_part *part, store_batch *batch, etl_error *err);

/* Writes the facts of the part, without processes that it does not have, and the strings. Call it
 * last. False if memory runs out. */
bool part_facts_save(ehs_saver *saver, const store_part *part);

/* Marks the processes to keep: those of the part, and those that explain its stacks. */
void part_facts_mark(store_part *part);

/* Writes the part of the store that `from` was read from, as options->store says. Errors as for
 * etlheap_store_part. */
etl_status store_part_write(const etlheap_result *from, const etlheap_part *asked,
                            const etlheap_options *options, etl_error *err);

#endif
