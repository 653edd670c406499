/*
 * Goal: the table of questions is complete and does not contradict itself, so that the event
 * log can be planned from it: nothing that the program offers lacks a row, and the log has no
 * lane or column that no row wants.
 * Method: rules over all rows; the program's own tables of options, exporters and grouping keys
 * say what there must be rows for.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "cli/options/options.h"
#include "engine/log/ehs_columns.h"
#include "engine/query/questions.h"
#include "formats/exporters.h"

#define NAME_SIZE 80

/* Every command that has options. One without a bit here fails a test below. */
static const struct {
    u32 bit;
    const char *name;
    bool reads_log; /* false: it lists records, or counts them */
} commands[] = {
    { CLI_REPORT, "report", true },      { CLI_INFO, "info", false },
    { CLI_DUMP, "dump", false },         { CLI_SYMBOLS, "symbols", true },
    { CLI_STORE, "store", true },        { CLI_WINDOWS, "windows", true },
    { CLI_CHECK, "check", true },        { CLI_ALLOCATIONS, "allocations", true },
    { CLI_DIFF, "diff", true },          { CLI_EXPORT, "export", true },
    { CLI_TREND, "trend", true },        { CLI_MERGE, "merge", true },
    { CLI_SELFTEST, "selftest", false },
};

/* Options that name stacks, choose among finished rows or steer the run. */
static const char *const neutral[] = {
    "--accept",
    "--all",
    "--allow-duplicates",
    "--allow-empty",
    "--cull-frame",
    "--cull-list",
    "--frames",
    "--help",
    "--in-order",
    "--jobs",
    "--json",
    "--junit",
    "--markdown",
    "--max-growth",
    "--max-growth-count",
    "--max-outstanding",
    "--max-outstanding-count",
    "--memory",
    "--no-cull",
    "--custom-heap",
    "--map-unit",
    "--mark-event",
    "--no-mmap",
    "--no-symbols",
    "--offline",
    "--out-dir",
    "--output",
    "--per",
    "--per-second",
    "--progress",
    "--sarif",
    "--sarif-category",
    "--sarif-results",
    "--source-root",
    "--stack-tags",
    "--strict",
    "--suppressions",
    "--symbols",
    "--symbols-loose",
    "--symbol-login",
    "--download-limit",
    "--download-time",
    "--private-redirects",
    "--titles",
    "--csv-safe",
    "--unpack-limit",
    "--together",
    "--top",
    "--update-baseline",
    "--write-demo",
};

/* Options whose value decides. Values of most of them are gone through below. */
static const char *const by_value[] = { "--format", "--group-by", "--histogram", "--metric",
                                        "--sort" };

static bool is_in(const char *name, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(list[i], name) == 0)
            return true;
    }
    return false;
}

/* Is there a question of this name, or one that goes on with a word? */
static bool has_question(const char *name)
{
    const size_t size = strlen(name);
    for (u32 i = 0; i < question_count(); i++) {
        const char *const at = question_at(i)->name;
        if (strncmp(at, name, size) == 0 && (at[size] == '\0' || at[size] == ' '))
            return true;
    }
    return false;
}

static bool has_refinement(const char *name)
{
    const size_t size = strlen(name);
    for (u32 i = 0; i < question_refinement_count(); i++) {
        const char *const at = question_refinement_at(i)->name;
        if (strncmp(at, name, size) == 0 && (at[size] == '\0' || at[size] == ' '))
            return true;
    }
    return false;
}

static bool has_existing(const char *name)
{
    const question *const row = question_named(name);
    return row != NULL && !row->is_planned;
}

static void names_ascend(void **state)
{
    (void)state;
    for (u32 i = 1; i < question_count(); i++)
        assert_true(strcmp(question_at(i - 1)->name, question_at(i)->name) < 0);
    for (u32 i = 1; i < question_refinement_count(); i++)
        assert_true(strcmp(question_refinement_at(i - 1)->name, question_refinement_at(i)->name) <
                    0);
}

static void every_question_can_be_planned(void **state)
{
    (void)state;
    const u32 least = LOG_COLUMN_BIT(ORIGIN) | LOG_COLUMN_BIT(END);
    for (u32 i = 0; i < question_count(); i++) {
        const question *const row = question_at(i);
        assert_int_not_equal(row->lanes, 0);
        assert_int_equal(row->lanes & ~LOG_LANES_ALL, 0);
        assert_int_equal(row->columns & least, least);
        assert_int_equal(row->columns & ~LOG_COLUMNS_ALL, 0);
        assert_in_range(row->passes, 1, 2);
    }
}

static void what_is_live_takes_one_pass(void **state)
{
    (void)state;
    for (u32 i = 0; i < question_count(); i++) {
        const question *const row = question_at(i);
        assert_true(!row->is_live || row->passes == 1);
    }
}

/* A second pass needs to know at which row the first one found something. */
static void second_pass_finds_its_rows(void **state)
{
    (void)state;
    const u32 finds = LOG_COLUMN_BIT(TICKS) | LOG_COLUMN_BIT(BACK);
    for (u32 i = 0; i < question_count(); i++) {
        const question *const row = question_at(i);
        assert_true(row->passes == 1 || (row->columns & finds) != 0);
    }
}

/* How long a block lived is its end less its begin. */
static void begin_comes_with_end(void **state)
{
    (void)state;
    for (u32 i = 0; i < question_count(); i++) {
        const u32 columns = question_at(i)->columns;
        assert_true((columns & LOG_COLUMN_BIT(BEGIN_TICKS)) == 0 ||
                    (columns & LOG_COLUMN_BIT(TICKS)) != 0);
    }
}

/* Stores hold everything, so only what others ask for tells whether a column is needed. */
static u32 asked_for(bool lanes)
{
    u32 mask = 0;
    for (u32 i = 0; i < question_count(); i++) {
        const question *const row = question_at(i);
        if (strcmp(row->name, "store") != 0)
            mask |= lanes ? row->lanes : row->columns;
    }
    for (u32 i = 0; !lanes && i < question_refinement_count(); i++)
        mask |= question_refinement_at(i)->columns;
    return mask;
}

static void every_lane_and_column_is_wanted(void **state)
{
    (void)state;
    assert_int_equal(asked_for(true), LOG_LANES_ALL);
    assert_int_equal(asked_for(false), LOG_COLUMNS_ALL);
    assert_int_equal(question_named("store")->lanes, LOG_LANES_ALL);
    assert_int_equal(question_named("store")->columns, LOG_COLUMNS_ALL);
}

static void every_lane_and_column_is_explained(void **state)
{
    (void)state;
    for (u32 i = 0; i < LOG_LANE_COUNT; i++)
        assert_true(strlen(log_lane_at(i)->what) > strlen(log_lane_at(i)->name));
    for (u32 i = 0; i < LOG_COLUMN_COUNT; i++) {
        assert_true(strlen(log_column_at(i)->why) > strlen(log_column_at(i)->name));
        assert_int_not_equal(log_column_at(i)->bits, 0);
    }
}

/* Lanes have the same numbers in files. */
static void every_lane_has_its_number_in_stores(void **state)
{
    (void)state;
    static const char *const words[] = {
#define WORD(name, number, word) [number] = (word),
        EHS_LANES(WORD)
#undef WORD
    };
    assert_int_equal(ETL_COUNT_OF(words), LOG_LANE_COUNT);
    for (u32 i = 0; i < LOG_LANE_COUNT; i++)
        assert_string_equal(words[i], log_lane_at(i)->name);
}

/* Where a store keeps the columns of the log. An end leads to the time of its beginning by how
 * many blocks back that was. */
#define PLACE(column, place) [LOG_COLUMN_NUMBER_##column] = EHS_HEAP_##place
static const ehs_column places[LOG_COLUMN_COUNT] = {
    PLACE(ORIGIN, SLOT),        PLACE(END, IS_END),  PLACE(LATER, IS_LATER),
    PLACE(REALLOC, IS_REALLOC), PLACE(HOW, HOW),     PLACE(SIZE, SIZE),
    PLACE(TICKS, TICKS),        PLACE(BACK, BACK),   PLACE(THREAD, THREAD),
    PLACE(ADDRESS, ADDRESS),    PLACE(ACTOR, ACTOR), PLACE(ACTOR_THREAD, ACTOR_THREAD),
    PLACE(BEGIN_TICKS, BACK),
};

static void every_column_has_a_place_in_stores(void **state)
{
    (void)state;
    for (u32 i = 0; i < LOG_COLUMN_COUNT; i++) {
        const ehs_column_info *const info = ehs_column_find(places[i]);
        assert_non_null(info);
        assert_true(info->format.value_bytes * 8u >= log_column_at(i)->bits);
    }
}

/* Word and size: 8 bytes a row, whatever peaks are asked for. */
static void peaks_take_eight_bytes_a_row(void **state)
{
    (void)state;
    assert_int_equal(log_row_bytes(question_named("report --sort peak_size")->columns), 8);
    assert_int_equal(log_row_bytes(question_named("windows --every")->columns), 16);
    assert_int_equal(log_row_bytes(LOG_COLUMNS_ALL), 40);
}

static void every_command_is_known_here(void **state)
{
    (void)state;
    u32 known = 0, used = 0;
    for (size_t i = 0; i < ETL_COUNT_OF(commands); i++)
        known |= commands[i].bit;
    for (u32 i = 0; i < cli_option_count(); i++)
        used |= cli_option_at(i)->commands & ~(CLI_REPEATED | CLI_SAME_STORE | CLI_NEEDS_TIMES);
    assert_int_equal(used, known);
}

static void every_command_that_reads_the_log_has_a_question(void **state)
{
    (void)state;
    for (size_t i = 0; i < ETL_COUNT_OF(commands); i++)
        assert_int_equal(commands[i].reads_log, has_question(commands[i].name));
}

/* The option of one command: a row of its own, a refinement, or neutral. */
static void check_option(const char *command, const char *option)
{
    char name[NAME_SIZE];
    snprintf(name, sizeof name, "%s %s", command, option);
    if (has_question(name) || has_refinement(option) ||
        is_in(option, neutral, ETL_COUNT_OF(neutral)) ||
        is_in(option, by_value, ETL_COUNT_OF(by_value)))
        return;
    fail_msg("questions.c says nothing of %s", name);
}

static void every_option_is_a_question_a_refinement_or_neutral(void **state)
{
    (void)state;
    for (u32 i = 0; i < cli_option_count(); i++) {
        const cli_option *const option = cli_option_at(i);
        for (size_t c = 0; c < ETL_COUNT_OF(commands); c++) {
            if (commands[c].reads_log && (option->commands & commands[c].bit) != 0)
                check_option(commands[c].name, option->name);
        }
    }
}

/* A list that outlives its options would hide the next one of the name. */
static void neutral_options_exist(void **state)
{
    (void)state;
    for (size_t n = 0; n < ETL_COUNT_OF(neutral); n++) {
        bool found = false;
        for (u32 i = 0; i < cli_option_count(); i++)
            found |= strcmp(cli_option_at(i)->name, neutral[n]) == 0;
        if (!found)
            fail_msg("there is no option %s", neutral[n]);
    }
}

static void every_exporter_and_metric_has_a_question(void **state)
{
    (void)state;
    char name[NAME_SIZE];
    for (u32 i = 0; i < etlheap_exporter_count(); i++) {
        snprintf(name, sizeof name, "export --format %s", etlheap_exporter_at(i)->name);
        assert_true(has_existing(name));
    }
    for (u32 i = 0; i < ETLHEAP_METRIC_COUNT; i++) {
        snprintf(name, sizeof name, "export --metric %s", etlheap_metric_word((etlheap_metric)i));
        assert_true(has_existing(name));
    }
}

static void every_key_has_a_refinement(void **state)
{
    (void)state;
    char name[NAME_SIZE];
    for (u32 i = 0; i < ETLHEAP_KEY_COUNT; i++) {
        snprintf(name, sizeof name, "--group-by %s", etlheap_key_word((etlheap_key)i));
        const question_refinement *const row = question_refinement_named(name);
        assert_non_null(row);
        assert_false(row->is_planned);
    }
}

static void every_histogram_has_a_question(void **state)
{
    (void)state;
    char name[NAME_SIZE];
    for (u32 i = 0; i < ETLHEAP_HISTOGRAM_BY_COUNT; i++) {
        snprintf(name, sizeof name, "report --histogram %s",
                 etlheap_histogram_word((etlheap_histogram_by)i));
        assert_true(has_existing(name));
    }
}

static void refinements_add_columns(void **state)
{
    (void)state;
    const question *const sums = question_named("report");
    const question by_thread = question_refined(sums, question_refinement_named("--thread"));
    assert_int_equal(by_thread.columns, sums->columns | LOG_COLUMN_BIT(THREAD));
    assert_int_equal(by_thread.passes, 1);
    assert_true(by_thread.is_live);
}

/* Sums by type are added up as blocks end; peaks by type look ahead. */
static void only_curves_take_a_second_pass_for_fate(void **state)
{
    (void)state;
    const question_refinement *const by_type = question_refinement_named("--type");
    const question sums = question_refined(question_named("report"), by_type);
    const question peaks = question_refined(question_named("report --sort peak_size"), by_type);
    const u32 fate = LOG_COLUMN_BIT(BACK) | LOG_COLUMN_BIT(HOW) | LOG_COLUMN_BIT(TICKS);
    assert_int_equal(sums.passes, 1);
    assert_true(sums.is_live);
    assert_int_equal(peaks.passes, 2);
    assert_false(peaks.is_live);
    assert_int_equal(peaks.columns & fate, fate);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_ascend),
        cmocka_unit_test(every_question_can_be_planned),
        cmocka_unit_test(what_is_live_takes_one_pass),
        cmocka_unit_test(second_pass_finds_its_rows),
        cmocka_unit_test(begin_comes_with_end),
        cmocka_unit_test(every_lane_and_column_is_wanted),
        cmocka_unit_test(every_lane_and_column_is_explained),
        cmocka_unit_test(every_lane_has_its_number_in_stores),
        cmocka_unit_test(every_column_has_a_place_in_stores),
        cmocka_unit_test(peaks_take_eight_bytes_a_row),
        cmocka_unit_test(every_command_is_known_here),
        cmocka_unit_test(every_command_that_reads_the_log_has_a_question),
        cmocka_unit_test(every_option_is_a_question_a_refinement_or_neutral),
        cmocka_unit_test(neutral_options_exist),
        cmocka_unit_test(every_exporter_and_metric_has_a_question),
        cmocka_unit_test(every_key_has_a_refinement),
        cmocka_unit_test(every_histogram_has_a_question),
        cmocka_unit_test(refinements_add_columns),
        cmocka_unit_test(only_curves_take_a_second_pass_for_fate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
