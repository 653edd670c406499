/* journal.c - what the shards note; see journal.h. The merge is journal_merge.c. */
#include "journal.h"

#include <stdlib.h>
#include <unistd.h>

/* Twice the 2 ms that late events of a process are waited for, and to spare. */
#define PATIENCE_NS        ((i64)8 * 1000 * 1000)
#define RESIDENT_BYTES_MAX ((u64)96 << 20)

void journal_open(event_journal *journal, const timebase *base, i64 from_ticks, i64 to_ticks,
                  bool exit_frees)
{
    *journal = (event_journal){ .is_kept = true,
                                .from_ticks = from_ticks,
                                .to_ticks = to_ticks,
                                .exit_frees = exit_frees,
                                .patience_ticks = timebase_span(base, PATIENCE_NS),
                                .resident_bytes_max = RESIDENT_BYTES_MAX,
                                .file = -1 };
    for (u32 i = 0; i < HEAP_SHARDS; i++)
        journal->shards[i] = (shard_journal){ .is_kept = true,
                                              .shard = i,
                                              .from_ticks = from_ticks,
                                              .to_ticks = to_ticks,
                                              .exit_frees = exit_frees };
}

static void free_shard(shard_journal *shard)
{
    ETLHEAP_VECTOR_FREE(&shard->entries);
    ETLHEAP_VECTOR_FREE(&shard->owners);
    etlheap_index_free(&shard->owner_index);
    ETLHEAP_VECTOR_FREE(&shard->big);
    ETLHEAP_VECTOR_FREE(&shard->skipped);
    ETLHEAP_VECTOR_FREE(&shard->survivors);
    free(shard->survivor_bits);
    shard->survivor_bits = NULL;
}

void journal_free(event_journal *journal)
{
    if (!journal->is_kept)
        return;
    for (u32 i = 0; i < HEAP_SHARDS; i++)
        free_shard(&journal->shards[i]);
    for (size_t i = 0; i < journal->chunks.count; i++)
        free(journal->chunks.at[i].entries);
    ETLHEAP_VECTOR_FREE(&journal->chunks);
    free(journal->spill_folder);
    journal->spill_folder = NULL;
    if (journal->file >= 0)
        close(journal->file);
    journal->is_kept = false;
}

static bool same_owner(const void *owner, u32 id, const void *key)
{
    const shard_journal *const journal = owner;
    return journal_same_owner(&journal->owners.at[id - 1], key);
}

u32 journal_owner_of(shard_journal *journal, u32 process, u64 heap, u32 epoch, i64 ticks)
{
    const journal_owner_row wanted = { heap, process, epoch, ticks };
    if (journal->last_owner != 0 && same_owner(journal, journal->last_owner, &wanted))
        return journal->last_owner;
    const u64 hash = journal_owner_hash(&wanted);
    u32 id = etlheap_index_find(&journal->owner_index, hash, same_owner, journal, &wanted);
    if (id == 0) {
        if (journal->owners.count >= JOURNAL_OWNER_MAX || !ETLHEAP_PUSH(&journal->owners, wanted))
            return 0;
        id = (u32)journal->owners.count;
        if (!etlheap_index_add(&journal->owner_index, hash, id))
            return 0;
    }
    journal->last_owner = id;
    return id;
}

static bool note(shard_journal *journal, const journal_block *block, i64 ticks, u32 flags)
{
    const bool is_inside = block->alloc_ticks >= journal->from_ticks;
    flags |= (is_inside ? JOURNAL_INSIDE : 0) | (block->is_realloc ? JOURNAL_REALLOC : 0);
    const shard_entry row = { ticks,
                              { .stack = block->stack,
                                .size = block->size >= JOURNAL_SIZE_BIG ? JOURNAL_SIZE_BIG
                                                                        : (u32)block->size,
                                .owner_flags = block->owner << 10 | journal->shard << 5 | flags,
                                .seq = block->seq } };
    const size_t count = journal->entries.count;
    journal->is_unsorted |= count > 0 && journal->entries.at[count - 1].ticks > ticks;
    return ETLHEAP_PUSH(&journal->entries, row);
}

bool journal_note_alloc(shard_journal *journal, journal_block *block)
{
    block->seq = JOURNAL_NO_SEQ;
    if (block->alloc_ticks >= journal->to_ticks) {
        const bool is_known = block->stack != STACK_NONE && (block->stack & STACK_TAG_MASK) == 0;
        return is_known || ETLHEAP_PUSH(&journal->skipped, block->stack);
    }
    if (journal->next_seq >= JOURNAL_NO_SEQ - 1)
        return false;
    block->seq = journal->next_seq++;
    if (block->size >= JOURNAL_SIZE_BIG &&
        !ETLHEAP_PUSH(&journal->big, (journal_big){ block->seq, block->size }))
        return false;
    return note(journal, block, block->alloc_ticks, 0);
}

bool journal_note_end(shard_journal *journal, const journal_block *block, i64 ticks)
{
    if (block->seq == JOURNAL_NO_SEQ)
        return true;
    if (ticks >= journal->to_ticks)
        return ETLHEAP_PUSH(&journal->survivors, block->seq);
    return note(journal, block, ticks, JOURNAL_FREE);
}

bool journal_note_realloc(shard_journal *journal, const journal_block *block, i64 ticks)
{
    return block->seq == JOURNAL_NO_SEQ || note(journal, block, ticks, JOURNAL_MARK);
}

u64 journal_size(const event_journal *journal, const journal_entry *entry)
{
    if (entry->size != JOURNAL_SIZE_BIG)
        return entry->size;
    const shard_journal *const shard = &journal->shards[journal_shard(entry->owner_flags)];
    size_t low = 0, high = shard->big.count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (shard->big.at[middle].seq < entry->seq)
            low = middle + 1;
        else
            high = middle;
    }
    assert(low < shard->big.count && shard->big.at[low].seq == entry->seq);
    return shard->big.at[low].size;
}
