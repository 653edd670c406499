/*
 * junit_check.c - writes a check as a JUnit report, which every CI system shows.
 *
 * In: an etlheap_check. Out: an XML document:
 *
 *     testsuite   the check
 *     testcase    a budget held against a subject; failures have their stacks
 *
 * JUnit has no single schema: documents have what Ant's and Jenkins's schemas demand, and nothing
 * that either refuses. A budget without subjects, or one that could not be judged, is a case of its
 * own. It fails if nothing was measured; cases that prove nothing are skipped, with the reason.
 * What was accepted with --accept is not a failure, because servers act on failures; it is listed
 * in system-out. Invariant: names of cases stay the same from run to run, because histories go by
 * them: no process ids.
 */
#include "formats/io/units.h"
#include "formats/io/xml.h"
#include "formats/parts/check_more.h"
#include "formats/parts/check_summary.h"
#include "formats/parts/display.h"
#include "formats/parts/export_numbers.h"
#include "formats/writers.h"
#include "formats/parts/layout_read.h"

#include <inttypes.h>
#include <stdio.h>

#define PROCESSES_NAMED 25u

typedef struct suite_counts {
    u64 tests, failures, skipped;
} suite_counts;

/* A subject, and how many of its budget before it have the same identity. */
typedef struct named_subject {
    const etlheap_gate_subject *of;
    u32 same_before;
} named_subject;

static suite_counts count_cases(const etlheap_check *check);
static bool has_case_of_its_own(const etlheap_gate_budget *budget);
static bool is_empty_failure(const etlheap_gate_budget *budget);
static void write_counts(etlheap_xml *xml, const suite_counts *counts, i64 duration_ns);
static void write_suite(etlheap_xml *xml, const etlheap_result *result, const etlheap_check *check,
                        etl_hint_fn *say);
static void write_properties(etlheap_xml *xml, const etlheap_result *result,
                             const etlheap_check *check, etlheap_text *text);
static void write_requirement(etlheap_xml *xml, const etlheap_check *check,
                              const etlheap_gate_requirement *requirement, etl_hint_fn *say,
                              etlheap_text *text);
static void write_budget(etlheap_xml *xml, const etlheap_check *check,
                         const etlheap_gate_budget *budget, etlheap_text *text);
static void begin_case(etlheap_xml *xml, const etlheap_budget *budget,
                       const etlheap_gate_subject *subject, const char *name);
static void write_case(etlheap_xml *xml, const etlheap_check *check,
                       const etlheap_gate_budget *budget, const named_subject *named,
                       etlheap_text *text);
static void add_name(etlheap_text *text, const etlheap_gate_budget *budget,
                     const named_subject *named);
static void add_stacks(etlheap_text *text, const etlheap_gate_budget *budget,
                       const etlheap_gate_subject *subject);
static void add_doubts(etlheap_text *text, u32 doubts);
static void add_accepted(etlheap_text *text, const etlheap_gate *gate);
static void write_output(etlheap_xml *xml, const etlheap_check *check, etl_hint_fn *say,
                         etlheap_text *text);
static void add_losses(etlheap_text *text, const char *whose, const etl_diag_counts *counts);

etl_status etlheap_write_check_junit(const etlheap_result *result, const etlheap_check *check,
                                     const etlheap_layout *given, etlheap_sink *sink)
{
    etlheap_layout layout;
    const etl_status layout_status = etlheap_layout_read(given, &layout);
    if (layout_status != ETL_OK)
        return layout_status;
    etlheap_xml xml = etlheap_xml_begin(sink);
    etlheap_xml_element(&xml, "testsuites");
    write_suite(&xml, result, check, layout.hint);
    etlheap_xml_close(&xml);
    return etlheap_xml_end(&xml);
}

static suite_counts count_cases(const etlheap_check *check)
{
    const etlheap_gate *const gate = check->gate;
    const bool is_accepted = etlheap_check_is_accepted(check);
    suite_counts counts = { .tests = gate->requirement_count };
    for (u32 i = 0; i < gate->requirement_count; i++)
        counts.failures += etlheap_check_is_unmet(check, &gate->requirements[i]);
    for (u32 i = 0; i < gate->budget_count; i++) {
        const etlheap_gate_budget *const budget = &gate->budgets[i];
        for (u32 s = 0; s < budget->subject_count; s++)
            counts.skipped += budget->subjects[s].outcome == ETLHEAP_OUTCOME_INCONCLUSIVE;
        counts.failures += is_accepted ? 0 : budget->failed_count;
        counts.tests += budget->subject_count;
        if (!has_case_of_its_own(budget))
            continue;
        counts.tests++;
        counts.failures += is_empty_failure(budget);
        counts.skipped += budget->outcome == ETLHEAP_OUTCOME_SKIPPED ||
                          budget->outcome == ETLHEAP_OUTCOME_INCONCLUSIVE;
    }
    return counts;
}

/* Needs the budget a case of its own? It does if it is in doubt as a whole, has no subjects, or
 * does not list them all. */
static bool has_case_of_its_own(const etlheap_gate_budget *budget)
{
    return budget->subject_count < budget->judged_count || budget->subject_count == 0 ||
           budget->is_unmeasured;
}

/* Fails the budget because nothing was measured? With --allow-empty it passes. */
static bool is_empty_failure(const etlheap_gate_budget *budget)
{
    return budget->is_unmeasured && budget->outcome == ETLHEAP_OUTCOME_FAIL;
}

/* Jenkins takes three digits after the point and no more. */
static void write_seconds(etlheap_xml *xml, i64 ns)
{
    char seconds[32];
    const i64 ms = ns < 0 ? 0 : ns / 1000000;
    snprintf(seconds, sizeof seconds, "%" PRId64 ".%03" PRId64, ms / 1000, ms % 1000);
    etlheap_xml_attribute(xml, "time", seconds);
}

/* Writes counts, and as the time that of the recording: the check's own would differ from run to
 * run. */
static void write_counts(etlheap_xml *xml, const suite_counts *counts, i64 duration_ns)
{
    etlheap_xml_attribute_u64(xml, "tests", counts->tests);
    etlheap_xml_attribute_u64(xml, "failures", counts->failures);
    etlheap_xml_attribute_u64(xml, "errors", 0);
    write_seconds(xml, duration_ns);
}

static void write_suite(etlheap_xml *xml, const etlheap_result *result, const etlheap_check *check,
                        etl_hint_fn *say)
{
    const etlheap_trace_info *const trace = etlheap_result_trace(result);
    const suite_counts counts = count_cases(check);
    char time[ETLHEAP_UNITS_SIZE];
    etlheap_text text = { 0 };
    etlheap_units_start(trace, time);
    time[strlen("2020-07-29T00:07:00")] = '\0'; /* the schema has no fractions or zones */
    etlheap_xml_element(xml, "testsuite");
    etlheap_xml_attribute(xml, "name", "etlheap check");
    etlheap_xml_attribute(xml, "package", "etlheap");
    etlheap_xml_attribute_u64(xml, "id", 0);
    etlheap_xml_attribute(xml, "hostname", *trace->computer ? trace->computer : "localhost");
    etlheap_xml_attribute(xml, "timestamp", time);
    write_counts(xml, &counts, trace->duration_ns);
    etlheap_xml_attribute_u64(xml, "skipped", counts.skipped);
    write_properties(xml, result, check, &text);
    for (u32 i = 0; i < check->gate->requirement_count; i++)
        write_requirement(xml, check, &check->gate->requirements[i], say, &text);
    for (u32 i = 0; i < check->gate->budget_count; i++)
        write_budget(xml, check, &check->gate->budgets[i], &text);
    write_output(xml, check, say, &text);
    etlheap_xml_close(xml);
    xml->failed |= text.failed;
    etlheap_text_free(&text);
}

static void write_property(etlheap_xml *xml, const char *name, const char *value)
{
    etlheap_xml_element(xml, "property");
    etlheap_xml_attribute(xml, "name", name);
    etlheap_xml_attribute(xml, "value", value);
    etlheap_xml_close(xml);
}

static void write_properties(etlheap_xml *xml, const etlheap_result *result,
                             const etlheap_check *check, etlheap_text *text)
{
    const etlheap_trace_info *const trace = etlheap_result_trace(result);
    etlheap_xml_element(xml, "properties");
    write_property(xml, "verdict", etlheap_check_verdict_word(check));
    etlheap_text_clear(text);
    etlheap_check_add_summary(text, result, check);
    write_property(xml, "summary", etlheap_text_of(text));
    for (u32 i = 0; i < trace->file_count; i++)
        write_property(xml, "trace", trace->files[i]);
    if (check->baseline_name) {
        etlheap_text_clear(text);
        etlheap_text_add_string(text, check->baseline_name);
        etlheap_text_add_string(text, check->ratchet == ETLHEAP_RATCHET_NONE ? "" : ", ");
        etlheap_check_add_ratchet(text, check);
        write_property(xml, "baseline", etlheap_text_of(text));
    }
    etlheap_xml_close(xml);
}

/* Writes a case such as "etlheap.require-process", named after the word for the process. */
static void write_requirement(etlheap_xml *xml, const etlheap_check *check,
                              const etlheap_gate_requirement *requirement, etl_hint_fn *say,
                              etlheap_text *text)
{
    const char *const option = etlheap_check_requirement_option(requirement);
    char class_name[64];
    snprintf(class_name, sizeof class_name, "etlheap.%s", option);
    etlheap_xml_element(xml, "testcase");
    etlheap_xml_attribute(xml, "classname", class_name);
    etlheap_xml_attribute(xml, "name", requirement->process ? requirement->process : "baseline");
    write_seconds(xml, 0);
    if (etlheap_check_is_unmet(check, requirement)) {
        etlheap_text_clear(text);
        etlheap_check_add_requirement(text, check, requirement, say);
        etlheap_xml_element(xml, "failure");
        etlheap_xml_attribute(xml, "message", etlheap_text_of(text));
        etlheap_xml_attribute(xml, "type", option);
        etlheap_xml_close(xml);
    }
    etlheap_xml_close(xml);
}

static void write_budget(etlheap_xml *xml, const etlheap_check *check,
                         const etlheap_gate_budget *budget, etlheap_text *text)
{
    if (has_case_of_its_own(budget)) {
        begin_case(xml, &budget->budget, NULL, "all");
        if (is_empty_failure(budget)) {
            etlheap_text_clear(text);
            etlheap_text_add_string(text, "nothing was measured: ");
            etlheap_check_add_absence(text, check->gate, PROCESSES_NAMED);
            etlheap_xml_element(xml, "failure");
            etlheap_xml_attribute(xml, "message", etlheap_text_of(text));
            etlheap_xml_attribute(xml, "type", "nothing-measured");
            etlheap_xml_close(xml);
        } else if (budget->outcome == ETLHEAP_OUTCOME_INCONCLUSIVE ||
                   budget->outcome == ETLHEAP_OUTCOME_SKIPPED) {
            etlheap_text_clear(text);
            add_doubts(text, budget->doubts);
            etlheap_xml_element(xml, "skipped");
            etlheap_xml_attribute(
                xml, "message", budget->doubts ? etlheap_text_of(text) : etlheap_check_no_baseline);
            etlheap_xml_close(xml);
        }
        etlheap_xml_close(xml);
    }
    export_repeats repeats = { .counts = NULL };
    for (u32 i = 0; i < budget->subject_count; i++) {
        const etlheap_gate_subject *const subject = &budget->subjects[i];
        const etl_bytes key = { (const u8 *)&subject->fingerprint, sizeof subject->fingerprint };
        const named_subject named = { subject, export_repeats_note(&repeats, key) };
        write_case(xml, check, budget, &named, text);
    }
    text->failed |= repeats.numbers.failed;
    export_repeats_free(&repeats);
}

/* Begins a case such as "etlheap.max-outstanding.process", whose parts systems show as a tree. The
 * interval of a mark is a case of its kind, named after the mark, which is a test's name. */
static void begin_case(etlheap_xml *xml, const etlheap_budget *budget,
                       const etlheap_gate_subject *subject, const char *name)
{
    char class_name[64];
    const char *const kind = subject && subject->mark ? etlheap_kind_name(subject->kind) : "";
    snprintf(class_name, sizeof class_name, "etlheap.%s.%s%s%s", etlheap_check_option(budget),
             etlheap_scope_word(budget->scope), *kind ? "." : "", kind);
    etlheap_xml_element(xml, "testcase");
    etlheap_xml_attribute(xml, "classname", class_name);
    etlheap_xml_attribute(xml, "name", name);
    write_seconds(xml, 0);
}

static void write_case(etlheap_xml *xml, const etlheap_check *check,
                       const etlheap_gate_budget *budget, const named_subject *named,
                       etlheap_text *text)
{
    const bool is_accepted = etlheap_check_is_accepted(check);
    const etlheap_gate_subject *const subject = named->of;
    etlheap_text_clear(text);
    add_name(text, budget, named);
    begin_case(xml, &budget->budget, subject, etlheap_text_of(text));
    etlheap_text_clear(text);
    if (subject->outcome == ETLHEAP_OUTCOME_FAIL && !is_accepted) {
        etlheap_check_add_subject(text, budget, subject, true);
        etlheap_text_add_string(text, ": ");
        etlheap_check_add_finding(text, budget, subject);
        etlheap_xml_element(xml, "failure");
        etlheap_xml_attribute(xml, "message", etlheap_text_of(text));
        etlheap_xml_attribute(xml, "type", etlheap_check_option(&budget->budget));
        etlheap_text_clear(text);
        add_stacks(text, budget, subject);
        etlheap_xml_text(xml, etlheap_text_of(text));
        etlheap_xml_close(xml);
    } else if (subject->outcome == ETLHEAP_OUTCOME_INCONCLUSIVE) {
        add_doubts(text, budget->doubts);
        etlheap_xml_element(xml, "skipped");
        etlheap_xml_attribute(xml, "message", etlheap_text_of(text));
        etlheap_xml_close(xml);
    }
    etlheap_xml_close(xml);
}

/* Adds the name of a case. Stacks of one function are told apart by fingerprint; processes of one
 * name by the order of their sizes. */
static void add_name(etlheap_text *text, const etlheap_gate_budget *budget,
                     const named_subject *named)
{
    const etlheap_gate_subject *const subject = named->of;
    if (subject->mark) {
        etlheap_text_add_mark(text, subject->mark, subject->mark_number);
        return;
    }
    etlheap_check_add_subject(text, budget, subject, false);
    if (budget->budget.scope == ETLHEAP_SCOPE_STACK) {
        etlheap_text_add_format(text, " [%016" PRIx64 "]", subject->fingerprint);
        return;
    }
    if (named->same_before > 0 && !subject->has_heap)
        etlheap_text_add_format(text, " #%" PRIu32, named->same_before + 1);
}

/* Adds stacks in the form of a stack trace; line breaks in names are replaced. */
static void add_stacks(etlheap_text *text, const etlheap_gate_budget *budget,
                       const etlheap_gate_subject *subject)
{
    etlheap_text line = { 0 };
    for (u32 i = 0; i < subject->stack_count; i++) {
        const etlheap_gate_stack *const stack = &subject->stacks[i];
        const etlheap_indices frames = etlheap_check_frames(budget->table, stack->stack);
        etlheap_text_clear(&line);
        etlheap_text_add_string(&line, stack->process);
        etlheap_text_add_string(&line, ": ");
        etlheap_check_add_share(&line, &budget->budget, subject->kind, stack);
        etlheap_display_add(text, etlheap_text_of(&line));
        etlheap_text_add_string(text, frames.count > 0 ? "\n" : "\n    (no stack)\n");
        for (u32 k = 0; k < frames.count; k++) {
            etlheap_text_clear(&line);
            etlheap_text_add_frame(&line, &budget->table->frames[frames.at[k]]);
            etlheap_text_add_source(&line, &budget->table->frames[frames.at[k]]);
            etlheap_text_add_string(text, "    at ");
            etlheap_display_add(text, etlheap_text_of(&line));
            etlheap_text_add_string(text, "\n");
        }
    }
    if (subject->stacks_omitted > 0)
        etlheap_text_add_format(text, "and %" PRIu32 " more stacks\n", subject->stacks_omitted);
    text->failed |= line.failed;
    etlheap_text_free(&line);
}

static void add_doubts(etlheap_text *text, u32 doubts)
{
    bool first = true;
    for (int i = 0; i < ETLHEAP_DOUBT_COUNT; i++) {
        if (!(doubts >> i & 1))
            continue;
        etlheap_text_add_string(text, first ? "" : "; ");
        etlheap_text_add_string(text, etlheap_doubt_sentence((etlheap_doubt)i));
        first = false;
    }
}

/* Lists what would have failed without --accept. */
static void add_accepted(etlheap_text *text, const etlheap_gate *gate)
{
    for (u32 b = 0; b < gate->budget_count; b++) {
        const etlheap_gate_budget *const budget = &gate->budgets[b];
        for (u32 s = 0; s < budget->failed_count; s++) {
            etlheap_text line = { 0 };
            etlheap_check_add_subject(&line, budget, &budget->subjects[s], true);
            etlheap_text_add_string(&line, ": ");
            etlheap_check_add_finding(&line, budget, &budget->subjects[s]);
            etlheap_text_add_string(text, "accepted: ");
            etlheap_display_add(text, etlheap_text_of(&line));
            etlheap_text_add_string(text, "\n");
            text->failed |= line.failed;
            etlheap_text_free(&line);
        }
    }
}

/* Lists functions that hide who allocates. */
static void add_wrappers(etlheap_text *text, const etlheap_check *check, etl_hint_fn *say)
{
    bool grew;
    const u32 count = etlheap_check_failures(check, &grew) > 0 ? check->gate->wrapper_count : 0;
    for (u32 i = 0; i < count; i++) {
        etlheap_text line = { 0 };
        etlheap_check_add_wrapper(&line, &check->gate->wrappers[i], say);
        etlheap_display_add(text, etlheap_text_of(&line));
        etlheap_text_add_string(text, "\n");
        text->failed |= line.failed;
        etlheap_text_free(&line);
    }
}

/* Writes what is neither pass nor failure: known leaks and losses. */
static void write_output(etlheap_xml *xml, const etlheap_check *check, etl_hint_fn *say,
                         etlheap_text *text)
{
    const etlheap_gate *const gate = check->gate;
    etlheap_text_clear(text);
    if (etlheap_check_is_accepted(check))
        add_accepted(text, gate);
    add_wrappers(text, check, say);
    for (u32 i = 0; i < gate->suppression_count; i++) {
        const etlheap_suppression_use *const use = &gate->suppressions[i];
        etlheap_text_add_string(text, "leak:");
        etlheap_display_add(text, use->pattern);
        etlheap_text_add_format(text, " suppressed %" PRIu64 " stacks\n", use->stacks);
    }
    etlheap_xml_element(xml, "system-out");
    etlheap_xml_text(xml, etlheap_text_of(text));
    etlheap_xml_close(xml);
    etlheap_text_clear(text);
    add_losses(text, "", &gate->diagnostics);
    add_losses(text, "baseline: ", &gate->baseline_diagnostics);
    etlheap_xml_element(xml, "system-err");
    etlheap_xml_text(xml, etlheap_text_of(text));
    etlheap_xml_close(xml);
}

static void add_losses(etlheap_text *text, const char *whose, const etl_diag_counts *counts)
{
    for (int i = 0; i < ETL_DIAG_COUNT; i++) {
        const etl_diag_info *const info = etl_diag_describe((etl_diag)i);
        if (counts->of[i] == 0 || info->severity == ETL_SEVERITY_INFO)
            continue;
        etlheap_text_add_format(text, "%s%s (%" PRIu64 "): ", whose, info->name, counts->of[i]);
        etlheap_text_add_string(text, info->advice);
        etlheap_text_add_string(text, "\n");
    }
}
