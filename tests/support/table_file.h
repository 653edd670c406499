/*
 * table_file.h - a store of small tables in memory, made by hand and read back.
 *
 * A test fills the saver (ehs_table_save, table_file_add, ...), opens the file and loads from
 * it. Every failure of the container ends the test. Start from {0}; closing makes it so again.
 */
#ifndef TESTS_TABLE_FILE_H
#define TESTS_TABLE_FILE_H

#include "engine/log/ehs_table.h"

typedef struct table_file {
    ehs_saver saver;
    ehs_bytes bytes;
    ehs_reader reader;
    ehs_loader loader;
    etlheap_arena arena;
    etl_error err;
} table_file;

/* Writes what the saver holds and opens it; returns what reading its text gave. */
etl_status table_file_open(table_file *file, u64 bytes_max);
void table_file_close(table_file *file);

/* Part 0 of a column of 4 bytes. */
void table_file_add(table_file *file, ehs_column column, const u32 *values, u32 count);

/* Is this a part of the error's sentence? */
void table_file_says(const table_file *file, const char *part);

#endif
