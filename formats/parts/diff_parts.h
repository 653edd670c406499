/* diff_parts.h - shared by the writers of diffs. */
#ifndef ETLHEAP_DIFF_PARTS_H
#define ETLHEAP_DIFF_PARTS_H

#include "formats/io/text_buffer.h"
#include "formats/io/units.h"

/* X(enumerator, word before a key, word before a title): the columns that a measure has. */
#define ETLHEAP_DIFF_SIDES(X)                                                                      \
    X(BASE, "base", "Base")                                                                        \
    X(NEW, "new", "New")                                                                           \
    X(DELTA, "delta", "Delta") /* new less base */

typedef enum etlheap_diff_column {
#define ETLHEAP_DIFF_COLUMN_ENUM(name, word, title) ETLHEAP_DIFF_##name,
    ETLHEAP_DIFF_SIDES(ETLHEAP_DIFF_COLUMN_ENUM)
#undef ETLHEAP_DIFF_COLUMN_ENUM
        ETLHEAP_DIFF_COLUMN_COUNT
} etlheap_diff_column;

/* Make "base_size" and "Base Size", or for amounts per 1000 seconds "base_size_per_1000s" and "Base
 * Size per 1000 s". */
#define ETLHEAP_DIFF_NAME_SIZE 96
void etlheap_diff_key(etlheap_diff_column column, etlheap_measure measure, bool is_rate,
                      char out[ETLHEAP_DIFF_NAME_SIZE]);
void etlheap_diff_title(etlheap_diff_column column, etlheap_measure measure, bool is_rate,
                        char out[ETLHEAP_DIFF_NAME_SIZE]);

/* The field of a key of the diff. In a diff of two UMDH logs, names of types are those of
 * backtraces. */
etlheap_field etlheap_diff_field(const etlheap_diff_answer *answer, etlheap_key key);

/* Lists the measures that both sides have, in the order of ETLHEAP_MEASURES. Returns their
 * number. */
u32 etlheap_diff_measures(const etlheap_diff *diff, etlheap_measure out[ETLHEAP_MEASURES_COUNT]);

/* Writes an amount, with a sign if it is a change, and a dash for an unknown lifetime. Not for
 * amounts per second. */
void etlheap_diff_words(etlheap_measure measure, i64 value, bool is_change,
                        char out[ETLHEAP_UNITS_SIZE]);

/* The measures of each kind in a comparison of lifetimes: lifetimes, then counts of freed and of
 * outstanding blocks. Rows have the same counts. */
#define ETLHEAP_DIFF_LIFETIME_MEASURES 6
#define ETLHEAP_DIFF_LIFETIME_COUNTS   2
extern const etlheap_measure etlheap_diff_lifetime_measures[ETLHEAP_DIFF_LIFETIME_MEASURES];
extern const etlheap_measure *const etlheap_diff_lifetime_counts;

/* Appends the caveat that rows add up names of which only the unstable part differs; count > 0. */
void etlheap_merged_names(u32 count, etlheap_text *text);

/* Caveats about the numbers: appends a sentence if hint `index` applies, and sets its name. Indices
 * are from 0 to below etlheap_diff_hint_count. */
u32 etlheap_diff_hint_count(void);
bool etlheap_diff_hint(const etlheap_diff_answer *answer, u32 index, etl_hint_fn *say,
                       etlheap_text *text, const char **name);

#endif
