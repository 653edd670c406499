/*
 * field_units.h - units of fields, for column titles.
 *
 * Text reports show units next to the numbers. In a CSV file numbers have no unit, so the title
 * states it: "Size (B)", "Alloc Time (ns)".
 */
#ifndef ETLHEAP_FIELD_UNITS_H
#define ETLHEAP_FIELD_UNITS_H

#include "formats/formats.h"

#include "parser/base.h"

#define ETLHEAP_TITLE_SIZE 96

/* "B", "ns", "B/s" or "%"; "" for counts and for fields that are not numbers. */
const char *etlheap_field_unit(etlheap_field field);

/* True if no row of the kind has the field, because it is in bytes and the kind has no sizes. */
bool etlheap_field_is_hidden(u32 kind, etlheap_field field);

/* The value of a measure that a row of the kind has, as formats show it. */
i64 etlheap_shown_measure(u32 kind, etlheap_measure measure, i64 value);

/* A title followed by its unit ("": none). */
void etlheap_title_with_unit(const char *title, const char *unit, char out[ETLHEAP_TITLE_SIZE]);

#endif
