/*
 * ehs_optional.c - saves and loads the facts of a store that only some recordings have.
 *
 * In (save): the result. Out: a table for each kind of fact that it has. In (load): tables of a
 * file. Out: the same in the result, empty if the file lacks them.
 *
 * These tables were added after format 2.0. A store without them is from an older version, or from
 * a trace without such facts; both read as empty. Invariant: never make one of these tables
 * required, or older stores no longer open.
 */
#include "ehs_facts_inside.h"

#include "engine/context/methods.h"
#include "result_part.h"

#include <stdlib.h>

/* A process's events of a kind that few processes have: most have no row. Custom allocators came
 * first and have a table of their own, without numbers. The commonest kinds are in table
 * process. */
typedef struct kind_row {
    u64 events, unpaired;
    u32 process, number;
} kind_row;

static const ehs_field method_fields[] = {
    EHS_FIELD(METHOD_PID, method_stay, pid, U32),
    EHS_FIELD(METHOD_PROCESS, method_stay, process, U32),
    EHS_FIELD(METHOD_START, method_stay, start, U64),
    EHS_FIELD(METHOD_SIZE, method_stay, size_bytes, U32),
    EHS_FIELD(METHOD_LOAD, method_stay, load_ticks, U64),
    EHS_FIELD(METHOD_FILE, method_stay, file, TEXT),
    EHS_FIELD(METHOD_FUNCTION, method_stay, function, TEXT),
};

/* Facts that few processes have, in a table of their own, because the first stores lacked them. */
typedef struct process_more {
    u32 process;
    const char *package, *services;
} process_more;

static const ehs_field process_more_fields[] = {
    EHS_FIELD(PROCESS_MORE_ID, process_more, process, U32),
    EHS_FIELD(PROCESS_MORE_PACKAGE, process_more, package, TEXT),
    EHS_FIELD(PROCESS_MORE_SERVICES, process_more, services, TEXT),
};

static const ehs_field memory_fields[] = {
    EHS_FIELD(MEMORY_PROCESS, memory_row, process, U32),
    EHS_FIELD(MEMORY_TICKS, memory_row, ticks, U64),
    EHS_FIELD(MEMORY_COMMIT, memory_row, commit_bytes, U64),
    EHS_FIELD(MEMORY_AVAILABLE, memory_row, available_bytes, U64),
    EHS_FIELD(MEMORY_WORKING_SET, memory_row, working_set_bytes, U64),
    EHS_FIELD(MEMORY_PRIVATE, memory_row, private_working_set_bytes, U64),
};

static const ehs_field thread_name_fields[] = {
    EHS_FIELD(THREAD_NAME_PID, thread_name, pid, U32),
    EHS_FIELD(THREAD_NAME_TID, thread_name, tid, U32),
    EHS_FIELD(THREAD_NAME_TICKS, thread_name, ticks, U64),
    EHS_FIELD(THREAD_NAME_TEXT, thread_name, name, TEXT),
};

static const ehs_field logged_name_fields[] = {
    EHS_FIELD(LOGGED_NAME_HEAP, logged_name, heap, U64),
    EHS_FIELD(LOGGED_NAME_TEXT, logged_name, name, TEXT),
};

static const ehs_field custom_fields[] = {
    EHS_FIELD(CUSTOM_PROCESS, kind_row, process, U32),
    EHS_FIELD(CUSTOM_EVENTS, kind_row, events, U64),
    EHS_FIELD(CUSTOM_UNPAIRED, kind_row, unpaired, U64),
};

static const ehs_field kind_fields[] = {
    EHS_FIELD(KIND_PROCESS, kind_row, process, U32),
    EHS_FIELD(KIND_NUMBER, kind_row, number, U32),
    EHS_FIELD(KIND_EVENTS, kind_row, events, U64),
    EHS_FIELD(KIND_UNPAIRED, kind_row, unpaired, U64),
};

static const ehs_field mark_fields[] = {
    EHS_FIELD(MARK_TICKS, etlheap_mark, ticks, U64),
    EHS_FIELD(MARK_NAME, etlheap_mark, name, TEXT),
    EHS_FIELD(MARK_IS_END, etlheap_mark, is_end, BOOL),
};

/* The recorded span of a kind that has one. */
typedef struct recorded_row {
    i64 from_ns, to_ns;
    u32 kind;
} recorded_row;

static const ehs_field recorded_fields[] = {
    EHS_FIELD(RECORDED_KIND, recorded_row, kind, U32),
    EHS_FIELD(RECORDED_FROM, recorded_row, from_ns, U64),
    EHS_FIELD(RECORDED_TO, recorded_row, to_ns, U64),
};

static const ehs_table recorded_table = EHS_TABLE(recorded_fields, recorded_row);
static const ehs_table memory_table = EHS_TABLE(memory_fields, memory_row);
static const ehs_table process_more_table = EHS_TABLE(process_more_fields, process_more);
static const ehs_table thread_name_table = EHS_TABLE(thread_name_fields, thread_name);
static const ehs_table logged_name_table = EHS_TABLE(logged_name_fields, logged_name);
static const ehs_table mark_table = EHS_TABLE(mark_fields, etlheap_mark);
static const ehs_table custom_table = EHS_TABLE(custom_fields, kind_row);
static const ehs_table kind_table = EHS_TABLE(kind_fields, kind_row);
static const ehs_table method_table_columns = EHS_TABLE(method_fields, method_stay);

static bool save_methods(ehs_saver *saver, const etlheap_result *result)
{
    const size_t count = result->modules.methods.list.count;
    method_stay *const rows = calloc(count + 1, sizeof *rows);
    for (size_t i = 0; rows != NULL && i < count; i++)
        rows[i] = methods_stay(&result->modules, i);
    const bool ok = rows != NULL && ehs_table_save(saver, &method_table_columns, rows, count);
    free(rows);
    return ok;
}

/* Saves the processes' events of the kinds with these numbers. */
static bool save_kinds(ehs_saver *saver, const etlheap_result *result, const ehs_table *table,
                       const u32 numbers[2])
{
    ETLHEAP_VECTOR(kind_row) rows = { 0 };
    bool ok = true;
    for (u32 i = 0; ok && i < result->processes.count; i++) {
        const etlheap_process_info *const info = &result->processes.at[i];
        for (u32 number = numbers[0]; ok && number < numbers[1]; number++) {
            const u32 kind = ehs_kind_of_number(number);
            if (kind == ETLHEAP_KIND_COUNT)
                continue;
            const kind_row row = { info->events[kind], info->free_without_alloc[kind], i + 1,
                                   number };
            ok = (row.events | row.unpaired) == 0 || ETLHEAP_PUSH(&rows, row);
        }
    }
    ok = ok && (rows.count == 0 || ehs_table_save(saver, table, rows.at, rows.count));
    ETLHEAP_VECTOR_FREE(&rows);
    return ok;
}

static const u32 custom_numbers[] = { EHS_KIND_CUSTOM, EHS_KIND_CUSTOM + 1 };
static const u32 kind_numbers[] = { EHS_KIND_CUSTOM + 1, EHS_KINDS_END };

static bool save_process_more(ehs_saver *saver, const etlheap_result *result)
{
    ETLHEAP_VECTOR(process_more) rows = { 0 };
    bool ok = true;
    for (size_t i = 0; ok && i < result->processes.count; i++) {
        const etlheap_process_info *const process = &result->processes.at[i];
        const process_more row = { (u32)i + 1, process->package, process->services };
        if (row.package != NULL || row.services != NULL)
            ok = ETLHEAP_PUSH(&rows, row);
    }
    ok = ok && ehs_table_save(saver, &process_more_table, rows.at, rows.count);
    ETLHEAP_VECTOR_FREE(&rows);
    return ok;
}

/* Not of a summary: spans of several recordings do not add up. */
static bool save_recorded(ehs_saver *saver, const etlheap_trace_info *info)
{
    recorded_row rows[ETLHEAP_KIND_COUNT];
    size_t count = 0;
    for (u32 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++) {
        const etlheap_recorded *const recorded = &info->recorded[kind];
        if (recorded->is_known)
            rows[count++] = (recorded_row){ recorded->from_ns, recorded->to_ns, kind };
    }
    return count == 0 || ehs_table_save(saver, &recorded_table, rows, count);
}

bool ehs_optional_save(ehs_saver *saver, const etlheap_result *result)
{
    return ehs_table_save(saver, &memory_table, result->memory.at, result->memory.count) &&
           ehs_table_save(saver, &thread_name_table, result->thread_names.list.at,
                          result->thread_names.list.count) &&
           ehs_table_save(saver, &logged_name_table, result->context.logged_names.list.at,
                          result->context.logged_names.list.count) &&
           ehs_table_save(saver, &mark_table, result->marks.made.at, result->marks.made.count) &&
           save_process_more(saver, result) &&
           save_kinds(saver, result, &custom_table, custom_numbers) &&
           save_kinds(saver, result, &kind_table, kind_numbers) && save_methods(saver, result) &&
           result_part_save(saver, &result->part) && told_names_save(saver, &result->told) &&
           (result->summary != NULL || save_recorded(saver, &result->info));
}

etl_status ehs_methods_load(ehs_loader *loader, etlheap_result *result)
{
    method_stay *rows = NULL;
    size_t count = 0;
    etl_status status = ehs_table_load(loader, &method_table_columns, &rows, &count);
    for (size_t i = 0; status == ETL_OK && i < count; i++) {
        const method_stay *const row = &rows[i];
        if (row->process > result->processes.count || row->size_bytes >= METHOD_BYTES_MAX ||
            row->function[0] == '\0' || (i > 0 && !methods_precedes(row - 1, row)))
            status = etl_fail_with(loader->err, ETL_ERR_CORRUPT, 0,
                                   "row %zu of the table of methods is wrong or out of order", i);
    }
    if (status == ETL_OK && count > 0 &&
        !methods_index(&result->modules, &result->context.strings, rows, count))
        status = etl_no_memory(loader->err);
    free(rows);
    return status;
}

static etl_status load_memory(ehs_loader *loader, etlheap_result *result)
{
    memory_rows *const list = &result->memory;
    const etl_status status = ehs_vector_load(loader, &memory_table, list);
    for (size_t i = 0; i < list->count && status == ETL_OK; i++) {
        const memory_row *const row = &list->at[i];
        if (row->process > result->processes.count || (i > 0 && !meminfo_precedes(row - 1, row)))
            return etl_fail_with(loader->err, ETL_ERR_CORRUPT, 0,
                                 "row %zu of the table of memory use is wrong or out of order", i);
    }
    return status;
}

static etl_status load_thread_names(ehs_loader *loader, etlheap_result *result)
{
    thread_names *const names = &result->thread_names;
    const etl_status status = ehs_vector_load(loader, &thread_name_table, &names->list);
    for (size_t i = 1; i < names->list.count && status == ETL_OK; i++) {
        if (!thread_name_precedes(&names->list.at[i - 1], &names->list.at[i]))
            return etl_fail_with(loader->err, ETL_ERR_CORRUPT, 0,
                                 "row %zu of the table of thread names is out of order", i);
    }
    thread_names_own(names, result->processes.at, result->processes.count);
    return status;
}

static etl_status load_logged_names(ehs_loader *loader, etlheap_result *result)
{
    logged_names *const names = &result->context.logged_names;
    const etl_status status = ehs_vector_load(loader, &logged_name_table, &names->list);
    for (size_t i = 0; i < names->list.count && status == ETL_OK; i++) {
        const logged_name *const row = &names->list.at[i];
        if (!logged_heap_is(row->heap) || row->name[0] == '\0' ||
            (i > 0 && row[-1].heap >= row->heap))
            return etl_fail_with(loader->err, ETL_ERR_CORRUPT, 0,
                                 "row %zu of the table of logged names is wrong or out of order",
                                 i);
    }
    return status;
}

/* Loads marks. They are numbered when the clock is known; their diagnostics are with the others. */
static etl_status load_marks(ehs_loader *loader, etlheap_result *result)
{
    mark_list *const list = &result->marks;
    const etl_status status = ehs_vector_load(loader, &mark_table, &list->made);
    const size_t count = list->made.count;
    for (size_t i = 0; i < count && status == ETL_OK; i++) {
        const etlheap_mark *const mark = &list->made.at[i];
        if (count > ETLHEAP_MARKS_MAX || mark->name[0] == '\0' ||
            strlen(mark->name) > ETLHEAP_MARK_NAME_MAX || mark->ticks == INT64_MAX ||
            (i > 0 && mark->ticks < mark[-1].ticks))
            return etl_fail_with(loader->err, ETL_ERR_CORRUPT, 0,
                                 "row %zu of the table of marks is wrong or out of order", i);
    }
    return status;
}

static void set_kind(etlheap_process_info *process, u32 number, const kind_row *row)
{
    const u32 kind = ehs_kind_of_number(number);
    if (kind == ETLHEAP_KIND_COUNT)
        return;
    process->events[kind] = row->events;
    process->free_without_alloc[kind] = row->unpaired;
}

/* Loads events of kinds; those of numbers that this version does not know are skipped. Rows without
 * numbers are of custom allocators. */
static etl_status load_kinds(ehs_loader *loader, const ehs_table *table, etlheap_result *result)
{
    const bool is_custom = table == &custom_table;
    kind_row *rows = NULL;
    size_t count = 0;
    etl_status status = ehs_table_load(loader, table, &rows, &count);
    for (size_t i = 0; i < count && status == ETL_OK; i++) {
        const kind_row *const row = &rows[i];
        const u32 number = is_custom ? EHS_KIND_CUSTOM : row->number;
        const bool is_later =
            i == 0 || row->process > row[-1].process ||
            (!is_custom && row->process == row[-1].process && number > row[-1].number);
        if (row->process < 1 || row->process > result->processes.count || !is_later ||
            (!is_custom && number <= EHS_KIND_CUSTOM))
            status = etl_fail_with(loader->err, ETL_ERR_CORRUPT, 0,
                                   "row %zu of the table of %s is wrong or out of order", i,
                                   is_custom ? "custom allocators" : "kinds");
        else
            set_kind(&result->processes.at[row->process - 1], number, row);
    }
    free(rows);
    return status;
}

static etl_status load_process_more(ehs_loader *loader, etlheap_result *result)
{
    process_more *rows = NULL;
    size_t count = 0;
    etl_status status = ehs_table_load(loader, &process_more_table, &rows, &count);
    for (size_t i = 0; i < count && status == ETL_OK; i++) {
        if (rows[i].process == 0 || rows[i].process > result->processes.count) {
            status = etl_fail_with(loader->err, ETL_ERR_CORRUPT, 0,
                                   "row %zu of the table of services names no process", i);
            break;
        }
        etlheap_process_info *const process = &result->processes.at[rows[i].process - 1];
        process->package = rows[i].package[0] != '\0' ? rows[i].package : NULL;
        process->services = rows[i].services[0] != '\0' ? rows[i].services : NULL;
    }
    free(rows);
    return status;
}

/* Kinds that a later version adds are skipped. */
static etl_status load_recorded(ehs_loader *loader, etlheap_trace_info *info)
{
    recorded_row *rows = NULL;
    size_t count = 0;
    etl_status status = ehs_table_load(loader, &recorded_table, &rows, &count);
    for (size_t i = 0; i < count && status == ETL_OK; i++) {
        const recorded_row *const row = &rows[i];
        if (row->from_ns >= row->to_ns || (i > 0 && row->kind <= row[-1].kind))
            status = etl_fail_with(loader->err, ETL_ERR_CORRUPT, 0,
                                   "row %zu of the table of recorded spans is wrong or out of "
                                   "order",
                                   i);
        else if (row->kind < ETLHEAP_KIND_COUNT)
            info->recorded[row->kind] = (etlheap_recorded){ true, row->from_ns, row->to_ns };
    }
    free(rows);
    return status;
}

etl_status ehs_optional_load(ehs_loader *loader, etlheap_result *result)
{
    etl_status status = load_memory(loader, result);
    if (status == ETL_OK)
        status = load_thread_names(loader, result);
    if (status == ETL_OK)
        status = load_logged_names(loader, result);
    if (status == ETL_OK)
        status = load_process_more(loader, result);
    if (status == ETL_OK)
        status = load_marks(loader, result);
    if (status == ETL_OK)
        status = load_recorded(loader, &result->info);
    if (status == ETL_OK)
        status = result_part_load(loader, (u32)result->processes.count, &result->part);
    if (status == ETL_OK)
        status = told_names_load(loader, modules_image_count(&result->modules), &result->told);
    if (status == ETL_OK)
        status = load_kinds(loader, &custom_table, result);
    return status == ETL_OK ? load_kinds(loader, &kind_table, result) : status;
}
