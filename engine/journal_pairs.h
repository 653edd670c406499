/*
 * journal_pairs.h - which (stack, owner) pairs a journal's allocations have.
 *
 * All that a report says of a block but its size and times follows from where
 * it was allocated and for whom. There are as many pairs as there are stacks,
 * give or take, so what takes time (names, culling, filters) is done per pair.
 */
#ifndef ETLHEAP_JOURNAL_PAIRS_H
#define ETLHEAP_JOURNAL_PAIRS_H

#include "journal.h"

typedef struct pair_row {
    u32 stack; /* final id, 0: none */
    u32 owner; /* number in owner_rows */
    u64 allocs;
} pair_row;

typedef struct journal_pairs {
    u32 *owners[HEAP_SHARDS];                     /* number in owner_rows by the shard's number */
    ETLHEAP_VECTOR(journal_owner_row) owner_rows; /* number n is at[n - 1] */
    ETLHEAP_VECTOR(pair_row) list;                /* pair n is at[n - 1] */
    etlheap_index index;
    u32 *first_pair; /* by stack: the pair to try first */
} journal_pairs;

/* Walks the journal once. ETL_ERR_MEMORY, ETL_ERR_IO. */
etl_status journal_pairs_build(journal_pairs *out, const etlheap_result *result);
void journal_pairs_free(journal_pairs *pairs);

/* The pair, 0 when no allocation has it. */
u32 journal_pairs_find(const journal_pairs *pairs, u32 stack, u32 owner);

static inline u32 journal_pairs_owner(const journal_pairs *pairs, const journal_entry *entry)
{
    return pairs->owners[journal_shard(entry->owner_flags)][journal_owner(entry->owner_flags)];
}

/* The pair of an entry's block. A stack nearly always has one owner: that pair is
 * tried first. */
#define journal_pair_of(pairs, result, entry)                                                      \
    journal_pair_lookup((pairs), result_final_stack((result), (entry)->stack), (entry))

static inline u32 journal_pair_lookup(const journal_pairs *pairs, u32 stack,
                                      const journal_entry *entry)
{
    const u32 owner = journal_pairs_owner(pairs, entry);
    const u32 first = pairs->first_pair[stack];
    if (first != 0 && pairs->list.at[first - 1].owner == owner)
        return first;
    return journal_pairs_find(pairs, stack, owner);
}

#endif
