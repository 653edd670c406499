/*
 * suspect_parts.h - what all formats say of suspects in words.
 */
#ifndef ETLHEAP_SUSPECT_PARTS_H
#define ETLHEAP_SUSPECT_PARTS_H

#include "formats/formats.h"

/* Why the row is a suspect, as one sentence. */
void suspect_add_reason(const etlheap_suspect *suspect, etlheap_text *text);

/* "53 of 60" */
void suspect_add_share(const etlheap_suspect *suspect, etlheap_text *text);

/* The ids of its threads, with what separates them between; then "..." if there are more. */
void suspect_add_threads(const etlheap_suspect *suspect, const char *separator, etlheap_text *text);

/* For people: is the key worth a place beside the others? The site is the first frame of the stack. */
bool suspect_shows_key(const etlheap_table *table, etlheap_key key);

/* How many suspects there are, and among how many groups; without any, that there is none. */
void suspect_add_verdict(const etlheap_suspects *suspects, etlheap_text *text);

#endif
