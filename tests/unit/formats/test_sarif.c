/*
 * Goal: a SARIF log is one that code hosts take: every result has a file and a line that
 * stay from build to build, no two of one rule and file have the same hash, and of more
 * results than a host takes those are listed that say most.
 * Method: gates made by hand, of few subjects and frames; what is listed is compared with
 * what was worked out on paper. What Microsoft's validator says is in oracle_sarif.py.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "tests/support/capture.h"
#include "tests/support/hand_result.h"
#include "formats/check/sarif_choice.h"
#include "formats/check/sarif_place.h"
#include "formats/writers.h"

#define SUBJECTS_MAX 8

/* A budget whose failed subjects have so many stacks each. */
typedef struct made_budget {
    u32 stacks[SUBJECTS_MAX];
    u32 failed_count;
    bool is_unmeasured;
} made_budget;

static sarif_choice choose(const made_budget *made, u32 count, u32 results_max)
{
    etlheap_gate_subject subjects[4][SUBJECTS_MAX] = { { { .pid = 0 } } };
    etlheap_gate_budget budgets[4] = { { .subject_count = 0 } };
    assert_in_range(count, 0, ETL_COUNT_OF(budgets));
    for (u32 b = 0; b < count; b++) {
        for (u32 s = 0; s < made[b].failed_count; s++)
            subjects[b][s].stack_count = made[b].stacks[s];
        budgets[b] = (etlheap_gate_budget){ .outcome = ETLHEAP_OUTCOME_FAIL,
                                            .subjects = subjects[b],
                                            .failed_count = made[b].failed_count,
                                            .is_unmeasured = made[b].is_unmeasured };
    }
    const etlheap_gate gate = { .budgets = budgets, .budget_count = count };
    return sarif_choose(&gate, results_max);
}

static void results_that_fit_are_all_listed(void **state)
{
    static const made_budget made[] = { { { 5, 0, 3 }, 3, false }, { { 0 }, 0, true } };
    (void)state;
    for (u32 max = 10; max < 13; max++) {
        const sarif_choice choice = choose(made, 2, max);
        assert_int_equal(choice.found, 10);
        assert_int_equal(choice.listed, 10);
        assert_int_equal(choice.stacks_max, UINT32_MAX);
        assert_int_equal(choice.subjects_max, UINT32_MAX);
    }
}

static void the_default_is_what_github_shows(void **state)
{
    static const made_budget made[] = { { { 4000, 3000, 10 }, 3, false } };
    (void)state;
    const sarif_choice choice = choose(made, 1, 0);
    assert_int_equal(choice.found, 7010);
    assert_int_equal(choice.stacks_max, 2495);
    assert_int_equal(choice.listed, 5000);
}

static void large_failures_give_way_to_small_ones(void **state)
{
    static const made_budget made[] = { { { 9, 2 }, 2, false }, { { 4 }, 1, false } };
    (void)state;
    const sarif_choice choice = choose(made, 2, 8);
    assert_int_equal(choice.found, 15);
    assert_int_equal(choice.stacks_max, 3); /* 3 + 2 + 3 */
    assert_int_equal(choice.subjects_max, UINT32_MAX);
    assert_int_equal(choice.listed, 8);
}

static void each_budget_keeps_its_worst_subjects(void **state)
{
    static const made_budget made[] = { { { 2, 2, 2, 2, 2, 2 }, 6, false },
                                        { { 7 }, 1, false },
                                        { { 0 }, 0, true } };
    (void)state;
    const sarif_choice choice = choose(made, 3, 5);
    assert_int_equal(choice.stacks_max, 1);
    assert_int_equal(choice.subjects_max, 3); /* 3 + 1 + 1 */
    assert_int_equal(choice.listed, 5);
    /* Fewer than there are budgets: at least one each is tried, and the rest is cut. */
    assert_int_equal(choose(made, 3, 2).listed, 2);
    assert_int_equal(choose(made, 3, 2).subjects_max, 1);
}

/* --- places --------------------------------------------------------------------------- */

static const etlheap_frame frames[] = {
    { .address = 0x1234 },
    { .module = "a b#.dll", .offset = 0x10 },
    { .module = "app.exe", .symbol = "f", .file = "src\\no line.cpp" },
    { .module = "app.exe", .symbol = "g", .file = "src/a.cpp", .line = 7 },
    { .module = "app.exe", .symbol = "h", .file = "src/outer.cpp", .line = 8 },
};

static void check_place(const u32 *indices, u32 count, const char *process, const char *wanted)
{
    const etlheap_table table = { .frames = frames, .frame_count = ETL_COUNT_OF(frames) };
    const sarif_place place = { &table, { indices, count }, process, NULL };
    etlheap_text text = { 0 };
    capture captured;
    capture_open(&captured);
    etlheap_json json = etlheap_json_begin(captured.sink, 0);
    etlheap_json_object(&json, NULL);
    sarif_write_locations(&json, &place, &text);
    etlheap_json_object_close(&json);
    etlheap_json_end(&json);
    if (!strstr(capture_text(&captured), wanted))
        fail_msg("%s has no %s", capture_text(&captured), wanted);
    capture_close(&captured);
    etlheap_text_free(&text);
}

#define PLACE(uri, line)                                                                           \
    "{\"locations\": [{\"physicalLocation\": {\"artifactLocation\": {\"uri\": \"" uri              \
    "\"}, \"region\": {\"startLine\": " line "}}"

static void a_place_is_the_nearest_to_a_source_line(void **state)
{
    static const u32 all[] = { 0, 1, 2, 3, 4 };
    (void)state;
    check_place(all, 5, "app.exe",
                PLACE("src/a.cpp", "7") ", \"logicalLocations\": [{\"name\": \"g\"");
    check_place(all, 3, "app.exe", PLACE("src/no%20line.cpp", "1"));
    check_place(all, 2, "app.exe", PLACE("a%20b%23.dll", "1"));
    check_place(all, 1, "app.exe", PLACE("app.exe", "1"));
    check_place(all, 0, "app.exe", PLACE("app.exe", "1") "}]");
    check_place(all, 0, "C:/x?", PLACE("C%3A%2Fx%3F", "1"));
    check_place(all, 0, "", PLACE("all-processes", "1"));
    check_place(all, 0, NULL, PLACE("all-processes", "1"));
}

/* --- the log -------------------------------------------------------------------------- */

/* Two processes of one name whose failures have equal fingerprints, and a third. */
static char *log_of(u32 results_max, const char *category)
{
    const etlheap_gate_subject subjects[] = {
        { .process = "app.exe", .pid = 1, .stack = ETLHEAP_NO_INDEX, .fingerprint = 5 },
        { .process = "app.exe", .pid = 2, .stack = ETLHEAP_NO_INDEX, .fingerprint = 5 },
        { .process = "b.exe", .pid = 3, .stack = ETLHEAP_NO_INDEX, .fingerprint = 6 },
    };
    const etlheap_table table = { .frames = frames };
    const etlheap_gate_budget budget = { .outcome = ETLHEAP_OUTCOME_FAIL,
                                         .table = &table,
                                         .subjects = subjects,
                                         .subject_count = 3,
                                         .failed_count = 3 };
    const etlheap_gate gate = { .outcome = ETLHEAP_OUTCOME_FAIL,
                                .budgets = &budget,
                                .budget_count = 1 };
    const etlheap_check check = { .gate = &gate, .results_max = results_max, .category = category };
    capture captured;
    etlheap_result *const result = hand_result_new();
    capture_open(&captured);
    assert_int_equal(etlheap_write_check_sarif(result, &check, NULL, captured.sink), ETL_OK);
    etlheap_result_free(result);
    char *const text = strdup(capture_text(&captured));
    assert_non_null(text);
    capture_close(&captured);
    return text;
}

static u32 count_of(const char *text, const char *part)
{
    u32 count = 0;
    for (const char *at = text; (at = strstr(at, part)) != NULL; at += strlen(part))
        count++;
    return count;
}

#define HASH(digit, count)                                                                         \
    "\"primaryLocationLineHash\": \"000000000000000" digit "000000000000000" digit ":" count "\""

static void equal_fingerprints_are_numbered(void **state)
{
    (void)state;
    char *const text = log_of(0, NULL);
    assert_int_equal(count_of(text, "\"physicalLocation\""), 3);
    assert_int_equal(count_of(text, HASH("5", "1")), 1);
    assert_int_equal(count_of(text, HASH("5", "2")), 1);
    assert_int_equal(count_of(text, HASH("6", "1")), 1);
    assert_int_equal(count_of(text, "\"fullDescription\""), 10);
    assert_int_equal(count_of(text, "\"help\""), 10);
    assert_non_null(strstr(text, "\"automationDetails\": {\n        \"id\": \"etlheap/\""));
    assert_null(strstr(text, "results-omitted"));
    free(text);
}

static void results_left_out_are_a_notification(void **state)
{
    (void)state;
    char *const text = log_of(2, "nightly/x86/");
    assert_int_equal(count_of(text, "\"ruleId\""), 2);
    assert_non_null(strstr(text, "\"id\": \"results-omitted\"}, \"level\": \"warning\""));
    assert_non_null(strstr(text, "2 of 3 results are listed, the largest stacks"));
    assert_non_null(strstr(text, "\"id\": \"nightly/x86/\""));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_that_fit_are_all_listed),
        cmocka_unit_test(the_default_is_what_github_shows),
        cmocka_unit_test(large_failures_give_way_to_small_ones),
        cmocka_unit_test(each_budget_keeps_its_worst_subjects),
        cmocka_unit_test(a_place_is_the_nearest_to_a_source_line),
        cmocka_unit_test(equal_fingerprints_are_numbered),
        cmocka_unit_test(results_left_out_are_a_notification),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
