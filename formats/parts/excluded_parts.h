/* excluded_parts.h - says how much excluded frames left out of an answer. */
#ifndef ETLHEAP_EXCLUDED_PARTS_H
#define ETLHEAP_EXCLUDED_PARTS_H

#include "formats/formats.h"

#include "parser/base.h"

/* The sides of a comparison of two runs. */
extern const char *const etlheap_excluded_sides[2];

/* Appends what run `run` of the layout left out. `names` has the names of all runs; NULL: they have
 * numbers from 1, or there is only one. */
void etlheap_excluded_add(etlheap_text *text, const etlheap_layout *layout, u32 run,
                          const char *const *names);

#endif
