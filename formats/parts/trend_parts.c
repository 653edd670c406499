/*
 * trend_parts.c - the cells of curves and the hints that all writers of trends share.
 *
 * In: the answer to a trend. Out: text of cells and hints. A hint is a row of the table `hints`.
 * Invariant: names of hints are part of the JSON document, so they stay as they are.
 */
#include "diff_parts.h"
#include "layout_read.h"
#include "sparkline.h"
#include "text_parts.h"
#include "trend_parts.h"

#include <inttypes.h>

#define NAMES_MAX     8 /* modules named in a hint */
#define CURVE_COLUMNS 24

void trend_start(const etlheap_trend_run *run, char out[ETLHEAP_UNITS_SIZE])
{
    const etlheap_trace_info *const trace = etlheap_result_trace(run->result);
    out[0] = '\0';
    if (trace->start_time_filetime > 0)
        etlheap_units_start(trace, out);
}

/* "drift", or "step in 4" with the run in which it changes. */
static void add_pattern(const etlheap_trend_curve *curve, etlheap_text *text)
{
    etlheap_text_add_string(text,
                            etlheap_trend_pattern_word((etlheap_trend_pattern)curve->pattern));
    if (curve->turn_run != ETLHEAP_NO_INDEX)
        etlheap_text_add_format(text, " in %" PRIu32, curve->turn_run + 1);
}

static void add_amount(etlheap_measure measure, i64 value, etlheap_text *text)
{
    char number[ETLHEAP_UNITS_SIZE];
    etlheap_measure_words(measure, value, number);
    etlheap_text_add_string(text, number);
}

/* The slope of a drift may be less than one per run, and so 0 as a whole number. */
static void add_slope(etlheap_measure measure, const etlheap_trend_curve *curve, etlheap_text *text)
{
    if (curve->pattern == ETLHEAP_TREND_DRIFT && curve->slope == 0) {
        etlheap_text_add_string(text, curve->change > 0 ? "<1" : ">-1");
        return;
    }
    etlheap_text_add_string(text, curve->slope > 0 ? "+" : "");
    add_amount(measure, curve->slope, text);
}

/* From the first run to the last, with its sign. */
static void add_change(const etlheap_trend *trend, const i64 *values, etlheap_text *text)
{
    const i64 change = etlheap_diff_subtract(values[0], values[trend->run_count - 1]);
    etlheap_text_add_string(text, change > 0 ? "+" : "");
    add_amount(trend->measure, change, text);
}

void trend_set_cell(const etlheap_trend *trend, const etlheap_trend_curve *curve, const i64 *values,
                    trend_column column, bool ascii, etlheap_text *text)
{
    const etlheap_sparkline how = { .columns = CURVE_COLUMNS, .ascii = ascii, .from_least = true };
    etlheap_text_clear(text);
    switch (column) {
    case TREND_PATTERN:
        add_pattern(curve, text);
        break;
    case TREND_SLOPE:
        add_slope(trend->measure, curve, text);
        break;
    case TREND_FIRST:
        add_amount(trend->measure, values[0], text);
        break;
    case TREND_LAST:
        add_amount(trend->measure, values[trend->run_count - 1], text);
        break;
    case TREND_CHANGE:
        add_change(trend, values, text);
        break;
    case TREND_SINCE:
        if (curve->turn_run != ETLHEAP_NO_INDEX)
            etlheap_text_add_format(text, "%" PRIu32, curve->turn_run + 1);
        else
            etlheap_text_add_string(text, "\xE2\x80\x93");
        break;
    case TREND_RUNS:
        etlheap_sparkline_add(text, values, trend->run_count, &how);
        break;
    case TREND_COLUMN_COUNT:
        break;
    }
}

/* By more than a tenth. */
static bool durations_differ(const etlheap_trend_answer *answer, etl_hint_fn *say,
                             etlheap_text *text)
{
    (void)say;
    i64 shortest = INT64_MAX, longest = 0;
    char words[2][ETLHEAP_UNITS_SIZE];
    for (u32 i = 0; i < answer->trend->run_count; i++) {
        const etlheap_table *const table = answer->runs[i].table;
        const i64 ns = etl_span_i64(table->from_ns, table->to_ns);
        shortest = ns < shortest ? ns : shortest;
        longest = ns > longest ? ns : longest;
    }
    if (longest - shortest <= shortest / 10)
        return false;
    etlheap_units_duration(shortest, words[0]);
    etlheap_units_duration(longest, words[1]);
    etlheap_text_add_string(text, "the windows last from ");
    etlheap_text_add_string(text, words[0]);
    etlheap_text_add_string(text, " to ");
    etlheap_text_add_string(text, words[1]);
    etlheap_text_add_string(text, ", and memory that grows steadily is larger in longer ones");
    return true;
}

static bool builds_differ(const etlheap_trend_answer *answer, etl_hint_fn *say, etlheap_text *text)
{
    const etlheap_trend *const trend = answer->trend;
    if (trend->rebuilt_count == 0)
        return false;
    etlheap_text_add_string(text, "the runs have different builds of these modules, and frames "
                                  "without names do not match across builds");
    etlheap_text_add_string(text, etlheap_hint_words(say, ETL_HINT_SYMBOL_PATH));
    for (u32 i = 0; i < trend->rebuilt_count && i < NAMES_MAX; i++) {
        etlheap_text_add_string(text, i > 0 ? ", " : ": ");
        etlheap_text_add_string(text, trend->rebuilt[i]);
    }
    if (trend->rebuilt_count > NAMES_MAX)
        etlheap_text_add_format(text, " and %" PRIu32 " more", trend->rebuilt_count - NAMES_MAX);
    return true;
}

static bool names_merged(const etlheap_trend_answer *answer, etl_hint_fn *say, etlheap_text *text)
{
    (void)say;
    if (answer->trend->merged_count > 0)
        etlheap_merged_names(answer->trend->merged_count, text);
    return answer->trend->merged_count > 0;
}

static bool rows_share_blocks(const etlheap_trend_answer *answer, etl_hint_fn *say,
                              etlheap_text *text)
{
    (void)say;
    if (!etlheap_rows_share_blocks(&answer->trend->table))
        return false;
    etlheap_text_add_string(text, etlheap_shared_hint);
    return true;
}

static const struct {
    const char *name;
    bool (*fill)(const etlheap_trend_answer *answer, etl_hint_fn *say, etlheap_text *text);
} hints[TREND_HINTS] = {
    { "durations_differ", durations_differ },
    { "builds_differ", builds_differ },
    { "names_merged", names_merged },
    { "rows_share_blocks", rows_share_blocks },
};

bool trend_hint(const etlheap_trend_answer *answer, u32 index, etl_hint_fn *say, etlheap_text *text,
                const char **name)
{
    assert(index < TREND_HINTS);
    etlheap_text_clear(text);
    *name = hints[index].name;
    return hints[index].fill(answer, say, text);
}
