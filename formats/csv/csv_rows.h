/*
 * csv_rows.h - what lists of rows as comma-separated values have in common.
 */
#ifndef ETLHEAP_CSV_ROWS_H
#define ETLHEAP_CSV_ROWS_H

#include "formats/formats.h"

/*
 * The first line, written a name at a time: the key of each column, which is the one
 * that JSON has, or its title with its unit if layout->titles is set. Of a few fields the
 * writer knows the unit.
 */
typedef struct etlheap_csv_head {
    etlheap_sink *sink;
    bool titles;
    bool filled; /* the next name needs a comma */
} etlheap_csv_head;

etlheap_csv_head etlheap_csv_head_begin(const etlheap_layout *layout, etlheap_sink *sink);
void etlheap_csv_head_field(etlheap_csv_head *head, etlheap_field field);
void etlheap_csv_head_unit(etlheap_csv_head *head, etlheap_field field, const char *unit);
void etlheap_csv_head_name(etlheap_csv_head *head, const char *name); /* key or title, composed */
void etlheap_csv_head_end(etlheap_csv_head *head);

/* The names of a table's keys, and the keys of one of its rows, a comma after each.
 * A process and a type take two columns each, so that spreadsheets can sort.
 * `scratch` is overwritten. */
void etlheap_csv_head_keys(etlheap_csv_head *head, const etlheap_table *table);
void etlheap_csv_keys(const etlheap_table *table, const etlheap_row *row, etlheap_text *scratch,
                      etlheap_sink *sink);

/* The same of a row that several runs have in common: a process is a name alone. */
void etlheap_csv_compared_keys(const etlheap_table *table, const etlheap_row *row,
                               etlheap_text *text, etlheap_sink *sink);

#endif
