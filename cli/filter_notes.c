/*
 * filter_notes.c - notes about options that match nothing; for an empty answer also which filter
 * matched nothing, and which values would match.
 *
 * In: options, the result, and the query that was answered (dump: the clock; unnamed: the table).
 * Out: notes on stderr, often none. An empty answer has the first case that applies:
 *
 *     neither filters nor --address, or an empty window     no note: the answer says so
 *     all filters together select something                 --address is to blame, if given
 *     one filter alone selects nothing                      that filter is to blame
 *     each filter alone selects something                   together they exclude each other
 *
 * Invariant: these queries run on the existing result, and only for an empty answer or an export.
 * Marks, stacks of frees, --custom-heap, --process, patterns and the window are always checked,
 * which is cheap.
 * dump has no result; if it lists nothing, it analyses the traces for these notes.
 */
#include "filter_notes.h"

#include "cli/options/nearest.h"
#include "cli/system/terminal.h"
#include "filter_choices.h"
#include "messages.h"
#include "record_filter.h"
#include "report_query.h"
#include "session_notes.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/options/output_format.h"
#include "cli/options/wants.h"
#include "parser/system/name_fold.h"

#define NOTE_SIZE    420
#define NAMED_MAX    CLI_NEAREST_MAX
#define COMPARED_MAX 20u /* words of --process */
#define NS_PER_S     INT64_C(1000000000)

/* The filters of a query, in the order of --help. */
typedef enum filter {
    FILTER_KIND,
    FILTER_PROCESS,
    FILTER_HEAP,
    FILTER_THREAD,
    FILTER_TYPE,
    FILTER_LIFETIME,
    FILTER_SIZE,
    FILTER_FRAME,
    FILTER_EXCLUDED,
    FILTER_COUNT
} filter;

static const char *const filter_names[FILTER_COUNT] = {
    "--kind",     "--process", "--heap",          "--thread",        "--type",
    "--lifetime", "--size",    "--require-frame", "--exclude-frame",
};

/* A sentence under construction. */
typedef struct note {
    char text[NOTE_SIZE];
    size_t used;
} note;

static void note_processes(const cli_options *options, const char *subject,
                           const etlheap_result *result, bool only_slips);
static bool names_any_process(const etlheap_result *result, const etlheap_query *query);
static void note_patterns(const cli_options *options, const char *subject,
                          const etlheap_query *query);
static void note_window(const char *subject, const etlheap_result *result, i64 from_ns, i64 to_ns);
static void note_empty(const cli_options *options, const char *subject,
                       const etlheap_result *result, const etlheap_query *query);
static void note_culprit(const char *subject, const etlheap_result *result,
                         const etlheap_query *query, filter one);
static void note_events(const cli_options *options, const char *subject,
                        const etlheap_result *result);
static bool names_any_event(const etlheap_result *result, const char *word);

static void add(note *text, const char *format, ...) ETL_PRINTF(2, 3);

/* Appends text. What does not fit is left out; the first words of a list are the most likely
 * ones. */
static void add(note *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int size =
        vsnprintf(text->text + text->used, sizeof text->text - text->used, format, arguments);
    va_end(arguments);
    if (size > 0)
        text->used = (size_t)etl_min_u64(text->used + (size_t)size, sizeof text->text - 1);
}

/* Without marks there would be only one generation or window, which answers neither question. */
static void note_marks(const cli_options *options, const char *subject,
                       const etlheap_result *result)
{
    bool wants = options->at_marks;
    for (u32 i = 0; i < options->group_by_count; i++)
        wants |= options->group_by[i] == ETLHEAP_KEY_GENERATION;
    if (wants && etlheap_result_marks(result)->count == 0)
        cli_note(subject, CLI_NO_MARKS);
}

/* Without stacks of frees, all that was freed is one row without a stack. Most sessions record
 * none, because they make traces larger. */
static void note_free_stacks(const char *subject, const etlheap_result *result,
                             const etlheap_query *query)
{
    bool wants = false;
    for (u32 i = 0; i < query->group_by_count; i++)
        wants |= etlheap_key_needs_free_stacks(query->group_by[i]);
    if (wants && !etlheap_result_has_free_stacks(result))
        cli_note(subject, "no call stacks of frees were recorded, so rows do not tell which code "
                          "freed; record them with -stackwalk HeapAlloc+HeapRealloc+HeapFree of "
                          "xperf, and VirtualAlloc+VirtualFree for ranges");
}

/* Warns about --custom-heap allocators with no events in the trace. Descriptions are typed by hand,
 * and a wrong number looks like an allocator that does nothing. A store has its blocks already and
 * needs no description. */
static void note_custom(const cli_options *options, const char *subject,
                        const etlheap_result *result)
{
    if (options->custom.count > 0 && (etlheap_result_kinds(result) >> ETLHEAP_KIND_CUSTOM & 1) == 0)
        cli_note(subject, "--custom-heap matches no event in the trace; etlheap info lists the "
                          "providers and the ids of their events");
}

void cli_note_excluded(const cli_options *options, const char *subject,
                       const etlheap_table *excluded)
{
    const bool is_list = options->is_export || options->command_bit == CLI_ALLOCATIONS;
    const char *const format = options->is_export ? "" : cli_format_of(options)->name;
    const bool has_place =
        strcmp(format, "json") == 0 ||
        (!is_list && (strcmp(format, "text") == 0 || strcmp(format, "markdown") == 0));
    etlheap_text text = { 0 };
    if (!excluded || has_place)
        return;
    etlheap_excluded_words(excluded, &text);
    note line = { .used = 0 };
    add(&line, "left out by --exclude-frame: %s", text.bytes ? text.bytes : "");
    cli_note(subject, line.text);
    etlheap_text_free(&text);
}

/* Warns about modules to fold that are not in the trace. */
static void note_folded(const cli_options *options, const char *subject,
                        const etlheap_result *result, const etlheap_query *query)
{
    for (u32 i = 0; i < query->fold_module_count; i++) {
        bool found = false;
        for (u32 k = 0; k < etlheap_module_count(result) && !found; k++)
            found =
                etlheap_pattern_names_module(&query->fold_modules[i], etlheap_module_of(result, k));
        if (!found) {
            note text = { .used = 0 };
            add(&text, "--fold-module '%.60s' matches no module in the trace",
                options->fold_modules.at[i]);
            cli_note(subject, text.text);
        }
    }
}

void cli_note_filters(const cli_options *options, const char *subject, const etlheap_result *result,
                      const etlheap_query *query, bool is_empty)
{
    note_marks(options, subject, result);
    note_folded(options, subject, result, query);
    if (!is_empty)
        note_free_stacks(subject, result, query);
    note_custom(options, subject, result);
    note_processes(options, subject, result, false);
    note_patterns(options, subject, query);
    note_window(subject, result, query->from_ns, query->to_ns);
    cli_note_sessions(subject, result, query, is_empty);
    if (is_empty)
        note_empty(options, subject, result, query);
}

void cli_note_unmeasured(const cli_options *options, const char *subject,
                         const etlheap_result *result, const etlheap_query *query)
{
    note_processes(options, subject, result, true);
    note_patterns(options, subject, query);
    note_window(subject, result, query->from_ns, query->to_ns);
}

void cli_note_record_filters(const cli_options *options, const char *subject,
                             const etlheap_result *result, const cli_clock *clock)
{
    i64 from_ns = INT64_MIN, to_ns = INT64_MAX;
    (void)cli_window(options, clock, &from_ns, &to_ns, NULL);
    note_processes(options, subject, result, false);
    note_window(subject, result, from_ns, to_ns);
    note_events(options, subject, result);
}

/* --- names ---------------------------------------------------------------------------- */

static void add_nearest(const cli_nearest *best, const char *all, note *text)
{
    char list[NOTE_SIZE];
    cli_nearest_write(best, all, list, sizeof list);
    add(text, "%s", list);
}

/* The processes that the word may have meant. */
static cli_nearest nearest_processes(const etlheap_result *result, const char *word)
{
    cli_nearest best = { .word = word };
    for (u32 id = 1; id <= etlheap_process_count(result); id++) {
        const etlheap_process_info *const process =
            etlheap_process_of(result, (etlheap_process){ id });
        const u64 events = etlheap_process_events(process);
        if (events > 0 || cli_nearest_distance(word, process->name) <= 1)
            cli_nearest_consider(&best, process->name, events);
    }
    return best;
}

static void note_process(const char *subject, const etlheap_result *result, const char *word,
                         bool only_slips)
{
    const cli_nearest best = nearest_processes(result, word);
    note text = { .used = 0 };
    if (only_slips && !cli_nearest_is_near(&best))
        return;
    add(&text, "--process '%.60s' matches no process in the trace", word);
    if (best.count > 0)
        add_nearest(&best, "; the processes with most memory events are ", &text);
    cli_note(subject, text.text);
}

/* Without memory for the uses, words pass as known: notes are no reason to fail. */
static etlheap_word_use *uses_of(const etlheap_result *result, const char *const *words, u32 count)
{
    etlheap_word_use *const uses = calloc(count + (size_t)1, sizeof *uses);
    if (uses && etlheap_word_uses(result, words, count, uses))
        return uses;
    free(uses);
    return NULL;
}

/* A word without a process is compared with the names of all processes, which takes long: after
 * COMPARED_MAX of them, the rest is only counted. */
static void note_processes(const cli_options *options, const char *subject,
                           const etlheap_result *result, bool only_slips)
{
    const cli_words *const words = &options->processes;
    etlheap_word_use *const uses =
        words->count == 0 ? NULL : uses_of(result, (const char *const *)words->at, words->count);
    u32 missing = 0;
    for (u32 i = 0; uses && i < words->count; i++) {
        if (uses[i] == ETLHEAP_WORD_MISSING && missing++ < COMPARED_MAX)
            note_process(subject, result, words->at[i], only_slips);
    }
    if (missing > COMPARED_MAX && !only_slips) {
        note text = { .used = 0 };
        add(&text, "%" PRIu32 " more words of --process match no process in the trace",
            missing - COMPARED_MAX);
        cli_note(subject, text.text);
    }
    free(uses);
}

static bool names_any_process(const etlheap_result *result, const etlheap_query *query)
{
    etlheap_word_use *const uses = uses_of(result, query->processes, query->process_count);
    bool any = !uses;
    for (u32 i = 0; uses && i < query->process_count && !any; i++)
        any = uses[i] == ETLHEAP_WORD_NAMES;
    free(uses);
    return any;
}

/* Warns about patterns with a function name if there are no symbols: nothing can match them. */
static void note_patterns(const cli_options *options, const char *subject,
                          const etlheap_query *query)
{
    const struct {
        const char *name;
        const char *const *words;
        u32 count;
    } lists[] = {
        { "--require-frame", options->require_frames.at, options->require_frames.count },
        { "--exclude-frame", options->exclude_frames.at, options->exclude_frames.count },
        { "--cull-frame", options->cull_frames.at, options->cull_frames.count },
        { "--root", &options->root, options->root ? 1 : 0 },
        { "--focus", &options->focus, options->focus ? 1 : 0 },
    };
    for (size_t k = 0; k < ETL_COUNT_OF(lists) && !query->symbols; k++) {
        for (u32 i = 0; i < lists[k].count; i++) {
            const char *const word = lists[k].words[i];
            const char *const mark = strchr(word, '!');
            const char *const symbol = mark ? mark + 1 : word;
            if (*symbol == '\0' || strcmp(symbol, "*") == 0)
                continue;
            note text = { .used = 0 };
            add(&text, "%s '%.60s' names a function, which needs --symbols", lists[k].name, word);
            if (!mark)
                add(&text, "; to name a module, write '%.60s!'", word);
            cli_note(subject, text.text);
        }
    }
}

/* With a path, diagnostics say what was not found. */
void cli_note_unnamed(const cli_options *options, const etlheap_table *table)
{
    if (options->symbols || options->no_symbols || cli_symbol_path() || table->key_check != 0 ||
        strcmp(cli_format_of(options)->name, "text") != 0)
        return;
    for (u32 i = 0; i < table->stack_count && i < NAMED_MAX; i++) {
        for (u32 k = table->stack_starts[i]; k < table->stack_starts[i + 1]; k++) {
            const etlheap_frame *const frame = &table->frames[table->frame_indices[k]];
            if (!frame->module || frame->symbol)
                continue;
            cli_note(NULL, "no function names: give --symbols FOLDER with the PDBs, or --symbols "
                           "SRV*CACHE*URL for a symbol server; etlheap symbols lists the PDBs that "
                           "are needed");
            return;
        }
    }
}

/* --- times ------------------------------------------------------------------------------ */

static void add_seconds(note *text, i64 ns)
{
    const u64 size = ns < 0 ? 0 - (u64)ns : (u64)ns;
    add(text, "%s%" PRIu64 ".%03" PRIu64 " s", ns < 0 ? "-" : "", size / NS_PER_S,
        size % NS_PER_S / 1000000);
}

static void note_window(const char *subject, const etlheap_result *result, i64 from_ns, i64 to_ns)
{
    const i64 end_ns = etlheap_result_trace(result)->end_ns;
    const bool is_after = from_ns != INT64_MIN && from_ns >= end_ns;
    const bool is_before = to_ns != INT64_MAX && to_ns <= 0;
    note text = { .used = 0 };
    if (!is_after && !is_before)
        return;
    add(&text, "the window %s of the trace, which lasts from 0 s to ",
        is_after ? "begins after the last event" : "ends before the start");
    add_seconds(&text, end_ns);
    cli_note(subject, text.text);
}

/* --- filters one at a time ----------------------------------------------------------------- */

static bool is_given(const etlheap_query *query, filter one)
{
    switch (one) {
    case FILTER_KIND:
        return query->kinds != 0;
    case FILTER_PROCESS:
        return query->process_count > 0;
    case FILTER_HEAP:
        return query->heap_count > 0;
    case FILTER_THREAD:
        return query->thread_count > 0 || query->thread_name_count > 0;
    case FILTER_TYPE:
        return query->types != 0;
    case FILTER_LIFETIME:
        return query->lifetime_min_ns > 0 || query->lifetime_max_ns != INT64_MAX;
    case FILTER_SIZE:
        return query->size_min_bytes > 0 || query->size_max_bytes != UINT64_MAX;
    case FILTER_FRAME:
        return query->require_frame_count > 0;
    case FILTER_EXCLUDED:
        return query->exclude_frame_count > 0;
    case FILTER_COUNT:
        break;
    }
    return false;
}

/* The same window, and no filters. */
static etlheap_query open_query(const etlheap_query *query)
{
    etlheap_query open = etlheap_query_default();
    open.from_ns = query->from_ns;
    open.to_ns = query->to_ns;
    open.at_exit_freed = query->at_exit_freed;
    open.at_end = query->at_end;
    open.kind_to_ticks = query->kind_to_ticks;
    open.symbols = query->symbols;
    open.jobs = query->jobs;
    open.sums_only = true;
    open.group_by[0] = ETLHEAP_KEY_KIND;
    open.group_by[1] = ETLHEAP_KEY_TYPE;
    open.group_by_count = 2;
    return open;
}

static void close_filter(const etlheap_query *from, filter one, etlheap_query *to)
{
    switch (one) {
    case FILTER_KIND:
        to->kinds = from->kinds;
        break;
    case FILTER_PROCESS:
        to->processes = from->processes;
        to->process_count = from->process_count;
        break;
    case FILTER_HEAP:
        to->heaps = from->heaps;
        to->heap_count = from->heap_count;
        break;
    case FILTER_THREAD:
        to->threads = from->threads;
        to->thread_count = from->thread_count;
        to->thread_names = from->thread_names;
        to->thread_name_count = from->thread_name_count;
        break;
    case FILTER_TYPE:
        to->types = from->types;
        break;
    case FILTER_LIFETIME:
        to->lifetime_min_ns = from->lifetime_min_ns;
        to->lifetime_max_ns = from->lifetime_max_ns;
        break;
    case FILTER_SIZE:
        to->size_min_bytes = from->size_min_bytes;
        to->size_max_bytes = from->size_max_bytes;
        break;
    case FILTER_FRAME:
        to->require_frames = from->require_frames;
        to->require_frame_count = from->require_frame_count;
        break;
    case FILTER_EXCLUDED:
        to->exclude_frames = from->exclude_frames;
        to->exclude_frame_count = from->exclude_frame_count;
        break;
    case FILTER_COUNT:
        break;
    }
}

/* Does the query select anything? True on error, so that no filter is blamed. */
static bool selects_any(const etlheap_result *result, const etlheap_query *query)
{
    etlheap_table *table = NULL;
    const etl_status status = etlheap_aggregate(result, query, &table, NULL);
    const bool any = status != ETL_OK || table->row_count > 0;
    etlheap_table_free(table);
    return any;
}

static void note_empty(const cli_options *options, const char *subject,
                       const etlheap_result *result, const etlheap_query *query)
{
    const etlheap_query open = open_query(query);
    etlheap_query all = open;
    note together = { .used = 0 };
    u32 given = 0;
    bool blamed = false;
    for (u32 i = 0; i < FILTER_COUNT; i++)
        given += is_given(query, (filter)i);
    if ((given == 0 && !cli_has_address(options)) || !selects_any(result, &open))
        return; /* the window has nothing, or the trace, as the answer says */
    for (u32 i = 0; i < FILTER_COUNT; i++)
        close_filter(query, (filter)i, &all);
    if (selects_any(result, &all)) {
        if (cli_has_address(options))
            cli_note(subject,
                     "--address selects nothing: no block contains this address at this time");
        return;
    }
    for (u32 i = 0; i < FILTER_COUNT; i++) {
        etlheap_query one = open;
        if (!is_given(query, (filter)i))
            continue;
        close_filter(query, (filter)i, &one);
        add(&together, "%s%s", together.used > 0 ? ", " : "", filter_names[i]);
        if (selects_any(result, &one))
            continue;
        blamed = true;
        if (i == FILTER_PROCESS && !names_any_process(result, query))
            continue; /* each of its words was already reported */
        note_culprit(subject, result, query, (filter)i);
    }
    if (blamed || given < 2)
        return;
    note text = { .used = 0 };
    add(&text, "every filter selects something, but nothing passes all of them: %s", together.text);
    cli_note(subject, text.text);
}

static void note_culprit(const char *subject, const etlheap_result *result,
                         const etlheap_query *query, filter one)
{
    etlheap_query open = open_query(query);
    etlheap_key key = ETLHEAP_KEY_COUNT;
    char choices[CLI_FILTER_CHOICES_SIZE];
    note text = { .used = 0 };
    add(&text, "%s selects nothing", filter_names[one]);
    switch (one) {
    case FILTER_KIND:
        key = ETLHEAP_KEY_KIND;
        break;
    case FILTER_HEAP:
        key = ETLHEAP_KEY_HEAP;
        break;
    case FILTER_THREAD:
        key = ETLHEAP_KEY_THREAD;
        break;
    case FILTER_TYPE:
        key = ETLHEAP_KEY_TYPE;
        break;
    case FILTER_PROCESS:
        add(&text, " in this window, though its processes are in the trace");
        break;
    case FILTER_FRAME:
        add(&text, ": no stack has a matching frame");
        break;
    case FILTER_EXCLUDED:
        add(&text, ": every stack has a matching frame");
        break;
    default:
        break;
    }
    close_filter(query, FILTER_PROCESS, &open);
    if (one == FILTER_KIND || !selects_any(result, &open))
        open = open_query(query);
    cli_filter_choices(result, &open, key, choices);
    add(&text, "%s", choices);
    cli_note(subject, text.text);
}

/* --- events of a listing --------------------------------------------------------------------- */

static bool names_any_event(const etlheap_result *result, const char *word)
{
    const etlheap_hook_count *hooks = NULL;
    const etlheap_provider_count *providers = NULL;
    const u32 hook_count = etlheap_hook_counts(result, &hooks);
    const u32 provider_count = etlheap_provider_counts(result, &providers);
    bool found = false;
    for (u32 i = 0; i < hook_count && !found; i++)
        found = cli_word_names_hook(word, hooks[i].hook, hooks[i].name);
    for (u32 i = 0; i < provider_count && !found; i++)
        found = cli_word_names_provider(word, providers[i].guid.bytes);
    return found;
}

static void note_events(const cli_options *options, const char *subject,
                        const etlheap_result *result)
{
    const etlheap_hook_count *hooks = NULL;
    const etlheap_provider_count *providers = NULL;
    const u32 hook_count = etlheap_hook_counts(result, &hooks);
    const u32 provider_count = etlheap_provider_counts(result, &providers);
    for (u32 i = 0; i < options->events.count; i++) {
        const char *list = options->events.at[i];
        char word[CLI_WORD_SIZE];
        while (*list != '\0' && cli_next_word(&list, word)) {
            cli_nearest best = { .word = word };
            note text = { .used = 0 };
            if (names_any_event(result, word))
                continue;
            for (u32 k = 0; k < hook_count; k++) {
                if (hooks[k].name)
                    cli_nearest_consider(&best, hooks[k].name, hooks[k].count);
            }
            for (u32 k = 0; k < provider_count; k++) {
                const char *const name = etl_provider_name(providers[k].guid.bytes);
                if (name && !providers[k].is_message)
                    cli_nearest_consider(&best, name, providers[k].count);
            }
            add(&text, "--events '%s' matches no event in the trace", word);
            if (best.count > 0)
                add_nearest(&best, "; the most frequent are ", &text);
            add(&text, "%s", " (etlheap info lists all)");
            cli_note(subject, text.text);
        }
    }
}
