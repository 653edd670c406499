/*
 * json_check.c - writes the `etlheap-check-1` document.
 *
 * In: an etlheap_check. Out: JSON: verdict, budgets with their subjects, suppressions, totals,
 * losses.
 *
 * A budget lists the subjects that failed, and the largest of the others. Stacks to blame have
 * their frames with them, because such a document is read one failure at a time. Invariant: keys
 * and their order are part of the interface; new ones are only added.
 */
#include "formats/parts/check_summary.h"
#include "formats/writers.h"
#include "json_rows.h"

#include <stdio.h>

#define PROCESSES_NAMED 8u /* in the sentence that nothing was measured */

static bool write_summary(etlheap_json *json, const etlheap_result *result,
                          const etlheap_check *check);
static void write_doubts(etlheap_json *json, u32 doubts);
static void write_requirements(etlheap_json *json, const etlheap_check *check);
static bool write_absence(etlheap_json *json, const etlheap_gate *gate);
static void write_kinds(etlheap_json *json, const char *key, u32 kinds);
static void write_baseline(etlheap_json *json, const etlheap_check *check);
static void write_budget(etlheap_json *json, const etlheap_gate_budget *budget);
static void write_subject(etlheap_json *json, const etlheap_gate_budget *budget,
                          const etlheap_gate_subject *subject);
static void write_amounts(etlheap_json *json, const etlheap_budget *budget, u32 kind,
                          const etlheap_amount *now, const etlheap_amount *baseline);
static void write_frames(etlheap_json *json, const etlheap_table *table, u32 stack);
static void write_totals(etlheap_json *json, const etlheap_gate *gate);
static void write_wrappers(etlheap_json *json, const etlheap_gate *gate);
static void write_suppressions(etlheap_json *json, const etlheap_gate *gate);

/* Writes the bytes of an amount; null for a kind without sizes. */
static void write_size(etlheap_json *json, const char *key, u32 kind, const etlheap_amount *amount)
{
    if (etlheap_kinds_are_counted(1u << kind))
        etlheap_json_null(json, key);
    else
        etlheap_json_u64(json, key, amount->size_bytes);
}

etl_status etlheap_write_check_json(const etlheap_result *result, const etlheap_check *check,
                                    const etlheap_layout *given, etlheap_sink *sink)
{
    const etlheap_gate *const gate = check->gate;
    etlheap_json json;
    const etl_status status = etlheap_json_document(&json, "etlheap-check-1", 4, given, sink);
    if (status != ETL_OK)
        return status;
    etlheap_json_string(&json, "verdict", etlheap_check_verdict_word(check));
    bool ok = write_summary(&json, result, check);
    write_doubts(&json, gate->doubts);
    ok &= write_absence(&json, gate);
    write_requirements(&json, check);
    etlheap_json_recording(&json, result);
    etlheap_json_window_open(&json, result, gate->from_ns, gate->to_ns);
    etlheap_json_object_close(&json);
    write_baseline(&json, check);
    write_kinds(&json, "judged_kinds", gate->judged_kinds);
    etlheap_json_array(&json, "budgets");
    for (u32 i = 0; i < gate->budget_count; i++)
        write_budget(&json, &gate->budgets[i]);
    etlheap_json_array_close(&json);
    write_totals(&json, gate);
    write_wrappers(&json, gate);
    write_suppressions(&json, gate);
    etlheap_json_diagnostics(&json, &gate->diagnostics);
    etlheap_json_document_end(&json);
    return ok ? ETL_OK : ETL_ERR_MEMORY;
}

/* Writes the verdict's first line in text, without the word. False without memory. */
static bool write_summary(etlheap_json *json, const etlheap_result *result,
                          const etlheap_check *check)
{
    etlheap_text text = { 0 };
    etlheap_check_add_summary(&text, result, check);
    etlheap_json_string(json, "summary", etlheap_text_of(&text));
    const bool ok = !text.failed;
    etlheap_text_free(&text);
    return ok;
}

static void write_requirements(etlheap_json *json, const etlheap_check *check)
{
    const etlheap_gate *const gate = check->gate;
    etlheap_json_array(json, "requirements");
    for (u32 i = 0; i < gate->requirement_count; i++) {
        const etlheap_gate_requirement *const one = &gate->requirements[i];
        etlheap_json_object(json, NULL);
        etlheap_json_string(json, "option", etlheap_check_requirement_option(one));
        if (one->process != NULL)
            etlheap_json_string(json, "process", one->process);
        etlheap_json_bool(json, "met", one->is_met);
        etlheap_json_object_close(json);
    }
    etlheap_json_array_close(json);
}

static void write_doubts(etlheap_json *json, u32 doubts)
{
    etlheap_json_array(json, "doubts");
    for (int i = 0; i < ETLHEAP_DOUBT_COUNT; i++) {
        if (doubts >> i & 1)
            etlheap_json_string(json, NULL, etlheap_doubt_word((etlheap_doubt)i));
    }
    etlheap_json_array_close(json);
}

static void write_kinds(etlheap_json *json, const char *key, u32 kinds)
{
    etlheap_json_array(json, key);
    for (int kind = 0; kind < ETLHEAP_KIND_COUNT; kind++) {
        if (kinds >> kind & 1)
            etlheap_json_string(json, NULL, etlheap_kind_name((etlheap_kind)kind));
    }
    etlheap_json_array_close(json);
}

/* Writes `absence`; null if something was measured for every budget. False without memory. */
static bool write_absence(etlheap_json *json, const etlheap_gate *gate)
{
    const etlheap_gate_absence *const absence = &gate->absence;
    etlheap_text reason = { 0 };
    if (!gate->is_unmeasured) {
        etlheap_json_null(json, "nothing_measured");
        return true;
    }
    etlheap_text_add_string(&reason, "nothing was measured: ");
    etlheap_check_add_absence(&reason, gate, PROCESSES_NAMED);
    etlheap_json_object(json, "nothing_measured");
    etlheap_json_string(json, "reason", etlheap_text_of(&reason));
    const bool ok = !reason.failed;
    etlheap_text_free(&reason);
    etlheap_json_array(json, "patterns");
    for (u32 i = 0; i < absence->pattern_count; i++)
        etlheap_json_string(json, NULL, absence->patterns[i]);
    etlheap_json_array_close(json);
    write_kinds(json, "kinds", absence->kinds | absence->other_kinds);
    etlheap_json_array(json, "processes");
    for (u32 i = 0; i < absence->process_count; i++) {
        const etlheap_gate_process *const process = &absence->processes[i];
        etlheap_json_object(json, NULL);
        etlheap_json_process(json, "process", process->name);
        if (process->pid != ETL_NO_ID)
            etlheap_json_u64(json, "pid", process->pid);
        write_kinds(json, "kinds", process->kinds);
        etlheap_json_u64(json, "events", process->events);
        etlheap_json_object_close(json);
    }
    etlheap_json_array_close(json);
    etlheap_json_object_close(json);
    return ok;
}

static void write_baseline(etlheap_json *json, const etlheap_check *check)
{
    const etlheap_gate *const gate = check->gate;
    if (!check->baseline_name) {
        etlheap_json_null(json, "baseline");
        return;
    }
    etlheap_json_object(json, "baseline");
    etlheap_json_string(json, "file", check->baseline_name);
    etlheap_json_string(json, "update", etlheap_ratchet_word(check->ratchet));
    etlheap_json_u64(json, "grown", gate->grown_count);
    etlheap_json_u64(json, "shrunk", gate->shrunk_count);
    etlheap_json_u64(json, "missing_processes", gate->missing_count);
    etlheap_json_array(json, "missing");
    for (u32 i = 0; i < gate->missing_count; i++)
        etlheap_json_process(json, NULL, gate->missing[i]);
    etlheap_json_array_close(json);
    etlheap_json_array(json, "rebuilt_modules");
    for (u32 i = 0; i < gate->rebuilt_count; i++)
        etlheap_json_string(json, NULL, gate->rebuilt[i]);
    etlheap_json_array_close(json);
    etlheap_json_u64(json, "merged_stacks", gate->merged_count);
    if (gate->baseline)
        etlheap_json_trace(json, gate->baseline);
    else
        etlheap_json_null(json, "trace");
    etlheap_json_diagnostics(json, &gate->baseline_diagnostics);
    etlheap_json_object_close(json);
}

static const char *measure_word(const etlheap_budget *budget)
{
    if (budget->quantity == ETLHEAP_QUANTITY_ALLOC_RATE)
        return "rate";
    return budget->is_count ? "count" : "size";
}

static void write_budget(etlheap_json *json, const etlheap_gate_budget *budget)
{
    const etlheap_budget *const asked = &budget->budget;
    etlheap_json_object(json, NULL);
    etlheap_json_string(json, "option", etlheap_check_option(asked));
    etlheap_json_string(json, "per", etlheap_scope_word(asked->scope));
    if (asked->name)
        etlheap_json_string(json, "name", asked->name);
    etlheap_json_string(json, "measure", measure_word(asked));
    write_kinds(json, "kinds", asked->kinds); /* empty: every kind */
    etlheap_json_u64(json, "limit", asked->limit);
    if (asked->is_growth)
        etlheap_json_u64(json, "limit_baseline_millionths", asked->baseline_millionths);
    etlheap_json_string(json, "verdict", etlheap_outcome_word(budget->outcome));
    write_doubts(json, budget->doubts);
    etlheap_json_u64(json, "judged", budget->judged_count);
    etlheap_json_u64(json, "failed", budget->failed_count);
    etlheap_json_array(json, "subjects");
    for (u32 i = 0; i < budget->subject_count && etlheap_sink_ok(json->sink); i++)
        write_subject(json, budget, &budget->subjects[i]);
    etlheap_json_array_close(json);
    etlheap_json_object_close(json);
}

static void write_fingerprint(etlheap_json *json, u64 fingerprint)
{
    char text[17];
    snprintf(text, sizeof text, "%016llx", (unsigned long long)fingerprint);
    etlheap_json_string(json, "fingerprint", text);
}

static void write_interval(etlheap_json *json, const etlheap_gate_subject *subject)
{
    etlheap_json_string(json, "mark", subject->mark);
    etlheap_json_u64(json, "mark_number", subject->mark_number);
    etlheap_json_i64(json, "from_ns", subject->from_ns);
    etlheap_json_i64(json, "to_ns", subject->to_ns);
}

/* Writes a function as the only one of its frames; null if no stack was recorded. */
static void write_function(etlheap_json *json, const etlheap_table *table, u32 frame)
{
    if (frame == ETLHEAP_NO_INDEX) {
        etlheap_json_null(json, "frames");
        return;
    }
    etlheap_json_array(json, "frames");
    etlheap_json_frame(json, &table->frames[frame]);
    etlheap_json_array_close(json);
}

static void write_heap(etlheap_json *json, const etlheap_gate_subject *subject)
{
    if (!subject->has_heap)
        etlheap_json_null(json, "heap");
    else if (subject->heap_name != NULL)
        etlheap_json_string(json, "heap", subject->heap_name);
    else
        etlheap_json_heap(json, "heap", subject->heap_handle);
}

/* Writes a subject. As in rows of a report, keys that the scope lacks are absent. */
static void write_subject(etlheap_json *json, const etlheap_gate_budget *budget,
                          const etlheap_gate_subject *subject)
{
    const etlheap_scope scope = budget->budget.scope;
    etlheap_json_object(json, NULL);
    etlheap_json_string(json, "verdict", etlheap_outcome_word(subject->outcome));
    etlheap_json_string(json, "kind", etlheap_kind_name(subject->kind));
    if (subject->process)
        etlheap_json_process(json, "process", subject->process);
    if (subject->process && subject->pid != ETL_NO_ID)
        etlheap_json_u64(json, "pid", subject->pid);
    if (subject->mark)
        write_interval(json, subject);
    if (scope == ETLHEAP_SCOPE_HEAP)
        write_heap(json, subject);
    if (scope == ETLHEAP_SCOPE_MODULE && subject->module)
        etlheap_json_string(json, "module", subject->module);
    else if (scope == ETLHEAP_SCOPE_MODULE)
        etlheap_json_null(json, "module");
    if (scope == ETLHEAP_SCOPE_POOL_TAG) {
        etlheap_json_string(json, "pool_tag", subject->pool_tag);
        etlheap_json_string(json, "pool_tag_description", subject->pool_tag_description);
    }
    if (scope == ETLHEAP_SCOPE_STACK)
        write_frames(json, budget->table, subject->stack);
    if (scope == ETLHEAP_SCOPE_FUNCTION)
        write_function(json, budget->table, subject->frame);
    write_fingerprint(json, subject->fingerprint);
    if (subject->is_unknown)
        etlheap_json_null(json, "measured");
    else
        etlheap_json_i64(json, "measured", subject->measured);
    etlheap_json_i64(json, "limit", subject->limit);
    if (!subject->is_unknown)
        write_amounts(json, &budget->budget, subject->kind, &subject->now, &subject->baseline);
    etlheap_json_array(json, "stacks");
    for (u32 i = 0; i < subject->stack_count; i++) {
        const etlheap_gate_stack *const stack = &subject->stacks[i];
        etlheap_json_object(json, NULL);
        etlheap_json_process(json, "process", stack->process);
        write_fingerprint(json, stack->fingerprint);
        write_amounts(json, &budget->budget, subject->kind, &stack->now, &stack->baseline);
        write_frames(json, budget->table, stack->stack);
        etlheap_json_object_close(json);
    }
    etlheap_json_array_close(json);
    etlheap_json_u64(json, "stacks_omitted", subject->stacks_omitted);
    etlheap_json_object_close(json);
}

static void write_amounts(etlheap_json *json, const etlheap_budget *budget, u32 kind,
                          const etlheap_amount *now, const etlheap_amount *baseline)
{
    const etlheap_quantity_measures reads = etlheap_quantity_reads(budget->quantity);
    write_size(json, etlheap_measure_word(reads.size), kind, now);
    etlheap_json_u64(json, etlheap_measure_word(reads.count), now->count);
    if (!budget->is_growth)
        return;
    write_size(json, "baseline_size", kind, baseline);
    etlheap_json_u64(json, "baseline_count", baseline->count);
}

/* Writes frames; null if no stack was recorded. */
static void write_frames(etlheap_json *json, const etlheap_table *table, u32 stack)
{
    if (stack == ETLHEAP_NO_INDEX) {
        etlheap_json_null(json, "frames");
        return;
    }
    const etlheap_indices frames = etlheap_check_frames(table, stack);
    etlheap_json_array(json, "frames");
    for (u32 i = 0; i < frames.count; i++)
        etlheap_json_frame(json, &table->frames[frames.at[i]]);
    etlheap_json_array_close(json);
}

/* Kinds that the trace does not have are left out, as in a report. */
static void write_totals(etlheap_json *json, const etlheap_gate *gate)
{
    etlheap_json_array(json, "totals");
    for (int kind = 0; kind < ETLHEAP_KIND_COUNT; kind++) {
        if (!(gate->kinds >> kind & 1))
            continue;
        etlheap_json_object(json, NULL);
        etlheap_json_string(json, "kind", etlheap_kind_name((etlheap_kind)kind));
        write_size(json, "outstanding_size", (u32)kind, &gate->outstanding[kind]);
        etlheap_json_u64(json, "outstanding_count", gate->outstanding[kind].count);
        write_size(json, "suppressed_size", (u32)kind, &gate->suppressed[kind]);
        etlheap_json_u64(json, "suppressed_count", gate->suppressed[kind].count);
        etlheap_json_object_close(json);
    }
    etlheap_json_array_close(json);
}

/* Functions that hide who allocates, at most one of a kind. */
static void write_wrappers(etlheap_json *json, const etlheap_gate *gate)
{
    etlheap_json_array(json, "wrappers");
    for (u32 i = 0; i < gate->wrapper_count; i++) {
        const etlheap_gate_wrapper *const wrapper = &gate->wrappers[i];
        etlheap_json_object(json, NULL);
        etlheap_json_string(json, "kind", etlheap_kind_name(wrapper->kind));
        etlheap_json_string(json, "module", wrapper->module);
        etlheap_json_string(json, "symbol", wrapper->symbol);
        etlheap_json_u64(json, "size", wrapper->size_bytes);
        etlheap_json_u64(json, "of_size", wrapper->of_bytes);
        etlheap_json_u64(json, "callers", wrapper->callers);
        etlheap_json_object_close(json);
    }
    etlheap_json_array_close(json);
}

/* Writes suppressions; those with 0 stacks matched nothing. */
static void write_suppressions(etlheap_json *json, const etlheap_gate *gate)
{
    etlheap_json_array(json, "suppressions");
    for (u32 i = 0; i < gate->suppression_count; i++) {
        const etlheap_suppression_use *const use = &gate->suppressions[i];
        etlheap_json_object(json, NULL);
        etlheap_json_string(json, "pattern", use->pattern);
        etlheap_json_string(json, "file", use->file);
        etlheap_json_u64(json, "line", use->line);
        etlheap_json_u64(json, "stacks", use->stacks);
        etlheap_json_array(json, "kinds");
        for (int kind = 0; kind < ETLHEAP_KIND_COUNT; kind++) {
            if (use->of[kind].count == 0)
                continue;
            etlheap_json_object(json, NULL);
            etlheap_json_string(json, "kind", etlheap_kind_name((etlheap_kind)kind));
            write_size(json, "outstanding_size", (u32)kind, &use->of[kind]);
            etlheap_json_u64(json, "outstanding_count", use->of[kind].count);
            etlheap_json_object_close(json);
        }
        etlheap_json_array_close(json);
        etlheap_json_object_close(json);
    }
    etlheap_json_array_close(json);
}
