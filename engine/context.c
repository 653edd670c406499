/* context.c - see context.h. */
#include "context.h"

#include <stdlib.h>

#define AFTER_END_NS    ((i64)2 * 1000 * 1000)
#define BEFORE_START_NS ((i64)1000 * 1000 * 1000)

typedef bool apply_fn(trace_context *context, const system_event *row);

static apply_fn apply_start, apply_end, apply_rundown, apply_defunct, apply_destroy, apply_image,
    apply_identity, apply_cpu, apply_volume;

static apply_fn *const appliers[ETL_EVENT_KIND_COUNT] = {
    [ETL_EVENT_PROCESS_START] = apply_start,     [ETL_EVENT_PROCESS_END] = apply_end,
    [ETL_EVENT_PROCESS_DCSTART] = apply_rundown, [ETL_EVENT_PROCESS_DCEND] = apply_rundown,
    [ETL_EVENT_PROCESS_DEFUNCT] = apply_defunct, [ETL_EVENT_HEAP_DESTROY] = apply_destroy,
    [ETL_EVENT_IMAGE_LOAD] = apply_image,        [ETL_EVENT_IMAGE_UNLOAD] = apply_image,
    [ETL_EVENT_IMAGE_DCSTART] = apply_image,     [ETL_EVENT_IMAGE_DCEND] = apply_image,
    [ETL_EVENT_IMAGE_ID] = apply_identity,       [ETL_EVENT_IMAGE_RSDS] = apply_identity,
    [ETL_EVENT_CONFIG_CPU] = apply_cpu,          [ETL_EVENT_VOLUME_MAPPING] = apply_volume,
};

void context_open(trace_context *context, const timebase *base)
{
    *context = (trace_context){
        .after_end_ticks = timebase_span(base, AFTER_END_NS),
        .before_start_ticks = timebase_span(base, BEFORE_START_NS),
        .os_pointer_bits = base->base->pointer_bytes * 8,
    };
}

void context_close(trace_context *context)
{
    etlheap_strings_free(&context->strings);
    ETLHEAP_VECTOR_FREE(&context->processes);
    etlheap_index_free(&context->latest_by_pid);
    ETLHEAP_VECTOR_FREE(&context->latest);
    ETLHEAP_VECTOR_FREE(&context->destroyed);
    ETLHEAP_VECTOR_FREE(&context->images);
    ETLHEAP_VECTOR_FREE(&context->identities);
    ETLHEAP_VECTOR_FREE(&context->volumes);
}

static int by_heap(const void *a, const void *b)
{
    const heap_destroyed *const x = a, *const y = b;
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    if (x->handle != y->handle)
        return x->handle < y->handle ? -1 : 1;
    return (x->ticks > y->ticks) - (x->ticks < y->ticks);
}

bool context_apply(trace_context *context, const system_event *events, size_t count)
{
    const size_t destroyed_before = context->destroyed.count;
    for (size_t i = 0; i < count; i++) {
        apply_fn *const apply = appliers[events[i].event.kind];
        if (apply != NULL && !apply(context, &events[i]))
            return false;
    }
    if (context->destroyed.count != destroyed_before)
        qsort(context->destroyed.at, context->destroyed.count, sizeof *context->destroyed.at,
              by_heap);
    return true;
}

static bool same_pid(const void *owner, u32 id, const void *key)
{
    const trace_context *const context = owner;
    const u32 process = context->latest.at[id - 1];
    return context->processes.at[process - 1].pid == *(const u32 *)key;
}

static u32 latest_slot(const trace_context *context, u32 pid)
{
    return etlheap_index_find(&context->latest_by_pid, etlheap_hash_u64(pid), same_pid, context,
                              &pid);
}

/* The newest owner of the pid; NULL when there is none yet. */
static process_history *latest_of(const trace_context *context, u32 pid)
{
    const u32 slot = latest_slot(context, pid);
    return slot == 0 ? NULL : &context->processes.at[context->latest.at[slot - 1] - 1];
}

/* A new owner of the pid, its newest; NULL without memory. */
static process_history *add_process(trace_context *context, u32 pid, i64 start_ticks)
{
    process_history row = { .pid = pid,
                            .parent_pid = ETL_NO_ID,
                            .start_ticks = start_ticks,
                            .end_ticks = ETLHEAP_TICKS_NEVER };
    const u32 slot = latest_slot(context, pid);
    if (slot != 0)
        row.previous = context->latest.at[slot - 1];
    if (context->processes.count >= UINT32_MAX - 1 || !ETLHEAP_PUSH(&context->processes, row))
        return NULL;
    const u32 id = (u32)context->processes.count;
    if (slot != 0) {
        context->latest.at[slot - 1] = id;
    } else if (!ETLHEAP_PUSH(&context->latest, id) ||
               !etlheap_index_add(&context->latest_by_pid, etlheap_hash_u64(pid),
                                  (u32)context->latest.count)) {
        return NULL;
    }
    return &context->processes.at[id - 1];
}

/* Takes what the record says and we did not know. */
static bool describe(trace_context *context, process_history *process, const system_event *row)
{
    const etl_process_event *const event = &row->event.as.process;
    process->is_implicit = false;
    process->parent_pid = event->parent_id;
    process->unique_key = event->unique_process_key;
    const bool is_wow64 = (event->flags & 2) != 0;
    process->pointer_bits = is_wow64 ? 32 : context->os_pointer_bits;
    if (process->name == 0 &&
        !etlheap_strings_add_text(&context->strings, event->image_file_name, &process->name))
        return false;
    return process->command_line != 0 ||
           etlheap_strings_add_utf16(&context->strings, event->command_line,
                                     &process->command_line);
}

static bool apply_start(trace_context *context, const system_event *row)
{
    const etl_process_event *const event = &row->event.as.process;
    process_history *process = latest_of(context, event->process_id);
    const bool alive = process != NULL && process->end_ticks > row->ticks;
    if (alive && process->was_started && process->start_ticks == row->ticks)
        return true; /* the same record from a second session */
    const bool adopts = alive && process->is_implicit &&
                        process->first_seen_ticks >= row->ticks - context->before_start_ticks;
    if (alive && !adopts) {
        process->end_ticks = row->ticks;
        etl_diag_add(&context->diag, ETL_DIAG_process_start_missing, 1);
    }
    if (adopts)
        process->start_ticks = row->ticks;
    else
        process = add_process(context, event->process_id, row->ticks);
    if (process == NULL)
        return false;
    process->was_started = true;
    return describe(context, process, row);
}

static bool apply_end(trace_context *context, const system_event *row)
{
    const etl_process_event *const event = &row->event.as.process;
    process_history *process = latest_of(context, event->process_id);
    if (process == NULL)
        process = add_process(context, event->process_id, ETLHEAP_TICKS_BEFORE);
    else if (process->end_ticks == row->ticks ||
             (process->end_ticks < row->ticks && process->unique_key != 0 &&
              process->unique_key == event->unique_process_key))
        return true; /* the same end from a second session */
    else if (process->end_ticks < row->ticks)
        process = add_process(context, event->process_id, process->end_ticks);
    if (process == NULL || !describe(context, process, row))
        return false;
    process->end_ticks = row->ticks;
    return true;
}

/* At the start of a session or at its end: alive now, and since before. */
static bool apply_rundown(trace_context *context, const system_event *row)
{
    const etl_process_event *const event = &row->event.as.process;
    process_history *process = latest_of(context, event->process_id);
    const bool ended = process != NULL && process->end_ticks <= row->ticks;
    if (ended && process->unique_key != 0 && process->unique_key == event->unique_process_key)
        return true; /* still referenced, but gone */
    if (process == NULL)
        process = add_process(context, event->process_id, ETLHEAP_TICKS_BEFORE);
    else if (ended)
        process = add_process(context, event->process_id, process->end_ticks);
    return process != NULL && describe(context, process, row);
}

/* Exited, but something still refers to it: it only lends its name. */
static bool apply_defunct(trace_context *context, const system_event *row)
{
    const etl_process_event *const event = &row->event.as.process;
    process_history *const process = latest_of(context, event->process_id);
    if (process == NULL || process->name != 0 ||
        (process->unique_key != 0 && process->unique_key != event->unique_process_key))
        return true;
    return describe(context, process, row);
}

static bool apply_destroy(trace_context *context, const system_event *row)
{
    if (!context_ensure(context, row->pid, row->ticks, row->ticks))
        return false;
    const u32 process = context_process_at(context, row->pid, row->ticks);
    context->processes.at[process - 1].has_destroyed_heaps = true;
    const heap_destroyed destroyed = { process, row->event.as.heap_handle.heap_handle, row->ticks };
    return ETLHEAP_PUSH(&context->destroyed, destroyed);
}

static bool apply_image(trace_context *context, const system_event *row)
{
    const etl_image_event *const event = &row->event.as.image;
    image_row image = { .pid = event->process_id,
                        .base = event->image_base,
                        .size_bytes = event->image_size_bytes,
                        .ticks = row->ticks,
                        .kind = (u8)row->event.kind,
                        .time_date_stamp = event->time_date_stamp,
                        .checksum = event->image_checksum };
    return etlheap_strings_add_utf16(&context->strings, event->file_name, &image.path) &&
           ETLHEAP_PUSH(&context->images, image);
}

static bool apply_identity(trace_context *context, const system_event *row)
{
    image_identity identity = { .ticks = row->ticks };
    if (row->event.kind == ETL_EVENT_IMAGE_ID) {
        const etl_image_id *const event = &row->event.as.image_id;
        identity.pid = event->process_id;
        identity.base = event->image_base;
        identity.time_date_stamp = event->time_date_stamp;
        identity.has_stamp = true;
    } else {
        const etl_image_rsds *const event = &row->event.as.image_rsds;
        identity.pid = event->process_id;
        identity.base = event->image_base;
        identity.guid = event->guid;
        identity.age = event->age;
        identity.has_rsds = true;
        if (!etlheap_strings_add_text(&context->strings, event->pdb_file_name, &identity.pdb_name))
            return false;
    }
    return ETLHEAP_PUSH(&context->identities, identity);
}

static bool apply_cpu(trace_context *context, const system_event *row)
{
    return context->computer != 0 ||
           etlheap_strings_add_utf16(&context->strings, row->event.as.config_cpu.computer_name,
                                     &context->computer);
}

static bool apply_volume(trace_context *context, const system_event *row)
{
    const etl_volume_mapping *const event = &row->event.as.volume_mapping;
    volume_row volume;
    return etlheap_strings_add_utf16(&context->strings, event->nt_path, &volume.nt_path) &&
           etlheap_strings_add_utf16(&context->strings, event->dos_path, &volume.dos_path) &&
           ETLHEAP_PUSH(&context->volumes, volume);
}

/*
 * An id that no record has spoken of, or whose last owner has ended for good,
 * gets a process known from its memory events alone.
 */
bool context_ensure(trace_context *context, u32 pid, i64 first_ticks, i64 last_ticks)
{
    process_history *process = latest_of(context, pid);
    const bool after_end =
        process != NULL && process->end_ticks != ETLHEAP_TICKS_NEVER &&
        last_ticks > etl_sat_add_i64(process->end_ticks, context->after_end_ticks);
    if (process == NULL || after_end) {
        const i64 start = after_end ? process->end_ticks : ETLHEAP_TICKS_BEFORE;
        process = add_process(context, pid, start);
        if (process == NULL)
            return false;
        process->is_implicit = true;
        process->first_seen_ticks = after_end ? last_ticks : first_ticks;
    }
    if (process->is_implicit && process->first_seen_ticks > first_ticks && process->previous == 0)
        process->first_seen_ticks = first_ticks;
    return true;
}

u32 context_process_at(const trace_context *context, u32 pid, i64 ticks)
{
    const u32 slot = latest_slot(context, pid);
    u32 id = slot == 0 ? 0 : context->latest.at[slot - 1];
    u32 following = 0; /* the oldest owner that starts after `ticks` */
    while (id != 0) {
        const process_history *const process = &context->processes.at[id - 1];
        const i64 late = etl_sat_add_i64(process->end_ticks, context->after_end_ticks);
        if (process->start_ticks <= ticks) {
            const bool lives = ticks <= process->end_ticks;
            const bool prefers_following =
                following != 0 && context->processes.at[following - 1].start_ticks - ticks <=
                                      context->before_start_ticks;
            if (lives || (ticks <= late && !prefers_following) || following == 0)
                return id;
            return following;
        }
        following = id;
        id = process->previous;
    }
    return following;
}

i64 context_heap_end(const trace_context *context, u32 process, u64 handle, i64 alloc_ticks)
{
    if (!context->processes.at[process - 1].has_destroyed_heaps)
        return ETLHEAP_TICKS_NEVER;
    const heap_destroyed wanted = { process, handle, alloc_ticks };
    size_t low = 0, high = context->destroyed.count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (by_heap(&context->destroyed.at[middle], &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == context->destroyed.count)
        return ETLHEAP_TICKS_NEVER;
    const heap_destroyed *const found = &context->destroyed.at[low];
    return found->process == process && found->handle == handle ? found->ticks
                                                                : ETLHEAP_TICKS_NEVER;
}
