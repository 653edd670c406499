/*
 * layout_read.h - reads the layout given to a writer, and adds the program's hints.
 *
 * Every writer in the table of formats.c begins with etlheap_layout_read and then uses its own
 * copy. Sentences with a hint end with the text that the program provides (parser/hint.h).
 */
#ifndef ETLHEAP_LAYOUT_READ_H
#define ETLHEAP_LAYOUT_READ_H

#include "formats/formats.h"

#include "parser/base.h"

/* The size of a diagnostic's sentence with its hint; longer ones are cut. */
#define ETLHEAP_SENTENCE_SIZE 512

/* Reads a layout; NULL means etlheap_layout_default(). ETL_ERR_ARGUMENT, ETL_ERR_UNSUPPORTED. */
etl_status etlheap_layout_read(const etlheap_layout *given, etlheap_layout *own);

/* The number of rows in a list of a document: 0, all, unless the user sets a number. */
u32 etlheap_layout_most(const etlheap_layout *layout);

/* The text that the program appends for a hint; "" for nothing. */
const char *etlheap_hint_words(etl_hint_fn *say, etl_hint hint);

/* Makes the sentence of a diagnostic with its hint. */
void etlheap_diag_sentence(etl_diag diag, etl_hint_fn *say, char out[ETLHEAP_SENTENCE_SIZE]);

#endif
