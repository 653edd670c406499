/*
 * blocks.c - opens and closes heap blocks of one shard. blocks.h has the rules and the table for
 * allocations over open blocks.
 *
 * In: ordered events of the shard's keys. Out: entries of the event list, or lifetimes, in
 * shard_output. Open blocks are in a pool with an index by (process, heap, address).
 *
 * An event changes only the block at its own address, so shards need no locks. Invariant: a block
 * ends exactly once. A block whose end is in doubt stays in the table of displaced blocks until
 * the next event at its address, or until patience runs out, decides.
 */
#include "blocks.h"

#include <stdlib.h>

#include "shared_addresses.h"

/* Not at an event's own place in the event list. */
#define LATE ENTRY_NO_RANK

static u32 process_of(const block_rules *rules, u32 heap)
{
    return rules->origins->heaps.at[heap - 1].process;
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
    size_t low;
    ETL_BISECT(low, 0, table->big.count, table->big.at[low].rank < from->rank);
    assert(low < table->big.count && table->big.at[low].rank == from->rank);
    return table->big.at[low].size;
}

static entry_block entry_block_of(const block_table *table, const block *from)
{
    return (entry_block){ .alloc_ticks = from->alloc_ticks,
                          .size = size_of(table, from),
                          .origin = from->origin,
                          .rank = from->rank,
                          .is_realloc = from->is_realloc };
}

static lifetime lifetime_of(const block_table *table, const block_rules *rules, const block *from)
{
    const heap_row *const heap = &rules->origins->heaps.at[from->heap - 1];
    return (lifetime){ .alloc_ticks = from->alloc_ticks,
                       .address = from->address,
                       .size = size_of(table, from),
                       .heap = heap->handle,
                       .process = heap->process,
                       .stack = rules->origins->origins.at[from->origin - 1].stack,
                       .thread = from->tid,
                       .free_thread = ETL_NO_ID,
                       .kind = ETLHEAP_KIND_HEAP,
                       .is_realloc = from->is_realloc };
}

static inline void note_end(const block_table *table, const block *from, entry_place at,
                            shard_output *out)
{
    const entry_block noted = entry_block_of(table, from);
    const bool ok = from->waiting == 0
                        ? shard_events_note_end(out->events, &noted, at)
                        : waiting_blocks_note_end(&table->waiting, from, out->events, &noted, at);
    out->out_of_memory |= !ok;
}

/* Puts a freed block into the event list, if there is one, else into the rows. `rank` is the rank
 * of the freeing event in the slice, or LATE. */
static void emit_freed(const block_table *table, const block_rules *rules, const block *from,
                       entry_place at, shard_output *out)
{
    at.ticks = at.ticks > from->alloc_ticks ? at.ticks : from->alloc_ticks;
    if (out->events != NULL) {
        note_end(table, from, at, out);
        return;
    }
    lifetime row = lifetime_of(table, rules, from);
    row.free_ticks = at.ticks;
    row.free_type = ETLHEAP_FREE_FREE;
    shard_emit(out, &row);
}

/* Notes that a realloc opened a block. The summary may be logged after its process ended, which
 * has ended the block too. */
static void note_realloc(const block_table *table, const block_rules *rules, block *found,
                         const ordered_event *event, shard_output *out)
{
    const u32 process = process_of(rules, found->heap);
    if (found->is_realloc || rules->context->processes.at[process - 1].end_ticks < event->ticks)
        return;
    found->is_realloc = 1;
    if (out->events == NULL)
        return;
    const entry_block noted = entry_block_of(table, found);
    const entry_place at = { event->ticks, event->rank, ETLHEAP_FREE_NONE, false };
    waiting_block *const waiting = waiting_block_of(&table->waiting, found);
    if (waiting != NULL)
        waiting->realloc_rank = rules->first_rank + event->rank;
    out->out_of_memory |= !shard_events_note_realloc(out->events, &noted, at);
}

/* The block that `newer` displaced, NULL for none. */
static displaced_block *displaced_by(const block_table *table, const block *newer)
{
    return newer->displaced == 0 ? NULL : &table->displaced.at[newer->displaced - 1];
}

/* The moment of the free in doubt, which lies in the past; without one, of an end that nobody
 * logged. */
static entry_place place_of_doubt(const displaced_block *older, i64 ticks)
{
    return older->in_doubt
               ? (entry_place){ older->free_ticks, older->free_rank, ETLHEAP_FREE_FREE, true }
               : (entry_place){ ticks, LATE, ETLHEAP_FREE_FREE, false };
}

/* Ends the displaced block at a moment in the past. */
static void drop_displaced(block_table *table, const block_rules *rules, block *newer,
                           entry_place at, shard_output *out)
{
    displaced_block *const older = displaced_by(table, newer);
    emit_freed(table, rules, &older->from, at, out);
    older->in_use = false;
    older->next_free = table->free_displaced;
    table->free_displaced = newer->displaced;
    table->displaced_count--;
    newer->displaced = 0;
}

/* Decides that the free in doubt, if there is one, was the displaced block's. */
static void decide_as_late(block_table *table, const block_rules *rules, block *newer,
                           shard_output *out)
{
    const displaced_block *const older = displaced_by(table, newer);
    drop_displaced(table, rules, newer, place_of_doubt(older, older->free_ticks), out);
}

/* Decides that the displaced block's free was lost. The free in doubt, if there is one, was then
 * the newer block's, which is gone: false. */
static bool decide_as_lost(block_table *table, const block_rules *rules, block *newer,
                           shard_output *out)
{
    const displaced_block older = *displaced_by(table, newer);
    etl_diag_add(&out->diag, ETL_DIAG_alloc_over_live, 1);
    const entry_place lost = { newer->alloc_ticks, LATE, ETLHEAP_FREE_FREE, false };
    drop_displaced(table, rules, newer, lost, out);
    if (!older.in_doubt)
        return true;
    emit_freed(table, rules, newer, place_of_doubt(&older, older.free_ticks), out);
    block_pool_remove(&table->open, newer);
    return false;
}

/* Guesses whose the free in doubt was, because nothing more came. It is late if another CPU logged
 * it, soon enough after the newer block's alloc, and either nothing was lost or the thread is the
 * older block's; otherwise a lost free is more likely. */
static bool is_late(const block_rules *rules, const displaced_block *older, const block *newer)
{
    const bool is_likely = !rules->is_lossy || older->free_tid == older->from.tid;
    return is_likely && may_be_two_cpus(older->free_cpu, older->newer_cpu) &&
           older->free_ticks <= etl_sat_add_i64(newer->alloc_ticks, rules->race_ticks);
}

/* Decides what the block displaced, if anything, without another event; false if the block itself
 * is gone. */
static bool decide_displaced(block_table *table, const block_rules *rules, block *newer,
                             shard_output *out)
{
    const displaced_block *const older = displaced_by(table, newer);
    if (older == NULL)
        return true;
    if (older->in_doubt)
        etl_diag_add(&out->diag, ETL_DIAG_pairing_guessed, 1);
    if (!older->in_doubt || !is_late(rules, older, newer))
        return decide_as_lost(table, rules, newer, out);
    decide_as_late(table, rules, newer, out);
    return true;
}

/* The newer block's address is given out again, so one of two frees was lost or is late. If the
 * free in doubt is by the older block's thread, that is certain enough. If it is by another thread,
 * it is taken as lost, which cannot shift all later pairs of the address. */
static bool decide_before_alloc(block_table *table, const block_rules *rules, block *newer,
                                shard_output *out)
{
    const displaced_block *const older = displaced_by(table, newer);
    if (!older->in_doubt || !is_late(rules, older, newer))
        return decide_as_lost(table, rules, newer, out);
    if (older->free_tid != older->from.tid) {
        etl_diag_add(&out->diag, ETL_DIAG_pairing_guessed, 1);
        return decide_as_lost(table, rules, newer, out);
    }
    decide_as_late(table, rules, newer, out);
    return true;
}

/* Has the next event at the address been waited for long enough? */
static bool is_overdue(const block_rules *rules, const displaced_block *older, const block *newer,
                       i64 now_ticks)
{
    const i64 since = older->in_doubt ? older->free_ticks : newer->alloc_ticks;
    return now_ticks > etl_sat_add_i64(since, rules->patience_ticks);
}

/* Copies a block to the displaced ones and returns its index + 1; 0 without memory. */
static u32 keep_displaced(block_table *table, const block *from, u16 newer_cpu)
{
    const displaced_block kept = { .from = *from,
                                   .newer = (u32)(from - table->open.blocks),
                                   .newer_cpu = newer_cpu,
                                   .in_use = true };
    u32 index = table->free_displaced;
    if (index != 0) {
        table->free_displaced = table->displaced.at[index - 1].next_free;
        table->displaced.at[index - 1] = kept;
    } else {
        if (table->displaced.count >= 0x7FFFFFFE || !ETLHEAP_PUSH(&table->displaced, kept))
            return 0;
        index = (u32)table->displaced.count;
    }
    table->displaced_count++;
    return index;
}

/* Notes in the event list a block that was just opened. */
static bool note_opened(const ordered_event *event, const block *opened, shard_output *out)
{
    shard_events *const events = out->events;
    const entry_block noted = { .alloc_ticks = opened->alloc_ticks,
                                .size = event->size,
                                .origin = opened->origin,
                                .rank = opened->rank,
                                .is_realloc = opened->is_realloc };
    if (!shard_events_note_alloc(events, &noted, event->rank))
        return false;
    /* Waiting blocks are resolved together with their stacks. */
    return !event->stack_is_open || opened->waiting != 0 ||
           ETLHEAP_PUSH(&events->unsure, opened->origin);
}

/* Opens a block. `live` is the open block of the same key; NULL if there is none. */
static void open_block(block_table *table, const block_rules *rules, const ordered_event *event,
                       block *live, shard_output *out)
{
    if (live != NULL && live->displaced != 0 && !decide_before_alloc(table, rules, live, out))
        live = NULL;
    block *const place = live != NULL ? live : block_pool_add(&table->open, event->hash);
    const u32 displaced = live != NULL ? keep_displaced(table, live, event->cpu) : 0;
    if (place == NULL || (live != NULL && displaced == 0)) {
        out->out_of_memory = true;
        return;
    }
    const bool is_big = event->size >= BLOCK_SIZE_BIG;
    *place = (block){ .address = event->address,
                      .alloc_ticks = event->ticks,
                      .heap = event->heap,
                      .origin = event->origin,
                      .size = is_big ? BLOCK_SIZE_BIG : (u32)event->size,
                      .tid = event->tid,
                      .rank = rules->first_rank + event->rank,
                      .displaced = displaced & 0x7FFFFFFF,
                      .is_realloc = event->op != OP_ALLOC,
                      .hash = event->hash };
    if ((event->origin & ORIGIN_OF_WAITING) != 0)
        waiting_blocks_open(&table->waiting, place);
    const bool kept = !is_big || ETLHEAP_PUSH(&table->big, (big_size){ place->rank, event->size });
    if (!kept || (out->events != NULL && !note_opened(event, place, out)))
        out->out_of_memory = true;
}

static void close_block(block_table *table, const block_rules *rules, block *found,
                        const ordered_event *event, shard_output *out)
{
    emit_freed(table, rules, found,
               (entry_place){ event->ticks, event->rank, ETLHEAP_FREE_FREE, false }, out);
    block_pool_remove(&table->open, found);
}

/* Closes a block that has certainly ended, so a free in doubt before was not its own. */
static void close_newer(block_table *table, const block_rules *rules, block *found,
                        const ordered_event *event, shard_output *out)
{
    const displaced_block *const older = displaced_by(table, found);
    if (older != NULL && older->in_doubt)
        decide_as_late(table, rules, found, out);
    else if (older != NULL)
        (void)decide_as_lost(table, rules, found, out);
    close_block(table, rules, found, event, out);
}

static void free_block(block_table *table, const block_rules *rules, block *found,
                       const ordered_event *event, shard_output *out)
{
    displaced_block *const older = displaced_by(table, found);
    if (older == NULL || older->in_doubt || event->tid == found->tid) {
        close_newer(table, rules, found, event, out);
        return;
    }
    older->in_doubt = true;
    older->free_ticks = event->ticks;
    older->free_tid = event->tid;
    older->free_rank = rules->first_rank + event->rank;
    older->free_cpu = event->cpu;
}

/*
 * Did the alloc of the realloc open the block? Thread and size tell: nobody else knows the address
 * before the summary. Without a free before the summary there was no alloc either, unless records
 * are missing; then it is an older block whose free is late.
 */
static bool is_own_block(const block_table *table, const block_rules *rules, const block *found,
                         const ordered_event *event)
{
    return (event->op == OP_REALLOC_NEW || rules->is_lossy) && found->tid == event->tid &&
           size_of(table, found) == event->size;
}

/* Applies the new address of a realloc. If its alloc was logged, the summary shows which block it
 * opened. */
static void supply_new(block_table *table, const block_rules *rules, const ordered_event *event,
                       block *found, shard_output *out)
{
    if (found != NULL && is_own_block(table, rules, found, event)) {
        const displaced_block *const older = displaced_by(table, found);
        if (older != NULL && older->in_doubt)
            decide_as_late(table, rules, found, out);
        note_realloc(table, rules, found, event, out);
        return;
    }
    etl_diag_add(&out->diag, ETL_DIAG_realloc_synthesized, 1);
    open_block(table, rules, event, found, out);
}

/* Decides by the realloc's own free, which was logged: the realloc knows the size that it freed. */
static void decide_by_size(block_table *table, const block_rules *rules, block *found,
                           const ordered_event *event, shard_output *out)
{
    const displaced_block *const older = displaced_by(table, found);
    if (older == NULL || !older->in_doubt || older->free_tid != event->tid)
        return;
    const bool fits_older = size_of(table, &older->from) == event->size;
    const bool fits_newer = size_of(table, found) == event->size;
    if (fits_older && !fits_newer)
        decide_as_late(table, rules, found, out);
    else if (fits_newer && !fits_older)
        (void)decide_as_lost(table, rules, found, out);
}

/*
 * Is the block at the old address the one that moved, whose free was not seen? Between that free
 * and the summary another thread may have got the address. The old block was still there when the
 * new one was allocated, which tells them apart. If not, a system that logs only summaries means
 * the block of that size; one that logs frees lost this one, and only an old block is certainly the
 * right one.
 */
static bool is_old_block(const block_table *table, const block_rules *rules, const block *found,
                         const ordered_event *event, shard_output *out)
{
    if (found->tid == event->tid)
        return true; /* its thread was busy with the realloc */
    if (event->op == OP_REALLOC_OLD && event->origin != 0)
        return found->alloc_ticks <= etl_sat_add_i64(event->ticks, -(i64)(event->origin - 1));
    etl_diag_add(&out->diag, ETL_DIAG_pairing_guessed, 1);
    return (event->op == OP_REALLOC_ALONE && size_of(table, found) == event->size) ||
           event->ticks > etl_sat_add_i64(found->alloc_ticks, rules->patience_ticks);
}

static void supply_free(block_table *table, const block_rules *rules, block *found,
                        const ordered_event *event, shard_output *out)
{
    if (!is_old_block(table, rules, found, event, out))
        return;
    etl_diag_add(&out->diag, ETL_DIAG_realloc_synthesized, 1);
    close_newer(table, rules, found, event, out);
}

/* Puts out a block that nothing freed: it ended with its heap or process, or is still
 * outstanding. */
static void emit_unfreed(const block_table *table, const block_rules *rules, const block *place,
                         shard_output *out)
{
    lifetime row = lifetime_of(table, rules, place);
    shard_end_unfreed(rules->context, &row);
    if (context_heap_created(rules->context, row.process, row.heap, row.alloc_ticks,
                             row.free_ticks))
        etl_diag_add(&out->diag, ETL_DIAG_create_over_live, 1);
    if (out->events == NULL) {
        shard_emit(out, &row);
        return;
    }
    const bool counts = row.free_type != ETLHEAP_FREE_PROCESS_EXIT || out->events->exit_frees;
    const entry_place at = { counts ? row.free_ticks : ETLHEAP_TICKS_NEVER, LATE, row.free_type,
                             false };
    note_end(table, place, at, out);
}

/* Removes such a block from the table. */
static void end_unfreed(block_table *table, const block_rules *rules, block *place,
                        shard_output *out)
{
    if (!decide_displaced(table, rules, place, out))
        return;
    emit_unfreed(table, rules, place, out);
    block_pool_remove(&table->open, place);
}

/* Was the heap of the block destroyed meanwhile? */
static bool is_dead(const block_rules *rules, const block *found, i64 ticks)
{
    const heap_row *const heap = &rules->origins->heaps.at[found->heap - 1];
    return context_heap_end(rules->context, heap->process, heap->handle, found->alloc_ticks) <
           ticks;
}

bool blocks_is_live(const block_table *table, const block_rules *rules, u32 heap, u64 address,
                    i64 ticks)
{
    const ordered_event key = { .address = address,
                                .heap = heap,
                                .hash = block_hash(heap, address) };
    const block *const found = block_pool_find(&table->open, &key);
    return found != NULL && !is_dead(rules, found, ticks);
}

/* The block of the event's key, unless its heap was destroyed meanwhile. */
static block *find_live(block_table *table, const block_rules *rules, const ordered_event *event,
                        shard_output *out)
{
    block *const found = block_pool_find(&table->open, event);
    if (found == NULL)
        return NULL;
    if (!is_dead(rules, found, event->ticks)) {
        const displaced_block *const older = displaced_by(table, found);
        const bool is_due = older != NULL && is_overdue(rules, older, found, event->ticks);
        return is_due && !decide_displaced(table, rules, found, out) ? NULL : found;
    }
    end_unfreed(table, rules, found, out);
    return NULL;
}

static void count_unknown_free(const block_rules *rules, const ordered_event *event,
                               shard_output *out)
{
    process_counts *const counts = shard_counts(out, process_of(rules, event->heap));
    if (counts != NULL)
        counts->free_without_alloc[ETLHEAP_KIND_HEAP]++;
    if (out->events != NULL && out->events->is_wide)
        shard_events_note_unmatched(out->events, event->heap);
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
    case OP_REALLOC_SAME:
        open_block(table, rules, event, found, out);
        break;
    case OP_FREE:
        if (found != NULL)
            free_block(table, rules, found, event, out);
        else
            count_unknown_free(rules, event, out);
        break;
    case OP_REALLOC_NEW:
    case OP_REALLOC_UNSEEN:
        supply_new(table, rules, event, found, out);
        break;
    case OP_REALLOC_FREED:
        if (found != NULL)
            decide_by_size(table, rules, found, event, out);
        break;
    case OP_REALLOC_OLD:
    case OP_REALLOC_ALONE:
        if (found != NULL)
            supply_free(table, rules, found, event, out);
        break;
    case OP_REALLOC_CLOSE:
        if (found != NULL)
            close_newer(table, rules, found, event, out);
        break;
    default:
        break;
    }
}

block *blocks_find(const block_table *table, u32 heap, u64 address, u32 rank)
{
    const ordered_event key = { .address = address,
                                .heap = heap,
                                .hash = block_hash(heap, address) };
    block *const found = block_pool_find(&table->open, &key);
    displaced_block *const older = found == NULL ? NULL : displaced_by(table, found);
    if (older != NULL && older->from.rank == rank)
        return &older->from;
    return found != NULL && found->rank == rank ? found : NULL;
}

/* What a sweep knows about a heap: which of its blocks are dead. */
typedef struct heap_death {
    u32 heap;
    bool is_dead;    /* some may be: those allocated ... */
    i64 until_ticks; /* ... up to here */
} heap_death;

#define DEATHS 256u /* remembered */

static heap_death death_of(const block_rules *rules, u32 number, i64 now_ticks)
{
    const trace_context *const context = rules->context;
    const heap_row *const heap = &rules->origins->heaps.at[number - 1];
    const i64 exit_ticks = context->processes.at[heap->process - 1].end_ticks;
    heap_death death = { .heap = number, .is_dead = true, .until_ticks = INT64_MAX };
    if (etl_sat_add_i64(exit_ticks, context->after_end_ticks) >= now_ticks)
        death.is_dead =
            context_heap_ended(context, heap->process, heap->handle, now_ticks, &death.until_ticks);
    return death;
}

/* Removes dead blocks. Most blocks are live and belong to a few heaps, whose state is remembered,
 * so each costs no more than a look. */
void blocks_sweep(block_table *table, const block_rules *rules, i64 now_ticks, shard_output *out)
{
    heap_death deaths[DEATHS] = { { 0 } };
    for (u32 i = 0; i < table->open.used; i++) {
        block *const place = &table->open.blocks[i];
        if (place->heap == 0)
            continue;
        heap_death *const death = &deaths[place->heap % DEATHS];
        if (death->heap != place->heap)
            *death = death_of(rules, place->heap, now_ticks);
        if (death->is_dead && place->alloc_ticks <= death->until_ticks)
            end_unfreed(table, rules, place, out);
    }
}

void blocks_decide(block_table *table, const block_rules *rules, i64 now_ticks, shard_output *out)
{
    for (size_t i = 0; table->displaced_count > 0 && i < table->displaced.count; i++) {
        const displaced_block *const older = &table->displaced.at[i];
        block *const newer = older->in_use ? &table->open.blocks[older->newer] : NULL;
        if (newer != NULL && is_overdue(rules, older, newer, now_ticks))
            (void)decide_displaced(table, rules, newer, out);
    }
}

void blocks_finish(block_table *table, const block_rules *rules, shard_output *out)
{
    for (u32 i = 0; i < table->open.used; i++) {
        block *const place = &table->open.blocks[i];
        if (place->heap != 0 && decide_displaced(table, rules, place, out))
            emit_unfreed(table, rules, place, out);
    }
    u64 shared = 0;
    out->out_of_memory |=
        !shared_addresses_count(&table->open, rules->origins, rules->context, &shared);
    etl_diag_add(&out->diag, ETL_DIAG_address_in_two_heaps, shared);
    blocks_free(table);
}

void blocks_free(block_table *table)
{
    block_pool_free(&table->open);
    ETLHEAP_VECTOR_FREE(&table->displaced);
    ETLHEAP_VECTOR_FREE(&table->big);
    waiting_blocks_free(&table->waiting);
    *table = (block_table){ 0 };
}
