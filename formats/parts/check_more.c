/*
 * check_more.c - writes the command that shows more about a failed subject of a check.
 *
 * In: a failed subject with its stacks, and a sentence of the program with places. Out: a command
 * that can be pasted into a shell.
 *
 *     report {files}[ --process {process}][ --heap {heap}]     the program's sentence
 *     report app.etl --process app.exe                         a subject without a heap
 *
 * A part in brackets is left out if a place in it is empty. The sentence comes from the program,
 * because a library knows no options. Invariant: names come from traces and are pasted into shells,
 * so every value that is not a number made here goes through shell_words.h before it fills a place.
 */
#include "check_more.h"

#include "check_parts.h"
#include "layout_read.h"
#include "shell_words.h"
#include "window_rows.h"
#include "formats/io/units.h"

#include <inttypes.h>
#include <stdlib.h>

/* A place and its value, quoted for a shell; "" if there is no value. */
typedef struct place {
    const char *name;
    etlheap_text value;
} place;

enum { FILES, BASELINE, KIND, PROCESS, HEAP, FRAME, SELECTION, FROM, TO, SORT, PLACE_COUNT };

#define NO_PLACES                                                                                  \
    {                                                                                              \
        [FILES] = { .name = "files" }, [BASELINE] = { .name = "baseline" },                        \
        [KIND] = { .name = "kind" }, [PROCESS] = { .name = "process" },                            \
        [HEAP] = { .name = "heap" }, [FRAME] = { .name = "frame" },                                \
        [SELECTION] = { .name = "selection" }, [FROM] = { .name = "from" },                        \
        [TO] = { .name = "to" }, [SORT] = { .name = "sort" },                                      \
    }

static void add_words(etlheap_text *text, etlheap_typed words)
{
    for (u32 i = 0; i < words.count; i++) {
        etlheap_text_add_string(text, i > 0 ? " " : "");
        etlheap_shell_add(text, etlheap_shell_here(), words.at[i]);
    }
}

/* Appends a function as each build spells it. */
static void add_of_builds(etlheap_text *text, const char *symbol)
{
    char *const pattern = malloc(strlen(symbol) + 1);
    text->failed |= pattern == NULL;
    if (pattern == NULL)
        return;
    etlheap_text_add(text, pattern, etlheap_symbol_of_builds(symbol, pattern));
    free(pattern);
}

/* Appends a frame as --require-frame takes it, which may have wildcards; the first ! divides it. A
 * row of two runs has the baseline's name, and the command reads both runs. */
static void add_frame(etlheap_text *text, const char *module, const char *symbol, bool is_of_builds)
{
    etlheap_text pattern = { 0 };
    for (const char *at = module; *at != '\0'; at++)
        etlheap_text_add(&pattern, *at == '!' ? "?" : at, 1);
    etlheap_text_add_string(&pattern, "!");
    if (is_of_builds)
        add_of_builds(&pattern, symbol);
    else
        etlheap_text_add_string(&pattern, symbol);
    etlheap_shell_add_name(text, etlheap_shell_here(), etlheap_text_of(&pattern), "");
    text->failed |= pattern.failed;
    etlheap_text_free(&pattern);
}

/* Appends a pattern for the innermost frame that lies in a module: "app.exe!grow", or "app.exe!" if
 * the frame has no name. */
static void add_pattern(etlheap_text *text, const etlheap_table *table, u32 stack,
                        bool is_of_builds)
{
    const etlheap_indices frames = etlheap_check_frames(table, stack);
    const etlheap_frame *frame = NULL;
    for (u32 i = 0; i < frames.count && (!frame || !frame->module); i++)
        frame = &table->frames[frames.at[i]];
    if (frame && frame->module)
        add_frame(text, frame->module, frame->symbol ? frame->symbol : "", is_of_builds);
}

/* A moment as --from and --to take it: "mark:load#2" if it is a mark's, otherwise "4000000000ns".
 * If marks are at the same time, the last one is meant, as it is the one that begins an
 * interval. */
static void add_moment(etlheap_text *text, const etlheap_marks *marks, i64 ns)
{
    etlheap_text word = { 0 };
    const etlheap_mark *const at = etlheap_mark_at(marks, ns);
    if (at) {
        etlheap_text_add_string(&word, "mark:");
        etlheap_text_add_mark(&word, at->name, at->number);
        etlheap_shell_add(text, etlheap_shell_here(), etlheap_text_of(&word));
    } else {
        etlheap_text_add_format(text, "%" PRId64 "ns", ns);
    }
    text->failed |= word.failed;
    etlheap_text_free(&word);
}

/* The interval of a mark. Its end is left out if it is the window's, which the command has
 * anyway. */
static void fill_interval(place *places, const etlheap_check_commands *commands,
                          const etlheap_gate_subject *subject)
{
    const etlheap_marks *const marks = etlheap_result_marks(commands->result);
    if (!subject->mark)
        return;
    add_moment(&places[FROM].value, marks, subject->from_ns);
    if (subject->to_ns != commands->check->gate->to_ns)
        add_moment(&places[TO].value, marks, subject->to_ns);
}

/* The measure that stacks are sorted by so that those to blame come first. */
static const char *sort_word(const etlheap_budget *budget)
{
    const etlheap_quantity_measures reads = etlheap_quantity_reads(budget->quantity);
    return etlheap_measure_word(budget->is_count ? reads.count : reads.size);
}

static void fill_places(place *places, const etlheap_check_commands *commands,
                        const etlheap_gate_budget *budget, const etlheap_gate_subject *subject)
{
    const etlheap_shell shell = etlheap_shell_here();
    const etlheap_check *const check = commands->check;
    const etlheap_trace_info *const trace = etlheap_result_trace(commands->result);
    const etlheap_typed files = { trace->files, trace->file_count };
    add_words(&places[FILES].value, check->inputs.count > 0 ? check->inputs : files);
    add_words(&places[SELECTION].value, check->selection);
    if (check->baseline_name)
        etlheap_shell_add(&places[BASELINE].value, shell, check->baseline_name);
    etlheap_shell_add(&places[KIND].value, shell, etlheap_kind_name(subject->kind));
    fill_interval(places, commands, subject);
    const char *process = subject->process;
    if (budget->budget.quantity != ETLHEAP_QUANTITY_OUTSTANDING)
        etlheap_text_add_string(&places[SORT].value, sort_word(&budget->budget));
    if (subject->has_heap)
        etlheap_text_add_format(&places[HEAP].value, "0x%" PRIx64, subject->heap_handle);
    if (subject->stack_count > 0)
        process = subject->stacks[0].process;
    if (process && *process)
        etlheap_shell_add_name(&places[PROCESS].value, shell, process, ",");
    if (subject->stack_count > 0)
        add_pattern(&places[FRAME].value, budget->table, subject->stacks[0].stack,
                    check->baseline_name != NULL);
}

static const etlheap_text *place_at(const place *places, const char *name, size_t size)
{
    for (int i = 0; i < PLACE_COUNT; i++) {
        if (strlen(places[i].name) == size && memcmp(places[i].name, name, size) == 0)
            return &places[i].value;
    }
    return NULL;
}

/* Appends a part of the hint, up to `end`, with its places filled; false if one of them is
 * empty. */
static bool add_part(etlheap_text *text, const place *places, const char *at, const char *end)
{
    bool complete = true;
    while (at < end) {
        const size_t size = *at == '{' ? strcspn(at, "}") : 0;
        const etlheap_text *const value = size > 0 ? place_at(places, at + 1, size - 1) : NULL;
        if (value)
            etlheap_text_add(text, etlheap_text_of(value), value->size);
        else
            etlheap_text_add(text, at, 1);
        complete &= !value || value->size > 0;
        at += value ? size + 1 : 1;
    }
    return complete;
}

static void add_filled(etlheap_text *text, const place *places, const char *words)
{
    etlheap_text part = { 0 };
    while (*words != '\0') {
        const bool optional = *words == '[';
        const size_t size = strcspn(words + optional, optional ? "]" : "[");
        etlheap_text_clear(&part);
        if (add_part(&part, places, words + optional, words + optional + size) || !optional)
            etlheap_text_add(text, etlheap_text_of(&part), part.size);
        words += optional + size;
        words += optional && *words != '\0';
    }
    text->failed |= part.failed;
    etlheap_text_free(&part);
}

/* Notes a command; false if it was noted before. */
static bool note_command(export_numbers *written, const etlheap_text *command)
{
    u32 number;
    const etl_bytes own = { (const u8 *)etlheap_text_of(command), command->size };
    return export_number_of(written, own, &number);
}

void etlheap_check_add_more(etlheap_text *text, etlheap_check_commands *commands,
                            const etlheap_gate_budget *budget, const etlheap_gate_subject *subject)
{
    const etlheap_check *const check = commands->check;
    place places[PLACE_COUNT] = NO_PLACES;
    etlheap_text command = { 0 };
    const bool is_left = budget->budget.quantity == ETLHEAP_QUANTITY_OUTSTANDING;
    const bool compares =
        is_left && budget->budget.is_growth && check->baseline_name && check->may_compare;
    const etl_hint hint = compares                   ? ETL_HINT_GROWN_STACKS
                          : is_left && subject->mark ? ETL_HINT_LEFT_STACKS
                                                     : ETL_HINT_FAILED_STACKS;
    fill_places(places, commands, budget, subject);
    add_filled(&command, places, etlheap_hint_words(commands->say, hint));
    if (note_command(&commands->written, &command))
        etlheap_text_add_string(text, etlheap_text_of(&command));
    text->failed |= command.failed || commands->written.failed;
    etlheap_text_free(&command);
    for (int i = 0; i < PLACE_COUNT; i++) {
        text->failed |= places[i].value.failed;
        etlheap_text_free(&places[i].value);
    }
}

void etlheap_check_add_login(etlheap_text *text, const etlheap_check_commands *commands)
{
    if (commands->check->lacks_login && commands->written.count > 0)
        etlheap_text_add_string(text, etlheap_hint_words(commands->say, ETL_HINT_LOGIN));
}

void etlheap_check_add_wrapper(etlheap_text *text, const etlheap_gate_wrapper *wrapper,
                               etl_hint_fn *say)
{
    const etlheap_frame frame = { .module = wrapper->module, .symbol = wrapper->symbol };
    place places[PLACE_COUNT] = NO_PLACES;
    etlheap_text name = { 0 };
    char size[ETLHEAP_UNITS_SIZE], all[ETLHEAP_UNITS_SIZE];
    etlheap_units_size((i64)etl_min_u64(wrapper->size_bytes, INT64_MAX), size);
    etlheap_units_size((i64)etl_min_u64(wrapper->of_bytes, INT64_MAX), all);
    etlheap_text_add_frame(&name, &frame);
    if (wrapper->module)
        add_frame(&places[FRAME].value, wrapper->module, wrapper->symbol ? wrapper->symbol : "",
                  false);
    etlheap_text_add_string(text, etlheap_kind_name(wrapper->kind));
    etlheap_text_add_string(text, ": ");
    etlheap_text_add_string(text, etlheap_text_of(&name));
    etlheap_text_add_format(text, " allocates %s of %s for %" PRIu32 " functions that call it",
                            size, all, wrapper->callers);
    add_filled(text, places, etlheap_hint_words(say, ETL_HINT_WRAPPER));
    text->failed |= name.failed || places[FRAME].value.failed;
    etlheap_text_free(&name);
    etlheap_text_free(&places[FRAME].value);
}
