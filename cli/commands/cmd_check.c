/*
 * cmd_check.c - `etlheap check`: takes budgets and a baseline, and gives a verdict.
 *
 * In: options, inputs, maybe a baseline and a file of suppressions. Out: the verdict in the chosen
 * formats, maybe a new baseline, and an exit status. The first row that applies decides it:
 *
 *     nothing measured, without --allow-empty   1
 *     something required is missing             1, but a baseline may be accepted
 *     --accept of a lossy run                   4
 *     --accept                                  0
 *     a budget is exceeded                      1
 *     inconclusive                              4, with --lenient 0
 *     else                                      0
 *
 *     inputs, baseline ──ask──▶ tables ──▶ gate (engine/compare) ──▶ writers (formats)
 *
 * Invariant: this file only asks and writes; whether a budget holds is decided by the engine's gate
 * alone, so that programs that use the library get the same verdict.
 */
#include "cli/compared_parts.h"
#include "cli/baseline.h"
#include "cli/filter_notes.h"
#include "cli/input_kinds.h"
#include "cli/messages.h"
#include "cli/options/advice.h"
#include "cli/options/budgets.h"
#include "cli/options/given_options.h"
#include "cli/options/output_format.h"
#include "cli/options/root_words.h"
#include "cli/outputs.h"
#include "cli/side_outputs.h"
#include "cli/system/terminal.h"
#include "commands.h"

#include <stdio.h>
#include <stdlib.h>

#define STACKS_DEFAULT 5
#define PASSES_LISTED  25 /* of a budget: enough to see what comes close */
#define SENTENCE_SIZE  512

/* Everything that a verdict is made of. Start from {0}. */
typedef struct inquiry {
    cli_budgets budgets;
    etlheap_suppressions *suppressions; /* NULL: none */
    cli_inputs inputs;
    cli_request request;
    cli_baseline baseline;
    cli_side_outputs sides;
    cli_roots roots;
    cli_words selection; /* of commands that show what was measured */
    const etlheap_gate *gate;
    etlheap_ratchet ratchet;
} inquiry;

static int read_options(const cli_options *options, inquiry *q);
static etl_status read_suppressions(const cli_options *options, inquiry *q, etl_error *err);
static int check_inputs(const cli_options *options, cli_guard *guard, inquiry *q);
static etl_status judge(const cli_options *options, inquiry *q, etl_error *err);
static int write_verdict(const cli_options *options, cli_guard *guard, inquiry *q,
                         etlheap_sink *sink);
static int exit_of_verdict(const cli_options *options, const inquiry *q,
                           const etlheap_check *check);
static int exit_of_unmeasured(const inquiry *q);
static int exit_of_requirements(const inquiry *q, const etlheap_check *check);
static int exit_of_doubts(const cli_options *options, const inquiry *q);

/* The kinds to ask for. Reservations are asked for only by name, on the command line or in a
 * budget. */
static u32 kinds_to_ask(const cli_options *options, const cli_budgets *budgets)
{
    u32 named = 0;
    for (u32 i = 0; i < budgets->count; i++)
        named |= budgets->at[i].kinds;
    const bool is_more = options->kinds == 0 && (named & ~ETLHEAP_KINDS_DEFAULT) != 0;
    return is_more ? ETLHEAP_KINDS_DEFAULT | named : options->kinds;
}

int cli_run_check(const cli_options *options)
{
    cli_guard guard = { .active = false };
    inquiry q = { .suppressions = NULL };
    cli_options asked = *options;
    int status = read_options(options, &q);
    asked.kinds = kinds_to_ask(options, &q.budgets);
    asked.unpacks_first =
        options->baseline && cli_input_is_unpacked(cli_input_kind_of(options->baseline));
    if (status == CLI_EXIT_DONE)
        status = cli_inputs_open(&asked, &guard, &q.inputs);
    if (status == CLI_EXIT_DONE && options->baseline)
        status = cli_baseline_open(&asked, &guard, &q.baseline);
    const cli_inputs *const both[] = { &q.inputs, &q.baseline.inputs };
    if (status == CLI_EXIT_DONE && q.baseline.exists)
        status = cli_compared_parts(options, both, 2, true);
    if (status == CLI_EXIT_DONE)
        status = check_inputs(&asked, &guard, &q);
    etlheap_gate_free(q.gate);
    cli_side_outputs_discard(&q.sides);
    cli_baseline_close(&q.baseline);
    cli_request_close(&q.request);
    cli_inputs_close(&q.inputs);
    etlheap_suppressions_close(q.suppressions);
    cli_budgets_free(&q.budgets);
    cli_roots_free(&q.roots);
    free(q.selection.at);
    cli_guard_end(&guard);
    return status;
}

static int read_options(const cli_options *options, inquiry *q)
{
    etl_error err = { .status = ETL_OK };
    etl_status status = cli_budgets_parse(options, &q->budgets, &err);
    if (status == ETL_OK)
        status = read_suppressions(options, q, &err);
    if (status == ETL_OK)
        status = cli_roots_parse(options, &q->roots, &err);
    if (status == ETL_OK)
        status = cli_repeated_words(options, &q->selection, &err);
    if (status != ETL_OK)
        cli_complain_error(NULL, &err);
    return cli_exit_of(status);
}

static etl_status read_suppressions(const cli_options *options, inquiry *q, etl_error *err)
{
    etl_status status = ETL_OK;
    if (options->suppressions.count > 0)
        status = etlheap_suppressions_open(&q->suppressions, err);
    for (u32 i = 0; i < options->suppressions.count && status == ETL_OK; i++)
        status = etlheap_suppressions_read(q->suppressions, options->suppressions.at[i], err);
    return status;
}

/* Do budgets need more than one table: generations, peaks, temporary allocations? `grows`: of the
 * baseline. */
static bool needs_events(const cli_budgets *budgets, bool grows)
{
    bool needs = false;
    for (u32 i = 0; i < budgets->count; i++) {
        const etlheap_budget *const budget = &budgets->at[i];
        needs |=
            (budget->is_growth || !grows) && (budget->scope == ETLHEAP_SCOPE_MARK ||
                                              budget->quantity != ETLHEAP_QUANTITY_OUTSTANDING);
    }
    return needs;
}

/* Were older buffers of a trace overwritten? */
static bool are_rings(const cli_inputs *inputs)
{
    bool are = false;
    for (u32 i = 0; i < inputs->count; i++) {
        for (u32 k = 0; k < etl_session_count(inputs->traces[i]); k++)
            are |= etl_session_of(inputs->traces[i], k)->buffers_overwritten > 0;
    }
    return are;
}

/* A log says what is outstanding, not what was allocated before: its allocations would be 0. */
static bool lacks_allocations(const inquiry *q)
{
    bool lacks = false;
    for (u32 i = 0; i < q->budgets.count; i++)
        lacks |= q->budgets.at[i].quantity != ETLHEAP_QUANTITY_OUTSTANDING;
    return lacks && (q->inputs.log || q->baseline.inputs.log);
}

static int check_inputs(const cli_options *options, cli_guard *guard, inquiry *q)
{
    etl_error err = { .status = ETL_OK };
    etlheap_sink *sink = NULL;
    if (lacks_allocations(q)) {
        cli_complain(cli_inputs_subject(&q->inputs),
                     "a UMDH log has no times, so peaks and allocations are not known; limit "
                     "what is outstanding");
        return CLI_EXIT_USAGE;
    }
    int exit_status = cli_request_open(options, &q->inputs, guard, &q->request, &sink);
    if (exit_status != CLI_EXIT_DONE)
        return exit_status;
    exit_status = cli_side_outputs_open(options, guard, &q->sides);
    if (exit_status != CLI_EXIT_DONE) {
        etlheap_sink_discard(sink);
        return exit_status;
    }
    const char *subject = cli_inputs_subject(&q->inputs);
    cli_options sharing = *options;
    sharing.memory_bytes = cli_baseline_share(options, &q->baseline);
    /* Single blocks have generations, and may be older than what a ring recorded. */
    if (needs_events(&q->budgets, false) || are_rings(&q->inputs))
        cli_request_add(&q->request, ETLHEAP_ASK_EVENTS, &q->request.query.query);
    if (q->baseline.exists && needs_events(&q->budgets, true))
        cli_request_add(&q->baseline.request, ETLHEAP_ASK_EVENTS, &q->baseline.request.query.query);
    etl_status status = cli_request_ask(&sharing, &q->inputs, guard, false, &q->request, &err);
    if (status == ETL_OK && q->baseline.exists) {
        subject = options->baseline;
        status = cli_baseline_ask(guard, &q->baseline, &err);
    }
    if (status == ETL_OK) {
        subject = cli_inputs_subject(&q->inputs);
        status = judge(options, q, &err);
    }
    if (status == ETL_OK)
        status = cli_request_exclude(&q->request, &err);
    return status == ETL_OK ? write_verdict(options, guard, q, sink)
                            : cli_output_fail(sink, subject, &err);
}

static etl_status judge(const cli_options *options, inquiry *q, etl_error *err)
{
    const etlheap_gate_side now = { q->request.result, &q->request.query.query };
    const etlheap_gate_side baseline = { q->baseline.request.result,
                                         &q->baseline.request.query.query };
    const etlheap_gate_options gate_options = {
        .size = sizeof gate_options,
        .budgets = q->budgets.at,
        .budget_count = q->budgets.count,
        .suppressions = q->suppressions,
        .baseline = q->baseline.exists ? &baseline : NULL,
        .stacks_max = options->top > 0 ? options->top : STACKS_DEFAULT,
        .passes_max = PASSES_LISTED,
        .allow_empty = options->allow_empty,
        .requires_baseline = options->require_baseline,
        .required_processes = options->required_processes.at,
        .required_process_count = options->required_processes.count,
    };
    const etl_status status = etlheap_gate_judge(&now, &gate_options, &q->gate, err);
    cli_symbols_done(&q->request.symbols);
    cli_symbols_done(&q->baseline.request.symbols);
    return status;
}

/* May the user run `diff` on these inputs? It takes one file on each side, and UMDH logs whole. */
static bool may_compare(const cli_options *options, const inquiry *q)
{
    return options->inputs.count == 1 && !options->together && !q->inputs.log &&
           !q->baseline.inputs.log;
}

/* Warns about filters that select nothing, because then a budget holds for the wrong reason. */
static void note_filters(const cli_options *options, const inquiry *q)
{
    const etlheap_query *const query = &q->request.query.query;
    const char *const subject = cli_inputs_subject(&q->inputs);
    u64 selected = 0;
    cli_note_excluded(options, subject, q->request.excluded);
    for (u32 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++)
        selected |= q->gate->outstanding[kind].count | q->gate->suppressed[kind].count;
    if (q->gate->is_unmeasured && !options->allow_empty)
        cli_note_unmeasured(options, subject, q->request.result, query);
    else
        cli_note_filters(options, subject, q->request.result, query, selected == 0);
}

/* The next baseline is written before the verdict, which reports it, and gets its name
 * afterwards. */
static int write_verdict(const cli_options *options, cli_guard *guard, inquiry *q,
                         etlheap_sink *sink)
{
    const etlheap_layout layout = cli_request_layout(options, &q->request);
    q->ratchet = cli_baseline_decide(options, &q->baseline, q->gate);
    const etlheap_check check = {
        .gate = q->gate,
        .baseline_name = options->baseline,
        .inputs = { options->inputs.at, options->inputs.count },
        .selection = { q->selection.at, q->selection.count },
        .may_compare = may_compare(options, q),
        .ratchet = q->ratchet,
        .results_max = options->sarif_results,
        .category = options->sarif_category,
        .roots = q->roots.roots,
        .lacks_login = options->lacks_login,
    };
    const bool replaces = q->ratchet == ETLHEAP_RATCHET_CREATED ||
                          q->ratchet == ETLHEAP_RATCHET_TIGHTENED ||
                          q->ratchet == ETLHEAP_RATCHET_ACCEPTED;
    int exit_status = CLI_EXIT_DONE;
    if (replaces)
        exit_status = cli_baseline_write(options, &q->inputs, guard, &q->baseline);
    if (exit_status == CLI_EXIT_DONE)
        exit_status = cli_side_outputs_write(options, guard, &q->request, &check, &q->sides);
    if (exit_status != CLI_EXIT_DONE) {
        etlheap_sink_discard(sink);
        return exit_status;
    }
    const etl_status status =
        cli_format_of(options)->write_check(q->request.result, &check, &layout, sink);
    exit_status = cli_output_close(options, guard, status, sink);
    if (exit_status == CLI_EXIT_DONE && replaces)
        exit_status = cli_baseline_replace(options, guard, &q->baseline);
    if (exit_status != CLI_EXIT_DONE)
        return exit_status;
    note_filters(options, q);
    return exit_of_verdict(options, q, &check);
}

/* A missing baseline is what --accept is for. */
static bool lacks_requirement(const cli_options *options, const etlheap_gate *gate)
{
    bool lacks = false;
    for (u32 i = 0; i < gate->requirement_count; i++)
        lacks |= !gate->requirements[i].is_met &&
                 (gate->requirements[i].process != NULL || !options->accept);
    return lacks;
}

static int exit_of_verdict(const cli_options *options, const inquiry *q, const etlheap_check *check)
{
    const etlheap_gate *const gate = q->gate;
    if (gate->is_unmeasured && !options->allow_empty)
        return exit_of_unmeasured(q);
    if (lacks_requirement(options, gate))
        return exit_of_requirements(q, check);
    if (options->accept && q->ratchet == ETLHEAP_RATCHET_REFUSED) {
        cli_complain(cli_inputs_subject(&q->inputs),
                     "--accept needs a complete trace, but this one lost events or is damaged; "
                     "record again. The baseline was not written");
        return CLI_EXIT_STRICT;
    }
    if (q->ratchet == ETLHEAP_RATCHET_ACCEPTED)
        return CLI_EXIT_DONE;
    return gate->outcome == ETLHEAP_OUTCOME_FAIL ? CLI_EXIT_EXCEEDED : exit_of_doubts(options, q);
}

/* Repeats on stderr that nothing was measured: nobody may see it in a verdict that goes to a
 * file. */
static int exit_of_unmeasured(const inquiry *q)
{
    char sentence[SENTENCE_SIZE];
    etlheap_check_absence_sentence(q->gate, sentence, sizeof sentence);
    const bool lacks_heap = q->gate->absence.process_count == 0 || q->gate->absence.kinds != 0;
    if (lacks_heap && etlheap_find_missing_session(q->request.result) == ETLHEAP_MISSING_HEAP) {
        const size_t used = strlen(sentence);
        snprintf(sentence + used, sizeof sentence - used,
                 "; give the heap session's file as well (often heap.etl)");
    }
    cli_complain(cli_inputs_subject(&q->inputs), sentence);
    return CLI_EXIT_EXCEEDED;
}

/* Repeats on stderr what is missing. */
static int exit_of_requirements(const inquiry *q, const etlheap_check *check)
{
    char sentence[SENTENCE_SIZE];
    for (u32 i = 0; i < q->gate->requirement_count; i++) {
        if (q->gate->requirements[i].is_met)
            continue;
        etlheap_check_requirement_sentence(check, i, cli_advice, sentence, sizeof sentence);
        cli_complain(cli_inputs_subject(&q->inputs), sentence);
    }
    return CLI_EXIT_EXCEEDED;
}

/* Says why a verdict is inconclusive: the first doubt, and what was lost. */
static int exit_of_doubts(const cli_options *options, const inquiry *q)
{
    const etlheap_gate *const gate = q->gate;
    const char *subject = cli_inputs_subject(&q->inputs);
    const etl_diag_counts *counts = &gate->diagnostics;
    char losses[SENTENCE_SIZE] = "", message[2 * SENTENCE_SIZE];
    u32 doubt = 0;
    if (gate->outcome != ETLHEAP_OUTCOME_INCONCLUSIVE)
        return CLI_EXIT_DONE;
    while (doubt + 1 < ETLHEAP_DOUBT_COUNT && !(gate->doubts >> doubt & 1))
        doubt++;
    if (doubt == ETLHEAP_DOUBT_BASELINE_LOSS || doubt == ETLHEAP_DOUBT_BASELINE_NO_EVENTS) {
        subject = options->baseline;
        counts = &gate->baseline_diagnostics;
    }
    (void)cli_describe_losses(counts, "; ", losses, sizeof losses);
    snprintf(message, sizeof message, "inconclusive: %s%s%s",
             etlheap_doubt_sentence((etlheap_doubt)doubt), losses,
             options->lenient ? "" : " (--lenient lets such a run pass)");
    if (options->lenient)
        cli_note(subject, message);
    else
        cli_complain(subject, message);
    return options->lenient ? CLI_EXIT_DONE : CLI_EXIT_STRICT;
}
