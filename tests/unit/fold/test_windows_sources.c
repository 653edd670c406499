/*
 * Goal: windows of a trace are the same from lifetimes in memory, from the event list
 * that a run keeps for them and from a store, whatever the slices and threads, and
 * each cell is what its lifetimes say.
 * Method: random workloads of several session kinds and many lengths of windows, with
 * ends that fall on events; all answers as text. Then what only one source has: late
 * ends of blocks, big sizes, checkpoints, an event list on disk.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

#include "engine/result/result.h"
#include "tests/support/long_tests.h"
#include "tests/support/store_check.h"
#include "tests/support/temporary.h"
#include "tests/support/windows_check.h"
#include "tests/build/workload.h"

#define MS INT64_C(1000000)

typedef struct fixture {
    check_traces traces;
    etlheap_result *rows;            /* of the traces, with lifetimes */
    char path[TEMPORARY_PATH_BYTES]; /* their store */
} fixture;

static int open_fixture(void **state)
{
    fixture *const f = calloc(1, sizeof *f);
    if (f == NULL)
        return 1;
    const int file = temporary_file(f->path, "test-windows");
    if (file >= 0)
        close(file);
    *state = f;
    return file < 0;
}

static void close_traces(fixture *f)
{
    etlheap_result_free(f->rows);
    check_close(&f->traces);
    f->rows = NULL;
    f->traces = (check_traces){ 0 };
}

static int close_fixture(void **state)
{
    fixture *const f = *state;
    close_traces(f);
    unlink(f->path);
    free(f);
    return 0;
}

/* Takes the builder over: its trace, lifetimes and store. */
static void use_trace(fixture *f, etl_build *b)
{
    check_open(&f->traces, b);
    f->rows = check_analyze(&f->traces, NULL);
    ehs_bytes file = store_check_write(&f->traces, NULL, NULL);
    FILE *const out = fopen(f->path, "wb");
    assert_non_null(out);
    assert_int_equal(fwrite(file.at, 1, file.count, out), file.count);
    assert_int_equal(fclose(out), 0);
    ETLHEAP_VECTOR_FREE(&file);
}

static void use_workload(fixture *f, const etl_build_options *build, u64 seed)
{
    const workload_options options = { .seed = seed };
    workload *const w = workload_random(&options);
    etl_build *const b = etl_build_new(build);
    workload_write(w, b, b);
    workload_free(w);
    use_trace(f, b);
}

static char *text_of(const etlheap_result *result, const etlheap_query *query,
                     const etlheap_windows_options *options)
{
    etlheap_windows *const windows = windows_check_make(result, query, options);
    char *const text = windows_check_text(windows);
    etlheap_windows_free(windows);
    return text;
}

static char *text_of_store(const fixture *f, const etlheap_query *query,
                           const etlheap_windows_options *options)
{
    const etlheap_options how = { .size = sizeof how, ASKED_WINDOWS(query, options) };
    etlheap_result *read = NULL;
    etl_error err;
    assert_int_equal(etlheap_open_store(f->path, &how, &read, &err), ETL_OK);
    assert_true(etlheap_result_is_for_questions(read));
    char *const text = text_of(read, query, options);
    etlheap_result_free(read);
    return text;
}

static etlheap_result *keep_event_list(const fixture *f, const etlheap_query *query,
                                       const etlheap_windows_options *options, u64 slice_bytes)
{
    const etlheap_options how = { .size = sizeof how,
                                  .jobs = query->jobs,
                                  .slice_bytes = slice_bytes,
                                  ASKED_WINDOWS(query, options) };
    etlheap_result *const kept = check_analyze(&f->traces, &how);
    assert_true(etlheap_result_is_for_questions(kept));
    return kept;
}

static char *text_of_event_list(const fixture *f, const etlheap_query *query,
                                const etlheap_windows_options *options, u64 slice_bytes)
{
    etlheap_result *const kept = keep_event_list(f, query, options, slice_bytes);
    char *const text = text_of(kept, query, options);
    etlheap_result_free(kept);
    return text;
}

static void expect_text(const char *expected, char *found, const char *what)
{
    if (!check_same_text(expected, found))
        fail_msg("%s", what);
    free(found);
}

/* All sources, with 1 and 7 jobs, in the long form also with 2. */
static void expect_all_same(const fixture *f, const etlheap_query *query,
                            const etlheap_windows_options *options, bool has_event_list)
{
    static const u32 jobs[] = { 1, 7, 2 };
    static const u64 slices[] = { 0, 5000, 20000 };
    const u32 count = long_tests() ? 3 : 2;
    char *const expected = text_of(f->rows, query, options);
    for (u32 i = 0; i < count; i++) {
        etlheap_query own = *query;
        own.jobs = jobs[i];
        expect_text(expected, text_of(f->rows, &own, options), "lifetimes");
        expect_text(expected, text_of_store(f, &own, options), "store");
        if (has_event_list)
            expect_text(expected, text_of_event_list(f, &own, options, slices[i]), "event list");
    }
    free(expected);
}

static void expect_right(const fixture *f, const etlheap_query *query,
                         const etlheap_windows_options *options)
{
    etlheap_windows *const windows = windows_check_make(f->rows, query, options);
    windows_check_lifetimes(f->rows, query, windows);
    if (options->range_count == 0)
        windows_check_sums(windows);
    etlheap_windows_free(windows);
}

static etlheap_query by_process(void)
{
    etlheap_query query = etlheap_query_default();
    query.group_by_count = 2;
    query.at_exit_freed = true;
    query.jobs = 1;
    return query;
}

static void all_sources_say_the_same(void **state)
{
    fixture *const f = *state;
    static const etl_build_options kinds[] = {
        { .buffer_bytes = 4096 },
        { .buffer_bytes = 16384, .compress = true, .keyed_stacks = true, .stack_key_slots = 32 },
        { .buffer_bytes = 4096, .virtual_alloc_without_tid = true },
        { .cpus = 16 },
    };
    static const i64 lengths[] = { 100, 2500000, 1 * MS, 7 * MS + 13, 10 * MS, 900 * MS };
    for (u32 i = 0; i < ETL_COUNT_OF(kinds); i++) {
        use_workload(f, &kinds[i], 900 + i);
        for (u32 k = i % 2; k < ETL_COUNT_OF(lengths); k += k == 0 ? 3 : 2) {
            etlheap_query query = by_process();
            query.at_exit_freed = k % 2 == 0;
            if (k % 3 == 1)
                query.group_by[query.group_by_count++] = ETLHEAP_KEY_STACK;
            if (k == 3)
                query.from_ns = 11 * MS;
            if (k >= 3)
                query.to_ns = 33 * MS + 100;
            if (k == 0) { /* windows of single ticks */
                query.from_ns = 20 * MS;
                query.to_ns = 20 * MS + 20000;
            }
            const bool is_alone = (i + k) % 3 != 0; /* an event list has no windows that overlap */
            const etlheap_windows_options options = { .size = sizeof options,
                                                      .every_ns = lengths[k],
                                                      .with_whole = !is_alone };
            expect_all_same(f, &query, &options, is_alone);
        }
        close_traces(f);
    }
}

static void cells_are_what_lifetimes_say(void **state)
{
    fixture *const f = *state;
    static const etlheap_key keys[] = { ETLHEAP_KEY_PROCESS, ETLHEAP_KEY_HEAP };
    use_workload(f, NULL, 950);
    for (u32 i = 0; i < 2; i++) {
        etlheap_query query = by_process();
        query.at_exit_freed = i == 0;
        query.group_by[query.group_by_count++] = keys[i];
        const etlheap_windows_options options = { .size = sizeof options, .every_ns = 9 * MS };
        expect_right(f, &query, &options);
    }
}

/* Threads, classes of sizes and lengths of lifetimes are in neither an event list nor a
 * walk of a store: lifetimes are kept or read. */
static void what_takes_lifetimes_has_them_from_all_sources(void **state)
{
    fixture *const f = *state;
    use_workload(f, NULL, 955);
    etlheap_query queries[3] = { by_process(), by_process(), by_process() };
    queries[0].group_by[queries[0].group_by_count++] = ETLHEAP_KEY_THREAD;
    queries[1].group_by[queries[1].group_by_count++] = ETLHEAP_KEY_SIZE_CLASS;
    queries[2].lifetime_max_ns = 2 * MS;
    const etlheap_windows_options options = { .size = sizeof options, .every_ns = 8 * MS };
    for (u32 i = 0; i < ETL_COUNT_OF(queries); i++) {
        const etlheap_options how = { .size = sizeof how, ASKED_WINDOWS(&queries[i], &options) };
        char *const expected = text_of(f->rows, &queries[i], &options);
        etlheap_result *const kept = check_analyze(&f->traces, &how);
        expect_text(expected, text_of(kept, &queries[i], &options), "log");
        etlheap_result_free(kept);
        etlheap_result *read = NULL;
        etl_error err;
        assert_int_equal(etlheap_open_store(f->path, &how, &read, &err), ETL_OK);
        expect_text(expected, text_of(read, &queries[i], &options), "lifetimes of the store");
        etlheap_result_free(read);
        free(expected);
    }
    expect_right(f, &queries[0], &options);
}

/* Times of events as the ends of windows: what happens there is in the later one. */
static void ends_that_fall_on_events_belong_to_the_later_window(void **state)
{
    fixture *const f = *state;
    use_workload(f, NULL, 951);
    i64 cuts[40];
    u32 count = 0;
    const etlheap_segment segment = etlheap_segment_of(f->rows, 0);
    for (u32 i = 0; i < segment.rows && count + 1 < ETL_COUNT_OF(cuts); i += segment.rows / 19) {
        cuts[count++] = etlheap_time_ns(f->rows, segment.alloc_ticks[i]);
        if (segment.free_ticks[i] != ETLHEAP_TICKS_NEVER)
            cuts[count++] = etlheap_time_ns(f->rows, segment.free_ticks[i]);
    }
    const etlheap_query query = by_process();
    const etlheap_windows_options options = { .size = sizeof options,
                                              .cuts = cuts,
                                              .cut_count = count };
    expect_all_same(f, &query, &options, true);
    expect_right(f, &query, &options);
}

static void windows_with_gaps_take_one_pass(void **state)
{
    fixture *const f = *state;
    use_workload(f, NULL, 952);
    const etlheap_time_range ranges[] = { { 30 * MS, 35 * MS },
                                          { INT64_MIN, 10 * MS },
                                          { 12 * MS, 12 * MS },
                                          { 15 * MS, 30 * MS },
                                          { 36 * MS, INT64_MAX } };
    const etlheap_query query = by_process();
    etlheap_windows_options options = { .size = sizeof options,
                                        .ranges = ranges,
                                        .range_count = ETL_COUNT_OF(ranges) };
    expect_all_same(f, &query, &options, true);
    expect_right(f, &query, &options);
    options.ranges = ranges + 2; /* neither end is open */
    options.range_count = 2;
    expect_all_same(f, &query, &options, true);
    /* What is open lies behind what is not. */
    const etlheap_time_range outside[] = { { INT64_MIN, -50 * MS },
                                           { -50 * MS, 20 * MS },
                                           { 900 * MS, INT64_MAX } };
    options.ranges = outside;
    options.range_count = ETL_COUNT_OF(outside);
    expect_all_same(f, &query, &options, true);
    /* What is open is the query's, and not the end of the widest window. */
    const etlheap_time_range wider[] = {
        { 2 * MS, 5 * MS }, { INT64_MIN, 20 * MS }, { 30 * MS, INT64_MAX }, { 42 * MS, 45 * MS }
    };
    etlheap_query narrow = query;
    narrow.from_ns = 11 * MS;
    narrow.to_ns = 33 * MS;
    options.ranges = wider;
    options.range_count = ETL_COUNT_OF(wider);
    expect_all_same(f, &narrow, &options, true);
    expect_right(f, &narrow, &options);
}

static void overlapping_windows_are_answered_from_a_store_too(void **state)
{
    fixture *const f = *state;
    use_workload(f, NULL, 953);
    const etlheap_time_range ranges[] = {
        { 10 * MS, 35 * MS }, { 5 * MS, 12 * MS }, { 11 * MS, 50 * MS }, { 36 * MS, INT64_MAX }
    };
    const etlheap_query query = by_process();
    const etlheap_windows_options options = { .size = sizeof options,
                                              .ranges = ranges,
                                              .range_count = ETL_COUNT_OF(ranges) };
    expect_all_same(f, &query, &options, false);
    expect_right(f, &query, &options);
    const etlheap_options how = { .size = sizeof how, ASKED_WINDOWS(&query, &options) };
    etlheap_result *const kept = check_analyze(&f->traces, &how);
    assert_true(etlheap_result_is_for_questions(kept));
    char *const expected = text_of(f->rows, &query, &options);
    expect_text(expected, text_of(kept, &query, &options), "log");
    free(expected);
    etlheap_result_free(kept);
}

/* A heap destroyed, a process ended, a block displaced: ends that are noticed late;
 * and blocks too big for a word of the event list. */
static void late_ends_and_big_blocks_are_in_their_windows(void **state)
{
    fixture *const f = *state;
    etl_build *const b = etl_build_new(&(etl_build_options){ .buffer_bytes = 4096 });
    i64 ticks = 1001000;
    for (u32 i = 0; i < 3000; i++, ticks += 37) {
        const etl_build_at at = { .ticks = ticks, .pid = 42, .tid = 7 };
        const u64 heap = 0x100000 + i / 500 * 0x10000;
        const u64 size = i % 50 == 0 ? (u64)5 << 30 : i % 70 == 0 ? (u64)3 << 30 : 16 + i % 9;
        etl_build_heap_alloc(b, at, heap, 0x10000 + (u64)(i % 300) * 0x100, size);
        if (i % 3 != 0) {
            etl_build_at later = at;
            later.ticks += 11;
            etl_build_heap_free(b, later, heap, 0x10000 + (u64)(i % 300) * 0x100);
        }
        if (i % 500 == 499)
            etl_build_heap_destroy(b, (etl_build_at){ .ticks = ticks + 20, .pid = 42, .tid = 7 },
                                   heap);
    }
    use_trace(f, b);
    for (u32 i = 0; i < 3; i++) {
        const etlheap_query query = by_process();
        const etlheap_windows_options options = { .size = sizeof options,
                                                  .every_ns = 300 + i * 400000 };
        etlheap_query narrow = query;
        narrow.to_ns = i == 0 ? 2 * MS : INT64_MAX;
        expect_all_same(f, &narrow, &options, true);
        if (i > 0)
            expect_right(f, &narrow, &options);
    }
}

/* With an open start windows lie around time zero; the first begins with the first
 * event and is shorter. */
static void events_before_time_zero_have_windows_too(void **state)
{
    fixture *const f = *state;
    etl_build *const b = etl_build_new(NULL);
    for (i64 i = 0; i < 400; i++) {
        const etl_build_at at = { .ticks = 1000000 - 2550 + 13 * i, .pid = 42, .tid = 7 };
        if (i % 3 == 2)
            etl_build_heap_free(b, at, 0x1F0000, 0x10000 + (u64)(i - i % 7 - 1) * 0x100);
        else
            etl_build_heap_alloc(b, at, 0x1F0000, 0x10000 + (u64)i * 0x100, 100 + (u64)i);
    }
    use_trace(f, b);
    const etlheap_query query = by_process();
    const etlheap_windows_options options = { .size = sizeof options, .every_ns = 100000 };
    etlheap_windows *const windows = windows_check_make(f->rows, &query, &options);
    assert_int_equal(windows->windows[0].from_ns, -255000);
    assert_int_equal(windows->windows[0].to_ns, -200000);
    assert_int_equal(windows->windows[1].to_ns, -100000);
    etlheap_windows_free(windows);
    expect_all_same(f, &query, &options, true);
    expect_right(f, &query, &options);
}

/* A clock gone mad: times that no nanoseconds can tell. */
static void times_far_away_have_windows_too(void **state)
{
    fixture *const f = *state;
    static const i64 ticks[] = {
        5, 1000500, 1002000, INT64_MAX / 200, INT64_MAX / 100, INT64_MAX / 3, INT64_MAX / 10 * 9
    };
    etl_build *const b = etl_build_new(NULL);
    for (u32 i = 0; i < ETL_COUNT_OF(ticks); i++) {
        const etl_build_at at = { .ticks = ticks[i], .pid = 42, .tid = 7 };
        etl_build_heap_alloc(b, at, 0x1F0000, 0x10000 + i * 0x100, 100 + i);
        if (i % 2 != 0)
            etl_build_heap_free(b, at, 0x1F0000, 0x10000 + (i - 1) * 0x100);
    }
    use_trace(f, b);
    const i64 cuts[] = { INT64_MAX / 2, INT64_MAX - 1, 0 };
    const etlheap_query query = by_process();
    const etlheap_windows_options options[] = {
        { .size = sizeof *options, .every_ns = INT64_MAX / 17 },
        { .size = sizeof *options, .every_ns = INT64_MAX },
        { .size = sizeof *options, .cuts = cuts, .cut_count = ETL_COUNT_OF(cuts) },
    };
    for (u32 i = 0; i < ETL_COUNT_OF(options); i++)
        expect_all_same(f, &query, &options[i], true);
}

/* Streams whose time goes back now and then. What is ordered by which time depends on
 * the slices then, for lifetimes alike. */
static void times_that_go_back_are_in_one_window_only(void **state)
{
    fixture *const f = *state;
    static const u64 slices[] = { 0, 1, 8000 };
    etl_build *const b =
        etl_build_new(&(etl_build_options){ .buffer_bytes = 2048, .order = ETL_BUILD_AS_CALLED });
    u64 random = 3;
    for (u32 i = 0; i < 6000; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        const i64 back = i % 20 == 0 ? (i64)((random >> 33) % 40000) : 0;
        const etl_build_at at = { .ticks = 1100000 + 80 * (i64)i - back, .pid = 42, .tid = 7 };
        const u64 address = 0x10000 + (random >> 20) % 300 * 0x100;
        if (i % 900 == 899)
            etl_build_heap_destroy(b, at, 0x1F0000);
        else if ((random >> 50) % 2 == 0)
            etl_build_heap_free(b, at, 0x1F0000, address);
        else
            etl_build_heap_alloc(b, at, 0x1F0000, address, 16 + i % 9);
    }
    check_open(&f->traces, b);
    for (u32 i = 0; i < ETL_COUNT_OF(slices); i++) {
        etlheap_query query = by_process();
        query.jobs = 1 + i;
        const etlheap_windows_options options = { .size = sizeof options,
                                                  .every_ns = MS / 4 * (1 + i) };
        const etlheap_options how = { .size = sizeof how, .slice_bytes = slices[i] };
        f->rows = check_analyze(&f->traces, &how);
        expect_right(f, &query, &options);
        char *const expected = text_of(f->rows, &query, &options);
        expect_text(expected, text_of_event_list(f, &query, &options, slices[i]), "event list");
        free(expected);
        etlheap_result_free(f->rows);
        f->rows = NULL;
    }
}

/* Many segments of a walk: cells of one window meet across them. */
static void segments_of_a_walk_are_joined(void **state)
{
    fixture *const f = *state;
    enum { EVENTS = 1160000, PLACES = 5000 };
    etl_build *const b = etl_build_new(&(etl_build_options){ .buffer_bytes = 65536 });
    u64 random = 7;
    static bool in_use[PLACES];
    memset(in_use, 0, sizeof in_use);
    for (u32 i = 0; i < EVENTS; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        const u32 place = (u32)(random >> 33) % PLACES;
        const u64 address = 0x10000 + (u64)place * 0x100;
        const etl_build_at at = { .ticks = 1001000 + 10 * (i64)i, .pid = 42, .tid = 7 };
        if (in_use[place])
            etl_build_heap_free(b, at, 0x1F0000, address);
        else
            etl_build_heap_alloc(b, at, 0x1F0000 + (place % 3) * 0x1000, address,
                                 16 + place % 99 + i / 10000);
        in_use[place] = !in_use[place];
    }
    use_trace(f, b);
    const i64 cuts[] = { 500 * MS, 900 * MS + 1, 900 * MS + 2500, 1120 * MS };
    etlheap_query query = by_process();
    query.group_by[query.group_by_count++] = ETLHEAP_KEY_HEAP;
    etlheap_windows_options options = { .size = sizeof options, .cuts = cuts, .cut_count = 4 };
    char *expected = text_of(f->rows, &query, &options);
    expect_text(expected, text_of_event_list(f, &query, &options, 0), "event list");
    query.jobs = 2;
    expect_text(expected, text_of_store(f, &query, &options), "store");
    free(expected);
    query.from_ns = 1100 * MS; /* behind a checkpoint */
    options = (etlheap_windows_options){ .size = sizeof options, .every_ns = 7 * MS };
    expected = text_of(f->rows, &query, &options);
    expect_text(expected, text_of_store(f, &query, &options), "store from a checkpoint");
    free(expected);
}

static void an_event_list_on_disk_says_the_same(void **state)
{
    fixture *const f = *state;
    etl_build *const b = etl_build_new(NULL);
    const etl_build_stack stack = { .user = (const u64[]){ 0x1000, 0x2000 }, .user_count = 2 };
    for (u32 i = 0; i < 90000; i++) {
        const etl_build_at at = { .ticks = 1001000 + 400 * (i64)i, .pid = 42, .tid = 7 };
        etl_build_heap_alloc(b, at, 0x1F0000, 0x10000 + (i % 100) * 0x100, 16 + i % 7);
        etl_build_stack_walk(b, at, &stack);
        etl_build_at later = at;
        later.ticks += 300;
        if (i % 50 != 0)
            etl_build_heap_free(b, later, 0x1F0000, 0x10000 + (i % 100) * 0x100);
    }
    use_trace(f, b);
    const etlheap_query query = by_process();
    const etlheap_windows_options options = { .size = sizeof options, .every_ns = 90 * MS };
    const etlheap_options how = { .size = sizeof how,
                                  .slice_bytes = 20000,
                                  ASKED_WINDOWS(&query, &options),
                                  .temporary_folder = temporary_folder(),
                                  .memory_bytes_max = 4 * ETL_MIB };
    etlheap_result *const kept = check_analyze(&f->traces, &how);
    assert_true(kept->event_list.file_bytes > 0);
    char *const expected = text_of(f->rows, &query, &options);
    expect_text(expected, text_of(kept, &query, &options), "event list on disk");
    free(expected);
    etlheap_windows *windows = NULL;
    etl_error err = { .status = ETL_OK };
    assert_int_equal(close(kept->event_list.file), 0);
    kept->event_list.file = -1;
    assert_int_equal(etlheap_windows_make(kept, &query, &options, &windows, &err), ETL_ERR_IO);
    assert_int_equal(err.offset, 0);
    assert_non_null(strstr(err.message, "cannot be read back"));
    assert_null(windows);
    etlheap_result_free(kept);
}

/* An event list answers for its own windows, in any groups; a report is another thing. */
static void an_event_list_answers_for_its_windows_alone(void **state)
{
    fixture *const f = *state;
    use_workload(f, NULL, 954);
    etlheap_query query = by_process();
    const etlheap_windows_options options = { .size = sizeof options, .every_ns = 5 * MS };
    etlheap_result *const kept = keep_event_list(f, &query, &options, 0);
    etlheap_query by_stack = query;
    by_stack.group_by[2] = ETLHEAP_KEY_STACK;
    by_stack.group_by_count = 3;
    char *const expected = text_of(f->rows, &by_stack, &options);
    expect_text(expected, text_of(kept, &by_stack, &options), "other groups");
    free(expected);
    etlheap_query others[3] = { query, query, query };
    others[0].from_ns = 2 * MS;
    others[1].at_exit_freed = false;
    others[2].to_ns = 40 * MS;
    static const i64 lengths[] = { 5 * MS + 100, 10 * MS, MS }; /* of other windows */
    for (u32 i = 0; i < ETL_COUNT_OF(others) + ETL_COUNT_OF(lengths); i++) {
        const bool is_other = i < ETL_COUNT_OF(others);
        etlheap_windows_options other = options;
        other.every_ns = is_other ? other.every_ns : lengths[i - ETL_COUNT_OF(others)];
        etlheap_windows *windows = NULL;
        etl_error err;
        assert_int_equal(
            etlheap_windows_make(kept, is_other ? &others[i] : &query, &other, &windows, &err),
            ETL_ERR_ARGUMENT);
    }
    /* Without some of these cuts the first or the last window is longer. */
    static const i64 cuts[] = { 5 * MS,  10 * MS, 15 * MS, 20 * MS, 25 * MS, 30 * MS,
                                35 * MS, 40 * MS, 45 * MS, 50 * MS, 55 * MS };
    static const u32 some[][2] = { { 1, 10 }, { 0, 3 }, { 0, 0 } }; /* from, count */
    for (u32 i = 0; i < ETL_COUNT_OF(some); i++) {
        const etlheap_windows_options other = { .size = sizeof other,
                                                .cuts = cuts + some[i][0],
                                                .cut_count = some[i][1] };
        etlheap_windows *windows = NULL;
        assert_int_equal(etlheap_windows_make(kept, &query, &other, &windows, NULL),
                         ETL_ERR_ARGUMENT);
    }
    etlheap_table *table = NULL;
    assert_int_equal(etlheap_aggregate(kept, &query, &table, NULL), ETL_ERR_ARGUMENT);
    etlheap_result_free(kept);
}

int main(void)
{
#define RULE(name) cmocka_unit_test_setup_teardown(name, open_fixture, close_fixture)
    const struct CMUnitTest tests[] = {
        RULE(all_sources_say_the_same),
        RULE(cells_are_what_lifetimes_say),
        RULE(what_takes_lifetimes_has_them_from_all_sources),
        RULE(ends_that_fall_on_events_belong_to_the_later_window),
        RULE(windows_with_gaps_take_one_pass),
        RULE(overlapping_windows_are_answered_from_a_store_too),
        RULE(late_ends_and_big_blocks_are_in_their_windows),
        RULE(events_before_time_zero_have_windows_too),
        RULE(times_far_away_have_windows_too),
        RULE(times_that_go_back_are_in_one_window_only),
        RULE(segments_of_a_walk_are_joined),
        RULE(an_event_list_on_disk_says_the_same),
        RULE(an_event_list_answers_for_its_windows_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
