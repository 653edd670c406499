/* blocks.c - see blocks.h. */
#include "blocks.h"

#include <stdlib.h>

/* Not at an event's own place in the journal. */
#define LATE JOURNAL_NO_RANK

static block *find_live(block_table *table, const block_rules *rules, const ordered_event *event,
                        shard_output *out);
static void open_block(block_table *table, const block_rules *rules, const ordered_event *event,
                       block *live, shard_output *out);
static void free_block(block_table *table, const block_rules *rules, block *found,
                       const ordered_event *event, shard_output *out);
static void close_block(block_table *table, const block_rules *rules, block *found,
                        const ordered_event *event, shard_output *out);
static bool is_somebody_elses(const block_rules *rules, const block *found,
                              const ordered_event *event);
static void mark_realloc(const block_table *table, block *found, const ordered_event *event,
                         shard_output *out);
static u64 size_of(const block_table *table, const block *from);

static u32 process_of(const block_rules *rules, u32 heap)
{
    return rules->slots->heaps.at[heap - 1].process;
}

void blocks_apply(block_table *table, const block_rules *rules, const ordered_event *event,
                  shard_output *out)
{
    /* A call that failed, or the free of NULL: nothing changes. */
    if (event->address == 0)
        return;
    block *const found = find_live(table, rules, event, out);
    switch ((memory_op)event->op) {
    case OP_ALLOC:
        open_block(table, rules, event, found, out);
        break;
    case OP_FREE:
        if (found != NULL) {
            free_block(table, rules, found, event, out);
        } else {
            process_counts *const counts = shard_counts(out, process_of(rules, event->heap));
            if (counts != NULL)
                counts->free_without_alloc[ETLHEAP_KIND_HEAP]++;
        }
        break;
    case OP_REALLOC_NEW:
        if (found != NULL && size_of(table, found) == event->size) {
            mark_realloc(table, found, event, out);
        } else {
            etl_diag_add(&out->diag, ETL_DIAG_realloc_synthesized, 1);
            open_block(table, rules, event, found, out);
        }
        break;
    case OP_REALLOC_OLD:
        if (found != NULL && !is_somebody_elses(rules, found, event)) {
            etl_diag_add(&out->diag, ETL_DIAG_realloc_synthesized, 1);
            free_block(table, rules, found, event, out);
        }
        break;
    case OP_REALLOC_CLOSE:
        if (found != NULL)
            close_block(table, rules, found, event, out);
        break;
    case OP_REALLOC_SAME:
        open_block(table, rules, event, found, out);
        break;
    default:
        break;
    }
}

/* Times are the file's and may be anything, so they are not subtracted. */
static bool is_soon_after(const block_rules *rules, const block *found, i64 ticks)
{
    return ticks <= etl_sat_add_i64(found->alloc_ticks, rules->race_ticks);
}

/* Between a moving realloc's free and its summary another thread may already
 * have been given the old address. */
static bool is_somebody_elses(const block_rules *rules, const block *found,
                              const ordered_event *event)
{
    return found->tid != event->tid && is_soon_after(rules, found, event->ticks);
}

void blocks_prepare(const block_table *table, ordered_event *event)
{
    event->hash = block_hash(event->heap, event->address);
    if (table->open.groups != NULL)
        __builtin_prefetch(&table->open.groups[block_pool_home(&table->open, event->hash)]);
}

void blocks_prefetch(const block_table *table, const ordered_event *event)
{
    const block *const guess = block_pool_guess(&table->open, event->hash);
    if (guess == NULL)
        return;
    __builtin_prefetch(guess);
    __builtin_prefetch((const u8 *)guess + sizeof *guess - 1);
}

static u64 size_of(const block_table *table, const block *from)
{
    if (from->size != BLOCK_SIZE_BIG)
        return from->size;
    size_t low = 0, high = table->big.count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (table->big.at[middle].rank < from->rank)
            low = middle + 1;
        else
            high = middle;
    }
    assert(low < table->big.count && table->big.at[low].rank == from->rank);
    return table->big.at[low].size;
}

static journal_block journal_block_of(const block_table *table, const block *from)
{
    return (journal_block){ .alloc_ticks = from->alloc_ticks,
                            .size = size_of(table, from),
                            .slot = from->slot,
                            .rank = from->rank,
                            .is_realloc = from->is_realloc };
}

static lifetime lifetime_of(const block_table *table, const block_rules *rules, const block *from)
{
    const heap_row *const heap = &rules->slots->heaps.at[from->heap - 1];
    return (lifetime){ .alloc_ticks = from->alloc_ticks,
                       .address = from->address,
                       .size = size_of(table, from),
                       .heap = heap->handle,
                       .process = heap->process,
                       .stack = rules->slots->slots.at[from->slot - 1].stack,
                       .thread = from->tid,
                       .kind = ETLHEAP_KIND_HEAP,
                       .is_realloc = from->is_realloc };
}

/* A block that was freed goes to the journal, if there is one, else to the rows.
 * `rank` is that of the event that frees it, in the slice, or LATE. */
static void emit_freed(const block_table *table, const block_rules *rules, const block *from,
                       journal_moment at, shard_output *out)
{
    at.ticks = at.ticks > from->alloc_ticks ? at.ticks : from->alloc_ticks;
    if (out->journal != NULL) {
        const journal_block noted = journal_block_of(table, from);
        out->out_of_memory |= !journal_note_end(out->journal, &noted, at);
        return;
    }
    lifetime row = lifetime_of(table, rules, from);
    row.free_ticks = at.ticks;
    row.free_type = ETLHEAP_FREE_FREE;
    shard_emit(out, &row);
}

static void mark_realloc(const block_table *table, block *found, const ordered_event *event,
                         shard_output *out)
{
    if (found->is_realloc)
        return;
    found->is_realloc = 1;
    if (out->journal == NULL)
        return;
    const journal_block noted = journal_block_of(table, found);
    const journal_moment at = { event->ticks, event->rank, ETLHEAP_FREE_NONE };
    out->out_of_memory |= !journal_note_realloc(out->journal, &noted, at);
}

static void drop_displaced(block_table *table, const block_rules *rules, block *owner,
                           journal_moment at, shard_output *out)
{
    const u32 index = owner->displaced - 1;
    emit_freed(table, rules, &table->displaced.at[index], at, out);
    table->displaced.at[index].displaced = table->free_displaced & 0x7FFFFFFF;
    table->free_displaced = index + 1;
    table->displaced_count--;
    owner->displaced = 0;
}

/* The displaced block, if any, ended when its address was given out again. */
static void settle_displaced(block_table *table, const block_rules *rules, block *owner,
                             shard_output *out)
{
    if (owner->displaced == 0)
        return;
    etl_diag_add(&out->diag, ETL_DIAG_alloc_over_live, 1);
    drop_displaced(table, rules, owner,
                   (journal_moment){ owner->alloc_ticks, LATE, ETLHEAP_FREE_FREE }, out);
}

/* Index + 1 of a copy of `from` in the displaced pool; 0 without memory. */
static u32 keep_displaced(block_table *table, const block *from)
{
    u32 index = table->free_displaced;
    if (index != 0) {
        table->free_displaced = table->displaced.at[index - 1].displaced;
        table->displaced.at[index - 1] = *from;
        return index;
    }
    if (table->displaced.count >= 0x7FFFFFFE || !ETLHEAP_PUSH(&table->displaced, *from))
        return 0;
    return (u32)table->displaced.count;
}

/* Tells the journal of a block that was just opened. */
static bool note_opened(const ordered_event *event, const block *opened, shard_output *out)
{
    shard_journal *const journal = out->journal;
    const journal_block noted = { .alloc_ticks = opened->alloc_ticks,
                                  .size = event->size,
                                  .slot = opened->slot,
                                  .rank = opened->rank,
                                  .is_realloc = opened->is_realloc };
    if (!journal_note_alloc(journal, &noted, event->rank))
        return false;
    return !event->stack_is_open || ETLHEAP_PUSH(&journal->unsure, opened->slot);
}

/* `live` is the open block of the same key, NULL when there is none. */
static void open_block(block_table *table, const block_rules *rules, const ordered_event *event,
                       block *live, shard_output *out)
{
    block *place = live;
    u32 displaced = 0;
    if (place != NULL) {
        settle_displaced(table, rules, place, out);
        displaced = keep_displaced(table, place);
        table->displaced_count += displaced != 0;
    } else {
        place = block_pool_add(&table->open, event->hash);
    }
    if (place == NULL || (live != NULL && displaced == 0)) {
        out->out_of_memory = true;
        return;
    }
    const bool is_big = event->size >= BLOCK_SIZE_BIG;
    *place = (block){ .address = event->address,
                      .alloc_ticks = event->ticks,
                      .heap = event->heap,
                      .slot = event->slot,
                      .size = is_big ? BLOCK_SIZE_BIG : (u32)event->size,
                      .tid = event->tid,
                      .rank = rules->first_rank + event->rank,
                      .displaced = displaced & 0x7FFFFFFF,
                      .is_realloc = event->op != OP_ALLOC,
                      .hash = event->hash };
    const bool kept = !is_big || ETLHEAP_PUSH(&table->big, (big_size){ place->rank, event->size });
    if (!kept || (out->journal != NULL && !note_opened(event, place, out)))
        out->out_of_memory = true;
}

static void free_block(block_table *table, const block_rules *rules, block *found,
                       const ordered_event *event, shard_output *out)
{
    if (found->displaced != 0 && is_soon_after(rules, found, event->ticks))
        drop_displaced(table, rules, found,
                       (journal_moment){ event->ticks, event->rank, ETLHEAP_FREE_FREE }, out);
    else
        close_block(table, rules, found, event, out);
}

static void close_block(block_table *table, const block_rules *rules, block *found,
                        const ordered_event *event, shard_output *out)
{
    settle_displaced(table, rules, found, out);
    emit_freed(table, rules, found,
               (journal_moment){ event->ticks, event->rank, ETLHEAP_FREE_FREE }, out);
    block_pool_remove(&table->open, found);
}

/* With its heap or process, or still in use: what nothing freed. */
static void end_unfreed(block_table *table, const block_rules *rules, block *place,
                        shard_output *out)
{
    settle_displaced(table, rules, place, out);
    lifetime row = lifetime_of(table, rules, place);
    shard_end_unfreed(rules->context, &row);
    if (out->journal == NULL) {
        shard_emit(out, &row);
        return;
    }
    const bool counts = row.free_type != ETLHEAP_FREE_PROCESS_EXIT || out->journal->exit_frees;
    const journal_block noted = journal_block_of(table, place);
    const journal_moment at = { counts ? row.free_ticks : ETLHEAP_TICKS_NEVER, LATE,
                                row.free_type };
    out->out_of_memory |= !journal_note_end(out->journal, &noted, at);
}

/* The block of the event's key, unless its heap was destroyed meanwhile. */
static block *find_live(block_table *table, const block_rules *rules, const ordered_event *event,
                        shard_output *out)
{
    block *const found = block_pool_find(&table->open, event);
    if (found == NULL)
        return NULL;
    const heap_row *const heap = &rules->slots->heaps.at[found->heap - 1];
    if (context_heap_end(rules->context, heap->process, heap->handle, found->alloc_ticks) >=
        event->ticks)
        return found;
    end_unfreed(table, rules, found, out);
    block_pool_remove(&table->open, found);
    return NULL;
}

static bool is_dead(const block_rules *rules, const block *place, i64 now_ticks)
{
    const trace_context *const context = rules->context;
    const heap_row *const heap = &rules->slots->heaps.at[place->heap - 1];
    const i64 exit_ticks = context->processes.at[heap->process - 1].end_ticks;
    if (etl_sat_add_i64(exit_ticks, context->after_end_ticks) < now_ticks)
        return true;
    return context_heap_end(context, heap->process, heap->handle, place->alloc_ticks) < now_ticks;
}

void blocks_sweep(block_table *table, const block_rules *rules, i64 now_ticks, shard_output *out)
{
    for (u32 i = 0; i < table->open.used; i++) {
        block *const place = &table->open.blocks[i];
        if (place->heap == 0 || !is_dead(rules, place, now_ticks))
            continue;
        end_unfreed(table, rules, place, out);
        block_pool_remove(&table->open, place);
    }
}

void blocks_settle(block_table *table, const block_rules *rules, i64 now_ticks, shard_output *out)
{
    for (u32 i = 0; table->displaced_count > 0 && i < table->open.used; i++) {
        block *const place = &table->open.blocks[i];
        if (place->heap != 0 && !is_soon_after(rules, place, now_ticks))
            settle_displaced(table, rules, place, out);
    }
}

void blocks_finish(block_table *table, const block_rules *rules, shard_output *out)
{
    for (u32 i = 0; i < table->open.used; i++) {
        if (table->open.blocks[i].heap != 0)
            end_unfreed(table, rules, &table->open.blocks[i], out);
    }
    blocks_free(table);
}

void blocks_free(block_table *table)
{
    block_pool_free(&table->open);
    ETLHEAP_VECTOR_FREE(&table->displaced);
    ETLHEAP_VECTOR_FREE(&table->big);
    *table = (block_table){ 0 };
}
