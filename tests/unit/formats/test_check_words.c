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

#include "tests/support/capture.h"
#include "formats/parts/check_summary.h"
#include "tests/support/hand_result.h"

static void verdicts_count_budgets(void **state)
{
    static const struct {
        etlheap_outcome of[3];
        etlheap_outcome outcome;
        const char *words;
    } rows[] = {
        { { ETLHEAP_OUTCOME_FAIL, ETLHEAP_OUTCOME_PASS, ETLHEAP_OUTCOME_PASS },
          ETLHEAP_OUTCOME_FAIL,
          "1 of 3 limits is exceeded" },
        { { ETLHEAP_OUTCOME_FAIL, ETLHEAP_OUTCOME_FAIL, ETLHEAP_OUTCOME_SKIPPED },
          ETLHEAP_OUTCOME_FAIL,
          "2 of 2 limits are exceeded, and 1 cannot be judged without a baseline" },
        { { ETLHEAP_OUTCOME_FAIL, ETLHEAP_OUTCOME_SKIPPED, ETLHEAP_OUTCOME_SKIPPED },
          ETLHEAP_OUTCOME_FAIL,
          "1 of 1 limit is exceeded, and 2 cannot be judged without a baseline" },
        { { ETLHEAP_OUTCOME_PASS, ETLHEAP_OUTCOME_INCONCLUSIVE, ETLHEAP_OUTCOME_PASS },
          ETLHEAP_OUTCOME_INCONCLUSIVE,
          "no limit is known to be exceeded, but not all are known to be kept" },
        { { ETLHEAP_OUTCOME_SKIPPED, ETLHEAP_OUTCOME_SKIPPED, ETLHEAP_OUTCOME_SKIPPED },
          ETLHEAP_OUTCOME_SKIPPED,
          "no baseline yet to measure growth against" },
        { { ETLHEAP_OUTCOME_PASS, ETLHEAP_OUTCOME_SKIPPED, ETLHEAP_OUTCOME_SKIPPED },
          ETLHEAP_OUTCOME_PASS,
          "1 limit is kept, and 2 cannot be judged without a baseline" },
        { { ETLHEAP_OUTCOME_PASS, ETLHEAP_OUTCOME_PASS, ETLHEAP_OUTCOME_PASS },
          ETLHEAP_OUTCOME_PASS,
          "3 limits are kept" },
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
        const etlheap_check check = { .gate = &gate };
        etlheap_check_add_verdict(&text, &check);
        assert_string_equal(etlheap_text_of(&text), rows[i].words);
        etlheap_text_free(&text);
    }
}

/* That there is one to keep. */
static const etlheap_trace_info baseline_info;
#define BASELINE .baseline = &baseline_info

static const struct {
    const char *words;
    etlheap_ratchet ratchet;
    etlheap_gate gate;
} baseline_rows[] = {
    { "", ETLHEAP_RATCHET_NONE, { .outcome = ETLHEAP_OUTCOME_PASS } },
    { "created from this run", ETLHEAP_RATCHET_CREATED, { .outcome = ETLHEAP_OUTCOME_PASS } },
    { "tightened: replaced by this run, which is larger nowhere",
      ETLHEAP_RATCHET_TIGHTENED,
      { .outcome = ETLHEAP_OUTCOME_PASS } },
    { "accepted: this run is the new baseline, with 2 subjects that grew",
      ETLHEAP_RATCHET_ACCEPTED,
      { .outcome = ETLHEAP_OUTCOME_FAIL, .grown_count = 2 } },
    { "accepted: this run is the new baseline, with 1 subject that grew",
      ETLHEAP_RATCHET_ACCEPTED,
      { .outcome = ETLHEAP_OUTCOME_FAIL, .grown_count = 1 } },
    { "accepted: this run is the new baseline",
      ETLHEAP_RATCHET_ACCEPTED,
      { .outcome = ETLHEAP_OUTCOME_FAIL } },
    { "not written: the verdict is inconclusive",
      ETLHEAP_RATCHET_KEPT,
      { .outcome = ETLHEAP_OUTCOME_INCONCLUSIVE } },
    { "not written: nothing was measured",
      ETLHEAP_RATCHET_KEPT,
      { .outcome = ETLHEAP_OUTCOME_PASS, .is_unmeasured = true } },
    { "not written: a run that lost events or is damaged is not accepted",
      ETLHEAP_RATCHET_REFUSED,
      { .outcome = ETLHEAP_OUTCOME_FAIL, .is_lossy = true } },
    { "unchanged: a run that lost events or is damaged is not accepted",
      ETLHEAP_RATCHET_REFUSED,
      { .outcome = ETLHEAP_OUTCOME_FAIL, .is_lossy = true, BASELINE } },
    { "unchanged: nothing was measured",
      ETLHEAP_RATCHET_REFUSED,
      { .outcome = ETLHEAP_OUTCOME_FAIL, .is_lossy = true, .is_unmeasured = true, BASELINE } },
    { "unchanged: a required process is missing",
      ETLHEAP_RATCHET_REFUSED,
      { .outcome = ETLHEAP_OUTCOME_FAIL,
        .doubts = 1u << ETLHEAP_DOUBT_MISSING_PROCESS,
        BASELINE } },
    { "unchanged: the verdict is fail",
      ETLHEAP_RATCHET_KEPT,
      { .outcome = ETLHEAP_OUTCOME_FAIL, .grown_count = 2, BASELINE } },
    { "unchanged: 1 subject is larger in this run",
      ETLHEAP_RATCHET_KEPT,
      { .outcome = ETLHEAP_OUTCOME_PASS, .grown_count = 1, .missing_count = 1, BASELINE } },
    { "unchanged: 2 subjects are larger in this run",
      ETLHEAP_RATCHET_KEPT,
      { .outcome = ETLHEAP_OUTCOME_PASS, .grown_count = 2, BASELINE } },
    { "unchanged: 3 of its processes did not run",
      ETLHEAP_RATCHET_KEPT,
      { .outcome = ETLHEAP_OUTCOME_PASS, .missing_count = 3, BASELINE } },
    { "unchanged: nothing is smaller in this run",
      ETLHEAP_RATCHET_KEPT,
      { .outcome = ETLHEAP_OUTCOME_PASS, BASELINE } },
};

static void baselines_say_what_became_of_them_and_why(void **state)
{
    (void)state;
    for (size_t i = 0; i < ETL_COUNT_OF(baseline_rows); i++) {
        const etlheap_check check = { .gate = &baseline_rows[i].gate,
                                      .ratchet = baseline_rows[i].ratchet };
        etlheap_text text = { 0 };
        etlheap_check_add_ratchet(&text, &check);
        assert_string_equal(etlheap_text_of(&text), baseline_rows[i].words);
        etlheap_text_free(&text);
    }
}

static void nothing_measured_is_the_verdict_and_names_what_there_is(void **state)
{
    static const char *const patterns[] = { "no.exe", "ap*" };
    static const etlheap_gate_process processes[] = {
        { .name = "app.exe", .pid = 12, .kinds = 5, .events = 9 },
        { .name = "", .pid = ETL_NO_ID, .kinds = 2, .events = 3 },
        { .name = "z.exe", .pid = 4, .kinds = 1, .events = 1 },
    };
    static const struct {
        const char *words;
        etlheap_gate_absence absence;
    } rows[] = {
        { "the trace has no memory events", { .kinds = 7 } },
        { "the trace has no memory events; no process with memory events matches 'no.exe'",
          { .kinds = 7, .patterns = patterns, .pattern_count = 1 } },
        { "the trace has no heap or extent events; processes with memory events: app.exe (12: "
          "heap, extent), (no name) (virtualalloc) and 1 more",
          { .kinds = 5, .processes = processes, .process_count = 3 } },
        { "no process with virtualalloc events matches 'no.exe' or 'ap*'; processes with memory "
          "events: app.exe (12: heap, extent), (no name) (virtualalloc)",
          { .patterns = patterns,
            .pattern_count = 2,
            .pattern_kinds = 2,
            .other_kinds = 2,
            .processes = processes,
            .process_count = 2 } },
        { "the selected processes have no heap events; processes with memory events: app.exe (12: "
          "heap, extent)",
          { .other_kinds = 1, .processes = processes, .process_count = 1 } },
    };
    (void)state;
    for (size_t i = 0; i < ETL_COUNT_OF(rows); i++) {
        const etlheap_gate gate = { .is_unmeasured = true, .absence = rows[i].absence };
        etlheap_text text = { 0 };
        char sentence[40];
        etlheap_check_add_absence(&text, &gate, 2);
        assert_string_equal(etlheap_text_of(&text), rows[i].words);
        etlheap_check_absence_sentence(&gate, sentence, sizeof sentence);
        assert_memory_equal(sentence, "nothing was measured: ", 22);
        assert_in_range(strlen(sentence), 22, sizeof sentence - 1);
        etlheap_text_free(&text);
    }
}

static void verdicts_tell_what_is_exceeded_from_what_was_not_measured(void **state)
{
    static const struct {
        etlheap_gate_budget of[2];
        u32 count;
        etlheap_ratchet ratchet;
        const char *words;
    } rows[] = {
        { { { .outcome = ETLHEAP_OUTCOME_FAIL, .is_unmeasured = true } },
          1,
          ETLHEAP_RATCHET_NONE,
          "nothing was measured" },
        { { { .outcome = ETLHEAP_OUTCOME_FAIL, .is_unmeasured = true },
            { .outcome = ETLHEAP_OUTCOME_PASS } },
          2,
          ETLHEAP_RATCHET_NONE,
          "nothing was measured for 1 of 2 limits" },
        { { { .outcome = ETLHEAP_OUTCOME_FAIL, .is_unmeasured = true },
            { .outcome = ETLHEAP_OUTCOME_FAIL, .failed_count = 2 } },
          2,
          ETLHEAP_RATCHET_NONE,
          "1 of 2 limits is exceeded, and nothing was measured for 1" },
        { { { .outcome = ETLHEAP_OUTCOME_FAIL, .failed_count = 2 } },
          1,
          ETLHEAP_RATCHET_ACCEPTED,
          "this run is the baseline from now on; 1 of 1 limit is exceeded" },
    };
    (void)state;
    for (size_t i = 0; i < ETL_COUNT_OF(rows); i++) {
        const etlheap_gate gate = { .outcome = ETLHEAP_OUTCOME_FAIL,
                                    .budgets = rows[i].of,
                                    .budget_count = rows[i].count };
        const etlheap_check check = { .gate = &gate, .ratchet = rows[i].ratchet };
        etlheap_text text = { 0 };
        etlheap_check_add_verdict(&text, &check);
        assert_string_equal(etlheap_text_of(&text), rows[i].words);
        assert_string_equal(etlheap_check_verdict_word(&check),
                            rows[i].ratchet == ETLHEAP_RATCHET_ACCEPTED ? "accepted" : "fail");
        etlheap_text_free(&text);
    }
}

static void what_is_required_and_missing_is_named_before_limits(void **state)
{
    static const etlheap_gate_requirement list[] = {
        { NULL, false }, { "a.exe", false }, { "b*", true },
        { "c", false },  { "d", false },     { "e", false },
    };
    static const etlheap_gate_budget kept = { .outcome = ETLHEAP_OUTCOME_PASS };
    static const etlheap_gate_budget skipped = { .outcome = ETLHEAP_OUTCOME_SKIPPED };
    static const struct {
        const etlheap_gate_requirement *required;
        u32 count;
        const etlheap_gate_budget *budget;
        etlheap_ratchet ratchet;
        const char *words;
    } rows[] = {
        { list, 1, &skipped, ETLHEAP_RATCHET_NONE, "the required baseline b.ehs is missing" },
        { list, 1, &kept, ETLHEAP_RATCHET_NONE,
          "the required baseline b.ehs is missing; 1 limit is kept" },
        { list, 1, &skipped, ETLHEAP_RATCHET_ACCEPTED,
          "this run is the baseline from now on; no baseline yet to measure growth against" },
        { list + 1, 2, &kept, ETLHEAP_RATCHET_NONE,
          "the required process a.exe has no memory events; 1 limit is kept" },
        { list, 6, &kept, ETLHEAP_RATCHET_NONE,
          "the required baseline b.ehs is missing, and the required processes a.exe, c, d and 1 "
          "more have no memory events; 1 limit is kept" },
        { list + 2, 1, &kept, ETLHEAP_RATCHET_NONE, "1 limit is kept" },
    };
    (void)state;
    for (size_t i = 0; i < ETL_COUNT_OF(rows); i++) {
        const etlheap_gate gate = { .outcome = ETLHEAP_OUTCOME_FAIL,
                                    .budgets = rows[i].budget,
                                    .budget_count = 1,
                                    .requirements = rows[i].required,
                                    .requirement_count = rows[i].count };
        const etlheap_check check = { .gate = &gate,
                                      .baseline_name = "b.ehs",
                                      .ratchet = rows[i].ratchet };
        etlheap_text text = { 0 };
        etlheap_check_add_verdict(&text, &check);
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
    assert_non_null(strstr(text, "Modules of another build than in the baseline"));
    assert_non_null(strstr(text, "app.exe, plug\xEF\xBF\xBD.dll\n"));
    capture_close(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(verdicts_count_budgets),
        cmocka_unit_test(baselines_say_what_became_of_them_and_why),
        cmocka_unit_test(nothing_measured_is_the_verdict_and_names_what_there_is),
        cmocka_unit_test(verdicts_tell_what_is_exceeded_from_what_was_not_measured),
        cmocka_unit_test(what_is_required_and_missing_is_named_before_limits),
        cmocka_unit_test(limits_are_bytes_or_allocations_and_parts_of_the_baseline),
        cmocka_unit_test(suppressions_say_what_they_did_kind_by_kind),
        cmocka_unit_test(modules_of_other_builds_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
