/*
 * Goal: what a check says in words is what its numbers say: the verdict, limits in parts
 * of the baseline, what became of the baseline and why, and what each suppression did.
 * Method: gates made by hand, one for each sentence; sentences are compared whole.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "capture.h"
#include "formats/check_parts.h"
#include "hand_result.h"

static void verdicts_count_budgets(void **state)
{
    static const struct {
        etlheap_outcome of[3];
        etlheap_outcome outcome;
        const char *words;
    } rows[] = {
        { { ETLHEAP_OUTCOME_FAIL, ETLHEAP_OUTCOME_PASS, ETLHEAP_OUTCOME_PASS },
          ETLHEAP_OUTCOME_FAIL,
          "1 of 3 budgets is exceeded" },
        { { ETLHEAP_OUTCOME_FAIL, ETLHEAP_OUTCOME_FAIL, ETLHEAP_OUTCOME_SKIPPED },
          ETLHEAP_OUTCOME_FAIL,
          "2 of 2 budgets are exceeded" },
        { { ETLHEAP_OUTCOME_FAIL, ETLHEAP_OUTCOME_SKIPPED, ETLHEAP_OUTCOME_SKIPPED },
          ETLHEAP_OUTCOME_FAIL,
          "1 of 1 budget is exceeded" },
        { { ETLHEAP_OUTCOME_PASS, ETLHEAP_OUTCOME_INCONCLUSIVE, ETLHEAP_OUTCOME_PASS },
          ETLHEAP_OUTCOME_INCONCLUSIVE,
          "nothing is proven to be exceeded, and not all to be kept" },
        { { ETLHEAP_OUTCOME_SKIPPED, ETLHEAP_OUTCOME_SKIPPED, ETLHEAP_OUTCOME_SKIPPED },
          ETLHEAP_OUTCOME_SKIPPED,
          "there is no baseline yet to judge growth by" },
        { { ETLHEAP_OUTCOME_PASS, ETLHEAP_OUTCOME_SKIPPED, ETLHEAP_OUTCOME_SKIPPED },
          ETLHEAP_OUTCOME_PASS,
          "1 budget is kept" },
        { { ETLHEAP_OUTCOME_PASS, ETLHEAP_OUTCOME_PASS, ETLHEAP_OUTCOME_PASS },
          ETLHEAP_OUTCOME_PASS,
          "3 budgets are kept" },
    };
    (void)state;
    for (size_t i = 0; i < ETL_COUNT_OF(rows); i++) {
        etlheap_gate_budget budgets[3] = { { .subject_count = 0 } };
        etlheap_text text = { 0 };
        for (size_t k = 0; k < ETL_COUNT_OF(budgets); k++)
            budgets[k].outcome = rows[i].of[k];
        const etlheap_gate gate = { .outcome = rows[i].outcome,
                                    .budgets = budgets,
                                    .budget_count = ETL_COUNT_OF(budgets) };
        etlheap_check_add_verdict(&text, &gate);
        assert_string_equal(etlheap_text_of(&text), rows[i].words);
        etlheap_text_free(&text);
    }
}

static void baselines_say_what_became_of_them_and_why(void **state)
{
    static const struct {
        const char *words;
        etlheap_ratchet ratchet;
        etlheap_gate gate;
    } rows[] = {
        { "", ETLHEAP_RATCHET_NONE, { .outcome = ETLHEAP_OUTCOME_PASS } },
        { "created from this run", ETLHEAP_RATCHET_CREATED, { .outcome = ETLHEAP_OUTCOME_PASS } },
        { "tightened: this run, which is nowhere larger, is the next",
          ETLHEAP_RATCHET_TIGHTENED,
          { .outcome = ETLHEAP_OUTCOME_PASS } },
        { "accepted: this run is the next, whatever it grew",
          ETLHEAP_RATCHET_ACCEPTED,
          { .outcome = ETLHEAP_OUTCOME_FAIL, .grown_count = 2 } },
        { "kept as it was: the verdict is fail",
          ETLHEAP_RATCHET_KEPT,
          { .outcome = ETLHEAP_OUTCOME_FAIL, .grown_count = 2 } },
        { "kept as it was: 1 subject is larger in this run",
          ETLHEAP_RATCHET_KEPT,
          { .outcome = ETLHEAP_OUTCOME_PASS, .grown_count = 1, .missing_count = 1 } },
        { "kept as it was: 2 subjects are larger in this run",
          ETLHEAP_RATCHET_KEPT,
          { .outcome = ETLHEAP_OUTCOME_PASS, .grown_count = 2 } },
        { "kept as it was: 3 of its processes did not run",
          ETLHEAP_RATCHET_KEPT,
          { .outcome = ETLHEAP_OUTCOME_PASS, .missing_count = 3 } },
        { "kept as it was: nothing is smaller in this run",
          ETLHEAP_RATCHET_KEPT,
          { .outcome = ETLHEAP_OUTCOME_PASS } },
    };
    (void)state;
    for (size_t i = 0; i < ETL_COUNT_OF(rows); i++) {
        const etlheap_check check = { .gate = &rows[i].gate, .ratchet = rows[i].ratchet };
        etlheap_text text = { 0 };
        etlheap_check_add_ratchet(&text, &check);
        assert_string_equal(etlheap_text_of(&text), rows[i].words);
        etlheap_text_free(&text);
    }
}

static void limits_are_bytes_or_allocations_and_parts_of_the_baseline(void **state)
{
    static const struct {
        etlheap_budget budget;
        const char *words;
    } rows[] = {
        { { .limit = 65536 }, "64.0 KiB" },
        { { .limit = 1, .is_count = true }, "1 allocation" },
        { { .limit = 64, .is_count = true }, "64 allocations" },
        { { .limit = 65536, .is_growth = true, .baseline_millionths = 50000 }, "64.0 KiB + 5 %" },
        { { .limit = 65536, .is_growth = true, .baseline_millionths = 500 }, "64.0 KiB + 0.05 %" },
        { { .limit = 65536, .is_growth = true, .baseline_millionths = 125000 },
          "64.0 KiB + 12.5 %" },
        { { .limit = 65536, .is_growth = true, .baseline_millionths = 1 }, "64.0 KiB + 0.0001 %" },
    };
    (void)state;
    for (size_t i = 0; i < ETL_COUNT_OF(rows); i++) {
        etlheap_text text = { 0 };
        etlheap_check_add_limit(&text, &rows[i].budget);
        assert_string_equal(etlheap_text_of(&text), rows[i].words);
        etlheap_text_free(&text);
    }
}

/* --- the text as a whole -------------------------------------------------------------- */

/* To be closed by the caller. */
static const char *write_check(const etlheap_gate *gate, capture *out)
{
    const etlheap_layout layout = etlheap_layout_default();
    static const char *const files[] = { "a.etl" };
    const etlheap_check check = { .gate = gate };
    etlheap_result *const result = hand_result_new();
    hand_ready(result, HAND_START_TICKS + 10);
    result->info.session = result->info.computer = "";
    result->info.clock = "qpc";
    result->info.files = files;
    result->info.file_count = 1;
    capture_open(out);
    assert_int_equal(etlheap_format_named("text")->write_check(result, &check, &layout, out->sink),
                     ETL_OK);
    etlheap_result_free(result);
    return capture_text(out);
}

static void suppressions_say_what_they_did_kind_by_kind(void **state)
{
    static const etlheap_suppression_use uses[] = {
        { .pattern = "Cache::*",
          .file = "known.supp",
          .line = 3,
          .stacks = 2,
          .of = { [ETLHEAP_KIND_HEAP] = { 2048, 7 }, [ETLHEAP_KIND_VIRTUALALLOC] = { 65536, 1 } } },
        { .pattern = "Old::leak", .file = "known.supp", .line = 9 },
    };
    const etlheap_gate gate = { .outcome = ETLHEAP_OUTCOME_PASS,
                                .suppressions = uses,
                                .suppression_count = ETL_COUNT_OF(uses) };
    capture out;
    (void)state;
    assert_non_null(strstr(write_check(&gate, &out),
                           "Suppression  Where         Kind          Stacks      Size  Count\n"
                           "Cache::*     known.supp:3  heap               2  2.00 KiB      7\n"
                           "                           virtualalloc          64.0 KiB      1\n"
                           "Old::leak    known.supp:9  unused\n"));
    capture_close(&out);
}

static void modules_of_other_builds_are_named(void **state)
{
    static const char *const rebuilt[] = { "app.exe", "plug\x1b.dll" };
    const etlheap_gate gate = { .outcome = ETLHEAP_OUTCOME_PASS,
                                .rebuilt = rebuilt,
                                .rebuilt_count = ETL_COUNT_OF(rebuilt) };
    capture out;
    (void)state;
    const char *const text = write_check(&gate, &out);
    assert_non_null(strstr(text, "Other builds than in the baseline"));
    assert_non_null(strstr(text, "app.exe, plug\xEF\xBF\xBD.dll\n"));
    capture_close(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(verdicts_count_budgets),
        cmocka_unit_test(baselines_say_what_became_of_them_and_why),
        cmocka_unit_test(limits_are_bytes_or_allocations_and_parts_of_the_baseline),
        cmocka_unit_test(suppressions_say_what_they_did_kind_by_kind),
        cmocka_unit_test(modules_of_other_builds_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
