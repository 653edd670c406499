/*
 * sarif_place.h - where a result of a SARIF log is, as code hosts want it: a file and a
 * line, always.
 *
 * The place is the innermost frame whose source line is in the repository, else the
 * innermost whose line is known and not the compiler's (source_roots.h). If there is none, it is
 * line 1 of what is nearest to it, by names that stay from build to build: the source
 * file of a frame, the module of the innermost frame, the process, or, for a total of
 * all of them, the words "all-processes".
 */
#ifndef ETLHEAP_SARIF_PLACE_H
#define ETLHEAP_SARIF_PLACE_H

#include "formats/io/text_buffer.h"
#include "formats/json/json.h"

typedef struct sarif_place {
    const etlheap_table *table;        /* NULL: without frames */
    etlheap_indices frames;            /* innermost first */
    const char *process;               /* NULL or "": all */
    const etlheap_source_roots *roots; /* NULL: none */
} sarif_place;

/* Both write a member of the result; text is scratch. A place without frames has no
 * stack. */
void sarif_write_locations(etlheap_json *json, const sarif_place *place, etlheap_text *text);
void sarif_write_stack(etlheap_json *json, const sarif_place *place, etlheap_text *text);

#endif
