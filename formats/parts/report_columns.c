/*
 * report_columns.c - the lists of columns of reports; see report_columns.h.
 *
 * In: a table, and what a layout asks for. Out: the columns to show, and values as words. Rows of
 * kinds without sizes have counts in place of sizes. Invariant: columns that the layout names are
 * shown in any case.
 */
#include "report_columns.h"

#include "churn_parts.h"

/* Transient memory, of which nothing is outstanding. */
static const u8 transient[] = { ETLHEAP_MEASURE_SIZE, ETLHEAP_MEASURE_COUNT,
                                ETLHEAP_MEASURE_PEAK_SIZE, ETLHEAP_MEASURE_LIFETIME_MEDIAN,
                                ETLHEAP_MEASURE_LIFETIME_P99 };

/* Heaps, as debuggers list them. */
static const u8 heaps[] = {
    ETLHEAP_MEASURE_OUTSTANDING_SIZE, ETLHEAP_MEASURE_OUTSTANDING_COUNT,
    ETLHEAP_MEASURE_IMPACTING_SIZE,   ETLHEAP_MEASURE_COMMITTED_SIZE,
    ETLHEAP_MEASURE_RESERVED_SIZE,    ETLHEAP_MEASURE_OVERHEAD_SIZE,
};
static const u8 growth[] = {
    ETLHEAP_MEASURE_OUTSTANDING_SIZE, ETLHEAP_MEASURE_GROWTH_RATE, ETLHEAP_MEASURE_STEADINESS,
    ETLHEAP_MEASURE_IMPACTING_SIZE,   ETLHEAP_MEASURE_PEAK_SIZE,   ETLHEAP_MEASURE_COUNT,
};

/* Pairs of allocator and freer. */
static const u8 pairs[] = { ETLHEAP_MEASURE_COUNT, ETLHEAP_MEASURE_SIZE,
                            ETLHEAP_MEASURE_FREED_BY_OTHER, ETLHEAP_MEASURE_OUTSTANDING_SIZE };
static const u8 churn[] = {
    ETLHEAP_MEASURE_ALLOC_COUNT,
    ETLHEAP_MEASURE_ALLOC_RATE,
    ETLHEAP_MEASURE_ALLOC_BYTES_RATE,
    ETLHEAP_MEASURE_TEMPORARY_COUNT,
    REPORT_COLUMN_SHARE,
    ETLHEAP_MEASURE_TEMPORARY_10_COUNT,
    ETLHEAP_MEASURE_TEMPORARY_1MS_COUNT,
};
static const u8 functions[] = { ETLHEAP_MEASURE_OUTSTANDING_SIZE,
                                ETLHEAP_MEASURE_OUTSTANDING_COUNT,
                                ETLHEAP_MEASURE_SIZE,
                                ETLHEAP_MEASURE_EXCLUSIVE_SIZE,
                                ETLHEAP_MEASURE_COUNT,
                                ETLHEAP_MEASURE_EXCLUSIVE_COUNT };
static const u8 count_alone[] = { ETLHEAP_MEASURE_COUNT };

const u8 report_shown[REPORT_SHOWN] = {
    ETLHEAP_MEASURE_OUTSTANDING_SIZE,
    ETLHEAP_MEASURE_OUTSTANDING_COUNT,
    ETLHEAP_MEASURE_IMPACTING_SIZE,
    ETLHEAP_MEASURE_SIZE,
    ETLHEAP_MEASURE_COUNT,
};

/* The first row whose measure the table has says what was asked. */
static const struct {
    etlheap_measure measure;
    const u8 *list;
    size_t count;
} questions[] = {
    { ETLHEAP_MEASURE_FREED_BY_OTHER, pairs, ETL_COUNT_OF(pairs) },
    { ETLHEAP_MEASURE_TEMPORARY_COUNT, churn, ETL_COUNT_OF(churn) },
    { ETLHEAP_MEASURE_GROWTH_RATE, growth, ETL_COUNT_OF(growth) },
    { ETLHEAP_MEASURE_LIFETIME_MEDIAN, transient, ETL_COUNT_OF(transient) },
    { ETLHEAP_MEASURE_COMMITTED_SIZE, heaps, ETL_COUNT_OF(heaps) },
    { ETLHEAP_MEASURE_EXCLUSIVE_COUNT, functions, ETL_COUNT_OF(functions) },
};

static bool has_column(const report_columns *columns, u8 column)
{
    return memchr(columns->at, column, columns->count) != NULL;
}

static void add_column(report_columns *columns, u8 column)
{
    if (!has_column(columns, column))
        columns->at[columns->count++] = column;
}

/* Changes the columns of a format by those of the layout. */
static report_columns change(const report_columns *own, const etlheap_layout *layout)
{
    report_columns out = { .has_marks = !report_columns_are_chosen(layout) };
    for (u32 i = 0; !report_columns_are_chosen(layout) && i < own->count; i++) {
        const u8 column = own->at[i];
        if (column == REPORT_COLUMN_SHARE || (layout->columns_removed >> column & 1) == 0)
            add_column(&out, column);
    }
    for (u32 i = 0; i < layout->column_count; i++)
        add_column(&out, layout->columns[i]);
    return out;
}

report_columns report_columns_with(const u8 *list, size_t count, const etlheap_layout *layout)
{
    report_columns own = { .count = 0 };
    assert(count < REPORT_COLUMNS_MAX);
    if (!memchr(list, (int)layout->sort, count))
        add_column(&own, (u8)layout->sort);
    for (size_t i = 0; i < count; i++)
        add_column(&own, list[i]);
    return change(&own, layout);
}

report_columns report_columns_all(const etlheap_table *table, const etlheap_layout *layout)
{
    report_columns own = { .count = 0 };
    for (u8 m = 0; m < ETLHEAP_MEASURES_COUNT; m++) {
        if ((report_measures_of(table, layout) >> m & 1) != 0)
            add_column(&own, m);
    }
    return change(&own, layout);
}

#define NO_COLUMN 0xffu

/* The column that stands for one of sizes if rows have none; NO_COLUMN: nothing does. */
static u8 count_for(u8 column)
{
    switch (column) {
    case ETLHEAP_MEASURE_SIZE:
        return ETLHEAP_MEASURE_COUNT;
    case ETLHEAP_MEASURE_OUTSTANDING_SIZE:
        return ETLHEAP_MEASURE_OUTSTANDING_COUNT;
    case ETLHEAP_MEASURE_PEAK_SIZE:
        return ETLHEAP_MEASURE_PEAK_COUNT;
    case ETLHEAP_MEASURE_EXCLUSIVE_SIZE:
        return ETLHEAP_MEASURE_EXCLUSIVE_COUNT;
    case ETLHEAP_MEASURE_GROWTH_RATE:
    case REPORT_COLUMN_SHARE:
        return column;
    default:
        return etlheap_measure_style_of((etlheap_measure)column).is_size ? NO_COLUMN : column;
    }
}

/* The columns of a list, for rows of kinds without sizes. */
static report_columns counted_columns(const u8 *list, size_t count, const etlheap_layout *layout)
{
    u8 counts[REPORT_COLUMNS_MAX];
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        const u8 column = count_for(list[i]);
        if (column != NO_COLUMN && !memchr(counts, column, kept))
            counts[kept++] = column;
    }
    return report_columns_with(counts, kept, layout);
}

static report_columns columns_of_list(const etlheap_table *table, const u8 *list, size_t count,
                                      const etlheap_layout *layout)
{
    bool is_counted = table->row_count > 0;
    for (u32 i = 0; i < table->row_count && is_counted; i++)
        is_counted = etlheap_kinds_are_counted(1u << table->rows[i].kind);
    return is_counted ? counted_columns(list, count, layout)
                      : report_columns_with(list, count, layout);
}

report_columns report_columns_of(const etlheap_table *table, const etlheap_layout *layout)
{
    const etlheap_measure_set measures = report_measures_of(table, layout);
    for (size_t i = 0; i < ETL_COUNT_OF(questions); i++) {
        if (measures >> questions[i].measure & 1)
            return columns_of_list(table, questions[i].list, questions[i].count, layout);
    }
    if (measures == ETLHEAP_MEASURE_BIT(COUNT))
        return columns_of_list(table, count_alone, ETL_COUNT_OF(count_alone), layout);
    return columns_of_list(table, report_shown, REPORT_SHOWN, layout);
}

const char *report_column_title(u8 column)
{
    return column == REPORT_COLUMN_SHARE ? "Share" : etlheap_measure_title((etlheap_measure)column);
}

bool report_column_adds_up(const etlheap_table *table, u8 column)
{
    return column == REPORT_COLUMN_SHARE ? !etlheap_rows_share_blocks(table)
                                         : etlheap_measure_adds_up(table, (etlheap_measure)column);
}

void report_column_words(u8 column, u32 kinds, const i64 *measures, i64 rates_ns,
                         char out[ETLHEAP_UNITS_SIZE])
{
    if (column == REPORT_COLUMN_SHARE) {
        etlheap_churn_share(measures, out);
        return;
    }
    i64 value = measures[column];
    if (column == ETLHEAP_MEASURE_ALLOC_RATE)
        value = etlheap_per_second(measures[ETLHEAP_MEASURE_ALLOC_COUNT], rates_ns);
    else if (column == ETLHEAP_MEASURE_ALLOC_BYTES_RATE)
        value = etlheap_per_second(measures[ETLHEAP_MEASURE_ALLOC_SIZE], rates_ns);
    etlheap_amount_words((etlheap_measure)column, kinds, value, out);
}
