/*
 * ehs_table.h - arrays of structs as columns, and back, driven by a table.
 *
 * What a trace holds besides events (processes, modules, counts, indexes) are
 * short arrays of structs. Each kind has a const ehs_table that says which member
 * is which column; one function writes any of them and one reads any.
 *
 * Text members are stored as string numbers. The strings are written once, after all
 * tables, and are read first. NULL is read back as "".
 */
#ifndef ETLHEAP_EHS_TABLE_H
#define ETLHEAP_EHS_TABLE_H

#include "engine/core/intern.h"
#include "ehs_file.h"

typedef enum ehs_member {
    EHS_MEMBER_BOOL, /* bool or u8 of 0 and 1; columns of 1 byte */
    EHS_MEMBER_U16,  /* columns of 4 bytes */
    EHS_MEMBER_U32,
    EHS_MEMBER_U64, /* i64 too */
    EHS_MEMBER_TEXT /* const char *; columns of 4 bytes */
} ehs_member;

typedef struct ehs_field {
    ehs_column column;
    u32 offset;
    ehs_member member;
} ehs_field;

typedef struct ehs_table {
    const ehs_field *fields;
    u32 field_count;
    u32 row_bytes;
} ehs_table;

/* Where a store's small parts are gathered while they are written. */
typedef struct ehs_saver {
    ehs_codec codec;
    ehs_blocks blocks;
    etlheap_strings strings;
} ehs_saver;

void ehs_saver_free(ehs_saver *saver);

/* Encodes `count` rows. False without memory. */
bool ehs_table_save(ehs_saver *saver, const ehs_table *table, const void *rows, size_t count);

/* Encodes the strings of all tables before it: comes last. */
bool ehs_strings_save(ehs_saver *saver);

/* What a store's small parts are read with. Row counts come from the file, and a few bytes
 * can claim many rows. So each allocation is charged to an allowance. */
typedef struct ehs_loader {
    const ehs_reader *reader;
    ehs_codec codec;
    etlheap_arena *arena; /* where text goes: whoever has it keeps the text */
    u64 bytes_left;
    const char **texts; /* by number - 1 */
    u32 text_count;
    void *scratch; /* one part of one column */
    etl_error *err;
} ehs_loader;

/* Reads the strings. *loader holds reader, arena, bytes_left (UINT64_MAX: no limit)
 * and err, all else is 0; it is to be freed in any case. */
etl_status ehs_loader_open(ehs_loader *loader);
void ehs_loader_free(ehs_loader *loader);

/* Zeroed memory for count elements, for the caller to free; NULL: *status is
 * ETL_ERR_MEMORY, or LIMIT when the allowance is used up. */
void *ehs_loader_alloc(ehs_loader *loader, u64 count, size_t element_bytes, etl_status *status);

/* Takes the memory of count elements from the allowance. ETL_ERR_LIMIT. */
etl_status ehs_loader_charge(ehs_loader *loader, u64 count, size_t element_bytes);

/* Reads one whole column of `count` values, parts in order, into `out`. */
etl_status ehs_column_load(ehs_loader *loader, ehs_column column, void *out, u64 count);

/*
 * Reads all rows. `rows` points to a pointer, which receives an array that the caller
 * frees. Columns must agree on the number of rows, and a file has either all of them or none, which is a table without rows.
 * CORRUPT, MEMORY, LIMIT.
 */
etl_status ehs_table_load(ehs_loader *loader, const ehs_table *table, void *rows, size_t *count);

/* The same into an empty ETLHEAP_VECTOR of rows. */
etl_status ehs_vector_load(ehs_loader *loader, const ehs_table *table, void *vector);

#endif
