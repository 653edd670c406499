/* journal_pairs.c - see journal_pairs.h. */
#include "journal_pairs.h"

#include <stdlib.h>

#include "result.h"

static bool number_owners(journal_pairs *pairs, const event_journal *journal);
static etl_status find_pairs(journal_pairs *pairs, const etlheap_result *result);

etl_status journal_pairs_build(journal_pairs *out, const etlheap_result *result)
{
    *out = (journal_pairs){ .first_pair =
                                calloc(result->stacks.list.count + 1, sizeof *out->first_pair) };
    if (out->first_pair == NULL || !number_owners(out, &result->journal))
        return ETL_ERR_MEMORY;
    return find_pairs(out, result);
}

void journal_pairs_free(journal_pairs *pairs)
{
    for (u32 i = 0; i < HEAP_SHARDS; i++)
        free(pairs->owners[i]);
    ETLHEAP_VECTOR_FREE(&pairs->owner_rows);
    ETLHEAP_VECTOR_FREE(&pairs->list);
    etlheap_index_free(&pairs->index);
    free(pairs->first_pair);
    *pairs = (journal_pairs){ 0 };
}

static bool same_owner(const void *owner, u32 id, const void *key)
{
    const journal_pairs *const r = owner;
    return journal_same_owner(&r->owner_rows.at[id - 1], key);
}

/* Each shard numbers owners for itself; here they get one number each. */
static bool number_owners(journal_pairs *r, const event_journal *journal)
{
    etlheap_index index = { 0 };
    bool ok = true;
    for (u32 s = 0; ok && s < HEAP_SHARDS; s++) {
        const shard_journal *const shard = &journal->shards[s];
        r->owners[s] = calloc(shard->owners.count + 1, sizeof *r->owners[s]);
        ok = r->owners[s] != NULL;
        for (u32 i = 0; ok && i < shard->owners.count; i++) {
            const journal_owner_row *const row = &shard->owners.at[i];
            const u64 hash = journal_owner_hash(row);
            u32 id = etlheap_index_find(&index, hash, same_owner, r, row);
            if (id == 0) {
                ok = ETLHEAP_PUSH(&r->owner_rows, *row);
                id = (u32)r->owner_rows.count;
                ok = ok && etlheap_index_add(&index, hash, id);
            }
            if (!ok)
                break;
            journal_owner_row *const kept = &r->owner_rows.at[id - 1];
            kept->first_ticks =
                row->first_ticks < kept->first_ticks ? row->first_ticks : kept->first_ticks;
            r->owners[s][i + 1] = id;
        }
    }
    etlheap_index_free(&index);
    return ok;
}

static bool same_pair(const void *owner, u32 id, const void *key)
{
    const journal_pairs *const r = owner;
    const pair_row *const a = &r->list.at[id - 1], *const b = key;
    return a->stack == b->stack && a->owner == b->owner;
}

static u64 hash_pair(u32 stack, u32 owner)
{
    return etlheap_hash_u64((u64)owner << 32 | stack);
}

u32 journal_pairs_find(const journal_pairs *r, u32 stack, u32 owner)
{
    const pair_row wanted = { .stack = stack, .owner = owner };
    return etlheap_index_find(&r->index, hash_pair(stack, owner), same_pair, r, &wanted);
}

static bool add_pair(journal_pairs *r, u32 stack, u32 owner)
{
    const pair_row fresh = { .stack = stack, .owner = owner };
    if (r->list.count >= UINT32_MAX - 1 || !ETLHEAP_PUSH(&r->list, fresh) ||
        !etlheap_index_add(&r->index, hash_pair(stack, owner), (u32)r->list.count))
        return false;
    if (r->first_pair[stack] == 0)
        r->first_pair[stack] = (u32)r->list.count;
    return true;
}

static bool find_in_chunk(journal_pairs *r, const etlheap_result *result,
                          const journal_entry *entries, u32 count)
{
    for (u32 i = 0; i < count; i++) {
        if ((entries[i].owner_flags & (JOURNAL_FREE | JOURNAL_MARK)) != 0)
            continue;
        u32 pair = journal_pair_of(r, result, &entries[i]);
        if (pair == 0) {
            const u32 stack = result_final_stack(result, entries[i].stack);
            if (!add_pair(r, stack, journal_pairs_owner(r, &entries[i])))
                return false;
            pair = (u32)r->list.count;
        }
        r->list.at[pair - 1].allocs++;
    }
    return true;
}

static etl_status find_pairs(journal_pairs *r, const etlheap_result *result)
{
    const event_journal *const journal = &result->journal;
    for (size_t c = 0; c < journal->chunks.count; c++) {
        const journal_entry *const entries = journal_map(journal, c);
        if (entries == NULL)
            return ETL_ERR_IO;
        const bool ok = find_in_chunk(r, result, entries, journal->chunks.at[c].count);
        journal_release(journal, c, entries);
        if (!ok)
            return ETL_ERR_MEMORY;
    }
    return ETL_OK;
}
