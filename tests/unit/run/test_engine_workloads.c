/*
 * Goal: the analysis of a random workload is what the workload's own model says,
 * and the same whatever the slices, the number of threads and the spread over
 * files.
 * Method: workloads of several seeds and session kinds written by the builder;
 * lifetimes, results and tables compared as text.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "engine/result/result.h"
#include "tests/support/long_tests.h"
#include "tests/support/run_check.h"
#include "tests/build/workload.h"

/* A kind of session. */
typedef struct variety {
    const char *name;
    etl_build_options build;
    workload_options work;
} variety;

static const variety varieties[] = {
    { .name = "plain", .build = { .buffer_bytes = 4096 } },
    { .name = "keyed and compressed",
      .build = { .buffer_bytes = 16384,
                 .compress = true,
                 .keyed_stacks = true,
                 .stack_key_slots = 32 } },
    { .name = "threadless VirtualAlloc",
      .build = { .buffer_bytes = 4096, .virtual_alloc_without_tid = true },
      .work = { .tidless = true } },
    { .name = "rundown at the end only",
      .build = { .buffer_bytes = 8192, .keyed_stacks = true, .header_records = true },
      .work = { .end_rundown_only = true } },
    { .name = "idle buffers",
      .build = { .buffer_bytes = 65536, .cpus = 16 },
      .work = { .cpus = 16 } },
};

/* A variety's workload of a seed, as one trace. */
static workload *write_one(check_traces *traces, const variety *kind, u64 seed)
{
    workload_options options = kind->work;
    options.seed = seed;
    workload *const w = workload_random(&options);
    etl_build *const b = etl_build_new(&kind->build);
    workload_write(w, b, b);
    check_open(traces, b);
    return w;
}

/* The same as a kernel session and a heap session. Keys are unique in a system,
 * which two builders know nothing of: the heap session has none. */
static workload *write_two(check_traces *traces, const variety *kind, u64 seed)
{
    workload_options options = kind->work;
    options.seed = seed;
    workload *const w = workload_random(&options);
    etl_build *const system = etl_build_new(&kind->build);
    etl_build_options keyless = kind->build;
    keyless.keyed_stacks = false;
    etl_build *const heap = etl_build_new(&keyless);
    workload_write(w, system, heap);
    check_open(traces, system);
    check_open(traces, heap);
    return w;
}

/* --- the model's lifetimes ------------------------------------------------------- */

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Sorted lines, one after the other; both are freed. */
static char *join_lines(char **lines, size_t count)
{
    size_t size = 1;
    for (size_t i = 0; i < count; i++)
        size += strlen(lines[i]) + 1;
    char *const all = malloc(size);
    assert_non_null(all);
    qsort(lines, count, sizeof *lines, by_text);
    char *to = all;
    for (size_t i = 0; i < count; i++) {
        const size_t length = strlen(lines[i]);
        memcpy(to, lines[i], length);
        to[length] = '\n';
        to += length + 1;
        free(lines[i]);
    }
    *to = '\0';
    free(lines);
    return all;
}

static char *truth_line(const workload *w, const workload_lifetime *life)
{
    char *line = NULL;
    size_t size = 0;
    FILE *const out = open_memstream(&line, &size);
    assert_non_null(out);
    const i64 end = life->ft == WORKLOAD_FREE_NONE ? ETLHEAP_TICKS_NEVER : life->f;
    fprintf(out, "%s %s %u heap %" PRIx64 " at %" PRIx64 " size %" PRIu64,
            workload_kind_name(life->kind), workload_process_name(w, life->process),
            workload_process_pid(w, life->process), life->heap, life->address, life->size);
    fprintf(out, " %" PRId64 "..%" PRId64 " %s %d:", life->a, end,
            workload_free_type_name(life->ft), life->is_realloc);
    char text[64];
    for (u32 i = 0; life->stack != WORKLOAD_NONE && workload_stack_text(w, life->stack, i, text);
         i++)
        fprintf(out, " %s", text);
    assert_int_equal(fclose(out), 0);
    return line;
}

static char *truth_text(const workload *w)
{
    workload_truth truth = workload_truth_of(w);
    char **const lines = calloc(truth.count + 1, sizeof *lines);
    assert_non_null(lines);
    for (u32 i = 0; i < truth.count; i++)
        lines[i] = truth_line(w, &truth.lifetimes[i]);
    char *const all = join_lines(lines, truth.count);
    workload_truth_free(&truth);
    return all;
}

static void put_frame(FILE *out, const etlheap_result *result, u32 pid, u64 address, i64 ticks)
{
    const u32 found =
        modules_find(&result->modules, &(module_space){ .pid = pid, .ticks = ticks }, address);
    if (found == UINT32_MAX) {
        fprintf(out, " 0x%" PRIx64, address);
        return;
    }
    const etlheap_module_info *const module = etlheap_module_of(result, found);
    fputc(' ', out);
    for (const char *at = module->name; *at != '\0'; at++)
        fputc(*at >= 'A' && *at <= 'Z' ? *at + 32 : *at, out);
    fprintf(out, "+0x%" PRIx64, address - module->base);
}

static char *result_line(const etlheap_result *result, const etlheap_segment *rows, u32 at)
{
    char *line = NULL;
    size_t size = 0;
    FILE *const out = open_memstream(&line, &size);
    assert_non_null(out);
    const etlheap_process_info *const process =
        etlheap_process_of(result, (etlheap_process){ rows->process[at] });
    fprintf(out, "%s %s %u heap %" PRIx64 " at %" PRIx64 " size %" PRIu64,
            etlheap_kind_name(rows->kind[at]), process->name, process->pid, rows->heap_handle[at],
            rows->address[at], rows->size_bytes[at]);
    fprintf(out, " %" PRId64 "..%" PRId64 " %s %d:", rows->alloc_ticks[at], rows->free_ticks[at],
            etlheap_free_type_name(rows->free_type[at]), rows->is_realloc[at]);
    if (rows->stack[at] != 0) {
        const etlheap_frames frames =
            etlheap_stack_frames(result, (etlheap_stack){ rows->stack[at] });
        for (u32 i = 0; i < frames.count; i++)
            put_frame(out, result, process->pid, frames.addresses[i], rows->alloc_ticks[at]);
    }
    assert_int_equal(fclose(out), 0);
    return line;
}

static char *result_text(const etlheap_result *result)
{
    size_t count = 0;
    for (u32 s = 0; s < etlheap_segment_count(result); s++)
        count += etlheap_segment_of(result, s).rows;
    char **const lines = calloc(count + 1, sizeof *lines);
    assert_non_null(lines);
    count = 0;
    for (u32 s = 0; s < etlheap_segment_count(result); s++) {
        const etlheap_segment rows = etlheap_segment_of(result, s);
        for (u32 at = 0; at < rows.rows; at++)
            lines[count++] = result_line(result, &rows, at);
    }
    return join_lines(lines, count);
}

static void lifetimes_are_those_of_the_model(void **state)
{
    (void)state;
    for (size_t i = 0; i < ETL_COUNT_OF(varieties); i++) {
        for (u64 seed = 1; seed <= 3; seed++) {
            check_traces traces = { 0 };
            workload *const w = write_one(&traces, &varieties[i], seed);
            etlheap_result *const result = check_analyze(&traces, NULL);
            char *const expected = truth_text(w), *const found = result_text(result);
            if (!check_same_text(expected, found))
                fail_msg("%s, seed %u", varieties[i].name, (unsigned)seed);
            free(expected);
            free(found);
            etlheap_result_free(result);
            workload_free(w);
            check_close(&traces);
        }
    }
}

/* --- the same result ------------------------------------------------------------------ */

/* The result and two tables of it; an inventory has none. */
static char *everything(const check_traces *traces, const etlheap_options *options)
{
    etlheap_result *const result = check_analyze(traces, options);
    etlheap_query query = etlheap_query_default();
    query.jobs = options == NULL ? 1 : options->jobs;
    char *const all = check_result_text(result);
    if (options != NULL && options->inventory_only) {
        etlheap_result_free(result);
        return all;
    }
    char *const report = check_aggregate_text(result, &query);
    query.group_by[0] = ETLHEAP_KEY_THREAD;
    query.group_by[1] = ETLHEAP_KEY_MODULE;
    query.group_by[2] = ETLHEAP_KEY_SITE;
    query.group_by_count = 3;
    query.at_exit_freed = true;
    query.from_ns = 10000000;
    char *const window = check_aggregate_text(result, &query);
    const size_t size = strlen(all) + strlen(report) + strlen(window) + 1;
    char *const text = malloc(size);
    assert_non_null(text);
    (void)snprintf(text, size, "%s%s%s", all, report, window);
    free(all);
    free(report);
    free(window);
    etlheap_result_free(result);
    return text;
}

static void expect_same(const check_traces *traces, const etlheap_options *options,
                        const char *expected, const char *name)
{
    char *const found = everything(traces, options);
    if (!check_same_text(expected, found))
        fail_msg("%s: slices of %u bytes, %u jobs", name, (unsigned)options->slice_bytes,
                 options->jobs);
    free(found);
}

static void slices_and_threads_change_nothing(void **state)
{
    (void)state;
    static const u64 slices[] = { 1, 4096, 50000, 0 };
    static const u32 jobs[] = { 1, 2, 7 };
    for (size_t i = 0; i < ETL_COUNT_OF(varieties); i++) {
        check_traces traces = { 0 };
        workload *const w = write_one(&traces, &varieties[i], 20 + i);
        char *const expected = everything(&traces, NULL);
        for (size_t s = 0; s < ETL_COUNT_OF(slices); s++) {
            /* Each kind of session meets each slice and each number of jobs, in the long
             * form all of both. */
            for (size_t j = 0; j < ETL_COUNT_OF(jobs); j++) {
                if (j != (i + s) % ETL_COUNT_OF(jobs) && !long_tests())
                    continue;
                const etlheap_options options = { .size = sizeof options,
                                                  .jobs = jobs[j],
                                                  .slice_bytes = slices[s] };
                expect_same(&traces, &options, expected, varieties[i].name);
            }
        }
        free(expected);
        workload_free(w);
        check_close(&traces);
    }
}

static void an_inventory_is_the_same_too(void **state)
{
    (void)state;
    static const u64 slices[] = { 1, 4096, 0 };
    for (size_t i = 0; i < ETL_COUNT_OF(varieties); i++) {
        check_traces traces = { 0 };
        workload *const w = write_one(&traces, &varieties[i], 30 + i);
        etlheap_options options = { .size = sizeof options, .inventory_only = true, .jobs = 1 };
        char *const expected = everything(&traces, &options);
        for (size_t s = 0; s < ETL_COUNT_OF(slices); s++) {
            options.jobs = 2;
            options.slice_bytes = slices[s];
            expect_same(&traces, &options, expected, varieties[i].name);
        }
        free(expected);
        workload_free(w);
        check_close(&traces);
    }
}

/* A lost buffer, a bad record, and a record size that ends a buffer. */
static void damaged_traces_are_the_same_too(void **state)
{
    (void)state;
    static const u64 slices[] = { 1, 4096, 0 };
    const variety kind = { .name = "damaged", .build = { .buffer_bytes = 4096 } };
    workload *const w = workload_random(&(workload_options){ .seed = 41 });
    etl_build *const b = etl_build_new(&kind.build);
    etl_build_break(b, ETL_BREAK_RECORD_SIZE, 700, 8);
    etl_build_break(b, ETL_BREAK_RECORD_SIZE, 1900, 60000);
    etl_build_break(b, ETL_BREAK_RECORD_CUT, 900, 8);
    etl_build_break(b, ETL_BREAK_BUFFER_DROP, 9, 0);
    etl_build_break(b, ETL_BREAK_RECORD_TYPE, 1200, 0x3F);
    workload_write(w, b, b);
    check_traces traces = { 0 };
    check_open(&traces, b);
    char *const expected = everything(&traces, NULL);
    for (size_t s = 0; s < ETL_COUNT_OF(slices); s++) {
        const etlheap_options options = { .size = sizeof options, .slice_bytes = slices[s] };
        expect_same(&traces, &options, expected, kind.name);
    }
    free(expected);
    workload_free(w);
    check_close(&traces);
}

static void files_of_one_recording_are_one_trace(void **state)
{
    (void)state;
    for (size_t i = 0; i < ETL_COUNT_OF(varieties); i++) {
        check_traces one = { 0 }, two = { 0 };
        workload *const merged = write_one(&one, &varieties[i], 50 + i);
        workload *const apart = write_two(&two, &varieties[i], 50 + i);
        etlheap_result *const a = check_analyze(&one, NULL), *const b = check_analyze(&two, NULL);
        etlheap_query query = etlheap_query_default();
        query.to_ns = INT64_C(60000000000); /* two sessions end a little later than one */
        char *const texts[4] = { check_lifetimes_text(a), check_lifetimes_text(b),
                                 check_aggregate_text(a, &query), check_aggregate_text(b, &query) };
        if (!check_same_text(texts[0], texts[1]) || !check_same_text(texts[2], texts[3]))
            fail_msg("%s", varieties[i].name);
        assert_int_equal(etlheap_result_trace(b)->file_count, 2);
        if (!varieties[i].build.keyed_stacks) /* one log-file header more */
            assert_int_equal(etlheap_result_trace(b)->events, etlheap_result_trace(a)->events + 1);
        for (size_t k = 0; k < ETL_COUNT_OF(texts); k++)
            free(texts[k]);
        etlheap_result_free(a);
        etlheap_result_free(b);
        workload_free(merged);
        workload_free(apart);
        check_close(&one);
        check_close(&two);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lifetimes_are_those_of_the_model),
        cmocka_unit_test(slices_and_threads_change_nothing),
        cmocka_unit_test(an_inventory_is_the_same_too),
        cmocka_unit_test(damaged_traces_are_the_same_too),
        cmocka_unit_test(files_of_one_recording_are_one_trace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
