/*
 * bench_types.c - measures the four-way question over lifetimes in memory: which of them were
 * allocated and freed inside or outside a window, by stack.
 *
 *     bench_types TRACE THREADS [ROWS.csv]
 *
 * In: a trace, whose analysis is not timed. Out: the seconds of each question. ROWS.csv gets the
 * rows for another program, which takes turns with this one: allocation and free time in ns (the
 * largest 64-bit number if never freed), size, stack. Both follow the protocol of Peer in
 * bench_measure.py:
 *
 *     prints one line of JSON       ready: rows and window
 *     for each line it reads        asks once, through the engine's interface, for the totals by
 *                                   type and stack of the middle half of the trace, and prints
 *                                   the seconds
 *     when there are no more lines  prints JSON: groups, count and size by type
 *
 * Invariant: the other program must find the same totals, or the comparison measures nothing.
 */
#include "bench.h"

#include "engine/engine.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct type_sums {
    u64 groups; /* stacks that have lifetimes of the type */
    i64 count;
    i64 size;
} type_sums;

typedef struct question {
    const etlheap_result *result;
    etlheap_query query;
    type_sums sums[ETLHEAP_TYPE_COUNT];
} question;

static etlheap_result *analyze(const char *path, u32 threads, etl_trace **trace);
static u64 count_rows(const etlheap_result *result);
static question make_question(const etlheap_result *result, u32 threads);
static bool ask(question *q, double *seconds);
static bool write_rows(const question *q, const char *path);
static void write_segment(const question *q, const etlheap_segment *s, FILE *file);
static void print_ready(const question *q);
static bool take_turns(question *q);
static void print_answer(const question *q);

int main(int argc, char **argv)
{
    const int threads = argc >= 3 ? atoi(argv[2]) : 0;
    if (argc > 4 || threads < 1) {
        fprintf(stderr, "usage: bench_types TRACE THREADS [ROWS.csv]\n");
        return 2;
    }
    etl_trace *trace;
    etlheap_result *const result = analyze(argv[1], (u32)threads, &trace);
    if (result == NULL)
        return 1;
    question q = make_question(result, (u32)threads);
    bool ok = argc < 4 || write_rows(&q, argv[3]);
    if (ok) {
        print_ready(&q);
        ok = take_turns(&q);
    }
    if (ok)
        print_answer(&q);
    etlheap_result_free(result);
    etl_close(trace);
    return ok ? 0 : 1;
}

static etlheap_result *analyze(const char *path, u32 threads, etl_trace **trace)
{
    etl_error error;
    etlheap_result *result = NULL;
    const etlheap_options options = { .size = sizeof options, .jobs = threads };
    *trace = NULL;
    if (etl_open(path, NULL, trace, &error) == ETL_OK &&
        etlheap_analyze(trace, &path, 1, &options, &result, &error) == ETL_OK)
        return result;
    fprintf(stderr, "bench_types: %s: %s\n", path, error.message);
    etl_close(*trace);
    return NULL;
}

/* The middle half of the trace: every type occurs. The trace has heaps alone: ranges with the stack
 * of a block would be a row of their own. */
static question make_question(const etlheap_result *result, u32 threads)
{
    const i64 end_ns = etlheap_result_trace(result)->end_ns;
    question q = { .result = result, .query = etlheap_query_default() };
    q.query.from_ns = end_ns / 4;
    q.query.to_ns = end_ns / 4 * 3;
    q.query.jobs = threads;
    q.query.sums_only = true;
    q.query.group_by[0] = ETLHEAP_KEY_TYPE;
    q.query.group_by[1] = ETLHEAP_KEY_STACK;
    q.query.group_by_count = 2;
    return q;
}

static bool ask(question *q, double *seconds)
{
    etlheap_table *table;
    etl_error error;
    const double begin = bench_now_seconds();
    const etl_status status = etlheap_aggregate(q->result, &q->query, &table, &error);
    *seconds = bench_now_seconds() - begin;
    if (status != ETL_OK) {
        fprintf(stderr, "bench_types: %s\n", error.message);
        return false;
    }
    memset(q->sums, 0, sizeof q->sums);
    for (u32 i = 0; i < table->row_count; i++) {
        const etlheap_row *const row = &table->rows[i];
        type_sums *const sums = &q->sums[row->type];
        sums->groups++;
        sums->count += row->measures[ETLHEAP_MEASURE_COUNT];
        sums->size += row->measures[ETLHEAP_MEASURE_SIZE];
    }
    etlheap_table_free(table);
    return true;
}

static u64 count_rows(const etlheap_result *result)
{
    u64 rows = 0;
    for (u32 i = 0; i < etlheap_segment_count(result); i++)
        rows += etlheap_segment_of(result, i).rows;
    return rows;
}

static bool write_rows(const question *q, const char *path)
{
    FILE *const file = fopen(path, "w");
    if (file == NULL) {
        fprintf(stderr, "bench_types: cannot create %s\n", path);
        return false;
    }
    fprintf(file, "a,f,size,stack\n");
    for (u32 i = 0; i < etlheap_segment_count(q->result); i++) {
        const etlheap_segment segment = etlheap_segment_of(q->result, i);
        write_segment(q, &segment, file);
    }
    return fclose(file) == 0;
}

static void write_segment(const question *q, const etlheap_segment *s, FILE *file)
{
    for (u32 i = 0; i < s->rows; i++) {
        const i64 freed = s->free_ticks[i];
        fprintf(
            file, "%lld,%lld,%llu,%u\n", (long long)etlheap_time_ns(q->result, s->alloc_ticks[i]),
            (long long)(freed == ETLHEAP_TICKS_NEVER ? freed : etlheap_time_ns(q->result, freed)),
            (unsigned long long)s->size_bytes[i], s->stack[i]);
    }
}

static void print_ready(const question *q)
{
    printf("{\"rows\":%llu,\"stacks\":%u,\"from_ns\":%lld,\"to_ns\":%lld}\n",
           (unsigned long long)count_rows(q->result), etlheap_stack_count(q->result),
           (long long)q->query.from_ns, (long long)q->query.to_ns);
    fflush(stdout);
}

static bool take_turns(question *q)
{
    for (int c = getchar(); c != EOF; c = getchar()) {
        double seconds;
        if (c != '\n')
            continue;
        if (!ask(q, &seconds))
            return false;
        printf("%.6f\n", seconds);
        fflush(stdout);
    }
    return true;
}

static void print_answer(const question *q)
{
    for (u32 t = 0; t < ETLHEAP_TYPE_COUNT; t++)
        printf("%s\"%s\":[%llu,%lld,%lld]", t == 0 ? "{" : ",", etlheap_type_name((etlheap_type)t),
               (unsigned long long)q->sums[t].groups, (long long)q->sums[t].count,
               (long long)q->sums[t].size);
    printf("}\n");
}
