/*
 * fuzz_workload.c - fuzzes the engine with programs that use memory, whose true answers are known.
 *
 * In: bytes, which are a program (workload_world.h). Its own book-keeping is the truth about every
 * block and page. Out: nothing, or the first line that differs, and a crash.
 *
 *     bytes ──▶ world ──▶ trace ──▶ engine, in every way ──▶ lines told ─┐
 *                 └────▶ lives ──▶ definitions ────────────▶ lines true ─┴─▶ equal?
 *
 * The trace is analyzed in all ways that the library has, with some number of threads, size of
 * slices and limit of memory; lifetimes, rows, totals, windows and histograms must follow from the
 * truth by their definitions. Invariant: if buffers were lost, nobody knows the whole truth. Then
 * all ways must agree, and no block may begin where no record says so.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/log/event_list.h"
#include "engine/query/needs.h"
#include "engine/query/query.h"
#include "engine/run/log_run.h"
#include "fuzz.h"
#include "store_bytes.h"
#include "workload_answers.h"
#include "tests/support/asked.h"

#define WINDOWS_MAX 40

/* The places where events or lifetimes are when questions are asked. */
typedef enum way {
    WAY_LIFETIMES,
    WAY_EVENT_LIST,
    WAY_SPILLED,
    WAY_SUMS,
    WAY_STORE,
    WAY_STORE_REPORT,
    WAY_LOG,
    WAY_LOG_FILE,
    WAY_WINDOWS,
    WAY_WINDOWS_SPILLED,
    WAY_FREES,
    WAY_STORE_FREES,
    WAY_COUNT
} way;

static const char *const way_names[WAY_COUNT] = {
    [WAY_LIFETIMES] = "lifetimes",
    [WAY_EVENT_LIST] = "event list",
    [WAY_SPILLED] = "spilled event list",
    [WAY_SUMS] = "sums",
    [WAY_STORE] = "store's lifetimes",
    [WAY_STORE_REPORT] = "store",
    [WAY_LOG] = "log",
    [WAY_LOG_FILE] = "log in a file",
    [WAY_WINDOWS] = "windows",
    [WAY_WINDOWS_SPILLED] = "windows, spilled",
    [WAY_FREES] = "log with frees",
    [WAY_STORE_FREES] = "store with frees",
};

/* The questions that a way can answer. */
typedef struct way_can {
    bool rows, lifetimes, cells, buckets, sums, growth, impacts;
} way_can;

/* What a way that keeps all but frees can answer. */
#define ALL_BUT_FREES                                                                              \
    {                                                                                              \
        .rows = true, .lifetimes = true, .cells = true, .buckets = true, .sums = true,             \
        .growth = true                                                                             \
    }

static const way_can abilities[WAY_COUNT] = {
    [WAY_LIFETIMES] = ALL_BUT_FREES,   [WAY_EVENT_LIST] = { .rows = true },
    [WAY_SPILLED] = { .rows = true },  [WAY_SUMS] = { .sums = true },
    [WAY_STORE] = ALL_BUT_FREES,       [WAY_STORE_REPORT] = ALL_BUT_FREES,
    [WAY_LOG] = ALL_BUT_FREES,         [WAY_LOG_FILE] = ALL_BUT_FREES,
    [WAY_WINDOWS] = { .cells = true }, [WAY_WINDOWS_SPILLED] = { .cells = true },
    [WAY_FREES] = { .impacts = true }, [WAY_STORE_FREES] = { .impacts = true },
};

#define ROW_QUESTIONS 2u
#define REPORT_SETS   4u /* ways to group that take no lifetimes */

typedef struct answers {
    workload_lines lifetimes, rows[ROW_QUESTIONS], cells, buckets[ETLHEAP_HISTOGRAM_BY_COUNT];
    workload_lines sums, growth, impacts;
} answers;

/* One input: its traces and questions. */
typedef struct trial {
    world w;
    etl_trace *traces[2];
    u32 trace_count;
    bool is_lossy;
    workload_asked rows[ROW_QUESTIONS], cells, impacts;
    etlheap_windows_options windows;
    u32 jobs;
    u64 slice_bytes, memory_bytes_max;
} trial;

static bool open_trial(trial *t, const u8 *data, size_t size);
static void close_trial(trial *t);
static void ask_machine(trial *t, const u8 *machine);
static bool analyze(trial *t, way how, bool is_base, etlheap_result **out);
static void answer(trial *t, way how, u32 jobs, etlheap_result *result, answers *out);
static void tell_truth(trial *t, const etlheap_result *base, answers *out);
static void compare(trial *t, way how, answers *expected, answers *found);
static void check_starts(const trial *t, const etlheap_result *result);
static void free_answers(answers *a);
static u32 jobs_of(const u8 *machine);

/* Replaces the engine's event_list_open (by the linker): an event list that may keep nothing in
 * memory spills all it can, however small the trace. */
static bool spills;

void event_list_open_real(event_list *list, const timebase *base, i64 from_ticks, i64 to_ticks,
                          bool exit_frees) __asm__("__real_event_list_open");
void event_list_open_here(event_list *list, const timebase *base, i64 from_ticks, i64 to_ticks,
                          bool exit_frees) __asm__("__wrap_event_list_open");

void event_list_open_here(event_list *list, const timebase *base, i64 from_ticks, i64 to_ticks,
                          bool exit_frees)
{
    event_list_open_real(list, base, from_ticks, to_ticks, exit_frees);
    if (spills)
        list->resident_bytes_max = 0;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
    trial t = { .trace_count = 0 };
    if (size < 2 * WORLD_BYTES)
        return 0;
    if (open_trial(&t, data, size)) {
        etlheap_result *base = NULL;
        answers expected = { 0 }, found = { 0 };
        if (!analyze(&t, WAY_LIFETIMES, true, &base))
            abort();
        if (!t.is_lossy) {
            tell_truth(&t, base, &expected);
            answer(&t, WAY_LIFETIMES, 1, base, &found);
            compare(&t, WAY_LIFETIMES, &expected, &found);
        } else {
            check_starts(&t, base);
            answer(&t, WAY_LIFETIMES, 1, base, &expected);
        }
        etlheap_result_free(base);
        free_answers(&found);
        for (u32 how = 0; how < WAY_COUNT; how++) {
            /* Under a fuzzer, three of the ways, and half of the time one with frees. Threads take
             * longest, so one of either has them. */
            const u32 first = data[0] / 32;
            const u32 turn = (how + WAY_COUNT - first) % WAY_COUNT;
            const bool is_with_frees = how == WAY_FREES + first % 4;
            if (FUZZ_SAMPLE && turn > 2 && !is_with_frees)
                continue;
            t.jobs = turn == 0 || is_with_frees ? jobs_of(data) : 1;
            etlheap_result *result = NULL;
            answers other = { 0 };
            if (analyze(&t, (way)how, false, &result)) {
                answer(&t, (way)how, t.jobs, result, &other);
                compare(&t, (way)how, &expected, &other);
            }
            etlheap_result_free(result);
            free_answers(&other);
        }
        free_answers(&expected);
    }
    close_trial(&t);
    return 0;
}

static u32 jobs_of(const u8 *machine)
{
    static const u32 jobs[] = { 1, 1, 1, 1, 1, 1, 2, 7 };
    return jobs[machine[4] % ETL_COUNT_OF(jobs)];
}

/* --- traces and questions --------------------------------------------------------------- */

static bool open_built(trial *t, etl_build *b)
{
    const bool is_built = etl_build_finish(b);
    if (!is_built && t->w.is_lossy)
        return false; /* it has no buffer of that number */
    if (!is_built) {
        fprintf(stderr, "%s\n", etl_build_error(b));
        abort();
    }
    size_t size;
    const u8 *const bytes = etl_build_data(b, &size);
    etl_error err;
    if (etl_open_memory((etl_bytes){ bytes, size }, NULL, &t->traces[t->trace_count], &err) !=
        ETL_OK)
        return false;
    t->trace_count++;
    return true;
}

static bool open_trial(trial *t, const u8 *data, size_t size)
{
    world_run(&t->w, data, size);
    if (!open_built(t, t->w.system))
        return false;
    if (t->w.heap != t->w.system && !open_built(t, t->w.heap))
        return false;
    ask_machine(t, data);
    return true;
}

static void close_trial(trial *t)
{
    for (u32 i = 0; i < t->trace_count; i++)
        etl_close(t->traces[i]);
    world_close(&t->w);
}

static void ask_window(trial *t, u8 byte)
{
    const i64 all = (t->w.now - t->w.start) * 100;
    i64 from = INT64_MIN, to = INT64_MAX;
    if (byte % 16 != 0)
        from = all / 15 * (byte % 16 - 1) + 37 * (byte / 16 % 2);
    if (byte / 32 != 0)
        to = (from == INT64_MIN ? 0 : from) + all / 8 * (byte / 32) + 1;
    for (u32 i = 0; i < ROW_QUESTIONS; i++) {
        t->rows[i].from_ns = from;
        t->rows[i].to_ns = to;
    }
    t->impacts.from_ns = t->cells.from_ns = from;
    t->impacts.to_ns = t->cells.to_ns = to;
    t->windows = (etlheap_windows_options){ .size = sizeof t->windows,
                                            .every_ns = all / (1 + byte % 9) + 1 };
}

static void ask_machine(trial *t, const u8 *machine)
{
    static const etlheap_key keys[][5] = {
        { ETLHEAP_KEY_KIND, ETLHEAP_KEY_PROCESS, ETLHEAP_KEY_HEAP, ETLHEAP_KEY_TYPE,
          ETLHEAP_KEY_STACK },
        { ETLHEAP_KEY_KIND, ETLHEAP_KEY_STACK },
        { ETLHEAP_KEY_KIND, ETLHEAP_KEY_PROCESS, ETLHEAP_KEY_HEAP },
        { ETLHEAP_KEY_KIND, ETLHEAP_KEY_STACK, ETLHEAP_KEY_TYPE },
        { ETLHEAP_KEY_KIND, ETLHEAP_KEY_SIZE_CLASS, ETLHEAP_KEY_THREAD },
        { ETLHEAP_KEY_KIND, ETLHEAP_KEY_PROCESS, ETLHEAP_KEY_FREE_TYPE },
    };
    static const u32 counts[] = { 5, 2, 3, 3, 3, 3 };
    static const etlheap_key cell_keys[] = { ETLHEAP_KEY_KIND, ETLHEAP_KEY_PROCESS,
                                             ETLHEAP_KEY_HEAP, ETLHEAP_KEY_STACK };
    static const etlheap_key impact_keys[] = { ETLHEAP_KEY_KIND, ETLHEAP_KEY_IMPACTING_STACK,
                                               ETLHEAP_KEY_THREAD };
    static const u64 limits[] = { 0, 512u << 20, 64u << 20, 8u << 20, 2u << 20, 1u << 20 };
    const u8 questions = machine[6];
    const bool exit_frees = questions / 16 % 2 != 0;
    for (u32 i = 0; i < ROW_QUESTIONS; i++) {
        const u32 set = questions >> (2 * i) & 3;
        const u32 first = i == 0 ? 0 : REPORT_SETS - 2; /* the first is one for reports */
        t->rows[i] = (workload_asked){ .exit_frees = exit_frees,
                                       .keys = keys[first + set],
                                       .key_count = counts[first + set] };
    }
    t->cells = (workload_asked){ .exit_frees = exit_frees,
                                 .keys = cell_keys,
                                 .key_count = 1 + questions / 32 % ETL_COUNT_OF(cell_keys) };
    t->impacts = (workload_asked){ .exit_frees = exit_frees,
                                   .keys = impact_keys,
                                   .key_count = 2 + questions / 128 };
    ask_window(t, machine[5]);
    t->slice_bytes = machine[3] == 0 ? 0 : machine[3] < 128 ? 1 : 512u * (machine[3] - 127u);
    t->jobs = 1;
    t->memory_bytes_max = limits[machine[4] / 8 % ETL_COUNT_OF(limits)];
    t->is_lossy = t->w.is_lossy;
}

etlheap_query workload_query(const workload_asked *question, u32 jobs)
{
    etlheap_query query = etlheap_query_default();
    query.from_ns = question->from_ns;
    query.to_ns = question->to_ns;
    query.at_exit_freed = question->exit_frees;
    query.jobs = jobs;
    query.group_by_count = question->key_count;
    memcpy(query.group_by, question->keys, question->key_count * sizeof *question->keys);
    return query;
}

/* --- ways to a result ------------------------------------------------------------------- */

/* The question that a way is opened for. */
static const workload_asked *question_of(const trial *t, way how)
{
    const bool has_windows = how == WAY_WINDOWS || how == WAY_WINDOWS_SPILLED;
    const bool has_frees = how == WAY_FREES || how == WAY_STORE_FREES;
    return has_windows ? &t->cells : has_frees ? &t->impacts : &t->rows[0];
}

/* Was it refused because it takes more memory than is allowed? */
static bool is_refused(etl_status status, const etl_error *err)
{
    if (status == ETL_OK)
        return false;
    if (status != ETL_ERR_LIMIT) {
        fprintf(stderr, "%s\n", err->message);
        abort();
    }
    return true;
}

static bool analyze_traces(trial *t, const etlheap_options *options, etlheap_result **out)
{
    static const char *const trace_names[] = { "system.etl", "heap.etl" };
    etl_error err;
    return !is_refused(etlheap_analyze(t->traces, trace_names, t->trace_count, options, out, &err),
                       &err);
}

static bool analyze_store(trial *t, way how, const etlheap_options *options, etlheap_result **out)
{
    store_bytes bytes = { .at = NULL };
    const etlheap_store_options store = { .size = sizeof store,
                                          .write = store_bytes_keep,
                                          .user = &bytes };
    const etlheap_query query = workload_query(question_of(t, how), t->jobs);
    etlheap_options writing = *options;
    etlheap_result *facts = NULL;
    etl_error err;
    writing.store = &store;
    bool ok = analyze_traces(t, &writing, &facts);
    const etlheap_options reading = { .size = sizeof reading,
                                      ASKED_IF(how != WAY_STORE, ETLHEAP_ASK_TABLE, &query, NULL) };
    if (ok) {
        const char *const path = fuzz_file(bytes.at, bytes.size);
        ok = !is_refused(etlheap_open_store(path, &reading, out, &err), &err);
    }
    etlheap_result_free(facts);
    free(bytes.at);
    return ok;
}

/* A log that may have no memory for its own bytes. */
static bool analyze_in_file(trial *t, const etlheap_options *options, etlheap_result **out)
{
    static const char *const trace_names[] = { "system.etl", "heap.etl" };
    const traces_named traces = { t->traces, trace_names, t->trace_count };
    const log_run_options log = { .needs = NEEDS_ADDRESSES | NEEDS_THREADS };
    etl_error err;
    return !is_refused(log_run(&traces, options, &log, out, &err), &err);
}

/* The kind of question that a way is opened for. */
static etlheap_question_kind way_kind(way how)
{
    return how == WAY_WINDOWS || how == WAY_WINDOWS_SPILLED ? ETLHEAP_ASK_WINDOWS
           : how == WAY_LOG                                 ? ETLHEAP_ASK_EVENTS
                                                            : ETLHEAP_ASK_TABLE;
}

static bool analyze(trial *t, way how, bool is_base, etlheap_result **out)
{
    const bool has_windows = how == WAY_WINDOWS || how == WAY_WINDOWS_SPILLED;
    const bool has_report = has_windows || how == WAY_EVENT_LIST || how == WAY_SPILLED ||
                            how == WAY_SUMS || how == WAY_LOG || how == WAY_FREES;
    etlheap_query query = workload_query(question_of(t, how), t->jobs);
    etlheap_options options = { .size = sizeof options,
                                .jobs = is_base ? 1 : t->jobs,
                                .memory_bytes_max = is_base ? 0 : t->memory_bytes_max,
                                .slice_bytes = is_base ? 0 : t->slice_bytes,
                                ASKED_IF(has_report, way_kind(how), &query, &t->windows) };
    query.sums_only = how == WAY_SUMS;
    spills = how == WAY_SPILLED || how == WAY_WINDOWS_SPILLED || how == WAY_LOG_FILE;
    const char *const folder = getenv("TMPDIR");
    options.temporary_folder = !spills ? NULL : folder != NULL ? folder : ".";
    const bool from_store = how == WAY_STORE || how == WAY_STORE_REPORT || how == WAY_STORE_FREES;
    const bool ok = from_store            ? analyze_store(t, how, &options, out)
                    : how == WAY_LOG_FILE ? analyze_in_file(t, &options, out)
                                          : analyze_traces(t, &options, out);
    spills = false;
    return ok;
}

/* --- answers ---------------------------------------------------------------------------- */

static void answer_rows(const workload_asked *question, u32 jobs, const etlheap_result *result,
                        workload_lines *out)
{
    const etlheap_query query = workload_query(question, jobs);
    etlheap_table *table = NULL;
    etl_error err;
    if (is_refused(etlheap_aggregate(result, &query, &table, &err), &err))
        abort();
    workload_told_rows(table, out);
    etlheap_table_free(table);
}

/* Without peaks, or with how fast and steadily rows grow. */
static void answer_more(const trial *t, bool with_growth, u32 jobs, const etlheap_result *result,
                        workload_lines *out)
{
    etlheap_query query = workload_query(with_growth ? &t->cells : &t->rows[0], jobs);
    query.sums_only = !with_growth;
    query.growth = with_growth;
    etlheap_table *table = NULL;
    etl_error err;
    if (is_refused(etlheap_aggregate(result, &query, &table, &err), &err))
        abort();
    workload_told_rows(table, out);
    etlheap_table_free(table);
}

static etlheap_windows *make_windows(const trial *t, u32 jobs, const etlheap_result *result)
{
    const etlheap_query query = workload_query(&t->cells, jobs);
    etlheap_windows *windows = NULL;
    etl_error err;
    if (is_refused(etlheap_windows_make(result, &query, &t->windows, &windows, &err), &err))
        abort();
    return windows;
}

static void answer_buckets(const trial *t, const etlheap_result *result, etlheap_histogram_by by,
                           workload_lines *out)
{
    const etlheap_query query = workload_query(&t->rows[0], 1);
    const etlheap_histogram *histogram = NULL;
    etl_error err;
    if (is_refused(etlheap_histogram_make(result, &query, by, &histogram, &err), &err))
        abort();
    workload_told_buckets(histogram, out);
    etlheap_histogram_free(histogram);
}

/* A result of a report does not know who freed a block, and its size. */
static u32 questions_for(const trial *t, way how)
{
    const etlheap_query query = workload_query(&t->rows[1], 1);
    if (!abilities[how].rows)
        return 0;
    return abilities[how].lifetimes || !query_needs(&query, NEEDS_BLOCKS) ? 2 : 1;
}

static void answer(trial *t, way how, u32 jobs, etlheap_result *result, answers *out)
{
    const way_can *const can = &abilities[how];
    if (can->lifetimes)
        workload_told_lifetimes(result, &out->lifetimes);
    for (u32 i = 0; i < questions_for(t, how); i++)
        answer_rows(&t->rows[i], jobs, result, &out->rows[i]);
    if (can->impacts)
        answer_rows(&t->impacts, jobs, result, &out->impacts);
    if (can->sums)
        answer_more(t, false, jobs, result, &out->sums);
    if (can->growth)
        answer_more(t, true, jobs, result, &out->growth);
    if (can->cells) {
        etlheap_windows *const windows = make_windows(t, jobs, result);
        workload_told_cells(windows, &out->cells);
        etlheap_windows_free(windows);
    }
    for (u32 by = 0; by < ETLHEAP_HISTOGRAM_BY_COUNT && can->buckets; by++)
        answer_buckets(t, result, (etlheap_histogram_by)by, &out->buckets[by]);
}

/* Windows follow each other from the start of the question to its end. */
static void check_windows(const trial *t, const etlheap_windows *windows)
{
    i64 at = t->cells.from_ns == INT64_MIN ? 0 : t->cells.from_ns;
    for (u32 i = 0; i < windows->window_count; i++) {
        const etlheap_time_range *const range = &windows->windows[i];
        const bool is_last = i + 1 == windows->window_count;
        if (range->from_ns != at || (!is_last && range->to_ns - at != t->windows.every_ns))
            abort();
        at = range->to_ns;
    }
    if (t->cells.to_ns != INT64_MAX && at != t->cells.to_ns)
        abort();
}

/* Tells the truth. The engine only says which windows there are. */
static void tell_truth(trial *t, const etlheap_result *base, answers *out)
{
    workload_true_lifetimes(&t->w, &out->lifetimes);
    for (u32 i = 0; i < ROW_QUESTIONS; i++)
        workload_true_rows(&t->w, &t->rows[i], true, &out->rows[i]);
    workload_true_rows(&t->w, &t->impacts, true, &out->impacts);
    workload_true_rows(&t->w, &t->rows[0], false, &out->sums);
    answer_more(t, true, 1, base, &out->growth); /* which must be the same on all ways */
    etlheap_windows *const windows = make_windows(t, 1, base);
    check_windows(t, windows);
    workload_true_cells(&t->w, &t->cells, windows, &out->cells);
    etlheap_windows_free(windows);
    for (u32 by = 0; by < ETLHEAP_HISTOGRAM_BY_COUNT; by++)
        workload_true_buckets(&t->w, &t->rows[0], (etlheap_histogram_by)by, &out->buckets[by]);
}

static void compare_one(const trial *t, way how, const char *what, workload_lines *expected,
                        workload_lines *found)
{
    if (!workload_lines_differ(expected, found))
        return;
    fprintf(stderr, "in the %s of: %s, %u jobs, slices of %" PRIu64 ", memory %" PRIu64 "%s\n",
            what, way_names[how], t->jobs, t->slice_bytes, t->memory_bytes_max,
            t->is_lossy ? ", lossy" : "");
    abort();
}

static void compare(trial *t, way how, answers *expected, answers *found)
{
    const way_can *const can = &abilities[how];
    if (can->impacts && expected->impacts.at.count == 0) { /* the first that tells */
        expected->impacts = found->impacts;
        found->impacts = (workload_lines){ .at = { .at = NULL } };
    } else if (can->impacts)
        compare_one(t, how, "impacts", &expected->impacts, &found->impacts);
    if (can->lifetimes)
        compare_one(t, how, "lifetimes", &expected->lifetimes, &found->lifetimes);
    for (u32 i = 0; i < questions_for(t, how); i++)
        compare_one(t, how, "rows", &expected->rows[i], &found->rows[i]);
    if (can->sums)
        compare_one(t, how, "sums", &expected->sums, &found->sums);
    if (can->growth)
        compare_one(t, how, "growth", &expected->growth, &found->growth);
    if (can->cells)
        compare_one(t, how, "windows", &expected->cells, &found->cells);
    for (u32 by = 0; by < ETLHEAP_HISTOGRAM_BY_COUNT && can->buckets; by++)
        compare_one(t, how, "histogram", &expected->buckets[by], &found->buckets[by]);
}

static void free_answers(answers *a)
{
    workload_lines_free(&a->lifetimes);
    workload_lines_free(&a->cells);
    workload_lines_free(&a->sums);
    workload_lines_free(&a->growth);
    workload_lines_free(&a->impacts);
    for (u32 i = 0; i < ROW_QUESTIONS; i++)
        workload_lines_free(&a->rows[i]);
    for (u32 by = 0; by < ETLHEAP_HISTOGRAM_BY_COUNT; by++)
        workload_lines_free(&a->buckets[by]);
}

/* --- loss ------------------------------------------------------------------------------- */

static bool has_start(const world *w, const etlheap_lifetime *row, u32 pid)
{
    for (size_t i = 0; i < w->lives.count; i++) {
        const world_life *const life = &w->lives.at[i];
        if (life->kind == ETLHEAP_KIND_HEAP && w->ids.at[life->process].pid == pid &&
            life->heap == row->heap_handle && life->address == row->address &&
            life->size == row->size_bytes &&
            (life->alloc_ticks == row->alloc_ticks || life->summary_ticks == row->alloc_ticks))
            return true;
    }
    return false;
}

/* Checks that each block begins where a record says so, whatever was lost. */
static void check_starts(const trial *t, const etlheap_result *result)
{
    const etlheap_query query = etlheap_query_default();
    etlheap_lifetimes *walk = NULL;
    etlheap_lifetime row;
    etl_error err;
    if (is_refused(etlheap_lifetimes_open(result, &query, NULL, &walk, &err), &err))
        abort();
    while (etlheap_lifetimes_next(walk, &row)) {
        const u32 pid = etlheap_process_of(result, row.process)->pid;
        if (row.kind == ETLHEAP_KIND_HEAP && !has_start(&t->w, &row, pid)) {
            fprintf(stderr, "no record opens %" PRIx64 " at %" PRId64 "\n", row.address,
                    row.alloc_ticks);
            abort();
        }
    }
    etlheap_lifetimes_close(walk);
}
