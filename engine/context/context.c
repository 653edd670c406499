/*
 * context.c - applies system events (processes, images, heaps, services) to the context of a run,
 * and answers who owned an id at a time. The rules are at the top of context.h.
 *
 * In: decoded system events of a slice, in order of time. Out: one row per process lifetime,
 * chained by `previous` to the former owner of the same id, and the moments at which heaps and
 * images changed.
 *
 * The idea: an id's owners are intervals of time, newest first. An event that no interval covers
 * makes an implicit process in the gap, so every memory event has an owner. Invariant: owners
 * depend on times alone. Look at nothing that depends on how far the trace has been read, or
 * results change with the size of slices.
 */
#include "context.h"
#include "methods.h"
#include "volumes.h"

#include <stdlib.h>

#define AFTER_END_NS    ((i64)2 * 1000 * 1000)
#define BEFORE_START_NS ((i64)1000 * 1000 * 1000)

typedef bool apply_fn(trace_context *context, const system_event *row);

static apply_fn apply_start, apply_end, apply_rundown, apply_defunct, apply_create, apply_destroy,
    apply_image, apply_identity, apply_cpu, apply_service, apply_object_type;

static apply_fn *const appliers[ETL_EVENT_KIND_COUNT] = {
    [ETL_EVENT_PROCESS_START] = apply_start,
    [ETL_EVENT_PROCESS_END] = apply_end,
    [ETL_EVENT_PROCESS_DCSTART] = apply_rundown,
    [ETL_EVENT_PROCESS_DCEND] = apply_rundown,
    [ETL_EVENT_PROCESS_DEFUNCT] = apply_defunct,
    [ETL_EVENT_HEAP_DESTROY] = apply_destroy,
    [ETL_EVENT_IMAGE_LOAD] = apply_image,
    [ETL_EVENT_IMAGE_UNLOAD] = apply_image,
    [ETL_EVENT_IMAGE_DCSTART] = apply_image,
    [ETL_EVENT_IMAGE_DCEND] = apply_image,
    [ETL_EVENT_IMAGE_ID] = apply_identity,
    [ETL_EVENT_IMAGE_RSDS] = apply_identity,
    [ETL_EVENT_CONFIG_CPU] = apply_cpu,
    [ETL_EVENT_VOLUME_MAPPING] = volumes_told,
    [ETL_EVENT_OBJECT_TYPE_DCSTART] = apply_object_type,
    [ETL_EVENT_OBJECT_TYPE_DCEND] = apply_object_type,
    [ETL_EVENT_METHOD_LOAD] = methods_told,
    [ETL_EVENT_METHOD_UNLOAD] = methods_told,
    [ETL_EVENT_METHOD_DCSTART] = methods_told,
    [ETL_EVENT_METHOD_DCEND] = methods_told,
    [ETL_EVENT_ASSEMBLY_LOAD] = assembly_told,
    [ETL_EVENT_ASSEMBLY_UNLOAD] = assembly_told,
    [ETL_EVENT_ASSEMBLY_DCSTART] = assembly_told,
    [ETL_EVENT_ASSEMBLY_DCEND] = assembly_told,
    [ETL_EVENT_CONFIG_SERVICE] = apply_service,
    [ETL_EVENT_HEAP_CREATE] = apply_create,
    [ETL_EVENT_FILE_NAME] = file_names_told,
    [ETL_EVENT_FILE_CREATE] = file_names_told,
    [ETL_EVENT_FILE_DELETE] = file_names_told,
    [ETL_EVENT_FILE_RUNDOWN] = file_names_told,
};

void context_open(trace_context *context, const timebase *base)
{
    *context = (trace_context){
        .after_end_ticks = timebase_span(base, AFTER_END_NS),
        .before_start_ticks = timebase_span(base, BEFORE_START_NS),
        .os_pointer_bits = base->base->pointer_bytes * 8,
        .from_ticks = INT64_MIN,
    };
}

void context_close(trace_context *context)
{
    etlheap_strings_free(&context->strings);
    ETLHEAP_VECTOR_FREE(&context->processes);
    etlheap_index_free(&context->latest_by_pid);
    ETLHEAP_VECTOR_FREE(&context->latest);
    ETLHEAP_VECTOR_FREE(&context->created);
    ETLHEAP_VECTOR_FREE(&context->destroyed);
    ETLHEAP_VECTOR_FREE(&context->images);
    for (size_t i = 0; i < context->image_changes.count; i++)
        ETLHEAP_VECTOR_FREE(&context->image_changes.at[i].ticks);
    ETLHEAP_VECTOR_FREE(&context->image_changes);
    etlheap_index_free(&context->changes_by_pid);
    ETLHEAP_VECTOR_FREE(&context->identities);
    ETLHEAP_VECTOR_FREE(&context->methods);
    etlheap_index_free(&context->methods_by_place);
    ETLHEAP_VECTOR_FREE(&context->assemblies);
    ETLHEAP_VECTOR_FREE(&context->volumes);
    ETLHEAP_VECTOR_FREE(&context->services);
    logged_names_free(&context->logged_names);
    file_names_free(&context->files);
}

bool context_apply(trace_context *context, const system_event *events, size_t count)
{
    const size_t created_before = context->created.count;
    const size_t destroyed_before = context->destroyed.count;
    for (size_t i = 0; i < count; i++) {
        apply_fn *const apply = appliers[events[i].event.kind];
        if (apply != NULL && !apply(context, &events[i]))
            return false;
    }
    heap_times_sort(&context->created, created_before);
    heap_times_sort(&context->destroyed, destroyed_before);
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

/* The newest owner of the pid; NULL if there is none yet. */
static process_history *latest_of(const trace_context *context, u32 pid)
{
    const u32 slot = latest_slot(context, pid);
    return slot == 0 ? NULL : &context->processes.at[context->latest.at[slot - 1] - 1];
}

/* The last tick at which an event can still belong to the process. */
static i64 late_end(const trace_context *context, u32 process)
{
    return etl_sat_add_i64(context->processes.at[process - 1].end_ticks, context->after_end_ticks);
}

/* Links an owner to earlier ones. Skips grow with the number of owners, so that any owner is found
 * in few steps: two skips of one length are joined by the next owner. */
static void link_former(trace_context *context, process_history *row, u32 former)
{
    row->previous = row->skip = former;
    row->depth = 1;
    if (former == 0)
        return;
    const process_history *const one = &context->processes.at[former - 1];
    const process_history *const two =
        one->skip == 0 ? NULL : &context->processes.at[one->skip - 1];
    const u32 two_depth = two == NULL ? 0 : two->depth;
    const u32 three_depth =
        two == NULL || two->skip == 0 ? 0 : context->processes.at[two->skip - 1].depth;
    row->depth = one->depth + 1;
    if (two != NULL && one->depth - two_depth == two_depth - three_depth)
        row->skip = two->skip;
}

/* A new owner of the pid after `former`, 0: the first; NULL without memory. */
static process_history *push_process(trace_context *context, u32 pid, u32 former, i64 start_ticks)
{
    process_history row = { .pid = pid,
                            .parent_pid = ETL_NO_ID,
                            .start_ticks = start_ticks,
                            .end_ticks = ETLHEAP_TICKS_NEVER };
    link_former(context, &row, former);
    if (context->processes.count >= UINT32_MAX - 1 || !ETLHEAP_PUSH(&context->processes, row))
        return NULL;
    return &context->processes.at[context->processes.count - 1];
}

/* A new owner of the pid, its newest; NULL without memory. */
static process_history *add_process(trace_context *context, u32 pid, i64 start_ticks)
{
    const u32 slot = latest_slot(context, pid);
    const u32 former = slot == 0 ? 0 : context->latest.at[slot - 1];
    process_history *const process = push_process(context, pid, former, start_ticks);
    if (process == NULL)
        return NULL;
    const u32 id = (u32)context->processes.count;
    if (slot != 0) {
        context->latest.at[slot - 1] = id;
    } else if (!ETLHEAP_PUSH(&context->latest, id) ||
               !etlheap_index_add(&context->latest_by_pid, etlheap_hash_u64(pid),
                                  (u32)context->latest.count)) {
        return NULL;
    }
    return process;
}

static bool take_names(trace_context *context, process_history *process,
                       const etl_process_event *event)
{
    if (process->name == 0 &&
        !etlheap_strings_add_text(&context->strings, event->image_file_name, &process->name))
        return false;
    if (process->package == 0 &&
        !etlheap_strings_add_utf16(&context->strings, event->package_full_name, &process->package))
        return false;
    return process->command_line != 0 ||
           etlheap_strings_add_utf16(&context->strings, event->command_line,
                                     &process->command_line);
}

/* Adds facts of the record that are not known yet. */
static bool describe(trace_context *context, process_history *process, const system_event *row)
{
    const etl_process_event *const event = &row->event.as.process;
    process->is_implicit = false;
    process->parent_pid = event->parent_id;
    process->unique_key = event->unique_process_key;
    const bool is_wow64 = (event->flags & ETL_PROCESS_WOW64) != 0;
    process->pointer_bits = is_wow64 ? 32 : context->os_pointer_bits;
    return take_names(context, process, event);
}

static bool has_key_of(const process_history *process, const etl_process_event *event)
{
    return process->unique_key != 0 && process->unique_key == event->unique_process_key;
}

/* The known owner that a record is about: the newest one, or the one before if the newest is known
 * only from memory events and the key belongs to the other. */
static process_history *known_subject(const trace_context *context, const etl_process_event *event)
{
    process_history *const newest = latest_of(context, event->process_id);
    if (newest == NULL || !newest->is_implicit || newest->previous == 0)
        return newest;
    process_history *const former = &context->processes.at[newest->previous - 1];
    return has_key_of(former, event) ? former : newest;
}

/*
 * *out: the process that an end or a rundown is about, made if it is not known yet. NULL if it has
 * ended already: the record is from another session, or something still refers to the process.
 * False without memory.
 */
static bool find_subject(trace_context *context, const system_event *row, process_history **out)
{
    const etl_process_event *const event = &row->event.as.process;
    process_history *const known = known_subject(context, event);
    *out = known;
    if (known == NULL) {
        *out = add_process(context, event->process_id, ETLHEAP_TICKS_BEFORE);
        return *out != NULL;
    }
    if (known->end_ticks > row->ticks)
        return true;
    const i64 late = etl_sat_add_i64(known->end_ticks, context->after_end_ticks);
    *out = NULL;
    if (row->ticks <= late || has_key_of(known, event))
        return true;
    *out = add_process(context, event->process_id, etl_sat_add_i64(late, 1));
    return *out != NULL;
}

/* Ends a process, unless it ended in an earlier slice. Its modules go with it, so addresses may
 * mean something else from then on. */
static bool end_process(trace_context *context, process_history *process, i64 ticks)
{
    if (process->end_ticks < context->from_ticks)
        return true;
    process->end_ticks = context_counts_from(context, ticks);
    return context_add_change(context, process->pid, process->end_ticks);
}

static bool apply_start(trace_context *context, const system_event *row)
{
    const etl_process_event *const event = &row->event.as.process;
    process_history *process = latest_of(context, event->process_id);
    const bool alive = process != NULL && process->end_ticks > row->ticks;
    if (alive && process->was_started &&
        row->ticks <= etl_sat_add_i64(process->start_ticks, context->after_end_ticks))
        return true; /* the same start from a second session */
    const bool adopts =
        alive && process->is_implicit &&
        etl_sat_add_i64(process->first_seen_ticks, context->before_start_ticks) >= row->ticks;
    if (alive && !adopts) {
        if (!end_process(context, process, row->ticks))
            return false;
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
    process_history *process;
    if (!find_subject(context, row, &process))
        return false;
    if (process == NULL)
        return true;
    return end_process(context, process, row->ticks) && describe(context, process, row);
}

/* A rundown, at the start or end of a session: the process is alive now and was before. */
static bool apply_rundown(trace_context *context, const system_event *row)
{
    process_history *process;
    if (!find_subject(context, row, &process))
        return false;
    return process == NULL || describe(context, process, row);
}

/* A process that has exited but is still referred to: it only gives its name. */
static bool apply_defunct(trace_context *context, const system_event *row)
{
    const etl_process_event *const event = &row->event.as.process;
    process_history *const process = known_subject(context, event);
    if (process == NULL || process->name != 0 ||
        (process->unique_key != 0 && process->unique_key != event->unique_process_key))
        return true;
    return take_names(context, process, event);
}

/* Adds a time of a heap. The process that had it; NULL without memory. */
static process_history *add_heap_time(trace_context *context, heap_times *times,
                                      const system_event *row, u64 handle)
{
    if (!context_ensure(context, row->pid, row->ticks, row->ticks))
        return NULL;
    const u32 process = context_process_at(context, row->pid, row->ticks);
    const heap_time time = { process, handle, row->ticks,
                             context_counts_from(context, row->ticks) };
    return ETLHEAP_PUSH(times, time) ? &context->processes.at[process - 1] : NULL;
}

static bool apply_create(trace_context *context, const system_event *row)
{
    process_history *const process =
        add_heap_time(context, &context->created, row, row->event.as.heap_create.heap_handle);
    if (process == NULL)
        return false;
    process->has_created_heaps = true;
    return true;
}

static bool apply_destroy(trace_context *context, const system_event *row)
{
    process_history *const process =
        add_heap_time(context, &context->destroyed, row, row->event.as.heap_handle.heap_handle);
    if (process == NULL)
        return false;
    process->has_destroyed_heaps = true;
    return true;
}

static bool same_changes(const void *owner, u32 id, const void *key)
{
    const trace_context *const context = owner;
    return context->image_changes.at[id - 1].pid == *(const u32 *)key;
}

/* The image changes of a pid; NULL if no record was about one. */
static image_changes *changes_of(const trace_context *context, u32 pid)
{
    const u32 id = etlheap_index_find(&context->changes_by_pid, etlheap_hash_u64(pid), same_changes,
                                      context, &pid);
    return id == 0 ? NULL : &context->image_changes.at[id - 1];
}

image_changes *context_changes(trace_context *context, u32 pid)
{
    image_changes *const known = changes_of(context, pid);
    if (known != NULL)
        return known;
    if (!ETLHEAP_PUSH(&context->image_changes, (image_changes){ .pid = pid }) ||
        !etlheap_index_add(&context->changes_by_pid, etlheap_hash_u64(pid),
                           (u32)context->image_changes.count))
        return NULL;
    return &context->image_changes.at[context->image_changes.count - 1];
}

bool context_add_change(trace_context *context, u32 pid, i64 ticks)
{
    image_changes *const changes = context_changes(context, pid);
    if (changes == NULL)
        return false;
    const size_t count = changes->ticks.count;
    const bool is_late = count > 0 && changes->ticks.at[count - 1] > ticks;
    return ETLHEAP_PUSH(&changes->ticks, is_late ? changes->ticks.at[count - 1] : ticks);
}

/* Notes that modules of a pid changed; a rundown can show that too. Kernel images are reported for
 * process 0 and, at times, 4. */
static bool note_image_change(trace_context *context, const image_row *row)
{
    return context_add_change(context, row->pid, row->ticks) &&
           (row->pid != 4 || context_add_change(context, 0, row->ticks));
}

/* Narrows the time of an epoch to what holds for one pid. */
static void narrow_epoch(const trace_context *context, u32 pid, i64 ticks, image_epoch *epoch)
{
    const image_changes *const changes = changes_of(context, pid);
    if (changes == NULL)
        return;
    size_t low;
    ETL_BISECT(low, 0, changes->ticks.count, changes->ticks.at[low] <= ticks);
    epoch->number += (u32)low;
    if (low > 0 && changes->ticks.at[low - 1] > epoch->from_ticks)
        epoch->from_ticks = changes->ticks.at[low - 1];
    if (low < changes->ticks.count && changes->ticks.at[low] < epoch->until_ticks)
        epoch->until_ticks = changes->ticks.at[low];
}

image_epoch context_image_epoch(const trace_context *context, u32 pid, i64 ticks)
{
    image_epoch epoch = { .pid = pid, .from_ticks = INT64_MIN, .until_ticks = INT64_MAX };
    narrow_epoch(context, pid, ticks, &epoch);
    if (pid != 0)
        narrow_epoch(context, 0, ticks, &epoch);
    return epoch;
}

static bool apply_image(trace_context *context, const system_event *row)
{
    const etl_image_event *const event = &row->event.as.image;
    image_row image = { .pid = event->process_id,
                        .base = event->image_base,
                        .size_bytes = event->image_size_bytes,
                        .ticks = context_counts_from(context, row->ticks),
                        .told_ticks = row->ticks,
                        .order = (u32)context->images.count,
                        .kind = (u8)row->event.kind,
                        .time_date_stamp = event->time_date_stamp,
                        .checksum = event->image_checksum };
    return etlheap_strings_add_utf16(&context->strings, event->file_name, &image.path) &&
           ETLHEAP_PUSH(&context->images, image) && note_image_change(context, &image);
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
    if (context->page_bytes == 0)
        context->page_bytes = row->event.as.config_cpu.page_size_bytes;
    return context->computer != 0 ||
           etlheap_strings_add_utf16(&context->strings, row->event.as.config_cpu.computer_name,
                                     &context->computer);
}

static bool apply_object_type(trace_context *context, const system_event *row)
{
    const etl_object_type *const event = &row->event.as.object_type;
    const u32 number = etlheap_kind_at(ETLHEAP_KIND_HANDLE)->lane;
    return logged_names_add(&context->logged_names, logged_heap(number, event->object_type),
                            event->name, &context->strings);
}

/* Applies a service record. Services that are not running belong to no process. */
static bool apply_service(trace_context *context, const system_event *row)
{
    const etl_config_service *const event = &row->event.as.config_service;
    service_row service = { .pid = event->process_id, .ticks = row->ticks };
    if (event->process_id == 0)
        return true;
    return etlheap_strings_add_utf16(&context->strings, event->service_name, &service.name) &&
           (service.name == 0 || ETLHEAP_PUSH(&context->services, service));
}

/* The owners around a moment, by id: the newest that had started by then, and the oldest that
 * started later; 0 if there is none. */
typedef struct owners_around {
    u32 before, after;
} owners_around;

static owners_around find_owners(const trace_context *context, u32 pid, i64 ticks)
{
    const process_history *const rows = context->processes.at;
    const u32 slot = latest_slot(context, pid);
    owners_around found = { slot == 0 ? 0 : context->latest.at[slot - 1], 0 };
    while (found.before != 0 && rows[found.before - 1].start_ticks > ticks) {
        const process_history *const row = &rows[found.before - 1];
        const bool skips = row->skip != 0 && rows[row->skip - 1].start_ticks > ticks;
        found.after = found.before;
        found.before = skips ? row->skip : row->previous;
    }
    return found;
}

/* The owner of the two that an event belongs to; 0 for neither. */
static u32 choose_owner(const trace_context *context, owners_around found, i64 ticks)
{
    if (found.before != 0 && ticks <= late_end(context, found.before))
        return found.before;
    if (found.after != 0 && etl_sat_add_i64(ticks, context->before_start_ticks) >=
                                context->processes.at[found.after - 1].start_ticks)
        return found.after;
    return 0;
}

/* Adds a process that is known only from an event between two owners, or after the last. */
static process_history *add_implicit(trace_context *context, u32 pid, owners_around found)
{
    const i64 start_ticks = found.before == 0 ? ETLHEAP_TICKS_BEFORE
                                              : etl_sat_add_i64(late_end(context, found.before), 1);
    if (found.after == 0)
        return add_process(context, pid, start_ticks);
    process_history *const process = push_process(context, pid, found.before, start_ticks);
    if (process == NULL)
        return NULL;
    process_history *const after = &context->processes.at[found.after - 1];
    after->previous = (u32)context->processes.count;
    process->end_ticks = after->start_ticks;
    etl_diag_add(&context->diag, ETL_DIAG_process_start_missing, 1);
    return process;
}

bool context_ensure_until(trace_context *context, u32 pid, i64 ticks, i64 *until_ticks)
{
    const owners_around found = find_owners(context, pid, ticks);
    const u32 owner = choose_owner(context, found, ticks);
    process_history *const process =
        owner != 0 ? &context->processes.at[owner - 1] : add_implicit(context, pid, found);
    if (process == NULL)
        return false;
    if (owner == 0)
        process->is_implicit = true;
    if (owner == 0 || (process->is_implicit && process->first_seen_ticks > ticks))
        process->first_seen_ticks = ticks;
    *until_ticks = owner != 0 && owner == found.before ? late_end(context, owner) : INT64_MAX;
    if (found.after != 0 && *until_ticks >= context->processes.at[found.after - 1].start_ticks)
        *until_ticks = etl_sat_add_i64(context->processes.at[found.after - 1].start_ticks, -1);
    return true;
}

bool context_ensure(trace_context *context, u32 pid, i64 first_ticks, i64 last_ticks)
{
    i64 until_ticks;
    return context_ensure_until(context, pid, first_ticks, &until_ticks) &&
           (last_ticks <= until_ticks ||
            context_ensure_until(context, pid, last_ticks, &until_ticks));
}

u32 context_process_at(const trace_context *context, u32 pid, i64 ticks)
{
    const owners_around found = find_owners(context, pid, ticks);
    const u32 owner = choose_owner(context, found, ticks);
    return owner != 0 ? owner : found.after != 0 ? found.after : found.before;
}

bool context_heap_created(const trace_context *context, u32 process, u64 handle, i64 after_ticks,
                          i64 before_ticks)
{
    if (!context->processes.at[process - 1].has_created_heaps)
        return false;
    const heap_time *const found =
        heap_times_from(&context->created, process, handle, etl_sat_add_i64(after_ticks, 1));
    return found != NULL && found->ticks < before_ticks;
}

i64 context_heap_end(const trace_context *context, u32 process, u64 handle, i64 alloc_ticks)
{
    if (!context->processes.at[process - 1].has_destroyed_heaps)
        return ETLHEAP_TICKS_NEVER;
    const heap_time *const found =
        heap_times_from(&context->destroyed, process, handle, alloc_ticks);
    return found == NULL ? ETLHEAP_TICKS_NEVER : found->from_ticks;
}

bool context_heap_ended(const trace_context *context, u32 process, u64 handle, i64 before_ticks,
                        i64 *last_ticks)
{
    if (!context->processes.at[process - 1].has_destroyed_heaps)
        return false;
    const heap_time *const found =
        heap_times_before(&context->destroyed, process, handle, before_ticks);
    if (found != NULL)
        *last_ticks = found->ticks;
    return found != NULL;
}
