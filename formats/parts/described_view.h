/*
 * described_view.h - names and values of events that describe themselves, as text.
 */
#ifndef ETLHEAP_DESCRIBED_VIEW_H
#define ETLHEAP_DESCRIBED_VIEW_H

#include "formats/formats.h"

/* A name of a description, behind what the text has. */
void etlheap_text_add_label(etlheap_text *text, etl_text name);

/* "Provider/Event/Opcode": the provider by its GUID and the event by its id if they have no
 * names. */
void etlheap_text_add_event(etlheap_text *text, const etl_record *record,
                            const etl_description *description);

/* Of all values that are not numbers: text, GUID, SID, time, address, bytes in hexadecimal. */
void etlheap_text_add_value(etlheap_text *text, const etl_value *value);

/* The names of a number that has a map, with | between those of bits. False: none. */
bool etlheap_text_add_map_names(etlheap_text *text, const etl_value *value);

#endif
