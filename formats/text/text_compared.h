/* text_compared.h - keys of rows that several runs share, in diffs and trends. */
#ifndef ETLHEAP_TEXT_COMPARED_H
#define ETLHEAP_TEXT_COMPARED_H

#include "formats/io/text_buffer.h"

#include "parser/base.h"

/* Writes what stands above the rows of a kind. False if there are none. If rows are not divided by
 * kind, all count as one kind, without a heading. */
bool text_compared_begin_kind(const etlheap_table *table, u8 kind, const etlheap_layout *layout,
                              etlheap_sink *sink);

/* Append the titles of the keys, "Process / Stack", and a row's keys: the kind is in the heading, a
 * process is only a name. */
void text_compared_title(const etlheap_table *table, etlheap_text *text);
void text_compared_keys(const etlheap_table *table, const etlheap_row *row, etlheap_text *text);

#endif
