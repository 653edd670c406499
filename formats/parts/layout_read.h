/*
 * layout_read.h - the layout that a writer was given, and what the program says in it.
 *
 * Every writer of the table in formats.c begins with etlheap_layout_read and goes on with
 * its own copy. Sentences with a hint end in what the program appends (parser/hint.h).
 */
#ifndef ETLHEAP_LAYOUT_READ_H
#define ETLHEAP_LAYOUT_READ_H

#include "formats/formats.h"

/* Of a diagnostic with its hint; longer ones are cut. */
#define ETLHEAP_SENTENCE_SIZE 512

/* NULL is etlheap_layout_default(). ETL_ERR_ARGUMENT, ETL_ERR_UNSUPPORTED. */
etl_status etlheap_layout_read(const etlheap_layout *given, etlheap_layout *own);

/* What the program appends; "" for nothing. */
const char *etlheap_hint_words(etl_hint_fn *say, etl_hint hint);

/* The sentence of a diagnostic with its hint. */
void etlheap_diag_sentence(etl_diag diag, etl_hint_fn *say, char out[ETLHEAP_SENTENCE_SIZE]);

#endif
