/*
 * diff_parts.c - names, columns and hints that all writers of diffs share.
 *
 * In: the answer to a diff, from two recordings or two logs of UMDH. Out: keys and titles of
 * measures for each side ("base_size", "Base Size"), the measures that both sides have, and hints
 * about what limits the comparison.
 *
 * A hint is a row of the table `hints`: its name, and a function that appends the sentence if the
 * hint applies. Invariant: names of hints and keys are part of the JSON document, so they stay as
 * they are; new hints are added as rows.
 */
#include "diff_parts.h"
#include "field_units.h"

#include "formats/io/units.h"
#include "layout_read.h"
#include "text_parts.h"

#include <inttypes.h>
#include <stdio.h>

#define NAMES_MAX 8 /* modules named in a hint */

typedef bool hint_fn(const etlheap_diff_answer *answer, etl_hint_fn *say, etlheap_text *text);

static bool durations_differ(const etlheap_diff_answer *answer, etl_hint_fn *say,
                             etlheap_text *text);
static bool some_not_freed(const etlheap_diff_answer *answer, etl_hint_fn *say, etlheap_text *text);
static bool builds_differ(const etlheap_diff_answer *answer, etl_hint_fn *say, etlheap_text *text);
static bool processes_differ(const etlheap_diff_answer *answer, etl_hint_fn *say,
                             etlheap_text *text);
static bool lines_skipped(const etlheap_diff_answer *answer, etl_hint_fn *say, etlheap_text *text);

static bool nothing_matches(const etlheap_diff_answer *answer, etl_hint_fn *say, etlheap_text *text)
{
    (void)say;
    if (answer->diff->matched_count > 0 || answer->base.table->row_count == 0 ||
        answer->now.table->row_count == 0)
        return false;
    etlheap_text_add_string(text,
                            "the two sides have nothing in common; are they of the same program?");
    return true;
}

void etlheap_merged_names(u32 count, etlheap_text *text)
{
    etlheap_text_add_format(text,
                            "%" PRIu32 " row%s up functions whose names differ only in what "
                            "changes with every build, such as the number of a lambda",
                            count, count == 1 ? " adds" : "s add");
}

static bool names_merged(const etlheap_diff_answer *answer, etl_hint_fn *say, etlheap_text *text)
{
    (void)say;
    if (answer->diff->merged_count == 0)
        return false;
    etlheap_merged_names(answer->diff->merged_count, text);
    return true;
}

static bool is_shorter(const etlheap_diff_side *side)
{
    const etlheap_time_range window = { side->table->from_ns, side->table->to_ns };
    const etlheap_time_range part =
        etlheap_recorded_part(etlheap_result_trace(side->result), 0, window);
    return etlheap_recorded_lacks(part, window);
}

/* Amounts per second count only what was recorded of the windows. */
static bool recorded_shorter(const etlheap_diff_answer *answer, etl_hint_fn *say,
                             etlheap_text *text)
{
    const etlheap_diff *const diff = answer->diff;
    char base[ETLHEAP_UNITS_SIZE], now[ETLHEAP_UNITS_SIZE];
    (void)say;
    if (answer->base.log || !diff->per_second ||
        (!is_shorter(&answer->base) && !is_shorter(&answer->now)))
        return false;
    etlheap_units_duration(diff->base_ns, base);
    etlheap_units_duration(diff->new_ns, now);
    etlheap_text_add_format(text,
                            "amounts per second count only the recorded parts of the windows, %s "
                            "and %s",
                            base, now);
    return true;
}

static bool rows_share_blocks(const etlheap_diff_answer *answer, etl_hint_fn *say,
                              etlheap_text *text)
{
    (void)say;
    if (!etlheap_rows_share_blocks(&answer->diff->table))
        return false;
    etlheap_text_add_string(text, etlheap_shared_hint);
    return true;
}

static const struct {
    const char *name;
    hint_fn *fill;
} hints[] = {
    { "durations_differ", durations_differ },   { "recorded_shorter", recorded_shorter },
    { "some_not_freed", some_not_freed },       { "builds_differ", builds_differ },
    { "nothing_matches", nothing_matches },     { "names_merged", names_merged },
    { "processes_differ", processes_differ },   { "lines_skipped", lines_skipped },
    { "rows_share_blocks", rows_share_blocks },
};

static const struct {
    const char *word, *title;
} columns[ETLHEAP_DIFF_COLUMN_COUNT] = {
#define COLUMN_ROW(name, word, title) { word, title },
    ETLHEAP_DIFF_SIDES(COLUMN_ROW)
#undef COLUMN_ROW
};

void etlheap_diff_key(etlheap_diff_column column, etlheap_measure measure, bool is_rate,
                      char out[ETLHEAP_DIFF_NAME_SIZE])
{
    snprintf(out, ETLHEAP_DIFF_NAME_SIZE, "%s_%s%s", columns[column].word,
             etlheap_measure_word(measure), is_rate ? "_per_1000s" : "");
}

static_assert(ETLHEAP_DIFF_NAME_SIZE >= ETLHEAP_TITLE_SIZE, "a title with its unit fits");

void etlheap_diff_title(etlheap_diff_column column, etlheap_measure measure, bool is_rate,
                        char out[ETLHEAP_DIFF_NAME_SIZE])
{
    char title[ETLHEAP_TITLE_SIZE];
    snprintf(title, sizeof title, "%s %s%s", columns[column].title, etlheap_measure_title(measure),
             is_rate ? " per 1000 s" : "");
    etlheap_title_with_unit(title, etlheap_field_unit(etlheap_measure_field(measure)), out);
}

etlheap_field etlheap_diff_field(const etlheap_diff_answer *answer, etlheap_key key)
{
    return answer->base.log && key == ETLHEAP_KEY_TYPE_NAME ? ETLHEAP_FIELD_BACKTRACE
                                                            : etlheap_key_field(key);
}

u32 etlheap_diff_measures(const etlheap_diff *diff, etlheap_measure out[ETLHEAP_MEASURES_COUNT])
{
    u32 count = 0;
    for (int m = 0; m < ETLHEAP_MEASURES_COUNT; m++) {
        if ((diff->table.measures >> m & 1) != 0)
            out[count++] = (etlheap_measure)m;
    }
    return count;
}

const etlheap_measure etlheap_diff_lifetime_measures[ETLHEAP_DIFF_LIFETIME_MEASURES] = {
    ETLHEAP_MEASURE_LIFETIME_MEDIAN, ETLHEAP_MEASURE_LIFETIME_MEAN,
    ETLHEAP_MEASURE_LIFETIME_P90,    ETLHEAP_MEASURE_LIFETIME_P99,
    ETLHEAP_MEASURE_FREED_COUNT,     ETLHEAP_MEASURE_OUTSTANDING_COUNT,
};

const etlheap_measure *const etlheap_diff_lifetime_counts =
    &etlheap_diff_lifetime_measures[ETLHEAP_DIFF_LIFETIME_MEASURES - ETLHEAP_DIFF_LIFETIME_COUNTS];

void etlheap_diff_words(etlheap_measure measure, i64 value, bool is_change,
                        char out[ETLHEAP_UNITS_SIZE])
{
    char words[ETLHEAP_UNITS_SIZE];
    etlheap_measure_words(measure, value, words);
    if (value == ETLHEAP_NOT_KNOWN)
        snprintf(out, ETLHEAP_UNITS_SIZE, "-");
    else
        snprintf(out, ETLHEAP_UNITS_SIZE, "%s%.*s", is_change && value > 0 ? "+" : "",
                 (int)ETLHEAP_UNITS_SIZE - 2, words);
}

u32 etlheap_diff_hint_count(void)
{
    return (u32)ETL_COUNT_OF(hints);
}

bool etlheap_diff_hint(const etlheap_diff_answer *answer, u32 index, etl_hint_fn *say,
                       etlheap_text *text, const char **name)
{
    assert(index < ETL_COUNT_OF(hints));
    etlheap_text_clear(text);
    *name = hints[index].name;
    return hints[index].fill(answer, say, text);
}

/* The windows of the two sides differ in length by more than a tenth. */
static bool durations_differ(const etlheap_diff_answer *answer, etl_hint_fn *say,
                             etlheap_text *text)
{
    const i64 base = answer->diff->base_ns, now = answer->diff->new_ns;
    const i64 shorter = base < now ? base : now, longer = base < now ? now : base;
    char base_text[ETLHEAP_UNITS_SIZE];
    char new_text[ETLHEAP_UNITS_SIZE];
    if (answer->base.log || answer->diff->per_second || longer - shorter <= shorter / 10)
        return false;
    etlheap_units_duration(base, base_text);
    etlheap_units_duration(now, new_text);
    etlheap_text_add_string(text, "the windows last ");
    etlheap_text_add_string(text, base_text);
    etlheap_text_add_string(text, " and ");
    etlheap_text_add_string(text, new_text);
    if (answer->diff->has_lifetimes) {
        etlheap_text_add_string(text, ", and only the longer one can contain longer lifetimes");
        etlheap_text_add_string(text, etlheap_hint_words(say, ETL_HINT_EQUAL_WINDOWS));
        return true;
    }
    etlheap_text_add_string(text, ", and memory that grows steadily is larger in the longer one");
    etlheap_text_add_string(text, etlheap_hint_words(say, ETL_HINT_PER_SECOND));
    return true;
}

/* How many there are is in the totals, by kind. */
static bool some_not_freed(const etlheap_diff_answer *answer, etl_hint_fn *say, etlheap_text *text)
{
    bool all_freed = true;
    (void)say;
    for (u32 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++) {
        const etlheap_change *const change = &answer->diff->totals[kind];
        all_freed &= change->base[ETLHEAP_MEASURE_OUTSTANDING_COUNT] == 0 &&
                     change->now[ETLHEAP_MEASURE_OUTSTANDING_COUNT] == 0;
    }
    if (!answer->diff->has_lifetimes || all_freed)
        return false;
    etlheap_text_add_string(text, "lifetimes are those of memory freed in the windows; what is "
                                  "still outstanding has none yet, and may live longest");
    return true;
}

static bool builds_differ(const etlheap_diff_answer *answer, etl_hint_fn *say, etlheap_text *text)
{
    const etlheap_diff *const diff = answer->diff;
    if (diff->rebuilt_count == 0)
        return false;
    etlheap_text_add_string(text, "the two sides have different builds of these modules, and "
                                  "frames without names do not match across builds");
    etlheap_text_add_string(text, etlheap_hint_words(say, ETL_HINT_SYMBOL_PATH));
    etlheap_text_add_string(text, ": ");
    for (u32 i = 0; i < diff->rebuilt_count && i < NAMES_MAX; i++) {
        etlheap_text_add_string(text, i > 0 ? ", " : "");
        etlheap_text_add_string(text, diff->rebuilt[i]);
    }
    if (diff->rebuilt_count > NAMES_MAX)
        etlheap_text_add_format(text, " and %" PRIu32 " more", diff->rebuilt_count - NAMES_MAX);
    return true;
}

static bool processes_differ(const etlheap_diff_answer *answer, etl_hint_fn *say,
                             etlheap_text *text)
{
    (void)say;
    if (!answer->base.log || etlheap_umdh_same_process(answer->base.log, answer->now.log))
        return false;
    etlheap_text_add_string(text, "the logs are of different processes: backtraces match by module "
                                  "and offset, which needs the same builds");
    return true;
}

/* Names only the first log that has such lines. */
static bool lines_skipped(const etlheap_diff_answer *answer, etl_hint_fn *say, etlheap_text *text)
{
    (void)say;
    const etlheap_diff_side *const sides[] = { &answer->base, &answer->now };
    for (size_t i = 0; answer->base.log && i < ETL_COUNT_OF(sides); i++) {
        const etlheap_umdh_info *const info = etlheap_umdh_info_of(sides[i]->log);
        if (info->skipped_lines == 0)
            continue;
        etlheap_text_add_string(text, sides[i]->name);
        etlheap_text_add_format(text,
                                " has %" PRIu32 " lines of unknown form, which were "
                                "skipped; the first is line %" PRIu32,
                                info->skipped_lines, info->skipped_first);
        return true;
    }
    return false;
}
