/* export_parquet.h - shared by the two tables of the Parquet exporter. */
#ifndef EXPORT_PARQUET_H
#define EXPORT_PARQUET_H

#include "formats/parts/allocation_rows.h"
#include "parquet_write.h"

/* A column of a field. The field's key is the column's name in the file. */
typedef struct export_column {
    etlheap_field field;
    u8 type;          /* parquet_type */
    bool is_optional; /* as in parquet_column */
    bool repeats;
    bool is_list;
} export_column;

/* Appends columns. Returns the place for the next ones. */
parquet_column *export_columns_add(parquet_column *out, const export_column *columns, u32 count);

/* The recording of a row, equal in all rows, so that files of many runs can be queried together:
 * trace (names of its files), computer, session, start_time, duration_ns. */
#define EXPORT_RUN_COLUMNS 5
extern const export_column export_run_columns[EXPORT_RUN_COLUMNS];

typedef struct export_run {
    const etlheap_trace_info *trace;
    etlheap_text files; /* names, separated by "; " */
    parquet_name names[3];
} export_run;

void export_run_begin(export_run *run, const etlheap_result *result);
void export_run_put(export_run *run, parquet_writer *writer);
void export_run_end(export_run *run);

/* Adds facts of the file: trace, window and losses as in JSON documents. `schema` names the
 * table. */
void export_facts(const etlheap_result *result, const etlheap_table *table, const char *schema,
                  parquet_writer *writer);

/*
 * The stack of a row: stack, stack_hash, and site, module, function, file and line of its innermost
 * frame. stack is a list of frames from the innermost on, as in NDJSON. stack_hash is the same in
 * every run in which the same functions call each other: 64-bit FNV-1a over, for each frame, the
 * module in simple case folding, '!' and the function, or if that is unknown '+' and the offset in
 * hexadecimal, and ';'. An address outside all modules has an empty module and no offset.
 */
#define EXPORT_STACK_COLUMNS 7
extern const export_column export_stack_columns[EXPORT_STACK_COLUMNS];

typedef struct export_stack_names {
    bool is_hashed;
    u64 hash;
    parquet_name stack, site, module, function, file;
} export_stack_names;

/* Start from {0}. */
typedef struct export_stacks {
    export_stack_names *names; /* by stack of the table */
    u32 capacity;
    etlheap_frame_texts texts;
    etl_bytes *frames; /* scratch for the current stack */
    u32 frame_capacity;
    bool failed; /* out of memory; stacks are missing */
} export_stacks;

/* Puts a row's stack. The table may get more stacks between calls, but must keep the ones it
 * has. */
void export_stacks_put(export_stacks *stacks, const etlheap_table *table, const etlheap_row *row,
                       parquet_writer *writer);

/* Puts only the list of frames of a stack of the table, or of ETLHEAP_NO_INDEX. */
void export_stacks_put_list(export_stacks *stacks, const etlheap_table *table, u32 stack,
                            parquet_writer *writer);
void export_stacks_free(export_stacks *stacks);

static inline void export_put_number(parquet_writer *writer, bool is_known, u64 value)
{
    if (is_known)
        parquet_put_number(writer, value);
    else
        parquet_put_null(writer);
}

/* Puts a text; NULL is a NULL value. */
static inline void export_put_text(parquet_writer *writer, const char *text)
{
    if (text)
        parquet_put_text(writer, text, strlen(text));
    else
        parquet_put_null(writer);
}

/* Puts the columns heap and heap_name: a Windows heap has a handle, one of a custom allocator a
 * name. */
void export_heap_put(const etlheap_row *row, parquet_writer *writer);

/* Write the two tables, as an etlheap_exporter does. */
etl_status export_parquet_report(const etlheap_export_request *request, etlheap_sink *sink,
                                 etl_error *err);
etl_status export_parquet_lifetimes(const etlheap_export_request *request, etlheap_sink *sink,
                                    etl_error *err);

#endif
