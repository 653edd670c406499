/*
 * fault_matrix.c - what can become of a trace, and what must become of it.
 *
 *     fault_matrix [--every N] [--check-every N] [--shrink N] TRACE...
 *
 * Every input of every harm (fault_inputs.h) to every trace named, and traces that
 * are too large in one way (fault_large.h), are analyzed in a child process as
 * `report` and `dump` do. A child that dies or takes too long costs the input at
 * hand, which is named; the next child goes on behind it. What else must hold:
 *
 *     what promises to be told gives a diagnostic of damage or loss more than the
 *     sound trace does, or an error with a message;
 *     what cannot give more records than the sound trace does not;
 *     with --check-every, some inputs give the same on all ways (trace_check.h).
 *
 * --every N takes every Nth input of the harms that have many, --shrink N makes
 * the large traces smaller by that factor. The last line has the sums.
 */
#define _GNU_SOURCE 1 /* wait4 */

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "engine/engine.h"
#include "fault_inputs.h"
#include "fault_large.h"
#include "fuzz/trace_check.h"
#include "tests/support/asked.h"

#define SECONDS_MAX       10u /* of a small input; sanitizers and busy machines included */
#define SECONDS_MAX_LARGE 120u
#define MEMORY_BYTES_MAX  ((u64)1 << 30)
#define FEW               200u /* of a harm's inputs: then all of them are taken */
#define SHOWN_MAX         20u

/* What an analysis says. */
typedef struct answer {
    bool refused;
    u64 told; /* diagnostics of damage and loss, and of our limits */
    u64 records;
} answer;

/* Between a child and its parent. */
typedef struct board {
    u64 next;   /* number of the input at hand */
    u64 inputs; /* finished */
    u64 silent; /* harm that was not told */
    u64 more;   /* more records than there are */
    u64 first_silent, first_more;
    double seconds_max;
} board;

typedef struct totals {
    u64 inputs, crashes, hangs, silent, more, shown;
    double seconds_max;
    long rss_kib_max;
} totals;

/* One harm to one material, or one large trace. */
typedef struct task {
    const fault_material *material;
    const fault_harm *harm;
    const char *path; /* of a large trace, else NULL */
    u64 count, step, check_step;
    unsigned seconds_max;
    answer sound;
    u8 *room;
} task;

static board *shared;

static double now_seconds(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static u64 count_told(const etl_diag_counts *counts)
{
    u64 told = 0;
    for (int i = 0; i < ETL_DIAG_COUNT; i++) {
        if (etl_diag_describe((etl_diag)i)->severity != ETL_SEVERITY_INFO)
            told = etl_sat_add_u64(told, counts->of[i]);
    }
    return told;
}

static void walk_records(etl_trace *trace)
{
    etlheap_stream *stream = NULL;
    etlheap_stream_record row;
    etl_diag_counts ignored = { { 0 } };
    if (etlheap_stream_open(&trace, 1, &stream, NULL) != ETL_OK)
        return;
    while (etlheap_stream_next(stream, &row)) {
        etl_event event;
        (void)etl_decode(&row.record, &event, &ignored);
    }
    etlheap_stream_close(stream);
}

/* A refusal without a reason is none: it dies. */
static answer analyze(etl_trace *trace, etl_status opened, etl_error *err)
{
    static const char *const name = "fault.etl";
    etlheap_query query = etlheap_query_default();
    query.jobs = 1;
    const etlheap_options options = {
        .size = sizeof options, .jobs = 1, .memory_bytes_max = MEMORY_BYTES_MAX, ASKED_TABLE(&query)
    };
    etlheap_result *result = NULL;
    etlheap_table *table = NULL;
    answer got = { .refused = true };
    etl_status status = opened;
    if (status == ETL_OK)
        status = etlheap_analyze(&trace, &name, 1, &options, &result, err);
    if (status == ETL_OK)
        status = etlheap_aggregate(result, &query, &table, err);
    if (status == ETL_OK) {
        got = (answer){ .told = count_told(&table->diagnostics),
                        .records = etlheap_result_trace(result)->events };
        walk_records(trace);
    } else if (err->status != status || err->message[0] == '\0') {
        abort();
    }
    etlheap_table_free(table);
    etlheap_result_free(result);
    etl_close(trace);
    return got;
}

/* A copy of exactly its size, behind which nothing may be read. */
static answer analyze_bytes(const u8 *bytes, size_t size)
{
    etl_trace *trace = NULL;
    etl_error err = { .status = ETL_OK };
    u8 *const exact = malloc(size + (size == 0));
    if (exact == NULL)
        abort();
    if (size > 0)
        memcpy(exact, bytes, size);
    const etl_status status = etl_open_memory((etl_bytes){ exact, size }, NULL, &trace, &err);
    const answer got = analyze(trace, status, &err);
    free(exact);
    return got;
}

static answer analyze_file(const char *path)
{
    etl_trace *trace = NULL;
    etl_error err = { .status = ETL_OK };
    const etl_status status = etl_open(path, NULL, &trace, &err);
    return analyze(trace, status, &err);
}

static void judge(const task *t, u64 number, size_t size, const answer *got)
{
    const bool told = got->refused || got->told > t->sound.told;
    const bool whole = size == t->material->size && memcmp(t->room, t->material->bytes, size) == 0;
    if (fault_is_told(t->material, t->harm, number) && !told && !whole && shared->silent++ == 0)
        shared->first_silent = number;
    if ((t->harm->promises & FAULT_NO_MORE) != 0 && got->records > t->sound.records &&
        shared->more++ == 0)
        shared->first_more = number;
}

static void try_one(const task *t, u64 number)
{
    if (t->path != NULL) {
        (void)analyze_file(t->path);
        return;
    }
    const size_t size = t->harm->make(t->material, number, t->room);
    const answer got = analyze_bytes(t->room, size);
    judge(t, number, size, &got);
    if (t->check_step != 0 && (number / t->step) % t->check_step == 0)
        trace_check(t->room, size, 0);
}

/* In a child: all inputs from the one that is next. */
static void try_rest(const task *t)
{
    for (; shared->next < t->count; shared->next += t->step) {
        const double begun = now_seconds();
        (void)alarm(t->seconds_max);
        try_one(t, shared->next);
        const double seconds = now_seconds() - begun;
        if (seconds > shared->seconds_max)
            shared->seconds_max = seconds;
        shared->inputs++;
    }
    exit(0); /* and so past the search for leaks */
}

static const char *name_of(const task *t)
{
    return t->harm == NULL ? t->path : t->harm->name;
}

static void note(totals *sums, const task *t, u64 number, const char *what)
{
    if (sums->shown++ < SHOWN_MAX)
        printf("# %s, %s, number %" PRIu64 ": %s\n", t->material ? t->material->name : "large",
               name_of(t), number, what);
}

/* False when a child could not be made. */
static bool try_in_child(const task *t, totals *sums)
{
    struct rusage usage;
    int status = 0;
    (void)fflush(stdout);
    const pid_t child = fork();
    if (child == 0)
        try_rest(t);
    if (child < 0)
        return false;
    while (wait4(child, &status, 0, &usage) < 0 && errno == EINTR)
        continue;
    if (usage.ru_maxrss > sums->rss_kib_max)
        sums->rss_kib_max = usage.ru_maxrss;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return true;
    const bool hangs = WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM;
    note(sums, t, shared->next,
         WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "stopped by a sanitizer");
    sums->hangs += hangs;
    sums->crashes += !hangs;
    shared->next += t->step;
    shared->inputs++;
    return true;
}

static void run(const task *t, totals *sums)
{
    *shared = (board){ .next = 0 };
    do {
        if (!try_in_child(t, sums)) {
            perror("fork");
            exit(2);
        }
    } while (shared->next < t->count);
    sums->inputs += shared->inputs;
    sums->silent += shared->silent;
    sums->more += shared->more;
    if (shared->seconds_max > sums->seconds_max)
        sums->seconds_max = shared->seconds_max;
    if (shared->silent > 0)
        note(sums, t, shared->first_silent, "the first whose damage is not told");
    if (shared->more > 0)
        note(sums, t, shared->first_more, "the first with more records than there are");
    if (t->path == NULL)
        printf("# %-28s %-34s %7" PRIu64 " inputs\n", t->material->name, name_of(t),
               shared->inputs);
    else
        printf("# %-50s %.2f s, %.0f MiB so far\n", t->path, shared->seconds_max,
               (double)sums->rss_kib_max / 1024);
}

/* --- what to run ---------------------------------------------------------------- */

typedef struct plan {
    u64 every, check_every, shrink;
} plan;

static u8 *read_file(const char *path, size_t *size)
{
    FILE *const file = fopen(path, "rb");
    long end = -1;
    u8 *bytes = NULL;
    if (file != NULL && fseek(file, 0, SEEK_END) == 0)
        end = ftell(file);
    if (end > 0 && fseek(file, 0, SEEK_SET) == 0)
        bytes = malloc((size_t)end);
    if (bytes != NULL && fread(bytes, 1, (size_t)end, file) != (size_t)end) {
        free(bytes);
        bytes = NULL;
    }
    if (file != NULL)
        (void)fclose(file);
    *size = (size_t)end;
    return bytes;
}

static bool harm_file(const char *path, const plan *p, totals *sums)
{
    fault_material material;
    size_t size = 0;
    u8 *const bytes = read_file(path, &size);
    const char *const slash = strrchr(path, '/');
    if (bytes == NULL || !fault_material_open(&material, slash ? slash + 1 : path, bytes, size)) {
        fprintf(stderr, "fault_matrix: %s: no trace\n", path);
        return false;
    }
    task t = { .material = &material,
               .check_step = p->check_every,
               .seconds_max = SECONDS_MAX,
               .sound = analyze_bytes(bytes, size),
               .room = malloc(2 * size + 1) };
    for (size_t i = 0; t.room != NULL && i < fault_harm_count; i++) {
        t.harm = &fault_harms[i];
        t.count = t.harm->count(&material);
        t.step = t.count > FEW ? p->every : 1;
        if (t.count > 0)
            run(&t, sums);
    }
    free(t.room);
    fault_material_close(&material);
    return true;
}

static bool run_large(const plan *p, totals *sums)
{
    char path[128];
    const char *const folder = getenv("TEST_TMP");
    for (size_t i = 0; i < fault_large_count; i++) {
        const fault_large *const large = &fault_larges[i];
        (void)snprintf(path, sizeof path, "%s/large-%d-%zu.etl", folder ? folder : ".",
                       (int)getpid(), i);
        const u64 count = large->full / p->shrink;
        const bool written = large->write(path, count > 0 ? count : 1);
        const task t = { .path = path, .count = 1, .step = 1, .seconds_max = SECONDS_MAX_LARGE };
        printf("# %s, divided by %" PRIu64 "\n", large->name, p->shrink);
        if (written)
            run(&t, sums);
        (void)remove(path);
        if (!written)
            return false;
    }
    return true;
}

int main(int argc, char **argv)
{
    plan p = { .every = 1, .check_every = 0, .shrink = 1 };
    totals sums = { 0 };
    int first = 1;
    for (; first + 1 < argc && argv[first][0] == '-'; first += 2) {
        const u64 value = strtoull(argv[first + 1], NULL, 10);
        u64 *const to = strcmp(argv[first], "--every") == 0         ? &p.every
                        : strcmp(argv[first], "--check-every") == 0 ? &p.check_every
                                                                    : &p.shrink;
        *to = value;
    }
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED || p.every == 0 || p.shrink == 0)
        return 2;
    for (int i = first; i < argc; i++) {
        if (!harm_file(argv[i], &p, &sums))
            return 2;
    }
    if (!run_large(&p, &sums))
        return 2;
    printf("%" PRIu64 " inputs, %" PRIu64 " crashes, %" PRIu64 " hangs, %" PRIu64
           " not told, %" PRIu64 " with too many records, max RSS %.0f MiB, max time %.2f s\n",
           sums.inputs, sums.crashes, sums.hangs, sums.silent, sums.more,
           (double)sums.rss_kib_max / 1024, sums.seconds_max);
    return sums.crashes + sums.hangs + sums.silent + sums.more == 0 ? 0 : 1;
}
