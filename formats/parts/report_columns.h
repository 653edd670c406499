/*
 * report_columns.h - the columns in which formats show the rows of a report.
 *
 * A column is the number of a measure, or REPORT_COLUMN_SHARE. A format chooses columns by a list
 * of these numbers; each question has a list of its own. Every list passes through the layout,
 * which may have other columns, so no format reads the layout's columns itself.
 */
#ifndef ETLHEAP_REPORT_COLUMNS_H
#define ETLHEAP_REPORT_COLUMNS_H

#include "text_parts.h"

/* The share of temporary blocks, which is not a measure. */
#define REPORT_COLUMN_SHARE ETLHEAP_MEASURES_COUNT

#define REPORT_COLUMNS_MAX (ETLHEAP_MEASURES_COUNT + 1u)

/* The measures of totals, and of rows that show outstanding memory. */
#define REPORT_SHOWN 5u
extern const u8 report_shown[REPORT_SHOWN];

typedef struct report_columns {
    u8 at[REPORT_COLUMNS_MAX];
    u32 count;
    bool has_marks; /* rows also say which heap grows most */
} report_columns;

/* The columns of the list, as the layout changes them. If the sort measure is not among them, it
 * comes before them. */
report_columns report_columns_with(const u8 *list, size_t count, const etlheap_layout *layout);

/* All measures of the table, as the layout changes them: for formats that show all columns. */
report_columns report_columns_all(const etlheap_table *table, const etlheap_layout *layout);

/* Does the layout have the columns, in place of the format? */
static inline bool report_columns_are_chosen(const etlheap_layout *layout)
{
    return layout->column_count > 0 && !layout->columns_changed;
}

/* The measures that rows have without the columns that the layout adds, as bits. */
static inline etlheap_measure_set report_measures_of(const etlheap_table *table,
                                                     const etlheap_layout *layout)
{
    return table->measures & ~layout->columns_beside;
}

/* The columns of the question that the table answers: growth, heaps, transient memory, churn and
 * others have different ones. */
report_columns report_columns_of(const etlheap_table *table, const etlheap_layout *layout);

const char *report_column_title(u8 column);
bool report_column_adds_up(const etlheap_table *table, u8 column); /* over its rows */

/* Writes the value of a row or group with these measures, of kinds given as bits, whose rates are
 * per second of rates_ns. Rates of a group are computed from its sums, because those of rows are
 * rounded. */
void report_column_words(u8 column, u32 kinds, const i64 *measures, i64 rates_ns,
                         char out[ETLHEAP_UNITS_SIZE]);

#endif
