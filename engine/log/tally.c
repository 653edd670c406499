/*
 * tally.c - sums of heap blocks by origin and bin. tally.h says when a run needs nothing else.
 *
 * In: blocks that have ended. Out: count, size and reallocs by origin. Invariant: which task counts
 * a block may depend on threads, but sums do not, because nothing is cut off before they are added
 * up.
 */
#include "tally.h"

#include <stdlib.h>

static bool fit(origin_tally *tally, u32 bin, u32 origin);

bool tally_add(origin_tally *tally, const tally_block *block)
{
    if (block->origin >= tally->bins[block->bin].count && !fit(tally, block->bin, block->origin))
        return false;
    __builtin_prefetch(&tally->bins[block->bin].at[block->origin], 1);
    tally_block *const place = &tally->waiting[tally->next_waiting++ % TALLY_WAITING];
    const tally_block due = *place;
    *place = *block;
    if (due.origin == 0)
        return true;
    tally_cell *const cell = &tally->bins[due.bin].at[due.origin];
    if (cell->count == UINT32_MAX || due.cell.size > UINT64_MAX - cell->size)
        return ETLHEAP_PUSH(&tally->unfit, due);
    cell->size += due.cell.size;
    cell->count++;
    cell->realloc_count += due.cell.realloc_count;
    return true;
}

/* Origins are numbered as they come, so there will be more. */
static bool fit(origin_tally *tally, u32 bin, u32 origin)
{
    const size_t count = tally->bins[bin].count;
    const size_t more = origin + (size_t)1 - count;
    if (!ETLHEAP_RESERVE(&tally->bins[bin], more))
        return false;
    memset(tally->bins[bin].at + count, 0, more * sizeof(tally_cell));
    tally->bins[bin].count += more;
    return true;
}

static void add_cell(type_sums *to, const tally_cell *cell)
{
    const type_sums sums = { .count = cell->count,
                             .size = (i64)etl_min_u64(cell->size, INT64_MAX),
                             .realloc_count = cell->realloc_count };
    tally_add_sums(to, &sums);
}

static void add_block(const tally_block *block, type_sums *sums)
{
    add_cell(&sums[(size_t)block->origin * TALLY_BINS + block->bin], &block->cell);
}

void tally_sum(const origin_tally *tally, type_sums *sums)
{
    for (u32 bin = 0; bin < TALLY_BINS; bin++) {
        for (size_t origin = 0; origin < tally->bins[bin].count; origin++)
            add_cell(&sums[origin * TALLY_BINS + bin], &tally->bins[bin].at[origin]);
    }
    for (size_t i = 0; i < tally->unfit.count; i++)
        add_block(&tally->unfit.at[i], sums);
    for (u32 i = 0; i < TALLY_WAITING; i++)
        add_block(&tally->waiting[i], sums);
}

void tally_add_sums(type_sums *to, const type_sums *from)
{
    to->count = etl_sat_add_i64(to->count, from->count);
    to->size = etl_sat_add_i64(to->size, from->size);
    to->realloc_count = etl_sat_add_i64(to->realloc_count, from->realloc_count);
}

u64 tally_bytes(const origin_tally *tally)
{
    u64 bytes = tally->unfit.capacity * sizeof *tally->unfit.at;
    for (u32 bin = 0; bin < TALLY_BINS; bin++)
        bytes += tally->bins[bin].capacity * sizeof *tally->bins[bin].at;
    return bytes;
}

void tally_free(origin_tally *tally)
{
    for (u32 bin = 0; bin < TALLY_BINS; bin++)
        ETLHEAP_VECTOR_FREE(&tally->bins[bin]);
    ETLHEAP_VECTOR_FREE(&tally->unfit);
}
