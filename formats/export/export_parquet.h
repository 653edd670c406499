/*
 * export_parquet.h - the parts of the Parquet exporter: columns that both of its
 * tables have.
 */
#ifndef EXPORT_PARQUET_H
#define EXPORT_PARQUET_H

#include "formats/parts/allocation_rows.h"
#include "parquet_write.h"

/* A column by its field, whose key is its name in the file. */
typedef struct export_column {
    etlheap_field field;
    u8 type;          /* parquet_type */
    bool is_optional; /* as in parquet_column */
    bool repeats;
    bool is_list;
} export_column;

/* Returns where the next ones go. */
parquet_column *export_columns_add(parquet_column *out, const export_column *columns, u32 count);

/*
 * The recording that a row is from, the same in all rows, so that the files of many
 * runs can be asked at once: trace (names of its files), computer, session, start_time,
 * duration_ns.
 */
#define EXPORT_RUN_COLUMNS 5
extern const export_column export_run_columns[EXPORT_RUN_COLUMNS];

typedef struct export_run {
    const etlheap_trace_info *trace;
    etlheap_text files; /* their names, "; " between them */
    parquet_name names[3];
} export_run;

void export_run_begin(export_run *run, const etlheap_result *result);
void export_run_put(export_run *run, parquet_writer *writer);
void export_run_end(export_run *run);

/* What JSON documents say of trace and window, and what was lost, as facts of the
 * file: `schema` names the table. */
void export_facts(const etlheap_result *result, const etlheap_table *table, const char *schema,
                  parquet_writer *writer);

/*
 * The stack of a row: stack, stack_hash, and of its innermost frame site, module, function,
 * file and line.
 *
 * stack is a list: the frames from the innermost on, as in NDJSON. stack_hash is the same wherever and whenever the same functions call each
 * other: FNV-1a with 64 bits over, for each frame, the module in simple case folding, '!' and
 * the function, or '+', the offset in hexadecimal where it is not known, and ';'. The
 * module of an address outside of all is empty and has no offset.
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
    etl_bytes *frames; /* of the stack that is put; scratch */
    u32 frame_capacity;
    bool failed; /* out of memory: stacks are missing */
} export_stacks;

/* The table may get more stacks between calls, the ones that it has stay. */
void export_stacks_put(export_stacks *stacks, const etlheap_table *table, const etlheap_row *row,
                       parquet_writer *writer);

/* The list of its frames alone, of a stack of the table or ETLHEAP_NO_INDEX. */
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

/* NULL is a NULL value. */
static inline void export_put_text(parquet_writer *writer, const char *text)
{
    if (text)
        parquet_put_text(writer, text, strlen(text));
    else
        parquet_put_null(writer);
}

/* The columns heap and heap_name: a heap of Windows has a handle, one of an allocator of its
 * own a name. */
void export_heap_put(const etlheap_row *row, parquet_writer *writer);

/* The two tables; contracts are those of etlheap_exporter. */
etl_status export_parquet_report(const etlheap_export_request *request, etlheap_sink *sink,
                                 etl_error *err);
etl_status export_parquet_lifetimes(const etlheap_export_request *request, etlheap_sink *sink,
                                    etl_error *err);

#endif
