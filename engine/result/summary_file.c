/*
 * summary_file.c - saves summaries as `.ehs` files and loads them.
 *
 * In (save): a result that is a summary. Out: the facts and stacks of any result, and tables of its
 * own: entries, rows, cells, traces. In (load): columns of a file that may be damaged. Out:
 * summary_data.
 *
 * Invariant: everything that later code relies on is checked on loading: modules lie where they
 * belong, rows are in order, and they refer to rows that exist (check_modules, check_entries,
 * check_cells). A new table needs such a check.
 */
#include "summary_file.h"

#include <stdlib.h>

#include "engine/log/ehs_rows.h"
#include "engine/log/ehs_stacks.h"
#include "ehs_facts.h"

/* Windows farther from a trace's start than this are damage. */
#define WINDOW_MAX ((i64)1 << 40)

/* Rows that exist only in the file. */
typedef struct source_row {
    summary_trace trace;
    u32 can;
} source_row;

typedef struct source_diagnostic {
    u32 source;
    const char *name;
    u64 count, inventory_count;
} source_diagnostic;

typedef struct summary_head {
    i64 every_ns;
} summary_head;

#define FIELD(column, type, member_name, kind)                                                     \
    {                                                                                              \
        EHS_##column, offsetof(type, member_name), EHS_MEMBER_##kind                               \
    }
#define TABLE(fields, type)                                                                        \
    {                                                                                              \
        fields, ETL_COUNT_OF(fields), sizeof(type)                                                 \
    }

static const ehs_field head_fields[] = {
    FIELD(SUMMARY_EVERY, summary_head, every_ns, U64),
};

static const ehs_field source_fields[] = {
    FIELD(SOURCE_ID_LOW, source_row, trace.id[0], U64),
    FIELD(SOURCE_ID_HIGH, source_row, trace.id[1], U64),
    FIELD(SOURCE_FILES, source_row, trace.file_count, U32),
    FIELD(SOURCE_SESSION, source_row, trace.info.session, TEXT),
    FIELD(SOURCE_COMPUTER, source_row, trace.info.computer, TEXT),
    FIELD(SOURCE_CLOCK, source_row, trace.info.clock, TEXT),
    FIELD(SOURCE_CLOCK_HZ, source_row, trace.info.clock_hz, U64),
    FIELD(SOURCE_OS_BUILD, source_row, trace.info.os_build, U32),
    FIELD(SOURCE_POINTER_BITS, source_row, trace.info.pointer_bits, U32),
    FIELD(SOURCE_CPUS, source_row, trace.info.cpus, U32),
    FIELD(SOURCE_START, source_row, trace.info.start_time_filetime, U64),
    FIELD(SOURCE_DURATION, source_row, trace.info.duration_ns, U64),
    FIELD(SOURCE_END, source_row, trace.info.end_ns, U64),
    FIELD(SOURCE_FROM, source_row, trace.from_ns, U64),
    FIELD(SOURCE_BUFFERS, source_row, trace.info.buffers, U64),
    FIELD(SOURCE_EVENTS, source_row, trace.info.events, U64),
    FIELD(SOURCE_EVENTS_LOST, source_row, trace.info.events_lost, U64),
    FIELD(SOURCE_BUFFERS_LOST, source_row, trace.info.buffers_lost, U64),
    FIELD(SOURCE_BYTES, source_row, trace.info.bytes, U64),
    FIELD(SOURCE_STACK_RECORDS, source_row, trace.stacks.records, U64),
    FIELD(SOURCE_STACKS_MATCHED, source_row, trace.stacks.matched, U64),
    FIELD(SOURCE_STACKS_UNMATCHED, source_row, trace.stacks.unmatched, U64),
    FIELD(SOURCE_KEYS_REFERENCED, source_row, trace.stacks.keys_referenced, U64),
    FIELD(SOURCE_KEYS_RESOLVED, source_row, trace.stacks.keys_resolved, U64),
    FIELD(SOURCE_CAN, source_row, can, U32),
};

static const ehs_field source_file_fields[] = {
    FIELD(SOURCE_FILE_NAME, etlheap_summary_file, name, TEXT),
    FIELD(SOURCE_FILE_ID_LOW, etlheap_summary_file, id[0], U64),
    FIELD(SOURCE_FILE_ID_HIGH, etlheap_summary_file, id[1], U64),
};

static const ehs_field source_diagnostic_fields[] = {
    FIELD(SOURCE_DIAGNOSTIC_SOURCE, source_diagnostic, source, U32),
    FIELD(SOURCE_DIAGNOSTIC_NAME, source_diagnostic, name, TEXT),
    FIELD(SOURCE_DIAGNOSTIC_COUNT, source_diagnostic, count, U64),
    FIELD(SOURCE_DIAGNOSTIC_INVENTORY, source_diagnostic, inventory_count, U64),
};

static const ehs_field entry_fields[] = {
    FIELD(ENTRY_PROCESS, summary_entry, process, U32),
    FIELD(ENTRY_STACK, summary_entry, stack, U32),
    FIELD(ENTRY_KIND, summary_entry, kind, U32),
    FIELD(ENTRY_TRACES, summary_entry, trace_count, U64),
    FIELD(ENTRY_FIRST, summary_entry, first_filetime, U64),
    FIELD(ENTRY_LAST, summary_entry, last_filetime, U64),
    FIELD(ENTRY_LEAKED_PEAK_COUNT, summary_entry, peaks[0].count, U64),
    FIELD(ENTRY_LEAKED_PEAK_SIZE, summary_entry, peaks[0].size_bytes, U64),
    FIELD(ENTRY_FREED_PEAK_COUNT, summary_entry, peaks[1].count, U64),
    FIELD(ENTRY_FREED_PEAK_SIZE, summary_entry, peaks[1].size_bytes, U64),
};

static const ehs_field sum_fields[] = {
    FIELD(SUM_ENTRY, summary_row, entry, U32),
    FIELD(SUM_PART, summary_row, part, U32),
    FIELD(SUM_COUNT, summary_row, sum.count, U64),
    FIELD(SUM_SIZE, summary_row, sum.size_bytes, U64),
    FIELD(SUM_REALLOC_COUNT, summary_row, sum.realloc_count, U64),
    FIELD(SUM_PEAK_COUNT, summary_row, sum.peak.count, U64),
    FIELD(SUM_PEAK_SIZE, summary_row, sum.peak.size_bytes, U64),
};

static const ehs_field cell_fields[] = {
    FIELD(CELL_ENTRY, summary_cell, entry, U32),
    FIELD(CELL_WINDOW, summary_cell, window, U64),
    FIELD(CELL_WINDOWS, summary_cell, window_count, U64),
    FIELD(CELL_AIFO_COUNT, summary_cell, amounts.count[ETLHEAP_TYPE_AIFO], U64),
    FIELD(CELL_AIFO_SIZE, summary_cell, amounts.size_bytes[ETLHEAP_TYPE_AIFO], U64),
    FIELD(CELL_AIFI_COUNT, summary_cell, amounts.count[ETLHEAP_TYPE_AIFI], U64),
    FIELD(CELL_AIFI_SIZE, summary_cell, amounts.size_bytes[ETLHEAP_TYPE_AIFI], U64),
    FIELD(CELL_AOFI_COUNT, summary_cell, amounts.count[ETLHEAP_TYPE_AOFI], U64),
    FIELD(CELL_AOFI_SIZE, summary_cell, amounts.size_bytes[ETLHEAP_TYPE_AOFI], U64),
    FIELD(CELL_AOFO_COUNT, summary_cell, amounts.count[ETLHEAP_TYPE_AOFO], U64),
    FIELD(CELL_AOFO_SIZE, summary_cell, amounts.size_bytes[ETLHEAP_TYPE_AOFO], U64),
    FIELD(CELL_PEAK_COUNT, summary_cell, amounts.peak.count, U64),
    FIELD(CELL_PEAK_SIZE, summary_cell, amounts.peak.size_bytes, U64),
};

static const ehs_table head_table = TABLE(head_fields, summary_head);
static const ehs_table source_table = TABLE(source_fields, source_row);
static const ehs_table source_file_table = TABLE(source_file_fields, etlheap_summary_file);
static const ehs_table source_diagnostic_table = TABLE(source_diagnostic_fields, source_diagnostic);
static const ehs_table entry_table = TABLE(entry_fields, summary_entry);
static const ehs_table sum_table = TABLE(sum_fields, summary_row);
static const ehs_table cell_table = TABLE(cell_fields, summary_cell);

static bool save_parts(ehs_saver *saver, const etlheap_result *result);
static bool save_sources(ehs_saver *saver, const summary_data *data);
static bool save_diagnostics(ehs_saver *saver, const summary_data *data);
static etl_status load_sources(ehs_loader *loader, summary_data *data);
static etl_status load_diagnostics(ehs_loader *loader, summary_data *data);
static etl_status check_modules(ehs_loader *loader, const etlheap_result *result);
static bool save_entries(ehs_saver *saver, const summary_data *data);
static etl_status load_entries(ehs_loader *loader, etlheap_result *result);
static etl_status check_entries(ehs_loader *loader, const etlheap_result *result);
static etl_status check_cells(ehs_loader *loader, const summary_data *data);

etl_status summary_save(const etlheap_result *result, const etlheap_store_options *options)
{
    ehs_writer writer;
    ehs_saver saver = { .blocks = { .rows = { 0 } } };
    etl_status status =
        ehs_writer_open(&writer, options->write, options->user, EHS_CONTENT_SUMMARY);
    if (status == ETL_OK)
        status =
            save_parts(&saver, result) ? ehs_writer_put(&writer, &saver.blocks) : ETL_ERR_MEMORY;
    ehs_saver_free(&saver);
    if (status != ETL_OK)
        writer.status = status;
    return ehs_writer_close(&writer);
}

static bool save_parts(ehs_saver *saver, const etlheap_result *result)
{
    const summary_data *const data = result->summary;
    const summary_head head = { .every_ns = data->every_ns };
    return ehs_stacks_save(saver, &result->stacks) && ehs_facts_save(saver, result) &&
           ehs_table_save(saver, &head_table, &head, 1) && save_sources(saver, data) &&
           ehs_table_save(saver, &source_file_table, data->files.at, data->files.count) &&
           save_diagnostics(saver, data) && save_entries(saver, data) &&
           ehs_table_save(saver, &sum_table, data->rows.at, data->rows.count) &&
           ehs_table_save(saver, &cell_table, data->cells.at, data->cells.count) &&
           ehs_strings_save(saver);
}

static bool save_sources(ehs_saver *saver, const summary_data *data)
{
    source_row *const rows = calloc(data->traces.count + 1, sizeof *rows);
    for (size_t i = 0; rows != NULL && i < data->traces.count; i++) {
        rows[i].trace = data->traces.at[i];
        rows[i].can = ehs_abilities_bits(&data->traces.at[i].can);
    }
    const bool ok = rows != NULL && ehs_table_save(saver, &source_table, rows, data->traces.count);
    free(rows);
    return ok;
}

static bool save_diagnostics(ehs_saver *saver, const summary_data *data)
{
    ETLHEAP_VECTOR(source_diagnostic) rows = { 0 };
    bool ok = true;
    for (u32 i = 0; ok && i < data->traces.count; i++) {
        const summary_trace *const trace = &data->traces.at[i];
        for (int diag = 0; ok && diag < ETL_DIAG_COUNT; diag++) {
            const source_diagnostic row = { i, etl_diag_describe((etl_diag)diag)->name,
                                            trace->diag.of[diag], trace->inventory_diag.of[diag] };
            ok = (row.count == 0 && row.inventory_count == 0) || ETLHEAP_PUSH(&rows, row);
        }
    }
    ok = ok && ehs_table_save(saver, &source_diagnostic_table, rows.at, rows.count);
    ETLHEAP_VECTOR_FREE(&rows);
    return ok;
}

etl_status summary_load(ehs_loader *loader, bool facts_only, etlheap_result *result)
{
    result->summary = calloc(1, sizeof *result->summary);
    if (result->summary == NULL)
        return etl_no_memory(loader->err);
    etl_status status = ehs_facts_load(loader, result);
    if (status == ETL_OK && !summary_set_clock(result))
        status = etl_no_memory(loader->err);
    if (status == ETL_OK)
        status = load_sources(loader, result->summary);
    if (status == ETL_OK)
        status = load_diagnostics(loader, result->summary);
    if (status == ETL_OK)
        status = check_modules(loader, result);
    if (status != ETL_OK || facts_only)
        return status;
    status = ehs_stacks_load(loader, EHS_FRAMES_ADDRESSES, &result->stacks);
    if (status == ETL_OK)
        status = load_entries(loader, result);
    if (status == ETL_OK)
        status = check_entries(loader, result);
    return status == ETL_OK ? check_cells(loader, result->summary) : status;
}

static etl_status damaged(ehs_loader *loader, const char *table, size_t row)
{
    return etl_fail_with(loader->err, ETL_ERR_CORRUPT, 0, "row %zu of the table of %s is damaged",
                         row, table);
}

static etl_status load_head(ehs_loader *loader, summary_data *data)
{
    summary_head *head = NULL;
    size_t count = 0;
    etl_status status = ehs_table_load(loader, &head_table, &head, &count);
    if (status == ETL_OK && (count != 1 || head->every_ns < 0))
        status = damaged(loader, "windows", 0);
    if (status == ETL_OK)
        data->every_ns = head->every_ns;
    free(head);
    return status;
}

/* Checks that the files of all traces follow each other. */
static etl_status check_files(ehs_loader *loader, const summary_data *data)
{
    u64 files = 0;
    for (size_t i = 0; i < data->traces.count; i++) {
        summary_trace *const trace = &data->traces.at[i];
        if (trace->file_count > data->files.count - files)
            return damaged(loader, "traces", i);
        trace->first_file = (u32)files;
        files += trace->file_count;
    }
    return files == data->files.count ? ETL_OK : damaged(loader, "files", (size_t)files);
}

static etl_status load_sources(ehs_loader *loader, summary_data *data)
{
    source_row *rows = NULL;
    size_t count = 0;
    etl_status status = load_head(loader, data);
    if (status == ETL_OK)
        status = ehs_vector_load(loader, &source_file_table, &data->files);
    if (status == ETL_OK)
        status = ehs_table_load(loader, &source_table, &rows, &count);
    if (status == ETL_OK)
        status = ehs_loader_charge(loader, count, sizeof *data->traces.at);
    if (status == ETL_OK && !ETLHEAP_RESERVE(&data->traces, count))
        status = etl_no_memory(loader->err);
    for (size_t i = 0; status == ETL_OK && i < count; i++) {
        if (!ehs_is_clock(rows[i].trace.info.clock_hz)) {
            status = damaged(loader, "traces", i);
            break;
        }
        ehs_abilities_set(&rows[i].trace.can, rows[i].can);
        data->traces.at[data->traces.count++] = rows[i].trace;
    }
    free(rows);
    return status == ETL_OK ? check_files(loader, data) : status;
}

/* Loads diagnostics. Names that this version does not know are from a later one and are skipped. */
static etl_status load_diagnostics(ehs_loader *loader, summary_data *data)
{
    source_diagnostic *rows = NULL;
    size_t count = 0;
    etl_status status = ehs_table_load(loader, &source_diagnostic_table, &rows, &count);
    for (size_t i = 0; status == ETL_OK && i < count; i++) {
        if (rows[i].source >= data->traces.count) {
            status = damaged(loader, "diagnostics", i);
            break;
        }
        summary_trace *const trace = &data->traces.at[rows[i].source];
        for (int diag = 0; diag < ETL_DIAG_COUNT; diag++) {
            if (strcmp(etl_diag_describe((etl_diag)diag)->name, rows[i].name) != 0)
                continue;
            etl_diag_add(&trace->diag, (etl_diag)diag, rows[i].count);
            etl_diag_add(&trace->inventory_diag, (etl_diag)diag, rows[i].inventory_count);
        }
    }
    free(rows);
    return status;
}

/* Checks that modules are at their addresses, by which they are told apart later. */
static etl_status check_modules(ehs_loader *loader, const etlheap_result *result)
{
    u64 base = SUMMARY_MODULE_ALIGNMENT;
    for (size_t i = 0; i < result->modules.list.count; i++) {
        const etlheap_module_info *const module = &result->modules.list.at[i];
        if (module->base != base || module->pid != ETL_NO_ID ||
            module->size_bytes > SUMMARY_MODULE_BYTES_MAX)
            return damaged(loader, "modules", i);
        base = summary_module_after(module);
        if (base > INT64_MAX)
            return damaged(loader, "modules", i);
    }
    for (size_t i = 0; i < result->processes.count; i++) {
        if (result->processes.at[i].pid != ETL_NO_ID)
            return damaged(loader, "processes", i);
    }
    return ETL_OK;
}

/* Saves entries. On disk, a kind is its number in stores, and rows are in the order of these. */
static bool save_entries(ehs_saver *saver, const summary_data *data)
{
    const size_t count = data->entries.count;
    summary_entry *const rows = malloc((count + 1) * sizeof *rows);
    for (size_t i = 0; rows != NULL && i < count; i++) {
        rows[i] = data->entries.at[i];
        rows[i].kind = ehs_number_of_kind(rows[i].kind);
    }
    const bool ok = rows != NULL && ehs_table_save(saver, &entry_table, rows, count);
    free(rows);
    return ok;
}

static etl_status load_entries(ehs_loader *loader, etlheap_result *result)
{
    summary_data *const data = result->summary;
    etl_status status = ehs_vector_load(loader, &entry_table, &data->entries);
    for (size_t i = 0; i < data->entries.count; i++)
        data->entries.at[i].kind = ehs_kind_of_number(data->entries.at[i].kind);
    if (status == ETL_OK)
        status = ehs_vector_load(loader, &sum_table, &data->rows);
    if (status == ETL_OK)
        status = ehs_vector_load(loader, &cell_table, &data->cells);
    return status;
}

static bool precedes(const summary_entry *a, const summary_entry *b)
{
    if (a->kind != b->kind)
        return a->kind < b->kind;
    return a->process != b->process ? a->process < b->process : a->stack < b->stack;
}

static bool is_sound(const etlheap_result *result, const summary_entry *entry)
{
    const stack_table *const stacks = &result->stacks;
    return entry->kind < ETLHEAP_KIND_COUNT && entry->process >= 1 &&
           entry->process <= result->processes.count &&
           (entry->stack == 0 || entry->stack == SUMMARY_ALL_STACKS ||
            (entry->stack <= stacks->list.count && stack_get(stacks, entry->stack).count > 0));
}

static etl_status check_entries(ehs_loader *loader, const etlheap_result *result)
{
    const summary_data *const data = result->summary;
    for (size_t i = 0; i < data->entries.count; i++) {
        const summary_entry *const entry = &data->entries.at[i];
        if (!is_sound(result, entry) || (i > 0 && !precedes(entry - 1, entry)))
            return damaged(loader, "entries", i);
    }
    for (size_t i = 0; i < data->rows.count; i++) {
        const summary_row *const row = &data->rows.at[i];
        const bool in_order = i == 0 || row[-1].entry < row->entry ||
                              (row[-1].entry == row->entry && row[-1].part < row->part);
        if (row->entry >= data->entries.count || row->part >= SUMMARY_PARTS || !in_order)
            return damaged(loader, "sums", i);
    }
    return ETL_OK;
}

static etl_status check_cells(ehs_loader *loader, const summary_data *data)
{
    for (size_t i = 0; i < data->cells.count; i++) {
        const summary_cell *const cell = &data->cells.at[i];
        const bool fits = cell->window >= -WINDOW_MAX && cell->window < WINDOW_MAX &&
                          cell->window_count >= 1 &&
                          cell->window_count <= (u64)(WINDOW_MAX - cell->window);
        const bool in_order = i == 0 || cell[-1].entry < cell->entry ||
                              (cell[-1].entry == cell->entry &&
                               cell[-1].window + (i64)cell[-1].window_count <= cell->window);
        if (cell->entry >= data->entries.count || !fits || !in_order || data->every_ns == 0)
            return damaged(loader, "windows", i);
    }
    return ETL_OK;
}
