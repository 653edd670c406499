/*
 * Goal: a client that sets its flag gets no answer, soon, and the result answers the next question
 * as if nothing had happened.
 * Method: each kind of question is asked of rows in memory, of a log, of an event list and of sums,
 * with a flag that was set before, and with one that a second thread sets after a while: the call
 * answers as without a flag, or is cancelled. For each loop over batches a function of the test
 * sets the flag at its first batch and counts: at most one batch for each thread.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "answer_check.h"
#include "engine/core/workers.h"
#include "engine/fold/feed.h"
#include "engine/fold/replay_walk.h"
#include "walk_world.h"

#define BLOCKS    20000u
#define TASKS     4u
#define PARTS     40u
#define ROUNDS    12u
#define FIRST_NS  (10 * MS)
#define BLOCK_NS  INT64_C(1000)
#define START     1000000
#define SLICES_AT 65536u

/* --- the world -------------------------------------------------------------------------- */

/* Every third block is freed at once, another third later. Every tenth time also commits, and a
 * part is decommitted. */
static void add_block(etl_build *b, u32 i)
{
    const u64 frames[] = { 0x401000 + 16 * (i % 97), 0x402000 };
    const etl_build_at at = { .ticks = START + 10000 + i, .pid = 42, .tid = 4 + 4 * (i % 5) };
    etl_build_heap_alloc(b, at, 0x1f0000, 0x20000000 + 64 * (u64)i, 8 + i % 50);
    etl_build_stack_walk(b, at, &(etl_build_stack){ .user = frames, .user_count = 2 });
    if (i % 3 == 0)
        etl_build_heap_free(b, at, 0x1f0000, 0x20000000 + 64 * (u64)i);
    if (i % 3 == 1 && i > 3000)
        etl_build_heap_free(b, at, 0x1f0000, 0x20000000 + 64 * (u64)(i - 3000));
    if (i % 10 == 0) {
        etl_build_virtual_alloc(b, at, 0x70000000 + 0x20000 * (u64)i, 0x8000, 0x3000);
        etl_build_virtual_free(b, at, 0x70000000 + 0x20000 * (u64)i, 0x1000, 0x4000);
    }
}

static int open_world(void **state)
{
    const etl_build_options session = { .buffer_bytes = 16384, .clock_hz = 1000000 };
    if (walk_world_open(state) != 0)
        return -1;
    walk_world *const f = *state;
    etl_build *const b = etl_build_new(&session);
    for (u32 i = 0; i < BLOCKS; i++)
        add_block(b, i);
    etl_build_heap_free(b, (etl_build_at){ .ticks = START + 2 * BLOCKS, .pid = 42, .tid = 4 },
                        0x1f0000, 0x1000000);
    check_open(&f->traces, b);
    walk_world_analyze(f);
    return 0;
}

/* --- questions -------------------------------------------------------------------------- */

typedef struct asking {
    const char *name;
    etlheap_question_kind kind;
    bool peaks, types, growth, churn, ranks, unmatched, frees, overlap;
    u32 top;
} asking;

static const asking askings[] = {
    { .name = "sums", .kind = ETLHEAP_ASK_TABLE },
    { .name = "peaks of rows", .kind = ETLHEAP_ASK_TABLE, .peaks = true, .types = true },
    { .name = "growth", .kind = ETLHEAP_ASK_TABLE, .growth = true },
    { .name = "churn", .kind = ETLHEAP_ASK_TABLE, .churn = true, .peaks = true },
    { .name = "ranks", .kind = ETLHEAP_ASK_TABLE, .ranks = true },
    { .name = "who freed", .kind = ETLHEAP_ASK_TABLE, .frees = true },
    { .name = "unmatched", .kind = ETLHEAP_ASK_TABLE, .unmatched = true },
    { .name = "windows", .kind = ETLHEAP_ASK_WINDOWS },
    { .name = "windows that overlap", .kind = ETLHEAP_ASK_WINDOWS, .overlap = true },
    { .name = "histogram", .kind = ETLHEAP_ASK_HISTOGRAM },
    { .name = "peak", .kind = ETLHEAP_ASK_PEAKS },
    { .name = "first rows", .kind = ETLHEAP_ASK_LIFETIMES, .top = 20 },
    { .name = "suspects", .kind = ETLHEAP_ASK_SUSPECTS },
    { .name = "map", .kind = ETLHEAP_ASK_MAP },
};

#define ASKINGS ETL_COUNT_OF(askings)

/* A question with what it borrows. */
typedef struct asked {
    etlheap_query query;
    etlheap_time_range ranges[2];
    etlheap_windows_options windows;
    etlheap_lifetimes_options lifetimes;
    etlheap_question question;
} asked;

/* An analysis without questions does not keep who freed. */
static bool is_in_memory(const asking *of)
{
    return !of->frees && !of->unmatched;
}

static void make_question(const asking *of, const u32 *cancel, asked *out)
{
    *out = (asked){ .query = etlheap_query_default() };
    etlheap_query *const query = &out->query;
    query->jobs = TASKS;
    query->cancel = cancel;
    query->growth = of->growth;
    query->sums_only = !of->peaks;
    query->churn = of->churn;
    query->lifetime_ranks = of->ranks;
    query->unmatched = of->unmatched;
    query->group_by_count = 0;
    query->group_by[query->group_by_count++] = ETLHEAP_KEY_KIND;
    if (of->types)
        query->group_by[query->group_by_count++] = ETLHEAP_KEY_TYPE;
    query->group_by[query->group_by_count++] =
        of->frees || of->unmatched ? ETLHEAP_KEY_FREE_THREAD : ETLHEAP_KEY_STACK;
    if (of->unmatched)
        query->sort = ETLHEAP_MEASURE_COUNT;
    out->ranges[0] = (etlheap_time_range){ FIRST_NS, FIRST_NS + 5000 * BLOCK_NS };
    out->ranges[1] = (etlheap_time_range){ FIRST_NS + (of->overlap ? 2000 : 5000) * BLOCK_NS,
                                           FIRST_NS + 9000 * BLOCK_NS };
    out->windows = (etlheap_windows_options){ .size = sizeof out->windows,
                                              .ranges = out->ranges,
                                              .range_count = 2 };
    out->lifetimes = (etlheap_lifetimes_options){ .size = sizeof out->lifetimes,
                                                  .sort = ETLHEAP_LIFETIME_SIZE,
                                                  .top = of->top };
    out->question =
        (etlheap_question){ .size = sizeof out->question, .kind = of->kind, .query = query };
    out->question.windows = of->kind == ETLHEAP_ASK_WINDOWS ? &out->windows : NULL;
    out->question.lifetimes = of->kind == ETLHEAP_ASK_LIFETIMES ? &out->lifetimes : NULL;
}

static char *expected_of(const etlheap_result *result, const asking *of)
{
    asked one;
    etlheap_answer answer;
    etl_error err;
    make_question(of, NULL, &one);
    if (etlheap_ask(result, &one.question, 1, &answer, &err) != ETL_OK)
        fail_msg("%s: %s", of->name, err.message);
    char *const text = answer_check_text(&answer);
    etlheap_answers_free(&answer, 1);
    return text;
}

/* Frees what was found. */
static void expect_same(const char *expected, char *found)
{
    assert_true(check_same_text(expected, found));
    free(found);
}

static void expect_nothing(const asking *of, const etlheap_answer *answer)
{
    const etlheap_answer none = { .table = NULL };
    if (memcmp(answer, &none, sizeof none) != 0)
        fail_msg("%s: half an answer", of->name);
}

/* --- a flag that is set before -------------------------------------------------------------- */

static void expect_cancelled(const etlheap_result *result, const asking *of)
{
    const u32 cancel = 1;
    asked one;
    etlheap_answer answer;
    etl_error err = { .status = ETL_OK };
    char *const before = expected_of(result, of);
    make_question(of, &cancel, &one);
    const etl_status status = etlheap_ask(result, &one.question, 1, &answer, &err);
    if (status != ETL_ERR_CANCELLED || err.status != status)
        fail_msg("%s: status %d", of->name, (int)status);
    assert_string_equal(err.message, "cancelled");
    expect_nothing(of, &answer);
    expect_same(before, expected_of(result, of));
    free(before);
}

static void a_flag_that_is_set_cancels_every_question(void **state)
{
    const walk_world *const f = *state;
    for (u32 i = 0; i < ASKINGS; i++) {
        if (is_in_memory(&askings[i]))
            expect_cancelled(f->rows, &askings[i]);
        expect_cancelled(f->store, &askings[i]);
    }
}

/* Results that keep sums, an event list, or a log in memory. */
static void a_flag_cancels_questions_of_an_analysis(void **state)
{
    const walk_world *const f = *state;
    const u32 numbers[] = { 0, 1, 2, 5, 6, 7 };
    for (u32 i = 0; i < ETL_COUNT_OF(numbers); i++) {
        const asking *const of = &askings[numbers[i]];
        asked one;
        make_question(of, NULL, &one);
        const etlheap_options options = { .size = sizeof options,
                                          .questions = &one.question,
                                          .question_count = 1 };
        etlheap_result *const result = check_analyze(&f->traces, &options);
        expect_cancelled(result, of);
        etlheap_result_free(result);
    }
}

/* One flag of several is enough, and questions with different flags are answered alike. */
static void one_of_several_flags_cancels_all(void **state)
{
    const walk_world *const f = *state;
    for (u32 which = 0; which <= ASKINGS; which++) {
        u32 flags[ASKINGS] = { 0 };
        asked all[ASKINGS];
        etlheap_question questions[ASKINGS];
        etlheap_answer answers[ASKINGS];
        for (u32 i = 0; i < ASKINGS; i++) {
            flags[i] = i == which;
            make_question(&askings[i], &flags[i], &all[i]);
            questions[i] = all[i].question;
        }
        const etl_status status = etlheap_ask(f->store, questions, ASKINGS, answers, NULL);
        assert_int_equal(status, which < ASKINGS ? ETL_ERR_CANCELLED : ETL_OK);
        for (u32 i = 0; i < ASKINGS; i++) {
            if (which < ASKINGS) {
                expect_nothing(&askings[i], &answers[i]);
                continue;
            }
            char *const expected = expected_of(f->store, &askings[i]);
            expect_same(expected, answer_check_text(&answers[i]));
            free(expected);
        }
        etlheap_answers_free(answers, ASKINGS);
    }
}

/* --- a flag that a second thread sets -------------------------------------------------------- */

typedef struct race {
    const etlheap_result *result;
    const etlheap_question *question;
    etlheap_answer answer;
    etl_status status;
    u32 cancel, patience;
    u32 is_begun;
} race;

static void run_race(void *context, u32 task)
{
    race *const r = context;
    if (task == 0) {
        __atomic_store_n(&r->is_begun, 1, __ATOMIC_RELEASE);
        r->status = etlheap_ask(r->result, r->question, 1, &r->answer, NULL);
        return;
    }
    while (__atomic_load_n(&r->is_begun, __ATOMIC_ACQUIRE) == 0) {
    }
    for (u32 i = 0; i < r->patience; i++)
        (void)__atomic_load_n(&r->is_begun, __ATOMIC_ACQUIRE);
    __atomic_store_n(&r->cancel, 1, __ATOMIC_RELAXED);
}

static void race_for(const etlheap_result *result, const asking *of, u32 round)
{
    asked one;
    char *const expected = expected_of(result, of);
    race r = { .result = result, .patience = 64u << round };
    make_question(of, &r.cancel, &one);
    r.question = &one.question;
    etlheap_workers_run(2, 2, run_race, &r);
    if (r.status != ETL_OK && r.status != ETL_ERR_CANCELLED)
        fail_msg("%s: status %d", of->name, (int)r.status);
    if (r.status == ETL_OK)
        expect_same(expected, answer_check_text(&r.answer));
    else
        expect_nothing(of, &r.answer);
    etlheap_answers_free(&r.answer, 1);
    expect_same(expected, expected_of(result, of));
    free(expected);
}

static void a_second_thread_cancels_or_comes_too_late(void **state)
{
    const walk_world *const f = *state;
    for (u32 i = 0; i < ASKINGS; i++) {
        for (u32 round = i % 3; round < ROUNDS; round += 3) {
            if (is_in_memory(&askings[i]))
                race_for(f->rows, &askings[i], round);
            race_for(f->store, &askings[i], round);
        }
    }
}

/* --- batches after the flag ------------------------------------------------------------------ */

/* What all tasks of a loop share: the first batch sets the flag. */
typedef struct counting {
    u32 cancel;
    u32 batches;
} counting;

static void count_batch(counting *shared)
{
    __atomic_fetch_add(&shared->batches, 1, __ATOMIC_RELAXED);
    __atomic_store_n(&shared->cancel, 1, __ATOMIC_RELAXED);
}

static etl_status step(void *state, const lifetimes_batch *batch, etl_error *err)
{
    (void)batch;
    (void)err;
    count_batch(*(counting **)state);
    return ETL_OK;
}

static void count_feed(const etlheap_result *result)
{
    counting shared = { .cancel = 0 };
    counting *states[TASKS];
    etlheap_query query = etlheap_query_default();
    aggregator a;
    origin_groups groups;
    block_feed feed = { .result = NULL };
    etl_error err;
    query.jobs = TASKS;
    query.cancel = &shared.cancel;
    for (u32 i = 0; i < TASKS; i++)
        states[i] = &shared;
    assert_int_equal(aggregate_prepare(&a, result, &query, NULL), ETL_OK);
    assert_int_equal(feed_groups(&feed, &a, &groups, NULL), ETL_OK);
    const block_want want = { .plan = &a.plan,
                              .step = step,
                              .states = { states, sizeof *states },
                              .of_origin = groups.of_origin };
    assert_true(ETLHEAP_PUSH(&feed.wants, want));
    assert_int_equal(feed_blocks(&feed, &err), ETL_ERR_CANCELLED);
    assert_in_range(shared.batches, 1, TASKS);
    assert_int_equal(err.status, ETL_ERR_CANCELLED);
    origin_groups_close(&groups);
    feed_close(&feed);
    aggregate_close(&a);
}

static void a_feed_stops_after_a_batch_of_each_thread(void **state)
{
    const walk_world *const f = *state;
    count_feed(f->rows);
    count_feed(f->store);
}

static u64 part_events(const void *user, u32 part)
{
    (void)user;
    (void)part;
    return (u64)1 << 20; /* a segment of the walk */
}

static bool part_starts_tick(const void *user, u32 part)
{
    (void)user;
    (void)part;
    return true;
}

static etl_status walk_part(const void *user, u32 part, replay_walker *walkers)
{
    (void)part;
    (void)walkers;
    count_batch(*(counting *const *)user);
    return ETL_OK;
}

static void a_walk_over_events_stops_after_a_part_of_each_thread(void **state)
{
    (void)state;
    const u32 groups[] = { GROUP_NONE, 0 };
    const u32 never = 0;
    counting shared = { .cancel = 0 };
    counting *const user = &shared;
    const replay_source source = { PARTS, part_events, part_starts_tick, walk_part, &user };
    replay_job jobs[2] = { { .walk.cancel = &never }, { .walk.cancel = &shared.cancel } };
    for (u32 i = 0; i < 2; i++) {
        jobs[i].walk.origin_groups = groups;
        jobs[i].walk.origin_count = jobs[i].walk.group_count = 1;
    }
    replay_job *const both[] = { &jobs[0], &jobs[1] };
    assert_int_equal(replay_jobs_run(both, 2, TASKS, &source, NULL), ETL_ERR_CANCELLED);
    assert_in_range(shared.batches, 1, TASKS);
    for (u32 i = 0; i < 2; i++)
        replay_job_free(&jobs[i]);
}

static void a_reader_of_a_log_stops_at_once(void **state)
{
    const walk_world *const f = *state;
    u32 cancel = 0;
    log_reader reader;
    const log_batch *batch = NULL;
    const log_blocks *blocks = NULL;
    assert_int_equal(archive_read(f->store->archive, EHS_WANT_ENDS, &cancel, &reader, NULL),
                     ETL_OK);
    assert_int_equal(log_next(&reader, &batch, NULL), ETL_OK);
    assert_non_null(batch);
    cancel = 1;
    assert_int_equal(log_next(&reader, &batch, NULL), ETL_ERR_CANCELLED);
    cancel = 0;
    assert_int_equal(log_next(&reader, &batch, NULL), ETL_OK);
    assert_non_null(batch);
    log_reader_close(&reader);
    assert_int_equal(archive_read(f->store->archive, EHS_WANT_SIZE, &cancel, &reader, NULL),
                     ETL_OK);
    cancel = 1;
    assert_int_equal(log_next_blocks(&reader, &blocks, NULL), ETL_ERR_CANCELLED);
    cancel = 0;
    assert_int_equal(log_next_blocks(&reader, &blocks, NULL), ETL_OK);
    assert_non_null(blocks);
    log_reader_close(&reader);
}

/* --- lists, and analyses ---------------------------------------------------------------------- */

/* Reads a list up to its end, with the flag set after a row. Returns the rows. */
static u32 read_list(const etlheap_result *result, u32 set_after, etl_status *status)
{
    u32 cancel = 0, rows = 0;
    etlheap_query query = etlheap_query_default();
    etlheap_lifetimes *walk = NULL;
    query.jobs = TASKS;
    query.cancel = &cancel;
    assert_int_equal(etlheap_lifetimes_open(result, &query, NULL, &walk, NULL), ETL_OK);
    etlheap_lifetime row;
    while (etlheap_lifetimes_next(walk, &row)) {
        rows++;
        cancel = rows >= set_after;
    }
    *status = etlheap_lifetimes_status(walk, NULL);
    etlheap_lifetimes_close(walk);
    return rows;
}

static void a_list_stops_before_its_next_batch(void **state)
{
    const walk_world *const f = *state;
    etl_status status;
    const u32 all = read_list(f->store, UINT32_MAX, &status);
    assert_int_equal(status, ETL_OK);
    assert_true(all > BLOCKS);
    assert_true(read_list(f->store, 1, &status) < all);
    assert_int_equal(status, ETL_ERR_CANCELLED);
}

/* Progress sets the flag, and is never asked again. */
static bool set_flag(void *user, u64 done_bytes, u64 total_bytes)
{
    (void)done_bytes;
    (void)total_bytes;
    count_batch(user);
    return true;
}

static bool take(void *user, const void *bytes, size_t size)
{
    (void)user;
    (void)bytes;
    (void)size;
    return true;
}

static void expect_analysis_cancelled(const walk_world *f, etlheap_options *options)
{
    counting shared = { .cancel = 0 };
    etlheap_result *result = NULL;
    etl_error err;
    options->size = sizeof *options;
    options->jobs = TASKS;
    options->slice_bytes = SLICES_AT;
    options->progress = set_flag;
    options->progress_user = &shared;
    options->cancel = &shared.cancel;
    assert_int_equal(
        etlheap_analyze(f->traces.at, f->traces.names, f->traces.count, options, &result, &err),
        ETL_ERR_CANCELLED);
    assert_null(result);
    assert_string_equal(err.message, "cancelled");
    assert_int_equal(shared.batches, 1);
}

static void an_analysis_stops_after_a_slice(void **state)
{
    const walk_world *const f = *state;
    const etlheap_store_options store = { .size = sizeof store, .write = take };
    expect_analysis_cancelled(f, &(etlheap_options){ .jobs = 0 });
    expect_analysis_cancelled(f, &(etlheap_options){ .inventory_only = true });
    expect_analysis_cancelled(f, &(etlheap_options){ .store = &store });
    for (u32 i = 0; i < ASKINGS; i++) {
        asked one;
        make_question(&askings[i], NULL, &one);
        expect_analysis_cancelled(
            f, &(etlheap_options){ .questions = &one.question, .question_count = 1 });
    }
}

static void opening_a_store_as_rows_can_be_cancelled(void **state)
{
    const walk_world *const f = *state;
    const u32 cancel = 1;
    const etlheap_options options = { .size = sizeof options, .cancel = &cancel };
    etlheap_result *result = NULL;
    assert_int_equal(etlheap_open_store(f->path, &options, &result, NULL), ETL_ERR_CANCELLED);
    assert_null(result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_flag_that_is_set_cancels_every_question),
        cmocka_unit_test(a_flag_cancels_questions_of_an_analysis),
        cmocka_unit_test(one_of_several_flags_cancels_all),
        cmocka_unit_test(a_second_thread_cancels_or_comes_too_late),
        cmocka_unit_test(a_feed_stops_after_a_batch_of_each_thread),
        cmocka_unit_test(a_walk_over_events_stops_after_a_part_of_each_thread),
        cmocka_unit_test(a_reader_of_a_log_stops_at_once),
        cmocka_unit_test(a_list_stops_before_its_next_batch),
        cmocka_unit_test(an_analysis_stops_after_a_slice),
        cmocka_unit_test(opening_a_store_as_rows_can_be_cancelled),
    };
    return cmocka_run_group_tests(tests, open_world, walk_world_close);
}
