/*
 * scan.c - from buffers to memory events, stack pieces and system events.
 *
 * One pass over the records of a task. Every record is counted; those that the
 * analysis uses are decoded and leave as rows of the output. A stack record
 * nearly always follows its event on the same CPU within a few records, so the
 * latest events that want a stack are kept in a short ring and most stacks are
 * joined on the spot; what the ring does not settle goes to join.c as pieces.
 *
 * Stacks are looked up in the run's table, which nobody changes during a scan;
 * new ones go to a table of the task (STACK_TAG_LOCAL).
 */
#include "stages.h"

#include <stdlib.h>

#define RING_SIZE 16u /* a power of two */

/* An event that wants a stack, by index in out->events. */
typedef struct ring_entry {
    u32 event;
    bool has_kernel_part; /* then its user part must be joined to it later */
} ring_entry;

typedef struct scanner {
    const scan_input *input;
    scan_output *out;
    const tick_map *map;
    const etl_record *record;
    i64 ticks; /* of the record, base clock */
    ring_entry ring[RING_SIZE];
    u32 ring_count; /* entries ever pushed */
    u32 order;      /* of system events and definitions */
    u64 *frames;    /* STACK_FRAMES_MAX, for decoding */
} scanner;

typedef bool handle_fn(scanner *s, const etl_event *event);

static bool scan_buffer(scanner *s, plan_buffer *buffer, etl_scratch *scratch);
static bool scan_record(scanner *s);
static handle_fn handle_alloc, handle_realloc, handle_free, handle_extent, handle_virtual,
    handle_system, handle_stack, handle_key, handle_definition, handle_lost;

/* What is done with an event; kinds without a row are counted only. */
static handle_fn *const handlers[ETL_EVENT_KIND_COUNT] = {
    [ETL_EVENT_HEAP_CREATE] = handle_system,
    [ETL_EVENT_HEAP_ALLOC] = handle_alloc,
    [ETL_EVENT_HEAP_REALLOC] = handle_realloc,
    [ETL_EVENT_HEAP_DESTROY] = handle_system,
    [ETL_EVENT_HEAP_FREE] = handle_free,
    [ETL_EVENT_HEAP_EXPAND] = handle_extent,
    [ETL_EVENT_HEAP_CONTRACT] = handle_extent,
    [ETL_EVENT_VIRTUAL_ALLOC] = handle_virtual,
    [ETL_EVENT_VIRTUAL_FREE] = handle_virtual,
    [ETL_EVENT_VIRTUAL_ALLOC_DCSTART] = handle_virtual,
    [ETL_EVENT_VIRTUAL_ALLOC_DCEND] = handle_virtual,
    [ETL_EVENT_PROCESS_START] = handle_system,
    [ETL_EVENT_PROCESS_END] = handle_system,
    [ETL_EVENT_PROCESS_DCSTART] = handle_system,
    [ETL_EVENT_PROCESS_DCEND] = handle_system,
    [ETL_EVENT_PROCESS_DEFUNCT] = handle_system,
    [ETL_EVENT_IMAGE_LOAD] = handle_system,
    [ETL_EVENT_IMAGE_UNLOAD] = handle_system,
    [ETL_EVENT_IMAGE_DCSTART] = handle_system,
    [ETL_EVENT_IMAGE_DCEND] = handle_system,
    [ETL_EVENT_IMAGE_ID] = handle_system,
    [ETL_EVENT_IMAGE_RSDS] = handle_system,
    [ETL_EVENT_STACK] = handle_stack,
    [ETL_EVENT_STACK_KEY_KERNEL] = handle_key,
    [ETL_EVENT_STACK_KEY_USER] = handle_key,
    [ETL_EVENT_STACK_DEFINITION] = handle_definition,
    [ETL_EVENT_CONFIG_CPU] = handle_system,
    [ETL_EVENT_CONFIG_DEVICE_FAMILY] = handle_system,
    [ETL_EVENT_VOLUME_MAPPING] = handle_system,
    [ETL_EVENT_LOST_EVENT] = handle_lost,
};

void scan_task(const scan_input *input, etl_scratch *scratch, scan_output *out)
{
    u64 frames[STACK_FRAMES_MAX];
    scanner s = { .input = input, .out = out, .frames = frames };
    out->last_ticks = INT64_MIN;
    out->status = ETL_OK;
    for (u32 i = 0; i < input->buffer_count; i++) {
        if (!scan_buffer(&s, &input->buffers[i], scratch)) {
            out->status = ETL_ERR_MEMORY;
            return;
        }
    }
}

static bool scan_buffer(scanner *s, plan_buffer *planned, etl_scratch *scratch)
{
    const scan_input *const input = s->input;
    const u32 trace = plan_trace(planned->stream);
    /* What loading finds is counted once, not again when reading goes on. */
    etl_diag_counts ignored = { { 0 } };
    etl_diag_counts *const diag = planned->resume == 0 ? &s->out->diag : &ignored;
    etl_buffer buffer;
    if (etl_buffer_load(input->traces[trace], planned->buffer, scratch, diag, &buffer) != ETL_OK)
        return false;
    if (planned->resume != 0)
        buffer.at = planned->resume;
    buffer.diag = &s->out->diag;
    s->map = timebase_map(input->base, trace, buffer.session);
    s->out->stream = planned->stream;
    planned->resume = PLAN_DONE;
    etl_record record;
    s->record = &record;
    while (etl_record_next(&buffer, &record)) {
        s->ticks = tick_map_apply(s->map, record.ticks);
        if (s->ticks >= input->end_ticks) {
            planned->resume = record.offset;
            return true;
        }
        if (!scan_record(s))
            return false;
    }
    return true;
}

static bool scan_record(scanner *s)
{
    const etl_record *const record = s->record;
    scan_output *const out = s->out;
    if (s->ticks > out->last_ticks)
        out->last_ticks = s->ticks;
    if (!census_add(&out->census, record))
        return false;
    etl_event event;
    if (!etl_decode(record, &event, &out->diag))
        event.kind = ETL_EVENT_NONE;
    handle_fn *const handle = handlers[event.kind];
    if (s->input->census_only) {
        const bool is_stack = record->has_hook && record->hook >> 8 == 0x18;
        if (!is_stack && !etl_record_is_injected(record)) {
            const census_target target = { s->ticks, record->tid, (u16)record->cpu };
            if (!ETLHEAP_PUSH(&out->targets, target))
                return false;
        }
    }
    if (handle != NULL)
        return handle(s, &event);
    const bool is_heap = record->has_hook && record->hook >> 8 == 0x10;
    if (!is_heap)
        return true;
    const memory_event other = {
        .ticks = s->ticks, .op = OP_COUNT_HEAP, .pid = record->pid, .tid = record->tid
    };
    return ETLHEAP_PUSH(&out->events, other);
}

static bool push_event(scanner *s, memory_event event)
{
    scan_output *const out = s->out;
    event.ticks = s->ticks;
    event.cpu = (u16)s->record->cpu;
    const u64 place = event.op >= OP_COMMIT ? event.pid : event.address ^ (u64)event.pid << 40;
    const u32 hash = (u32)(etlheap_hash_u64(place) >> 32);
    event.shard =
        event.op >= OP_COMMIT ? (u8)(HEAP_SHARDS + hash % RANGE_SHARDS) : (u8)(hash % HEAP_SHARDS);
    if (out->events.count >= UINT32_MAX || !ETLHEAP_PUSH(&out->events, event))
        return false;
    if (op_wants_stack(event.op))
        s->ring[s->ring_count++ % RING_SIZE] = (ring_entry){ (u32)(out->events.count - 1), false };
    return true;
}

static bool handle_alloc(scanner *s, const etl_event *event)
{
    const etl_heap_alloc *const alloc = &event->as.heap_alloc;
    return push_event(s, (memory_event){ .op = OP_ALLOC,
                                         .address = alloc->alloc_address,
                                         .size = alloc->alloc_size_bytes,
                                         .heap = alloc->heap_handle,
                                         .pid = s->record->pid,
                                         .tid = s->record->tid });
}

/* A moving realloc speaks of two addresses, whose shards may differ. */
static bool handle_realloc(scanner *s, const etl_event *event)
{
    const etl_heap_realloc *const realloc_event = &event->as.heap_realloc;
    const u64 old_address = realloc_event->old_alloc_address;
    const bool in_place = old_address == 0 || old_address == realloc_event->new_alloc_address;
    memory_event row = { .op = in_place ? OP_REALLOC_SAME : OP_REALLOC_NEW,
                         .address = realloc_event->new_alloc_address,
                         .size = realloc_event->new_alloc_size_bytes,
                         .heap = realloc_event->heap_handle,
                         .pid = s->record->pid,
                         .tid = s->record->tid };
    if (!push_event(s, row))
        return false;
    if (in_place)
        return true;
    row.op = OP_REALLOC_OLD;
    row.address = old_address;
    row.size = realloc_event->old_alloc_size_bytes;
    return push_event(s, row);
}

static bool handle_free(scanner *s, const etl_event *event)
{
    const etl_heap_free *const free_event = &event->as.heap_free;
    return push_event(s, (memory_event){ .op = OP_FREE,
                                         .address = free_event->free_address,
                                         .heap = free_event->heap_handle,
                                         .pid = s->record->pid,
                                         .tid = s->record->tid });
}

static bool handle_extent(scanner *s, const etl_event *event)
{
    const etl_heap_extent *const extent = &event->as.heap_extent;
    return push_event(
        s, (memory_event){ .op = event->kind == ETL_EVENT_HEAP_EXPAND ? OP_EXPAND : OP_CONTRACT,
                           .address = extent->address,
                           .size = extent->size_bytes,
                           .heap = extent->heap_handle,
                           .pid = s->record->pid,
                           .tid = s->record->tid });
}

/*
 * Allocation or free is told by the event, not by the flags: bit 0x4000 means
 * MEM_DECOMMIT in one and MEM_REPLACE_PLACEHOLDER in the other. A commit in
 * large pages covers its whole reservation, as the event's size already says.
 */
static bool handle_virtual(scanner *s, const etl_event *event)
{
    const etl_virtual_memory *const memory = &event->as.virtual_memory;
    memory_event row = { .address = memory->base_address,
                         .size = memory->region_size_bytes,
                         .pid = memory->process_id,
                         .tid = s->record->tid };
    switch (event->kind) {
    case ETL_EVENT_VIRTUAL_ALLOC:
        if ((memory->flags & (ETL_MEM_COMMIT | ETL_MEM_RESERVE)) == 0)
            return true;
        if ((memory->flags & ETL_MEM_RESERVE) != 0) {
            row.op = OP_RESERVE;
            row.heap = (memory->flags & ETL_MEM_COMMIT) != 0; /* counted once */
            if (!push_event(s, row))
                return false;
            row.heap = 0;
        }
        row.op = OP_COMMIT;
        return (memory->flags & ETL_MEM_COMMIT) == 0 || push_event(s, row);
    case ETL_EVENT_VIRTUAL_FREE:
        row.op = (memory->flags & ETL_MEM_RELEASE) != 0 ? OP_RELEASE : OP_DECOMMIT;
        return push_event(s, row);
    default:
        row.op = event->kind == ETL_EVENT_VIRTUAL_ALLOC_DCSTART ? OP_RUNDOWN_START : OP_RUNDOWN_END;
        row.heap = memory->region_size_bytes;
        row.size = memory->commit_size_bytes;
        return push_event(s, row);
    }
}

/* The strings of a system event are views into the buffer: keep copies. */
static bool copy_strings(etlheap_arena *arena, etl_event *event)
{
    const etl_event_info *const info = etl_event_describe(event->kind);
    for (size_t i = 0; i < info->field_count; i++) {
        const etl_field *const field = &info->fields[i];
        if (field->type != ETL_FIELD_TEXT8 && field->type != ETL_FIELD_TEXT16)
            continue;
        etl_bytes view;
        u8 *const at = (u8 *)event + field->offset;
        memcpy(&view, at, sizeof view);
        if (!etlheap_arena_copy(arena, view, &view))
            return false;
        memcpy(at, &view, sizeof view);
    }
    return true;
}

static bool handle_system(scanner *s, const etl_event *event)
{
    scan_output *const out = s->out;
    system_event row = { .ticks = s->ticks,
                         .stream = out->stream,
                         .order = s->order++,
                         .pid = s->record->pid,
                         .tid = s->record->tid,
                         .event = *event };
    if (!copy_strings(&out->arena, &row.event) || !ETLHEAP_PUSH(&out->system, row))
        return false;
    if (event->kind != ETL_EVENT_HEAP_CREATE && event->kind != ETL_EVENT_HEAP_DESTROY)
        return true;
    const memory_event other = {
        .ticks = s->ticks, .op = OP_COUNT_HEAP, .pid = s->record->pid, .tid = s->record->tid
    };
    return ETLHEAP_PUSH(&out->events, other);
}

static bool handle_lost(scanner *s, const etl_event *event)
{
    (void)event;
    etl_diag_add(&s->out->diag, ETL_DIAG_realtime_lost, 1);
    return true;
}

/* Widens the frames, innermost first; false when there are none. */
static bool take_frames(scanner *s, const u8 *frames, u32 frame_bytes, u32 *count)
{
    if (*count > STACK_FRAMES_MAX) {
        *count = STACK_FRAMES_MAX;
        etl_diag_add(&s->out->diag, ETL_DIAG_stack_too_deep, 1);
    }
    if (frame_bytes == 8) {
        memcpy(s->frames, frames, (size_t)*count * 8);
    } else {
        for (u32 i = 0; i < *count; i++)
            s->frames[i] = etl_frame_at(frames, 4, i);
    }
    return *count > 0;
}

static bool intern_frames(scanner *s, u32 count, stack_ref *ref)
{
    const u64 hash = stack_hash(s->frames, count);
    *ref = stack_find(s->input->stacks, hash, s->frames, count);
    if (*ref != STACK_NONE)
        return true;
    u32 local;
    if (!stack_add(&s->out->new_stacks, hash, s->frames, count, &local))
        return false;
    *ref = STACK_TAG_LOCAL | local;
    return true;
}

static stack_part classify(const scanner *s, u32 count, u32 frame_bytes)
{
    const bool inner_kernel = stack_is_kernel_address(s->frames[0], frame_bytes);
    const bool outer_kernel = stack_is_kernel_address(s->frames[count - 1], frame_bytes);
    return !inner_kernel ? PART_USER : outer_kernel ? PART_KERNEL : PART_WHOLE;
}

/* The latest event in the ring with this time and thread; NULL when none. */
static ring_entry *ring_find(scanner *s, i64 event_ticks, u32 tid)
{
    const u32 filled = s->ring_count < RING_SIZE ? s->ring_count : RING_SIZE;
    for (u32 i = 1; i <= filled; i++) {
        ring_entry *const entry = &s->ring[(s->ring_count - i) % RING_SIZE];
        const memory_event *const event = &s->out->events.at[entry->event];
        if (event->ticks == event_ticks && event->tid == tid)
            return entry;
    }
    return NULL;
}

/*
 * A user or whole part that meets its event with nothing before it settles the
 * stack. Anything else, and all of a census, is left to the join.
 */
static bool settles(const ring_entry *entry, stack_part part, const scan_output *out)
{
    return entry != NULL && part != PART_KERNEL && !entry->has_kernel_part &&
           out->events.at[entry->event].stack == STACK_NONE;
}

static bool push_piece(scanner *s, ring_entry *entry, stack_piece piece)
{
    if (entry != NULL && piece.part == PART_KERNEL)
        entry->has_kernel_part = true;
    piece.ticks = s->ticks;
    piece.event_ticks = tick_map_apply(s->map, piece.event_ticks);
    piece.cpu = (u16)s->record->cpu;
    return ETLHEAP_PUSH(&s->out->pieces, piece);
}

static bool handle_stack(scanner *s, const etl_event *event)
{
    const etl_stack_event *const stack = &event->as.stack;
    scan_output *const out = s->out;
    u32 count = stack->frame_count;
    stack_ref ref = STACK_NONE;
    stack_part part = PART_WHOLE;
    out->census.stack_records++;
    if (take_frames(s, stack->frames, stack->frame_bytes, &count)) {
        if (!intern_frames(s, count, &ref))
            return false;
        part = classify(s, count, stack->frame_bytes);
    }
    ring_entry *const entry =
        ring_find(s, tick_map_apply(s->map, stack->event_ticks), stack->thread_id);
    if (!s->input->census_only && settles(entry, part, out)) {
        out->events.at[entry->event].stack = ref;
        return true;
    }
    return push_piece(s, entry,
                      (stack_piece){ .event_ticks = stack->event_ticks,
                                     .pid = stack->process_id,
                                     .tid = stack->thread_id,
                                     .stack = ref,
                                     .part = (u8)part });
}

static bool handle_key(scanner *s, const etl_event *event)
{
    const etl_stack_key_event *const key = &event->as.stack_key;
    scan_output *const out = s->out;
    const stack_part part = event->kind == ETL_EVENT_STACK_KEY_KERNEL ? PART_KERNEL : PART_USER;
    out->census.stack_records++;
    out->census.key_records++;
    ring_entry *const entry =
        ring_find(s, tick_map_apply(s->map, key->event_ticks), key->thread_id);
    if (!s->input->census_only && settles(entry, part, out)) {
        out->events.at[entry->event].stack = STACK_TAG_LOCAL; /* taken; keys.c sets it */
        return ETLHEAP_PUSH(&out->key_uses, (key_use){ s->ticks, key->stack_key, entry->event });
    }
    return push_piece(s, entry,
                      (stack_piece){ .event_ticks = key->event_ticks,
                                     .key = key->stack_key,
                                     .pid = key->process_id,
                                     .tid = key->thread_id,
                                     .part = (u8)part,
                                     .is_key = true });
}

static bool handle_definition(scanner *s, const etl_event *event)
{
    const etl_stack_definition *const definition = &event->as.stack_definition;
    scan_output *const out = s->out;
    u32 count = definition->frame_count;
    stack_ref ref;
    if (!take_frames(s, definition->frames, definition->frame_bytes, &count))
        return true;
    if (!intern_frames(s, count, &ref))
        return false;
    return ETLHEAP_PUSH(
        &out->definitions,
        (key_definition){ .ticks = s->ticks,
                          .key = definition->stack_key,
                          .stream = out->stream,
                          .order = s->order++,
                          .stack = ref,
                          .is_kernel = classify(s, count, definition->frame_bytes) != PART_USER });
}

bool scan_partition(scan_output *out)
{
    const size_t count = out->events.count;
    memset(out->shard_starts, 0, sizeof out->shard_starts);
    for (size_t i = 0; i < count; i++)
        out->shard_starts[out->events.at[i].shard + 1]++;
    for (u32 i = 0; i < SHARDS; i++)
        out->shard_starts[i + 1] += out->shard_starts[i];
    if (count == 0)
        return true;
    memory_event *const sorted = malloc(count * sizeof *sorted);
    if (sorted == NULL)
        return false;
    u32 next[SHARDS];
    memcpy(next, out->shard_starts, sizeof next);
    for (size_t i = 0; i < count; i++)
        sorted[next[out->events.at[i].shard]++] = out->events.at[i];
    free(out->events.at);
    out->events.at = sorted;
    out->events.capacity = count;
    return true;
}

void scan_output_free(scan_output *out)
{
    ETLHEAP_VECTOR_FREE(&out->events);
    ETLHEAP_VECTOR_FREE(&out->pieces);
    ETLHEAP_VECTOR_FREE(&out->key_uses);
    ETLHEAP_VECTOR_FREE(&out->definitions);
    ETLHEAP_VECTOR_FREE(&out->system);
    ETLHEAP_VECTOR_FREE(&out->targets);
    stack_table_free(&out->new_stacks);
    etlheap_arena_free(&out->arena);
    census_free(&out->census);
}
