/*
 * inputs.c - opens what a command works on: traces, a store or a UMDH log, from files, packed files
 * or standard input.
 *
 * In: paths of the options. Out: open traces, or the path of one store, or an open log; the clock
 * that times in options refer to; the marks of the recording.
 *
 *     path ──▶ input_kinds.c says what it is
 *          ──▶ store    ──────────────────────▶ its path, opened again by each question
 *          ──▶ packed   ──unpack──▶ temporary files ──┐    a zip's only trace is opened at
 *                                                     │    once, and unpacked while it is read
 *          ──▶ "-", pipe ─spool───▶ temporary file ───┤    asked once more what it is
 *          ──▶ trace    ──────────────────────────────┴─▶ opened and mapped
 *
 * A command has traces of one recording, one store or one log. Invariant: no file is read twice
 * (check_paths), and temporary files of stores live as long as the inputs, because stores are
 * opened more than once.
 */
#include "inputs.h"

#include "cli/system/bus_guard.h"
#include "cli/system/host.h"
#include "cli/memory_limit.h"
#include "cli/options/advice.h"
#include "cli/options/given_options.h"
#include "cli/options/mark_words.h"
#include "input_kinds.h"
#include "messages.h"

#include <stdio.h>
#include <stdlib.h>

#include "parser/system/files.h"

/* Where inputs are opened. */
typedef struct opening {
    const cli_options *options;
    cli_guard *guard;
    cli_inputs *out;
} opening;

/* Do both paths name one file? A path has many spellings. "-" means standard input, not a file of
 * that name. */
static bool is_same_file(const char *a, const char *b)
{
    return !cli_is_stdin(a) && !cli_is_stdin(b) && etl_path_kind_of(a) == ETL_PATH_FILE &&
           etl_path_is_same(a, b);
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

/* Notes the path and name of the only input, which is opened when all are known. */
static etl_status take(char **path_out, const char *path, const char *name, cli_inputs *out,
                       etl_error *err)
{
    *path_out = strdup(path);
    out->name = strdup(name);
    return *path_out && out->name ? ETL_OK : etl_no_memory(err);
}

/* Appends a trace, which is closed with the inputs. `arriving` unpacks it meanwhile; NULL: it is
 * complete. */
static etl_status open_trace(const opening *o, const char *path, const char *name,
                             cli_unpacked *arriving, etl_error *err)
{
    cli_inputs *const out = o->out;
    u32 jobs = o->options->jobs;
    const etl_open_options open_options = { .size = sizeof open_options,
                                            .no_mmap = o->options->no_mmap,
                                            .run_tasks = etlheap_run_tasks,
                                            .run_user = &jobs,
                                            .in_steps = o->options->inputs.count == 1,
                                            .arrival = arriving ? cli_unpacked_arrival : NULL,
                                            .arrival_user = arriving };
    if (!cli_list_grow(&out->traces, out->count, sizeof *out->traces) ||
        !cli_list_grow(&out->names, out->count, sizeof *out->names))
        return etl_no_memory(err);
    out->names[out->count] = strdup(name);
    if (!out->names[out->count])
        return etl_no_memory(err);
    cli_memory_note_input(path, false, o->options->no_mmap);
    const etl_status status = etl_open(path, &open_options, &out->traces[out->count], err);
    if (status != ETL_OK)
        free(out->names[out->count]);
    else
        out->count++;
    return status;
}

/* Opens an input that is a file as it is. */
static etl_status open_file(const opening *o, cli_input_kind kind, const char *path,
                            const char *name, etl_error *err)
{
    if (kind == CLI_INPUT_STORE)
        return take(&o->out->store, path, name, o->out, err);
    if (kind == CLI_INPUT_LOG)
        return take(&o->out->log_path, path, name, o->out, err);
    if (kind == CLI_INPUT_COMPARISON)
        return etl_fail_with(
            err, ETL_ERR_ARGUMENT, 0,
            "a UMDH comparison: open it with etlheap diff FILE, or open one of the two logs");
    return open_trace(o, path, name, NULL, err);
}

static char *join(const char *path, const char *between, const char *member)
{
    const size_t size = strlen(path) + strlen(between) + strlen(member) + 1;
    char *const joined = malloc(size);
    if (joined)
        snprintf(joined, size, "%s%s%s", path, between, member);
    return joined;
}

/* A single trace goes by the name of the packed file. */
static etl_status open_members(const opening *o, const char *name, cli_unpacked *unpacked,
                               etl_error *err)
{
    const u32 count = etlheap_unpacked_count(unpacked->files);
    cli_unpacked *const arriving = etlheap_unpacked_is_arriving(unpacked->files) ? unpacked : NULL;
    for (u32 i = 0; i < count; i++) {
        const etlheap_unpacked_member member = etlheap_unpacked_member_of(unpacked->files, i);
        if (!member.name)
            return open_trace(o, member.path, name, NULL, err);
        char *const joined = join(name, "/", member.name);
        if (!joined)
            return etl_no_memory(err);
        etl_error inner = { .status = ETL_OK };
        const etl_status status =
            open_trace(o, member.path, count == 1 ? name : joined, arriving, &inner);
        free(joined);
        if (status != ETL_OK)
            return etl_fail_with(err, status, inner.offset, "%.80s in the zip: %.140s", member.name,
                                 inner.message);
    }
    return ETL_OK;
}

/* Takes over the unpacked files. Open traces keep their bytes after the temporary files are
 * removed; a store is opened again and again, so its file stays. */
static etl_status open_unpacked(const opening *o, const char *name, cli_unpacked *unpacked,
                                etl_error *err)
{
    const char *const path = etlheap_unpacked_member_of(unpacked->files, 0).path;
    const bool is_single = etlheap_unpacked_count(unpacked->files) == 1;
    const cli_input_kind kind = is_single ? cli_input_kind_of(path) : CLI_INPUT_TRACE;
    if (kind == CLI_INPUT_STORE || kind == CLI_INPUT_LOG) {
        o->out->unpacked = unpacked;
        return open_file(o, kind, path, name, err);
    }
    const etl_status status = open_members(o, name, unpacked, err);
    cli_unpacked_close(unpacked);
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

/* Opens a trace that is still being unpacked. If it cannot be opened, the reason may be that it
 * cannot be unpacked. */
static etl_status open_arriving(const opening *o, const char *name, cli_unpacked *unpacked,
                                etl_error *err)
{
    etl_error own = { .status = ETL_OK };
    u64 arrived;
    o->out->unpacked = unpacked;
    etl_status status = open_members(o, name, unpacked, &own);
    etlheap_unpacked_hide(unpacked->files);
    if (status == ETL_OK)
        return ETL_OK;
    if (cli_unpacked_arrival(unpacked, UINT64_MAX, &arrived, err) != ETL_OK)
        return err->status;
    *err = own;
    return status;
}

static etl_status open_packed(const opening *o, const char *path, const char *name, etl_error *err)
{
    cli_unpacked *unpacked;
    const bool beside = may_arrive(o->options);
    const etl_status status = cli_unpack(o->options, path, o->guard, beside, &unpacked, err);
    if (status != ETL_OK)
        return status;
    return etlheap_unpacked_is_arriving(unpacked->files) ? open_arriving(o, name, unpacked, err)
                                                         : open_unpacked(o, name, unpacked, err);
}

/* Opens standard input or a named pipe, which may be packed itself. */
static etl_status open_piped(const opening *o, const char *name, etl_error *err)
{
    if (cli_is_stdin(name) && cli_host_is_terminal(ETL_STDIN))
        return etl_fail_with(err, ETL_ERR_IO, 0,
                             "standard input is a terminal: pipe a trace in, or name a file");
    cli_unpacked *copied;
    etl_status status = cli_unpack_pipe(o->options, name, o->guard, &copied, err);
    if (status != ETL_OK)
        return status;
    const char *const path = etlheap_unpacked_member_of(copied->files, 0).path;
    if (cli_input_kind_of(path) != CLI_INPUT_PACKED)
        return open_unpacked(o, name, copied, err);
    status = open_packed(o, path, name, err);
    cli_unpacked_close(copied);
    return status;
}

/* A trace that is arriving has no name. */
static bool has_files(const cli_inputs *inputs)
{
    return inputs->unpacked && !etlheap_unpacked_is_arriving(inputs->unpacked->files);
}

/* The guard against bus errors stays as long as the temporary file. */
static etl_status open_input(const opening *o, const char *path, etl_error *err)
{
    const cli_input_kind kind = cli_input_kind_of(path);
    if (!cli_input_is_unpacked(kind))
        return open_file(o, kind, path, path, err);
    const bool guarded = o->guard->active;
    cli_guard_begin(o->guard);
    const etl_status status =
        kind == CLI_INPUT_PIPE ? open_piped(o, path, err) : open_packed(o, path, path, err);
    if (!guarded && !has_files(o->out) && (status != ETL_OK || o->options->no_symbols))
        cli_guard_end(o->guard); /* else symbols of the package may be unpacked */
    return status;
}

/* Says why an input cannot be read; nothing if the user cancelled. Returns an exit status. */
static int complain(const char *subject, const etl_error *err)
{
    if (cli_bus_guard_tripped())
        cli_complain(subject, cli_bus_guard_message);
    else if (err->status != ETL_ERR_CANCELLED)
        cli_complain_error(subject, err);
    return err->status == ETL_ERR_ARGUMENT ? CLI_EXIT_USAGE : CLI_EXIT_INPUT;
}

/* Opens a UMDH log. It has no records or times, so commands that need these refuse it. */
static int open_log(const cli_options *options, cli_inputs *out)
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
        cli_complain(out->name, refusal);
        /* As for a store, which has no records either. */
        return options->command_bit == CLI_DUMP ? CLI_EXIT_INPUT : CLI_EXIT_USAGE;
    }
    if (cli_refuse_times(options, out->name) != CLI_EXIT_DONE)
        return CLI_EXIT_USAGE;
    return etlheap_umdh_open(out->log_path, &out->log, &err) == ETL_OK ? CLI_EXIT_DONE
                                                                       : complain(out->name, &err);
}

/* The marks of a store were chosen when it was written. */
static int keep_marks(const cli_options *options, cli_inputs *out)
{
    if (options->mark_events.count > 0)
        cli_note(out->name, "a store has the marks that it was written with: --mark-event "
                            "is for traces, and for etlheap store");
    const etlheap_result *const facts = out->kept ? out->kept->result : out->facts;
    const bool is_summary = etlheap_result_is_summary(facts);
    if (!cli_wants_marks(options) && !out->clock.part) {
        etlheap_result_free(out->facts);
        out->facts = NULL;
        out->clock.marks = NULL;
    }
    if (!cli_wants_marks(options) || !is_summary)
        return CLI_EXIT_DONE;
    cli_complain(out->name, "a summary has no marks; use the trace or its full store");
    return CLI_EXIT_USAGE;
}

void cli_clock_of_store(const etlheap_result *store, cli_clock *out)
{
    out->start_filetime = etlheap_result_trace(store)->start_time_filetime;
    out->marks = etlheap_result_marks(store);
    out->part = etlheap_result_part(store);
}

/* Opens the store for a moment, so that damage is reported early. */
static int open_store(const cli_options *options, cli_inputs *out)
{
    if (options->inputs.count > 1) {
        cli_complain(out->name,
                     "only one store can be read at a time; to add up several, use etlheap merge");
        return CLI_EXIT_USAGE;
    }
    cli_memory_note_input(out->store, true, false);
    const etlheap_options facts = { .size = sizeof facts, .inventory_only = true };
    etlheap_result *result = NULL;
    etl_error err = { .status = ETL_OK };
    if (etlheap_open_store(out->store, &facts, &result, &err) != ETL_OK)
        return complain(out->name, &err);
    out->facts = result;
    cli_clock_of_store(result, &out->clock);
    return keep_marks(options, out);
}

/* Takes an input that stays open. It is a store, whatever it was made from. */
static int take_kept(const cli_options *options, const cli_kept_input *kept, cli_inputs *out)
{
    out->kept = kept;
    out->store = strdup(kept->name);
    out->name = strdup(kept->name);
    if (!out->store || !out->name) {
        cli_complain(NULL, "out of memory");
        return CLI_EXIT_INPUT;
    }
    cli_clock_of_store(kept->result, &out->clock);
    return keep_marks(options, out);
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
    return status == ETL_OK ? CLI_EXIT_DONE : complain(cli_inputs_subject(out), &err);
}

int cli_inputs_open(const cli_options *options, cli_guard *guard, cli_inputs *out)
{
    const opening o = { options, guard, out };
    *out = (cli_inputs){ 0 };
    const cli_kept_input *const kept =
        options->inputs.count == 1 ? cli_served_input(options->served, options->inputs.at[0])
                                   : NULL;
    if (kept)
        return take_kept(options, kept, out);
    const int paths = check_paths(options);
    if (paths != CLI_EXIT_DONE)
        return paths;
    for (u32 i = 0; i < options->inputs.count && !out->name; i++) {
        etl_error err = { .status = ETL_OK };
        if (open_input(&o, options->inputs.at[i], &err) != ETL_OK)
            return complain(options->inputs.at[i], &err);
    }
    if (out->log_path)
        return open_log(options, out);
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
    const opening o = { options, guard, out };
    u32 pair[2];
    const etl_status status = open_input(&o, path, err);
    if (status != ETL_OK || out->store)
        return status;
    if (out->log_path)
        return etl_fail_with(err, ETL_ERR_UNSUPPORTED, 0,
                             "a UMDH log has no trace records; open it with report, check, "
                             "export or diff");
    out->clock.start_filetime = etl_session_of(out->traces[0], 0)->start_time_filetime;
    return etlheap_recording_check(out->traces, out->count, options->together, pair, err);
}

static int refuse_trace(const char *path)
{
    cli_complain(path, "is not a store; make one from a trace with etlheap store");
    return CLI_EXIT_INPUT;
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
    return cli_input_kind_of(out->paths[index]) == CLI_INPUT_STORE ? CLI_EXIT_DONE
                                                                   : refuse_trace(path);
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
        const cli_input_kind kind = cli_input_kind_of(path);
        if (kind == CLI_INPUT_PACKED)
            exit_status = open_packed_store(options, i, guard, out);
        else if (kind != CLI_INPUT_STORE && kind != CLI_INPUT_ABSENT)
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
        cli_complain(inputs->name, why);
    return !inputs->store;
}

void cli_inputs_close(cli_inputs *inputs)
{
    for (u32 i = 0; i < inputs->count; i++) {
        etl_close(inputs->traces[i]);
        free(inputs->names[i]);
    }
    etlheap_umdh_close(inputs->log);
    free(inputs->traces);
    free(inputs->names);
    free(inputs->store);
    free(inputs->log_path);
    free(inputs->name);
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
    if (inputs->name)
        return inputs->name;
    return inputs->count == 1 ? inputs->names[0] : NULL;
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
