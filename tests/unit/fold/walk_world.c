/* walk_world.c - see walk_world.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

#include "tests/support/run_check.h"
#include "tests/support/temporary.h"
#include "walk_world.h"

int walk_world_open(void **state)
{
    walk_world *const f = calloc(1, sizeof *f);
    if (f == NULL)
        return 1;
    const int file = temporary_file(f->path, "test-walk");
    if (file >= 0)
        close(file);
    *state = f;
    return file < 0;
}

void walk_world_forget(walk_world *f)
{
    etlheap_result_free(f->rows);
    etlheap_result_free(f->store);
    workload_truth_free(&f->truth);
    workload_free(f->work);
    check_close(&f->traces);
    ETLHEAP_VECTOR_FREE(&f->file);
    f->rows = f->store = NULL;
    f->work = NULL;
    f->truth = (workload_truth){ 0 };
    f->traces = (check_traces){ 0 };
}

int walk_world_close(void **state)
{
    walk_world *const f = *state;
    walk_world_forget(f);
    unlink(f->path);
    free(f);
    return 0;
}

void walk_world_write(const walk_world *f)
{
    FILE *const file = fopen(f->path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(f->file.at, 1, f->file.count, file), f->file.count);
    assert_int_equal(fclose(file), 0);
}

etl_status walk_world_read(const walk_world *f, etlheap_result **out, etl_error *err)
{
    etlheap_query query = etlheap_query_default();
    const etlheap_options options = { .size = sizeof options, ASKED_EVENTS(&query) };
    return etlheap_open_store(f->path, &options, out, err);
}

etlheap_result *walk_world_store(const walk_world *f)
{
    etlheap_result *result = NULL;
    etl_error err;
    assert_int_equal(walk_world_read(f, &result, &err), ETL_OK);
    return result;
}

/* Analyzes the walk_world's traces in both ways. */
void walk_world_analyze(walk_world *f)
{
    f->rows = check_analyze(&f->traces, NULL);
    f->file = store_check_write(&f->traces, NULL, NULL);
    walk_world_write(f);
    f->store = walk_world_store(f);
}

static const etl_build_options sessions[WALK_SESSIONS] = {
    { .buffer_bytes = 4096 },
    { .buffer_bytes = 16384, .compress = true, .keyed_stacks = true, .stack_key_slots = 32 },
    { .buffer_bytes = 65536, .cpus = 16 },
};

void walk_world_make(walk_world *f, u32 session, u64 seed)
{
    const workload_options options = { .seed = seed, .cpus = sessions[session].cpus };
    f->work = workload_random(&options);
    etl_build *const b = etl_build_new(&sessions[session]);
    workload_write(f->work, b, b);
    f->truth = workload_truth_of(f->work);
    check_open(&f->traces, b);
    walk_world_analyze(f);
}

static const i64 windows[][2] = { { INT64_MIN, INT64_MAX }, { 20 * MS, 40 * MS },
                                  { INT64_MIN, 30 * MS },   { 35 * MS + 100, INT64_MAX },
                                  { 25 * MS, 25 * MS },     { 900 * MS, INT64_MAX } };

#define FILTERS 11u
static_assert(ETL_COUNT_OF(windows) * FILTERS == WALK_QUERIES, "each with each");

/* The module of the lifetime's innermost frame. */
static void name_module(const walk_world *f, const workload_lifetime *some, walk_query *q)
{
    char text[64] = "none";
    if (some->stack != WORKLOAD_NONE)
        workload_stack_text(f->work, some->stack, 0, text);
    snprintf(q->module, sizeof q->module, "%.*s", (int)strcspn(text, "+"), text);
    q->frame = (etlheap_pattern){ .module = q->module };
}

/* One filter at a time; what it asks for is that of some lifetime. */
void walk_world_ask(const walk_world *f, u32 number, walk_query *q)
{
    const workload_lifetime *const some = &f->truth.lifetimes[f->truth.count / 3 + number];
    *q = (walk_query){ .query = etlheap_query_default() };
    etlheap_query *const query = &q->query;
    query->from_ns = windows[number / FILTERS][0];
    query->to_ns = windows[number / FILTERS][1];
    query->at_exit_freed = number % 2 != 0;
    name_module(f, some, q);
    switch (number % FILTERS) {
    case 1:
        query->types = 1u << ETLHEAP_TYPE_AIFO | 1u << ETLHEAP_TYPE_AOFI;
        break;
    case 2:
        query->size_min_bytes = 32;
        query->size_max_bytes = some->size + 32;
        break;
    case 3:
        snprintf(q->pid, sizeof q->pid, "%u", workload_process_pid(f->work, some->process));
        q->process = q->pid;
        query->processes = &q->process;
        query->process_count = 1;
        break;
    case 4:
        q->heap = some->heap;
        query->heaps = &q->heap;
        query->heap_count = 1;
        break;
    case 5:
        q->thread = some->tid;
        query->threads = &q->thread;
        query->thread_count = 1;
        break;
    case 6:
        query->lifetime_min_ns = 1 * MS;
        query->lifetime_max_ns = 10 * MS;
        break;
    case 7:
        query->kinds = number % 4 == 0 ? 1u << ETLHEAP_KIND_HEAP : 6u;
        break;
    case 8:
        query->require_frames = &q->frame;
        query->require_frame_count = 1;
        break;
    case 9:
        query->exclude_frames = &q->frame;
        query->exclude_frame_count = 1;
        query->only_excluded = number / FILTERS % 3 == 1;
        break;
    case 10:
        query->fold_modules = &q->frame;
        query->fold_module_count = 1;
        break;
    default:
        break;
    }
}

void walk_check_same(char *expected, char *found)
{
    assert_true(check_same_text(expected, found));
    free(expected);
    free(found);
}
