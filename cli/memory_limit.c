/*
 * memory_limit.c - keeps the promise of --memory, and says how much would have been enough.
 *
 * In: the limit, the inputs, and the command. Out: a limit set in the system, and after a refusal
 * an estimate.
 *
 * The estimate comes from what the inputs have. Traces are sampled for it after the refusal
 * (etlheap_trace_counts_read), and what a run keeps of them follows from what its question needs
 * (etlheap_question_keeps). The directory of a store says how many blocks, origins, frames,
 * addresses and bytes of text it has, and a question takes so many bytes for each
 * (store_bytes_each).
 *
 * Invariant: bytes by question are measured; oracle_memory.py fails if a row is too small, or much
 * too large.
 */
#include "memory_limit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/options/advice.h"
#include "cli/options/given_options.h"
#include "cli/options/views.h"
#include "cli/options/wants.h"
#include "cli/options/window_plan.h"
#include "cli/system/process_memory.h"
#include "parser/system/files.h"
#include "report_query.h"

#define THREAD_BYTES  ((u64)8 << 20) /* a thread is worth it if it has so much memory */
#define STORE_FIXED   ((u64)16 << 20)
#define STORE_TIMES   16u /* of a store whose directory cannot be read so many times its bytes */
#define MEASURED_JOBS 2u
#define TEXT_TIMES    10u  /* and of its text, in any case */
#define ALLOC_BYTES   360u /* of a trace, with its stack and its free */
#define FRAME_BYTES   54u
#define PACKED_TIMES  8u
#define STEP_PERCENT  125u /* at least so much more than was not enough */

/* What a question takes of a store: fixed, and for each block, origin, frame that a stack does not
 * share, and place in the table of addresses, which doubles. */
typedef struct store_bytes_each {
    u32 fixed_mib;
    u32 block, origin, frame, address; /* bytes */
    u32 thread_origin;                 /* bytes, of each thread */
    u32 thread_mib;
} store_bytes_each;

/* One for the whole process, like the limit. */
static struct {
    u64 limit, base;
    bool takes_notes;
    etlheap_keeps keeps; /* of traces */
    store_bytes_each each;
    const cli_words *compared; /* inputs; NULL: the command compares none */
    const char *baseline;      /* compared with them; NULL: none */
    cli_words traces;
    u64 store_bytes;  /* of stores: what the question takes of them ... */
    u64 thread_bytes; /* ... and so much of it each thread */
    u32 jobs;         /* asked for */
    u64 held_bytes;   /* of inputs that were read into memory */
} memory;

/* What a question takes of stores. Measured, plus an eighth. */
typedef struct store_row {
    u32 commands; /* bits */
    bool (*applies)(const cli_options *options);
    store_bytes_each store;
} store_row;

static bool is_always(const cli_options *options)
{
    (void)options;
    return true;
}

/* Text names the stacks that it shows, unless rows are functions. */
static bool is_text(const cli_options *options)
{
    return options->format == NULL && options->tree == ETLHEAP_TREE_NONE &&
           !cli_wants_functions(options);
}

static bool is_tree(const cli_options *options)
{
    return options->tree != ETLHEAP_TREE_NONE;
}

static bool is_rows(const cli_options *options)
{
    return options->rows;
}

static bool is_growth(const cli_options *options)
{
    return options->find_growth;
}

static bool is_spikes(const cli_options *options)
{
    return options->find_spikes || cli_is_given(options, "--spikes");
}

static bool is_grouped(const cli_options *options)
{
    return options->group_by_count > 0 || options->stack_tags.count > 0;
}

static bool is_churn(const cli_options *options)
{
    return cli_views_need(options, offsetof(etlheap_query, churn));
}

static bool needs_blocks(const cli_options *options)
{
    return is_churn(options) || cli_wants_lifetimes(options) || options->at_peak || options->map ||
           options->histogram != 0 || options->impacting != 0 || options->pairs;
}

static bool is_suspects(const cli_options *options)
{
    return options->suspects;
}

static bool is_peak(const cli_options *options)
{
    return options->at_peak;
}

static bool is_rise(const cli_options *options)
{
    return options->growth;
}

static bool is_map(const cli_options *options)
{
    return options->map;
}

static bool is_histogram(const cli_options *options)
{
    return options->histogram != 0;
}

static bool writes(const cli_options *options, const char *format)
{
    return options->format != NULL && strcmp(options->format, format) == 0;
}

static bool is_wpa_xml(const cli_options *options)
{
    return writes(options, "wpa-xml");
}

static bool is_dhat(const cli_options *options)
{
    return writes(options, "dhat");
}

/* Formats that are built in memory. */
static bool is_packed(const cli_options *options)
{
    return !options->rows && (writes(options, "parquet") || writes(options, "pprof"));
}

/* A baseline is read beside the run. */
static bool has_baseline(const cli_options *options)
{
    return options->baseline != NULL;
}

static bool is_html(const cli_options *options)
{
    return writes(options, "html");
}

static bool is_perfetto(const cli_options *options)
{
    return writes(options, "perfetto");
}

static bool is_heaptrack(const cli_options *options)
{
    return writes(options, "heaptrack");
}

static bool is_settings(const cli_options *options)
{
    return writes(options, "wpaprofile");
}

static bool is_summary(const cli_options *options)
{
    return options->summary;
}

static bool is_top(const cli_options *options)
{
    return cli_top_limit(options) > 0;
}

/* Reads single blocks to group or to select them. */
static bool is_text_of_blocks(const cli_options *options)
{
    return is_text(options) && memory.keeps >= ETLHEAP_KEEPS_EVENTS;
}

static const store_row store_rows[] = {
    { CLI_REPORT, cli_wants_functions, { 10, 15, 560, 64, 470, 0, 0 } },
    { CLI_REPORT | CLI_WINDOWS, is_spikes, { 22, 30, 1500, 8, 14, 300, 0 } },
    { CLI_REPORT, is_suspects, { 17, 37, 590, 18, 27, 300, 0 } },
    { CLI_REPORT, is_churn, { 15, 61, 545, 19, 35, 300, 0 } },
    { CLI_REPORT, is_rise, { 14, 60, 350, 19, 1, 0, 0 } },
    { CLI_REPORT, is_peak, { 12, 54, 280, 15, 20, 60, 0 } },
    { CLI_REPORT, is_map, { 14, 19, 640, 1, 36, 200, 0 } },
    { CLI_REPORT, is_histogram, { 16, 5, 460, 16, 1, 200, 0 } },
    { CLI_REPORT, needs_blocks, { 16, 61, 640, 19, 36, 360, 0 } },
    { CLI_REPORT, is_text_of_blocks, { 14, 30, 490, 8, 14, 200, 0 } },
    { CLI_REPORT | CLI_SYMBOLS, is_text, { 12, 54, 200, 1, 20, 0, 0 } },
    { CLI_WINDOWS, is_growth, { 14, 1, 185, 112, 1, 0, 0 } },
    { CLI_WINDOWS, is_grouped, { 12, 14, 490, 64, 71, 60, 0 } },
    { CLI_WINDOWS, is_always, { 12, 6, 268, 1, 1, 0, 0 } },
    { CLI_EXPORT, is_html, { 32, 1, 4200, 1, 1, 300, 7 } },
    { CLI_EXPORT, is_wpa_xml, { 12, 1, 440, 132, 137, 0, 0 } },
    { CLI_EXPORT, is_dhat, { 16, 1, 690, 96, 110, 0, 0 } },
    { CLI_EXPORT, is_packed, { 11, 15, 600, 90, 110, 0, 0 } },
    { CLI_EXPORT, is_perfetto, { 14, 16, 900, 84, 100, 60, 0 } },
    { CLI_EXPORT, is_settings, { 3, 0, 20, 0, 0, 0, 0 } },
    { CLI_ALLOCATIONS, is_top, { 15, 19, 276, 29, 58, 90, 0 } },
    { CLI_ALLOCATIONS, is_always, { 16, 148, 1, 9, 204, 0, 0 } },
    { CLI_REPORT, is_tree, { 8, 103, 1, 39, 224, 0, 0 } },
    { CLI_EXPORT, is_rows, { 19, 1, 695, 76, 195, 0, 0 } },
    { CLI_EXPORT, is_heaptrack, { 16, 22, 550, 118, 183, 0, 0 } },
    { CLI_DIFF | CLI_TREND, is_always, { 9, 39, 26, 88, 100, 0, 0 } },
    { CLI_STORE, is_summary, { 13, 7, 590, 153, 49, 0, 0 } },
    { CLI_STORE, is_always, { 13, 55, 690, 153, 200, 0, 0 } },
    { CLI_MERGE, is_always, { 10, 55, 1, 91, 62, 0, 0 } },
    { CLI_INFO, is_always, { 3, 0, 20, 0, 0, 0, 0 } },
    { CLI_DUMP, is_always, { 3, 0, 20, 0, 0, 0, 0 } },
    { CLI_CHECK, has_baseline, { 12, 12, 370, 48, 58, 0, 0 } },
    { UINT32_MAX, is_always, { 10, 15, 560, 64, 80, 0, 0 } },
};

/* Commands and views that look at all events, whatever the query needs. */
static bool asks_events(const cli_command *command, const cli_options *options)
{
    const etlheap_metric metric = options->metric == 0 ? 0 : (etlheap_metric)(options->metric - 1);
    if (command->bit == CLI_WINDOWS)
        return options->find_growth || options->find_spikes || options->windows.count > 1 ||
               cli_window_plan_is_open(options);
    if (command->bit == CLI_CHECK)
        return options->per == ETLHEAP_SCOPE_MARK;
    return command->bit == CLI_ALLOCATIONS || options->map || options->histogram != 0 ||
           options->at_peak || options->suspects ||
           (options->is_export && etlheap_metric_asks_events(metric));
}

/* The question that a command asks, as far as it decides what a run keeps. */
static etlheap_question_kind kind_of(const cli_command *command, const cli_options *options)
{
    const etlheap_exporter *const exporter =
        options->is_export ? etlheap_exporter_named(options->format) : NULL;
    if (options->rows || (exporter && exporter->asks_events) ||
        (command->bit == CLI_ALLOCATIONS && !is_top(options)))
        return ETLHEAP_ASK_LIFETIMES;
    if (asks_events(command, options))
        return ETLHEAP_ASK_EVENTS;
    return command->bit == CLI_WINDOWS ? ETLHEAP_ASK_WINDOWS : ETLHEAP_ASK_TABLE;
}

/* A time of a calendar or a mark, which says nothing before an input is open, becomes the begin of
 * the trace, or is forgotten. */
static void forget(cli_time *time, bool is_needed)
{
    if (time->given && (time->mark || time->is_instant))
        *time = (cli_time){ .given = is_needed };
}

/* What a run keeps of traces. If the query cannot be made, it may need all. */
static etlheap_keeps keeps_of(const cli_command *command, const cli_options *options)
{
    static const cli_clock no_clock = { .start_filetime = 0 };
    cli_query query;
    if ((command->bit & (CLI_INFO | CLI_DUMP)) != 0)
        return command->bit == CLI_INFO ? ETLHEAP_KEEPS_COUNTS : ETLHEAP_KEEPS_NOTHING;
    if (command->bit == CLI_STORE)
        return ETLHEAP_KEEPS_BLOCKS;
    if (is_html(options) || options->has_view || options->find_spikes) /* as much as a page */
        return ETLHEAP_KEEPS_PAGES;
    etlheap_keeps keeps = ETLHEAP_KEEPS_EVENTS;
    cli_options own = *options;
    forget(&own.from, false);
    forget(&own.to, false);
    forget(&own.at, true);
    own.cull_lists.count = 0; /* files, which decide nothing here */
    if (cli_query_build(&own, &no_clock, &query, NULL) == ETL_OK) {
        const etlheap_question question = { .size = sizeof question,
                                            .kind = kind_of(command, options),
                                            .query = &query.query };
        keeps = etlheap_question_keeps(&question);
    }
    cli_query_free(&query);
    if (options->exclude_frames.count > 0 && keeps < ETLHEAP_KEEPS_EVENTS)
        keeps = ETLHEAP_KEEPS_EVENTS; /* two questions, one about what is left out */
    /* Text names only the stacks that it shows. */
    const bool shows_few = ((command->bit & (CLI_REPORT | CLI_SYMBOLS)) != 0 && is_text(options)) ||
                           (command->bit == CLI_WINDOWS && !is_grouped(options)) ||
                           is_settings(options);
    return keeps == ETLHEAP_KEEPS_STACKS && shows_few ? ETLHEAP_KEEPS_SUMS : keeps;
}

void cli_memory_limit_begin(const cli_command *command, cli_options *options)
{
    if (options->memory_bytes == 0)
        return;
    memory.base = cli_memory_in_use();
    if (memory.base == 0 ||
        !cli_memory_set_limit(etl_sat_add_u64(memory.base, options->memory_bytes)))
        return;
    memory.limit = options->memory_bytes;
    memory.takes_notes = options->out_dir == NULL;
    memory.keeps = keeps_of(command, options);
    size_t row = 0;
    while ((store_rows[row].commands & command->bit) == 0 || !store_rows[row].applies(options))
        row++;
    memory.each = store_rows[row].store;
    memory.baseline = command->bit == CLI_CHECK ? options->baseline : NULL;
    memory.compared = (command->bit & (CLI_DIFF | CLI_TREND)) != 0 || memory.baseline != NULL
                          ? &options->inputs
                          : NULL;
    const u64 jobs_max = etl_max_u64(1, memory.limit / THREAD_BYTES);
    const u32 jobs = options->jobs == 0 ? etlheap_default_jobs() : options->jobs;
    memory.jobs = jobs;
    options->jobs = (u32)etl_min_u64(jobs, jobs_max);
}

/* The size of a table that doubles until so many fit. */
static u64 places_for(u64 count)
{
    u64 places = count == 0 ? 0 : 1;
    while (places < count && places < (u64)1 << 40)
        places *= 2;
    return places;
}

/* What the question takes of a store with so much in it. */
static u64 bytes_of_counts(const etlheap_store_counts *has)
{
    const store_bytes_each each = memory.each;
    return (u64)each.fixed_mib * ETL_MIB + (has->allocs + has->lives) * each.block +
           (has->origins + has->sums) * each.origin + has->own_frames * each.frame +
           places_for(has->addresses) * each.address + has->text_bytes * TEXT_TIMES;
}

/* What the question takes of a store, by what its directory says. */
static u64 bytes_of_store(const char *path, u64 file_bytes, u64 *thread_bytes)
{
    etlheap_store_counts has;
    if (etlheap_store_counts_read(path, &has, NULL) != ETL_OK)
        return etl_sat_add_u64(STORE_FIXED, file_bytes * STORE_TIMES);
    *thread_bytes = memory.each.thread_mib * ETL_MIB + has.origins * memory.each.thread_origin;
    return bytes_of_counts(&has);
}

static u64 size_of(const char *path)
{
    etl_path_kind kind;
    u64 bytes = 0;
    const int file = etl_file_open(path);
    if (file >= 0) {
        (void)etl_file_examine(file, &kind, &bytes);
        (void)etl_file_close(file);
    }
    return bytes;
}

void cli_memory_note_input(const char *path, bool is_store, bool is_held)
{
    if (!memory.takes_notes)
        return;
    const u64 bytes = size_of(path);
    u64 thread_bytes = 0;
    if (is_store)
        memory.store_bytes =
            etl_sat_add_u64(memory.store_bytes, bytes_of_store(path, bytes, &thread_bytes));
    else
        (void)CLI_APPEND(&memory.traces, strdup(path));
    memory.thread_bytes = etl_sat_add_u64(memory.thread_bytes, thread_bytes);
    if (is_held)
        memory.held_bytes = etl_sat_add_u64(memory.held_bytes, bytes);
}

static u64 bytes_of_compared(const char *path)
{
    etlheap_store_counts has;
    return etlheap_store_counts_read(path, &has, NULL) == ETL_OK ? bytes_of_counts(&has) : 0;
}

/* What the question takes of all its stores. Inputs that are compared are opened one after the
 * other, so some may not have been noted. */
static u64 stores_bytes(void)
{
    u64 sum = memory.baseline == NULL ? 0 : bytes_of_compared(memory.baseline);
    for (u32 i = 0; memory.compared != NULL && i < memory.compared->count; i++)
        sum = etl_sat_add_u64(sum, bytes_of_compared(memory.compared->at[i]));
    return etl_max_u64(sum, memory.store_bytes);
}

/* The same with as many threads as the run has if it gets so much memory. Questions were measured
 * with MEASURED_JOBS. */
static u64 stores_bytes_of_jobs(void)
{
    const u64 measured = stores_bytes(), each = memory.thread_bytes;
    const u64 fixed = measured - etl_min_u64(measured, each * MEASURED_JOBS);
    u64 jobs = 1, needed = fixed + each;
    while (jobs < memory.jobs && needed / THREAD_BYTES > jobs) {
        jobs++;
        needed += each;
    }
    return measured == 0 ? 0 : needed;
}

/* What cannot be counted, because it is packed, or because other inputs of a batch have all memory,
 * may be full of allocations with stacks. */
static void add_trace(const char *path, etlheap_trace_counts *sum)
{
    etlheap_store_counts store;
    etlheap_trace_counts has;
    if (etlheap_store_counts_read(path, &store, NULL) == ETL_OK)
        return;
    const etl_status status = etlheap_trace_counts_read(path, &has, NULL);
    if (status != ETL_OK) {
        const u64 bytes = size_of(path) * (status >= ETL_ERR_NOT_ETL ? PACKED_TIMES : 1);
        has = (etlheap_trace_counts){ .bytes = bytes,
                                      .allocs = bytes / ALLOC_BYTES,
                                      .frees = bytes / ALLOC_BYTES,
                                      .frames = bytes / FRAME_BYTES,
                                      .addresses = bytes / FRAME_BYTES / 2 };
    }
    etlheap_trace_counts_add(sum, &has);
}

/* What the question takes of traces. Inputs that are compared are opened one after the other, so
 * some may not have been noted; stores among them have no records, and add nothing. */
static u64 traces_bytes(void)
{
    const cli_words *const traces = memory.compared ? memory.compared : &memory.traces;
    etlheap_trace_counts sum = { .buffers = 0 };
    if (memory.baseline)
        add_trace(memory.baseline, &sum);
    for (u32 i = 0; i < traces->count; i++)
        add_trace(traces->at[i], &sum);
    return etlheap_trace_memory(&sum, memory.keeps);
}

static u64 needed_bytes(void)
{
    u64 needed = etl_sat_add_u64(stores_bytes_of_jobs(), memory.held_bytes);
    if (memory.traces.count > 0 || memory.store_bytes == 0)
        needed = etl_sat_add_u64(needed, traces_bytes());
    return etl_max_u64(needed, memory.limit * STEP_PERCENT / 100);
}

static bool is_about_memory(const etl_error *err)
{
    return err->status == ETL_ERR_MEMORY ||
           (err->status == ETL_ERR_LIMIT && cli_advice_is_memory(err->hint));
}

static void write_sentence(u64 needed, cli_memory_sentence *out)
{
    /* As it was given, or may have been: in the largest unit that needs no fraction. */
    const bool is_mib = memory.limit % ETL_MIB == 0, is_kib = memory.limit % ETL_KIB == 0;
    snprintf(out->text, sizeof out->text,
             "--memory %" PRIu64 "%s is not enough: this run needs about %" PRIu64
             "M; raise --memory, or narrow the window",
             memory.limit / (is_mib   ? ETL_MIB
                             : is_kib ? ETL_KIB
                                      : 1),
             is_mib   ? "M"
             : is_kib ? "K"
                      : "",
             needed / ETL_MIB + 1);
}

bool cli_memory_explain(const etl_error *err, cli_memory_sentence *out)
{
    if (memory.limit == 0 || !is_about_memory(err))
        return false;
    (void)cli_memory_set_limit(0);
    write_sentence(needed_bytes(), out);
    return true;
}

bool cli_memory_explain_one(const etl_error *err, const char *path, cli_memory_sentence *out)
{
    etlheap_trace_counts has = { .buffers = 0 };
    if (memory.limit == 0 || !is_about_memory(err))
        return false;
    add_trace(path, &has);
    write_sentence(
        etl_max_u64(etlheap_trace_memory(&has, memory.keeps), memory.limit * STEP_PERCENT / 100),
        out);
    return true;
}
