/*
 * store_anonymise.c - anonymises a store, or the store of traces.
 *
 * In: traces, or a store; symbols; a key. Out: a store with words instead of names.
 *
 *     traces, or a part ──▶ store in a temporary file ──▶ opened ──▶ functions resolved ──▶ copy
 *     store ───────────────────────────────────────────────┘
 *
 * The temporary file has the names, and loses its own name as soon as it is opened. Invariant:
 * nothing of the key is written anywhere, nor shown in a message.
 */
#include "store_anonymise.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis.h"
#include "cli/system/terminal.h"
#include "messages.h"
#include "outputs.h"
#include "parser/system/files.h"
#include "progress.h"
#include "symbol_source.h"

#define KEY_BYTES_MAX ((size_t)64 << 10)
#define PATH_BYTES    4096

/* --- the key ----------------------------------------------------------------------- */

/* A key that is made for a name with a slip would give words that fit no other file, so the user
 * makes it. */
static int complain_absent(const char *path)
{
    char message[PATH_BYTES];
    snprintf(
        message, sizeof message,
        "the key file does not exist: to make a key, run head -c 32 /dev/urandom > %.900s, and "
        "keep the file for stores that will be compared with this one",
        path);
    cli_complain(path, message);
    return CLI_EXIT_INPUT;
}

int cli_key_read(const cli_options *options, cli_key *out)
{
    const char *const path = options->anonymise;
    const char *why = "";
    *out = (cli_key){ .bytes = malloc(KEY_BYTES_MAX + 1) };
    if (etl_path_kind_of(path) == ETL_PATH_ABSENT)
        return complain_absent(path);
    FILE *const file = out->bytes ? etl_file_stream_regular(path, &why) : NULL;
    if (!file) {
        cli_complain(path, out->bytes ? why : "out of memory");
        return CLI_EXIT_INPUT;
    }
    out->count = fread(out->bytes, 1, KEY_BYTES_MAX + 1, file);
    const bool is_read = !ferror(file);
    (void)fclose(file);
    char message[128] = "cannot be read";
    if (is_read && out->count > KEY_BYTES_MAX)
        snprintf(message, sizeof message, "too large for a key: 32 random bytes are enough");
    else if (is_read && out->count < ETLHEAP_KEY_BYTES_MIN)
        snprintf(message, sizeof message,
                 "too short for a key: it has %zu bytes, and at least %u are needed", out->count,
                 ETLHEAP_KEY_BYTES_MIN);
    else if (is_read)
        return CLI_EXIT_DONE;
    cli_complain(path, message);
    return CLI_EXIT_INPUT;
}

void cli_key_free(cli_key *key)
{
    free(key->bytes);
    *key = (cli_key){ .bytes = NULL };
}

/* --- the store of the traces ------------------------------------------------------- */

typedef struct temporary_store {
    char path[PATH_BYTES];
    int file; /* -1: not open */
    int error;
} temporary_store;

static bool write_temporary(void *user, const void *bytes, size_t size)
{
    temporary_store *const store = user;
    const bool ok = etl_file_write(store->file, bytes, size);
    store->error = ok ? store->error : errno;
    return ok;
}

static etl_status fail_temporary(const temporary_store *store, etl_error *err)
{
    return etl_fail_with(err, ETL_ERR_IO, 0, "cannot write a temporary file in %.150s: %s",
                         cli_temporary_folder(), strerror(store->error));
}

/* Writes the store of the traces; the result has what is said about them. */
static etl_status make_store(const cli_options *options, const cli_inputs *inputs,
                             const cli_guard *guard, temporary_store *store, cli_stored *out,
                             etl_error *err)
{
    snprintf(store->path, sizeof store->path, "%.3900s/etlheap-XXXXXX", cli_temporary_folder());
    store->file = etl_temporary_open(store->path);
    store->error = errno;
    if (store->file < 0)
        return fail_temporary(store, err);
    const etlheap_store_options how = { .size = sizeof how,
                                        .write = write_temporary,
                                        .user = store };
    store->error = 0;
    const etl_status status = cli_store_write_to(options, inputs, guard, &how, out, err);
    if (store->error != 0)
        return fail_temporary(store, err);
    if (status == ETL_OK && !etl_temporary_finish(&store->file)) {
        store->error = errno;
        return fail_temporary(store, err);
    }
    return status;
}

static etl_status open_store(const cli_options *options, const cli_inputs *inputs, const char *path,
                             etlheap_result **out, etl_error *err)
{
    const etlheap_question question = { .size = sizeof question, .kind = ETLHEAP_ASK_TABLE };
    etlheap_options engine_options = cli_engine_options(options, NULL);
    engine_options.progress = NULL;
    engine_options.questions = &question;
    engine_options.question_count = 1;
    engine_options.named_kinds = true;
    engine_options.name = inputs->name;
    return etlheap_open_store(path, &engine_options, out, err);
}

/* --- the copy ---------------------------------------------------------------------- */

/* What is copied, and where to. */
typedef struct copy_job {
    const etlheap_result *store, *traces;
    const cli_key *key;
    etlheap_sink *sink;
} copy_job;

static etl_status write_copy(const cli_options *options, const cli_guard *guard,
                             const copy_job *job, etl_error *err)
{
    cli_symbols symbols = { .symbols = NULL };
    etl_status status =
        cli_symbols_open_made(options, guard, job->store, job->traces, &symbols, err);
    const etlheap_anonymise_options how = { .size = sizeof how,
                                            .key = job->key->bytes,
                                            .key_bytes = job->key->count,
                                            .symbols = symbols.symbols,
                                            .write = cli_sink_put,
                                            .user = job->sink };
    if (status == ETL_OK)
        status = etlheap_anonymise(job->store, &how, err);
    cli_symbols_done(&symbols);
    cli_symbols_close(&symbols);
    return status;
}

etl_status cli_store_anonymise(const cli_options *options, const cli_inputs *inputs,
                               cli_guard *guard, const cli_key *key, etlheap_sink *sink,
                               cli_stored *out, etl_error *err)
{
    temporary_store made = { .file = -1 };
    etlheap_result *store = NULL;
    etl_status status = ETL_OK;
    cli_guard_begin(guard);
    const bool is_whole = inputs->store && !cli_store_is_part(options);
    if (!is_whole)
        status = make_store(options, inputs, guard, &made, out, err);
    if (status == ETL_OK)
        status = open_store(options, inputs, is_whole ? inputs->store : made.path, &store, err);
    if (made.path[0] != '\0')
        etl_temporary_remove(made.file, made.path);
    const copy_job job = { store, out->facts ? out->facts : store, key, sink };
    if (status == ETL_OK)
        status = write_copy(options, guard, &job, err);
    if (out->facts)
        etlheap_result_free(store);
    else
        out->facts = store;
    return status;
}

void cli_note_anonymised(const cli_options *options)
{
    cli_note(options->output,
             "names are hidden; sizes, times, counts, addresses, ids of processes and threads, and "
             "which function calls which are not");
}
