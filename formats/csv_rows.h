/*
 * csv_rows.h - what lists of rows as comma-separated values have in common.
 */
#ifndef ETLHEAP_CSV_ROWS_H
#define ETLHEAP_CSV_ROWS_H

#include "formats.h"

/* The titles of a table's keys and the keys of one of its rows, a comma after
 * each. A process and a type take two columns each, so that spreadsheets can sort.
 * `scratch` is overwritten. */
void etlheap_csv_key_titles(const etlheap_table *table, etlheap_sink *sink);
void etlheap_csv_keys(const etlheap_table *table, const etlheap_row *row, etlheap_text *scratch,
                      etlheap_sink *sink);

#endif
