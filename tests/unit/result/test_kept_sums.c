/*
 * Goal: a store that keeps the sums of windows answers as one that does not, reads each window
 * once, also for questions of two threads, and goes on when whoever makes sums gives up.
 * Method: random workloads; tables compared as text; the number of times that sums were made. Then
 * the slots by themselves.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <pthread.h>
#include <unistd.h>
#include <cmocka.h>

#include "engine/result/archive.h"
#include "tests/build/workload.h"
#include "tests/support/asked.h"
#include "tests/support/store_check.h"
#include "tests/support/temporary.h"

#define MS      INT64_C(1000000)
#define SHAPES  6u
#define THREADS 2u

static const i64 windows[][2] = {
    { 20 * MS, 40 * MS }, { INT64_MIN, 30 * MS }, { 35 * MS + 100, INT64_MAX }, { 25 * MS, 25 * MS }
};

#define WINDOWS ETL_COUNT_OF(windows)

typedef struct fixture {
    check_traces traces;
    char path[TEMPORARY_PATH_BYTES];
    etlheap_result *plain, *keeping;
} fixture;

static etlheap_result *open_store(const fixture *f, bool keeps_sums)
{
    const etlheap_query query = etlheap_query_default();
    const etlheap_options options = { .size = sizeof options,
                                      ASKED_TABLE(&query),
                                      .keeps_sums = keeps_sums };
    etlheap_result *out = NULL;
    etl_error err;
    assert_int_equal(etlheap_open_store(f->path, &options, &out, &err), ETL_OK);
    return out;
}

static int open_fixture(void **state)
{
    const workload_options options = { .seed = 404 };
    fixture *const f = calloc(1, sizeof *f);
    workload *const w = workload_random(&options);
    etl_build *const b = etl_build_new(NULL);
    workload_write(w, b, b);
    workload_free(w);
    check_open(&f->traces, b);
    ehs_bytes bytes = store_check_write(&f->traces, NULL, NULL);
    const int file = temporary_file(f->path, "test-kept-sums");
    assert_true(file >= 0);
    assert_int_equal(write(file, bytes.at, bytes.count), (ssize_t)bytes.count);
    close(file);
    ETLHEAP_VECTOR_FREE(&bytes);
    f->plain = open_store(f, false);
    f->keeping = open_store(f, true);
    *state = f;
    return 0;
}

static int close_fixture(void **state)
{
    fixture *const f = *state;
    etlheap_result_free(f->plain);
    etlheap_result_free(f->keeping);
    check_close(&f->traces);
    unlink(f->path);
    free(f);
    return 0;
}

/* What people ask about one window. */
static etlheap_query query_of(u32 window, u32 shape)
{
    static const char *const processes[] = { "*e*" };
    etlheap_query query = etlheap_query_default();
    query.from_ns = windows[window][0];
    query.to_ns = windows[window][1];
    query.sums_only = true;
    query.jobs = 1 + shape % 2;
    if (shape == 1)
        query.group_by_count = 2;
    if (shape == 2)
        query.group_by[3] = ETLHEAP_KEY_MODULE;
    if (shape == 3) {
        query.processes = processes;
        query.process_count = 1;
    }
    if (shape == 4) {
        query.types = 1u << ETLHEAP_TYPE_AIFO | 1u << ETLHEAP_TYPE_AOFI;
        query.group_by_count = 2;
    }
    if (shape == 5) {
        query.at_end = true;
        query.group_by_count = 1;
    }
    return query;
}

static void each_window_is_read_once(void **state)
{
    const fixture *const f = *state;
    const kept_sums *const kept = f->keeping->archive->kept;
    assert_null(f->plain->archive->kept);
    for (u32 window = 0; window < WINDOWS; window++) {
        for (u32 shape = 0; shape < SHAPES; shape++) {
            const etlheap_query query = query_of(window, shape);
            char *const expected = check_aggregate_text(f->plain, &query);
            char *const found = check_aggregate_text(f->keeping, &query);
            assert_true(check_same_text(expected, found));
            assert_int_equal(kept_sums_made(kept), window + 1);
            free(expected);
            free(found);
        }
    }
}

/* Blocks of other sizes, and exits that free, make other sums of the same window. */
static void other_blocks_have_other_sums(void **state)
{
    const fixture *const f = *state;
    for (u32 i = 0; i < 2 * 3; i++) {
        etlheap_query query = query_of(0, 0);
        query.at_exit_freed = i % 3 == 1;
        query.size_min_bytes = i % 3 == 2 ? 100 : 0;
        char *const expected = check_aggregate_text(f->plain, &query);
        char *const found = check_aggregate_text(f->keeping, &query);
        assert_true(check_same_text(expected, found));
        free(expected);
        free(found);
    }
    assert_int_equal(kept_sums_made(f->keeping->archive->kept), 3);
}

/* Peaks and single blocks need the events, or more of them. */
static void other_questions_keep_nothing(void **state)
{
    const fixture *const f = *state;
    etlheap_query query = query_of(0, 0);
    query.sums_only = false;
    free(check_aggregate_text(f->keeping, &query));
    query.sums_only = true;
    query.group_by[3] = ETLHEAP_KEY_THREAD;
    free(check_aggregate_text(f->keeping, &query));
    assert_int_equal(kept_sums_made(f->keeping->archive->kept), 0);
}

/* --- two threads --------------------------------------------------------------------------- */

typedef struct asker {
    const etlheap_result *result;
    u32 shape;
    u32 failed;
} asker;

static void *ask_all(void *user)
{
    asker *const own = user;
    for (u32 window = 0; window < WINDOWS; window++) {
        const etlheap_query query = query_of(window, own->shape);
        etlheap_table *table = NULL;
        own->failed += etlheap_aggregate(own->result, &query, &table, NULL) != ETL_OK;
        etlheap_table_free(table);
    }
    return NULL;
}

static void two_threads_read_each_window_once(void **state)
{
    const fixture *const f = *state;
    asker askers[THREADS] = { { f->keeping, 0, 0 }, { f->keeping, 1, 0 } };
    pthread_t threads[THREADS];
    for (u32 i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, ask_all, &askers[i]), 0);
    for (u32 i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_int_equal(askers[i].failed, 0);
    }
    assert_int_equal(kept_sums_made(f->keeping->archive->kept), WINDOWS);
}

/* --- slots ------------------------------------------------------------------------------------ */

static kept_use take(kept_sums *kept, i64 from_ticks)
{
    kept_use use;
    const kept_window window = { .from_ticks = from_ticks, .to_ticks = 100 };
    assert_int_equal(kept_sums_take(kept, &window, NULL, &use, NULL), ETL_OK);
    return use;
}

static void make(kept_sums *kept, i64 from_ticks)
{
    kept_use use = take(kept, from_ticks);
    assert_null(use.sums);
    type_sums *const sums = calloc(ETLHEAP_TYPE_COUNT, sizeof *sums);
    sums[0].count = from_ticks;
    kept_sums_put(kept, &use, sums);
    assert_ptr_equal(use.sums, sums);
    kept_sums_give_back(kept, &use);
}

static void what_was_taken_longest_ago_goes(void **state)
{
    (void)state;
    kept_sums *const kept = kept_sums_open(1);
    for (i64 i = 1; i <= 4; i++)
        make(kept, i);
    kept_use first = take(kept, 1);
    assert_int_equal(first.sums[0].count, 1);
    make(kept, 5); /* in place of the second */
    make(kept, 2); /* in place of the third */
    kept_use again = take(kept, 5);
    assert_non_null(again.sums);
    assert_int_equal(first.sums[0].count, 1);
    kept_sums_give_back(kept, &first);
    kept_sums_give_back(kept, &again);
    assert_int_equal(kept_sums_made(kept), 6);
    kept_sums_close(kept);
    kept_sums_close(NULL);
}

/* All slots are in use: sums belong to whoever made them. */
static void without_room_nothing_is_kept(void **state)
{
    (void)state;
    kept_use uses[5];
    kept_sums *const kept = kept_sums_open(1);
    for (i64 i = 0; i < 5; i++) {
        uses[i] = take(kept, i);
        kept_sums_put(kept, &uses[i], calloc(ETLHEAP_TYPE_COUNT, sizeof(type_sums)));
        assert_non_null(uses[i].sums);
    }
    for (u32 i = 0; i < 5; i++)
        kept_sums_give_back(kept, &uses[i]);
    kept_use last = take(kept, 4);
    assert_null(last.sums);
    kept_sums_put(kept, &last, NULL);
    kept_sums_give_back(kept, &last);
    kept_sums_close(kept);
    assert_null(kept_sums_open(UINT64_C(1) << 40));
}

typedef struct waiter {
    kept_sums *kept;
    const u32 *cancel;
    etl_status status;
    bool has_sums;
} waiter;

static void *wait_for(void *user)
{
    waiter *const own = user;
    const kept_window window = { .from_ticks = 7, .to_ticks = 100 };
    kept_use use;
    own->status = kept_sums_take(own->kept, &window, own->cancel, &use, NULL);
    own->has_sums = use.sums != NULL;
    if (own->status == ETL_OK && use.sums == NULL)
        kept_sums_put(own->kept, &use, NULL);
    kept_sums_give_back(own->kept, &use);
    return NULL;
}

/* Whoever waits makes the sums if the maker fails, and need not wait any longer if cancelled. */
static void waiting_ends(void **state)
{
    (void)state;
    static const bool fails[] = { false, true };
    for (size_t i = 0; i < ETL_COUNT_OF(fails); i++) {
        pthread_t thread;
        kept_sums *const kept = kept_sums_open(1);
        waiter own = { .kept = kept };
        kept_use use = take(kept, 7);
        assert_int_equal(pthread_create(&thread, NULL, wait_for, &own), 0);
        (void)nanosleep(&(struct timespec){ .tv_nsec = 2000000 }, NULL);
        kept_sums_put(kept, &use, fails[i] ? NULL : calloc(ETLHEAP_TYPE_COUNT, sizeof(type_sums)));
        kept_sums_give_back(kept, &use);
        assert_int_equal(pthread_join(thread, NULL), 0);
        assert_int_equal(own.status, ETL_OK);
        assert_int_equal(own.has_sums, !fails[i]);
        kept_sums_close(kept);
    }
    const u32 cancel = 1;
    kept_sums *const kept = kept_sums_open(1);
    waiter own = { .kept = kept, .cancel = &cancel };
    kept_use use = take(kept, 7);
    wait_for(&own);
    assert_int_equal(own.status, ETL_ERR_CANCELLED);
    kept_sums_put(kept, &use, NULL);
    kept_sums_give_back(kept, &use);
    kept_sums_close(kept);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_window_is_read_once, open_fixture, close_fixture),
        cmocka_unit_test_setup_teardown(other_blocks_have_other_sums, open_fixture, close_fixture),
        cmocka_unit_test_setup_teardown(other_questions_keep_nothing, open_fixture, close_fixture),
        cmocka_unit_test_setup_teardown(two_threads_read_each_window_once, open_fixture,
                                        close_fixture),
        cmocka_unit_test(what_was_taken_longest_ago_goes),
        cmocka_unit_test(without_room_nothing_is_kept),
        cmocka_unit_test(waiting_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
