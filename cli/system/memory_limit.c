/*
 * memory_limit.c - keeps the promise of --memory, and says how much would have been enough.
 *
 * In: the limit, samples of the memory held while inputs are read, and the command. Out: a limit
 * set in the system, and after a refusal an estimate.
 *
 *     in use |                      . + + + +  the answer: R times a ratio, by question
 *            |             . . ' '
 *            |      . '                        R: what reading takes, once it is complete
 *            |  . '
 *            |.'
 *            +-----------------------> of the input that is read
 *
 * Most of what a run keeps are distinct call stacks, of which ever fewer are new. So growth is
 * extrapolated as it was: by the factor by which memory grew when the input read last doubled.
 *
 * A store is not read like that: its directory says how many blocks, origins, frames, addresses and
 * bytes of text it has, and a question takes so many bytes for each (store_bytes_each).
 *
 * Invariant: ratios and bytes by question are measured; oracle_memory.py fails if a row is too
 * small, or much too large.
 */
#include "memory_limit.h"

#include <inttypes.h>
#include <stdio.h>

#include "cli/options/advice.h"
#include "cli/options/views.h"
#include "cli/options/wants.h"
#include "parser/system/files.h"

#define SAMPLES_MAX   64u
#define SAMPLES_MIN   6u
#define THREAD_BYTES  ((u64)8 << 20) /* a thread is worth it if it has so much memory */
#define INPUT_FIXED   ((u64)16 << 20)
#define SUMS_FIXED    ((u64)1 << 20) /* if a question needs sums only, and its trace is small */
#define SUMS_TIMES    2u             /* and so many times the bytes of that trace */
#define TRACE_SHARE   2u  /* of a trace as much as half is kept, as far as anybody knows */
#define STORE_TIMES   16u /* of a store whose directory cannot be read so many times its bytes */
#define MEASURED_JOBS 2u
#define TEXT_TIMES    10u            /* and of its text, in any case */
#define TRACE_MORE    ((u64)4 << 20) /* at most, on top of what is estimated for a trace */
/* Small traces may be compressed, and be mostly about modules. */
#define TRACE_SMALL   ((u64)6 << 20)
#define SMALL_TIMES   7u
#define GROWTH_MIN    140u
#define GROWTH_MAX    190u /* percent, when the input doubles */
#define STEP_PERCENT  125u /* at least so much more than was not enough */
#define LATER_PERCENT 180u /* what answering adds to a later reading of the run */

typedef struct sample {
    u64 done; /* of SHARE_WHOLE */
    u64 bytes;
} sample;

#define SHARE_WHOLE ((u64)1 << 20)
#define SHARE_MIN   (SHARE_WHOLE / 32) /* less says too little about the rest */

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
    bool takes_notes, needs_sums_only;
    u32 trace_percent; /* of what reading takes: the whole question */
    store_bytes_each each;
    const cli_words *compared;    /* inputs; NULL: the command compares none */
    const char *baseline;         /* compared with them; NULL: none */
    u64 trace_bytes, store_bytes; /* of stores: what the question takes of them ... */
    u64 thread_bytes;             /* ... and so much of it each thread */
    u32 jobs;                     /* asked for */
    u64 held_bytes;              /* of inputs that were read into memory, in no ratio to the rest */
    sample samples[SAMPLES_MAX]; /* of the reading at hand */
    u32 count, stride, skipped;
    u64 first_reading; /* what the first one takes; 0: not complete */
} memory;

/* The memory of a question, for traces in percent of what reading takes. Measured, plus a fifth for
 * traces and an eighth for stores. */
typedef struct memory_ratio {
    u32 commands; /* bits */
    bool (*applies)(const cli_options *options);
    u32 trace_percent;
    store_bytes_each store;
} memory_ratio;

static bool is_always(const cli_options *options)
{
    (void)options;
    return true;
}

static bool is_text(const cli_options *options)
{
    return options->format == NULL && options->tree == ETLHEAP_TREE_NONE;
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

/* Keys and measures that reports answer from sums by origin, without the order of events. */
static const u32 keys_of_sums = 1u << ETLHEAP_KEY_KIND | 1u << ETLHEAP_KEY_PROCESS |
                                1u << ETLHEAP_KEY_HEAP | 1u << ETLHEAP_KEY_TYPE |
                                1u << ETLHEAP_KEY_STACK | 1u << ETLHEAP_KEY_FRAME |
                                1u << ETLHEAP_KEY_SITE | 1u << ETLHEAP_KEY_MODULE;

static bool groups_by_sums(const cli_options *options)
{
    bool is_sum = options->threads.count == 0;
    for (u32 i = 0; i < options->group_by_count; i++)
        is_sum = is_sum && (keys_of_sums >> options->group_by[i] & 1) != 0;
    return is_sum;
}

/* Reads single blocks to group or to select them. */
static bool is_text_of_blocks(const cli_options *options)
{
    return is_text(options) &&
           (!groups_by_sums(options) || options->unmatched || options->pairs ||
            options->lifetime_min_ns > 0 || options->lifetime_max_ns != INT64_MAX);
}

static const memory_ratio ratios[] = {
    { CLI_REPORT, is_suspects, 260, { 17, 37, 590, 18, 27, 300, 0 } },
    { CLI_REPORT, is_churn, 370, { 15, 61, 545, 19, 35, 300, 0 } },
    { CLI_REPORT, is_rise, 370, { 14, 60, 350, 19, 1, 0, 0 } },
    { CLI_REPORT, is_peak, 370, { 12, 54, 280, 15, 20, 60, 0 } },
    { CLI_REPORT, is_map, 370, { 14, 19, 640, 1, 36, 200, 0 } },
    { CLI_REPORT, is_histogram, 370, { 16, 5, 460, 16, 1, 200, 0 } },
    { CLI_REPORT, needs_blocks, 370, { 16, 61, 640, 19, 36, 360, 0 } },
    { CLI_REPORT, is_text_of_blocks, 260, { 14, 30, 490, 8, 14, 200, 0 } },
    { CLI_REPORT | CLI_SYMBOLS, is_text, 260, { 12, 54, 200, 1, 20, 0, 0 } },
    { CLI_WINDOWS, is_growth, 320, { 14, 1, 185, 112, 1, 0, 0 } },
    { CLI_WINDOWS, is_grouped, 350, { 12, 14, 490, 64, 71, 60, 0 } },
    { CLI_WINDOWS, is_always, 170, { 12, 6, 268, 1, 1, 0, 0 } },
    { CLI_EXPORT, is_html, 430, { 26, 1, 3900, 1, 1, 300, 7 } },
    { CLI_EXPORT, is_wpa_xml, 430, { 12, 1, 440, 132, 137, 0, 0 } },
    { CLI_EXPORT, is_dhat, 430, { 16, 1, 690, 96, 110, 0, 0 } },
    { CLI_EXPORT, is_packed, 430, { 11, 15, 600, 90, 110, 0, 0 } },
    { CLI_EXPORT, is_settings, 150, { 3, 0, 20, 0, 0, 0, 0 } },
    { CLI_ALLOCATIONS, is_top, 270, { 15, 19, 276, 29, 58, 90, 0 } },
    { CLI_ALLOCATIONS, is_always, 430, { 16, 148, 1, 9, 204, 0, 0 } },
    { CLI_REPORT, is_tree, 450, { 8, 103, 1, 39, 224, 0, 0 } },
    { CLI_EXPORT, is_rows, 410, { 19, 1, 695, 76, 195, 0, 0 } },
    { CLI_EXPORT, is_heaptrack, 520, { 16, 22, 550, 118, 183, 0, 0 } },
    { CLI_DIFF | CLI_TREND, is_always, 290, { 9, 39, 26, 88, 100, 0, 0 } },
    { CLI_STORE, is_summary, 850, { 11, 7, 590, 153, 49, 0, 0 } },
    { CLI_STORE, is_always, 520, { 13, 55, 690, 153, 200, 0, 0 } },
    { CLI_MERGE, is_always, 400, { 10, 55, 1, 91, 62, 0, 0 } },
    { CLI_INFO, is_always, 150, { 3, 0, 20, 0, 0, 0, 0 } },
    { CLI_DUMP, is_always, 30, { 3, 0, 20, 0, 0, 0, 0 } },
    { CLI_CHECK, has_baseline, 430, { 12, 12, 370, 48, 58, 0, 0 } },
    { UINT32_MAX, is_always, 430, { 10, 15, 560, 64, 80, 0, 0 } },
};

/* Is all that the question keeps sums? True only if that is certain: large questions must not be
 * told that little is enough. Growth keeps a few bytes for each event, less than the trace has. */
static bool needs_sums_only(const cli_command *command, const cli_options *options)
{
    if ((command->bit & (CLI_INFO | CLI_DUMP | CLI_SYMBOLS)) != 0)
        return true;
    return command->bit == CLI_REPORT && !needs_blocks(options) && !options->suspects &&
           !options->pairs && !options->unmatched && groups_by_sums(options) &&
           options->lifetime_min_ns == 0 && options->lifetime_max_ns == INT64_MAX &&
           (options->growth || options->sort <= ETLHEAP_MEASURE_REALLOC_COUNT);
}

/* What reading a trace takes, before anything is known of it. */
static u64 guess_of(u64 trace_bytes)
{
    const u64 guess = etl_sat_add_u64(INPUT_FIXED, trace_bytes / TRACE_SHARE);
    const u64 sums = SUMS_FIXED + trace_bytes / TRACE_SHARE * (SUMS_TIMES * TRACE_SHARE);
    return memory.needs_sums_only ? etl_min_u64(guess, sums) : guess;
}

void cli_memory_limit_begin(const cli_command *command, cli_options *options)
{
    if (options->memory_bytes == 0)
        return;
    memory.base = cli_memory_in_use();
    memory.stride = 1;
    if (memory.base == 0 ||
        !cli_memory_set_limit(etl_sat_add_u64(memory.base, options->memory_bytes)))
        return;
    memory.limit = options->memory_bytes;
    memory.takes_notes = options->out_dir == NULL;
    size_t row = 0;
    while ((ratios[row].commands & command->bit) == 0 || !ratios[row].applies(options))
        row++;
    memory.needs_sums_only = needs_sums_only(command, options);
    memory.trace_percent = ratios[row].trace_percent;
    memory.each = ratios[row].store;
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
        return etl_sat_add_u64(INPUT_FIXED, file_bytes * STORE_TIMES);
    *thread_bytes = memory.each.thread_mib * ETL_MIB + has.origins * memory.each.thread_origin;
    return bytes_of_counts(&has);
}

void cli_memory_note_input(const char *path, bool is_store, bool is_held)
{
    etl_path_kind kind;
    u64 bytes = 0;
    const int file = !memory.takes_notes ? -1 : etl_file_open(path);
    if (file < 0)
        return;
    (void)etl_file_examine(file, &kind, &bytes);
    (void)etl_file_close(file);
    u64 *const sum = is_store ? &memory.store_bytes : &memory.trace_bytes;
    u64 thread_bytes = 0;
    *sum = etl_sat_add_u64(*sum, is_store ? bytes_of_store(path, bytes, &thread_bytes) : bytes);
    memory.thread_bytes = etl_sat_add_u64(memory.thread_bytes, thread_bytes);
    if (is_held)
        memory.held_bytes = etl_sat_add_u64(memory.held_bytes, bytes);
}

/* Drops every second sample, so that the rest are twice as far apart. */
static void thin_out(void)
{
    for (u32 i = 0; i < SAMPLES_MAX / 2; i++)
        memory.samples[i] = memory.samples[2 * i];
    memory.count = SAMPLES_MAX / 2;
    memory.stride *= 2;
}

void cli_memory_note_progress(u64 done_bytes, u64 total_bytes)
{
    if (!memory.takes_notes || total_bytes == 0)
        return;
    const u64 done = (u64)((double)done_bytes / (double)total_bytes * (double)SHARE_WHOLE);
    if (memory.count > 0 && done < memory.samples[memory.count - 1].done) {
        memory.first_reading =
            etl_max_u64(memory.first_reading, memory.samples[memory.count - 1].bytes);
        memory.count = memory.skipped = 0; /* another reading begins */
        memory.stride = 1;
    }
    if (memory.skipped++ % memory.stride != 0 && done < SHARE_WHOLE)
        return;
    if (memory.count == SAMPLES_MAX)
        thin_out();
    const u64 in_use = cli_memory_in_use(), fixed = memory.base + memory.held_bytes;
    memory.samples[memory.count++] = (sample){ done, in_use - etl_min_u64(in_use, fixed) };
}

/* Estimates what reading takes as a whole from how it grew; 0 if too little is known. */
static u64 reading_bytes(void)
{
    if (memory.count == 0)
        return 0;
    const sample first = memory.samples[0];
    sample last = memory.samples[memory.count - 1];
    if (last.done >= SHARE_WHOLE)
        return last.bytes;
    if (memory.count < SAMPLES_MIN || last.done < SHARE_MIN)
        return 0;
    last.bytes =
        etl_max_u64(last.bytes, memory.limit - etl_min_u64(memory.limit, memory.held_bytes));
    u32 half = 0;
    while (memory.samples[half].done < last.done / 2)
        half++;
    const u64 now = last.bytes - etl_min_u64(last.bytes, first.bytes);
    const u64 before =
        memory.samples[half].bytes - etl_min_u64(memory.samples[half].bytes, first.bytes);
    u64 percent = before == 0 ? GROWTH_MAX : now * 100 / before;
    percent = etl_min_u64(etl_max_u64(percent, GROWTH_MIN), GROWTH_MAX);
    u64 grown = now, done = last.done;
    for (; done < SHARE_WHOLE / 2; done *= 2)
        grown = grown / 100 * percent;
    grown += (u64)((double)grown * (double)(percent - 100) / 100 *
                   ((double)SHARE_WHOLE / (double)done - 1));
    return first.bytes + grown;
}

/* The same, but bounded if little was read: at first, growth is mostly that of tables that
 * double. */
static u64 reading_bytes_at_most(u64 guess)
{
    const u64 grown = reading_bytes();
    if (grown == 0)
        return 0;
    const sample last = memory.samples[memory.count - 1];
    return last.done >= SHARE_WHOLE / 4
               ? grown
               : etl_max_u64(last.bytes, etl_min_u64(grown, guess + guess / 4));
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

static u64 needed_bytes(void)
{
    const u64 guess = guess_of(memory.trace_bytes);
    const u64 seen = reading_bytes_at_most(guess);
    u64 needed = stores_bytes_of_jobs();
    if (memory.first_reading != 0) {
        needed = memory.first_reading * memory.trace_percent / 100;
        needed = etl_max_u64(needed, seen * LATER_PERCENT / 100);
    } else if (seen != 0) {
        needed = etl_max_u64(needed, seen * memory.trace_percent / 100);
    } else if (memory.trace_bytes > 0) {
        needed = etl_sat_add_u64(needed, guess * memory.trace_percent / 100);
    }
    needed = etl_sat_add_u64(needed, etl_min_u64(memory.trace_bytes / 2, TRACE_MORE));
    if (memory.trace_bytes < TRACE_SMALL && memory.first_reading == 0 && !memory.needs_sums_only)
        needed = etl_max_u64(needed, memory.trace_bytes * SMALL_TIMES);
    needed = etl_sat_add_u64(needed, memory.held_bytes);
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

bool cli_memory_explain_one(const etl_error *err, u64 input_bytes, cli_memory_sentence *out)
{
    if (memory.limit == 0 || !is_about_memory(err))
        return false;
    const u64 guess = guess_of(input_bytes);
    write_sentence(
        etl_max_u64(guess * memory.trace_percent / 100, memory.limit * STEP_PERCENT / 100), out);
    return true;
}
