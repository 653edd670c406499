/*
 * session.c - see session.h.
 *
 * In: questions. Out: the output of commands.
 *
 *     question ──▶ question_words.c ──▶ cli_options_parse ──▶ command->run ──▶ text, exit status
 *                  (served options)                           with kept inputs
 *
 * Invariant: the code that answers is the command's own; the session adds only where inputs come
 * from and where output and messages go (served.h). A question has the symbols of its slot, because
 * a handle is for one thread at a time.
 */
#include "session.h"

#include "cli/messages.h"
#include "cli/options/output_format.h"
#include "cli/system/bus_guard.h"
#include "kept_input.h"
#include "question_words.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* JSON of all stacks of six million allocations has 60 MB. Two answers are made at a time. */
#define BODY_BYTES_MAX ((size_t)128 << 20)

#define SERVED_COMMANDS                                                                            \
    (CLI_REPORT | CLI_WINDOWS | CLI_ALLOCATIONS | CLI_DIFF | CLI_TREND | CLI_INFO | CLI_SYMBOLS |  \
     CLI_EXPORT)

struct view_session {
    const cli_options *options;
    const cli_command_list *commands;
    view_kept *inputs;
    cli_kept_input *kept; /* VIEW_SLOTS arrays of all inputs */
    u32 count;
    u32 cancel; /* set when the session closes */
    u32 trips;  /* atomic: of the bus guard, whose inputs are known */
    pthread_t reader;
    bool has_reader;
};

/* --- inputs ------------------------------------------------------------------------ */

/* With --together all files are one input. */
static cli_words words_of(const view_session *session, u32 index)
{
    const cli_words *const all = &session->options->inputs;
    return session->options->together ? *all : (cli_words){ &all->at[index], 1 };
}

static int open_inputs(view_session *session)
{
    int exit_status = CLI_EXIT_DONE;
    for (u32 i = 0; i < session->count && exit_status == CLI_EXIT_DONE; i++)
        exit_status = view_kept_open(session->options, words_of(session, i), &session->cancel,
                                     &session->inputs[i]);
    return exit_status;
}

/* What missed bytes up to this number of times is known, and marked. */
static void pass_over(view_session *session, u32 trips)
{
    u32 before = __atomic_load_n(&session->trips, __ATOMIC_RELAXED);
    while (before < trips && !__atomic_compare_exchange_n(&session->trips, &before, trips, false,
                                                          __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
    }
}

typedef void kept_fn(view_kept *input);

static void work_on(view_session *session, view_kept *input, kept_fn *work)
{
    const u32 before = __atomic_load_n(&session->trips, __ATOMIC_ACQUIRE);
    cli_bus_guard_pass_over(before);
    work(input);
    const u32 trips = cli_bus_guard_trips();
    if (trips == before)
        return;
    view_kept_tear(input);
    pass_over(session, trips);
}

/* Nobody waits for names before all inputs can be asked. */
static void *read_inputs(void *user)
{
    view_session *const session = user;
    for (u32 i = 0; i < session->count; i++)
        work_on(session, &session->inputs[i], view_kept_read);
    for (u32 i = 0; i < session->count; i++)
        work_on(session, &session->inputs[i], view_kept_name);
    return NULL;
}

/* Names stand for inputs, so each input needs its own. */
static int check_names(const cli_options *options)
{
    for (u32 i = 0; i < options->inputs.count; i++) {
        for (u32 k = 0; k < i; k++) {
            if (strcmp(options->inputs.at[i], options->inputs.at[k]) == 0) {
                cli_complain(options->inputs.at[i], "is given twice; name it once");
                return CLI_EXIT_USAGE;
            }
        }
    }
    return CLI_EXIT_DONE;
}

int view_session_open(const cli_options *options, const cli_command_list *commands,
                      view_session **out)
{
    const int names = check_names(options);
    view_session *const session = names == CLI_EXIT_DONE ? calloc(1, sizeof *session) : NULL;
    *out = session;
    if (names != CLI_EXIT_DONE)
        return names;
    if (session) {
        session->options = options;
        session->commands = commands;
        session->count = options->together ? 1 : options->inputs.count;
        session->inputs = calloc(session->count, sizeof *session->inputs);
        session->kept = calloc((size_t)session->count * VIEW_SLOTS, sizeof *session->kept);
    }
    if (!session || !session->inputs || !session->kept) {
        cli_complain(NULL, "out of memory");
        return CLI_EXIT_INPUT;
    }
    const int exit_status = open_inputs(session);
    if (exit_status != CLI_EXIT_DONE)
        return exit_status;
    session->has_reader = pthread_create(&session->reader, NULL, read_inputs, session) == 0;
    if (session->has_reader)
        return CLI_EXIT_DONE;
    cli_complain(NULL, "no thread can be started");
    return CLI_EXIT_INPUT;
}

void view_session_close(view_session *session)
{
    if (!session)
        return;
    __atomic_store_n(&session->cancel, 1, __ATOMIC_RELAXED);
    if (session->has_reader)
        (void)pthread_join(session->reader, NULL);
    for (u32 i = 0; session->inputs && i < session->count; i++)
        view_kept_close(&session->inputs[i]);
    free(session->inputs);
    free(session->kept);
    free(session);
}

/* --- questions --------------------------------------------------------------------- */

/* What one question needs. Start from {0}. */
typedef struct asking {
    const view_question *question;
    const cli_command *command;
    view_words words;
    cli_options options;
    cli_served served;
    u32 trips; /* read before the states of inputs, so that no torn one is taken for good */
} asking;

static void refuse(view_answer *out, view_outcome outcome, const char *sentence)
{
    etlheap_sink *sink = NULL;
    out->outcome = outcome;
    out->exit_status =
        outcome == VIEW_WRONG || outcome == VIEW_UNKNOWN ? CLI_EXIT_USAGE : CLI_EXIT_INPUT;
    if (etlheap_sink_open_text(&out->message, &sink, NULL) != ETL_OK)
        return;
    etlheap_sink_text(sink, sentence);
    (void)etlheap_sink_close(sink, NULL);
}

/* What commands repeat of `etlheap view` comes first. */
static etl_status parse(const view_session *session, asking *about, etl_error *err)
{
    const view_names names = { session->options->inputs.at, session->count };
    etl_status status =
        view_words_repeat(session->options, about->command->bit, &about->words, err);
    if (status == ETL_OK)
        status = view_words_make(about->question, about->command->bit, &names, &about->words, err);
    if (status != ETL_OK)
        return status;
    return cli_options_parse(about->command, (int)about->words.count, about->words.at,
                             &about->options, err);
}

/* Settings of the machine are those of `etlheap view`. Its words lack logins (given_options.h). */
static void take_settings(const cli_options *view, cli_options *out)
{
    out->commands = view->commands;
    out->jobs = view->jobs;
    out->memory_bytes = view->memory_bytes;
    out->symbols = view->symbols;
    out->lacks_login = view->lacks_login;
}

static const view_kept *input_named(const view_session *session, const char *name)
{
    for (u32 i = 0; i < session->count; i++) {
        if (strcmp(session->inputs[i].name, name) == 0)
            return &session->inputs[i];
    }
    return NULL;
}

/* False, after an answer, if an input that is asked about is not ready. */
static bool are_ready(const view_session *session, const asking *about, view_answer *out)
{
    for (u32 i = 0; i < about->options.inputs.count; i++) {
        const view_kept *const input = input_named(session, about->options.inputs.at[i]);
        const etlheap_viewed_state state = view_kept_state(input);
        const etlheap_viewed_names names =
            state == ETLHEAP_VIEWED_READY ? view_kept_names(input) : ETLHEAP_VIEWED_NAMES_NONE;
        if (state == ETLHEAP_VIEWED_READING)
            refuse(out, VIEW_NOT_READY, "the input is still being read");
        else if (state == ETLHEAP_VIEWED_FAILED)
            refuse(out, VIEW_FAILED, view_kept_message(input));
        else if (names == ETLHEAP_VIEWED_NAMES_PENDING && about->command->bit == CLI_SYMBOLS)
            refuse(out, VIEW_NOT_READY, "symbols are still being looked up");
        else
            continue;
        return false;
    }
    return true;
}

/* Lends the inputs that can be asked to a question, with the symbols of its slot. True if names of
 * one that it is about are pending. */
static bool lend_inputs(const view_session *session, asking *about)
{
    cli_kept_input *const kept = &session->kept[(size_t)about->question->slot * session->count];
    bool is_pending = false;
    u32 count = 0;
    for (u32 i = 0; i < about->options.inputs.count; i++) {
        const view_kept *const input = input_named(session, about->options.inputs.at[i]);
        const etlheap_viewed_names names = view_kept_names(input);
        is_pending |= names == ETLHEAP_VIEWED_NAMES_PENDING;
        kept[count++] = (cli_kept_input){
            .name = input->name,
            .result = input->result,
            .inventory = input->inventory,
            .symbols = names == ETLHEAP_VIEWED_NAMES_READY
                           ? input->symbols[about->question->slot].symbols
                           : NULL,
        };
    }
    about->served.inputs = kept;
    about->served.input_count = count;
    return is_pending;
}

static const char *content_type_of(const cli_options *options)
{
    const char *const format = options->format;
    if (options->is_export) {
        const etlheap_exporter *const exporter = format ? etlheap_exporter_named(format) : NULL;
        return exporter && exporter->is_text ? "text/plain; charset=utf-8"
                                             : "application/octet-stream";
    }
    if (format && strcmp(format, "csv") == 0)
        return "text/csv; charset=utf-8";
    if (format && strcmp(format, "ndjson") == 0)
        return "application/x-ndjson";
    return format && strcmp(format, "json") == 0 ? "application/json" : "text/plain; charset=utf-8";
}

static view_outcome outcome_of(const asking *about, const view_answer *answer)
{
    if (cli_is_cancelled(about->question->cancel))
        return VIEW_CANCELLED;
    if (answer->exit_status == CLI_EXIT_USAGE)
        return VIEW_WRONG;
    return answer->exit_status == CLI_EXIT_INPUT ? VIEW_FAILED : VIEW_ANSWERED;
}

/* Bytes were missing while this question, or one beside it, was answered. Nobody can tell of which
 * file they were, so all that it is about fail: zeros are mapped in place of the bytes. */
static void give_up_inputs(view_session *session, const asking *about, u32 trips)
{
    for (u32 i = 0; i < session->count; i++) {
        if (cli_served_input(&about->served, session->inputs[i].name))
            view_kept_tear(&session->inputs[i]);
    }
    pass_over(session, trips);
}

/* Runs the command on this thread. */
static void run(view_session *session, asking *about, view_answer *out)
{
    cli_bus_guard_pass_over(about->trips);
    out->symbols_pending = lend_inputs(session, about);
    about->served.body = &out->body;
    about->served.body_bytes_max = BODY_BYTES_MAX;
    about->served.cancel = about->question->cancel;
    about->options.served = &about->served;
    out->content_type = content_type_of(&about->options);
    cli_messages_to(&out->message);
    out->exit_status = about->command->run(&about->options);
    cli_messages_to(NULL);
    out->outcome = outcome_of(about, out);
    const u32 trips = cli_bus_guard_trips();
    if (trips != about->trips) {
        give_up_inputs(session, about, trips);
        etlheap_text_free(&out->message);
        refuse(out, VIEW_FAILED, cli_bus_guard_message);
        return;
    }
    if (out->outcome != VIEW_CANCELLED && cli_served_is_full(&about->served)) {
        etlheap_text_free(&out->message);
        refuse(out, VIEW_FAILED,
               "the answer is larger than 128 MiB; ask for less, or run the command");
    }
}

void view_session_ask(view_session *session, const view_question *question, view_answer *out)
{
    asking about = { .question = question,
                     .trips = __atomic_load_n(&session->trips, __ATOMIC_ACQUIRE) };
    etl_error err = { .status = ETL_OK };
    *out = (view_answer){ .exit_status = CLI_EXIT_USAGE };
    about.command = cli_command_named(session->commands, question->command);
    if (!about.command || (about.command->bit & SERVED_COMMANDS) == 0) {
        refuse(out, VIEW_UNKNOWN, "this command is not served");
        return;
    }
    if (parse(session, &about, &err) != ETL_OK) {
        refuse(out, VIEW_WRONG, err.message);
    } else if (are_ready(session, &about, out)) {
        take_settings(session->options, &about.options);
        run(session, &about, out);
    }
    cli_options_free(&about.options);
    view_words_free(&about.words);
}

void view_answer_free(view_answer *answer)
{
    etlheap_text_free(&answer->body);
    etlheap_text_free(&answer->message);
    *answer = (view_answer){ .content_type = NULL };
}

/* --- the document ------------------------------------------------------------------ */

#define COMMANDS_MAX 16

/* What the document about the session is made of. Start from {0}. */
typedef struct view_document {
    view_words words[COMMANDS_MAX];
    etlheap_viewed_command commands[COMMANDS_MAX];
    u32 command_count;
} view_document;

static etlheap_viewed_input input_of(const view_session *session, u32 index)
{
    const view_kept *const input = &session->inputs[index];
    const cli_words words = words_of(session, index);
    const etlheap_viewed_state state = view_kept_state(input);
    return (etlheap_viewed_input){
        .name = input->name,
        .words = { words.at, words.count },
        .state = state,
        .names = state == ETLHEAP_VIEWED_READY ? view_kept_names(input) : ETLHEAP_VIEWED_NAMES_NONE,
        .done_bytes = __atomic_load_n(&input->progress.done_bytes, __ATOMIC_RELAXED),
        .total_bytes = __atomic_load_n(&input->progress.total_bytes, __ATOMIC_RELAXED),
        .message = state == ETLHEAP_VIEWED_FAILED ? view_kept_message(input) : NULL,
    };
}

/* What each command repeats of the words of `etlheap view`. */
static etl_status add_commands(const view_session *session, view_document *out)
{
    const cli_command_list *const commands = session->commands;
    etl_status status = ETL_OK;
    for (size_t i = 0; i < commands->count && status == ETL_OK; i++) {
        const cli_command *const command = &commands->at[i];
        if ((command->bit & SERVED_COMMANDS) == 0 || out->command_count == COMMANDS_MAX)
            continue;
        view_words *const words = &out->words[out->command_count];
        status = view_words_repeat(session->options, command->bit, words, NULL);
        out->commands[out->command_count++] =
            (etlheap_viewed_command){ command->name,
                                      { (const char *const *)words->at, words->count } };
    }
    return status;
}

bool view_session_describe(view_session *session, etlheap_text *out)
{
    view_document document = { .command_count = 0 };
    etlheap_viewed_input *const inputs = calloc(session->count, sizeof *inputs);
    etlheap_sink *sink = NULL;
    bool is_written = inputs && add_commands(session, &document) == ETL_OK &&
                      etlheap_sink_open_text(out, &sink, NULL) == ETL_OK;
    for (u32 i = 0; i < session->count && is_written; i++)
        inputs[i] = input_of(session, i);
    const cli_words *const roots = &session->options->source_roots;
    const etlheap_viewed viewed = { inputs,
                                    session->count,
                                    document.commands,
                                    document.command_count,
                                    { roots->at, roots->count } };
    if (is_written)
        etlheap_viewed_write(&viewed, sink);
    is_written = is_written && etlheap_sink_close(sink, NULL) == ETL_OK;
    for (u32 i = 0; i < document.command_count; i++)
        view_words_free(&document.words[i]);
    free(inputs);
    return is_written;
}
