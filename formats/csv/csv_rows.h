/*
 * csv_rows.h - shared by lists of rows in CSV.
 *
 * A writer begins, writes the header and each row cell by cell, and ends:
 *
 *     status = etlheap_csv_begin(layout, sink, &csv);
 *     etlheap_csv_key_names, _fields, _name       etlheap_csv_line     the header
 *     etlheap_csv_keys, _values, _text, _number   etlheap_csv_line     a row
 *     return etlheap_csv_end(&csv);
 */
#ifndef ETLHEAP_CSV_ROWS_H
#define ETLHEAP_CSV_ROWS_H

#include "formats/io/text_buffer.h"
#include "formats/parts/columns.h"

typedef struct etlheap_csv {
    etlheap_sink *sink;
    etlheap_layout layout;
    etlheap_text text; /* scratch; its contents last until the next call */
    bool filled;       /* the next cell needs a comma */
} etlheap_csv;

/* Fails if the layout is invalid; there is nothing to end then. */
etl_status etlheap_csv_begin(const etlheap_layout *given, etlheap_sink *sink, etlheap_csv *out);
etl_status etlheap_csv_end(etlheap_csv *csv);
void etlheap_csv_line(etlheap_csv *csv);

/* The header: the key of each column, as in JSON, or with layout.titles its title and unit. For
 * some fields the writer must give the unit. */
void etlheap_csv_field(etlheap_csv *csv, etlheap_field field);
void etlheap_csv_field_unit(etlheap_csv *csv, etlheap_field field, const char *unit);
void etlheap_csv_fields(etlheap_csv *csv, const etlheap_field_list *columns);
void etlheap_csv_key_names(etlheap_csv *csv, const etlheap_table *table);

/* Cells. What is not known is an empty cell. */
void etlheap_csv_text(etlheap_csv *csv, const char *text);
void etlheap_csv_number(etlheap_csv *csv, i64 number);
void etlheap_csv_value(etlheap_csv *csv, const etlheap_value *value);
void etlheap_csv_values(etlheap_csv *csv, const etlheap_field_list *columns,
                        const etlheap_value *values);

/* The keys of a row. A process and a type take two columns each, so that spreadsheets can sort. */
void etlheap_csv_keys(etlheap_csv *csv, const etlheap_table *table, const etlheap_row *row);

/* The keys of a row that several runs share: a process is only a name. */
void etlheap_csv_compared_name(etlheap_csv *csv, etlheap_field key);
void etlheap_csv_compared_keys(etlheap_csv *csv, const etlheap_table *table,
                               const etlheap_row *row);

#endif
