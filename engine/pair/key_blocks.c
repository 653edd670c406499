/*
 * key_blocks.c - pairs allocations and frees of blocks by key, and turns them into lifetimes.
 * key_blocks.h has the rules.
 *
 * In: events of one shard in time order, those of a key all in the same one; ends of processes.
 * Out, in shard_output: lifetimes; frees without an allocation, counted and if wanted as rows;
 * diagnostics.
 *
 *     origins   | 3 | 1 | 0 | 2 |      hash ──▶ place in blocks + 1
 *     blocks  [ A ][ B ][ C ]        in use, or in the list of free places
 *
 * Invariant: a probe from a block's home origin meets no empty origin before the block, so a
 * removal moves later blocks of the run back (close_gap).
 */
#include "key_blocks.h"

#include "engine/read/stages.h"

#include <stdlib.h>

#define ORIGINS_MIN 64u

bool key_blocks_has_kind(u8 kind)
{
    return etlheap_kind_at((etlheap_kind)kind)->space != ETLHEAP_SPACE_NONE;
}

static bool is_of_sessions(u8 kind)
{
    return etlheap_kind_at((etlheap_kind)kind)->space == ETLHEAP_SPACE_SESSION;
}

u32 key_blocks_space(const memory_event *event, u8 kind, u32 process)
{
    switch (etlheap_kind_at((etlheap_kind)kind)->space) {
    case ETLHEAP_SPACE_PROCESS:
        return process;
    case ETLHEAP_SPACE_SESSION:
        return key_session(event->heap);
    default:
        return 0;
    }
}

static u32 hash_of(u64 address, u32 space, u8 kind)
{
    return (u32)(etlheap_hash_u64(address ^ (u64)space << 40 ^ (u64)kind << 59) >> 32);
}

/* The origin of a block, or the empty one at which the search ends. There are empty origins. */
static u32 find_origin(const key_blocks *blocks, u64 address, u32 space, u8 kind)
{
    u32 at = hash_of(address, space, kind) & blocks->mask;
    for (; blocks->origins[at] != 0; at = (at + 1) & blocks->mask) {
        const key_block *const block = &blocks->blocks.at[blocks->origins[at] - 1];
        if (block->address == address && block->space == space && block->kind == kind)
            break;
    }
    return at;
}

static key_block *find(const key_blocks *blocks, u64 address, u32 space, u8 kind)
{
    const u32 place =
        blocks->origins == NULL ? 0 : blocks->origins[find_origin(blocks, address, space, kind)];
    return place == 0 ? NULL : &blocks->blocks.at[place - 1];
}

/* Doubles the origins if half of them are used. False without memory. */
static bool make_room(key_blocks *blocks)
{
    if (blocks->origins != NULL && blocks->count < blocks->mask / 2)
        return true;
    const u32 size = blocks->origins == NULL ? ORIGINS_MIN : 2 * (blocks->mask + 1);
    u32 *const origins = size > UINT32_MAX / 4 ? NULL : calloc(size, sizeof *origins);
    if (origins == NULL)
        return false;
    free(blocks->origins);
    blocks->origins = origins;
    blocks->mask = size - 1;
    for (u32 i = 0; i < blocks->blocks.count; i++) {
        const key_block *const block = &blocks->blocks.at[i];
        if (block->kind < ETLHEAP_KIND_COUNT)
            origins[find_origin(blocks, block->address, block->space, block->kind)] = i + 1;
    }
    return true;
}

/* Adds a block whose key is not in the table. */
static void add(key_blocks *blocks, const key_block *block, shard_output *out)
{
    u32 place = (u32)blocks->blocks.count;
    const bool is_reused = blocks->free.count > 0;
    if (!make_room(blocks) || (!is_reused && !ETLHEAP_PUSH(&blocks->blocks, *block))) {
        out->out_of_memory = true;
        return;
    }
    if (is_reused)
        place = blocks->free.at[--blocks->free.count];
    blocks->blocks.at[place] = *block;
    blocks->origins[find_origin(blocks, block->address, block->space, block->kind)] = place + 1;
    blocks->count++;
}

/* Moves blocks of the run after an emptied origin back, so that searches still find them. */
static void close_gap(key_blocks *blocks, u32 gap)
{
    for (u32 at = (gap + 1) & blocks->mask; blocks->origins[at] != 0;
         at = (at + 1) & blocks->mask) {
        const u32 home = blocks->blocks.at[blocks->origins[at] - 1].hash & blocks->mask;
        if (((at - home) & blocks->mask) < ((at - gap) & blocks->mask))
            continue;
        blocks->origins[gap] = blocks->origins[at];
        blocks->origins[at] = 0;
        gap = at;
    }
}

static void remove_block(key_blocks *blocks, key_block *block, shard_output *out)
{
    const u32 origin = find_origin(blocks, block->address, block->space, block->kind);
    const u32 place = (u32)(block - blocks->blocks.at);
    blocks->origins[origin] = 0;
    block->kind = ETLHEAP_KIND_COUNT;
    blocks->count--;
    close_gap(blocks, origin);
    if (!ETLHEAP_PUSH(&blocks->free, place))
        out->out_of_memory = true;
}

static bool is_kept(const shard_output *out, u8 kind)
{
    return out->keeps_named_kinds || etlheap_kind_has(kind, ETLHEAP_KIND_DEFAULT);
}

static lifetime lifetime_of(const key_block *block)
{
    return (lifetime){ .alloc_ticks = block->alloc_ticks,
                       .address = block->address,
                       .size = block->size,
                       .heap = block->heap,
                       .process = block->process,
                       .stack = block->stack,
                       .thread = block->tid,
                       .free_thread = ETL_NO_ID,
                       .kind = block->kind };
}

/* Ends a block at an event, which has freed it if `is_freer`. */
static void end_block(key_blocks *blocks, key_block *block, const memory_event *event,
                      bool is_freer, shard_output *out)
{
    lifetime row = lifetime_of(block);
    row.free_ticks = event->ticks;
    row.free_type = ETLHEAP_FREE_FREE;
    if (is_freer && out->keeps_frees) {
        row.free_stack = event->stack;
        row.free_thread = event->tid;
    }
    if (is_kept(out, row.kind))
        shard_emit(out, &row);
    remove_block(blocks, block, out);
}

static key_block block_of(const memory_event *event, u8 kind, u32 process)
{
    const u32 space = key_blocks_space(event, kind, process);
    return (key_block){ .address = event->address,
                        .heap = event->heap,
                        .size = event->size,
                        .alloc_ticks = event->ticks,
                        .stack = event->stack,
                        .space = space,
                        .process = process,
                        .tid = event->tid,
                        .hash = hash_of(event->address, space, kind),
                        .kind = kind };
}

/* The block with the event's key; in a session also one of an unknown session. */
static key_block *find_of(const key_blocks *blocks, const memory_event *event, u8 kind, u32 process)
{
    const u32 space = key_blocks_space(event, kind, process);
    key_block *const block = find(blocks, event->address, space, kind);
    const bool is_session = is_of_sessions(kind) && space != KEY_SESSION_SYSTEM;
    return block == NULL && is_session ? find(blocks, event->address, KEY_SESSION_UNKNOWN, kind)
                                       : block;
}

static void open_block(key_blocks *blocks, const memory_event *event, u8 kind, u32 process,
                       shard_output *out)
{
    key_block *const old = find_of(blocks, event, kind, process);
    const key_block fresh = block_of(event, kind, process);
    if (event->address == 0) /* the call failed */
        return;
    if (old != NULL) {
        etl_diag_add(&out->diag, ETL_DIAG_key_over_live, 1);
        end_block(blocks, old, event, false, out);
    }
    add(blocks, &fresh, out);
}

static void count_size(const key_block *block, const memory_event *event, shard_output *out)
{
    const bool differs = event->size != 0 && event->size != block->size;
    etl_diag_add(&out->diag, ETL_DIAG_block_size_differs, differs);
}

static void free_block(key_blocks *blocks, const memory_event *event, u8 kind, u32 process,
                       shard_output *out)
{
    key_block *const block = find_of(blocks, event, kind, process);
    if (event->address == 0)
        return;
    if (block != NULL) {
        count_size(block, event, out);
        end_block(blocks, block, event, true, out);
        return;
    }
    process_counts *const counts = shard_counts(out, process);
    if (counts != NULL)
        counts->free_without_alloc[kind]++;
    if (out->keeps_frees && is_kept(out, kind))
        shard_emit_unmatched(out, event, process, kind);
}

/* A row of a rundown: a block that nothing told of is from before the trace. */
static void list_block(key_blocks *blocks, const memory_event *event, u8 kind, u32 process,
                       shard_output *out)
{
    const bool is_at_end = op_key_effect(event->op) == KEY_AT_END;
    key_block *const block = find_of(blocks, event, kind, process);
    if (event->address == 0)
        return;
    if (block != NULL) {
        count_size(block, event, out);
        block->is_listed |= is_at_end;
        return;
    }
    key_block older = block_of(event, kind, process);
    older.alloc_ticks = ETLHEAP_TICKS_BEFORE;
    older.stack = STACK_NONE;
    older.tid = ETL_NO_ID;
    older.is_listed = is_at_end;
    add(blocks, &older, out);
}

/* A row of a rundown at the end. */
static void check_end(key_blocks *blocks, const memory_event *event, u8 kind, u32 process,
                      shard_output *out)
{
    key_lists *const lists = &blocks->lists[kind];
    if (is_of_sessions(kind) && key_session(event->heap) == KEY_SESSION_UNKNOWN)
        return;
    if (!lists->has_end)
        lists->end_ticks = event->ticks;
    lists->has_end = true;
    blocks->unseen[kind] += find_of(blocks, event, kind, process) == NULL;
    list_block(blocks, event, kind, process, out);
}

void key_lists_add(key_lists into[ETLHEAP_KIND_COUNT], const key_blocks *from)
{
    for (u32 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++) {
        const key_lists *const own = &from->lists[kind];
        key_lists *const sum = &into[kind];
        if (own->has_end && (!sum->has_end || own->end_ticks < sum->end_ticks))
            sum->end_ticks = own->end_ticks;
        sum->has_start |= own->has_start;
        sum->has_end |= own->has_end;
    }
}

void key_lists_set(key_blocks *blocks, const key_lists sum[ETLHEAP_KIND_COUNT])
{
    memcpy(blocks->lists, sum, sizeof blocks->lists);
}

void key_blocks_apply(key_blocks *blocks, const memory_event *event, u8 kind, u32 process,
                      shard_output *out)
{
    assert(key_blocks_has_kind(kind));
    switch (op_key_effect(event->op)) {
    case KEY_ALLOC:
        open_block(blocks, event, kind, process, out);
        break;
    case KEY_FREE:
        free_block(blocks, event, kind, process, out);
        break;
    case KEY_AT_START:
        blocks->lists[kind].has_start = true;
        list_block(blocks, event, kind, process, out);
        break;
    case KEY_AT_END:
        check_end(blocks, event, kind, process, out);
        break;
    case KEY_NONE:
        break;
    }
}

bool key_blocks_is_live(const key_blocks *blocks, const memory_event *event, u8 kind, u32 process)
{
    return find_of(blocks, event, kind, process) != NULL;
}

static void emit_unfreed(const key_block *block, const trace_context *context, shard_output *out)
{
    lifetime row = lifetime_of(block);
    if (!is_kept(out, row.kind))
        return;
    shard_end_unfreed(context, &row);
    shard_emit(out, &row);
}

void key_blocks_sweep(key_blocks *blocks, const trace_context *context, i64 now_ticks,
                      shard_output *out)
{
    for (size_t i = 0; i < blocks->blocks.count; i++) {
        key_block *const block = &blocks->blocks.at[i];
        if (block->kind == ETLHEAP_KIND_COUNT ||
            etlheap_kind_has(block->kind, ETLHEAP_KIND_OUTLIVES))
            continue;
        const i64 exit_ticks = context->processes.at[block->process - 1].end_ticks;
        if (etl_sat_add_i64(exit_ticks, context->after_end_ticks) >= now_ticks)
            continue;
        emit_unfreed(block, context, out);
        remove_block(blocks, block, out);
    }
}

/* Was the block there when the rundown at the end began, and does this not list it? The rundown
 * does not say what it covers, so it counts for kinds of which it lists something, and never for
 * blocks of sessions. What a process had when it ended is not in it. */
static bool is_missing(const key_blocks *blocks, const key_block *block,
                       const trace_context *context)
{
    const key_lists *const lists = &blocks->lists[block->kind];
    const bool is_of_session =
        is_of_sessions(block->kind) && key_session(block->heap) != KEY_SESSION_SYSTEM;
    const bool has_ended = !etlheap_kind_has(block->kind, ETLHEAP_KIND_OUTLIVES) &&
                           context->processes.at[block->process - 1].end_ticks < lists->end_ticks;
    return lists->has_end && !block->is_listed && !is_of_session && !has_ended &&
           block->alloc_ticks < lists->end_ticks;
}

void key_blocks_finish(key_blocks *blocks, const trace_context *context, shard_output *out)
{
    for (size_t i = 0; i < blocks->blocks.count; i++) {
        const key_block *const block = &blocks->blocks.at[i];
        if (block->kind == ETLHEAP_KIND_COUNT)
            continue;
        etl_diag_add(&out->diag, ETL_DIAG_rundown_block_missing,
                     is_missing(blocks, block, context));
        emit_unfreed(block, context, out);
    }
    for (u32 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++) {
        etl_diag_add(&out->diag, ETL_DIAG_rundown_block_unseen,
                     blocks->lists[kind].has_start ? blocks->unseen[kind] : 0);
    }
    key_blocks_free(blocks);
}

void key_blocks_free(key_blocks *blocks)
{
    ETLHEAP_VECTOR_FREE(&blocks->blocks);
    ETLHEAP_VECTOR_FREE(&blocks->free);
    free(blocks->origins);
    *blocks = (key_blocks){ .origins = NULL };
}
