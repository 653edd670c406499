/*
 * text_compared.h - keys of rows that several runs have in common: those of diffs and trends.
 */
#ifndef ETLHEAP_TEXT_COMPARED_H
#define ETLHEAP_TEXT_COMPARED_H

#include "formats/io/text_buffer.h"

/* Whether rows are told apart by kind; else all are taken as of one. */
bool text_compared_by_kind(const etlheap_table *table);

/* "Process / Stack", and a row's: the kind is in the heading, a process is a name alone. */
void text_compared_title(const etlheap_table *table, etlheap_text *text);
void text_compared_keys(const etlheap_table *table, const etlheap_row *row, etlheap_text *text);

#endif
