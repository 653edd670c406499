/*
 * check_summary.c - says in one line what a check found, and what was compared with what.
 *
 * In: an etlheap_check and the result that it judged. Out: phrases appended to an etlheap_text, for
 * all formats. The first line of a verdict is often all that is read, in a list of jobs or a mail.
 * So it has the verdict, what is missing although it was required, the run, its window if that is a
 * part of the trace, the kinds of memory, and the baseline:
 *
 *     1 of 2 limits is exceeded: heap and extent of new.etl, compared with base.ehs
 *     nothing was measured (new.etl)
 *
 * Invariant: what was not judged is not named as if it were.
 */
#include "check_summary.h"

#include "formats/io/units.h"
#include "layout_read.h"

#include <inttypes.h>
#include <stdio.h>

#define REQUIRED_NAMED  3u
#define PROCESSES_NAMED 8u

bool etlheap_check_is_unmet(const etlheap_check *check, const etlheap_gate_requirement *requirement)
{
    const bool is_made = requirement->process == NULL && etlheap_check_is_accepted(check);
    return !requirement->is_met && !is_made;
}

const char *etlheap_check_requirement_option(const etlheap_gate_requirement *requirement)
{
    return requirement->process == NULL ? "require-baseline" : "require-process";
}

static void add_baseline_name(etlheap_text *text, const etlheap_check *check)
{
    etlheap_text_add_string(text, check->baseline_name ? " " : "");
    etlheap_text_add_string(text, check->baseline_name ? check->baseline_name : "");
}

void etlheap_check_add_unmet(etlheap_text *text, const etlheap_check *check)
{
    const etlheap_gate *const gate = check->gate;
    u32 missing = 0, listed = 0;
    const char *separator = "";
    for (u32 i = 0; i < gate->requirement_count; i++) {
        const etlheap_gate_requirement *const one = &gate->requirements[i];
        if (!etlheap_check_is_unmet(check, one))
            continue;
        missing += one->process != NULL;
        if (one->process != NULL)
            continue;
        etlheap_text_add_string(text, "the required baseline");
        add_baseline_name(text, check);
        etlheap_text_add_string(text, " is missing");
        separator = ", and ";
    }
    if (missing == 0)
        return;
    etlheap_text_add_string(text, separator);
    etlheap_text_add_string(text, missing == 1 ? "the required process" : "the required processes");
    for (u32 i = 0; i < gate->requirement_count && listed < REQUIRED_NAMED; i++) {
        const etlheap_gate_requirement *const one = &gate->requirements[i];
        if (one->process == NULL || one->is_met)
            continue;
        etlheap_text_add_string(text, listed == 0 ? " " : ", ");
        etlheap_text_add_string(text, one->process);
        listed++;
    }
    if (listed < missing)
        etlheap_text_add_format(text, " and %" PRIu32 " more", missing - listed);
    etlheap_text_add_string(text,
                            missing == 1 ? " has no memory events" : " have no memory events");
}

static void add_kept(etlheap_text *text, u32 kept)
{
    etlheap_text_add_format(text, "%" PRIu32 " %s kept", kept,
                            kept == 1 ? "limit is" : "limits are");
}

/* "1 of 3 limits is exceeded, and nothing was measured for 1" */
static void add_failure(etlheap_text *text, const etlheap_gate *gate, u32 judged)
{
    u32 exceeded = 0, unmeasured = 0;
    for (u32 i = 0; i < gate->budget_count; i++) {
        const etlheap_gate_budget *const budget = &gate->budgets[i];
        const bool is_empty = budget->is_unmeasured && budget->failed_count == 0;
        exceeded += budget->outcome == ETLHEAP_OUTCOME_FAIL && !is_empty;
        unmeasured += budget->outcome == ETLHEAP_OUTCOME_FAIL && is_empty;
    }
    if (exceeded > 0)
        etlheap_text_add_format(text, "%" PRIu32 " of %" PRIu32 " %s %s exceeded", exceeded, judged,
                                judged == 1 ? "limit" : "limits", exceeded == 1 ? "is" : "are");
    if (unmeasured == 0)
        return;
    etlheap_text_add_string(text,
                            exceeded > 0 ? ", and nothing was measured" : "nothing was measured");
    if (unmeasured < judged)
        etlheap_text_add_format(text, " for %" PRIu32, unmeasured);
    if (unmeasured < judged && exceeded == 0)
        etlheap_text_add_format(text, " of %" PRIu32 " limits", judged);
}

void etlheap_check_add_verdict(etlheap_text *text, const etlheap_check *check)
{
    const etlheap_gate *const gate = check->gate;
    u32 of[ETLHEAP_OUTCOME_COUNT] = { 0 };
    for (u32 i = 0; i < gate->budget_count; i++)
        of[gate->budgets[i].outcome]++;
    const u32 skipped = of[ETLHEAP_OUTCOME_SKIPPED];
    const u32 judged = gate->budget_count - skipped;
    if (etlheap_check_is_accepted(check))
        etlheap_text_add_string(text, "this run is the baseline from now on; ");
    const size_t before = text->size;
    etlheap_check_add_unmet(text, check);
    if (text->size > before && judged > 0)
        etlheap_text_add_string(text, "; ");
    if (of[ETLHEAP_OUTCOME_FAIL] > 0)
        add_failure(text, gate, judged);
    else if (of[ETLHEAP_OUTCOME_INCONCLUSIVE] > 0)
        etlheap_text_add_string(
            text, "no limit is known to be exceeded, but not all are known to be kept");
    else if (judged > 0)
        add_kept(text, judged);
    else if (text->size == before)
        etlheap_text_add_string(text, etlheap_check_no_baseline);
    if (judged > 0 && skipped > 0)
        etlheap_text_add_format(text, ", and %" PRIu32 " cannot be judged without a baseline",
                                skipped);
}

void etlheap_check_add_requirement(etlheap_text *text, const etlheap_check *check,
                                   const etlheap_gate_requirement *requirement, etl_hint_fn *say)
{
    if (requirement->process == NULL) {
        etlheap_text_add_string(text, "the required baseline");
        add_baseline_name(text, check);
        etlheap_text_add_string(text, " is missing: restore it");
        etlheap_text_add_string(text, etlheap_hint_words(say, ETL_HINT_FIRST_BASELINE));
        return;
    }
    etlheap_text_add_string(text, "no process with memory events matches '");
    etlheap_text_add_string(text, requirement->process);
    etlheap_text_add_string(text, "', which is required");
    if (check->gate->absence.process_count == 0)
        return;
    etlheap_text_add_string(text, "; processes with memory events: ");
    etlheap_check_add_processes(text, check->gate, PROCESSES_NAMED);
}

void etlheap_check_add_missing(etlheap_text *text, const etlheap_gate *gate)
{
    const u32 named = gate->missing_count < PROCESSES_NAMED ? gate->missing_count : PROCESSES_NAMED;
    if (gate->missing == NULL || named == 0)
        return;
    etlheap_text_add_string(text, "In the baseline, but without memory events in this run: ");
    for (u32 i = 0; i < named; i++) {
        const char *const name = gate->missing[i];
        etlheap_text_add_string(text, i > 0 ? ", " : "");
        etlheap_text_add_string(text, name != NULL && *name != '\0' ? name : "(no name)");
    }
    if (named < gate->missing_count)
        etlheap_text_add_format(text, " and %" PRIu32 " more", gate->missing_count - named);
}

void etlheap_check_requirement_sentence(const etlheap_check *check, uint32_t index,
                                        etl_hint_fn *say, char *sentence, size_t size)
{
    etlheap_text text = { 0 };
    etlheap_check_add_requirement(&text, check, &check->gate->requirements[index], say);
    snprintf(sentence, size, "%s", etlheap_text_of(&text));
    etlheap_text_free(&text);
}

/* "new.etl", "kernel.etl and 1 more file" */
static void add_files(etlheap_text *text, const etlheap_trace_info *trace)
{
    if (trace->file_count == 0)
        return;
    etlheap_text_add_string(text, trace->files[0]);
    if (trace->file_count > 1)
        etlheap_text_add_format(text, " and %" PRIu32 " more %s", trace->file_count - 1,
                                trace->file_count == 2 ? "file" : "files");
}

static void add_window(etlheap_text *text, const etlheap_trace_info *trace,
                       const etlheap_gate *gate)
{
    char from[ETLHEAP_UNITS_SIZE], to[ETLHEAP_UNITS_SIZE];
    if (gate->from_ns <= 0 && gate->to_ns >= trace->end_ns)
        return;
    etlheap_units_moment(gate->from_ns, from);
    etlheap_units_moment(gate->to_ns, to);
    etlheap_text_add_format(text, " from %s s to %s s", from, to);
}

void etlheap_check_add_summary(etlheap_text *text, const etlheap_result *result,
                               const etlheap_check *check)
{
    const etlheap_gate *const gate = check->gate;
    const etlheap_trace_info *const trace = etlheap_result_trace(result);
    const bool is_judged = gate->judged_kinds != 0;
    etlheap_check_add_verdict(text, check);
    etlheap_text_add_string(text, is_judged ? ": " : " (");
    etlheap_check_add_kinds(text, gate->judged_kinds, " and ");
    etlheap_text_add_string(text, is_judged ? " of " : "");
    add_files(text, trace);
    add_window(text, trace, gate);
    if (!is_judged)
        etlheap_text_add_string(text, ")");
    if (!is_judged || gate->baseline == NULL || check->baseline_name == NULL)
        return;
    etlheap_text_add_string(text, ", compared with");
    add_baseline_name(text, check);
}
