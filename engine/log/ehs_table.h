/*
 * ehs_table.h - writes arrays of structs as columns, and reads them, driven by a table.
 *
 * Besides events, a trace has short arrays of structs (processes, modules, counts, indexes). For
 * each kind a const ehs_table says which member is which column, and one function writes and one
 * reads all of them. Text members are stored as string numbers. The strings are written once, after
 * all tables, and are read first. NULL is read back as "".
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

/* Collects the small parts of a store while it is written. */
typedef struct ehs_saver {
    ehs_codec codec;
    ehs_blocks blocks;
    etlheap_strings strings;
} ehs_saver;

void ehs_saver_free(ehs_saver *saver);

/* Encodes `count` rows. False if memory runs out. */
bool ehs_table_save(ehs_saver *saver, const ehs_table *table, const void *rows, size_t count);

/* Encodes the strings of all tables. Call it last. */
bool ehs_strings_save(ehs_saver *saver);

/* Reads the small parts of a store. Row counts come from the file, and a few bytes can claim many
 * rows, so each allocation is charged to an allowance. */
typedef struct ehs_loader {
    const ehs_reader *reader;
    ehs_codec codec;
    etlheap_arena *arena; /* texts are allocated here, and live as long as it */
    u64 bytes_left;
    const char **texts; /* by number - 1 */
    u32 text_count;
    void *scratch; /* one part of one column */
    etl_error *err;
} ehs_loader;

/* Reads the strings. Set reader, arena, bytes_left (UINT64_MAX: no limit) and err of *loader, and
 * all else to 0. Free it in any case. */
etl_status ehs_loader_open(ehs_loader *loader);
void ehs_loader_free(ehs_loader *loader);

/* Allocates zeroed memory for `count` elements, which the caller frees. NULL: *status is
 * ETL_ERR_MEMORY, or ETL_ERR_LIMIT if the allowance is used up. */
void *ehs_loader_alloc(ehs_loader *loader, u64 count, size_t element_bytes, etl_status *status);

/* Charges the memory of `count` elements to the allowance. ETL_ERR_LIMIT. */
etl_status ehs_loader_charge(ehs_loader *loader, u64 count, size_t element_bytes);

/* Reads one whole column of `count` values, parts in order, into `out`. */
etl_status ehs_column_load(ehs_loader *loader, ehs_column column, void *out, u64 count);

/*
 * Reads all rows. `rows` points to a pointer, which is set to an array that the caller frees. The
 * file must have all columns of the table, with equal numbers of rows, or none: then there are no
 * rows. ETL_ERR_CORRUPT, ETL_ERR_MEMORY, ETL_ERR_LIMIT.
 */
etl_status ehs_table_load(ehs_loader *loader, const ehs_table *table, void *rows, size_t *count);

/* Reads all rows into an empty ETLHEAP_VECTOR. */
etl_status ehs_vector_load(ehs_loader *loader, const ehs_table *table, void *vector);

#endif
