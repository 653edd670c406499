/*
 * scan.c - makes memory events, stack pieces and system events from the records of buffers.
 *
 * In: a task's buffers. Out: rows in a scan_output. Every record is counted, and what is used is
 * decoded. Common kinds go a shorter way (scan_lean.c). Invariant: both ways give the same rows.
 */
#include "realloc_trail.h"
#include "scan_handle.h"
#include "scan_heaps.h"
#include "scan_inside.h"
#include "scan_mapped.h"
#include "scan_pool.h"
#include "scan_section.h"

#include <stdlib.h>

typedef bool handle_fn(scanner *s, const etl_event *event);

static bool scan_buffer(scanner *s, plan_buffer *buffer, etl_scratch *scratch);
static bool scan_record(scanner *s);
static bool note_mark(scanner *s);
static handle_fn handle_alloc, handle_realloc, handle_free, handle_virtual, handle_memory,
    handle_system, handle_thread, handle_stack, handle_key, handle_definition, handle_lost,
    handle_thread_name, handle_mark, handle_file_name;

/* The handler of each kind of event; kinds without a row are only counted. */
static handle_fn *const handlers[ETL_EVENT_KIND_COUNT] = {
    [ETL_EVENT_HEAP_CREATE] = handle_system,
    [ETL_EVENT_HEAP_ALLOC] = handle_alloc,
    [ETL_EVENT_HEAP_REALLOC] = handle_realloc,
    [ETL_EVENT_HEAP_DESTROY] = handle_system,
    [ETL_EVENT_HEAP_FREE] = handle_free,
    [ETL_EVENT_HEAP_EXPAND] = scan_heap_extent,
    [ETL_EVENT_HEAP_CONTRACT] = scan_heap_extent,
    [ETL_EVENT_HEAP_SNAPSHOT] = scan_heap_sizes,
    [ETL_EVENT_HEAP_COMMIT] = scan_heap_sizes,
    [ETL_EVENT_HEAP_DECOMMIT] = scan_heap_sizes,
    [ETL_EVENT_HEAP_RANGE_RUNDOWN] = scan_heap_note,
    [ETL_EVENT_HEAP_RANGE_CREATE] = scan_heap_note,
    [ETL_EVENT_HEAP_RANGE_RESERVE] = scan_heap_note,
    [ETL_EVENT_HEAP_RANGE_RELEASE] = scan_heap_note,
    [ETL_EVENT_HEAP_RANGE_DESTROY] = scan_heap_note,
    [ETL_EVENT_VIRTUAL_ALLOC] = handle_virtual,
    [ETL_EVENT_VIRTUAL_FREE] = handle_virtual,
    [ETL_EVENT_VIRTUAL_ALLOC_DCSTART] = handle_virtual,
    [ETL_EVENT_VIRTUAL_ALLOC_DCEND] = handle_virtual,
    [ETL_EVENT_MEMINFO] = handle_memory,
    [ETL_EVENT_MEMINFO_WS] = handle_memory,
    [ETL_EVENT_PROCESS_START] = handle_system,
    [ETL_EVENT_PROCESS_END] = handle_system,
    [ETL_EVENT_PROCESS_DCSTART] = handle_system,
    [ETL_EVENT_PROCESS_DCEND] = handle_system,
    [ETL_EVENT_PROCESS_DEFUNCT] = handle_system,
    [ETL_EVENT_THREAD_START] = handle_thread,
    [ETL_EVENT_THREAD_END] = handle_thread,
    [ETL_EVENT_THREAD_DCSTART] = handle_thread_name,
    [ETL_EVENT_THREAD_DCEND] = handle_thread_name,
    [ETL_EVENT_THREAD_SET_NAME] = handle_thread_name,
    [ETL_EVENT_IMAGE_LOAD] = handle_system,
    [ETL_EVENT_IMAGE_UNLOAD] = handle_system,
    [ETL_EVENT_IMAGE_DCSTART] = handle_system,
    [ETL_EVENT_IMAGE_DCEND] = handle_system,
    [ETL_EVENT_IMAGE_ID] = handle_system,
    [ETL_EVENT_IMAGE_RSDS] = handle_system,
    [ETL_EVENT_METHOD_LOAD] = handle_system,
    [ETL_EVENT_METHOD_UNLOAD] = handle_system,
    [ETL_EVENT_METHOD_DCSTART] = handle_system,
    [ETL_EVENT_METHOD_DCEND] = handle_system,
    [ETL_EVENT_ASSEMBLY_LOAD] = handle_system,
    [ETL_EVENT_ASSEMBLY_UNLOAD] = handle_system,
    [ETL_EVENT_ASSEMBLY_DCSTART] = handle_system,
    [ETL_EVENT_ASSEMBLY_DCEND] = handle_system,
    [ETL_EVENT_STACK] = handle_stack,
    [ETL_EVENT_STACK_KEY_KERNEL] = handle_key,
    [ETL_EVENT_STACK_KEY_USER] = handle_key,
    [ETL_EVENT_STACK_DEFINITION] = handle_definition,
    [ETL_EVENT_CONFIG_CPU] = handle_system,
    [ETL_EVENT_CONFIG_DEVICE_FAMILY] = handle_system,
    [ETL_EVENT_CONFIG_SERVICE] = handle_system,
    [ETL_EVENT_VOLUME_MAPPING] = handle_system,
    [ETL_EVENT_MARK] = handle_mark,
    [ETL_EVENT_LOST_EVENT] = handle_lost,
    [ETL_EVENT_POOL_ALLOC] = scan_pool,
    [ETL_EVENT_POOL_ALLOC_SESSION] = scan_pool,
    [ETL_EVENT_POOL_FREE] = scan_pool,
    [ETL_EVENT_POOL_FREE_SESSION] = scan_pool,
    [ETL_EVENT_POOL_DCSTART] = scan_pool,
    [ETL_EVENT_POOL_DCEND] = scan_pool,
    [ETL_EVENT_POOL_SESSION_DCSTART] = scan_pool,
    [ETL_EVENT_POOL_SESSION_DCEND] = scan_pool,
    [ETL_EVENT_HANDLE_CREATE] = scan_handle,
    [ETL_EVENT_HANDLE_CLOSE] = scan_handle,
    [ETL_EVENT_HANDLE_DUPLICATE] = scan_handle,
    [ETL_EVENT_HANDLE_DCSTART] = scan_handle,
    [ETL_EVENT_HANDLE_DCEND] = scan_handle,
    [ETL_EVENT_OBJECT_TYPE_DCSTART] = handle_system,
    [ETL_EVENT_OBJECT_TYPE_DCEND] = handle_system,
    [ETL_EVENT_FILE_NAME] = handle_file_name,
    [ETL_EVENT_FILE_CREATE] = handle_file_name,
    [ETL_EVENT_FILE_DELETE] = handle_file_name,
    [ETL_EVENT_FILE_RUNDOWN] = handle_file_name,
    [ETL_EVENT_MAP_FILE] = scan_view,
    [ETL_EVENT_UNMAP_FILE] = scan_view,
    [ETL_EVENT_MAP_FILE_DCSTART] = scan_view,
    [ETL_EVENT_MAP_FILE_DCEND] = scan_view,
    [ETL_EVENT_SECTION_CREATE] = scan_section,
    [ETL_EVENT_SECTION_DELETE] = scan_section,
    [ETL_EVENT_SECTION_RUNDOWN] = scan_section,
    [ETL_EVENT_CUSTOM_ALLOC] = scan_custom,
    [ETL_EVENT_CUSTOM_FREE] = scan_custom,
};

/* Lists events without a stack. Many may have lost it. Others are at the end, where the slice cuts
 * them off from their stacks, so the search begins there. */
static bool list_unresolved(scanner *s)
{
    scan_output *const out = s->out;
    const u32 wanted = s->ring.pushed - s->resolved;
    for (size_t i = out->events.count; i > 0 && out->unresolved.count < wanted; i--) {
        const memory_event *const event = &out->events.at[i - 1];
        if (op_wants_stack(event->op) && event->stack == STACK_NONE &&
            !ETLHEAP_PUSH(&out->unresolved, (u32)(i - 1)))
            return false;
    }
    assert(out->unresolved.count == wanted);
    return true;
}

void scan_task(const scan_input *input, etl_scratch *scratch, scan_output *out)
{
    u64 widened[STACK_FRAMES_MAX];
    scanner s = { .input = input,
                  .out = out,
                  .queue = { .stacks = input->stacks, .out = out },
                  .resolve_ticks = (u64)timebase_span(input->base, WAIT_CELL_NS),
                  .widened = widened };
    out->last_ticks = INT64_MIN;
    out->status = ETL_OK;
    for (u32 i = 0; i < input->buffer_count; i++) {
        if (!scan_buffer(&s, &input->buffers[i], scratch)) {
            out->status = ETL_ERR_MEMORY;
            return;
        }
    }
    if (!scan_lean_count(&s) || !list_unresolved(&s) || !scan_take_sample(out))
        out->status = ETL_ERR_MEMORY;
}

static bool scan_buffer(scanner *s, plan_buffer *planned, etl_scratch *scratch)
{
    const scan_input *const input = s->input;
    const u32 trace = plan_trace(planned->stream);
    /* Damage found on loading is counted once, not again when reading goes on; so is damage of the
     * record at which it goes on. */
    etl_diag_counts ignored = { { 0 } };
    etl_diag_counts *const diag = planned->resume == 0 ? &s->out->diag : &ignored;
    etl_buffer buffer;
    if (etl_buffer_load(input->traces[trace], planned->buffer, scratch, diag, &buffer) != ETL_OK)
        return false;
    if (planned->resume != 0)
        buffer.at = planned->resume;
    s->map = timebase_map(input->base, trace, buffer.session);
    s->out->stream = planned->stream;
    planned->resume = PLAN_DONE;
    etl_record record;
    s->record = &record;
    s->buffer = &buffer;
    const bool is_lean = s->map->identity && !input->no_lean;
    for (;;) {
        const u32 at = buffer.at;
        if (is_lean && !scan_lean(s, &buffer))
            return false;
        if (buffer.at != at)
            buffer.diag = &s->out->diag;
        if (!etl_record_next(&buffer, &record))
            break;
        buffer.diag = &s->out->diag;
        s->ticks = tick_map_apply(s->map, record.ticks);
        /* The last slice has no end: not even the largest time waits for another. */
        if (s->ticks >= input->end_ticks && input->end_ticks != INT64_MAX) {
            planned->resume = record.offset;
            break;
        }
        if (!scan_record(s))
            return false;
    }
    return stack_queue_flush(&s->queue);
}

/* Stack walks have none themselves. The record's memory events are those from `first` on. */
static bool note_target(scanner *s, size_t first)
{
    const etl_record *const record = s->record;
    const scan_output *const out = s->out;
    const bool is_stack = record->has_hook && record->hook >> 8 == 0x18;
    const bool frees = out->events.count == first + 1 && op_frees(out->events.at[first].op);
    const inventory_target target = { s->ticks, record->tid, (u16)record->cpu, frees };
    return is_stack || etl_record_is_injected(record) || ETLHEAP_PUSH(&s->out->targets, target);
}

static bool handle_event(scanner *s, const etl_event *event);

bool scan_append_event(scan_output *out, const memory_event *event)
{
    out->kinds |= op_kinds((memory_op)event->op);
    return out->events.count < UINT32_MAX && ETLHEAP_PUSH(&out->events, *event) &&
           scan_note_event(out, event);
}

static bool scan_record(scanner *s)
{
    const etl_record *const record = s->record;
    scan_output *const out = s->out;
    if (s->ticks > out->last_ticks)
        out->last_ticks = s->ticks;
    if (!inventory_add(&out->inventory, record) || !note_mark(s))
        return false;
    etl_event event;
    const scan_input *const input = s->input;
    if (!etl_decode(record, &event, &out->diag) &&
        !etl_custom_decode(input->custom_allocators, input->custom_allocator_count, record, &event,
                           &out->diag))
        event.kind = ETL_EVENT_NONE;
    const size_t first = out->events.count;
    return handle_event(s, &event) &&
           (!input->keeps_targets ||
            (note_target(s, first) &&
             (record->has_hook || event_inventory_add(&out->inventory.events, record))));
}

static bool handle_event(scanner *s, const etl_event *event)
{
    const etl_record *const record = s->record;
    handle_fn *const handle = handlers[event->kind];
    if (handle != NULL)
        return handle(s, event);
    const bool is_heap = record->has_hook && record->hook >> 8 == 0x10;
    return !is_heap || scan_count_heap_event(s);
}

bool scan_note_event(scan_output *out, const memory_event *event)
{
    pid_span *const last = out->spans.count == 0 ? NULL : &out->spans.at[out->spans.count - 1];
    out->is_unsorted |= last != NULL && event->ticks < last->last_ticks;
    if (last == NULL || last->pid != event->pid) {
        const pid_span span = { event->pid, 1, event->ticks, event->ticks };
        return ETLHEAP_PUSH(&out->spans, span);
    }
    last->count++;
    last->last_ticks = event->ticks;
    return true;
}

bool scan_push_event(scanner *s, memory_event event)
{
    scan_output *const out = s->out;
    event.ticks = s->ticks;
    event.cpu = (u16)s->record->cpu;
    event.shard = event.op >= OP_COMMIT ? scan_range_shard(&event)
                                        : scan_heap_shard(event.address, event.pid);
    if (!scan_append_event(out, &event))
        return false;
    const u32 index = (u32)(out->events.count - 1);
    stack_ring_push_if(&s->ring, index, op_wants_stack(event.op));
    return !s->input->wants_frees || !op_ends_range(event.op) ||
           ETLHEAP_PUSH(&out->range_frees, index);
}

static bool handle_alloc(scanner *s, const etl_event *event)
{
    const etl_heap_alloc *const alloc = &event->as.heap_alloc;
    return scan_push_event(s, (memory_event){ .op = OP_ALLOC,
                                              .address = alloc->alloc_address,
                                              .size = alloc->alloc_size_bytes,
                                              .heap = alloc->heap_handle,
                                              .pid = s->record->pid,
                                              .tid = s->record->tid });
}

/* A moving realloc is about two addresses; one in place ends a lifetime and begins another. */
static bool handle_realloc(scanner *s, const etl_event *event)
{
    const etl_heap_realloc *const realloc_event = &event->as.heap_realloc;
    const u64 old_address = realloc_event->old_alloc_address;
    const bool in_place = old_address == 0 || old_address == realloc_event->new_alloc_address;
    memory_event row = { .op = OP_REALLOC_CLOSE,
                         .address = realloc_event->new_alloc_address,
                         .size = realloc_event->new_alloc_size_bytes,
                         .heap = realloc_event->heap_handle,
                         .pid = s->record->pid,
                         .tid = s->record->tid };
    if (in_place && !scan_push_event(s, row))
        return false;
    row.op = in_place ? OP_REALLOC_SAME : OP_REALLOC_NEW;
    if (!scan_push_event(s, row))
        return false;
    /* One that failed has no new address and leaves the old block as it is. */
    if (in_place || row.address == 0)
        return true;
    row.op = OP_REALLOC_OLD;
    row.address = old_address;
    row.size = realloc_event->old_alloc_size_bytes;
    return scan_push_event(s, row) &&
           (s->input->inventory_only || realloc_trail_begin(s->out, s->input->wants_frees));
}

static bool handle_free(scanner *s, const etl_event *event)
{
    const etl_heap_free *const free_event = &event->as.heap_free;
    return scan_push_event(s, (memory_event){ .op = OP_FREE,
                                              .address = free_event->free_address,
                                              .heap = free_event->heap_handle,
                                              .pid = s->record->pid,
                                              .tid = s->record->tid });
}

static bool handle_memory(scanner *s, const etl_event *event)
{
    return s->input->inventory_only || meminfo_note(&s->out->memory_notes, event, s->ticks);
}

/* A call that reserves and commits is two rows, and has one stack. */
static bool push_virtual_alloc(scanner *s, memory_event row, u32 flags)
{
    const bool commits = (flags & ETL_MEM_COMMIT) != 0;
    if ((flags & ETL_MEM_RESERVE) != 0) {
        row.op = commits ? OP_RESERVE : OP_RESERVE_ALONE;
        row.heap = (flags & ETL_MEM_REPLACE_PLACEHOLDER) != 0;
        if (!scan_push_event(s, row))
            return false;
        row.heap = 0;
    }
    row.op = OP_COMMIT;
    return !commits || scan_push_event(s, row);
}

/*
 * The event, not the flags, says whether memory is allocated or freed: bit 0x4000 means
 * MEM_DECOMMIT in one and MEM_REPLACE_PLACEHOLDER in the other. A commit in large pages covers its
 * whole reservation, as the size says. A placeholder that stays, or becomes one with others, is
 * still reserved: only its commit goes.
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
        return push_virtual_alloc(s, row, memory->flags);
    case ETL_EVENT_VIRTUAL_FREE:
        row.op = (memory->flags & (ETL_MEM_RELEASE | ETL_MEM_STAYS_RESERVED)) == ETL_MEM_RELEASE
                     ? OP_RELEASE
                     : OP_DECOMMIT;
        return scan_push_event(s, row);
    default:
        row.op = event->kind == ETL_EVENT_VIRTUAL_ALLOC_DCSTART ? OP_RUNDOWN_START : OP_RUNDOWN_END;
        row.heap = memory->region_size_bytes;
        row.size = memory->commit_size_bytes;
        return scan_push_event(s, row);
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
                         .pid = s->record->pid,
                         .tid = s->record->tid,
                         .event = *event };
    if (!copy_strings(&out->arena, &row.event) || !ETLHEAP_PUSH(&out->system, row))
        return false;
    if (event->kind != ETL_EVENT_HEAP_CREATE && event->kind != ETL_EVENT_HEAP_DESTROY)
        return true;
    return scan_heap_sizes(s, event);
}

/* A trace may name a hundred thousand files. */
static bool handle_file_name(scanner *s, const etl_event *event)
{
    return s->input->inventory_only || !s->input->wants_files || handle_system(s, event);
}

static bool handle_thread_name(scanner *s, const etl_event *event)
{
    const etl_thread_event *const thread = &event->as.thread;
    thread_note note = { .ticks = s->ticks, .pid = thread->process_id, .tid = thread->thread_id };
    return thread->name.size == 0 ||
           (etlheap_arena_copy(&s->out->arena, thread->name, &note.name) &&
            ETLHEAP_PUSH(&s->out->thread_names, note));
}

static bool handle_thread(scanner *s, const etl_event *event)
{
    const thread_turn turn = { s->ticks, event->as.thread.thread_id };
    return ETLHEAP_PUSH(&s->out->turns, turn) && handle_thread_name(s, event);
}

static mark_note mark_here(const scanner *s)
{
    return (mark_note){ .ticks = s->ticks, .stream = s->out->stream };
}

static bool handle_mark(scanner *s, const etl_event *event)
{
    const mark_note where = mark_here(s);
    return mark_notes_add(&s->out->marks, &where, event, &s->out->arena);
}

/* Events described as marks also keep their own meaning. */
static bool note_mark(scanner *s)
{
    const mark_note where = mark_here(s);
    return s->input->mark_events == NULL ||
           mark_events_note(s->input->mark_events, s->record, &where, &s->out->marks,
                            &s->out->arena);
}

static bool handle_lost(scanner *s, const etl_event *event)
{
    (void)event;
    etl_diag_add(&s->out->diag, ETL_DIAG_realtime_lost, 1);
    return true;
}

static stack_part classify(const u8 *frames, u32 frame_bytes, u32 count)
{
    const u64 inner = etl_frame_at(frames, frame_bytes, 0);
    const u64 outer = etl_frame_at(frames, frame_bytes, count - 1);
    if (!stack_is_kernel_address(inner, frame_bytes))
        return PART_USER;
    return stack_is_kernel_address(outer, frame_bytes) ? PART_KERNEL : PART_WHOLE;
}

/* Views frames. Frames of 4 bytes are widened into one buffer, so what waits there is looked up
 * first. False without memory. */
bool scan_view_frames(scanner *s, const u8 *frames, u32 frame_bytes, u32 count, frame_view *out)
{
    *out = (frame_view){ frames, count, PART_WHOLE };
    if (count > STACK_FRAMES_MAX) {
        out->count = STACK_FRAMES_MAX;
        etl_diag_add(&s->out->diag, ETL_DIAG_stack_too_deep, 1);
    }
    if (out->count == 0)
        return true;
    out->part = classify(frames, frame_bytes, out->count);
    if (frame_bytes == 8)
        return true;
    if (!stack_queue_flush(&s->queue))
        return false;
    for (u32 i = 0; i < out->count; i++)
        s->widened[i] = etl_frame_at(frames, 4, i);
    out->at = s->widened;
    return true;
}

/* Requests a stack's reference, which is put where `target` and `index` say. */
bool scan_request_stack(scanner *s, const frame_view *frames, stack_target target, size_t index)
{
    if (frames->count == 0)
        return true;
    return stack_queue_push(&s->queue, frames->at, frames->count, target, index);
}

/*
 * Does the part resolve the stack at once? A user or whole part does if it meets its event with
 * nothing before it, if the event's sort begins with it, and if it is the memory's owner's.
 * Anything else is left to the join.
 */
static bool resolves(const scanner *s, const stack_ring_entry *entry, stack_part part, u32 pid)
{
    return part != PART_KERNEL && stack_ring_is_unresolved(entry, s->out->events.at) &&
           stack_ring_is_of(entry, s->out->events.at, part, pid) &&
           scan_is_soon(s, s->out->events.at[entry->event].ticks, s->ticks);
}

/* Marks the entry as resolved: its reference will come. */
static void resolve(scanner *s, const stack_ring_entry *entry)
{
    s->out->events.at[entry->event].stack = STACK_TAG_LOCAL;
    s->resolved++;
}

static bool push_piece(scanner *s, stack_ring_entry *entry, stack_piece piece)
{
    if (entry != NULL && piece.part == PART_KERNEL)
        entry->has_kernel_part = true;
    piece.ticks = s->ticks;
    piece.event_ticks = tick_map_apply(s->map, piece.event_ticks);
    piece.events_before = (u32)s->out->events.count;
    piece.cpu = (u16)s->record->cpu;
    piece.session = stream_session(s->out->stream) & 127u;
    return ETLHEAP_PUSH(&s->out->pieces, piece);
}

static bool handle_stack(scanner *s, const etl_event *event)
{
    const etl_stack_event *const stack = &event->as.stack;
    scan_output *const out = s->out;
    frame_view frames;
    out->inventory.stack_records++;
    if (!scan_view_frames(s, stack->frames, stack->frame_bytes, stack->frame_count, &frames))
        return false;
    event_sort sort;
    const part_name name = { tick_map_apply(s->map, stack->event_ticks), stack->thread_id,
                             frames.part };
    stack_ring_entry *const entry = scan_find_event(s, &name, &sort);
    if (resolves(s, entry, frames.part, stack->process_id)) {
        out->met++;
        if (frames.count > 0)
            resolve(s, entry);
        return scan_request_stack(s, &frames, TARGET_EVENT, entry->event);
    }
    return push_piece(s, entry,
                      (stack_piece){ .event_ticks = stack->event_ticks,
                                     .pid = stack->process_id,
                                     .tid = stack->thread_id,
                                     .part = frames.part & 3u,
                                     .sort = sort & 15u }) &&
           scan_request_stack(s, &frames, TARGET_PIECE, out->pieces.count - 1);
}

static bool handle_key(scanner *s, const etl_event *event)
{
    const etl_stack_key_event *const key = &event->as.stack_key;
    scan_output *const out = s->out;
    const stack_part part = event->kind == ETL_EVENT_STACK_KEY_KERNEL ? PART_KERNEL : PART_USER;
    out->inventory.stack_records++;
    out->inventory.key_records++;
    event_sort sort;
    const part_name name = { tick_map_apply(s->map, key->event_ticks), key->thread_id, part };
    stack_ring_entry *const entry = scan_find_event(s, &name, &sort);
    if (resolves(s, entry, part, key->process_id)) {
        out->met++;
        resolve(s, entry);
        return ETLHEAP_PUSH(&out->key_uses,
                            (key_use){ s->ticks, key->stack_key, entry->event, false });
    }
    return push_piece(s, entry,
                      (stack_piece){ .event_ticks = key->event_ticks,
                                     .key = key->stack_key,
                                     .pid = key->process_id,
                                     .tid = key->thread_id,
                                     .part = part & 3u,
                                     .sort = sort & 15u,
                                     .is_key = true });
}

static bool handle_definition(scanner *s, const etl_event *event)
{
    const etl_stack_definition *const definition = &event->as.stack_definition;
    scan_output *const out = s->out;
    frame_view frames;
    if (!scan_view_frames(s, definition->frames, definition->frame_bytes, definition->frame_count,
                          &frames))
        return false;
    if (frames.count == 0)
        return true;
    const key_definition row = { .ticks = s->ticks,
                                 .key = definition->stack_key,
                                 .stream = out->stream,
                                 .is_kernel = frames.part != PART_USER };
    return ETLHEAP_PUSH(&out->definitions, row) &&
           scan_request_stack(s, &frames, TARGET_DEFINITION, out->definitions.count - 1);
}

bool scan_take_sample(scan_output *out)
{
    for (size_t i = 0; i < out->events.count; i += SCAN_SAMPLE_STEP) {
        if (!ETLHEAP_PUSH(&out->sample, out->events.at[i].ticks))
            return false;
    }
    return true;
}
