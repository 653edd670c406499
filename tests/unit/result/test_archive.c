/*
 * Goal: a result that was read from a store answers every question as the result
 * of its traces does, in any window, whether lifetimes are made of the file or its
 * events are walked; what is damaged is told and not believed.
 * Method: random workloads of several session kinds and a trace long enough for a
 * checkpoint; tables compared as text. Then stores with bytes changed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

#include "tests/support/long_tests.h"
#include "tests/support/store_check.h"
#include "tests/support/temporary.h"
#include "tests/build/workload.h"
#include "tests/support/asked.h"

#define MS INT64_C(1000000)

typedef struct fixture {
    check_traces traces;
    char path[TEMPORARY_PATH_BYTES];
} fixture;

static int open_fixture(void **state)
{
    fixture *const f = calloc(1, sizeof *f);
    if (f == NULL)
        return 1;
    const int file = temporary_file(f->path, "test-archive");
    if (file >= 0)
        close(file);
    *state = f;
    return file < 0;
}

static int close_fixture(void **state)
{
    fixture *const f = *state;
    check_close(&f->traces);
    unlink(f->path);
    free(f);
    return 0;
}

static void write_file(const fixture *f, const void *bytes, size_t size)
{
    FILE *const file = fopen(f->path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static void write_workload(fixture *f, const etl_build_options *build, u64 seed)
{
    const workload_options options = { .seed = seed };
    workload *const w = workload_random(&options);
    etl_build *const b = etl_build_new(build);
    workload_write(w, b, b);
    workload_free(w);
    check_open(&f->traces, b);
}

/* The groupings that a walk answers come first. */
static void shape(etlheap_query *query, u32 number)
{
    static const char *const processes[] = { "*e*" };
    switch (number) {
    case 1:
        query->group_by_count = 2;
        break;
    case 2:
        query->group_by[3] = ETLHEAP_KEY_MODULE;
        query->group_by_count = 4;
        query->size_min_bytes = 32;
        query->size_max_bytes = 4096;
        break;
    case 3:
        query->processes = processes;
        query->process_count = 1;
        query->types = 1u << ETLHEAP_TYPE_AIFO | 1u << ETLHEAP_TYPE_AOFI;
        break;
    case 4: /* from here on it matters what single blocks do */
        query->group_by[1] = ETLHEAP_KEY_THREAD;
        query->group_by[2] = ETLHEAP_KEY_FREE_TYPE;
        query->group_by_count = 3;
        break;
    case 5:
        query->group_by[3] = ETLHEAP_KEY_SIZE_CLASS;
        query->lifetime_max_ns = 5 * MS;
        break;
    case 6:
        query->lifetime_ranks = true;
        query->types = 1u << ETLHEAP_TYPE_AIFI;
        break;
    case 7:
        query->growth = true;
        query->group_by[2] = ETLHEAP_KEY_THREAD;
        query->group_by_count = 3;
        break;
    case 8: /* neither types nor what they are of is a key */
        query->at_end = true;
        query->group_by_count = 2;
        break;
    default:
        break;
    }
}

static bool same_frames(const etlheap_frames *x, const etlheap_frames *y)
{
    return x->count == y->count &&
           memcmp(x->addresses, y->addresses, x->count * sizeof *x->addresses) == 0;
}

/* Raw addresses are asked for after a report as after anything else. Stacks are in the same
 * order; those that only frees have stand among them. */
static void compare_frames(const etlheap_result *rows, const etlheap_result *read, bool has_frees)
{
    u32 other = 0;
    if (!has_frees)
        assert_int_equal(etlheap_stack_count(rows), etlheap_stack_count(read));
    for (u32 id = 1; id <= etlheap_stack_count(rows); id++) {
        const etlheap_frames x = etlheap_stack_frames(rows, (etlheap_stack){ id });
        etlheap_frames y;
        do {
            assert_true(other < etlheap_stack_count(read));
            y = etlheap_stack_frames(read, (etlheap_stack){ ++other });
        } while (!same_frames(&x, &y));
    }
}

#define SHAPES 9u

/* What is told of all blocks together. */
static void compare_details(const etlheap_result *rows, const etlheap_result *read,
                            const etlheap_query *query)
{
    etlheap_peak_moment x[ETLHEAP_KIND_CAPACITY], y[ETLHEAP_KIND_CAPACITY];
    assert_int_equal(etlheap_find_peaks(rows, query, x, NULL), ETL_OK);
    assert_int_equal(etlheap_find_peaks(read, query, y, NULL), ETL_OK);
    for (u32 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++) {
        assert_int_equal(x[kind].found, y[kind].found);
        assert_int_equal(x[kind].to_ticks, y[kind].to_ticks);
        assert_int_equal(x[kind].size_bytes, y[kind].size_bytes);
        assert_int_equal(x[kind].count, y[kind].count);
    }
    for (u32 by = 0; by < ETLHEAP_HISTOGRAM_BY_COUNT; by++) {
        const etlheap_histogram *a, *b;
        assert_int_equal(etlheap_histogram_make(rows, query, by, &a, NULL), ETL_OK);
        assert_int_equal(etlheap_histogram_make(read, query, by, &b, NULL), ETL_OK);
        assert_int_equal(a->bucket_count, b->bucket_count);
        for (u32 i = 0; i < a->bucket_count; i++) {
            assert_int_equal(a->buckets[i].pid, b->buckets[i].pid);
            assert_int_equal(a->buckets[i].from, b->buckets[i].from);
            assert_int_equal(a->buckets[i].count, b->buckets[i].count);
            assert_int_equal(a->buckets[i].size_bytes, b->buckets[i].size_bytes);
            assert_int_equal(a->buckets[i].outstanding_size_bytes,
                             b->buckets[i].outstanding_size_bytes);
        }
        etlheap_histogram_free(a);
        etlheap_histogram_free(b);
    }
}

static void compare(const fixture *f, const etlheap_result *rows, const etlheap_query *query,
                    bool has_frees)
{
    const etlheap_options options = { .size = sizeof options, ASKED_TABLE(query) };
    etlheap_result *read = NULL;
    etl_error err;
    assert_int_equal(etlheap_open_store(f->path, &options, &read, &err), ETL_OK);
    char *const expected = check_aggregate_text(rows, query);
    char *const found = check_aggregate_text(read, query);
    assert_true(check_same_text(expected, found));
    compare_details(rows, read, query);
    compare_frames(rows, read, has_frees);
    free(expected);
    free(found);
    etlheap_result_free(read);
}

/* How the file is written, and with turns, neighbouring windows share out the shapes. */
typedef struct compare_options {
    bool has_frees, turns;
} compare_options;

static void compare_windows(fixture *f, const i64 windows[][2], u32 count,
                            const compare_options *how)
{
    etlheap_result *const rows = check_analyze(&f->traces, NULL);
    ehs_bytes file = how->has_frees ? store_check_write(&f->traces, NULL, NULL)
                                    : store_check_write_without_frees(&f->traces, NULL);
    write_file(f, file.at, file.count);
    u32 asked = 0;
    for (u32 i = 0; i < count * SHAPES; i++) {
        if (how->turns && (i / SHAPES + i % SHAPES) % 2 != 0)
            continue;
        etlheap_query query = etlheap_query_default();
        query.from_ns = windows[i / SHAPES][0];
        query.to_ns = windows[i / SHAPES][1];
        query.at_exit_freed = asked % 2 != 0;
        query.jobs = 1 + asked++ % 3;
        shape(&query, i % SHAPES);
        compare(f, rows, &query, how->has_frees);
        query.sums_only = true; /* the file has those of the whole recording */
        compare(f, rows, &query, how->has_frees);
    }
    ETLHEAP_VECTOR_FREE(&file);
    etlheap_result_free(rows);
}

static void stores_answer_as_their_traces_do(void **state)
{
    fixture *const f = *state;
    static const etl_build_options kinds[] = {
        { .buffer_bytes = 4096 },
        { .buffer_bytes = 16384, .compress = true, .keyed_stacks = true, .stack_key_slots = 32 },
        { .buffer_bytes = 4096, .virtual_alloc_without_tid = true },
    };
    static const i64 windows[][2] = { { INT64_MIN, INT64_MAX }, { 20 * MS, 40 * MS },
                                      { INT64_MIN, 30 * MS },   { 35 * MS + 100, INT64_MAX },
                                      { 25 * MS, 25 * MS },     { 900 * MS, INT64_MAX } };
    for (size_t i = 0; i < ETL_COUNT_OF(kinds); i++) {
        write_workload(f, &kinds[i], 300 + i);
        for (u32 frees = 0; frees < 2; frees++)
            compare_windows(f, windows, ETL_COUNT_OF(windows),
                            &(compare_options){ .has_frees = frees == 1 });
        check_close(&f->traces);
        f->traces = (check_traces){ 0 };
    }
}

/* 1.2 M events at 1 us: a window in the last tenth begins at a checkpoint. Most blocks that were
 * open there have ended by then; some are kept, so that each has to be read. */
static void windows_begin_at_checkpoints(void **state)
{
    fixture *const f = *state;
    enum { EVENTS = 1200000, PLACES = 5000 };
    static const u64 frames[][2] = { { 0x1000, 0x2000 }, { 0x1100, 0x2000 }, { 0x1200, 0x2000 } };
    etl_build *const b = etl_build_new(&(etl_build_options){ .buffer_bytes = 65536 });
    u64 random = 7;
    static bool in_use[PLACES];
    memset(in_use, 0, sizeof in_use);
    for (u32 i = 0; i < EVENTS; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        u32 place = (u32)(random >> 33) % PLACES;
        if (in_use[place] && place % 16 == 0)
            place = 1; /* whatever is kept stays */
        const u64 address = 0x10000 + (u64)place * 0x100;
        const etl_build_at at = { .ticks = 1001000 + 10 * (i64)i, .pid = 42, .tid = 7 };
        if (in_use[place]) {
            etl_build_heap_free(b, at, 0x1F0000, address);
        } else {
            etl_build_heap_alloc(b, at, 0x1F0000 + (place % 3) * 0x1000, address, 16 + place % 99);
            if (i % 64 == 0)
                etl_build_stack_walk(
                    b, at, &(etl_build_stack){ .user = frames[place % 3], .user_count = 2 });
        }
        in_use[place] = !in_use[place];
    }
    check_open(&f->traces, b);
    ehs_bytes file = store_check_write(&f->traces, NULL, NULL);
    assert_true(store_check_checkpoints(&file) > 0);
    ETLHEAP_VECTOR_FREE(&file);
    static const i64 windows[][2] = { { 1130 * MS, 1150 * MS }, { 1160 * MS, INT64_MAX } };
    const compare_options how = { .has_frees = true, .turns = !long_tests() };
    compare_windows(f, windows, ETL_COUNT_OF(windows), &how);
}

static void facts_alone_are_what_an_inventory_finds(void **state)
{
    fixture *const f = *state;
    write_workload(f, NULL, 9);
    const etlheap_options inventory = { .size = sizeof inventory, .inventory_only = true };
    etlheap_result *const counted = check_analyze(&f->traces, &inventory);
    ehs_bytes file = store_check_write(&f->traces, NULL, NULL);
    write_file(f, file.at, file.count);
    etlheap_result *read = NULL;
    etl_error err;
    assert_int_equal(etlheap_open_store(f->path, &inventory, &read, &err), ETL_OK);
    assert_memory_equal(etlheap_result_stacks(read), etlheap_result_stacks(counted),
                        sizeof(etlheap_stack_counts));
    assert_memory_equal(etlheap_result_diagnostics(read), etlheap_result_diagnostics(counted),
                        sizeof(etl_diag_counts));
    assert_string_equal(etlheap_result_trace(read)->files[0], f->path);
    ETLHEAP_VECTOR_FREE(&file);
    etlheap_result_free(read);
    etlheap_result_free(counted);
}

/* Whatever is changed, opening or asking fails with a sentence, or nothing of what
 * was changed is read. */
static void changed_stores_are_told_of(void **state)
{
    fixture *const f = *state;
    write_workload(f, NULL, 11);
    ehs_bytes file = store_check_write(&f->traces, NULL, NULL);
    const etlheap_query query = etlheap_query_default();
    const etlheap_options options = { .size = sizeof options, ASKED_TABLE(&query) };
    u32 refused = 0;
    for (size_t at = 0; at < file.count; at += file.count / 150 + 1) {
        file.at[at] ^= 0x10;
        write_file(f, file.at, file.count);
        etlheap_result *read = NULL;
        etlheap_table *table = NULL;
        etl_error err = { .status = ETL_OK };
        etl_status status = etlheap_open_store(f->path, &options, &read, &err);
        if (status == ETL_OK)
            status = etlheap_aggregate(read, &query, &table, &err);
        if (status != ETL_OK) {
            assert_true(err.message[0] != '\0');
            refused++;
        }
        etlheap_table_free(table);
        etlheap_result_free(read);
        file.at[at] ^= 0x10;
    }
    assert_true(refused > 50);
    ETLHEAP_VECTOR_FREE(&file);
}

static void memory_that_is_not_allowed_is_asked_for_in_words(void **state)
{
    fixture *const f = *state;
    write_workload(f, NULL, 12);
    ehs_bytes file = store_check_write(&f->traces, NULL, NULL);
    write_file(f, file.at, file.count);
    const etlheap_query query = etlheap_query_default();
    const etlheap_options options = { .size = sizeof options,
                                      ASKED_TABLE(&query),
                                      .memory_bytes_max = 1000 };
    etlheap_result *read = NULL;
    etl_error err;
    assert_int_equal(etlheap_open_store(f->path, &options, &read, &err), ETL_ERR_LIMIT);
    assert_null(read);
    ETLHEAP_VECTOR_FREE(&file);
}

int main(void)
{
#define RULE(name) cmocka_unit_test_setup_teardown(name, open_fixture, close_fixture)
    const struct CMUnitTest tests[] = {
        RULE(stores_answer_as_their_traces_do),
        RULE(windows_begin_at_checkpoints),
        RULE(facts_alone_are_what_an_inventory_finds),
        RULE(changed_stores_are_told_of),
        RULE(memory_that_is_not_allowed_is_asked_for_in_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
