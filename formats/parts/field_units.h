/*
 * field_units.h - what numbers are counted in, for titles of columns.
 *
 * Text has its units beside the numbers. In a CSV file numbers are bare, so that a title
 * says what they are: "Size (B)", "Alloc Time (ns)".
 */
#ifndef ETLHEAP_FIELD_UNITS_H
#define ETLHEAP_FIELD_UNITS_H

#include "formats/formats.h"

#define ETLHEAP_TITLE_SIZE 96

/* "B", "ns", "B/s" or "%"; "" for counts and for what is no number. */
const char *etlheap_field_unit(etlheap_field field);

/* A title with a unit ("": none) behind it. */
void etlheap_title_with_unit(const char *title, const char *unit, char out[ETLHEAP_TITLE_SIZE]);

#endif
