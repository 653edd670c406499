/* described_view.h - writes names and values of events that describe themselves as text. */
#ifndef ETLHEAP_DESCRIBED_VIEW_H
#define ETLHEAP_DESCRIBED_VIEW_H

#include "formats/formats.h"

/* Appends a name from a description. */
void etlheap_text_add_label(etlheap_text *text, etl_text name);

/* Appends "Provider/Event/Opcode"; without names, the GUID of the provider and the id of the
 * event. */
void etlheap_text_add_event(etlheap_text *text, const etl_record *record,
                            const etl_description *description);

/* Appends a value that is not a number: text, GUID, SID, time, address, or bytes in hexadecimal. */
void etlheap_text_add_value(etlheap_text *text, const etl_value *value);

/* Appends the names of a number that has a map, those of bits separated by |. False: none. */
bool etlheap_text_add_map_names(etlheap_text *text, const etl_value *value);

#endif
