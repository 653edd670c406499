/*
 * more_rows.c - says which rows a list leaves out, and why.
 *
 * In: a table, and which of its rows are listed. Out: sentences: rows behind the last one that is
 * listed, rows with nothing in the sort measure, or with skipped rows, which ones are listed.
 * Invariant: rows of a merged row count one by one, and amounts of kinds are never added.
 */
#include "more_rows.h"

#include "text_parts.h"

#include <inttypes.h>

/* Are all rows of kinds without sizes? */
static bool are_counted(const etlheap_table *table)
{
    bool are = true;
    for (u32 i = 0; i < table->row_count && are; i++)
        are = etlheap_kinds_are_counted(1u << table->rows[i].kind);
    return are;
}

/* What the amount of rows that are not listed is given in: the sort measure if it adds up. */
static etlheap_measure amount_of(const etlheap_table *table, etlheap_measure sort)
{
    if (etlheap_measure_style_of(sort).adds_up)
        return sort;
    if (table->measures >> ETLHEAP_MEASURE_ALLOC_COUNT & 1)
        return ETLHEAP_MEASURE_ALLOC_COUNT;
    if (table->measures >> ETLHEAP_MEASURE_OUTSTANDING_COUNT & 1 && are_counted(table))
        return ETLHEAP_MEASURE_OUTSTANDING_COUNT;
    return table->measures >> ETLHEAP_MEASURE_OUTSTANDING_SIZE & 1
               ? ETLHEAP_MEASURE_OUTSTANDING_SIZE
               : ETLHEAP_MEASURE_COUNT;
}

etlheap_more_rows etlheap_more_rows_of(const etlheap_table *table, const etlheap_layout *layout,
                                       const bool *listed)
{
    etlheap_more_rows more = { .measure = amount_of(table, layout->sort),
                               .sort = layout->sort,
                               .rows_max = layout->rows_max,
                               .rows_skip = layout->rows_skip,
                               .of_each_kind = layout->rows_of_each_kind,
                               .noun = "row" };
    more.without_amounts =
        etlheap_rows_share_blocks(table) && !etlheap_measure_adds_up(table, more.measure);
    for (u32 i = 0; i < table->row_count; i++) {
        const etlheap_row *const row = &table->rows[i];
        const u32 rows = (u32)etl_max_u64(row->merged_rows, 1);
        u32 empty =
            row->merged_rows > 0 ? row->merged_empty_rows : row->measures[layout->sort] == 0;
        more.listed += listed[i];
        if (listed[i])
            continue;
        empty = more.of_each_kind ? empty : 0;
        more.empty[row->kind] += empty;
        more.later[row->kind] += rows - empty;
        if (rows > empty)
            more.amounts[row->kind] =
                etl_sat_add_i64(more.amounts[row->kind], row->measures[more.measure]);
    }
    return more;
}

static u64 total_of(const u32 *rows)
{
    u64 total = 0;
    for (int kind = 0; kind < ETLHEAP_KIND_COUNT; kind++)
        total += rows[kind];
    return total;
}

static void add_count(etlheap_text *text, u64 count)
{
    char words[ETLHEAP_UNITS_SIZE];
    etlheap_units_count((i64)etl_min_u64(count, INT64_MAX), words);
    etlheap_text_add_string(text, words);
}

/* "12 more rows of heap", then ", 3 of virtualalloc". */
static void add_kind(const etlheap_more_rows *more, etlheap_text *text, const u32 *rows, int kind,
                     bool is_first)
{
    etlheap_text_add_string(text, is_first ? "" : ", ");
    add_count(text, rows[kind]);
    if (is_first)
        etlheap_text_add_format(text, "%s %s%s", rows == more->later ? " more" : "", more->noun,
                                rows[kind] == 1 ? "" : "s");
    etlheap_text_add_format(text, " of %s", etlheap_kind_name((etlheap_kind)kind));
}

static void add_amount(const etlheap_more_rows *more, int kind, etlheap_text *text)
{
    char words[ETLHEAP_UNITS_SIZE];
    etlheap_measure_words(more->measure, more->amounts[kind], words);
    etlheap_text_add_format(text, " with %s ", words);
    const bool is_count = more->measure == ETLHEAP_MEASURE_OUTSTANDING_COUNT;
    if (more->measure == ETLHEAP_MEASURE_OUTSTANDING_SIZE ||
        (is_count && etlheap_kinds_are_counted(1u << kind)))
        etlheap_text_add_string(text, "outstanding");
    else
        etlheap_text_add_format(text, "in %s", etlheap_measure_title(more->measure));
}

static u64 all_of(const etlheap_more_rows *more)
{
    return more->listed + total_of(more->later) + total_of(more->empty);
}

bool etlheap_more_rows_follow(const etlheap_more_rows *more)
{
    return more->rows_skip == 0 || all_of(more) > (u64)more->rows_skip + more->listed;
}

/* "Rows 26 to 50 of 5,310 are listed" */
static bool add_listed(const etlheap_more_rows *more, etlheap_text *text)
{
    const u64 total = all_of(more);
    if (more->listed == 0) {
        etlheap_text_add_format(text, "No %s is listed, because there are only ", more->noun);
        add_count(text, total);
        return true;
    }
    etlheap_text_add_format(text, "%c%s%s ", more->noun[0] - 'a' + 'A', more->noun + 1,
                            more->listed == 1 ? "" : "s");
    add_count(text, (u64)more->rows_skip + 1);
    if (more->listed > 1) {
        etlheap_text_add_string(text, " to ");
        add_count(text, (u64)more->rows_skip + more->listed);
    }
    etlheap_text_add_string(text, " of ");
    add_count(text, total);
    etlheap_text_add_string(text, more->listed == 1 ? " is listed" : " are listed");
    return true;
}

bool etlheap_more_rows_later(const etlheap_more_rows *more, etlheap_text *text)
{
    bool is_first = true;
    if (more->rows_skip > 0)
        return add_listed(more, text);
    if (total_of(more->later) == 0)
        return false;
    for (int kind = 0; kind < ETLHEAP_KIND_COUNT; kind++) {
        if (more->later[kind] == 0)
            continue;
        add_kind(more, text, more->later, kind, is_first);
        if (!more->without_amounts)
            add_amount(more, kind, text);
        is_first = false;
    }
    etlheap_text_add_string(text, ": only the first ");
    if (more->rows_max == 1)
        etlheap_text_add_format(text, "one%s is listed", more->of_each_kind ? " of each kind" : "");
    else
        etlheap_text_add_format(text, "%" PRIu32 "%s are listed", more->rows_max,
                                more->of_each_kind ? " of each kind" : "");
    return true;
}

bool etlheap_more_rows_empty(const etlheap_more_rows *more, etlheap_text *text)
{
    bool is_first = true;
    const u64 total = total_of(more->empty);
    if (total == 0)
        return false;
    for (int kind = 0; kind < ETLHEAP_KIND_COUNT; kind++) {
        if (more->empty[kind] == 0)
            continue;
        add_kind(more, text, more->empty, kind, is_first);
        is_first = false;
    }
    etlheap_text_add_string(text, total == 1 ? " has " : " have ");
    if (more->sort == ETLHEAP_MEASURE_OUTSTANDING_SIZE)
        etlheap_text_add_string(text, "nothing outstanding");
    else
        etlheap_text_add_format(text, "0 in %s", etlheap_measure_title(more->sort));
    etlheap_text_add_string(text, total == 1 ? " and is not listed" : " and are not listed");
    return true;
}

void etlheap_more_add(etlheap_text *text, u64 count, u64 listed, const char *noun)
{
    add_count(text, count);
    etlheap_text_add_format(text, " more %s%s: only the first ", noun, count == 1 ? "" : "s");
    if (listed == 1)
        etlheap_text_add_string(text, "one is listed");
    else {
        add_count(text, listed);
        etlheap_text_add_string(text, " are listed");
    }
}
