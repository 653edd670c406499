/*
 * ehs_facts.c - saves and loads everything of a result except its events: a table per kind of
 * fact.
 *
 * In (save): the result. Out: columns of the store, one ehs_table for each array. In (load):
 * columns of a file that may be damaged. Out: the same arrays in the result.
 *
 * The idea: each struct has a const table that maps members to columns, so saving and loading
 * cannot disagree. Invariant: every number that refers to another table is checked against that
 * table's size here, so no later code needs to check it.
 */
#include "ehs_facts.h"

#include "ehs_facts_inside.h"
#include "spellings.h"

#include <stdlib.h>

#define CLOCK_HZ_MAX ((u64)9000000000) /* time conversions are exact up to it */

/* Rows that exist only in the file. */
typedef struct volume_text {
    const char *nt_path, *dos_path;
} volume_text;

typedef struct diagnostic_row {
    const char *name;
    u64 count;
} diagnostic_row;

/* Bits of trace.can. */
enum {
    CAN_HEAP = 1,
    CAN_VIRTUALALLOC = 2,
    CAN_EXTENT = 4,
    CAN_STACKS = 8,
    CAN_MODULES = 16,
    CAN_SYMBOLS = 32,
    CAN_MEMORY = 64,
    CAN_CUSTOM = 128,
    CAN_METHODS = 256,
    CAN_NOT_METHODS = 512,
    CAN_THREAD_NAMES = 1024,
    CAN_NOT_THREADS = 2048,
    CAN_RESERVE = 4096,
    CAN_FREE_STACKS = 8192,
    CAN_NUMBER_0 = 1 << 16 /* and the bits above it, for kinds with numbers from 5 on */
};

/* The one row of table trace. */
typedef struct trace_row {
    etlheap_trace_info info;
    etlheap_stack_counts stacks;
    i64 zero_ticks, first_ticks, last_ticks;
    u32 can;
} trace_row;

static const ehs_field process_fields[] = {
    EHS_FIELD(PROCESS_PID, etlheap_process_info, pid, U32),
    EHS_FIELD(PROCESS_PARENT, etlheap_process_info, parent_pid, U32),
    EHS_FIELD(PROCESS_NAME, etlheap_process_info, name, TEXT),
    EHS_FIELD(PROCESS_COMMAND, etlheap_process_info, command_line, TEXT),
    EHS_FIELD(PROCESS_START, etlheap_process_info, start_ticks, U64),
    EHS_FIELD(PROCESS_END, etlheap_process_info, end_ticks, U64),
    EHS_FIELD(PROCESS_POINTER_BITS, etlheap_process_info, pointer_bits, U32),
    EHS_FIELD(PROCESS_HEAP_EVENTS, etlheap_process_info, events[ETLHEAP_KIND_HEAP], U64),
    EHS_FIELD(PROCESS_VIRTUAL_EVENTS, etlheap_process_info, events[ETLHEAP_KIND_VIRTUALALLOC], U64),
    EHS_FIELD(PROCESS_UNPAIRED_HEAP, etlheap_process_info, free_without_alloc[ETLHEAP_KIND_HEAP],
              U64),
    EHS_FIELD(PROCESS_UNPAIRED_VIRTUAL, etlheap_process_info,
              free_without_alloc[ETLHEAP_KIND_VIRTUALALLOC], U64),
    EHS_FIELD(PROCESS_UNPAIRED_EXTENT, etlheap_process_info,
              free_without_alloc[ETLHEAP_KIND_EXTENT], U64),
};

static const ehs_field module_fields[] = {
    EHS_FIELD(MODULE_PID, etlheap_module_info, pid, U32),
    EHS_FIELD(MODULE_BASE, etlheap_module_info, base, U64),
    EHS_FIELD(MODULE_SIZE, etlheap_module_info, size_bytes, U64),
    EHS_FIELD(MODULE_PATH, etlheap_module_info, path, TEXT),
    EHS_FIELD(MODULE_NAME, etlheap_module_info, name, TEXT),
    EHS_FIELD(MODULE_STAMP, etlheap_module_info, time_date_stamp, U32),
    EHS_FIELD(MODULE_CHECKSUM, etlheap_module_info, checksum, U32),
    EHS_FIELD(MODULE_HAS_RSDS, etlheap_module_info, has_rsds, BOOL),
    EHS_FIELD(MODULE_GUID_LOW, etlheap_module_info, guid, U64),
    EHS_FIELD(MODULE_GUID_HIGH, etlheap_module_info, guid.bytes[8], U64),
    EHS_FIELD(MODULE_AGE, etlheap_module_info, age, U32),
    EHS_FIELD(MODULE_PDB_NAME, etlheap_module_info, pdb_name, TEXT),
    EHS_FIELD(MODULE_LOAD, etlheap_module_info, load_ticks, U64),
    EHS_FIELD(MODULE_UNLOAD, etlheap_module_info, unload_ticks, U64),
    EHS_FIELD(MODULE_PROCESS, etlheap_module_info, process.v, U32),
};

static const ehs_field foreign_fields[] = {
    EHS_FIELD(FOREIGN_STACK, foreign_stack, stack, U32),
    EHS_FIELD(FOREIGN_PROCESS, foreign_stack, process, U32),
    EHS_FIELD(FOREIGN_TICKS, foreign_stack, ticks, U64),
};

static const ehs_field volume_fields[] = {
    EHS_FIELD(VOLUME_NT_PATH, volume_text, nt_path, TEXT),
    EHS_FIELD(VOLUME_DOS_PATH, volume_text, dos_path, TEXT),
};

static const ehs_field hook_fields[] = {
    EHS_FIELD(HOOK_ID, etlheap_hook_count, hook, U16),
    EHS_FIELD(HOOK_COUNT, etlheap_hook_count, count, U64),
    EHS_FIELD(HOOK_BYTES, etlheap_hook_count, bytes, U64),
};

static const ehs_field provider_fields[] = {
    EHS_FIELD(PROVIDER_GUID_LOW, etlheap_provider_count, guid, U64),
    EHS_FIELD(PROVIDER_GUID_HIGH, etlheap_provider_count, guid.bytes[8], U64),
    EHS_FIELD(PROVIDER_IS_MESSAGE, etlheap_provider_count, is_message, BOOL),
    EHS_FIELD(PROVIDER_COUNT, etlheap_provider_count, count, U64),
    EHS_FIELD(PROVIDER_BYTES, etlheap_provider_count, bytes, U64),
};

static const ehs_field event_fields[] = {
    EHS_FIELD(EVENT_GUID_LOW, etlheap_event_count, provider, U64),
    EHS_FIELD(EVENT_GUID_HIGH, etlheap_event_count, provider.bytes[8], U64),
    EHS_FIELD(EVENT_IS_CLASS, etlheap_event_count, is_class, BOOL),
    EHS_FIELD(EVENT_ID, etlheap_event_count, id, U16),
    EHS_FIELD(EVENT_OPCODE, etlheap_event_count, opcode, U16),
    EHS_FIELD(EVENT_VERSION, etlheap_event_count, version, U16),
    EHS_FIELD(EVENT_PROVIDER_NAME, etlheap_event_count, provider_name, TEXT),
    EHS_FIELD(EVENT_NAME, etlheap_event_count, name, TEXT),
    EHS_FIELD(EVENT_COUNT, etlheap_event_count, count, U64),
    EHS_FIELD(EVENT_BYTES, etlheap_event_count, bytes, U64),
};

static const ehs_field diagnostic_fields[] = {
    EHS_FIELD(DIAGNOSTIC_NAME, diagnostic_row, name, TEXT),
    EHS_FIELD(DIAGNOSTIC_COUNT, diagnostic_row, count, U64),
};

static const ehs_field inventory_diagnostic_fields[] = {
    EHS_FIELD(INVENTORY_DIAGNOSTIC_NAME, diagnostic_row, name, TEXT),
    EHS_FIELD(INVENTORY_DIAGNOSTIC_COUNT, diagnostic_row, count, U64),
};

static const ehs_field file_fields[] = {
    EHS_FIELD(FILE_NAME, etlheap_summary_file, name, TEXT),
    EHS_FIELD(FILE_ID_LOW, etlheap_summary_file, id[0], U64),
    EHS_FIELD(FILE_ID_HIGH, etlheap_summary_file, id[1], U64),
};

static const ehs_field heap_size_fields[] = {
    EHS_FIELD(HEAP_SIZE_PROCESS, heap_size, process, U32),
    EHS_FIELD(HEAP_SIZE_HANDLE, heap_size, handle, U64),
    EHS_FIELD(HEAP_SIZE_TICKS, heap_size, ticks, U64),
    EHS_FIELD(HEAP_SIZE_COMMITTED, heap_size, committed, U64),
    EHS_FIELD(HEAP_SIZE_RESERVED, heap_size, reserved, U64),
    EHS_FIELD(HEAP_SIZE_DECOMMITTED, heap_size, decommitted, U64), /* missing in older stores */
};

#define HEAP_SIZE_FIELDS_OLD 5u

static const ehs_field trace_fields[] = {
    EHS_FIELD(TRACE_SESSION, trace_row, info.session, TEXT),
    EHS_FIELD(TRACE_COMPUTER, trace_row, info.computer, TEXT),
    EHS_FIELD(TRACE_CLOCK, trace_row, info.clock, TEXT),
    EHS_FIELD(TRACE_CLOCK_HZ, trace_row, info.clock_hz, U64),
    EHS_FIELD(TRACE_OS_BUILD, trace_row, info.os_build, U32),
    EHS_FIELD(TRACE_POINTER_BITS, trace_row, info.pointer_bits, U32),
    EHS_FIELD(TRACE_CPUS, trace_row, info.cpus, U32),
    EHS_FIELD(TRACE_START, trace_row, info.start_time_filetime, U64),
    EHS_FIELD(TRACE_DURATION, trace_row, info.duration_ns, U64),
    EHS_FIELD(TRACE_END, trace_row, info.end_ns, U64),
    EHS_FIELD(TRACE_BUFFERS, trace_row, info.buffers, U64),
    EHS_FIELD(TRACE_EVENTS, trace_row, info.events, U64),
    EHS_FIELD(TRACE_EVENTS_LOST, trace_row, info.events_lost, U64),
    EHS_FIELD(TRACE_BUFFERS_LOST, trace_row, info.buffers_lost, U64),
    EHS_FIELD(TRACE_BYTES, trace_row, info.bytes, U64),
    EHS_FIELD(TRACE_ZERO_TICKS, trace_row, zero_ticks, U64),
    EHS_FIELD(TRACE_FIRST_TICKS, trace_row, first_ticks, U64),
    EHS_FIELD(TRACE_LAST_TICKS, trace_row, last_ticks, U64),
    EHS_FIELD(TRACE_STACK_RECORDS, trace_row, stacks.records, U64),
    EHS_FIELD(TRACE_STACKS_MATCHED, trace_row, stacks.matched, U64),
    EHS_FIELD(TRACE_STACKS_UNMATCHED, trace_row, stacks.unmatched, U64),
    EHS_FIELD(TRACE_KEYS_REFERENCED, trace_row, stacks.keys_referenced, U64),
    EHS_FIELD(TRACE_KEYS_RESOLVED, trace_row, stacks.keys_resolved, U64),
    EHS_FIELD(TRACE_CAN, trace_row, can, U32),
};

static const ehs_table process_table = EHS_TABLE(process_fields, etlheap_process_info);
static const ehs_table module_table_columns = EHS_TABLE(module_fields, etlheap_module_info);
static const ehs_table foreign_table = EHS_TABLE(foreign_fields, foreign_stack);
static const ehs_table foreign_table_2_0 = { foreign_fields, 2, sizeof(foreign_stack) };
static const ehs_table volume_table = EHS_TABLE(volume_fields, volume_text);
static const ehs_table hook_table = EHS_TABLE(hook_fields, etlheap_hook_count);
static const ehs_table provider_table = EHS_TABLE(provider_fields, etlheap_provider_count);
static const ehs_table event_table = EHS_TABLE(event_fields, etlheap_event_count);
static const ehs_table diagnostic_table = EHS_TABLE(diagnostic_fields, diagnostic_row);
static const ehs_table inventory_diagnostic_table =
    EHS_TABLE(inventory_diagnostic_fields, diagnostic_row);
static const ehs_table file_table = EHS_TABLE(file_fields, etlheap_summary_file);
static const ehs_table heap_size_table = EHS_TABLE(heap_size_fields, heap_size);
static const ehs_table heap_size_table_old = { heap_size_fields, HEAP_SIZE_FIELDS_OLD,
                                               sizeof(heap_size) };
static const ehs_table trace_table = EHS_TABLE(trace_fields, trace_row);

static bool save_volumes(ehs_saver *saver, const trace_context *context);
static bool save_diagnostics(ehs_saver *saver, const ehs_table *table,
                             const etl_diag_counts *counts);
static bool save_files(ehs_saver *saver, const etlheap_result *result);
static bool save_trace(ehs_saver *saver, const etlheap_result *result);
static etl_status load_modules(ehs_loader *loader, etlheap_result *result);
static etl_status load_foreign(ehs_loader *loader, etlheap_result *result);
static etl_status load_volumes(ehs_loader *loader, etlheap_result *result);
static etl_status load_diagnostics(ehs_loader *loader, const ehs_table *table,
                                   etl_diag_counts *counts);
static etl_status load_files(ehs_loader *loader, etlheap_result *result);
static etl_status load_heap_sizes(ehs_loader *loader, etlheap_result *result);
static etl_status load_trace(ehs_loader *loader, etlheap_result *result);

bool ehs_facts_save(ehs_saver *saver, const etlheap_result *result)
{
    return ehs_table_save(saver, &process_table, result->processes.at, result->processes.count) &&
           ehs_table_save(saver, &module_table_columns, result->modules.list.at,
                          modules_image_count(&result->modules)) &&
           ehs_table_save(saver, &foreign_table, result->foreign.at, result->foreign.count) &&
           save_volumes(saver, &result->context) &&
           ehs_table_save(saver, &hook_table, result->hooks.at, result->hooks.count) &&
           ehs_table_save(saver, &provider_table, result->providers.at, result->providers.count) &&
           ehs_table_save(saver, &event_table, result->events.at, result->events.count) &&
           save_diagnostics(saver, &diagnostic_table, &result->diag) &&
           save_diagnostics(saver, &inventory_diagnostic_table, &result->inventory_diag) &&
           save_files(saver, result) &&
           ehs_table_save(saver, &heap_size_table, result->heap_sizes.at,
                          result->heap_sizes.count) &&
           ehs_optional_save(saver, result) && save_trace(saver, result);
}

static bool save_volumes(ehs_saver *saver, const trace_context *context)
{
    ETLHEAP_VECTOR(volume_text) rows = { 0 };
    bool ok = true;
    for (size_t i = 0; ok && i < context->volumes.count; i++) {
        const volume_row *const volume = &context->volumes.at[i];
        const volume_text row = { etlheap_strings_get(&context->strings, volume->nt_path),
                                  etlheap_strings_get(&context->strings, volume->dos_path) };
        ok = ETLHEAP_PUSH(&rows, row);
    }
    ok = ok && ehs_table_save(saver, &volume_table, rows.at, rows.count);
    ETLHEAP_VECTOR_FREE(&rows);
    return ok;
}

static bool save_diagnostics(ehs_saver *saver, const ehs_table *table,
                             const etl_diag_counts *counts)
{
    diagnostic_row rows[ETL_DIAG_COUNT];
    size_t count = 0;
    for (int i = 0; i < ETL_DIAG_COUNT; i++) {
        if (counts->of[i] > 0)
            rows[count++] = (diagnostic_row){ etl_diag_describe((etl_diag)i)->name, counts->of[i] };
    }
    return ehs_table_save(saver, table, rows, count);
}

/* Saves the files. Files that were not hashed have no ids. */
static bool save_files(ehs_saver *saver, const etlheap_result *result)
{
    if (result->recorded.count > 0)
        return ehs_table_save(saver, &file_table, result->recorded.at, result->recorded.count);
    const size_t count = result->files.count;
    etlheap_summary_file *const rows = calloc(count + 1, sizeof *rows);
    for (size_t i = 0; rows != NULL && i < count; i++)
        rows[i].name = result->files.at[i];
    const bool ok = rows != NULL && ehs_table_save(saver, &file_table, rows, count);
    free(rows);
    return ok;
}

/* The bit of a kind: those of the first five are scattered; others follow their number. */
static u32 can_kind(u32 kind)
{
    static const u32 first[] = { CAN_HEAP, CAN_VIRTUALALLOC, CAN_EXTENT, CAN_RESERVE, CAN_CUSTOM };
    const u8 number = ehs_number_of_kind(kind);
    return number < ETL_COUNT_OF(first) ? first[number] : (u32)CAN_NUMBER_0 << number;
}

u32 ehs_abilities_bits(const etlheap_abilities *can)
{
    u32 bits = 0;
    for (u32 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++)
        bits |= (can->kinds >> kind & 1) != 0 ? can_kind(kind) : 0;
    return bits | (can->stacks ? CAN_STACKS : 0u) | (can->modules ? CAN_MODULES : 0u) |
           (can->symbols ? CAN_SYMBOLS : 0u) | (can->memory ? CAN_MEMORY : 0u) |
           (can->methods ? CAN_METHODS : 0u) | (can->methods_missing ? CAN_NOT_METHODS : 0u) |
           (can->thread_names ? CAN_THREAD_NAMES : 0u) |
           (can->threads_missing ? CAN_NOT_THREADS : 0u) |
           (can->free_stacks ? CAN_FREE_STACKS : 0u);
}

static bool save_trace(ehs_saver *saver, const etlheap_result *result)
{
    const trace_row row = { .info = result->info,
                            .stacks = result->stack_counts,
                            .zero_ticks = result->base.base->header_ticks,
                            .first_ticks = result->first_ticks,
                            .last_ticks = result->last_ticks,
                            .can = ehs_abilities_bits(&result->abilities) };
    return ehs_table_save(saver, &trace_table, &row, 1);
}

etl_status ehs_facts_load(ehs_loader *loader, etlheap_result *result)
{
    etl_status status = ehs_vector_load(loader, &process_table, &result->processes);
    if (status == ETL_OK)
        status = load_modules(loader, result);
    if (status == ETL_OK)
        status = ehs_methods_load(loader, result);
    if (status == ETL_OK && !spellings_set(result))
        status = etl_no_memory(loader->err);
    if (status == ETL_OK)
        status = load_foreign(loader, result);
    if (status == ETL_OK)
        status = load_volumes(loader, result);
    if (status == ETL_OK)
        status = ehs_vector_load(loader, &hook_table, &result->hooks);
    if (status == ETL_OK)
        status = ehs_vector_load(loader, &provider_table, &result->providers);
    if (status == ETL_OK)
        status = ehs_vector_load(loader, &event_table, &result->events);
    if (status == ETL_OK)
        status = load_diagnostics(loader, &diagnostic_table, &result->diag);
    if (status == ETL_OK)
        status = load_diagnostics(loader, &inventory_diagnostic_table, &result->inventory_diag);
    if (status == ETL_OK)
        status = load_files(loader, result);
    if (status == ETL_OK)
        status = load_heap_sizes(loader, result);
    if (status == ETL_OK)
        status = ehs_optional_load(loader, result);
    if (status == ETL_OK)
        status = load_trace(loader, result);
    for (size_t i = 0; i < result->hooks.count; i++)
        result->hooks.at[i].name = etl_hook_name(result->hooks.at[i].hook);
    return status;
}

static bool is_before(const etlheap_module_info *a, const etlheap_module_info *b)
{
    if (a->pid != b->pid)
        return a->pid < b->pid;
    return a->base != b->base ? a->base < b->base : a->load_ticks <= b->load_ticks;
}

static etl_status load_modules(ehs_loader *loader, etlheap_result *result)
{
    module_table *const modules = &result->modules;
    const etl_status status = ehs_vector_load(loader, &module_table_columns, &modules->list);
    if (status != ETL_OK)
        return status;
    for (size_t i = 1; i < modules->list.count; i++) {
        if (!is_before(&modules->list.at[i - 1], &modules->list.at[i]))
            return etl_fail_with(loader->err, ETL_ERR_CORRUPT, 0,
                                 "row %zu of the table of modules is out of order", i);
    }
    for (size_t i = 0; i < modules->list.count; i++) {
        if (modules->list.at[i].process.v > result->processes.count)
            return etl_fail_with(loader->err, ETL_ERR_CORRUPT, 0,
                                 "row %zu of the table of modules names no process", i);
    }
    const module_owners owners = { .processes = result->processes.at,
                                   .count = result->processes.count };
    return modules_index(modules, &owners) ? ETL_OK : etl_no_memory(loader->err);
}

/* Loads foreign stacks; that they are the last ones is checked when stacks are loaded. */
static etl_status load_foreign(ehs_loader *loader, etlheap_result *result)
{
    foreign_stacks *const foreign = &result->foreign;
    const bool is_timed = loader->reader->minor >= EHS_MINOR_FOREIGN_TICKS;
    const etl_status status =
        ehs_vector_load(loader, is_timed ? &foreign_table : &foreign_table_2_0, foreign);
    for (size_t i = 0; status == ETL_OK && i < foreign->count; i++) {
        foreign_stack *const row = &foreign->at[i];
        row->ticks = is_timed ? row->ticks : ETLHEAP_TICKS_NEVER;
        if (row->process == 0 || row->process > result->processes.count ||
            (i > 0 && row->stack != row[-1].stack + 1))
            return etl_fail_with(loader->err, ETL_ERR_CORRUPT, 0,
                                 "row %zu of the table of foreign stacks is damaged", i);
    }
    return status;
}

static etl_status load_volumes(ehs_loader *loader, etlheap_result *result)
{
    volume_text *rows = NULL;
    size_t count = 0;
    const etl_status status = ehs_table_load(loader, &volume_table, &rows, &count);
    if (status != ETL_OK)
        return status;
    etlheap_strings *const strings = &result->context.strings;
    bool ok = true;
    for (size_t i = 0; ok && i < count; i++) {
        const volume_text *const row = &rows[i];
        volume_row volume;
        ok = etlheap_strings_add(strings, row->nt_path, strlen(row->nt_path), &volume.nt_path) &&
             etlheap_strings_add(strings, row->dos_path, strlen(row->dos_path), &volume.dos_path) &&
             ETLHEAP_PUSH(&result->context.volumes, volume);
    }
    free(rows);
    return ok ? ETL_OK : etl_no_memory(loader->err);
}

/* Loads diagnostics. Names that this version does not know are from a later one and are skipped. */
static etl_status load_diagnostics(ehs_loader *loader, const ehs_table *table,
                                   etl_diag_counts *counts)
{
    diagnostic_row *rows = NULL;
    size_t count = 0;
    const etl_status status = ehs_table_load(loader, table, &rows, &count);
    for (size_t i = 0; i < count; i++) {
        for (int diag = 0; diag < ETL_DIAG_COUNT; diag++) {
            if (strcmp(etl_diag_describe((etl_diag)diag)->name, rows[i].name) == 0)
                etl_diag_add(counts, (etl_diag)diag, rows[i].count);
        }
    }
    free(rows);
    return status;
}

static etl_status load_files(ehs_loader *loader, etlheap_result *result)
{
    const etl_status status = ehs_vector_load(loader, &file_table, &result->recorded);
    for (size_t i = 0; status == ETL_OK && i < result->recorded.count; i++) {
        if (!ETLHEAP_PUSH(&result->files, result->recorded.at[i].name))
            return etl_no_memory(loader->err);
    }
    return status;
}

static etl_status load_heap_sizes(ehs_loader *loader, etlheap_result *result)
{
    heap_size_list *const list = &result->heap_sizes;
    const bool is_old = loader->reader->minor < EHS_MINOR_DECOMMITTED;
    const etl_status status =
        ehs_vector_load(loader, is_old ? &heap_size_table_old : &heap_size_table, list);
    for (size_t i = 0; i < list->count && status == ETL_OK; i++) {
        heap_size *const row = &list->at[i];
        row->decommitted = is_old ? HEAP_SIZE_UNKNOWN : row->decommitted;
        const bool is_owned = row->process >= 1 && row->process <= result->processes.count;
        if (!is_owned || (i > 0 && !heap_size_precedes(row - 1, row)))
            return etl_fail_with(loader->err, ETL_ERR_CORRUPT, 0,
                                 "row %zu of the table of heap sizes is wrong or out of order", i);
    }
    return status;
}

/* The clock of the trace as a session, for conversions of time. */
static bool make_session(etlheap_result *result, const trace_row *row)
{
    etl_session *const session =
        etlheap_arena_alloc(&result->context.strings.arena, sizeof *session);
    if (session == NULL)
        return false;
    const bool is_system = strcmp(row->info.clock, "system") == 0;
    const bool is_cpu = strcmp(row->info.clock, "cpu") == 0;
    *session = (etl_session){ .header_ticks = row->zero_ticks,
                              .start_time_filetime = row->info.start_time_filetime,
                              .clock_hz = row->info.clock_hz,
                              .clock = is_system ? ETL_CLOCK_SYSTEM_TIME
                                       : is_cpu  ? ETL_CLOCK_CPU_CYCLES
                                                 : ETL_CLOCK_QPC,
                              .os_build = row->info.os_build,
                              .cpu_count = row->info.cpus,
                              .pointer_bytes = row->info.pointer_bits / 8 };
    result->base.base = session;
    return true;
}

void ehs_abilities_set(etlheap_abilities *can, u32 bits)
{
    can->kinds = 0;
    for (u32 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++)
        can->kinds |= (bits & can_kind(kind)) != 0 ? 1u << kind : 0;
    can->stacks = (bits & CAN_STACKS) != 0;
    can->modules = (bits & CAN_MODULES) != 0;
    can->symbols = (bits & CAN_SYMBOLS) != 0;
    can->memory = (bits & CAN_MEMORY) != 0;
    can->methods = (bits & CAN_METHODS) != 0;
    can->methods_missing = (bits & CAN_NOT_METHODS) != 0;
    can->thread_names = (bits & CAN_THREAD_NAMES) != 0;
    can->threads_missing = (bits & CAN_NOT_THREADS) != 0;
    can->free_stacks = (bits & CAN_FREE_STACKS) != 0;
}

bool ehs_is_clock(u64 clock_hz)
{
    return clock_hz > 0 && clock_hz <= CLOCK_HZ_MAX;
}

static etl_status load_trace(ehs_loader *loader, etlheap_result *result)
{
    trace_row *row = NULL;
    size_t count = 0;
    etl_status status = ehs_table_load(loader, &trace_table, &row, &count);
    if (status != ETL_OK)
        return status;
    if (count != 1 || !ehs_is_clock(row->info.clock_hz)) {
        status = etl_fail_with(loader->err, ETL_ERR_CORRUPT, 0,
                               "the table of the trace is damaged: it has no row, or no clock");
    } else if (!make_session(result, row) || !mark_list_number(&result->marks, result->base.base)) {
        status = etl_no_memory(loader->err);
    } else {
        memcpy(row->info.recorded, result->info.recorded, sizeof row->info.recorded);
        result->info = row->info;
        result->info.files = result->files.at;
        result->info.file_count = (u32)result->files.count;
        result->stack_counts = row->stacks;
        result->first_ticks = row->first_ticks;
        result->last_ticks = row->last_ticks;
        ehs_abilities_set(&result->abilities, row->can);
        result->abilities.heap_sizes = heap_sizes_are_known(&result->heap_sizes);
    }
    free(row);
    return status;
}
