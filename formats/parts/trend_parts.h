/*
 * trend_parts.h - what the writers of trends have in common.
 */
#ifndef ETLHEAP_TREND_PARTS_H
#define ETLHEAP_TREND_PARTS_H

#include "formats/io/text_buffer.h"
#include "formats/io/units.h"

/* When the run started, ISO 8601; "" if that is not known. */
void trend_start(const etlheap_trend_run *run, char out[ETLHEAP_UNITS_SIZE]);

/* "drift", "step in 4": the pattern, and the number of the run in which it turns. */
void trend_add_pattern(const etlheap_trend_curve *curve, etlheap_text *text);

/*
 * What to know before believing the numbers: a sentence into *text if hint `index` applies, and
 * its name. Indices go from 0 to below TREND_HINTS.
 */
#define TREND_HINTS 2u
bool trend_hint(const etlheap_trend_answer *answer, u32 index, etl_hint_fn *say, etlheap_text *text,
                const char **name);

#endif
