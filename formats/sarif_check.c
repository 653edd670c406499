/*
 * sarif_check.c - what failed in a check as a SARIF 2.1.0 log, which code hosts show
 * beside the source.
 *
 *     rule     an option that sets budgets
 *     result   a stack to blame for a subject that failed; a failed subject without
 *              stacks, or a budget for which nothing was measured, is a result
 *              without a place
 *
 * What was accepted with --accept is a note, suppressed from outside the sources.
 *
 * The place of a result is its innermost frame with a known line, else its innermost
 * function. Why a verdict proves nothing, and what was lost at recording, are
 * notifications of the run. Fingerprints let a host follow a finding from build to
 * build.
 *
 * Source: OASIS, Static Analysis Results Interchange Format Version 2.1.0.
 */
#include "check_parts.h"
#include "json.h"
#include "units.h"
#include "writers.h"

#include <inttypes.h>
#include <stdio.h>

#define SENTENCE_SIZE 512 /* of a diagnostic */

/* By is_growth and is_count. */
static const struct {
    const char *name, *about;
} rules[] = {
    { "Outstanding memory", "More bytes were allocated and not freed than the budget allows." },
    { "Outstanding allocations", "More allocations were not freed than the budget allows." },
    { "Growth of outstanding memory",
      "More bytes were not freed than in the baseline, by more than the budget allows." },
    { "Growth of outstanding allocations",
      "More allocations were not freed than in the baseline, by more than the budget allows." },
};

static u32 rule_of(const etlheap_budget *budget);
static void write_tool(etlheap_json *json);
static void write_invocation(etlheap_json *json, const etlheap_gate *gate, etlheap_text *text);
static void write_diagnostics(etlheap_json *json, const char *whose, const etl_diag_counts *counts,
                              etlheap_text *text);
static void write_notification(etlheap_json *json, const char *level, const char *id,
                               const char *sentence, etlheap_text *text);
static void write_subject(etlheap_json *json, const etlheap_check *check,
                          const etlheap_gate_budget *budget, const etlheap_gate_subject *subject,
                          etlheap_text *text);
static void write_result(etlheap_json *json, const etlheap_check *check,
                         const etlheap_gate_budget *budget, const etlheap_gate_subject *subject,
                         const etlheap_gate_stack *stack, etlheap_text *text);
static void write_unmeasured(etlheap_json *json, const etlheap_gate *gate,
                             const etlheap_gate_budget *budget, etlheap_text *text);
static void write_message(etlheap_json *json, const char *sentence, etlheap_text *scratch);
static void write_locations(etlheap_json *json, const etlheap_table *table,
                            const etlheap_indices *frames, etlheap_text *text);
static void write_place(etlheap_json *json, const etlheap_frame *frame, etlheap_text *text);
static void write_stack(etlheap_json *json, const etlheap_table *table,
                        const etlheap_indices *frames, etlheap_text *text);
static void add_uri(etlheap_text *text, const char *path);

etl_status etlheap_write_check_sarif(const etlheap_result *result, const etlheap_check *check,
                                     const etlheap_layout *layout, etlheap_sink *sink)
{
    const etlheap_gate *const gate = check->gate;
    etlheap_json json = etlheap_json_begin(sink, 5);
    etlheap_text text = { 0 };
    (void)result;
    (void)layout;
    etlheap_json_object(&json, NULL);
    etlheap_json_string(&json, "$schema",
                        "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/"
                        "sarif-schema-2.1.0.json");
    etlheap_json_string(&json, "version", "2.1.0");
    etlheap_json_array(&json, "runs");
    etlheap_json_object(&json, NULL);
    write_tool(&json);
    write_invocation(&json, gate, &text);
    etlheap_json_array(&json, "results");
    for (u32 b = 0; b < gate->budget_count; b++) {
        const etlheap_gate_budget *const budget = &gate->budgets[b];
        for (u32 s = 0; s < budget->failed_count && etlheap_sink_ok(sink); s++)
            write_subject(&json, check, budget, &budget->subjects[s], &text);
        if (budget->is_unmeasured && budget->outcome == ETLHEAP_OUTCOME_FAIL)
            write_unmeasured(&json, gate, budget, &text);
    }
    etlheap_json_array_close(&json);
    etlheap_json_object(&json, "properties");
    etlheap_json_string(&json, "verdict", etlheap_check_verdict_word(check));
    etlheap_json_object_close(&json);
    etlheap_json_object_close(&json);
    etlheap_json_array_close(&json);
    etlheap_json_object_close(&json);
    etlheap_json_end(&json);
    const bool failed = text.failed;
    etlheap_text_free(&text);
    return failed ? ETL_ERR_MEMORY : ETL_OK;
}

static u32 rule_of(const etlheap_budget *budget)
{
    return (budget->is_growth ? 2u : 0u) + (budget->is_count ? 1u : 0u);
}

static void write_tool(etlheap_json *json)
{
    etlheap_json_object(json, "tool");
    etlheap_json_object(json, "driver");
    etlheap_json_string(json, "name", "etlheap");
    etlheap_json_string(json, "version", ETLHEAP_VERSION);
    etlheap_json_string(json, "semanticVersion", ETLHEAP_VERSION);
    etlheap_json_array(json, "rules");
    for (u32 i = 0; i < ETL_COUNT_OF(rules); i++) {
        const etlheap_budget budget = { .is_growth = i >= 2, .is_count = i % 2 == 1 };
        etlheap_json_object(json, NULL);
        etlheap_json_string(json, "id", etlheap_check_option(&budget));
        etlheap_json_string(json, "name", rules[i].name);
        etlheap_json_object(json, "shortDescription");
        etlheap_json_string(json, "text", rules[i].about);
        etlheap_json_object_close(json);
        etlheap_json_object(json, "defaultConfiguration");
        etlheap_json_string(json, "level", "error");
        etlheap_json_object_close(json);
        etlheap_json_object_close(json);
    }
    etlheap_json_array_close(json);
    etlheap_json_object_close(json);
    etlheap_json_object_close(json);
}

static void write_invocation(etlheap_json *json, const etlheap_gate *gate, etlheap_text *text)
{
    etlheap_json_array(json, "invocations");
    etlheap_json_object(json, NULL);
    etlheap_json_bool(json, "executionSuccessful", true);
    etlheap_json_array(json, "toolExecutionNotifications");
    for (int i = 0; i < ETLHEAP_DOUBT_COUNT; i++) {
        if (gate->doubts >> i & 1)
            write_notification(json, "warning", etlheap_doubt_word((etlheap_doubt)i),
                               etlheap_doubt_sentence((etlheap_doubt)i), text);
    }
    write_diagnostics(json, "", &gate->diagnostics, text);
    write_diagnostics(json, "baseline: ", &gate->baseline_diagnostics, text);
    etlheap_json_array_close(json);
    etlheap_json_object_close(json);
    etlheap_json_array_close(json);
}

static void write_diagnostics(etlheap_json *json, const char *whose, const etl_diag_counts *counts,
                              etlheap_text *text)
{
    char sentence[SENTENCE_SIZE];
    for (int i = 0; i < ETL_DIAG_COUNT; i++) {
        const etl_diag_info *const info = etl_diag_describe((etl_diag)i);
        if (counts->of[i] == 0)
            continue;
        snprintf(sentence, sizeof sentence, "%s%s (%" PRIu64 "): %s", whose, info->name,
                 counts->of[i], info->advice);
        write_notification(json, info->severity == ETL_SEVERITY_INFO ? "note" : "warning",
                           info->name, sentence, text);
    }
}

static void write_notification(etlheap_json *json, const char *level, const char *id,
                               const char *sentence, etlheap_text *text)
{
    etlheap_json_object(json, NULL);
    etlheap_json_object(json, "descriptor");
    etlheap_json_string(json, "id", id);
    etlheap_json_object_close(json);
    etlheap_json_string(json, "level", level);
    write_message(json, sentence, text);
    etlheap_json_object_close(json);
}

static void write_subject(etlheap_json *json, const etlheap_check *check,
                          const etlheap_gate_budget *budget, const etlheap_gate_subject *subject,
                          etlheap_text *text)
{
    const etlheap_gate_stack none = { .stack = ETLHEAP_NO_INDEX,
                                      .process = subject->process,
                                      .fingerprint = subject->fingerprint,
                                      .now = subject->now,
                                      .baseline = subject->baseline };
    for (u32 i = 0; i < subject->stack_count; i++)
        write_result(json, check, budget, subject, &subject->stacks[i], text);
    if (subject->stack_count == 0)
        write_result(json, check, budget, subject, &none, text);
}

static void write_fingerprint(etlheap_json *json, const char *key, u64 fingerprint)
{
    char digits[17];
    snprintf(digits, sizeof digits, "%016" PRIx64, fingerprint);
    etlheap_json_string(json, key, digits);
}

/* Hosts that know suppressions close the finding. */
static void write_acceptance(etlheap_json *json)
{
    etlheap_json_array(json, "suppressions");
    etlheap_json_object(json, NULL);
    etlheap_json_string(json, "kind", "external");
    etlheap_json_string(json, "status", "accepted");
    etlheap_json_string(json, "justification", "--update-baseline --accept");
    etlheap_json_object_close(json);
    etlheap_json_array_close(json);
}

/* There is no stack to show, and no amount. */
static void write_unmeasured(etlheap_json *json, const etlheap_gate *gate,
                             const etlheap_gate_budget *budget, etlheap_text *text)
{
    char sentence[SENTENCE_SIZE];
    etlheap_check_absence_sentence(gate, sentence, sizeof sentence);
    etlheap_json_object(json, NULL);
    etlheap_json_string(json, "ruleId", etlheap_check_option(&budget->budget));
    etlheap_json_u64(json, "ruleIndex", rule_of(&budget->budget));
    etlheap_json_string(json, "level", "error");
    write_message(json, sentence, text);
    etlheap_json_object(json, "properties");
    etlheap_json_string(json, "per", etlheap_scope_word(budget->budget.scope));
    etlheap_json_object_close(json);
    etlheap_json_object_close(json);
}

/* "320 KiB in 80 allocations outstanding. heap app.exe (4321): 640 KiB in 160
 * allocations, over the limit of 128 KiB by 512 KiB." */
static void write_result(etlheap_json *json, const etlheap_check *check,
                         const etlheap_gate_budget *budget, const etlheap_gate_subject *subject,
                         const etlheap_gate_stack *stack, etlheap_text *text)
{
    const bool is_accepted = etlheap_check_is_accepted(check);
    const etlheap_indices frames = etlheap_check_frames(budget->table, stack->stack);
    etlheap_json_object(json, NULL);
    etlheap_json_string(json, "ruleId", etlheap_check_option(&budget->budget));
    etlheap_json_u64(json, "ruleIndex", rule_of(&budget->budget));
    etlheap_json_string(json, "level", is_accepted ? "note" : "error");
    etlheap_text sentence = { 0 };
    etlheap_check_add_share(&sentence, &budget->budget, stack);
    etlheap_text_add_string(&sentence, " outstanding. ");
    etlheap_check_add_subject(&sentence, budget, subject, true);
    etlheap_text_add_string(&sentence, ": ");
    etlheap_check_add_finding(&sentence, budget, subject);
    etlheap_text_add_string(&sentence, ".");
    write_message(json, etlheap_text_of(&sentence), text);
    text->failed |= sentence.failed;
    etlheap_text_free(&sentence);
    if (frames.count > 0) {
        write_locations(json, budget->table, &frames, text);
        write_stack(json, budget->table, &frames, text);
    }
    etlheap_json_object(json, "partialFingerprints");
    write_fingerprint(json, "etlheapStack/v1", stack->fingerprint);
    write_fingerprint(json, "etlheapSubject/v1", subject->fingerprint);
    etlheap_json_object_close(json);
    if (is_accepted)
        write_acceptance(json);
    etlheap_json_object(json, "properties");
    etlheap_json_string(json, "kind", etlheap_kind_name(subject->kind));
    etlheap_json_string(json, "process", stack->process);
    etlheap_json_string(json, "per", etlheap_scope_word(budget->budget.scope));
    etlheap_json_u64(json, "outstanding_size", stack->now.size_bytes);
    etlheap_json_u64(json, "outstanding_count", stack->now.count);
    etlheap_json_i64(json, "measured", subject->measured);
    etlheap_json_i64(json, "limit", subject->limit);
    etlheap_json_object_close(json);
    etlheap_json_object_close(json);
}

/* Braces stand for arguments of messages unless they are doubled. */
static void write_message(etlheap_json *json, const char *sentence, etlheap_text *scratch)
{
    etlheap_text_clear(scratch);
    while (*sentence != '\0') {
        const size_t size = strcspn(sentence, "{}");
        etlheap_text_add(scratch, sentence, size);
        sentence += size;
        if (*sentence == '\0')
            break;
        etlheap_text_add(scratch, sentence, 1);
        etlheap_text_add(scratch, sentence, 1);
        sentence++;
    }
    etlheap_json_object(json, "message");
    etlheap_json_string(json, "text", etlheap_text_of(scratch));
    etlheap_json_object_close(json);
}

static void write_locations(etlheap_json *json, const etlheap_table *table,
                            const etlheap_indices *frames, etlheap_text *text)
{
    u32 place = 0;
    while (place < frames->count && table->frames[frames->at[place]].line == 0)
        place++;
    etlheap_json_array(json, "locations");
    etlheap_json_object(json, NULL);
    write_place(json, &table->frames[frames->at[place < frames->count ? place : 0]], text);
    etlheap_json_object_close(json);
    etlheap_json_array_close(json);
}

/* The members of a location. */
static void write_place(etlheap_json *json, const etlheap_frame *frame, etlheap_text *text)
{
    if (frame->file && frame->line > 0) {
        etlheap_text_clear(text);
        add_uri(text, frame->file);
        etlheap_json_object(json, "physicalLocation");
        etlheap_json_object(json, "artifactLocation");
        etlheap_json_string(json, "uri", etlheap_text_of(text));
        etlheap_json_object_close(json);
        etlheap_json_object(json, "region");
        etlheap_json_u64(json, "startLine", frame->line);
        etlheap_json_object_close(json);
        etlheap_json_object_close(json);
    }
    etlheap_text_clear(text);
    etlheap_text_add_frame(text, frame);
    etlheap_json_array(json, "logicalLocations");
    etlheap_json_object(json, NULL);
    if (frame->symbol)
        etlheap_json_string(json, "name", frame->symbol);
    etlheap_json_string(json, "fullyQualifiedName", etlheap_text_of(text));
    etlheap_json_string(json, "kind", "function");
    etlheap_json_object_close(json);
    etlheap_json_array_close(json);
}

static void write_stack(etlheap_json *json, const etlheap_table *table,
                        const etlheap_indices *frames, etlheap_text *text)
{
    etlheap_json_array(json, "stacks");
    etlheap_json_object(json, NULL);
    etlheap_json_array(json, "frames");
    for (u32 i = 0; i < frames->count; i++) {
        const etlheap_frame *const frame = &table->frames[frames->at[i]];
        etlheap_json_object(json, NULL);
        etlheap_json_object(json, "location");
        write_place(json, frame, text);
        etlheap_json_object_close(json);
        if (frame->module)
            etlheap_json_string(json, "module", frame->module);
        etlheap_json_object_close(json);
    }
    etlheap_json_array_close(json);
    etlheap_json_object_close(json);
    etlheap_json_array_close(json);
}

/* A path as a URI reference (RFC 3986): "C:\a b.cpp" is file:///C:/a%20b.cpp, what is
 * relative stays so. Bytes that no reference has are written in hexadecimal. */
static void add_uri(etlheap_text *text, const char *path)
{
    static const char plain[] = "-._~/!$&'()*+,;=@";
    const bool has_drive = ((path[0] | 0x20) >= 'a' && (path[0] | 0x20) <= 'z') && path[1] == ':';
    if (has_drive)
        etlheap_text_add_string(text, "file:///");
    else if (path[0] == '/' || path[0] == '\\')
        etlheap_text_add_string(text, path[0] == path[1] ? "file:" : "file://");
    for (size_t i = 0; path[i] != '\0'; i++) {
        const u8 c = path[i] == '\\' ? '/' : (u8)path[i];
        const bool letter = (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
        if (letter || (c >= '0' && c <= '9') || strchr(plain, c) ||
            (c == ':' && i == 1 && has_drive))
            etlheap_text_add(text, (const char *)&c, 1);
        else
            etlheap_text_add_format(text, "%%%02X", c);
    }
}
