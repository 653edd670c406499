/*
 * trend_parts.c - the names of patterns and the hints that all writers of trends share.
 */
#include "diff_parts.h"
#include "layout_read.h"
#include "trend_parts.h"

#include <inttypes.h>

#define NAMES_MAX 8 /* modules named in a hint */

void trend_start(const etlheap_trend_run *run, char out[ETLHEAP_UNITS_SIZE])
{
    const etlheap_trace_info *const trace = etlheap_result_trace(run->result);
    out[0] = '\0';
    if (trace->start_time_filetime > 0)
        etlheap_units_start(trace, out);
}

const char *trend_slope_below_one(const etlheap_trend_curve *curve)
{
    if (curve->pattern != ETLHEAP_TREND_DRIFT || curve->slope != 0)
        return NULL;
    return curve->change > 0 ? "<1" : ">-1";
}

void trend_add_pattern(const etlheap_trend_curve *curve, etlheap_text *text)
{
    etlheap_text_add_string(text,
                            etlheap_trend_pattern_word((etlheap_trend_pattern)curve->pattern));
    if (curve->turn_run != ETLHEAP_NO_INDEX)
        etlheap_text_add_format(text, " in %" PRIu32, curve->turn_run + 1);
}

/* By more than a tenth. */
static bool durations_differ(const etlheap_trend_answer *answer, etlheap_text *text)
{
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

static bool builds_differ(const etlheap_trend *trend, etl_hint_fn *say, etlheap_text *text)
{
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

bool trend_hint(const etlheap_trend_answer *answer, u32 index, etl_hint_fn *say, etlheap_text *text,
                const char **name)
{
    static const char *const names[TREND_HINTS] = { "durations_differ", "builds_differ",
                                                    "names_merged" };
    assert(index < TREND_HINTS);
    etlheap_text_clear(text);
    *name = names[index];
    if (index == 2) {
        if (answer->trend->merged_count > 0)
            etlheap_merged_names(answer->trend->merged_count, text);
        return answer->trend->merged_count > 0;
    }
    return index == 0 ? durations_differ(answer, text) : builds_differ(answer->trend, say, text);
}
