/* blocks.c - see blocks.h. */
#include "blocks.h"

#include <stdlib.h>

#define SLOTS_MIN 64u
#define SLOTS_MAX ((u32)1 << 30)

/* A block to be opened, and the live one of its key, NULL when there is none. */
typedef struct opening {
    const memory_event *event;
    u32 process;
    block *live;
} opening;

static block *find(const block_table *table, const memory_event *event, u32 process);
static block *find_live(block_table *table, const block_rules *rules, const memory_event *event,
                        u32 process, shard_output *out);
static void open_block(block_table *table, const block_rules *rules, const opening *wanted,
                       shard_output *out);
static void free_block(block_table *table, const block_rules *rules, block *found, i64 ticks,
                       shard_output *out);
static void close_block(block_table *table, block *found, i64 ticks, shard_output *out);
static bool is_somebody_elses(const block_rules *rules, const block *found,
                              const memory_event *event);
static void mark_realloc(block *found, i64 ticks, shard_output *out);

void blocks_apply(block_table *table, const block_rules *rules, const memory_event *event,
                  u32 process, shard_output *out)
{
    /* A call that failed, or the free of NULL: nothing changes. */
    if (event->address == 0)
        return;
    block *const found = find_live(table, rules, event, process, out);
    opening opened = { event, process, found };
    switch ((memory_op)event->op) {
    case OP_ALLOC:
        open_block(table, rules, &opened, out);
        break;
    case OP_FREE:
        if (found != NULL) {
            free_block(table, rules, found, event->ticks, out);
        } else {
            process_counts *const counts = shard_counts(out, process);
            if (counts != NULL)
                counts->free_without_alloc[ETLHEAP_KIND_HEAP]++;
        }
        break;
    case OP_REALLOC_NEW:
        if (found != NULL && found->size == event->size) {
            mark_realloc(found, event->ticks, out);
        } else {
            etl_diag_add(&out->diag, ETL_DIAG_realloc_synthesized, 1);
            open_block(table, rules, &opened, out);
        }
        break;
    case OP_REALLOC_OLD:
        if (found != NULL && !is_somebody_elses(rules, found, event)) {
            etl_diag_add(&out->diag, ETL_DIAG_realloc_synthesized, 1);
            free_block(table, rules, found, event->ticks, out);
        }
        break;
    case OP_REALLOC_SAME:
        if (found != NULL)
            close_block(table, found, event->ticks, out);
        opened.live = NULL;
        open_block(table, rules, &opened, out);
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
                              const memory_event *event)
{
    return found->tid != event->tid && is_soon_after(rules, found, event->ticks);
}

static u32 home(const block_table *table, u32 process, u64 heap, u64 address)
{
    const u64 mixed = address ^ heap << 17 ^ (u64)process << 45;
    return (u32)(etlheap_hash_u64(mixed) >> 20) & table->mask;
}

void blocks_prefetch(const block_table *table, u32 process, u64 heap, u64 address)
{
    if (table->slots == NULL)
        return;
    const block *const slot = &table->slots[home(table, process, heap, address)];
    __builtin_prefetch(slot);
    __builtin_prefetch((const u8 *)slot + sizeof *slot - 1);
}

static block *find(const block_table *table, const memory_event *event, u32 process)
{
    if (table->count == 0)
        return NULL;
    u32 at = home(table, process, event->heap, event->address);
    for (;; at = (at + 1) & table->mask) {
        block *const slot = &table->slots[at];
        if (slot->process == 0)
            return NULL;
        if (slot->address == event->address && slot->heap == event->heap &&
            slot->process == process)
            return slot;
    }
}

static bool grow(block_table *table)
{
    const u32 old_count = table->slots == NULL ? 0 : table->mask + 1;
    if (old_count >= SLOTS_MAX)
        return false;
    const u32 new_count = old_count == 0 ? SLOTS_MIN : old_count * 2;
    block *const slots = calloc(new_count, sizeof *slots);
    if (slots == NULL)
        return false;
    block *const old = table->slots;
    table->slots = slots;
    table->mask = new_count - 1;
    for (u32 i = 0; i < old_count; i++) {
        if (old[i].process == 0)
            continue;
        u32 at = home(table, old[i].process, old[i].heap, old[i].address);
        while (slots[at].process != 0)
            at = (at + 1) & table->mask;
        slots[at] = old[i];
    }
    free(old);
    return true;
}

/* A free slot for a key that is not in the table; NULL without memory. */
static block *insert(block_table *table, u32 process, u64 heap, u64 address)
{
    if (table->slots == NULL || table->count >= table->mask / 4 * 3) {
        if (!grow(table))
            return NULL;
    }
    u32 at = home(table, process, heap, address);
    while (table->slots[at].process != 0)
        at = (at + 1) & table->mask;
    table->count++;
    return &table->slots[at];
}

/* Moves later members of the probe run back, so that no tombstone is needed. */
static void erase(block_table *table, block *slot)
{
    u32 hole = (u32)(slot - table->slots);
    u32 at = hole;
    for (;;) {
        at = (at + 1) & table->mask;
        const block *const next = &table->slots[at];
        if (next->process == 0)
            break;
        const u32 wanted = home(table, next->process, next->heap, next->address);
        if (((at - wanted) & table->mask) >= ((at - hole) & table->mask)) {
            table->slots[hole] = *next;
            hole = at;
        }
    }
    table->slots[hole].process = 0;
    table->count--;
}

static lifetime lifetime_of(const block *from)
{
    return (lifetime){ .alloc_ticks = from->alloc_ticks,
                       .address = from->address,
                       .size = from->size,
                       .heap = from->heap,
                       .process = from->process,
                       .stack = from->stack,
                       .thread = from->tid,
                       .kind = ETLHEAP_KIND_HEAP,
                       .is_realloc = from->is_realloc };
}

static journal_block journal_block_of(const block *from)
{
    return (journal_block){ .alloc_ticks = from->alloc_ticks,
                            .size = from->size,
                            .stack = from->stack,
                            .owner = from->owner,
                            .seq = from->seq,
                            .is_realloc = from->is_realloc };
}

/* A finished lifetime goes to the journal, if there is one, else to the rows. */
static void emit(const block *from, const lifetime *row, shard_output *out)
{
    if (out->journal == NULL) {
        shard_emit(out, row);
        return;
    }
    const bool counts = row->free_type != ETLHEAP_FREE_PROCESS_EXIT || out->journal->exit_frees;
    const journal_block noted = journal_block_of(from);
    if (!journal_note_end(out->journal, &noted, counts ? row->free_ticks : ETLHEAP_TICKS_NEVER))
        out->out_of_memory = true;
}

static void emit_freed(const block *from, i64 ticks, shard_output *out)
{
    lifetime row = lifetime_of(from);
    row.free_ticks = ticks > from->alloc_ticks ? ticks : from->alloc_ticks;
    row.free_type = ETLHEAP_FREE_FREE;
    emit(from, &row, out);
}

/* Tells the journal of a block that was just opened. */
static void note_opened(const block_rules *rules, block *opened, shard_output *out)
{
    if (out->journal == NULL)
        return;
    shard_journal *const journal = out->journal;
    const i64 ticks = opened->alloc_ticks;
    if (journal->epoch_process != opened->process || ticks < journal->epoch_from_ticks ||
        ticks >= journal->epoch_until_ticks) {
        const u32 pid = rules->context->processes.at[opened->process - 1].pid;
        const image_epoch epoch = context_image_epoch(rules->context, pid, ticks);
        journal->epoch_process = opened->process;
        journal->epoch = epoch.number;
        journal->epoch_from_ticks = epoch.from_ticks;
        journal->epoch_until_ticks = epoch.until_ticks;
    }
    opened->owner = journal_owner_of(journal, opened->process, opened->heap, journal->epoch, ticks);
    journal_block noted = journal_block_of(opened);
    if (opened->owner == 0 || !journal_note_alloc(journal, &noted))
        out->out_of_memory = true;
    opened->seq = noted.seq;
}

static void mark_realloc(block *found, i64 ticks, shard_output *out)
{
    if (found->is_realloc)
        return;
    found->is_realloc = 1;
    const journal_block noted = journal_block_of(found);
    if (out->journal != NULL && !journal_note_realloc(out->journal, &noted, ticks))
        out->out_of_memory = true;
}

static void drop_displaced(block_table *table, block *owner, i64 ticks, shard_output *out)
{
    const u32 index = owner->displaced - 1;
    emit_freed(&table->displaced.at[index], ticks, out);
    table->displaced.at[index].displaced = table->free_displaced & 0x7FFFFFFF;
    table->free_displaced = index + 1;
    table->displaced_count--;
    owner->displaced = 0;
}

/* The displaced block, if any, ended when its address was given out again. */
static void settle_displaced(block_table *table, block *owner, shard_output *out)
{
    if (owner->displaced == 0)
        return;
    etl_diag_add(&out->diag, ETL_DIAG_alloc_over_live, 1);
    drop_displaced(table, owner, owner->alloc_ticks, out);
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

static void open_block(block_table *table, const block_rules *rules, const opening *wanted,
                       shard_output *out)
{
    const memory_event *const event = wanted->event;
    const u32 process = wanted->process;
    block *slot = wanted->live;
    u32 displaced = 0;
    if (slot != NULL) {
        settle_displaced(table, slot, out);
        displaced = keep_displaced(table, slot);
        table->displaced_count += displaced != 0;
    } else {
        slot = insert(table, process, event->heap, event->address);
    }
    if (slot == NULL || (slot->process != 0 && displaced == 0)) {
        out->out_of_memory = true;
        return;
    }
    *slot = (block){ .address = event->address,
                     .heap = event->heap,
                     .alloc_ticks = event->ticks,
                     .size = event->size,
                     .process = process,
                     .stack = event->stack,
                     .tid = event->tid,
                     .displaced = displaced & 0x7FFFFFFF,
                     .is_realloc = event->op != OP_ALLOC };
    note_opened(rules, slot, out);
}

static void free_block(block_table *table, const block_rules *rules, block *found, i64 ticks,
                       shard_output *out)
{
    if (found->displaced != 0 && is_soon_after(rules, found, ticks))
        drop_displaced(table, found, ticks, out);
    else
        close_block(table, found, ticks, out);
}

static void close_block(block_table *table, block *found, i64 ticks, shard_output *out)
{
    settle_displaced(table, found, out);
    emit_freed(found, ticks, out);
    erase(table, found);
}

static void end_unfreed(block_table *table, const block_rules *rules, block *slot,
                        shard_output *out)
{
    settle_displaced(table, slot, out);
    lifetime row = lifetime_of(slot);
    shard_end_unfreed(rules->context, &row);
    emit(slot, &row, out);
}

/* The block of the event's key, unless its heap was destroyed meanwhile. */
static block *find_live(block_table *table, const block_rules *rules, const memory_event *event,
                        u32 process, shard_output *out)
{
    block *const found = find(table, event, process);
    if (found == NULL ||
        context_heap_end(rules->context, process, found->heap, found->alloc_ticks) >= event->ticks)
        return found;
    end_unfreed(table, rules, found, out);
    erase(table, found);
    return NULL;
}

static bool is_dead(const block_rules *rules, const block *slot, i64 now_ticks)
{
    const trace_context *const context = rules->context;
    const i64 exit_ticks = context->processes.at[slot->process - 1].end_ticks;
    if (etl_sat_add_i64(exit_ticks, context->after_end_ticks) < now_ticks)
        return true;
    return context_heap_end(context, slot->process, slot->heap, slot->alloc_ticks) < now_ticks;
}

/* Erasing moves entries into the slot at hand, so it is looked at again; an
 * entry that wraps to the front was already looked at or will be. */
void blocks_sweep(block_table *table, const block_rules *rules, i64 now_ticks, shard_output *out)
{
    if (table->count == 0)
        return;
    for (u32 at = 0; at <= table->mask; at++) {
        while (table->slots[at].process != 0 && is_dead(rules, &table->slots[at], now_ticks)) {
            end_unfreed(table, rules, &table->slots[at], out);
            erase(table, &table->slots[at]);
        }
    }
}

void blocks_settle(block_table *table, const block_rules *rules, i64 now_ticks, shard_output *out)
{
    for (u32 at = 0; table->displaced_count > 0 && at <= table->mask; at++) {
        block *const slot = &table->slots[at];
        if (slot->process != 0 && !is_soon_after(rules, slot, now_ticks))
            settle_displaced(table, slot, out);
    }
}

void blocks_finish(block_table *table, const block_rules *rules, shard_output *out)
{
    for (u32 at = 0; table->count > 0 && at <= table->mask; at++) {
        if (table->slots[at].process != 0)
            end_unfreed(table, rules, &table->slots[at], out);
    }
    blocks_free(table);
}

void blocks_free(block_table *table)
{
    free(table->slots);
    ETLHEAP_VECTOR_FREE(&table->displaced);
    *table = (block_table){ 0 };
}
