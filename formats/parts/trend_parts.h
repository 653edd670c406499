/* trend_parts.h - shared by the writers of trends. */
#ifndef ETLHEAP_TREND_PARTS_H
#define ETLHEAP_TREND_PARTS_H

#include "formats/io/text_buffer.h"
#include "formats/io/units.h"

/* The start time of the run, ISO 8601; "" if unknown. */
void trend_start(const etlheap_trend_run *run, char out[ETLHEAP_UNITS_SIZE]);

/* Appends "drift" or "step in 4": the pattern, and the number of the run in which it changes. */
void trend_add_pattern(const etlheap_trend_curve *curve, etlheap_text *text);

/* What to show for the slope of a drift that is less than one per run, and so 0 as a whole number;
 * NULL: the slope itself. */
const char *trend_slope_below_one(const etlheap_trend_curve *curve);

/* Caveats about the numbers: appends a sentence if hint `index` applies, and sets its name. Indices
 * are from 0 to below TREND_HINTS. */
#define TREND_HINTS 3u
bool trend_hint(const etlheap_trend_answer *answer, u32 index, etl_hint_fn *say, etlheap_text *text,
                const char **name);

#endif
