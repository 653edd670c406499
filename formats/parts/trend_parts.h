/* trend_parts.h - shared by the writers of trends. */
#ifndef ETLHEAP_TREND_PARTS_H
#define ETLHEAP_TREND_PARTS_H

#include "formats/io/text_buffer.h"
#include "formats/io/units.h"

/* The start time of the run, ISO 8601; "" if unknown. */
void trend_start(const etlheap_trend_run *run, char out[ETLHEAP_UNITS_SIZE]);

/* X(name, title, is a number): the columns of a curve, for people. */
#define TREND_COLUMNS(X)                                                                           \
    X(PATTERN, "Pattern", false)                                                                   \
    X(SLOPE, "Slope/Run", true)                                                                    \
    X(FIRST, "First", true)                                                                        \
    X(LAST, "Last", true)                                                                          \
    X(CHANGE, "Change", true)   /* from the first run to the last */                               \
    X(SINCE, "Since Run", true) /* the run of a step */                                            \
    X(RUNS, "Runs", false)      /* drawn */

typedef enum trend_column {
#define TREND_COLUMN_ENUM(name, title, is_number) TREND_##name,
    TREND_COLUMNS(TREND_COLUMN_ENUM)
#undef TREND_COLUMN_ENUM
        TREND_COLUMN_COUNT
} trend_column;

/* Replaces the text with the words of a column of the curve with these values. */
void trend_set_cell(const etlheap_trend *trend, const etlheap_trend_curve *curve, const i64 *values,
                    trend_column column, bool ascii, etlheap_text *text);

/* Caveats about the numbers: appends a sentence if hint `index` applies, and sets its name. Indices
 * are from 0 to below TREND_HINTS. */
#define TREND_HINTS 4u
bool trend_hint(const etlheap_trend_answer *answer, u32 index, etl_hint_fn *say, etlheap_text *text,
                const char **name);

#endif
