/*
 * parquet_columns.c - the columns and facts of a Parquet file that say which recording it is from.
 */
#include "export_parquet.h"

#include "formats/io/units.h"

#include <inttypes.h>
#include <stdio.h>

/* 1601 to 1970 in the units of a FILETIME, 100 ns. */
#define FILETIME_OF_1970     ((i64)116444736000000000)
#define FILETIMES_PER_MICROS 10

const export_column export_run_columns[EXPORT_RUN_COLUMNS] = {
    { ETLHEAP_FIELD_TRACE, .type = PARQUET_STRING },
    { ETLHEAP_FIELD_COMPUTER, .type = PARQUET_STRING, .is_optional = true },
    { ETLHEAP_FIELD_SESSION, .type = PARQUET_STRING, .is_optional = true },
    { ETLHEAP_FIELD_START_TIME, .type = PARQUET_TIMESTAMP, .is_optional = true, .repeats = true },
    { ETLHEAP_FIELD_DURATION, .type = PARQUET_INT64, .repeats = true },
};

static const char *none_if_empty(const char *text);
static void add_number(parquet_writer *writer, const char *key, i64 value);
static void add_count(parquet_writer *writer, const char *key, u64 value);
static void add_losses(parquet_writer *writer, const etl_diag_counts *counts);

parquet_column *export_columns_add(parquet_column *out, const export_column *columns, u32 count)
{
    for (u32 i = 0; i < count; i++)
        *out++ = (parquet_column){
            .name = etlheap_field_key(columns[i].field),
            .type = columns[i].type,
            .is_optional = columns[i].is_optional,
            .repeats = columns[i].repeats,
            .is_list = columns[i].is_list,
        };
    return out;
}

void export_heap_put(const etlheap_row *row, parquet_writer *writer)
{
    char name[ETLHEAP_HEAP_NAME_SIZE];
    const bool is_named = row->has_heap && etlheap_kind_has(row->kind, ETLHEAP_KIND_NAMES_HEAP);
    if (is_named)
        etlheap_heap_name(row->heap_handle, name);
    export_put_number(writer, row->has_heap && !is_named, row->heap_handle);
    export_put_text(writer, is_named && row->heap_name ? row->heap_name : is_named ? name : NULL);
}

void export_run_begin(export_run *run, const etlheap_result *result)
{
    *run = (export_run){ .trace = etlheap_result_trace(result) };
    for (u32 i = 0; i < run->trace->file_count; i++) {
        etlheap_text_add_string(&run->files, i > 0 ? "; " : "");
        etlheap_text_add_string(&run->files, run->trace->files[i]);
    }
}

void export_run_put(export_run *run, parquet_writer *writer)
{
    const i64 filetime = run->trace->start_time_filetime;
    parquet_put_name(writer, &run->names[0], etlheap_text_of(&run->files));
    parquet_put_name(writer, &run->names[1], none_if_empty(run->trace->computer));
    parquet_put_name(writer, &run->names[2], none_if_empty(run->trace->session));
    export_put_number(writer, filetime > 0,
                      (u64)((filetime - FILETIME_OF_1970) / FILETIMES_PER_MICROS));
    parquet_put_number(writer, (u64)run->trace->duration_ns);
}

void export_run_end(export_run *run)
{
    etlheap_text_free(&run->files);
}

void export_facts(const etlheap_result *result, const etlheap_table *table, const char *schema,
                  parquet_writer *writer)
{
    const etlheap_trace_info *const trace = etlheap_result_trace(result);
    char start[ETLHEAP_UNITS_SIZE];
    etlheap_units_start(trace, start);
    parquet_add_fact(writer, "etlheap.schema", schema);
    for (u32 i = 0; i < trace->file_count; i++)
        parquet_add_fact(writer, "etlheap.file", trace->files[i]);
    parquet_add_fact(writer, "etlheap.session", trace->session);
    parquet_add_fact(writer, "etlheap.computer", trace->computer);
    add_count(writer, "etlheap.os_build", trace->os_build);
    add_count(writer, "etlheap.pointer_bits", trace->pointer_bits);
    add_count(writer, "etlheap.cpus", trace->cpus);
    parquet_add_fact(writer, "etlheap.clock", trace->clock);
    add_count(writer, "etlheap.clock_hz", trace->clock_hz);
    parquet_add_fact(writer, "etlheap.start_time", start);
    add_number(writer, "etlheap.duration_ns", trace->duration_ns);
    add_number(writer, "etlheap.from_ns", table->from_ns);
    add_number(writer, "etlheap.to_ns", table->to_ns);
    add_count(writer, "etlheap.events", trace->events);
    add_losses(writer, &table->diagnostics);
}

static const char *none_if_empty(const char *text)
{
    return text && text[0] != '\0' ? text : NULL;
}

static void add_number(parquet_writer *writer, const char *key, i64 value)
{
    char text[ETLHEAP_UNITS_SIZE];
    snprintf(text, sizeof text, "%" PRId64, value);
    parquet_add_fact(writer, key, text);
}

static void add_count(parquet_writer *writer, const char *key, u64 value)
{
    char text[ETLHEAP_UNITS_SIZE];
    snprintf(text, sizeof text, "%" PRIu64, value);
    parquet_add_fact(writer, key, text);
}

/* All diagnostics that a report ends with. */
static void add_losses(parquet_writer *writer, const etl_diag_counts *counts)
{
    for (int i = 0; i < ETL_DIAG_COUNT; i++) {
        char key[96];
        if (counts->of[i] == 0)
            continue;
        snprintf(key, sizeof key, "etlheap.diagnostics.%s", etl_diag_describe((etl_diag)i)->name);
        add_count(writer, key, counts->of[i]);
    }
}
