/*
 * sarif_check.c - writes what failed in a check as a SARIF 2.1.0 log, which code hosts show beside
 * the source.
 *
 * In: an etlheap_check. Out: a JSON document:
 *
 *     rule     an option that sets budgets
 *     result   a stack to blame for a failed subject, a failed subject without stacks, or a
 *              budget for which nothing was measured, or something missing that is required
 *
 * What was accepted is a note, suppressed from outside the sources. Why a verdict proves nothing,
 * what was lost at recording, and that results were left out are notifications of the run.
 *
 * Invariants: GitHub refuses a whole file in which one result has no physical location, so every
 * result has one (sarif_place.c). Fingerprints let a host follow a finding from build to build.
 * GitHub takes two results of one rule, file and primaryLocationLineHash for the same alert. So
 * that hash is made of subject and stack, with a number if several results have it.
 *
 * Source: OASIS, Static Analysis Results Interchange Format Version 2.1.0; GitHub, "SARIF support
 * for code scanning".
 */
#include "formats/io/units.h"
#include "formats/json/json.h"
#include "formats/parts/check_summary.h"
#include "formats/parts/export_numbers.h"
#include "formats/writers.h"
#include "formats/parts/layout_read.h"
#include "sarif_choice.h"
#include "sarif_place.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define SENTENCE_SIZE    640 /* of a diagnostic */
#define PRINT_SIZE       48
#define CATEGORY_DEFAULT "etlheap"
#define TALLY_FIRST      256u
#define PROCESSES_NAMED  8u

/* Rules of things that must be there, after those of budgets. */
static const struct {
    const char *id, *name, *about, *help;
} requirement_rules[] = {
    { "require-baseline", "Missing baseline", "The baseline that this check requires is missing.",
      "Restore the baseline, or make a run the baseline that you trust." },
    { "require-process", "Missing process",
      "A process that this check requires has no memory events in the recording.",
      "Find out why the program did not run, or why it was not recorded." },
};

/* A log under construction. Results with equal fingerprints are counted. */
typedef struct sarif_writer {
    etlheap_json json;
    const etlheap_check *check;
    etl_hint_fn *hint;
    sarif_choice choice;
    u32 written; /* results */
    export_numbers prints;
    u32 *tally; /* by number of a print */
    u32 tally_capacity;
    etlheap_text text; /* scratch */
    bool failed;       /* no memory */
} sarif_writer;

/* Writes a message. Braces stand for arguments unless they are doubled. */
static void write_message(sarif_writer *w, const char *sentence)
{
    etlheap_text_clear(&w->text);
    while (*sentence != '\0') {
        const size_t size = strcspn(sentence, "{}");
        etlheap_text_add(&w->text, sentence, size);
        sentence += size;
        if (*sentence == '\0')
            break;
        etlheap_text_add(&w->text, sentence, 1);
        etlheap_text_add(&w->text, sentence, 1);
        sentence++;
    }
    etlheap_json_object(&w->json, "message");
    etlheap_json_string(&w->json, "text", etlheap_text_of(&w->text));
    etlheap_json_object_close(&w->json);
}

static void write_words(etlheap_json *json, const char *key, const char *words)
{
    etlheap_json_object(json, key);
    etlheap_json_string(json, "text", words);
    etlheap_json_object_close(json);
}

static void write_help(sarif_writer *w, const etlheap_limit *rule)
{
    const etl_hint hint =
        rule->form == ETLHEAP_LIMIT_ABSOLUTE ? ETL_HINT_SUPPRESS : ETL_HINT_SUPPRESS_OR_ACCEPT;
    const char *const more = etlheap_hint_words(w->hint, hint);
    etlheap_text_clear(&w->text);
    etlheap_text_add_string(&w->text, rule->advice);
    etlheap_text_add_string(&w->text, *more == '\0' ? "." : ". ");
    etlheap_text_add_string(&w->text, more);
    write_words(&w->json, "help", etlheap_text_of(&w->text));
}

static void begin_rule(etlheap_json *json, const char *id, const char *name, const char *about)
{
    etlheap_json_object(json, NULL);
    etlheap_json_string(json, "id", id);
    etlheap_json_string(json, "name", name);
    write_words(json, "shortDescription", about);
}

static void end_rule(etlheap_json *json)
{
    etlheap_json_object(json, "defaultConfiguration");
    etlheap_json_string(json, "level", "error");
    etlheap_json_object_close(json);
    etlheap_json_object_close(json);
}

/* A rule is a limit, by its number. */
static void write_tool(sarif_writer *w)
{
    etlheap_json *const json = &w->json;
    etlheap_json_object(json, "tool");
    etlheap_json_object(json, "driver");
    etlheap_json_string(json, "name", "etlheap");
    etlheap_json_string(json, "version", ETLHEAP_VERSION);
    etlheap_json_string(json, "semanticVersion", ETLHEAP_VERSION);
    etlheap_json_array(json, "rules");
    const etlheap_limit *rule;
    for (u32 i = 0; (rule = etlheap_limit_at(i)) != NULL; i++) {
        begin_rule(json, rule->option, rule->title, rule->exceeded);
        write_words(json, "fullDescription", rule->explained);
        write_help(w, rule);
        end_rule(json);
    }
    for (u32 i = 0; i < ETL_COUNT_OF(requirement_rules); i++) {
        begin_rule(json, requirement_rules[i].id, requirement_rules[i].name,
                   requirement_rules[i].about);
        write_words(json, "fullDescription", requirement_rules[i].about);
        write_words(json, "help", requirement_rules[i].help);
        end_rule(json);
    }
    etlheap_json_array_close(json);
    etlheap_json_object_close(json);
    etlheap_json_object_close(json);
}

/* Writes the id of the run. The part before the last slash is the category, by which GitHub
 * separates the checks of one commit. Results of one category replace each other. */
static void write_automation(sarif_writer *w)
{
    const char *const asked = w->check->category;
    const char *const category = asked && *asked != '\0' ? asked : CATEGORY_DEFAULT;
    etlheap_text_clear(&w->text);
    etlheap_text_add_string(&w->text, category);
    if (category[strlen(category) - 1] != '/')
        etlheap_text_add_string(&w->text, "/");
    etlheap_json_object(&w->json, "automationDetails");
    etlheap_json_string(&w->json, "id", etlheap_text_of(&w->text));
    etlheap_json_object_close(&w->json);
}

static void write_notification(sarif_writer *w, const char *level, const char *id,
                               const char *sentence)
{
    etlheap_json_object(&w->json, NULL);
    etlheap_json_object(&w->json, "descriptor");
    etlheap_json_string(&w->json, "id", id);
    etlheap_json_object_close(&w->json);
    etlheap_json_string(&w->json, "level", level);
    write_message(w, sentence);
    etlheap_json_object_close(&w->json);
}

static void write_diagnostics(sarif_writer *w, const char *whose, const etl_diag_counts *counts)
{
    char sentence[SENTENCE_SIZE], advice[ETLHEAP_SENTENCE_SIZE];
    for (int i = 0; i < ETL_DIAG_COUNT; i++) {
        const etl_diag_info *const info = etl_diag_describe((etl_diag)i);
        if (counts->of[i] == 0)
            continue;
        etlheap_diag_sentence((etl_diag)i, w->hint, advice);
        snprintf(sentence, sizeof sentence, "%s%s (%" PRIu64 "): %s", whose, info->name,
                 counts->of[i], advice);
        write_notification(w, info->severity == ETL_SEVERITY_INFO ? "note" : "warning", info->name,
                           sentence);
    }
}

static void write_omission(sarif_writer *w)
{
    char sentence[SENTENCE_SIZE], found[ETLHEAP_UNITS_SIZE], listed[ETLHEAP_UNITS_SIZE];
    if (w->choice.found <= w->choice.listed)
        return;
    etlheap_units_count((i64)etl_min_u64(w->choice.found, INT64_MAX), found);
    etlheap_units_count((i64)w->choice.listed, listed);
    snprintf(sentence, sizeof sentence,
             "%s of %s results are listed, the largest stacks of each failure first%s", listed,
             found, etlheap_hint_words(w->hint, ETL_HINT_MORE_RESULTS));
    write_notification(w, "warning", "results-omitted", sentence);
}

static void write_invocation(sarif_writer *w)
{
    const etlheap_gate *const gate = w->check->gate;
    etlheap_json_array(&w->json, "invocations");
    etlheap_json_object(&w->json, NULL);
    etlheap_json_bool(&w->json, "executionSuccessful", true);
    etlheap_json_array(&w->json, "toolExecutionNotifications");
    for (int i = 0; i < ETLHEAP_DOUBT_COUNT; i++) {
        if (gate->doubts >> i & 1)
            write_notification(w, "warning", etlheap_doubt_word((etlheap_doubt)i),
                               etlheap_doubt_sentence((etlheap_doubt)i));
    }
    write_omission(w);
    write_diagnostics(w, "", &gate->diagnostics);
    write_diagnostics(w, "baseline: ", &gate->baseline_diagnostics);
    etlheap_json_array_close(&w->json);
    etlheap_json_object_close(&w->json);
    etlheap_json_array_close(&w->json);
}

static void write_fingerprint(etlheap_json *json, const char *key, u64 fingerprint)
{
    char digits[PRINT_SIZE];
    snprintf(digits, sizeof digits, "%016" PRIx64, fingerprint);
    etlheap_json_string(json, key, digits);
}

/* Counts the results with these fingerprints, including this one. Heaps and processes of equal
 * names have equal ones. */
static u32 count_print(sarif_writer *w, u64 subject, u64 stack)
{
    u32 number;
    if (export_number_of_pair(&w->prints, subject, stack, &number)) {
        if (number >= w->tally_capacity) {
            const u32 capacity = number * 2 + TALLY_FIRST;
            u32 *const more = realloc(w->tally, capacity * sizeof *more);
            w->failed |= more == NULL;
            if (!more)
                return 1;
            w->tally = more;
            w->tally_capacity = capacity;
        }
        w->tally[number] = 0;
    }
    w->failed |= w->prints.failed;
    return w->failed ? 1 : ++w->tally[number];
}

static void write_fingerprints(sarif_writer *w, u64 subject, u64 stack)
{
    char print[PRINT_SIZE];
    snprintf(print, sizeof print, "%016" PRIx64 "%016" PRIx64 ":%" PRIu32, subject, stack,
             count_print(w, subject, stack));
    etlheap_json_object(&w->json, "partialFingerprints");
    etlheap_json_string(&w->json, "primaryLocationLineHash", print);
    write_fingerprint(&w->json, "etlheapStack/v2", stack);
    write_fingerprint(&w->json, "etlheapSubject/v2", subject);
    etlheap_json_object_close(&w->json);
}

/* Hosts that know suppressions close the finding. */
static void write_acceptance(etlheap_json *json)
{
    etlheap_json_array(json, "suppressions");
    etlheap_json_object(json, NULL);
    etlheap_json_string(json, "kind", "external");
    etlheap_json_string(json, "status", "accepted");
    etlheap_json_string(json, "justification", "this run was made the baseline");
    etlheap_json_object_close(json);
    etlheap_json_array_close(json);
}

/* Rules of requirements are numbered after those of limits. */
static u32 limit_count(void)
{
    u32 count = 0;
    while (etlheap_limit_at(count) != NULL)
        count++;
    return count;
}

/* Begins a result up to its message; false if no further result is written. */
static bool begin_result_of(sarif_writer *w, const char *id, u32 index, const char *level,
                            const char *sentence)
{
    if (w->written >= w->choice.listed)
        return false;
    w->written++;
    etlheap_json_object(&w->json, NULL);
    etlheap_json_string(&w->json, "ruleId", id);
    etlheap_json_u64(&w->json, "ruleIndex", index);
    etlheap_json_string(&w->json, "level", level);
    write_message(w, sentence);
    return true;
}

static bool begin_result(sarif_writer *w, const etlheap_budget *budget, const char *level,
                         const char *sentence)
{
    return begin_result_of(w, etlheap_check_option(budget), etlheap_limit_of(budget), level,
                           sentence);
}

/* Writes something that is missing although it is required. Its subject is the word for it. */
static void write_unmet(sarif_writer *w, u32 number)
{
    const etlheap_gate_requirement *const one = &w->check->gate->requirements[number];
    const u32 rule = one->process == NULL ? 0 : 1;
    const sarif_place place = { .process = one->process, .roots = &w->check->roots };
    const char *const word = one->process == NULL ? "" : one->process;
    u64 subject = rule + 1;
    etlheap_text sentence = { 0 };
    for (const char *at = word; *at != '\0'; at++)
        subject = (subject ^ (u8)*at) * UINT64_C(0x100000001b3);
    etlheap_check_add_requirement(&sentence, w->check, one, w->hint);
    const bool has_room = begin_result_of(w, requirement_rules[rule].id, limit_count() + rule,
                                          "error", etlheap_text_of(&sentence));
    w->failed |= sentence.failed;
    etlheap_text_free(&sentence);
    if (!has_room)
        return;
    sarif_write_locations(&w->json, &place, &w->text);
    write_fingerprints(w, subject, 0);
    etlheap_json_object_close(&w->json);
}

/* Writes a budget for which nothing was measured: without stack and amount. The place is the
 * process that is missing, if it has a name. */
static void write_unmeasured(sarif_writer *w, const etlheap_gate_budget *budget)
{
    const etlheap_gate *const gate = w->check->gate;
    const etlheap_budget *const asked = &budget->budget;
    const sarif_place place = { .process = gate->absence.pattern_count > 0
                                               ? gate->absence.patterns[0]
                                               : NULL,
                                .roots = &w->check->roots };
    const u64 subject = (u64)asked->scope << 2 | etlheap_limit_of(asked);
    etlheap_text sentence = { 0 };
    etlheap_text_add_string(&sentence, "nothing was measured: ");
    etlheap_check_add_absence(&sentence, gate, PROCESSES_NAMED);
    const bool has_room = begin_result(w, asked, "error", etlheap_text_of(&sentence));
    w->failed |= sentence.failed;
    etlheap_text_free(&sentence);
    if (!has_room)
        return;
    sarif_write_locations(&w->json, &place, &w->text);
    write_fingerprints(w, subject, 0);
    etlheap_json_object(&w->json, "properties");
    etlheap_json_string(&w->json, "per", etlheap_scope_word(asked->scope));
    etlheap_json_object_close(&w->json);
    etlheap_json_object_close(&w->json);
}

/* Adds "app.exe!grow, called by app.exe!run: 320 KiB in 80 allocations of heap app.exe (4321),
 * which has 640 KiB in 160 allocations, over the limit of 128 KiB by 512 KiB." in one sentence,
 * because hosts show only the first one in lists. */
static void add_sentence(etlheap_text *sentence, const etlheap_gate_budget *budget,
                         const etlheap_gate_subject *subject, const etlheap_gate_stack *stack)
{
    const bool is_stack = budget->budget.scope == ETLHEAP_SCOPE_STACK;
    if (subject->stack_count == 0) {
        etlheap_check_add_owner(sentence, subject, true);
        etlheap_check_add_place(sentence, budget, subject, true);
        etlheap_text_add_string(sentence, ": ");
        etlheap_check_add_finding(sentence, budget, subject);
        etlheap_text_add_string(sentence, ".");
        return;
    }
    etlheap_check_add_site(sentence, budget->table, stack);
    etlheap_text_add_string(sentence, ": ");
    if (is_stack)
        etlheap_check_add_finding(sentence, budget, subject);
    else
        etlheap_check_add_share(sentence, &budget->budget, subject->kind, stack);
    etlheap_text_add_string(sentence, is_stack ? ", in " : " of ");
    etlheap_check_add_owner(sentence, subject, true);
    etlheap_check_add_place(sentence, budget, subject, true);
    if (!is_stack) {
        etlheap_text_add_string(sentence, ", which has ");
        etlheap_check_add_finding(sentence, budget, subject);
    }
    etlheap_text_add_string(sentence, ".");
}

static void write_result(sarif_writer *w, const etlheap_gate_budget *budget,
                         const etlheap_gate_subject *subject, const etlheap_gate_stack *stack)
{
    const bool is_accepted = etlheap_check_is_accepted(w->check);
    const sarif_place place = { .table = budget->table,
                                .frames = etlheap_check_frames(budget->table, stack->stack),
                                .process = stack->process,
                                .roots = &w->check->roots };
    etlheap_text sentence = { 0 };
    add_sentence(&sentence, budget, subject, stack);
    const bool has_room = begin_result(w, &budget->budget, is_accepted ? "note" : "error",
                                       etlheap_text_of(&sentence));
    w->failed |= sentence.failed;
    etlheap_text_free(&sentence);
    if (!has_room)
        return;
    sarif_write_locations(&w->json, &place, &w->text);
    sarif_write_stack(&w->json, &place, &w->text);
    write_fingerprints(w, subject->fingerprint, stack->fingerprint);
    if (is_accepted)
        write_acceptance(&w->json);
    etlheap_json_object(&w->json, "properties");
    etlheap_json_string(&w->json, "kind", etlheap_kind_name(subject->kind));
    etlheap_json_string(&w->json, "process", stack->process);
    etlheap_json_string(&w->json, "per", etlheap_scope_word(budget->budget.scope));
    if (subject->mark)
        etlheap_json_string(&w->json, "mark", subject->mark);
    if (subject->pool_tag[0] != '\0')
        etlheap_json_string(&w->json, "pool_tag", subject->pool_tag);
    const etlheap_quantity_measures reads = etlheap_quantity_reads(budget->budget.quantity);
    etlheap_json_u64(&w->json, etlheap_measure_word(reads.size), stack->now.size_bytes);
    etlheap_json_u64(&w->json, etlheap_measure_word(reads.count), stack->now.count);
    etlheap_json_i64(&w->json, "measured", subject->measured);
    etlheap_json_i64(&w->json, "limit", subject->limit);
    etlheap_json_object_close(&w->json);
    etlheap_json_object_close(&w->json);
}

static void write_subject(sarif_writer *w, const etlheap_gate_budget *budget,
                          const etlheap_gate_subject *subject)
{
    const etlheap_gate_stack none = { .stack = ETLHEAP_NO_INDEX,
                                      .process = subject->process ? subject->process : "",
                                      .fingerprint = subject->fingerprint,
                                      .now = subject->now,
                                      .baseline = subject->baseline };
    for (u32 i = 0; i < subject->stack_count && i < w->choice.stacks_max; i++)
        write_result(w, budget, subject, &subject->stacks[i]);
    if (subject->stack_count == 0)
        write_result(w, budget, subject, &none);
}

static void write_results(sarif_writer *w, const etlheap_sink *sink)
{
    const etlheap_gate *const gate = w->check->gate;
    etlheap_json_array(&w->json, "results");
    for (u32 i = 0; i < gate->requirement_count; i++) {
        if (etlheap_check_is_unmet(w->check, &gate->requirements[i]))
            write_unmet(w, i);
    }
    for (u32 b = 0; b < gate->budget_count; b++) {
        const etlheap_gate_budget *const budget = &gate->budgets[b];
        const u32 count = (u32)etl_min_u64(budget->failed_count, w->choice.subjects_max);
        for (u32 s = 0; s < count && etlheap_sink_ok(sink); s++)
            write_subject(w, budget, &budget->subjects[s]);
        if (sarif_is_unmeasured(budget))
            write_unmeasured(w, budget);
    }
    etlheap_json_array_close(&w->json);
}

static void write_run(sarif_writer *w, const etlheap_result *result, const etlheap_sink *sink)
{
    etlheap_json_object(&w->json, NULL);
    write_tool(w);
    write_automation(w);
    write_invocation(w);
    write_results(w, sink);
    etlheap_json_object(&w->json, "properties");
    etlheap_json_string(&w->json, "verdict", etlheap_check_verdict_word(w->check));
    etlheap_text_clear(&w->text);
    etlheap_check_add_summary(&w->text, result, w->check);
    etlheap_json_string(&w->json, "summary", etlheap_text_of(&w->text));
    etlheap_json_object_close(&w->json);
    etlheap_json_object_close(&w->json);
}

etl_status etlheap_write_check_sarif(const etlheap_result *result, const etlheap_check *check,
                                     const etlheap_layout *given, etlheap_sink *sink)
{
    etlheap_layout layout;
    const etl_status layout_status = etlheap_layout_read(given, &layout);
    if (layout_status != ETL_OK)
        return layout_status;
    sarif_writer w = { .json = etlheap_json_begin(sink, 5),
                       .check = check,
                       .hint = layout.hint,
                       .choice = sarif_choose(check->gate, check->results_max) };
    etlheap_json_object(&w.json, NULL);
    etlheap_json_string(&w.json, "$schema",
                        "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/"
                        "sarif-schema-2.1.0.json");
    etlheap_json_string(&w.json, "version", "2.1.0");
    etlheap_json_array(&w.json, "runs");
    write_run(&w, result, sink);
    etlheap_json_array_close(&w.json);
    etlheap_json_object_close(&w.json);
    etlheap_json_end(&w.json);
    const bool failed = w.failed || w.text.failed;
    export_numbers_free(&w.prints);
    free(w.tally);
    etlheap_text_free(&w.text);
    return failed ? ETL_ERR_MEMORY : ETL_OK;
}
