/*
 * Goal: windows show what MemInfo and MemInfoWS records said last before they end, of
 * the system and of each process while it lives; a store keeps it.
 * Method: traces from the builder with records at known ticks, 100 ns each and time
 * zero at the builder's default; then random records against a plain search.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

#include "engine/context/context.h"
#include "tests/support/hand_bytes.h"
#include "tests/support/store_check.h"
#include "tests/support/temporary.h"
#include "tests/support/windows_check.h"
#include "tests/support/asked.h"

#define ZERO INT64_C(1000000) /* ticks of time zero */
#define MS   INT64_C(1000000)
#define PAGE 4096u

typedef struct fixture {
    check_traces traces;
    etl_build *b;
    etlheap_result *result;
    etlheap_windows *windows;
} fixture;

static int open_fixture(void **state)
{
    fixture *const f = calloc(1, sizeof *f);
    if (f == NULL)
        return 1;
    f->b = etl_build_new(NULL);
    *state = f;
    return 0;
}

static int close_fixture(void **state)
{
    fixture *const f = *state;
    etlheap_windows_free(f->windows);
    etlheap_result_free(f->result);
    check_close(&f->traces);
    free(f);
    return 0;
}

static etl_build_at at_ms(i64 ms)
{
    return (etl_build_at){ .ticks = ZERO + ms * 10000, .pid = 4, .tid = 8 };
}

static void put_process(fixture *f, i64 ms, u8 type, u32 pid, const char *name)
{
    etl_build_process(f->b, at_ms(ms), type, &(etl_build_process_spec){ .pid = pid, .name = name });
}

static void put_use(fixture *f, i64 ms, u32 pid, u64 commit)
{
    const etl_build_working_set row = { pid, commit + 1, commit, commit + 2, commit + 3 };
    etl_build_meminfo_ws(f->b, at_ms(ms), &row, 1);
}

/* The 22 counts of old records, and 4 more that newer ones have. */
static void put_system(fixture *f, i64 ms, u64 commit)
{
    u64 values[26] = { 10, 20, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8 };
    values[25] = commit;
    etl_build_meminfo(f->b, at_ms(ms), values, commit == 0 ? 22 : 26);
}

static etlheap_query by_process(void)
{
    etlheap_query query = etlheap_query_default();
    query.group_by_count = 2;
    query.at_exit_freed = true;
    return query;
}

static void make(fixture *f, i64 every_ms)
{
    if (f->result == NULL) {
        check_open(&f->traces, f->b);
        f->result = check_analyze(&f->traces, NULL);
    }
    const etlheap_query query = by_process();
    const etlheap_windows_options options = { .size = sizeof options, .every_ns = every_ms * MS };
    etlheap_windows_free(f->windows);
    f->windows = windows_check_make(f->result, &query, &options);
}

static void a_window_shows_the_last_word_before_its_end(void **state)
{
    fixture *const f = *state;
    put_system(f, 12, 100);
    put_system(f, 18, 200);
    put_system(f, 30, 300); /* as a window begins: it is in that one */
    put_system(f, 49, 400);
    make(f, 10);
    static const u64 pages[] = { 0, 200, 200, 300, 400 };
    assert_int_equal(f->windows->window_count, 5);
    assert_non_null(f->windows->memory);
    for (u32 w = 0; w < 5; w++) {
        const etlheap_memory_sample *const sample = &f->windows->memory[w];
        assert_int_equal(sample->is_known, pages[w] != 0);
        assert_int_equal(sample->commit_bytes, pages[w] * PAGE);
        assert_int_equal(sample->available_bytes, pages[w] == 0 ? 0 : (10 + 20 + 36) * PAGE);
        assert_int_equal(sample->has_commit, pages[w] != 0);
    }
    assert_int_equal(f->windows->memory[1].time_ns, 18 * MS);
    assert_int_equal(f->windows->process_memory_count, 0);
}

static void older_records_do_not_tell_the_commit(void **state)
{
    fixture *const f = *state;
    put_system(f, 2, 0);
    make(f, 10);
    assert_true(f->windows->memory[0].is_known);
    assert_false(f->windows->memory[0].has_commit);
}

static void processes_show_theirs_while_they_live(void **state)
{
    fixture *const f = *state;
    put_process(f, 1, ETL_BUILD_START, 77, "a.exe");
    put_process(f, 1, ETL_BUILD_START, 55, "b.exe");
    put_use(f, 5, 77, 10);
    put_use(f, 6, 55, 1000);
    put_use(f, 15, 77, 20);
    put_process(f, 22, ETL_BUILD_END, 77, "a.exe");
    put_process(f, 32, ETL_BUILD_START, 77, "c.exe");
    put_use(f, 35, 77, 30);
    put_use(f, 49, 55, 2000);
    make(f, 10);
    static const struct {
        const char *name;
        u32 pid;
        u64 commit[5];
    } expected[] = { { "b.exe", 55, { 1000, 1000, 1000, 1000, 2000 } },
                     { "a.exe", 77, { 10, 20, 0, 0, 0 } },
                     { "c.exe", 77, { 0, 0, 0, 30, 30 } } };
    assert_null(f->windows->memory);
    assert_int_equal(f->windows->process_memory_count, 3);
    for (u32 p = 0; p < 3; p++) {
        const etlheap_process_memory *const row = &f->windows->process_memory[p];
        assert_string_equal(row->name, expected[p].name);
        assert_int_equal(row->pid, expected[p].pid);
        for (u32 w = 0; w < 5; w++) {
            const u64 pages = expected[p].commit[w];
            assert_int_equal(row->at[w].is_known, pages != 0);
            assert_int_equal(row->at[w].commit_bytes, pages * PAGE);
            assert_int_equal(row->at[w].working_set_bytes, pages == 0 ? 0 : (pages + 1) * PAGE);
            assert_int_equal(row->at[w].private_working_set_bytes,
                             pages == 0 ? 0 : (pages + 3) * PAGE);
        }
    }
}

static void pages_have_the_size_that_the_system_tells(void **state)
{
    (void)state;
    static const u32 told[][2] = { { 16384, 16384 }, { 4096, 4096 }, { 0, PAGE },
                                   { 3000, PAGE },   { 8191, PAGE }, { 1u << 30, PAGE } };
    for (u32 i = 0; i < ETL_COUNT_OF(told); i++) {
        trace_context context = { .page_bytes = told[i][0] };
        memory_notes notes = { 0 };
        memory_rows rows = { 0 };
        assert_true(ETLHEAP_PUSH(&notes, (memory_note){ .commit = 7, .pid = ETL_NO_ID }));
        assert_true(meminfo_build(&rows, &notes, &context, NULL));
        assert_int_equal(rows.count, 1);
        assert_int_equal(rows.at[0].commit_bytes, 7 * (u64)told[i][1]);
        ETLHEAP_VECTOR_FREE(&notes);
        ETLHEAP_VECTOR_FREE(&rows);
    }
}

/* Two words of one moment: the larger one stays, whichever came first. */
static void of_one_moment_one_row_stays(void **state)
{
    (void)state;
    for (u64 first = 1; first <= 2; first++) {
        trace_context context = { .page_bytes = PAGE };
        memory_notes notes = { 0 };
        memory_rows rows = { 0 };
        for (u64 i = 0; i < 2; i++) {
            const memory_note note = { .ticks = 9,
                                       .commit = i == 0 ? first : 3 - first,
                                       .pid = ETL_NO_ID };
            assert_true(ETLHEAP_PUSH(&notes, note));
        }
        assert_true(meminfo_build(&rows, &notes, &context, NULL));
        assert_int_equal(rows.count, 1);
        assert_int_equal(rows.at[0].commit_bytes, 2 * PAGE);
        ETLHEAP_VECTOR_FREE(&notes);
        ETLHEAP_VECTOR_FREE(&rows);
    }
}

static void only_selected_processes_are_shown(void **state)
{
    fixture *const f = *state;
    static const char *const names[] = { "b*" };
    put_process(f, 1, ETL_BUILD_START, 77, "a.exe");
    put_process(f, 1, ETL_BUILD_START, 55, "b.exe");
    put_use(f, 5, 77, 10);
    put_use(f, 6, 55, 1000);
    make(f, 10);
    etlheap_query query = by_process();
    query.processes = names;
    query.process_count = 1;
    etlheap_windows *const windows = windows_check_make(f->result, &query, NULL);
    assert_int_equal(windows->process_memory_count, 1);
    assert_string_equal(windows->process_memory[0].name, "b.exe");
    etlheap_windows_free(windows);
}

/* Null pointers have no place next to them: clang's UBSan stopped here. */
static void no_rows_are_of_no_process(void **state)
{
    (void)state;
    const memory_rows none = { 0 };
    size_t count = 7;
    assert_null(meminfo_of(&none, 1, &count));
    assert_int_equal(count, 0);
}

static void traces_without_records_have_no_memory(void **state)
{
    fixture *const f = *state;
    put_process(f, 1, ETL_BUILD_START, 77, "a.exe");
    make(f, 10);
    assert_null(f->windows->memory);
    assert_int_equal(f->windows->process_memory_count, 0);
}

static void expect_same_memory(const etlheap_windows *a, const etlheap_windows *b)
{
    assert_int_equal(a->window_count, b->window_count);
    assert_memory_equal(a->memory, b->memory, a->window_count * sizeof *a->memory);
    assert_int_equal(a->process_memory_count, b->process_memory_count);
    for (u32 i = 0; i < a->process_memory_count; i++) {
        assert_int_equal(a->process_memory[i].process.v, b->process_memory[i].process.v);
        assert_memory_equal(a->process_memory[i].at, b->process_memory[i].at,
                            a->window_count * sizeof *a->process_memory[i].at);
    }
}

static void random_memory(fixture *f, u64 seed)
{
    u64 random = seed;
    for (u32 pid = 1; pid <= 9; pid++)
        put_process(f, 0, ETL_BUILD_START, 10 * pid, "p.exe");
    for (i64 ms = 1; ms < 400; ms += 1 + hand_random(&random) % 3) {
        if (hand_random(&random) % 4 == 0)
            put_system(f, ms, 1 + hand_random(&random) % 1000);
        else
            put_use(f, ms, 10 * (1 + hand_random(&random) % 9), 1 + hand_random(&random) % 1000);
    }
}

/* Small slices and any number of jobs, and from a store. */
static void stores_and_slices_change_nothing(void **state)
{
    fixture *const f = *state;
    random_memory(f, 5);
    make(f, 7);
    const etlheap_query query = by_process();
    const etlheap_windows_options options = { .size = sizeof options, .every_ns = 7 * MS };
    static const u32 jobs[] = { 1, 2, 7 };
    for (u32 i = 0; i < ETL_COUNT_OF(jobs); i++) {
        const etlheap_options how = { .size = sizeof how,
                                      .jobs = jobs[i],
                                      .slice_bytes = 3000,
                                      ASKED_IF(i == 1, ETLHEAP_ASK_WINDOWS, &query, &options) };
        etlheap_result *const other = check_analyze(&f->traces, &how);
        etlheap_windows *const windows = windows_check_make(other, &query, &options);
        expect_same_memory(f->windows, windows);
        etlheap_windows_free(windows);
        etlheap_result_free(other);
    }
    ehs_bytes file = store_check_write(&f->traces, NULL, NULL);
    char path[TEMPORARY_PATH_BYTES];
    const int number = temporary_file(path, "test-meminfo");
    assert_true(number >= 0);
    assert_int_equal(write(number, file.at, file.count), file.count);
    close(number);
    etlheap_result *read = NULL;
    etl_error err;
    assert_int_equal(etlheap_open_store(path, NULL, &read, &err), ETL_OK);
    unlink(path);
    etlheap_windows *const windows = windows_check_make(read, &query, &options);
    expect_same_memory(f->windows, windows);
    etlheap_windows_free(windows);
    etlheap_result_free(read);
    ETLHEAP_VECTOR_FREE(&file);
}

static void too_many_windows_for_the_processes_are_refused(void **state)
{
    fixture *const f = *state;
    random_memory(f, 6);
    make(f, 100);
    const etlheap_query query = by_process();
    const etlheap_windows_options options = { .size = sizeof options, .every_ns = 400 };
    etlheap_windows *windows = NULL;
    etl_error err = { .status = ETL_OK };
    assert_int_equal(etlheap_windows_make(f->result, &query, &options, &windows, &err),
                     ETL_ERR_LIMIT);
    assert_non_null(strstr(err.message, "choose longer windows"));
}

int main(void)
{
#define RULE(name) cmocka_unit_test_setup_teardown(name, open_fixture, close_fixture)
    const struct CMUnitTest tests[] = {
        RULE(a_window_shows_the_last_word_before_its_end),
        RULE(older_records_do_not_tell_the_commit),
        RULE(processes_show_theirs_while_they_live),
        cmocka_unit_test(pages_have_the_size_that_the_system_tells),
        cmocka_unit_test(of_one_moment_one_row_stays),
        RULE(only_selected_processes_are_shown),
        cmocka_unit_test(no_rows_are_of_no_process),
        RULE(traces_without_records_have_no_memory),
        RULE(stores_and_slices_change_nothing),
        RULE(too_many_windows_for_the_processes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
