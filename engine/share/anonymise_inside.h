/*
 * anonymise_inside.h - shared by the files that make an anonymised store.
 *
 *     anonymise.c           checks the store, rewrites it block by block
 *     anonymise_columns.c   what becomes of each column
 *     anonymise_tables.c    tables whose columns depend on each other
 *     anonymise_names.c     names of functions
 *     anonymise_parts.c     texts and blocks, for all of these
 *     keyed_words.c         words for names
 */
#ifndef ETLHEAP_ANONYMISE_INSIDE_H
#define ETLHEAP_ANONYMISE_INSIDE_H

#include "anonymise_columns.h"
#include "engine/names/symbols.h"
#include "engine/result/result.h"
#include "keyed_words.h"

typedef struct anonymiser {
    const etlheap_result *result;
    const ehs_reader *reader;
    etlheap_symbols *symbols; /* NULL: functions get no names */
    keyed_words words;
    etlheap_arena arena; /* of the loader's texts */
    ehs_loader loader;
    ehs_saver saver;
    ehs_writer writer;
    etl_error *err;
} anonymiser;

/* The text with a number; NULL, with a status for the caller to return, if there is none. */
const char *anonymise_text(const anonymiser *a, u64 number, etl_status *status);

/* The number of a word in the new file. False if memory runs out. */
bool anonymise_add(anonymiser *a, const char *word, u64 *number);

/* Writes what was made of a table. */
etl_status anonymise_put(anonymiser *a);

/* Rewrites tables. ETL_ERR_CORRUPT, ETL_ERR_MEMORY, ETL_ERR_IO. */
etl_status anonymise_modules(anonymiser *a);
etl_status anonymise_methods(anonymiser *a);
etl_status anonymise_providers(anonymiser *a);
etl_status anonymise_events(anonymiser *a);

/* Resolves the functions of all places where a stack of the result may have a frame, and writes
 * their words. ETL_ERR_MEMORY, ETL_ERR_CANCELLED, ETL_ERR_IO. */
etl_status anonymise_names(anonymiser *a);

#endif
