/*
 * inputs.c - opens what a command works on: traces or a store, from files, packed files or standard
 * input.
 *
 * In: paths of the options. Out: open traces, or the path of one store; the clock that times in
 * options refer to; the marks of the recording.
 *
 *     path ──▶ store?   ──────────────────────▶ its path, opened again by each question
 *          ──▶ packed?  ──unpack──▶ temporary files ──┐    a zip's only trace is opened at
 *                                                     │    once, and unpacked while it is read
 *          ──▶ "-", pipe ─spool───▶ temporary file ───┤
 *          ──▶ trace    ──────────────────────────────┴─▶ opened and mapped
 *
 * A command has either traces of one recording or one store, never both. Invariant: no file is read
 * twice (check_paths), and temporary files of stores live as long as the inputs, because stores are
 * opened more than once.
 */
#include "inputs.h"

#include "cli/system/bus_guard.h"
#include "cli/system/host.h"
#include "cli/system/memory_limit.h"
#include "cli/options/advice.h"
#include "cli/options/given_options.h"
#include "cli/options/mark_words.h"
#include "messages.h"

#include <stdio.h>
#include <stdlib.h>

#include "parser/system/files.h"

static int check_paths(const cli_options *options);
static bool is_same_file(const char *a, const char *b);
static bool is_store(const char *path);
static int open_log(const cli_options *options, const char *path, const char *name,
                    cli_inputs *out);
static int open_store(const cli_options *options, cli_inputs *out);
static etl_status open_input(const cli_options *options, const char *path, cli_guard *guard,
                             cli_inputs *out, etl_error *err);
static etl_status open_piped(const cli_options *options, const char *name, const cli_guard *guard,
                             cli_inputs *out, etl_error *err);
static etl_status open_packed(const cli_options *options, const char *path, const char *name,
                              const cli_guard *guard, cli_inputs *out, etl_error *err);
static etl_status open_unpacked(const cli_options *options, const char *name,
                                cli_unpacked *unpacked, cli_inputs *out, etl_error *err);
static etl_status open_arriving(const cli_options *options, const char *name,
                                cli_unpacked *unpacked, cli_inputs *out, etl_error *err);
static etl_status open_members(const cli_options *options, const char *name, cli_unpacked *unpacked,
                               cli_inputs *out, etl_error *err);
static etl_status take_store(const char *path, const char *name, cli_inputs *out, etl_error *err);
static etl_status open_trace(const cli_options *options, const char *path, const char *name,
                             cli_unpacked *arriving, cli_inputs *out, etl_error *err);
static int check_recording(const cli_options *options, const cli_inputs *inputs);
static int keep_marks(const cli_options *options, etlheap_result *facts, cli_inputs *out);
static int read_marks(const cli_options *options, const cli_guard *guard, cli_inputs *out);
static char *join(const char *path, const char *between, const char *member);
static int open_packed_store(const cli_options *options, u32 index, cli_guard *guard,
                             cli_stores *out);

int cli_inputs_open(const cli_options *options, cli_guard *guard, cli_inputs *out)
{
    *out = (cli_inputs){ 0 };
    const int paths = check_paths(options);
    if (paths != CLI_EXIT_DONE)
        return paths;
    for (u32 i = 0; i < options->inputs.count && !out->store; i++) {
        const char *const path = options->inputs.at[i];
        etl_error err = { .status = ETL_OK };
        if (etlheap_umdh_recognise(path))
            return open_log(options, path, path, out);
        if (etlheap_umdh_recognise_comparison(path)) {
            cli_complain(
                path,
                "a UMDH comparison: open it with etlheap diff FILE, or open one of the two logs");
            return CLI_EXIT_USAGE;
        }
        const etl_status status = is_store(path) ? take_store(path, path, out, &err)
                                                 : open_input(options, path, guard, out, &err);
        if (status == ETL_OK && out->log_file)
            return open_log(options, etlheap_unpacked_member_of(out->log_file->files, 0).path, path,
                            out);
        if (status == ETL_OK)
            continue;
        if (cli_bus_guard_tripped())
            cli_complain(path, cli_bus_guard_message);
        else if (status != ETL_ERR_CANCELLED)
            cli_complain_error(path, &err);
        return CLI_EXIT_INPUT;
    }
    if (out->store)
        return open_store(options, out);
    out->clock.start_filetime = etl_session_of(out->traces[0], 0)->start_time_filetime;
    const int recording = check_recording(options, out);
    return recording == CLI_EXIT_DONE && cli_wants_marks(options) ? read_marks(options, guard, out)
                                                                  : recording;
}

etl_status cli_inputs_add(const cli_options *options, const char *path, cli_guard *guard,
                          cli_inputs *out, etl_error *err)
{
    if (!is_store(path)) {
        u32 pair[2];
        const etl_status status = open_input(options, path, guard, out, err);
        if (status == ETL_OK && out->log_file)
            return etl_fail_with(err, ETL_ERR_UNSUPPORTED, 0,
                                 "a UMDH log has no trace records; open it with report, check, "
                                 "export or diff");
        return status == ETL_OK
                   ? etlheap_recording_check(out->traces, out->count, options->together, pair, err)
                   : status;
    }
    return take_store(path, path, out, err);
}

static int refuse_trace(const char *path)
{
    cli_complain(path, "is not a store; make one from a trace with etlheap store");
    return CLI_EXIT_INPUT;
}

int cli_stores_open(const cli_options *options, cli_guard *guard, cli_stores *out)
{
    *out = (cli_stores){ .count = options->inputs.count };
    int exit_status = check_paths(options);
    if (exit_status != CLI_EXIT_DONE)
        return exit_status;
    out->paths = calloc(out->count, sizeof *out->paths);
    out->unpacked = calloc(out->count, sizeof *out->unpacked);
    if (!out->paths || !out->unpacked) {
        cli_complain(NULL, "out of memory");
        return CLI_EXIT_INPUT;
    }
    for (u32 i = 0; i < out->count && exit_status == CLI_EXIT_DONE; i++) {
        const char *const path = options->inputs.at[i];
        out->paths[i] = path;
        if (cli_is_stdin(path)) {
            cli_complain(NULL, "stores to merge cannot come from standard input; name files");
            return CLI_EXIT_USAGE;
        }
        if (etlheap_is_packed(path))
            exit_status = open_packed_store(options, i, guard, out);
        else if (!is_store(path) && etl_path_kind_of(path) != ETL_PATH_ABSENT)
            exit_status = refuse_trace(path); /* what is not there, reading it will say */
    }
    return exit_status;
}

void cli_stores_close(cli_stores *stores)
{
    for (u32 i = 0; i < stores->count && stores->unpacked; i++)
        cli_unpacked_close(stores->unpacked[i]);
    free(stores->unpacked);
    free(stores->paths);
    *stores = (cli_stores){ 0 };
}

bool cli_inputs_need_traces(const cli_inputs *inputs, const char *why)
{
    if (inputs->store)
        cli_complain(inputs->store_name, why);
    return !inputs->store;
}

void cli_inputs_close(cli_inputs *inputs)
{
    for (u32 i = 0; i < inputs->count; i++) {
        etl_close(inputs->traces[i]);
        free(inputs->names[i]);
    }
    if (inputs->log)
        free(inputs->names[0]);
    etlheap_umdh_close(inputs->log);
    free(inputs->traces);
    free(inputs->names);
    free(inputs->store);
    free(inputs->store_name);
    cli_unpacked_close(inputs->log_file);
    cli_unpacked_close(inputs->unpacked);
    etlheap_marks_free(inputs->marks);
    etlheap_result_free(inputs->facts);
    *inputs = (cli_inputs){ 0 };
}

cli_progress cli_inputs_progress(const cli_options *options, const cli_inputs *inputs,
                                 const char *label, const cli_guard *guard)
{
    cli_progress progress = cli_progress_begin(options, label, guard);
    progress.before = inputs->unpacked ? &inputs->unpacked->progress : NULL;
    return progress;
}

const char *cli_inputs_subject(const cli_inputs *inputs)
{
    if (inputs->store)
        return inputs->store_name;
    return inputs->count == 1 || inputs->log ? inputs->names[0] : NULL;
}

/* Refuses a file given twice, which would count everything twice. */
static int check_paths(const cli_options *options)
{
    for (u32 i = 0; i < options->inputs.count; i++) {
        const char *const path = options->inputs.at[i];
        for (u32 k = 0; k < i; k++) {
            const char *const before = options->inputs.at[k];
            const bool is_stdin = cli_is_stdin(path) && cli_is_stdin(before);
            if (is_stdin || is_same_file(path, before)) {
                cli_complain(path, is_stdin ? "standard input is given twice; name it once"
                                            : "the same file is given twice; name it once");
                return CLI_EXIT_USAGE;
            }
        }
    }
    return CLI_EXIT_DONE;
}

/* Refuses files of different recordings. That shows only once they are open, so the exit status is
 * not that of a usage error. */
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

/* Do both paths name one file? A path has many spellings. "-" means standard input, not a file of
 * that name. */
static bool is_same_file(const char *a, const char *b)
{
    return !cli_is_stdin(a) && !cli_is_stdin(b) && etl_path_kind_of(a) == ETL_PATH_FILE &&
           etl_path_is_same(a, b);
}

/* Is it a store? A file that cannot be read is not: opening it as a trace says what is wrong. */
static bool is_store(const char *path)
{
    u8 bytes[8];
    return !cli_is_stdin(path) &&
           etlheap_is_store((etl_bytes){ bytes, etl_file_start(path, bytes, sizeof bytes) });
}

static etl_status take_store(const char *path, const char *name, cli_inputs *out, etl_error *err)
{
    out->store = strdup(path);
    out->store_name = strdup(name);
    return out->store && out->store_name ? ETL_OK : etl_no_memory(err);
}

int cli_refuse_times(const cli_options *options, const char *log)
{
    char message[160];
    const cli_option *const option = cli_first_given(options, CLI_NEEDS_TIMES);
    if (!option)
        return CLI_EXIT_DONE;
    snprintf(message, sizeof message,
             "a UMDH log has no times, so %s cannot be used: leave it out, or record a trace",
             option->name);
    cli_complain(log, message);
    return CLI_EXIT_USAGE;
}

/* Opens a UMDH log. It has no records or times, so commands that need these refuse it. */
static int open_log(const cli_options *options, const char *path, const char *name, cli_inputs *out)
{
    etl_error err = { .status = ETL_OK };
    const char *refusal = NULL;
    if ((options->command_bit & (CLI_DUMP | CLI_STORE)) != 0)
        refusal = "a UMDH log has no trace records; open it with report, check, export or diff";
    else if (options->inputs.count > 1)
        refusal = "only one UMDH log can be read at a time; to compare two, use diff";
    else if (cli_wants_marks(options) || options->mark_events.count > 0)
        refusal = "a UMDH log has no marks, because it is of one moment";
    else if (options->update_baseline)
        refusal = "a UMDH log cannot become a store; leave out --update-baseline, and name an "
                  "earlier log as --baseline";
    if (refusal) {
        cli_complain(name, refusal);
        /* As for a store, which has no records either. */
        return options->command_bit == CLI_DUMP ? CLI_EXIT_INPUT : CLI_EXIT_USAGE;
    }
    if (cli_refuse_times(options, name) != CLI_EXIT_DONE)
        return CLI_EXIT_USAGE;
    char *const copy = strdup(name);
    out->names = calloc(1, sizeof *out->names);
    if (!copy || !out->names)
        etl_no_memory(&err);
    else
        (void)etlheap_umdh_open(path, &out->log, &err);
    if (err.status == ETL_OK) {
        out->names[0] = copy;
        return CLI_EXIT_DONE;
    }
    free(copy);
    cli_complain_error(name, &err);
    return CLI_EXIT_INPUT;
}

/* Opens the store for a moment, so that damage is reported early. */
static int open_store(const cli_options *options, cli_inputs *out)
{
    if (options->inputs.count > 1) {
        cli_complain(out->store_name,
                     "only one store can be read at a time; to add up several, use etlheap merge");
        return CLI_EXIT_USAGE;
    }
    cli_memory_note_input(out->store, true, false);
    const etlheap_options facts = { .size = sizeof facts, .inventory_only = true };
    etlheap_result *result = NULL;
    etl_error err = { .status = ETL_OK };
    if (etlheap_open_store(out->store, &facts, &result, &err) != ETL_OK) {
        if (cli_bus_guard_tripped())
            cli_complain(out->store_name, cli_bus_guard_message);
        else
            cli_complain_error(out->store_name, &err);
        return CLI_EXIT_INPUT;
    }
    out->clock.start_filetime = etlheap_result_trace(result)->start_time_filetime;
    return keep_marks(options, result, out);
}

/* The marks of a store were settled when it was written. */
static int keep_marks(const cli_options *options, etlheap_result *facts, cli_inputs *out)
{
    if (options->mark_events.count > 0)
        cli_note(out->store_name, "a store has the marks that it was written with: --mark-event "
                                  "is for traces, and for etlheap store");
    if (!cli_wants_marks(options)) {
        etlheap_result_free(facts);
        return CLI_EXIT_DONE;
    }
    out->facts = facts;
    out->clock.marks = etlheap_result_marks(facts);
    if (!etlheap_result_is_summary(facts))
        return CLI_EXIT_DONE;
    cli_complain(out->store_name, "a summary has no marks; use the trace or its full store");
    return CLI_EXIT_USAGE;
}

/* Reads the marks of the traces: a pass that only options with marks need. */
static int read_marks(const cli_options *options, const cli_guard *guard, cli_inputs *out)
{
    cli_progress progress = cli_inputs_progress(options, out, "looking for marks", guard);
    const etlheap_marks_options marks = { .size = sizeof marks,
                                          .events = options->mark_events.at,
                                          .event_count = options->mark_events.count,
                                          .jobs = options->jobs,
                                          .progress = cli_progress_update,
                                          .progress_user = &progress };
    etl_error err = { .status = ETL_OK };
    const etl_status status =
        etlheap_marks_read(out->traces, out->count, &marks, &out->marks, &err);
    cli_progress_end(&progress);
    out->clock.marks = out->marks;
    if (status == ETL_OK)
        return CLI_EXIT_DONE;
    if (cli_bus_guard_tripped())
        cli_complain(cli_inputs_subject(out), cli_bus_guard_message);
    else if (status != ETL_ERR_CANCELLED)
        cli_complain_error(cli_inputs_subject(out), &err);
    return CLI_EXIT_INPUT;
}

/* A trace that is arriving has no name. */
static bool has_files(const cli_inputs *inputs)
{
    return inputs->log_file ||
           (inputs->unpacked && !etlheap_unpacked_is_arriving(inputs->unpacked->files));
}

/* The guard against bus errors stays as long as the temporary file. */
static etl_status open_input(const cli_options *options, const char *path, cli_guard *guard,
                             cli_inputs *out, etl_error *err)
{
    if (!cli_is_unpacked(path))
        return open_trace(options, path, path, NULL, out, err);
    const bool guarded = guard->active;
    cli_guard_begin(guard);
    const etl_status status = cli_is_pipe(path) ? open_piped(options, path, guard, out, err)
                                                : open_packed(options, path, path, guard, out, err);
    if (!guarded && !has_files(out) && (status != ETL_OK || options->no_symbols))
        cli_guard_end(guard); /* else symbols of the package may be unpacked */
    return status;
}

/* Opens standard input or a named pipe, which may be packed itself. */
static etl_status open_piped(const cli_options *options, const char *name, const cli_guard *guard,
                             cli_inputs *out, etl_error *err)
{
    if (cli_is_stdin(name) && cli_host_is_terminal(ETL_STDIN))
        return etl_fail_with(err, ETL_ERR_IO, 0,
                             "standard input is a terminal: pipe a trace in, or name a file");
    cli_unpacked *copied;
    etl_status status = cli_unpack_pipe(options, name, guard, &copied, err);
    if (status != ETL_OK)
        return status;
    const char *const path = etlheap_unpacked_member_of(copied->files, 0).path;
    if (!etlheap_is_packed(path))
        return open_unpacked(options, name, copied, out, err);
    status = open_packed(options, path, name, guard, out, err);
    cli_unpacked_close(copied);
    return status;
}

/* Whether a trace may be read while a thread unpacks it. One thread alone cannot do both, and
 * nothing is gained if the trace is copied into memory first, or if other files have to be unpacked
 * too. */
static bool may_arrive(const cli_options *options)
{
    const u32 jobs = options->jobs == 0 ? etlheap_default_jobs() : options->jobs;
    return jobs > 1 && !options->no_mmap && options->inputs.count == 1 && !options->out_dir &&
           !options->unpacks_first;
}

static etl_status open_packed(const cli_options *options, const char *path, const char *name,
                              const cli_guard *guard, cli_inputs *out, etl_error *err)
{
    cli_unpacked *unpacked;
    const etl_status status = cli_unpack(options, path, guard, may_arrive(options), &unpacked, err);
    if (status != ETL_OK)
        return status;
    return etlheap_unpacked_is_arriving(unpacked->files)
               ? open_arriving(options, name, unpacked, out, err)
               : open_unpacked(options, name, unpacked, out, err);
}

static int open_packed_store(const cli_options *options, u32 index, cli_guard *guard,
                             cli_stores *out)
{
    const char *const path = options->inputs.at[index];
    etl_error err = { .status = ETL_OK };
    cli_guard_begin(guard);
    const etl_status status = cli_unpack(options, path, guard, false, &out->unpacked[index], &err);
    if (status != ETL_OK) {
        if (status != ETL_ERR_CANCELLED)
            cli_complain_error(path, &err);
        return CLI_EXIT_INPUT;
    }
    out->paths[index] = etlheap_unpacked_member_of(out->unpacked[index]->files, 0).path;
    return is_store(out->paths[index]) ? CLI_EXIT_DONE : refuse_trace(path);
}

/* Takes over the unpacked files. Open traces keep their bytes after the temporary files are
 * removed; a store is opened again and again, so its file stays. */
static etl_status open_unpacked(const cli_options *options, const char *name,
                                cli_unpacked *unpacked, cli_inputs *out, etl_error *err)
{
    const char *const path = etlheap_unpacked_member_of(unpacked->files, 0).path;
    etl_status status;
    if (etlheap_unpacked_count(unpacked->files) == 1 && is_store(path)) {
        status = take_store(path, name, out, err);
        out->unpacked = unpacked;
        return status;
    }
    if (etlheap_unpacked_count(unpacked->files) == 1 && etlheap_umdh_recognise(path)) {
        out->log_file = unpacked;
        return ETL_OK;
    }
    status = open_members(options, name, unpacked, out, err);
    cli_unpacked_close(unpacked);
    return status;
}

/* Opens a trace that is still being unpacked. If it cannot be opened, the reason may be that it
 * cannot be unpacked. */
static etl_status open_arriving(const cli_options *options, const char *name,
                                cli_unpacked *unpacked, cli_inputs *out, etl_error *err)
{
    etl_error own = { .status = ETL_OK };
    u64 arrived;
    out->unpacked = unpacked;
    etl_status status = open_members(options, name, unpacked, out, &own);
    etlheap_unpacked_hide(unpacked->files);
    if (status == ETL_OK)
        return ETL_OK;
    if (cli_unpacked_arrival(unpacked, UINT64_MAX, &arrived, err) != ETL_OK)
        return err->status;
    *err = own;
    return status;
}

/* A single trace goes by the name of the packed file. */
static etl_status open_members(const cli_options *options, const char *name, cli_unpacked *unpacked,
                               cli_inputs *out, etl_error *err)
{
    const u32 count = etlheap_unpacked_count(unpacked->files);
    cli_unpacked *const arriving = etlheap_unpacked_is_arriving(unpacked->files) ? unpacked : NULL;
    for (u32 i = 0; i < count; i++) {
        const etlheap_unpacked_member member = etlheap_unpacked_member_of(unpacked->files, i);
        if (!member.name)
            return open_trace(options, member.path, name, NULL, out, err);
        char *const joined = join(name, "/", member.name);
        if (!joined)
            return etl_no_memory(err);
        etl_error inner = { .status = ETL_OK };
        const etl_status status =
            open_trace(options, member.path, count == 1 ? name : joined, arriving, out, &inner);
        free(joined);
        if (status != ETL_OK)
            return etl_fail_with(err, status, inner.offset, "%.80s in the zip: %.140s", member.name,
                                 inner.message);
    }
    return ETL_OK;
}

/* Appends a trace, which is closed with the inputs. `arriving` unpacks it meanwhile; NULL: it is
 * complete. */
static etl_status open_trace(const cli_options *options, const char *path, const char *name,
                             cli_unpacked *arriving, cli_inputs *out, etl_error *err)
{
    u32 jobs = options->jobs;
    const etl_open_options open_options = { .size = sizeof open_options,
                                            .no_mmap = options->no_mmap,
                                            .run_tasks = etlheap_run_tasks,
                                            .run_user = &jobs,
                                            .in_steps = options->inputs.count == 1,
                                            .arrival = arriving ? cli_unpacked_arrival : NULL,
                                            .arrival_user = arriving };
    const size_t count = (size_t)out->count + 1;
    etl_trace **const traces = realloc(out->traces, count * sizeof(etl_trace *));
    if (!traces)
        return etl_no_memory(err);
    out->traces = traces;
    char **const names = realloc(out->names, count * sizeof(char *));
    if (!names)
        return etl_no_memory(err);
    out->names = names;
    names[out->count] = strdup(name);
    if (!names[out->count])
        return etl_no_memory(err);
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
