/*
 * scan_lean.c - reads allocations, frees and their stacks in a fast loop of its own.
 *
 * In: the records of a buffer from a given place. Out: memory events and stacks, and the place of
 * the first record that the loop does not take.
 *
 * A heap trace is nearly all Heap/Alloc, Heap/Free and stack records, and little comes of each: an
 * event of 48 bytes, and a stack on its way to the event before it. So the fields go from the
 * buffer (parser/etl/lean.h) straight to their place among the events, with room reserved for the
 * whole buffer; counts stay in registers until the run of plain records ends.
 *
 * A record is left to scan.c if it is not plain, if its time goes back or belongs to another slice,
 * or if a stack does not resolve an event of the ring. Invariant: both ways must give the same
 * output; tests/unit/read/test_scan_lean.c compares them.
 */
#include "scan_inside.h"

#include "parser/etl/lean.h"

/* Not a process id. */
#define NO_PID UINT64_MAX

/* One record in a tally of number and bytes, so that one addition counts both. The bytes of a
 * buffer are fewer than 2^32, and so are its records. */
#define TALLY_ONE ((u64)1 << 32)

/* A run of plain records. */
typedef struct lean_run {
    etl_cursor c;         /* at the record in hand */
    i64 ticks;            /* of the latest one */
    i64 end_ticks;        /* of the slice */
    memory_event *events; /* of the task, with room for the rest of the buffer */
    u32 count;            /* of events */
    u32 noted;            /* events that the spans have */
    u64 span_pid;         /* of the events after those, NO_PID: none yet */
    u64 tally[LEAN_SORTS];
    u16 cpu;
} lean_run;

static bool is_run(const scanner *s, etl_cursor c);
static lean_run begin_run(const scanner *s, const etl_buffer *buffer);
static inline bool take_heap(scanner *s, lean_run *run, u64 prefix);
static inline bool is_in_run(const lean_run *run, i64 ticks);
static bool turn_span(scan_output *out, const memory_event *first, const memory_event *event);
static void close_span(scan_output *out, const memory_event *first, const memory_event *end);
static inline bool take_stack(scanner *s, lean_run *run, u64 prefix);
static inline bool take_stack_key(scanner *s, lean_run *run, u64 prefix);
static inline stack_ring_entry *find_unresolved(scanner *s, const lean_run *run,
                                                const etl_lean_stack *stack, stack_part part);
static void end_run(scanner *s, etl_buffer *buffer, const lean_run *run);
static bool note_targets(scan_output *out, size_t first);

bool scan_lean(scanner *s, etl_buffer *buffer)
{
    const etl_cursor c = etl_lean_begin(buffer);
    if (!is_run(s, c))
        return true;
    /* Every event takes at least as many bytes as a free. */
    if (!ETLHEAP_RESERVE(&s->out->events, c.left / ETL_LEAN_FREE_BYTES + 1))
        return false;
    const size_t first = s->out->events.count;
    lean_run run = begin_run(s, buffer);
    bool taken = true;
    while (taken) {
        const u64 prefix = etl_lean_prefix(run.c);
        if (etl_lean_is_heap(prefix))
            taken = take_heap(s, &run, prefix);
        else if (etl_lean_is_stack(prefix))
            taken = take_stack(s, &run, prefix);
        else
            taken = etl_lean_is_stack_key(prefix) && take_stack_key(s, &run, prefix);
    }
    end_run(s, buffer, &run);
    return !s->out_of_memory && (!s->input->keeps_targets || note_targets(s->out, first));
}

/* Does a run begin here? Called at each record that is not plain, so it must be cheap. */
static bool is_run(const scanner *s, etl_cursor c)
{
    const u64 prefix = etl_lean_prefix(c);
    const bool is_plain =
        etl_lean_is_heap(prefix) || etl_lean_is_stack(prefix) || etl_lean_is_stack_key(prefix);
    return is_plain && s->out->events.count < UINT32_MAX - c.left;
}

/* Begins a run. The open span goes on without comparing times if no event of the run can be before
 * its last one: within the run times do not go back. */
static lean_run begin_run(const scanner *s, const etl_buffer *buffer)
{
    const scan_output *const out = s->out;
    const pid_span *const span =
        out->spans.count == 0 ? NULL : &out->spans.at[out->spans.count - 1];
    const bool goes_on = span != NULL && span->last_ticks <= buffer->ticks_previous;
    return (lean_run){ .c = etl_lean_begin(buffer),
                       .ticks = buffer->ticks_previous,
                       .end_ticks = s->input->end_ticks,
                       .events = out->events.at,
                       .count = (u32)out->events.count,
                       .noted = (u32)out->events.count,
                       .span_pid = goes_on ? span->pid : NO_PID,
                       .cpu = (u16)buffer->cpu };
}

static inline bool take_heap(scanner *s, lean_run *run, u64 prefix)
{
    etl_lean_heap heap;
    if (!etl_lean_read_heap(run->c, prefix, &heap) || !is_in_run(run, heap.ticks))
        return false;
    memory_event *const event = &run->events[run->count];
    *event = (memory_event){ .ticks = heap.ticks,
                             .address = heap.address,
                             .size = heap.size_bytes,
                             .heap = heap.heap_handle,
                             .pid = heap.pid,
                             .tid = heap.tid,
                             .op = (u8)(OP_FREE - heap.is_alloc),
                             .shard = scan_heap_shard(heap.address, heap.pid),
                             .cpu = run->cpu };
    if (heap.pid != run->span_pid) {
        if (!turn_span(s->out, &run->events[run->noted], event)) {
            s->out_of_memory = true;
            return false;
        }
        run->noted = run->count + 1;
        run->span_pid = heap.pid;
    }
    stack_ring_push_if(&s->ring, run->count, heap.is_alloc);
    run->count++;
    run->ticks = heap.ticks;
    run->tally[LEAN_FREE - heap.is_alloc] += TALLY_ONE + etl_lean_size(prefix);
    etl_lean_step(&run->c, prefix);
    return true;
}

/* Is the time in the run's slice? The largest time is left to scan.c. */
static inline bool is_in_run(const lean_run *run, i64 ticks)
{
    return ticks >= run->ticks && ticks < run->end_ticks;
}

/* Turns to another process id: the open span gets the events up to `event`, which begins the next
 * one. */
static bool turn_span(scan_output *out, const memory_event *first, const memory_event *event)
{
    close_span(out, first, event);
    return scan_note_event(out, event);
}

static void close_span(scan_output *out, const memory_event *first, const memory_event *end)
{
    if (first == end)
        return;
    pid_span *const span = &out->spans.at[out->spans.count - 1];
    span->count += (u32)(end - first);
    span->last_ticks = end[-1].ticks;
}

/* Frames that etl_decode() or scan.c would cut, and kernel parts, are not plain. */
static inline bool take_stack(scanner *s, lean_run *run, u64 prefix)
{
    etl_lean_stack stack;
    if (!etl_lean_read_stack(run->c, prefix, &stack) || stack.frame_count > STACK_FRAMES_MAX)
        return false;
    const u64 inner = etl_frame_at(stack.frames, 8, 0);
    const u64 outer = etl_frame_at(stack.frames, 8, stack.frame_count - 1);
    if (outer == 0 || (stack_is_kernel_address(inner, 8) && stack_is_kernel_address(outer, 8)))
        return false;
    const stack_part part = stack_is_kernel_address(inner, 8) ? PART_WHOLE : PART_USER;
    const stack_ring_entry *const entry = find_unresolved(s, run, &stack, part);
    if (entry == NULL)
        return false;
    run->events[entry->event].stack = STACK_TAG_LOCAL; /* taken */
    run->ticks = stack.ticks;
    run->tally[LEAN_STACK] += TALLY_ONE + etl_lean_size(prefix);
    etl_lean_step(&run->c, prefix);
    s->out_of_memory =
        !stack_queue_push(&s->queue, stack.frames, stack.frame_count, TARGET_EVENT, entry->event);
    return !s->out_of_memory;
}

static inline bool take_stack_key(scanner *s, lean_run *run, u64 prefix)
{
    etl_lean_stack stack;
    if (!etl_lean_read_stack_key(run->c, prefix, &stack))
        return false;
    const stack_ring_entry *const entry = find_unresolved(s, run, &stack, PART_USER);
    if (entry == NULL)
        return false;
    run->events[entry->event].stack = STACK_TAG_LOCAL; /* taken */
    run->ticks = stack.ticks;
    run->tally[LEAN_STACK_KEY] += TALLY_ONE + etl_lean_size(prefix);
    etl_lean_step(&run->c, prefix);
    const key_use use = { stack.ticks, stack.key, entry->event, false };
    s->out_of_memory = !ETLHEAP_PUSH(&s->out->key_uses, use);
    return !s->out_of_memory;
}

/* The event that a user or whole part resolves; NULL leaves it to scan.c. */
static inline stack_ring_entry *find_unresolved(scanner *s, const lean_run *run,
                                                const etl_lean_stack *stack, stack_part part)
{
    if (!is_in_run(run, stack->ticks))
        return NULL;
    event_sort sort;
    stack_ring_entry *const entry =
        stack_ring_find(&s->ring, run->events, run->count, stack->event_ticks, stack->tid, &sort);
    const bool resolves = stack_ring_is_unresolved(entry, run->events) &&
                          stack_ring_is_of(entry, run->events, part, stack->pid) &&
                          scan_is_soon(s, stack->event_ticks, stack->ticks);
    return resolves ? entry : NULL;
}

static void end_run(scanner *s, etl_buffer *buffer, const lean_run *run)
{
    scan_output *const out = s->out;
    close_span(out, &run->events[run->noted], &run->events[run->count]);
    if (run->count > out->events.count)
        out->kinds |= 1u << ETLHEAP_KIND_HEAP;
    out->events.count = run->count;
    if (run->c.left != buffer->end - buffer->at && run->ticks > out->last_ticks)
        out->last_ticks = run->ticks;
    const u32 resolved =
        (u32)(run->tally[LEAN_STACK] >> 32) + (u32)(run->tally[LEAN_STACK_KEY] >> 32);
    s->resolved += resolved;
    out->met += resolved;
    for (u32 i = 0; i < LEAN_SORTS; i++) {
        s->lean_counts[i].count += run->tally[i] >> 32;
        s->lean_counts[i].bytes += (u32)run->tally[i];
    }
    etl_lean_end(buffer, run->c, run->ticks);
}

/* Notes targets; each event is one record here. */
static bool note_targets(scan_output *out, size_t first)
{
    const size_t count = out->events.count - first;
    if (count == 0)
        return true;
    if (!ETLHEAP_RESERVE(&out->targets, count))
        return false;
    const memory_event *const events = out->events.at + first;
    inventory_target *const targets = out->targets.at + out->targets.count;
    for (size_t i = 0; i < count; i++)
        targets[i] = (inventory_target){ events[i].ticks, events[i].tid, events[i].cpu,
                                         op_frees(events[i].op) };
    out->targets.count += count;
    return true;
}

bool scan_lean_count(scanner *s)
{
    static const u16 hooks[LEAN_SORTS] = { ETL_HOOK_HEAP_ALLOC, ETL_HOOK_HEAP_FREE, ETL_HOOK_STACK,
                                           ETL_HOOK_STACK_KEY_USER };
    record_inventory *const inventory = &s->out->inventory;
    const u64 keys = s->lean_counts[LEAN_STACK_KEY].count;
    inventory->stack_records += s->lean_counts[LEAN_STACK].count + keys;
    inventory->key_records += keys;
    for (u32 i = 0; i < LEAN_SORTS; i++) {
        if (!inventory_add_hook(inventory, hooks[i], &s->lean_counts[i]))
            return false;
        s->lean_counts[i] = (inventory_count){ 0 };
    }
    return true;
}
