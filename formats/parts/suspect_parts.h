/* suspect_parts.h - texts about suspects, shared by all formats. */
#ifndef ETLHEAP_SUSPECT_PARTS_H
#define ETLHEAP_SUSPECT_PARTS_H

#include "formats/formats.h"

/* Appends why the row is a suspect, as one sentence. */
void suspect_add_reason(const etlheap_suspect *suspect, etlheap_text *text);

/* Appends "53 of 60". */
void suspect_add_share(const etlheap_suspect *suspect, etlheap_text *text);

/* Appends the ids of its threads, separated by `separator`, and "..." if there are more. */
void suspect_add_threads(const etlheap_suspect *suspect, const char *separator, etlheap_text *text);

/* True if the key is worth showing to people next to the others. The site is the first frame of the
 * stack, so it is not. */
bool suspect_shows_key(const etlheap_table *table, etlheap_key key);

/* Appends the number of suspects and of groups, or that there are no suspects. */
void suspect_add_verdict(const etlheap_suspects *suspects, etlheap_text *text);

#endif
