/*
 * field_units.h - units of fields, for column titles.
 *
 * Text reports show units next to the numbers. In a CSV file numbers have no unit, so the title
 * states it: "Size (B)", "Alloc Time (ns)".
 */
#ifndef ETLHEAP_FIELD_UNITS_H
#define ETLHEAP_FIELD_UNITS_H

#include "formats/formats.h"

#define ETLHEAP_TITLE_SIZE 96

/* "B", "ns", "B/s" or "%"; "" for counts and for fields that are not numbers. */
const char *etlheap_field_unit(etlheap_field field);

/* A title followed by its unit ("": none). */
void etlheap_title_with_unit(const char *title, const char *unit, char out[ETLHEAP_TITLE_SIZE]);

#endif
