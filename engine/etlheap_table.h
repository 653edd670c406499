/*
 * etlheap_table.h - a table: rows that sum up lifetimes, and the frames and stacks they refer to.
 * Part of engine.h.
 *
 *     result, query ──▶ etlheap_aggregate ──▶ etlheap_table ──▶ keep_top ──▶ name ──▶ writers
 *
 * Rows and frames may get more members in later releases, so programs step through them with
 * etlheap_table_row and etlheap_table_frame. The caller may change a table that is its own; one
 * that another thread reads must not be changed.
 */
#include "engine.h" /* before the guard: it includes other headers that need this one */

#ifndef ETLHEAP_TABLE_H
#define ETLHEAP_TABLE_H

#ifdef __cplusplus
extern "C" {
#endif

/* A resolved frame. Strings are UTF-8, or NULL if unknown. A call that the compiler inlined is a
 * frame of its own, with the module, offset and address of the frame it is part of, which follows
 * it. With the key FRAME or SITE, a frame stands for a function: its offset and address are the
 * lowest of the row's, and its line is 0 unless all agree; `lines` has all that are known. A row of
 * a comparison adds up stacks that differ only in lines; its frames then have all of them. */
typedef struct etlheap_source_line {
    const char *file;
    uint32_t line;
} etlheap_source_line;

typedef struct etlheap_frame {
    const char *module; /* last component of the module's path */
    const char *symbol;
    const char *file;
    uint64_t address; /* the lowest seen, because processes differ */
    /* In the module, or in the code of a .NET method; valid only with a module. ETLHEAP_NO_ADDRESS:
     * the frame stands for its module (fold_modules). */
    uint64_t offset;
    uint64_t displacement; /* distance from the start of the symbol; only with is_nearest */
    uint32_t line;         /* 0 unknown */
    bool is_inlined;
    bool is_nearest; /* a guess: the nearest symbol before the address, of unknown size */
    /* If there is more than one line: all of them, by file and line; `line` is one of them, or 0
     * for a function. Else NULL and 0. */
    const etlheap_source_line *lines;
    uint32_t line_count;
} etlheap_frame;

#define ETLHEAP_NO_INDEX UINT32_MAX

/* The longest text of a pool tag, "0x00000001", and its end. */
#define ETLHEAP_POOL_TAG_SIZE 12

/* A row. Only `kind` and the members of the query's keys are set. Strings are borrowed, as in
 * etlheap_aggregate. */
typedef struct etlheap_row {
    uint8_t kind;      /* etlheap_kind */
    uint8_t type;      /* etlheap_type */
    uint8_t free_type; /* etlheap_free_type */
    const char *process;
    uint32_t pid;
    uint32_t thread; /* ETL_NO_ID unknown */
    bool has_heap;   /* false: virtualalloc and reserve */
    uint64_t heap_handle;
    uint32_t stack;             /* STACK and IMPACTING_STACK keys: index of a stack of the table;
                            * ETLHEAP_NO_INDEX: none */
    uint32_t frame;             /* FRAME and SITE keys: index into frames; ETLHEAP_NO_INDEX: none */
    const char *module;         /* MODULE key; NULL: outside all modules, or no stack */
    const char *type_name;      /* TYPE_NAME key: C++ type; "unknown" */
    const char *tag;            /* TAG key; NULL: no stack */
    uint64_t size_class_bytes;  /* largest power of two <= size; 0 for size 0 */
    bool grows_most;            /* HEAP key: has the largest impacting size of its kind, above 0 */
    uint32_t merged_rows;       /* number of rows merged into this one; 0: it is a single row */
    uint32_t merged_empty_rows; /* of these, rows with 0 in the sort measure */
    int64_t measures[ETLHEAP_MEASURES_CAPACITY];
    const char *thread_name; /* THREAD or THREAD_NAME key; NULL: it has none */
    uint32_t generation;     /* GENERATION key: number of marks before the allocation */
    const char *mark;        /* GENERATION key: the last of these marks; NULL: none */
    uint32_t mark_number;    /* as in etlheap_mark; 0: none */
    uint32_t free_stack, free_frame, free_thread; /* FREE_* keys; none if not freed or unknown */
    const char *free_module;
    int64_t rates_ns; /* what its rates are per second of: the time in which it was recorded */
    const char *source_line; /* SOURCE_LINE key: "FILE:LINE" of the site; NULL: unknown */
    char pool_tag[ETLHEAP_POOL_TAG_SIZE]; /* POOL_TAG key; "": not of a pool */
    const char *pool_tag_description;     /* of query.pool_tags; NULL: unknown */
    const char *heap_name;   /* HEAP key: the name that the recording gives to heap_handle; NULL:
                              * none, and etlheap_heap_name says what it is called */
    const char *object_type; /* OBJECT_TYPE key: of handles; NULL: unknown */
} etlheap_row;

/* The value that a row has for a key. */
typedef struct etlheap_key_value {
    uint64_t number; /* enumerator, id, handle, index, bytes; ETLHEAP_NO_INDEX or ETL_NO_ID: none */
    const char *text; /* the word or name; NULL: none */
    etlheap_key_form form;
    bool is_known;
    const char *missing; /* what people read in place of an unknown value */
    const char *detail;  /* the text of the field beside the key, if it is one; NULL: none */
} etlheap_key_value;

etlheap_key_value etlheap_row_value(const etlheap_row *row, etlheap_key key);

/* Compares two rows by a key; 0 if the values are equal, else any total order. The rows must be of
 * one table if the key has frames, which are numbered by table. */
int etlheap_row_compare_key(const etlheap_row *a, const etlheap_row *b, etlheap_key key);

/* The sums of one kind over everything that the query selects. */
typedef struct etlheap_total {
    bool present;  /* the trace has events of the kind */
    int64_t to_ns; /* end of the window for the kind */
    uint64_t free_without_alloc;
    int64_t measures[ETLHEAP_MEASURES_CAPACITY]; /* 0 for measures that do not add up */
    int64_t rates_ns; /* what its rates are per second of: the recorded part of the window */
} etlheap_total;

/* Rows, and the frames and stacks they refer to. Stack i, innermost frame first, is
 * frames[frame_indices[j]] for j from stack_starts[i] up to stack_starts[i + 1], exclusive. */
typedef struct etlheap_table {
    int64_t from_ns, to_ns;
    const etlheap_key *group_by;
    uint32_t group_by_count;
    etlheap_measure_set measures; /* that the rows have */
    bool at_end;                  /* as in the query: what is outstanding at a moment */
    const etlheap_frame *frames;
    uint32_t frame_count;
    const uint32_t *stack_starts; /* stack_count + 1 entries */
    const uint32_t *frame_indices;
    uint32_t stack_count;
    const etlheap_row *rows; /* sorted as asked, ties by keys */
    uint32_t row_count;
    etlheap_total totals[ETLHEAP_KIND_CAPACITY];
    etl_diag_counts diagnostics; /* of the result, and of looking up symbols so far */
    int64_t rates_ns; /* as of totals, of all kinds; of a summary: length of all its recordings */
    const struct etlheap_row_lifetimes *row_lifetimes; /* with keep_lifetimes; else NULL */
    uint32_t row_stride;   /* from a row to the next, in bytes: see etlheap_table_row */
    uint32_t frame_stride; /* from a frame to the next, in bytes: see etlheap_table_frame */
    uint64_t key_check;    /* of an anonymised store (etlheap_anonymise.h); 0: names are names */
} etlheap_table;

/* A row of a table; index must be below row_count. Inline, so that a program can use a newer
 * library, whose rows may have more members and then lie further apart. */
static inline const etlheap_row *etlheap_table_row(const etlheap_table *table, uint32_t index)
{
    return (const etlheap_row *)(const void *)((const uint8_t *)table->rows +
                                               (size_t)index * table->row_stride);
}

/* A frame of a table, like etlheap_table_row; index must be below frame_count. */
static inline const etlheap_frame *etlheap_table_frame(const etlheap_table *table, uint32_t index)
{
    return (const etlheap_frame *)(const void *)((const uint8_t *)table->frames +
                                                 (size_t)index * table->frame_stride);
}

/* [stable] Groups the lifetimes that the query selects. The caller owns *out (etlheap_table_free).
 * The table borrows strings from the result, and from the query's symbols and tags. frames and
 * stacks hold only what rows refer to, in order of first use. Errors are those of etlheap_ask. */
etl_status etlheap_aggregate(const etlheap_result *result, const etlheap_query *query,
                             etlheap_table **out, etl_error *err);

/* [stable] NULL is allowed. */
void etlheap_table_free(etlheap_table *table);

/* [stable] Keeps the first `rows` rows, and only the frames and stacks they refer to. Always
 * succeeds. */
etl_status etlheap_table_keep_top(etlheap_table *table, uint32_t rows, etl_error *err);

/* Drops the first `rows` rows, and the frames and stacks that only they refer to; totals stay. If
 * the table has fewer rows, none is left. ETL_ERR_MEMORY: the table is unchanged. */
etl_status etlheap_table_skip(etlheap_table *table, uint32_t rows, etl_error *err);

/* [stable] Names the frames of rows and adds a frame for each inlined call. `rows` marks the rows
 * to name (row_count entries; NULL: all); other rows get names as far as they share frames. The
 * table borrows the names from the symbols. Call etlheap_table_keep_top first, so that only rows
 * that are shown are named. ETL_ERR_MEMORY, ETL_ERR_CANCELLED. */
etl_status etlheap_table_name(etlheap_table *table, etlheap_symbols *symbols, const bool *rows,
                              etl_error *err);

#ifdef __cplusplus
}
#endif

#endif
