/*
 * sarif_place.h - the place of a result in a SARIF log: code hosts always need a file and a line.
 *
 * The place is the innermost frame with a source line in the repository, else the innermost with a
 * known line outside the compiler's libraries (source_roots.h). If there is none, it is line 1 of
 * the next best name that is stable across builds: the source file of a frame, the module of the
 * innermost frame, the process, or for a total of all processes the text "all-processes".
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

/* Both write a member of the result; `text` is scratch. A place without frames has no stack. */
void sarif_write_locations(etlheap_json *json, const sarif_place *place, etlheap_text *text);
void sarif_write_stack(etlheap_json *json, const sarif_place *place, etlheap_text *text);

#endif
