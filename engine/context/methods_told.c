/*
 * methods_told.c - collects what a trace says about .NET methods and their assemblies.
 *
 * In: loads, unloads and rundowns of methods, and assemblies, in any mixture. Load and unload times
 * before the trace count as its start. Out, in the context: one method_row for each period a method
 * occupies an address, assembly rows, a new epoch where needed, and a diagnostic for odd sizes.
 *
 * Nearly all records repeat what is known: a rundown at the end names what was loaded before. A
 * rundown without a load means that the code has been there since the beginning, or since the
 * previous code there was unloaded.
 *
 * Invariant: if code reuses addresses, stacks before and after mean different things and must fall
 * into different epochs. Each epoch duplicates the call-stack rows, so one begins only if code is
 * placed at the start of earlier code, or inside the bounds of all code unloaded since the last
 * reuse (image_changes.freed_from). Such epochs are few if the unloaded code lay together.
 */
#include "methods.h"

typedef struct method_place_key {
    u64 start;
    u32 pid;
} method_place_key;

static bool same_place(const void *owner, u32 id, const void *key)
{
    const trace_context *const context = owner;
    const method_place_key *const wanted = key;
    const method_row *const row = &context->methods.at[id - 1];
    return row->start == wanted->start && row->pid == wanted->pid;
}

static u64 hash_place(const method_place_key *key)
{
    return etlheap_hash_u64(key->start ^ (u64)key->pid << 40);
}

static u32 first_at(const trace_context *context, const method_place_key *key)
{
    return etlheap_index_find(&context->methods_by_place, hash_place(key), same_place, context,
                              key);
}

/* The latest row at an address if it belongs to the same process; else NULL. */
static method_row *latest_at(const trace_context *context, u32 first, i64 ticks)
{
    if (first == 0)
        return NULL;
    method_row *const row = &context->methods.at[context->methods.at[first - 1].latest - 1];
    const bool same_process = context_process_at(context, row->pid, ticks) ==
                              context_process_at(context, row->pid, row->told_ticks);
    return same_process ? row : NULL;
}

static bool add_row(trace_context *context, u32 first, const method_row *row)
{
    if (context->methods.count >= UINT32_MAX - 1 || !ETLHEAP_PUSH(&context->methods, *row))
        return false;
    const u32 id = (u32)context->methods.count;
    if (first != 0) {
        context->methods.at[first - 1].latest = id;
        return true;
    }
    context->methods.at[id - 1].latest = id;
    const method_place_key key = { row->start, row->pid };
    return etlheap_index_add(&context->methods_by_place, hash_place(&key), id);
}

static bool note_freed(trace_context *context, const method_row *row)
{
    image_changes *const changes = context_changes(context, row->pid);
    if (changes == NULL)
        return false;
    const u64 end = methods_end(row->start, row->size_bytes);
    const bool is_first = changes->freed_until == 0;
    changes->freed_from = is_first ? row->start : etl_min_u64(changes->freed_from, row->start);
    changes->freed_until = etl_max_u64(changes->freed_until, end);
    return true;
}

/* Starts a new epoch if this code reuses addresses. */
static bool note_taken(trace_context *context, const method_row *row, bool replaces, i64 ticks)
{
    image_changes *const changes = context_changes(context, row->pid);
    if (changes == NULL)
        return false;
    const u64 end = methods_end(row->start, row->size_bytes);
    if (!replaces && (row->start >= changes->freed_until || end <= changes->freed_from))
        return true;
    changes->freed_from = changes->freed_until = 0;
    return context_add_change(context, row->pid, ticks);
}

static bool is_same(const method_row *a, const method_row *b)
{
    return a->name == b->name && a->name_space == b->name_space && a->size_bytes == b->size_bytes;
}

static bool load(trace_context *context, u32 first, method_row *known, method_row *row,
                 bool is_load)
{
    const bool is_open = known != NULL && known->unload_ticks == ETLHEAP_TICKS_NEVER;
    if (is_open && is_same(known, row))
        return true;
    const i64 ticks = row->load_ticks;
    if (is_open)
        known->unload_ticks = ticks;
    if (!is_load)
        row->load_ticks = known != NULL ? known->unload_ticks : ETLHEAP_TICKS_BEFORE;
    return note_taken(context, row, known != NULL, ticks) && add_row(context, first, row);
}

/* Records an unload. Two sessions may both report one. */
static bool unload(trace_context *context, u32 first, method_row *known, method_row *row)
{
    const i64 ticks = row->load_ticks;
    if (known != NULL && is_same(known, row)) {
        if (known->unload_ticks == ETLHEAP_TICKS_NEVER)
            known->unload_ticks = ticks;
        return note_freed(context, row);
    }
    row->load_ticks = known != NULL ? known->unload_ticks : ETLHEAP_TICKS_BEFORE;
    if (row->load_ticks == ETLHEAP_TICKS_NEVER)
        row->load_ticks = known->unload_ticks = ticks;
    row->unload_ticks = ticks;
    return note_freed(context, row) && add_row(context, first, row);
}

bool methods_told(trace_context *context, const system_event *row)
{
    const etl_method_event *const event = &row->event.as.method;
    method_row told = { .start = event->start_address,
                        .module_id = event->module_id,
                        .load_ticks = context_counts_from(context, row->ticks),
                        .unload_ticks = ETLHEAP_TICKS_NEVER,
                        .told_ticks = row->ticks,
                        .pid = row->pid,
                        .size_bytes = event->size_bytes };
    if (event->start_address == 0 || stack_is_kernel_address(event->start_address, 8) ||
        event->size_bytes == 0)
        return true; /* not compiled */
    if (event->size_bytes >= METHOD_BYTES_MAX) {
        etl_diag_add(&context->diag, ETL_DIAG_method_size_odd, 1);
        return true;
    }
    if (!etlheap_strings_add_utf16(&context->strings, event->name_space, &told.name_space) ||
        !etlheap_strings_add_utf16(&context->strings, event->name, &told.name))
        return false;
    const method_place_key key = { told.start, told.pid };
    const u32 first = first_at(context, &key);
    method_row *const known = latest_at(context, first, row->ticks);
    return row->event.kind == ETL_EVENT_METHOD_UNLOAD
               ? unload(context, first, known, &told)
               : load(context, first, known, &told, row->event.kind == ETL_EVENT_METHOD_LOAD);
}

bool assembly_told(trace_context *context, const system_event *row)
{
    const etl_assembly_event *const event = &row->event.as.assembly;
    assembly_row assembly = { .module_id = event->module_id, .ticks = row->ticks, .pid = row->pid };
    return etlheap_strings_add_utf16(&context->strings, event->il_path, &assembly.path) &&
           (assembly.path == 0 || ETLHEAP_PUSH(&context->assemblies, assembly));
}
