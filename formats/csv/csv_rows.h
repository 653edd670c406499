/* csv_rows.h - shared by lists of rows in CSV. */
#ifndef ETLHEAP_CSV_ROWS_H
#define ETLHEAP_CSV_ROWS_H

#include "formats/formats.h"

/* The header line, written name by name: the key of each column, as in JSON, or with layout->titles
 * its title and unit. For some fields the writer must give the unit. */
typedef struct etlheap_csv_head {
    etlheap_sink *sink;
    bool titles;
    bool filled; /* the next name needs a comma */
} etlheap_csv_head;

etlheap_csv_head etlheap_csv_head_begin(const etlheap_layout *layout, etlheap_sink *sink);
void etlheap_csv_head_field(etlheap_csv_head *head, etlheap_field field);
void etlheap_csv_head_unit(etlheap_csv_head *head, etlheap_field field, const char *unit);
void etlheap_csv_head_name(etlheap_csv_head *head, const char *name); /* key or title, as given */
void etlheap_csv_head_end(etlheap_csv_head *head);

/* Write the names of a table's keys, and the keys of a row, each followed by a comma. A process and
 * a type take two columns each, so that spreadsheets can sort. `scratch` is overwritten. */
void etlheap_csv_head_keys(etlheap_csv_head *head, const etlheap_table *table);
void etlheap_csv_keys(const etlheap_table *table, const etlheap_row *row, etlheap_text *scratch,
                      etlheap_sink *sink);

/* Writes the keys of a row that several runs share: a process is only a name. */
void etlheap_csv_compared_keys(const etlheap_table *table, const etlheap_row *row,
                               etlheap_text *text, etlheap_sink *sink);

#endif
