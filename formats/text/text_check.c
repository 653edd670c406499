/*
 * text_check.c - writes the verdict of a check for people.
 *
 * In: an etlheap_check. Out: text: the verdict first, because a log is read from its last screen or
 * its first line; then each budget with what was measured, what failed with the stacks to blame,
 * known leaks, and what was lost. Phrases come from check_parts.c. Invariant: a verdict that proves
 * nothing must say so in its first lines.
 */
#include "formats/parts/check_more.h"
#include "formats/parts/check_summary.h"
#include "formats/parts/diff_parts.h"
#include "formats/parts/display.h"
#include "formats/parts/text_parts.h"
#include "formats/writers.h"
#include "formats/parts/layout_read.h"

#include <inttypes.h>

#define FAILURES_SHOWN  20 /* subjects of a budget; other formats have them all */
#define PASSES_SHOWN    3
#define PROCESSES_SHOWN 25u

static bool write_verdict(const etlheap_result *result, const etlheap_check *check,
                          const etlheap_layout *layout, etlheap_sink *sink);
static void write_doubts(const etlheap_check *check, const etlheap_layout *layout,
                         etlheap_text *text, etlheap_sink *sink);
static void write_absence(const etlheap_gate *gate, const etlheap_layout *layout,
                          etlheap_text *text, etlheap_sink *sink);
static void write_baseline(const etlheap_check *check, const etlheap_layout *layout,
                           etlheap_text *text, etlheap_sink *sink);
static etl_status write_budgets(const etlheap_gate *gate, const etlheap_layout *layout,
                                etlheap_text *text, etlheap_sink *sink);
static void add_budget(const etlheap_gate_budget *budget, etlheap_text *text, etlheap_grid *grid);
static void add_subject(const etlheap_gate_budget *budget, const etlheap_gate_subject *subject,
                        etlheap_text *text, etlheap_grid *grid);
static etl_status write_failures(etlheap_check_commands *commands,
                                 const etlheap_gate_budget *budget, const etlheap_layout *layout,
                                 etlheap_text *text, etlheap_sink *sink);
static etl_status write_stacks(const etlheap_gate_budget *budget,
                               const etlheap_gate_subject *subject, const etlheap_layout *layout,
                               etlheap_sink *sink);
static etl_status write_suppressions(const etlheap_gate *gate, const etlheap_layout *layout,
                                     etlheap_text *text, etlheap_sink *sink);
static void add_suppression(const etlheap_suppression_use *use, etlheap_text *text,
                            etlheap_grid *grid);
static void begin_suppression(const etlheap_suppression_use *use, bool is_first, etlheap_text *text,
                              etlheap_grid *grid);
static void write_rebuilt(const etlheap_gate *gate, const etlheap_layout *layout,
                          etlheap_text *text, etlheap_sink *sink);
static void write_advice(const etlheap_check_commands *commands, const etlheap_layout *layout,
                         etlheap_text *text, etlheap_sink *sink);

/* Adds the bytes of an amount; a dash for a kind without sizes. */
static void add_size(etlheap_grid *grid, u32 kind, const etlheap_amount *amount)
{
    if (etlheap_kinds_are_counted(1u << kind))
        etlheap_grid_cell(grid, "\xE2\x80\x93");
    else
        etlheap_grid_size(grid, (i64)amount->size_bytes);
}

etl_status etlheap_write_check_text(const etlheap_result *result, const etlheap_check *check,
                                    const etlheap_layout *given, etlheap_sink *sink)
{
    etlheap_layout own;
    const etlheap_layout *const layout = &own;
    const etl_status layout_status = etlheap_layout_read(given, &own);
    if (layout_status != ETL_OK)
        return layout_status;
    const etlheap_gate *const gate = check->gate;
    etlheap_check_commands commands = { .result = result, .check = check, .say = layout->hint };
    etlheap_text text = { 0 };
    text.failed = !write_verdict(result, check, layout, sink);
    write_doubts(check, layout, &text, sink);
    etlheap_text_trace(sink, layout, etlheap_result_trace(result), &text);
    etlheap_text_window(sink, layout, result, gate->from_ns, gate->to_ns);
    write_baseline(check, layout, &text, sink);
    etl_status status = write_budgets(gate, layout, &text, sink);
    for (u32 i = 0; status == ETL_OK && i < gate->budget_count; i++)
        status = write_failures(&commands, &gate->budgets[i], layout, &text, sink);
    if (status == ETL_OK)
        status = write_suppressions(gate, layout, &text, sink);
    write_rebuilt(gate, layout, &text, sink);
    write_advice(&commands, layout, &text, sink);
    etlheap_text_diagnostics(sink, layout, &gate->diagnostics);
    etlheap_text_diagnostics_of(sink, layout, "In the baseline", &gate->baseline_diagnostics);
    if (text.failed)
        status = ETL_ERR_MEMORY;
    export_numbers_free(&commands.written);
    etlheap_text_free(&text);
    return status;
}

/* One line, however long: it is what other programs look for. False without memory. */
static bool write_verdict(const etlheap_result *result, const etlheap_check *check,
                          const etlheap_layout *layout, etlheap_sink *sink)
{
    static const char *const words[] = {
        [ETLHEAP_OUTCOME_SKIPPED] = "PASS: ",
        [ETLHEAP_OUTCOME_PASS] = "PASS: ",
        [ETLHEAP_OUTCOME_INCONCLUSIVE] = "INCONCLUSIVE: ",
        [ETLHEAP_OUTCOME_FAIL] = "FAIL: ",
    };
    etlheap_text text = { 0 }, shown = { 0 };
    etlheap_text_add_string(&text, etlheap_check_is_accepted(check) ? "ACCEPTED: "
                                                                    : words[check->gate->outcome]);
    etlheap_check_add_summary(&text, result, check);
    etlheap_display_add(&shown, etlheap_text_of(&text));
    etlheap_emphasis_on(sink, layout, ETLHEAP_EMPHASIS_STRONG);
    etlheap_sink_text(sink, etlheap_text_of(&shown));
    etlheap_emphasis_off(sink, layout, ETLHEAP_EMPHASIS_STRONG);
    etlheap_sink_text(sink, "\n");
    const bool ok = !text.failed && !shown.failed;
    etlheap_text_free(&text);
    etlheap_text_free(&shown);
    return ok;
}

/* Writes why nothing was measured, what is missing, and why the verdict proves nothing. */
static void write_doubts(const etlheap_check *check, const etlheap_layout *layout,
                         etlheap_text *text, etlheap_sink *sink)
{
    const u32 explained = 1u << ETLHEAP_DOUBT_NO_EVENTS | 1u << ETLHEAP_DOUBT_NO_PROCESS |
                          1u << ETLHEAP_DOUBT_NO_MARKS | 1u << ETLHEAP_DOUBT_NO_BASELINE |
                          1u << ETLHEAP_DOUBT_MISSING_PROCESS;
    write_absence(check->gate, layout, text, sink);
    for (u32 i = 0; i < check->gate->requirement_count; i++) {
        const etlheap_gate_requirement *const one = &check->gate->requirements[i];
        if (!etlheap_check_is_unmet(check, one))
            continue;
        etlheap_text_clear(text);
        etlheap_check_add_requirement(text, check, one, layout->hint);
        etlheap_sink_text(sink, "  ");
        etlheap_display_wrap(sink, etlheap_text_of(text), 2, 2, layout->width);
    }
    for (int i = 0; i < ETLHEAP_DOUBT_COUNT; i++) {
        if (!((check->gate->doubts & ~explained) >> i & 1))
            continue;
        etlheap_sink_text(sink, "  ");
        etlheap_display_wrap(sink, etlheap_doubt_sentence((etlheap_doubt)i), 2, 2, layout->width);
    }
    etlheap_sink_text(sink, "\n");
}

/* Writes what is missing and what there is instead, in more detail than the doubts. */
static void write_absence(const etlheap_gate *gate, const etlheap_layout *layout,
                          etlheap_text *text, etlheap_sink *sink)
{
    if (!gate->is_unmeasured)
        return;
    etlheap_text_clear(text);
    etlheap_check_add_absence(text, gate, PROCESSES_SHOWN);
    if (gate->outcome == ETLHEAP_OUTCOME_FAIL)
        etlheap_text_add_string(text, etlheap_hint_words(layout->hint, ETL_HINT_ALLOW_EMPTY));
    else
        etlheap_text_add_string(text, " (which was allowed)");
    etlheap_sink_text(sink, "  ");
    etlheap_display_wrap(sink, etlheap_text_of(text), 2, 2, layout->width);
}

static void write_baseline(const etlheap_check *check, const etlheap_layout *layout,
                           etlheap_text *text, etlheap_sink *sink)
{
    if (!check->baseline_name)
        return;
    etlheap_text_clear(text);
    etlheap_display_add(text, check->baseline_name);
    if (check->ratchet != ETLHEAP_RATCHET_NONE)
        etlheap_text_add_string(text, ", ");
    etlheap_check_add_ratchet(text, check);
    etlheap_text_label(sink, layout, "Baseline", etlheap_text_of(text));
}

/* Writes each budget, and below it the subjects that its limit was held against. */
static etl_status write_budgets(const etlheap_gate *gate, const etlheap_layout *layout,
                                etlheap_text *text, etlheap_sink *sink)
{
    static const etlheap_column columns[] = {
        { .title = "Limit", .flexible = true }, { .title = "Verdict" },
        { .title = "Measured", .right = true }, { .title = "Allowed", .right = true },
        { .title = "Margin", .right = true },
    };
    etlheap_grid grid = etlheap_grid_begin(columns, (u32)ETL_COUNT_OF(columns));
    for (u32 i = 0; i < gate->budget_count; i++) {
        const etlheap_gate_budget *const budget = &gate->budgets[i];
        const u64 shown = etl_min_u64(budget->failed_count, FAILURES_SHOWN) + PASSES_SHOWN;
        add_budget(budget, text, &grid);
        u32 listed = 0;
        for (u32 s = 0; s < budget->subject_count && listed < shown; s++) {
            if (s >= FAILURES_SHOWN && budget->subjects[s].outcome == ETLHEAP_OUTCOME_FAIL)
                continue;
            add_subject(budget, &budget->subjects[s], text, &grid);
            listed++;
        }
        if (listed == budget->judged_count)
            continue;
        etlheap_text_clear(text);
        etlheap_text_add_format(text, "  (%" PRIu32 " more)", budget->judged_count - listed);
        etlheap_grid_row(&grid, ETLHEAP_EMPHASIS_WEAK);
        etlheap_grid_cell(&grid, etlheap_text_of(text));
    }
    etlheap_sink_text(sink, "\n");
    return etlheap_grid_write(&grid, layout, sink);
}

static void add_budget(const etlheap_gate_budget *budget, etlheap_text *text, etlheap_grid *grid)
{
    etlheap_grid_row(grid, ETLHEAP_EMPHASIS_STRONG);
    etlheap_text_clear(text);
    etlheap_check_add_budget(text, &budget->budget);
    etlheap_text_add_string(text, ", at most ");
    etlheap_check_add_limit(text, &budget->budget);
    etlheap_grid_cell(grid, etlheap_text_of(text));
    etlheap_grid_cell(grid, etlheap_outcome_word(budget->outcome));
}

static void add_value(const etlheap_budget *budget, i64 value, etlheap_grid *grid)
{
    if (budget->is_count)
        etlheap_grid_count(grid, value);
    else
        etlheap_grid_size(grid, value);
}

/* Adds the callers that tell a stack apart from others, one in a line: at the end of a long line
 * they might be cut. */
static void add_callers(const etlheap_gate_budget *budget, const etlheap_gate_subject *subject,
                        etlheap_text *text, etlheap_grid *grid)
{
    const etlheap_indices frames = etlheap_check_frames(budget->table, subject->stack);
    for (u32 i = 1; i < subject->frames_apart; i++) {
        etlheap_text_clear(text);
        etlheap_text_add_string(text, "    ");
        etlheap_text_add_function(text, &budget->table->frames[frames.at[i]]);
        etlheap_text_add_source(text, &budget->table->frames[frames.at[i]]);
        etlheap_grid_row(grid, ETLHEAP_EMPHASIS_NONE);
        etlheap_grid_name(grid, etlheap_text_of(text));
    }
}

/* Adds "heap app.exe (4321) grow (app.exe)  a.cpp:42, called by ...", functions first as in all
 * text. `gap` stands before the first one. */
static void add_subject_name(const etlheap_gate_budget *budget, const etlheap_gate_subject *subject,
                             const char *gap, u64 frames_max, etlheap_text *text)
{
    const bool of_stack = budget->budget.scope == ETLHEAP_SCOPE_STACK && subject->process;
    const etlheap_indices none = { NULL, 0 };
    const etlheap_indices frames =
        of_stack ? etlheap_check_frames(budget->table, subject->stack) : none;
    etlheap_check_add_owner(text, subject, true);
    etlheap_check_add_place(text, budget, subject, true);
    if (of_stack && frames.count == 0)
        etlheap_text_add_string(text, " (no stack)");
    for (u32 i = 0; i < frames.count && i < frames_max; i++) {
        etlheap_text_add_string(text, i > 0 ? ", called by " : gap);
        etlheap_text_add_function(text, &budget->table->frames[frames.at[i]]);
        etlheap_text_add_source(text, &budget->table->frames[frames.at[i]]);
    }
}

static void add_subject(const etlheap_gate_budget *budget, const etlheap_gate_subject *subject,
                        etlheap_text *text, etlheap_grid *grid)
{
    i64 margin;
    if (__builtin_sub_overflow(subject->limit, subject->measured, &margin))
        margin = INT64_MAX;
    etlheap_grid_row(grid, ETLHEAP_EMPHASIS_NONE);
    etlheap_text_clear(text);
    etlheap_text_add_string(text, "  ");
    /* Two spaces: a line may be broken there. */
    add_subject_name(budget, subject, "  ", 1, text);
    if (budget->budget.scope == ETLHEAP_SCOPE_STACK)
        etlheap_grid_name(grid, etlheap_text_of(text));
    else
        etlheap_grid_cell(grid, etlheap_text_of(text));
    etlheap_grid_cell(grid, etlheap_outcome_word(subject->outcome));
    if (subject->is_unknown)
        etlheap_grid_cell(grid, "–");
    else
        add_value(&budget->budget, subject->measured, grid);
    add_value(&budget->budget, subject->limit, grid);
    if (!subject->is_unknown)
        add_value(&budget->budget, margin, grid);
    add_callers(budget, subject, text, grid);
}

/* A command to be copied: it does not wrap. */
static void write_more(etlheap_text *command, etlheap_sink *sink)
{
    etlheap_text line = { 0 };
    if (command->size == 0)
        return;
    etlheap_display_add(&line, etlheap_text_of(command));
    etlheap_sink_format(sink, "More: %s\n", etlheap_text_of(&line));
    command->failed |= line.failed;
    etlheap_text_free(&line);
}

/* Writes each failed subject: its limit, the stacks to blame, and the command that shows more. */
static etl_status write_failures(etlheap_check_commands *commands,
                                 const etlheap_gate_budget *budget, const etlheap_layout *layout,
                                 etlheap_text *text, etlheap_sink *sink)
{
    etl_status status = ETL_OK;
    const u64 shown = etl_min_u64(budget->failed_count, FAILURES_SHOWN);
    for (u32 i = 0; i < shown && status == ETL_OK; i++) {
        const etlheap_gate_subject *const subject = &budget->subjects[i];
        etlheap_text heading = { 0 };
        etlheap_text_clear(text);
        add_subject_name(budget, subject, " ", etl_max_u64(subject->frames_apart, 1), text);
        etlheap_text_add_string(text, ": ");
        etlheap_check_add_finding(text, budget, subject);
        etlheap_display_add(&heading, etlheap_text_of(text));
        etlheap_text_heading(sink, layout, etlheap_text_of(&heading));
        text->failed |= heading.failed;
        etlheap_text_free(&heading);
        status = write_stacks(budget, subject, layout, sink);
        etlheap_text_clear(text);
        etlheap_check_add_more(text, commands, budget, subject);
        write_more(text, sink);
    }
    return status;
}

/* The columns of growth come first: they are why the stack is listed. */
static etl_status write_stacks(const etlheap_gate_budget *budget,
                               const etlheap_gate_subject *subject, const etlheap_layout *layout,
                               etlheap_sink *sink)
{
    const etlheap_quantity_measures reads = etlheap_quantity_reads(budget->budget.quantity);
    const etlheap_column columns[] = {
        { .title = "Stack", .flexible = true },
        { .title = etlheap_measure_title(reads.size), .right = true },
        { .title = etlheap_measure_title(reads.count), .right = true },
        { .title = "Baseline Size", .right = true },
        { .title = "Baseline Count", .right = true },
    };
    const bool growth = budget->budget.is_growth;
    if (subject->stack_count == 0)
        return ETL_OK;
    etlheap_grid grid = etlheap_grid_begin(columns, growth ? 5 : 3);
    etlheap_text text = { 0 };
    for (u32 i = 0; i < subject->stack_count; i++) {
        const etlheap_gate_stack *const stack = &subject->stacks[i];
        const etlheap_row row = { .stack = stack->stack };
        const etlheap_indices frames = etlheap_row_frames(budget->table, &row);
        etlheap_text_clear(&text);
        if (!subject->process)
            etlheap_text_add_string(&text, stack->process);
        if (!subject->process)
            etlheap_text_add_string(&text, ": ");
        if (frames.count > 0) {
            etlheap_text_add_function(&text, &budget->table->frames[frames.at[0]]);
            etlheap_text_add_source(&text, &budget->table->frames[frames.at[0]]);
        } else {
            etlheap_text_add_string(&text, "(no stack)");
        }
        etlheap_grid_row(&grid, ETLHEAP_EMPHASIS_NONE);
        etlheap_grid_name(&grid, etlheap_text_of(&text));
        add_size(&grid, subject->kind, &stack->now);
        etlheap_grid_count(&grid, (i64)stack->now.count);
        if (growth) {
            add_size(&grid, subject->kind, &stack->baseline);
            etlheap_grid_count(&grid, (i64)stack->baseline.count);
        }
        etlheap_grid_frames(
            &grid, budget->table, &row,
            stack->frames_apart > layout->frames_max ? stack->frames_apart : layout->frames_max, 2);
    }
    etlheap_sink_text(sink, "\n");
    etl_status status = etlheap_grid_write(&grid, layout, sink);
    if (subject->stacks_omitted > 0)
        etlheap_text_more(sink, layout, subject->stacks_omitted, subject->stack_count, "stack");
    if (text.failed)
        status = ETL_ERR_MEMORY;
    etlheap_text_free(&text);
    return status;
}

/* Writes what was suppressed, and which lines of the file are unused. */
static etl_status write_suppressions(const etlheap_gate *gate, const etlheap_layout *layout,
                                     etlheap_text *text, etlheap_sink *sink)
{
    static const etlheap_column columns[] = {
        { .title = "Suppression", .flexible = true },
        { .title = "Where" },
        { .title = "Kind" },
        { .title = "Stacks", .right = true },
        { .title = "Size", .right = true },
        { .title = "Count", .right = true },
    };
    etlheap_grid grid = etlheap_grid_begin(columns, (u32)ETL_COUNT_OF(columns));
    for (u32 i = 0; i < gate->suppression_count; i++)
        add_suppression(&gate->suppressions[i], text, &grid);
    if (gate->suppression_count > 0)
        etlheap_sink_text(sink, "\n");
    return etlheap_grid_write(&grid, layout, sink);
}

/* Adds a row for each kind that a line suppressed, or one that says that it is unused. */
static void add_suppression(const etlheap_suppression_use *use, etlheap_text *text,
                            etlheap_grid *grid)
{
    bool used = false;
    for (int kind = 0; kind < ETLHEAP_KIND_COUNT; kind++) {
        if (use->of[kind].count == 0)
            continue;
        begin_suppression(use, !used, text, grid);
        etlheap_grid_cell(grid, etlheap_kind_name((etlheap_kind)kind));
        if (used)
            etlheap_grid_cell(grid, "");
        else
            etlheap_grid_count(grid, (i64)use->stacks);
        add_size(grid, (u32)kind, &use->of[kind]);
        etlheap_grid_count(grid, (i64)use->of[kind].count);
        used = true;
    }
    if (!used) {
        begin_suppression(use, true, text, grid);
        etlheap_grid_cell(grid, "unused");
    }
}

static void begin_suppression(const etlheap_suppression_use *use, bool is_first, etlheap_text *text,
                              etlheap_grid *grid)
{
    etlheap_text_clear(text);
    etlheap_text_add_string(text, use->file);
    etlheap_text_add_format(text, ":%" PRIu32, use->line);
    etlheap_grid_row(grid, ETLHEAP_EMPHASIS_NONE);
    etlheap_grid_cell(grid, is_first ? use->pattern : "");
    etlheap_grid_cell(grid, is_first ? etlheap_text_of(text) : "");
}

/* Writes what the two sides do not have in common: processes that did not run, and rebuilt modules,
 * whose stacks have nothing in common without names. */
static void write_rebuilt(const etlheap_gate *gate, const etlheap_layout *layout,
                          etlheap_text *text, etlheap_sink *sink)
{
    if (gate->merged_count > 0) {
        etlheap_text_clear(text);
        etlheap_text_add_string(text, "Compared with the baseline, ");
        etlheap_merged_names(gate->merged_count, text);
        etlheap_text_heading(sink, layout, etlheap_text_of(text));
    }
    if (gate->missing_count > 0 && gate->missing != NULL) {
        etlheap_text_clear(text);
        etlheap_check_add_missing(text, gate);
        etlheap_text_heading(sink, layout, etlheap_text_of(text));
    }
    if (gate->rebuilt_count == 0)
        return;
    etlheap_text_clear(text);
    etlheap_text_add_string(text, "Modules of another build than in the baseline, without function "
                                  "names: their stacks count as new");
    etlheap_text_add_string(text, etlheap_hint_words(layout->hint, ETL_HINT_SYMBOL_PATH));
    etlheap_text_add_string(text, ": ");
    for (u32 i = 0; i < gate->rebuilt_count; i++) {
        etlheap_text_add_string(text, i > 0 ? ", " : "");
        etlheap_display_add(text, gate->rebuilt[i]);
    }
    etlheap_text_heading(sink, layout, etlheap_text_of(text));
}

/* Writes what to do about a failure besides fixing the program. */
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
        etlheap_text_heading(sink, layout, etlheap_text_of(text));
    for (u32 i = 0; i < check->gate->wrapper_count; i++) {
        etlheap_text shown = { 0 };
        etlheap_text_clear(text);
        etlheap_check_add_wrapper(text, &check->gate->wrappers[i], layout->hint);
        etlheap_display_add(&shown, etlheap_text_of(text));
        etlheap_text_heading(sink, layout, etlheap_text_of(&shown));
        etlheap_text_free(&shown);
    }
    const char *const ways =
        etlheap_hint_words(layout->hint, grew ? ETL_HINT_SUPPRESS_OR_ACCEPT : ETL_HINT_SUPPRESS);
    if (*ways != '\0')
        etlheap_text_heading(sink, layout, ways);
}
