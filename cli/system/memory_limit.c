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
 * Invariant: ratios by question are measured; oracle_memory.py fails if a row is too small.
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
#define TRACE_SHARE   2u /* of a trace as much as half is kept, as far as anybody knows */
#define STORE_TIMES   4u /* of a store so many times its bytes */
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

/* One for the whole process, like the limit. */
static struct {
    u64 limit, base;
    bool takes_notes, needs_sums_only;
    u32 trace_percent, store_percent; /* of what reading takes: the whole question */
    u64 trace_bytes, store_bytes;
    u64 held_bytes;              /* of inputs that were read into memory, in no ratio to the rest */
    sample samples[SAMPLES_MAX]; /* of the reading at hand */
    u32 count, stride, skipped;
    u64 first_reading; /* what the first one takes; 0: not complete */
} memory;

/* The memory of a question, in percent of what reading takes. Measured (see
 * tests/oracles/oracle_memory.py, which fails if a row is too small), plus a fifth. */
typedef struct memory_ratio {
    u32 commands; /* bits */
    bool (*applies)(const cli_options *options);
    u32 trace_percent, store_percent;
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

static bool needs_blocks(const cli_options *options)
{
    return cli_views_need(options, offsetof(etlheap_query, churn)) ||
           cli_wants_lifetimes(options) || options->at_peak || options->map ||
           options->histogram != 0 || options->impacting != 0;
}

static bool needs_lifetimes(const cli_options *options)
{
    return options->growth || needs_blocks(options);
}

static bool is_large_export(const cli_options *options)
{
    const char *const format = options->format == NULL ? "" : options->format;
    return strcmp(format, "html") == 0 || strcmp(format, "wpa-xml") == 0;
}

static bool is_heaptrack(const cli_options *options)
{
    return options->format != NULL && strcmp(options->format, "heaptrack") == 0;
}

static bool is_settings(const cli_options *options)
{
    return strcmp(options->format, "wpaprofile") == 0;
}

static bool is_summary(const cli_options *options)
{
    return options->summary;
}

static bool is_top(const cli_options *options)
{
    return cli_top_limit(options) > 0;
}

static const memory_ratio ratios[] = {
    { CLI_REPORT, needs_lifetimes, 370, 350 }, { CLI_REPORT | CLI_SYMBOLS, is_text, 260, 280 },
    { CLI_WINDOWS, is_growth, 320, 450 },      { CLI_WINDOWS, is_grouped, 350, 350 },
    { CLI_WINDOWS, is_always, 170, 200 },      { CLI_EXPORT, is_large_export, 430, 520 },
    { CLI_EXPORT, is_settings, 150, 150 },     { CLI_ALLOCATIONS, is_top, 270, 250 },
    { CLI_REPORT, is_tree, 450, 450 },         { CLI_EXPORT, is_rows, 410, 430 },
    { CLI_EXPORT, is_heaptrack, 520, 520 },    { CLI_DIFF | CLI_TREND, is_always, 290, 420 },
    { CLI_STORE, is_summary, 850, 430 },       { CLI_STORE, is_always, 520, 400 },
    { CLI_MERGE, is_always, 400, 400 },        { CLI_INFO, is_always, 150, 200 },
    { CLI_DUMP, is_always, 30, 30 },           { UINT32_MAX, is_always, 430, 400 },
};

/* Keys and measures that reports answer from sums by origin, without the order of events. */
static const u32 keys_of_sums = 1u << ETLHEAP_KEY_KIND | 1u << ETLHEAP_KEY_PROCESS |
                                1u << ETLHEAP_KEY_HEAP | 1u << ETLHEAP_KEY_TYPE |
                                1u << ETLHEAP_KEY_STACK | 1u << ETLHEAP_KEY_FRAME |
                                1u << ETLHEAP_KEY_SITE | 1u << ETLHEAP_KEY_MODULE;

/* Is all that the question keeps sums? True only if that is certain: large questions must not be
 * told that little is enough. Growth keeps a few bytes for each event, less than the trace has. */
static bool needs_sums_only(const cli_command *command, const cli_options *options)
{
    if ((command->bit & (CLI_INFO | CLI_DUMP | CLI_SYMBOLS)) != 0)
        return true;
    bool is_sum = command->bit == CLI_REPORT && !needs_blocks(options) && !options->suspects &&
                  !options->pairs && !options->unmatched && options->threads.count == 0 &&
                  options->lifetime_min_ns == 0 && options->lifetime_max_ns == INT64_MAX &&
                  (options->growth || options->sort <= ETLHEAP_MEASURE_REALLOC_COUNT);
    for (u32 i = 0; i < options->group_by_count; i++)
        is_sum = is_sum && (keys_of_sums >> options->group_by[i] & 1) != 0;
    return is_sum;
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
    memory.store_percent = ratios[row].store_percent;
    const u64 jobs_max = etl_max_u64(1, memory.limit / THREAD_BYTES);
    const u32 jobs = options->jobs == 0 ? etlheap_default_jobs() : options->jobs;
    options->jobs = (u32)etl_min_u64(jobs, jobs_max);
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
    *sum = etl_sat_add_u64(*sum, bytes);
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

static u64 needed_bytes(void)
{
    const u64 guess = guess_of(memory.trace_bytes);
    const u64 store = INPUT_FIXED + memory.store_bytes * STORE_TIMES;
    const u64 seen = reading_bytes_at_most(guess);
    u64 needed = memory.store_bytes == 0 ? 0 : store * memory.store_percent / 100;
    if (memory.first_reading != 0) {
        needed = memory.first_reading * memory.trace_percent / 100;
        needed = etl_max_u64(needed, seen * LATER_PERCENT / 100);
    } else if (seen != 0) {
        needed = etl_max_u64(needed, seen * memory.trace_percent / 100);
    } else if (memory.trace_bytes > 0) {
        needed = etl_sat_add_u64(needed, guess * memory.trace_percent / 100);
    }
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
