/* text_compared.h - keys of rows that several runs share, in diffs and trends. */
#ifndef ETLHEAP_TEXT_COMPARED_H
#define ETLHEAP_TEXT_COMPARED_H

#include "formats/io/text_buffer.h"

/* True if rows are divided by kind; else all count as one kind. */
bool text_compared_by_kind(const etlheap_table *table);

/* Append the titles of the keys, "Process / Stack", and a row's keys: the kind is in the heading, a
 * process is only a name. */
void text_compared_title(const etlheap_table *table, etlheap_text *text);
void text_compared_keys(const etlheap_table *table, const etlheap_row *row, etlheap_text *text);

#endif
