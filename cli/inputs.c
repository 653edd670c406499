/*
 * inputs.c - what a command works on: traces, from files and zip files, or a store.
 */
#include "inputs.h"

#include "cli/system/bus_guard.h"
#include "cli/system/memory_limit.h"
#include "cli/system/terminal.h"
#include "cli/options/advice.h"
#include "messages.h"
#include "progress.h"

#include <stdio.h>
#include <stdlib.h>

#include "parser/system/files.h"

static int check_paths(const cli_options *options);
static bool is_same_file(const char *a, const char *b);
static bool is_store(const char *path);
static int open_store(const cli_options *options, const char *path, cli_inputs *out);
static etl_status open_input(const cli_options *options, const char *path, cli_guard *guard,
                             cli_inputs *out, etl_error *err);
static etl_status open_zip(const cli_options *options, const char *path, const cli_guard *guard,
                           cli_inputs *out, etl_error *err);
static etl_status open_members(const cli_options *options, const char *path, const etlheap_zip *zip,
                               cli_inputs *out, etl_error *err);
static etl_status open_trace(const cli_options *options, const char *path, const char *name,
                             cli_inputs *out, etl_error *err);
static int check_recording(const cli_options *options, const cli_inputs *inputs);
static char *join(const char *path, const char *between, const char *member);

int cli_inputs_open(const cli_options *options, cli_guard *guard, cli_inputs *out)
{
    *out = (cli_inputs){ 0 };
    const int paths = check_paths(options);
    if (paths != CLI_EXIT_DONE)
        return paths;
    for (u32 i = 0; i < options->inputs.count; i++) {
        if (is_store(options->inputs.at[i]))
            return open_store(options, options->inputs.at[i], out);
    }
    for (u32 i = 0; i < options->inputs.count; i++) {
        etl_error err = { .status = ETL_OK };
        const etl_status status = open_input(options, options->inputs.at[i], guard, out, &err);
        if (status == ETL_OK)
            continue;
        if (cli_bus_guard_tripped())
            cli_complain(options->inputs.at[i], cli_bus_guard_message);
        else if (status != ETL_ERR_CANCELLED)
            cli_complain_error(options->inputs.at[i], &err);
        return CLI_EXIT_INPUT;
    }
    out->start_filetime = etl_session_of(out->traces[0], 0)->start_time_filetime;
    return check_recording(options, out);
}

etl_status cli_inputs_add(const cli_options *options, const char *path, cli_guard *guard,
                          cli_inputs *out, etl_error *err)
{
    if (!is_store(path)) {
        u32 pair[2];
        const etl_status status = open_input(options, path, guard, out, err);
        return status == ETL_OK
                   ? etlheap_recording_check(out->traces, out->count, options->together, pair, err)
                   : status;
    }
    out->store = strdup(path);
    return out->store ? ETL_OK : etl_fail_with(err, ETL_ERR_MEMORY, 0, "out of memory");
}

int cli_stores_check(const cli_options *options)
{
    const int paths = check_paths(options);
    for (u32 i = 0; paths == CLI_EXIT_DONE && i < options->inputs.count; i++) {
        const char *const path = options->inputs.at[i];
        if (is_store(path) || etl_path_kind_of(path) == ETL_PATH_ABSENT)
            continue; /* what is not there, reading it will say */
        cli_complain(path, "is no store; make one of it with etlheap store");
        return CLI_EXIT_INPUT;
    }
    return paths;
}

bool cli_inputs_need_traces(const cli_inputs *inputs, const char *why)
{
    if (inputs->store)
        cli_complain(inputs->store, why);
    return !inputs->store;
}

void cli_inputs_close(cli_inputs *inputs)
{
    for (u32 i = 0; i < inputs->count; i++) {
        etl_close(inputs->traces[i]);
        free(inputs->names[i]);
    }
    free(inputs->traces);
    free(inputs->names);
    free(inputs->store);
    *inputs = (cli_inputs){ 0 };
}

const char *cli_inputs_subject(const cli_inputs *inputs)
{
    return inputs->store ? inputs->store : inputs->count == 1 ? inputs->names[0] : NULL;
}

/* The same file twice would count everything twice; as output it would be lost. */
static int check_paths(const cli_options *options)
{
    for (u32 i = 0; i < options->inputs.count; i++) {
        const char *const path = options->inputs.at[i];
        if (strcmp(path, "-") == 0) {
            cli_complain(NULL, "traces cannot come from standard input: they are read from several "
                               "places at once; name a file");
            return CLI_EXIT_USAGE;
        }
        if (options->output && is_same_file(path, options->output)) {
            cli_complain(path, "-o would overwrite the input; name another file");
            return CLI_EXIT_USAGE;
        }
        for (u32 k = 0; k < i; k++) {
            if (is_same_file(path, options->inputs.at[k])) {
                cli_complain(path, "the same file is given twice; name it once");
                return CLI_EXIT_USAGE;
            }
        }
    }
    return CLI_EXIT_DONE;
}

/* Whether the files belong together shows only once they are open, so the status is not that
 * of a usage error. */
static int check_recording(const cli_options *options, const cli_inputs *inputs)
{
    char text[CLI_ERROR_SIZE];
    u32 pair[2];
    etl_error err = { .status = ETL_OK };
    if (etlheap_recording_check(inputs->traces, inputs->count, options->together, pair, &err) ==
        ETL_OK)
        return CLI_EXIT_DONE;
    char *const both = err.status == ETL_ERR_ARGUMENT
                           ? join(inputs->names[pair[0]], " and ", inputs->names[pair[1]])
                           : NULL;
    cli_error_text(&err, text);
    cli_complain(both, text);
    free(both);
    return CLI_EXIT_INPUT;
}

/* A path has many spellings. */
static bool is_same_file(const char *a, const char *b)
{
    return etl_path_kind_of(a) == ETL_PATH_FILE && etl_path_is_same(a, b);
}

/* What cannot be read is no store: opening it as a trace says what is wrong. */
static bool is_store(const char *path)
{
    u8 bytes[8];
    const bool is_file = etl_path_kind_of(path) == ETL_PATH_FILE;
    const int file = is_file ? etl_file_open(path) : -1;
    const i64 size = file >= 0 ? etl_file_read(file, bytes, sizeof bytes) : 0;
    if (file >= 0)
        (void)etl_file_close(file);
    return size > 0 && etlheap_is_store((etl_bytes){ bytes, (size_t)size });
}

/* Opened for a moment, which says early what is wrong with it. */
static int open_store(const cli_options *options, const char *path, cli_inputs *out)
{
    if (options->inputs.count > 1) {
        cli_complain(path, "a store is read alone; etlheap merge adds several up");
        return CLI_EXIT_USAGE;
    }
    cli_memory_note_input(path, true, false);
    const etlheap_options facts = { .size = sizeof facts, .census_only = true };
    etlheap_result *result = NULL;
    etl_error err = { .status = ETL_OK };
    if (etlheap_open_store(path, &facts, &result, &err) != ETL_OK) {
        if (cli_bus_guard_tripped())
            cli_complain(path, cli_bus_guard_message);
        else
            cli_complain_error(path, &err);
        return CLI_EXIT_INPUT;
    }
    out->start_filetime = etlheap_result_trace(result)->start_time_filetime;
    etlheap_result_free(result);
    out->store = strdup(path);
    if (!out->store)
        cli_complain(NULL, "out of memory");
    return out->store ? CLI_EXIT_DONE : CLI_EXIT_INPUT;
}

static etl_status open_input(const cli_options *options, const char *path, cli_guard *guard,
                             cli_inputs *out, etl_error *err)
{
    if (!etlheap_zip_recognise(path))
        return open_trace(options, path, path, out, err);
    const bool guarded = guard->active;
    cli_guard_begin(guard);
    const etl_status status = open_zip(options, path, guard, out, err);
    if (!guarded)
        cli_guard_end(guard);
    return status;
}

/* Extracts and opens; the temporary files are gone when this returns. */
static etl_status open_zip(const cli_options *options, const char *path, const cli_guard *guard,
                           cli_inputs *out, etl_error *err)
{
    cli_progress progress = cli_progress_begin(options, "unpacking", guard);
    const etlheap_zip_options zip_options = {
        .size = sizeof zip_options,
        .folder = cli_temporary_folder(),
        .progress = cli_progress_update,
        .progress_user = &progress,
    };
    etlheap_zip *zip = NULL;
    etl_status status = etlheap_zip_extract(path, &zip_options, &zip, err);
    cli_progress_end(&progress);
    if (status == ETL_OK)
        status = open_members(options, path, zip, out, err);
    /* Open traces keep their bytes when the temporary files' names go. */
    etlheap_zip_close(zip);
    return status;
}

/* A zip of one trace is called by its own name, as if it were the trace. */
static etl_status open_members(const cli_options *options, const char *path, const etlheap_zip *zip,
                               cli_inputs *out, etl_error *err)
{
    const u32 count = etlheap_zip_count(zip);
    for (u32 i = 0; i < count; i++) {
        const etlheap_zip_member member = etlheap_zip_member_of(zip, i);
        char *const joined = join(path, "/", member.name);
        if (!joined)
            return etl_fail_with(err, ETL_ERR_MEMORY, 0, "out of memory");
        etl_error inner = { .status = ETL_OK };
        const etl_status status =
            open_trace(options, member.path, count == 1 ? path : joined, out, &inner);
        free(joined);
        if (status != ETL_OK)
            return etl_fail_with(err, status, inner.offset, "%.80s in the zip: %.140s", member.name,
                                 inner.message);
    }
    return ETL_OK;
}

/* Appends a trace; what is appended is closed with the inputs. */
static etl_status open_trace(const cli_options *options, const char *path, const char *name,
                             cli_inputs *out, etl_error *err)
{
    u32 jobs = options->jobs;
    const etl_open_options open_options = { .size = sizeof open_options,
                                            .no_mmap = options->no_mmap,
                                            .run_tasks = etlheap_run_tasks,
                                            .run_user = &jobs };
    const size_t count = (size_t)out->count + 1;
    etl_trace **const traces = realloc(out->traces, count * sizeof(etl_trace *));
    if (!traces)
        return etl_fail_with(err, ETL_ERR_MEMORY, 0, "out of memory");
    out->traces = traces;
    char **const names = realloc(out->names, count * sizeof(char *));
    if (!names)
        return etl_fail_with(err, ETL_ERR_MEMORY, 0, "out of memory");
    out->names = names;
    names[out->count] = strdup(name);
    if (!names[out->count])
        return etl_fail_with(err, ETL_ERR_MEMORY, 0, "out of memory");
    cli_memory_note_input(path, false, options->no_mmap);
    const etl_status status = etl_open(path, &open_options, &traces[out->count], err);
    if (status != ETL_OK)
        free(names[out->count]);
    else
        out->count++;
    return status;
}

static char *join(const char *path, const char *between, const char *member)
{
    const size_t size = strlen(path) + strlen(between) + strlen(member) + 1;
    char *const joined = malloc(size);
    if (joined)
        snprintf(joined, size, "%s%s%s", path, between, member);
    return joined;
}
