/*
 * kept_input.c - see kept_input.h.
 *
 * In: the words of an input. Out: a result that answers all questions, and symbols for each slot.
 *
 *     store    ──────────────────────────────────▶ mapped at once
 *     trace    ──▶ opened at once ──▶ read ─┐
 *     packed, - ──────────▶ unpacked ─▶ read ┴──▶ temporary store without a name, mapped
 *                                  └▶ a store ──▶ mapped
 *
 * Invariant: a result is set before the state says that it is ready, and stays as it is after that;
 * the same for symbols.
 */
#include "kept_input.h"

#include "cli/analysis.h"
#include "cli/input_kinds.h"
#include "cli/messages.h"
#include "cli/naming.h"
#include "cli/store_write.h"
#include "cli/system/bus_guard.h"
#include "cli/system/terminal.h"
#include "parser/system/files.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define PATH_SIZE 4096

/* The file of a temporary store. */
typedef struct temporary {
    char path[PATH_SIZE];
    int file;
    int error; /* errno of the first failure */
} temporary;

static void set(u32 *state, u32 value)
{
    __atomic_store_n(state, value, __ATOMIC_RELEASE);
}

etlheap_viewed_state view_kept_state(const view_kept *input)
{
    if (__atomic_load_n(&input->is_torn, __ATOMIC_RELAXED))
        return ETLHEAP_VIEWED_FAILED;
    return (etlheap_viewed_state)__atomic_load_n(&input->state, __ATOMIC_ACQUIRE);
}

etlheap_viewed_names view_kept_names(const view_kept *input)
{
    return (etlheap_viewed_names)__atomic_load_n(&input->names, __ATOMIC_ACQUIRE);
}

/* Maps a store twice: so that it answers any question, and as a store that is asked none, which has
 * seen less. */
static etl_status open_store(view_kept *input, const char *path, etl_error *err)
{
    const etlheap_question events = { .size = sizeof events, .kind = ETLHEAP_ASK_EVENTS };
    cli_progress progress = cli_progress_begin(&input->options, "reading", &input->guard);
    etlheap_options options = cli_engine_options(&input->options, &progress);
    options.questions = &events;
    options.question_count = 1;
    options.keeps_sums = true;
    options.name = input->name;
    const etl_status status = etlheap_open_store(path, &options, &input->result, err);
    options.question_count = 0;
    options.inventory_only = true;
    return status == ETL_OK ? etlheap_open_store(path, &options, &input->inventory, err) : status;
}

/* The words of the answer to `etlheap store` fit: what cannot be stored cannot be viewed. */
static int open_inputs(view_kept *input)
{
    input->is_open = true;
    return cli_inputs_open(&input->options, &input->guard, &input->inputs);
}

static void publish(view_kept *input)
{
    set(&input->names,
        input->options.no_symbols ? ETLHEAP_VIEWED_NAMES_NONE : ETLHEAP_VIEWED_NAMES_PENDING);
    set(&input->state, ETLHEAP_VIEWED_READY);
}

int view_kept_open(const cli_options *options, cli_words words, const u32 *cancel, view_kept *out)
{
    *out = (view_kept){ .name = words.at[0], .options = *options };
    out->work = (cli_served){ .cancel = cancel, .progress = &out->progress };
    out->guard.is_elsewhere = true;
    out->options.inputs = words;
    out->options.command_bit = CLI_STORE;
    out->options.served = &out->work;
    cli_guard_begin(&out->guard);
    if (cli_input_is_unpacked(cli_input_kind_of(out->name)))
        return CLI_EXIT_DONE;
    const int exit_status = open_inputs(out);
    if (exit_status != CLI_EXIT_DONE || !out->inputs.store)
        return exit_status;
    etl_error err = { .status = ETL_OK };
    if (open_store(out, out->inputs.store, &err) != ETL_OK) {
        cli_complain_error(out->name, &err);
        return cli_exit_of(err.status);
    }
    publish(out);
    return CLI_EXIT_DONE;
}

static bool write_temporary(void *user, const void *bytes, size_t size)
{
    temporary *const to = user;
    if (etl_file_write(to->file, bytes, size))
        return true;
    to->error = errno;
    return false;
}

static etl_status open_temporary(temporary *out, etl_error *err)
{
    snprintf(out->path, sizeof out->path, "%s/etlheap-view-XXXXXX", cli_temporary_folder());
    out->file = etl_temporary_open_hidden(out->path, sizeof out->path);
    if (out->file < 0)
        return etl_fail_with(err, ETL_ERR_IO, 0, "no temporary file in %.100s: %.100s",
                             cli_temporary_folder(), strerror(errno));
    return ETL_OK;
}

/* Reads the traces into a temporary store, which has no name, or only until it is mapped. */
static etl_status store_traces(view_kept *input, etl_error *err)
{
    temporary to = { .file = -1 };
    cli_stored stored = { .facts = NULL };
    const etlheap_store_options store = {
        .size = sizeof store, .write = write_temporary, .user = &to, .is_temporary = true
    };
    etl_status status = open_temporary(&to, err);
    if (status == ETL_OK)
        status = cli_store_write_to(&input->options, &input->inputs, &input->guard, &store, &stored,
                                    err);
    cli_stored_free(&stored);
    if (status != ETL_OK && to.error != 0)
        status = etl_fail_with(err, ETL_ERR_IO, 0, "no temporary store in %.100s: %.100s",
                               cli_temporary_folder(), strerror(to.error));
    if (status == ETL_OK)
        status = open_store(input, to.path, err);
    if (to.file >= 0)
        etl_temporary_remove(to.file, to.path);
    return status;
}

/* Other inputs of the session go on, so a failure is kept for whoever asks. */
static void note_failure(view_kept *input, const etl_error *err)
{
    cli_messages_to(&input->message);
    if (err->status != ETL_OK && err->status != ETL_ERR_CANCELLED)
        cli_complain_error(cli_inputs_subject(&input->inputs), err);
    cli_messages_to(NULL);
    etlheap_text *const message = &input->message;
    while (message->size > 0 && message->bytes[message->size - 1] == '\n')
        message->bytes[--message->size] = '\0';
    set(&input->state, ETLHEAP_VIEWED_FAILED);
}

void view_kept_read(view_kept *input)
{
    etl_error err = { .status = ETL_OK };
    etl_status status = ETL_OK;
    if (view_kept_state(input) != ETLHEAP_VIEWED_READING)
        return;
    cli_messages_to(&input->message);
    if (!input->is_open && open_inputs(input) != CLI_EXIT_DONE)
        status = ETL_ERR_UNSUPPORTED; /* the message is there */
    cli_messages_to(NULL);
    if (status == ETL_OK)
        status = input->inputs.store ? open_store(input, input->inputs.store, &err)
                                     : store_traces(input, &err);
    if (status != ETL_OK) {
        note_failure(input, &err);
        return;
    }
    if (!input->inputs.store)
        cli_inputs_close(&input->inputs);
    else if (input->inputs.unpacked)
        etlheap_unpacked_hide(input->inputs.unpacked->files);
    publish(input);
}

void view_kept_name(view_kept *input)
{
    etl_error err = { .status = ETL_OK };
    bool has_names = false;
    if (view_kept_names(input) != ETLHEAP_VIEWED_NAMES_PENDING)
        return;
    for (u32 i = 0; i < VIEW_SLOTS; i++) {
        cli_symbols *const slot = &input->symbols[i];
        etl_status status =
            cli_symbols_open(&input->options, &input->guard, input->result, false, slot, &err);
        if (status == ETL_OK && slot->symbols)
            status = cli_name_all(input->result, slot->symbols, input->options.jobs,
                                  input->work.cancel, &err);
        if (status != ETL_OK && status != ETL_ERR_CANCELLED)
            cli_complain_error(input->name, &err);
        has_names |= status == ETL_OK && slot->symbols != NULL;
        cli_symbols_done(slot);
    }
    set(&input->names, has_names ? ETLHEAP_VIEWED_NAMES_READY : ETLHEAP_VIEWED_NAMES_NONE);
}

void view_kept_tear(view_kept *input)
{
    __atomic_store_n(&input->is_torn, 1, __ATOMIC_RELAXED);
}

const char *view_kept_message(const view_kept *input)
{
    if (__atomic_load_n(&input->is_torn, __ATOMIC_RELAXED))
        return cli_bus_guard_message;
    return input->message.bytes ? input->message.bytes : "out of memory";
}

void view_kept_close(view_kept *input)
{
    for (u32 i = 0; i < VIEW_SLOTS; i++)
        cli_symbols_close(&input->symbols[i]);
    etlheap_result_free(input->result);
    etlheap_result_free(input->inventory);
    if (input->is_open)
        cli_inputs_close(&input->inputs);
    cli_guard_end(&input->guard);
    etlheap_text_free(&input->message);
}
