/*
 * Goal: a window late in a store is read from the checkpoint before it, and nothing
 * else is; what is damaged, too large, not there or no longer wanted is told.
 * Method: a long trace whose first segments are broken; stores with bytes changed;
 * limits, results without lifetimes, and a progress that says no.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "engine/result/archive.h"
#include "walk_world.h"
#include "tests/support/asked.h"

/* --- a long trace --------------------------------------------------------------------------- */

/* 1.2 M events at 1 us: a window near the end begins at a checkpoint. */
static void make_long_trace(walk_world *f)
{
    enum { EVENTS = 1200000, PLACES = 5000 };
    static const u64 frames[][2] = { { 0x1000, 0x2000 }, { 0x1100, 0x2000 }, { 0x1200, 0x2000 } };
    static bool in_use[PLACES];
    etl_build *const b = etl_build_new(&(etl_build_options){ .buffer_bytes = 65536 });
    u64 random = 7;
    memset(in_use, 0, sizeof in_use);
    for (u32 i = 0; i < EVENTS; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        const u32 place = (u32)(random >> 33) % PLACES;
        const u64 address = 0x10000 + (u64)place * 0x100;
        const etl_build_at at = { .ticks = 1001000 + 10 * (i64)i, .pid = 42, .tid = 7 };
        if (in_use[place]) {
            etl_build_heap_free(b, at, 0x1F0000 + (place % 3) * 0x1000, address);
        } else {
            etl_build_heap_alloc(b, at, 0x1F0000 + (place % 3) * 0x1000, address, 16 + place % 99);
            if (i % 64 == 0)
                etl_build_stack_walk(
                    b, at, &(etl_build_stack){ .user = frames[place % 3], .user_count = 2 });
        }
        in_use[place] = !in_use[place];
    }
    check_open(&f->traces, b);
    walk_world_analyze(f);
    assert_true(store_check_checkpoints(&f->file) > 0);
}

/* Damages the events of segments before `end`, for whoever reads them. */
static void break_segments(walk_world *f, u32 end)
{
    const ehs_reader *const reader = &f->store->archive->reader;
    for (u32 segment = 0; segment < end; segment++) {
        const ehs_row *const row = ehs_reader_find(reader, EHS_HEAP_TICKS, segment);
        assert_non_null(row);
        f->file.at[row->offset + row->size / 2] ^= 0x55;
    }
    etlheap_result_free(f->store);
    walk_world_write(f);
    f->store = walk_world_store(f);
}

static void late_windows_read_from_a_checkpoint_on(void **state)
{
    walk_world *const f = *state;
    static const i64 late[][2] = { { 1100 * MS, 1150 * MS }, { 1190 * MS, INT64_MAX } };
    make_long_trace(f);
    break_segments(f, 10);
    for (u32 i = 0; i < 2 * ETL_COUNT_OF(late); i++) {
        etlheap_query query = etlheap_query_default();
        query.from_ns = late[i / 2][0];
        query.to_ns = late[i / 2][1];
        const walk_request request = { .query = &query, .ends_max = i % 2 == 0 ? 0 : 70000 };
        const walk_request plain = { .query = &query };
        char *const expected = walk_check_document(f->rows, &plain);
        walk_check_same(expected, walk_check_document(f->store, &request));
    }
    etl_error err;
    u64 rows;
    const etlheap_query all = etlheap_query_default();
    assert_int_equal(walk_check_status(f->store, &(walk_request){ .query = &all }, &rows, &err),
                     ETL_ERR_CORRUPT);
    assert_int_equal(rows, 0);
}

/* --- what may go wrong ------------------------------------------------------------------ */

/* Whatever is changed, the walk fails with a sentence, or what was changed is not
 * read. */
static void changed_stores_are_told_of(void **state)
{
    walk_world *const f = *state;
    walk_world_make(f, 0, 75);
    const etlheap_query query = etlheap_query_default();
    const walk_request request = { .query = &query, .ends_max = 1 };
    char *const expected = walk_check_text(f->rows, &request);
    u32 refused = 0;
    for (size_t at = 0; at < f->file.count; at += f->file.count / 150 + 1) {
        etlheap_result *read = NULL;
        etl_error err = { .status = ETL_OK };
        u64 rows;
        f->file.at[at] ^= 0x10;
        walk_world_write(f);
        etl_status status = walk_world_read(f, &read, &err);
        if (status == ETL_OK)
            status = walk_check_status(read, &request, &rows, &err);
        assert_true(status == ETL_OK || err.message[0] != '\0');
        refused += status != ETL_OK;
        if (status == ETL_OK) {
            char *const found = walk_check_text(read, &request);
            assert_string_equal(found, expected);
            free(found);
        }
        etlheap_result_free(read);
        f->file.at[at] ^= 0x10;
    }
    free(expected);
    assert_true(refused > 50);
}

static void rows_that_do_not_fit_are_told_of(void **state)
{
    walk_world *const f = *state;
    walk_world_make(f, 0, 76);
    const etlheap_query query = etlheap_query_default();
    walk_request request = { .query = &query };
    etl_error err;
    u64 rows;
    request.options.sort = ETLHEAP_LIFETIME_SIZE;
    request.options.memory_bytes_max = 10000;
    assert_int_equal(walk_check_status(f->store, &request, &rows, &err), ETL_ERR_LIMIT);
    assert_non_null(strstr(err.message, "more than allowed"));
    assert_true(err.hint == ETL_HINT_FEWER_ROWS || err.hint == ETL_HINT_NARROWER_WINDOW);
    request.options.sort = ETLHEAP_LIFETIME_ALLOC_TIME;
    assert_int_equal(walk_check_status(f->store, &request, &rows, &err), ETL_ERR_LIMIT);
    assert_int_equal(walk_check_status(f->rows, &request, &rows, &err), ETL_ERR_LIMIT);
    request.options.memory_bytes_max = 64 << 20;
    assert_int_equal(walk_check_status(f->rows, &request, &rows, &err), ETL_OK);
}

static void results_without_lifetimes_are_refused(void **state)
{
    walk_world *const f = *state;
    walk_world_make(f, 0, 77);
    const etlheap_query query = etlheap_query_default();
    const etlheap_options options = { .size = sizeof options, ASKED_TABLE(&query) };
    etlheap_result *const report = check_analyze(&f->traces, &options);
    assert_true(etlheap_result_is_report(report));
    walk_request request = { .query = &query };
    etl_error err;
    u64 rows;
    assert_int_equal(walk_check_status(report, &request, &rows, &err), ETL_ERR_ARGUMENT);
    etlheap_result_free(report);
    request.options.sort = ETLHEAP_LIFETIME_COLUMN_COUNT;
    assert_int_equal(walk_check_status(f->rows, &request, &rows, &err), ETL_ERR_ARGUMENT);
}

static bool stop(void *user, u64 done, u64 total)
{
    u32 *const left = user;
    assert_true(done <= total);
    if (*left == 0)
        return false;
    --*left;
    return true;
}

static void walks_are_cancelled_between_segments(void **state)
{
    walk_world *const f = *state;
    walk_world_make(f, 0, 78);
    const etlheap_query query = etlheap_query_default();
    for (u32 calls = 0; calls < 2; calls++) {
        u32 left = calls;
        walk_request request = { .query = &query };
        request.options.progress = stop;
        request.options.progress_user = &left;
        etl_error err;
        u64 rows;
        assert_int_equal(walk_check_status(f->store, &request, &rows, &err), ETL_ERR_CANCELLED);
    }
}

int main(void)
{
#define RULE(name) cmocka_unit_test_setup_teardown(name, walk_world_open, walk_world_close)
    const struct CMUnitTest tests[] = {
        RULE(late_windows_read_from_a_checkpoint_on), RULE(changed_stores_are_told_of),
        RULE(rows_that_do_not_fit_are_told_of),       RULE(results_without_lifetimes_are_refused),
        RULE(walks_are_cancelled_between_segments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
