/*
 * markdown_check.c - writes the verdict of a check as Markdown, for a pull request or the summary
 * of a job.
 *
 * In: an etlheap_check, the result that it judged, and the layout with the program's hints. Out, to
 * a sink: the verdict and its doubts, a table of the limits, and for each failed subject a table of
 * the stacks responsible (source line, bytes or blocks held and added) with a command that shows
 * more; then advice, and losses of both traces.
 *
 * Lists are cut to a readable length: failed subjects past the tenth of a limit get no table. JSON
 * has all subjects of the check. Invariant: names come from traces, so they are escaped before they
 * stand in a table.
 */
#include "formats/io/units.h"
#include "formats/parts/check_more.h"
#include "formats/parts/check_summary.h"
#include "formats/parts/layout_read.h"
#include "formats/parts/source_roots.h"
#include "formats/writers.h"
#include "markdown.h"

#include <ctype.h>
#include <inttypes.h>

#define SUBJECTS_SHOWN  10 /* of a budget */
#define FRAMES_SHOWN    3
#define PROCESSES_SHOWN 25u

/* Writes why nothing was measured, what is missing, and why the verdict proves nothing. */
static void write_doubts(const etlheap_check *check, const etlheap_layout *layout,
                         etlheap_text *text, etlheap_sink *sink)
{
    const etlheap_gate *const gate = check->gate;
    const u32 explained = 1u << ETLHEAP_DOUBT_NO_EVENTS | 1u << ETLHEAP_DOUBT_NO_PROCESS |
                          1u << ETLHEAP_DOUBT_NO_MARKS | 1u << ETLHEAP_DOUBT_NO_BASELINE |
                          1u << ETLHEAP_DOUBT_MISSING_PROCESS;
    etlheap_text_clear(text);
    if (gate->is_unmeasured) {
        etlheap_check_add_absence(text, gate, PROCESSES_SHOWN);
        if (gate->outcome == ETLHEAP_OUTCOME_FAIL)
            etlheap_text_add_string(text, etlheap_hint_words(layout->hint, ETL_HINT_ALLOW_EMPTY));
        etlheap_markdown_paragraph(sink, etlheap_text_of(text));
    }
    for (u32 i = 0; i < gate->requirement_count; i++) {
        if (!etlheap_check_is_unmet(check, &gate->requirements[i]))
            continue;
        etlheap_text_clear(text);
        etlheap_check_add_requirement(text, check, &gate->requirements[i], layout->hint);
        etlheap_markdown_paragraph(sink, etlheap_text_of(text));
    }
    for (int i = 0; i < ETLHEAP_DOUBT_COUNT; i++) {
        if ((gate->doubts & ~explained) >> i & 1)
            etlheap_markdown_paragraph(sink, etlheap_doubt_sentence((etlheap_doubt)i));
    }
}

static void write_head(const etlheap_result *result, const etlheap_check *check,
                       const etlheap_layout *layout, etlheap_text *text, etlheap_sink *sink)
{
    const etlheap_trace_info *const trace = etlheap_result_trace(result);
    etlheap_text_clear(text);
    for (const char *at = etlheap_check_verdict_word(check); *at != '\0'; at++)
        etlheap_text_add_format(text, "%c", toupper((unsigned char)*at));
    etlheap_text_add_string(text, ": ");
    etlheap_check_add_summary(text, result, check);
    etlheap_markdown_heading(sink, etlheap_text_of(text));
    write_doubts(check, layout, text, sink);
    etlheap_sink_text(sink, "Trace ");
    for (u32 i = 0; i < trace->file_count; i++) {
        etlheap_sink_text(sink, i > 0 ? ", " : "");
        etlheap_markdown_code(sink, trace->files[i]);
    }
    if (check->baseline_name) {
        etlheap_text_clear(text);
        etlheap_check_add_ratchet(text, check);
        etlheap_sink_text(sink, ", baseline ");
        etlheap_markdown_code(sink, check->baseline_name);
        etlheap_sink_text(sink, text->size > 0 ? " " : "");
        etlheap_markdown_text(sink, etlheap_text_of(text));
    }
    etlheap_sink_text(sink, "\n\n");
}

static void add_value(etlheap_sink *sink, const etlheap_budget *budget, i64 value)
{
    char number[ETLHEAP_UNITS_SIZE];
    if (budget->is_count)
        etlheap_units_count(value, number);
    else
        etlheap_units_size(value, number);
    etlheap_sink_text(sink, number);
}

/* Writes the subject that the limit was applied to; a later table shows its stacks. */
static void write_subject(const etlheap_gate_budget *budget, const etlheap_gate_subject *subject,
                          etlheap_text *text, etlheap_sink *sink)
{
    etlheap_text_clear(text);
    etlheap_check_add_subject(text, budget, subject, true);
    etlheap_sink_text(sink, "| ");
    etlheap_markdown_code(sink, etlheap_text_of(text));
    etlheap_sink_format(sink, " | %s | ", etlheap_outcome_word(subject->outcome));
    if (subject->is_unknown)
        etlheap_sink_text(sink, "–");
    else
        add_value(sink, &budget->budget, subject->measured);
    etlheap_sink_text(sink, " | ");
    add_value(sink, &budget->budget, subject->limit);
    etlheap_sink_text(sink, " |\n");
}

static void write_budget(const etlheap_gate_budget *budget, etlheap_text *text, etlheap_sink *sink)
{
    const u32 shown = (u32)etl_min_u64(budget->subject_count, SUBJECTS_SHOWN);
    etlheap_text_clear(text);
    etlheap_check_add_budget(text, &budget->budget);
    etlheap_text_add_string(text, ", at most ");
    etlheap_check_add_limit(text, &budget->budget);
    etlheap_sink_text(sink, "| **");
    etlheap_markdown_text(sink, etlheap_text_of(text));
    etlheap_sink_format(sink, "** | **%s** | | |\n", etlheap_outcome_word(budget->outcome));
    for (u32 i = 0; i < shown; i++)
        write_subject(budget, &budget->subjects[i], text, sink);
    if (shown < budget->judged_count)
        etlheap_sink_format(sink, "| %" PRIu32 " more | | | |\n", budget->judged_count - shown);
}

/* Writes the source line that is most likely in the user's own code, as a path in the repository
 * if a root contains it. Writes nothing if no line is known. */
static void write_line(const etlheap_check *check, const etlheap_table *table,
                       etlheap_indices frames, etlheap_text *text, etlheap_sink *sink)
{
    const etlheap_frame *const frame = etlheap_source_frame(&check->roots, table, frames);
    if (!frame || etlheap_source_rank(&check->roots, frame) < 4)
        return;
    etlheap_text_clear(text);
    etlheap_source_roots_add(&check->roots, frame->file, text);
    etlheap_text_add_string(text, ":");
    etlheap_text_add_line_numbers(text, frame);
    etlheap_markdown_code(sink, etlheap_text_of(text));
}

/* Writes stack `at` of a subject. */
static void write_stack(const etlheap_check *check, const etlheap_gate_budget *budget,
                        const etlheap_gate_subject *subject, u32 at, etlheap_text *text,
                        etlheap_sink *sink)
{
    const etlheap_gate_stack *const stack = &subject->stacks[at];
    const etlheap_indices frames = etlheap_check_frames(budget->table, stack->stack);
    etlheap_sink_text(sink, "| ");
    if (frames.count > 0)
        etlheap_markdown_frames(sink, budget->table, frames,
                                stack->frames_apart > FRAMES_SHOWN ? stack->frames_apart
                                                                   : FRAMES_SHOWN);
    else
        etlheap_sink_text(sink, "(no stack)");
    etlheap_sink_text(sink, " | ");
    write_line(check, budget->table, frames, text, sink);
    etlheap_text_clear(text);
    etlheap_check_add_share(text, &budget->budget, subject->kind, stack);
    etlheap_sink_text(sink, " | ");
    etlheap_markdown_text(sink, etlheap_text_of(text));
    etlheap_sink_text(sink, " | ");
    etlheap_markdown_code(sink, stack->process);
    etlheap_sink_text(sink, " |\n");
}

static void write_blame(etlheap_check_commands *commands, const etlheap_gate_budget *budget,
                        etlheap_text *text, etlheap_sink *sink)
{
    static const etlheap_markdown_column columns[] = {
        { "Allocated by", false }, { "Line", false }, { "Holds", true }, { "Process", false }
    };
    const u32 shown = (u32)etl_min_u64(budget->failed_count, SUBJECTS_SHOWN);
    for (u32 i = 0; i < shown; i++) {
        const etlheap_gate_subject *const subject = &budget->subjects[i];
        etlheap_text_clear(text);
        etlheap_check_add_subject(text, budget, subject, true);
        etlheap_text_add_string(text, ": ");
        etlheap_check_add_finding(text, budget, subject);
        etlheap_sink_text(sink, "\n");
        etlheap_markdown_paragraph(sink, etlheap_text_of(text));
        if (subject->stack_count > 0)
            etlheap_markdown_columns(sink, columns, (u32)ETL_COUNT_OF(columns));
        for (u32 k = 0; k < subject->stack_count; k++)
            write_stack(commands->check, budget, subject, k, text, sink);
        if (subject->stacks_omitted > 0)
            etlheap_sink_format(sink, "| %" PRIu32 " more | | | |\n", subject->stacks_omitted);
        etlheap_text_clear(text);
        etlheap_check_add_more(text, commands, budget, subject);
        if (text->size == 0)
            continue;
        etlheap_sink_text(sink, "\nMore: ");
        etlheap_markdown_command(sink, etlheap_text_of(text));
        etlheap_sink_text(sink, "\n");
    }
}

static void write_advice(const etlheap_check_commands *commands, const etlheap_layout *layout,
                         etlheap_text *text, etlheap_sink *sink)
{
    const etlheap_check *const check = commands->check;
    bool grew;
    if (etlheap_check_failures(check, &grew) == 0)
        return;
    etlheap_text_clear(text);
    etlheap_check_add_login(text, commands);
    if (text->size > 0)
        etlheap_markdown_paragraph(sink, etlheap_text_of(text));
    for (u32 i = 0; i < check->gate->wrapper_count; i++) {
        etlheap_text_clear(text);
        etlheap_check_add_wrapper(text, &check->gate->wrappers[i], layout->hint);
        etlheap_markdown_paragraph(sink, etlheap_text_of(text));
    }
    const char *const ways =
        etlheap_hint_words(layout->hint, grew ? ETL_HINT_SUPPRESS_OR_ACCEPT : ETL_HINT_SUPPRESS);
    if (*ways != '\0')
        etlheap_markdown_paragraph(sink, ways);
}

etl_status etlheap_write_check_markdown(const etlheap_result *result, const etlheap_check *check,
                                        const etlheap_layout *given, etlheap_sink *sink)
{
    static const etlheap_markdown_column columns[] = {
        { "Limit", false }, { "Verdict", false }, { "Measured", true }, { "Allowed", true }
    };
    etlheap_layout layout;
    const etl_status layout_status = etlheap_layout_read(given, &layout);
    if (layout_status != ETL_OK)
        return layout_status;
    const etlheap_gate *const gate = check->gate;
    etlheap_check_commands commands = { .result = result, .check = check, .say = layout.hint };
    etlheap_text text = { 0 };
    write_head(result, check, &layout, &text, sink);
    etlheap_markdown_columns(sink, columns, (u32)ETL_COUNT_OF(columns));
    for (u32 i = 0; i < gate->budget_count; i++)
        write_budget(&gate->budgets[i], &text, sink);
    for (u32 i = 0; i < gate->budget_count; i++)
        write_blame(&commands, &gate->budgets[i], &text, sink);
    etlheap_sink_text(sink, "\n");
    etlheap_text_clear(&text);
    etlheap_check_add_missing(&text, gate);
    if (text.size > 0)
        etlheap_markdown_paragraph(sink, etlheap_text_of(&text));
    write_advice(&commands, &layout, &text, sink);
    etlheap_markdown_excluded(sink, &layout, NULL);
    etlheap_markdown_losses(sink, "", &gate->diagnostics, layout.hint);
    etlheap_markdown_losses(sink, "baseline: ", &gate->baseline_diagnostics, layout.hint);
    const bool failed = text.failed;
    export_numbers_free(&commands.written);
    etlheap_text_free(&text);
    return failed ? ETL_ERR_MEMORY : ETL_OK;
}
