/*
 * Goal: a fold gets the same blocks from a feed wherever they are kept, on any number of threads;
 * answers made of them are the same to the byte; and what no fold wants is not read.
 * Method: random workloads with several heaps and processes and with ranges that are decommitted in
 * parts, once as rows in memory and once as a log with rows beside it, also with events that have
 * only three times. Blocks are listed as text and compared with a plain loop over the rows in
 * memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "answer_check.h"
#include "engine/core/workers.h"
#include "engine/fold/block_selection.h"
#include "engine/fold/feed.h"
#include "formats/io/text_buffer.h"
#include "walk_world.h"

#define TASKS_MAX     16u
#define FIRST_NS_TICK 10 /* ticks of 1 ms since the start */
#define FIRST_TICK    (1000000 + FIRST_NS_TICK)
#define BLOCKS        600u

static const u32 task_counts[] = { 1, 2, 7, TASKS_MAX };

/* What is listed of a block. */
typedef struct listed_block {
    u32 kind, process, stack, thread;
    u64 heap, size, address;
    i64 alloc_ticks, free_ticks;
    u32 how, type;
    bool is_realloc;
} listed_block;

typedef ETLHEAP_VECTOR(listed_block) listed_blocks;

/* One reading of a feed. */
typedef struct reading {
    const etlheap_result *result;
    aggregator a;
    origin_groups groups;
    block_feed feed;
} reading;

typedef struct reading_task {
    const reading *shared;
    listed_blocks list;
    u64 of_log, of_rows; /* batches */
} reading_task;

/* --- blocks as text ------------------------------------------------------------------- */

static void put_block(FILE *out, const etlheap_result *result, const listed_block *block)
{
    const etlheap_process_info *const process = &result->processes.at[block->process - 1];
    fprintf(out, "%u %s %u %" PRIx64 " at %" PRIx64 " of %" PRIu64, block->kind, process->name,
            process->pid, block->heap, block->address, block->size);
    fprintf(out,
            " %" PRId64 "..%" PRId64 " how %u type %u realloc %d thread %u:", block->alloc_ticks,
            block->free_ticks, block->how, block->type, block->is_realloc, block->thread);
    if (block->stack != 0) {
        const etlheap_frames frames = etlheap_stack_frames(result, (etlheap_stack){ block->stack });
        for (u32 i = 0; i < frames.count; i++)
            fprintf(out, " %" PRIx64, frames.addresses[i]);
    }
    fputc('\n', out);
}

/* The lines are sorted. Empties the list. */
static char *text_of(const etlheap_result *result, listed_blocks *list)
{
    char *text = NULL;
    size_t size = 0;
    FILE *const out = open_memstream(&text, &size);
    assert_non_null(out);
    for (size_t i = 0; i < list->count; i++)
        put_block(out, result, &list->at[i]);
    assert_int_equal(fclose(out), 0);
    ETLHEAP_VECTOR_FREE(list);
    return walk_check_sorted(text);
}

/* --- through the feed ----------------------------------------------------------------- */

static void set_owner(const reading *r, const lifetimes_batch *batch, u32 at, listed_block *out)
{
    const u32 number = batch->origin[at];
    if (number >= r->feed.rows.origins.first) {
        const origin_key *const key =
            &r->feed.rows.origins.list.at[number - r->feed.rows.origins.first].key;
        assert_non_null(batch->process);
        assert_int_equal(batch->process[at], key->process);
        assert_int_equal(batch->kind[at], key->kind);
        out->kind = key->kind;
        out->process = key->process;
        out->heap = key->heap;
        out->stack = key->stack;
        return;
    }
    const origin_table *const origins = &r->result->origin_table;
    assert_null(batch->process);
    out->kind = ETLHEAP_KIND_HEAP;
    out->process = r->result->process_ids[origins_heap_of(origins, number)->process];
    out->heap = origins_heap_of(origins, number)->handle;
    out->stack = result_final_stack(r->result, origins->origins.at[number - 1].stack);
}

static etl_status step(void *state, const lifetimes_batch *batch, etl_error *err)
{
    reading_task *const task = state;
    const reading *const r = task->shared;
    (void)err;
    *(batch->process == NULL ? &task->of_log : &task->of_rows) += 1;
    for (u32 i = 0; i < batch->count; i++) {
        query_row row;
        if (r->groups.of_origin[batch->origin[i]] == GROUP_NONE ||
            !block_selected(&r->a.plan, batch, i, &row))
            continue;
        listed_block block = { .thread = lifetimes_batch_thread(r->result->archive, batch, i),
                               .size = batch->size[i],
                               .address = batch->address[i],
                               .alloc_ticks = row.alloc_ticks,
                               .free_ticks = row.free_ticks,
                               .how = batch->how[i],
                               .type = row.type,
                               .is_realloc = batch->is_realloc[i] != 0 };
        block.is_realloc |= batch->is_marked != NULL && batch->is_marked[i] != 0;
        set_owner(r, batch, i, &block);
        assert_true(ETLHEAP_PUSH(&task->list, block));
    }
    return ETL_OK;
}

/* Reads all that the query selects. `counts` gets the batches of the log, and of rows. */
static char *read_feed(const etlheap_result *result, const etlheap_query *query, u64 counts[2])
{
    reading r = { .result = result };
    reading_task tasks[TASKS_MAX] = { { .shared = &r } };
    const u32 task_count = feed_tasks(query);
    assert_in_range(task_count, 1, TASKS_MAX);
    for (u32 i = 0; i < task_count; i++)
        tasks[i] = (reading_task){ .shared = &r };
    assert_int_equal(aggregate_prepare(&r.a, result, query, NULL), ETL_OK);
    assert_int_equal(feed_groups(&r.feed, &r.a, &r.groups, NULL), ETL_OK);
    const block_want want = { .plan = &r.a.plan,
                              .step = step,
                              .states = { tasks, sizeof *tasks },
                              .more = EHS_WANT_ADDRESS | EHS_WANT_THREAD,
                              .of_origin = r.groups.of_origin };
    assert_true(ETLHEAP_PUSH(&r.feed.wants, want));
    assert_int_equal(feed_blocks(&r.feed, NULL), ETL_OK);
    listed_blocks all = { .at = NULL };
    counts[0] = counts[1] = 0;
    for (u32 i = 0; i < task_count; i++) {
        for (size_t k = 0; k < tasks[i].list.count; k++)
            assert_true(ETLHEAP_PUSH(&all, tasks[i].list.at[k]));
        counts[0] += tasks[i].of_log;
        counts[1] += tasks[i].of_rows;
        ETLHEAP_VECTOR_FREE(&tasks[i].list);
    }
    origin_groups_close(&r.groups);
    feed_close(&r.feed);
    aggregate_close(&r.a);
    return text_of(result, &all);
}

/* --- without it ----------------------------------------------------------------------- */

static char *read_plainly(const etlheap_result *result, const etlheap_query *query)
{
    aggregator a;
    listed_blocks all = { .at = NULL };
    assert_int_equal(aggregate_prepare(&a, result, query, NULL), ETL_OK);
    for (size_t s = 0; s < result->store.segments.count; s++) {
        const etlheap_segment of = store_view(&result->store.segments.at[s]);
        for (u32 i = 0; i < of.rows; i++) {
            const block_source source = { of.alloc_ticks[i], of.heap_handle[i], of.process[i],
                                          of.stack[i], of.kind[i] };
            query_row row;
            group_key key;
            if (!query_select(&a.plan, &of, i, &row))
                continue;
            assert_true(aggregate_key(&a, &source, row.type, &key));
            const listed_block block = { .kind = of.kind[i],
                                         .process = of.process[i],
                                         .stack = of.stack[i],
                                         .thread = of.thread[i],
                                         .heap = of.heap_handle[i],
                                         .size = of.size_bytes[i],
                                         .address = of.address[i],
                                         .alloc_ticks = row.alloc_ticks,
                                         .free_ticks = row.free_ticks,
                                         .how = of.free_type[i],
                                         .type = row.type,
                                         .is_realloc = of.is_realloc[i] != 0 };
            assert_true(key.unwanted || ETLHEAP_PUSH(&all, block));
        }
    }
    aggregate_close(&a);
    return text_of(result, &all);
}

/* --- tests ---------------------------------------------------------------------------- */

/* A process that allocates, frees, commits and decommits, all at one of three times. */
static void make_three_ticks(walk_world *f, u64 seed)
{
    const etl_build_options session = { .buffer_bytes = 16384, .clock_hz = 1000 };
    etl_build *const b = etl_build_new(&session);
    u32 frees[BLOCKS];
    for (u32 i = 0; i < BLOCKS; i++)
        frees[i] = i % 3 + (u32)(etlheap_hash_u64(seed + i) % 4); /* 3 and later: never */
    for (u32 tick = 0; tick < 3; tick++) {
        for (u32 i = tick; i < BLOCKS; i += 3) {
            const u64 frames[] = { 0x401000 + 16 * (i % 11), 0x402000 };
            const etl_build_at at = { .ticks = FIRST_TICK + tick,
                                      .pid = 42,
                                      .tid = 4 + 4 * (i % 5) };
            const u64 base = 0x7000000 + 0x20000 * (u64)i;
            etl_build_heap_alloc(b, at, 0x1f0000 + 0x10000 * (i % 2), 0x2000000 + 64 * i,
                                 8 + i % 50);
            etl_build_stack_walk(b, at, &(etl_build_stack){ .user = frames, .user_count = 2 });
            if (i % 7 == 0)
                etl_build_virtual_alloc(b, at, base, 0x8000, 0x3000);
        }
        for (u32 i = 0; i < BLOCKS; i++) {
            const etl_build_at at = { .ticks = FIRST_TICK + tick,
                                      .pid = 42,
                                      .tid = 4 + 4 * (i % 3) };
            if (frees[i] != tick)
                continue;
            etl_build_heap_free(b, at, 0x1f0000 + 0x10000 * (i % 2), 0x2000000 + 64 * i);
            if (i % 7 == 0)
                etl_build_virtual_free(b, at, 0x7000000 + 0x20000 * (u64)i + 0x1000, 0x3000,
                                       0x4000);
        }
    }
    check_open(&f->traces, b);
    walk_world_analyze(f);
}

/* Windows that begin and end at these times. */
static void ask_of_three_ticks(u32 number, walk_query *out)
{
    *out = (walk_query){ .query = etlheap_query_default() };
    out->query.at_exit_freed = number % 2 != 0;
    if (number % 3 != 0)
        out->query.from_ns = (FIRST_NS_TICK + number % 3) * MS;
    if (number % 4 != 0)
        out->query.to_ns = (FIRST_NS_TICK + number % 4) * MS;
    if (out->query.from_ns > out->query.to_ns)
        out->query.to_ns = INT64_MAX;
}

static void ask(const walk_world *f, u32 number, walk_query *out)
{
    if (f->work == NULL)
        ask_of_three_ticks(number, out);
    else
        walk_world_ask(f, number, out);
}

static void expect_same_blocks(const walk_world *f, u32 number)
{
    walk_query asked;
    u64 counts[2];
    ask(f, number, &asked);
    etlheap_query *const query = &asked.query;
    query->group_by[0] = ETLHEAP_KEY_KIND;
    query->group_by[1] = ETLHEAP_KEY_STACK;
    query->group_by_count = 2;
    char *const expected = read_plainly(f->rows, query);
    for (u32 i = 0; i < ETL_COUNT_OF(task_counts); i++) {
        query->jobs = task_counts[i];
        char *found = read_feed(f->rows, query, counts);
        assert_true(check_same_text(expected, found));
        assert_int_equal(counts[0], 0); /* has no log */
        free(found);
        found = read_feed(f->store, query, counts);
        assert_true(check_same_text(expected, found));
        free(found);
    }
    free(expected);
}

static void blocks_are_the_same_wherever_they_are_kept(void **state)
{
    walk_world *const f = *state;
    for (u32 session = 0; session <= WALK_SESSIONS; session++) {
        if (session < WALK_SESSIONS)
            walk_world_make(f, session, 171 + session);
        else
            make_three_ticks(f, 171 + session);
        for (u32 number = session; number < WALK_QUERIES; number += 7)
            expect_same_blocks(f, number);
        walk_world_forget(f);
    }
}

static char *answer_of(const etlheap_result *result, const etlheap_question *question)
{
    etlheap_answer answer;
    assert_int_equal(etlheap_ask(result, question, 1, &answer, NULL), ETL_OK);
    char *const text = answer_check_text(&answer);
    etlheap_answers_free(&answer, 1);
    return text;
}

/* The answers of a view are the same from rows and from the log, on any number of threads. */
static void expect_same_answer(const walk_world *f, etlheap_query *query,
                               const etlheap_question *question)
{
    query->jobs = 1;
    char *const expected = answer_of(f->rows, question);
    for (u32 k = 0; k < ETL_COUNT_OF(task_counts); k++) {
        query->jobs = task_counts[k];
        char *const of_rows = answer_of(f->rows, question);
        char *const of_log = answer_of(f->store, question);
        assert_true(check_same_text(expected, of_rows));
        assert_true(check_same_text(expected, of_log));
        free(of_rows);
        free(of_log);
    }
    free(expected);
}

/* Questions about groups that single blocks do not divide. */
static void expect_same_sums(const walk_world *f, u32 number)
{
    static const etlheap_key keys[] = { ETLHEAP_KEY_STACK, ETLHEAP_KEY_PROCESS, ETLHEAP_KEY_HEAP };
    walk_query asked;
    ask(f, number, &asked);
    asked.query.types = 0;
    asked.query.group_by[0] = ETLHEAP_KEY_KIND;
    asked.query.group_by[1] = keys[number % ETL_COUNT_OF(keys)];
    asked.query.group_by_count = 2;
    for (u32 i = 0; i < 4; i++) {
        static const etlheap_question_kind kinds[] = { ETLHEAP_ASK_HISTOGRAM, ETLHEAP_ASK_HISTOGRAM,
                                                       ETLHEAP_ASK_SUSPECTS, ETLHEAP_ASK_PEAKS };
        const etlheap_question question = { .size = sizeof question,
                                            .kind = kinds[i],
                                            .by = i == 1 ? ETLHEAP_HISTOGRAM_LIFETIME
                                                         : ETLHEAP_HISTOGRAM_SIZE,
                                            .query = &asked.query };
        expect_same_answer(f, &asked.query, &question);
    }
}

/* Tables with peaks, growth and ranks, by keys of single blocks too; windows, some of which
 * overlap. */
static void expect_same_curves(const walk_world *f, u32 number)
{
    static const etlheap_key keys[][2] = { { ETLHEAP_KEY_STACK, ETLHEAP_KEY_THREAD },
                                           { ETLHEAP_KEY_PROCESS, ETLHEAP_KEY_SIZE_CLASS },
                                           { ETLHEAP_KEY_HEAP, ETLHEAP_KEY_SITE } };
    const i64 first_ns = f->work == NULL ? FIRST_NS_TICK * MS : 0;
    const i64 part_ns = f->work == NULL ? MS : 30 * MS;
    const etlheap_time_range ranges[] = { { first_ns, first_ns + part_ns },
                                          { first_ns, first_ns + 2 * part_ns },
                                          { first_ns + part_ns, first_ns + 3 * part_ns },
                                          { first_ns + 2 * part_ns, first_ns + 3 * part_ns },
                                          { 0, first_ns + 3 * part_ns } };
    const etlheap_windows_options options = { .size = sizeof options,
                                              .ranges = ranges,
                                              .range_count = ETL_COUNT_OF(ranges) };
    walk_query asked;
    ask(f, number, &asked);
    etlheap_query *const query = &asked.query;
    etlheap_question question = { .size = sizeof question, .query = query };
    memcpy(query->group_by + 1, keys[number % ETL_COUNT_OF(keys)], sizeof *keys);
    query->group_by[0] = ETLHEAP_KEY_KIND;
    query->group_by_count = 3;
    query->lifetime_ranks = true;
    expect_same_answer(f, query, &question);
    query->lifetime_ranks = false;
    query->types = 0;
    query->growth = true;
    expect_same_answer(f, query, &question);
    query->growth = false;
    query->from_ns = INT64_MIN;
    query->to_ns = INT64_MAX;
    question.kind = ETLHEAP_ASK_WINDOWS;
    question.windows = &options;
    expect_same_answer(f, query, &question);
}

static void answers_are_the_same_wherever_blocks_are_kept(void **state)
{
    walk_world *const f = *state;
    for (u32 session = 2; session <= WALK_SESSIONS; session++) {
        if (session < WALK_SESSIONS)
            walk_world_make(f, session, 271 + session);
        else
            make_three_ticks(f, 271 + session);
        for (u32 number = session; number < WALK_QUERIES; number += 10) {
            expect_same_sums(f, number);
            expect_same_curves(f, number);
        }
        walk_world_forget(f);
    }
}

#define AT_ONCE 8u

/* Questions of several threads to the same results. */
typedef struct asking {
    const walk_world *f;
    const etlheap_question *questions;
    etlheap_answer answers[AT_ONCE];
    etl_status status[AT_ONCE];
} asking;

static void ask_one(void *context, u32 task)
{
    asking *const own = context;
    const etlheap_result *const result = task % 2 == 0 ? own->f->rows : own->f->store;
    own->status[task] =
        etlheap_ask(result, &own->questions[task / 2], 1, &own->answers[task], NULL);
}

/* make VARIANT=tsan shows whether threads touch the same memory. */
static void questions_may_be_asked_at_the_same_time(void **state)
{
    walk_world *const f = *state;
    make_three_ticks(f, 5);
    etlheap_query query = etlheap_query_default();
    query.group_by[0] = ETLHEAP_KEY_KIND;
    query.group_by[1] = ETLHEAP_KEY_STACK;
    query.group_by_count = 2;
    query.jobs = 2;
    const etlheap_windows_options windows = { .size = sizeof windows, .every_ns = MS };
    const etlheap_question questions[AT_ONCE / 2] = {
        { .size = sizeof *questions, .kind = ETLHEAP_ASK_TABLE, .query = &query },
        { .size = sizeof *questions, .kind = ETLHEAP_ASK_PEAKS, .query = &query },
        { .size = sizeof *questions, .kind = ETLHEAP_ASK_SUSPECTS, .query = &query },
        { .size = sizeof *questions,
          .kind = ETLHEAP_ASK_WINDOWS,
          .query = &query,
          .windows = &windows },
    };
    asking all = { .f = f, .questions = questions };
    etlheap_workers_run(4, AT_ONCE, ask_one, &all);
    for (u32 i = 0; i < AT_ONCE; i++) {
        assert_int_equal(all.status[i], ETL_OK);
        char *const expected = answer_of(f->rows, &questions[i / 2]);
        char *const found = answer_check_text(&all.answers[i]);
        assert_true(check_same_text(expected, found));
        free(expected);
        free(found);
    }
    etlheap_answers_free(all.answers, AT_ONCE);
}

static void sources_that_nobody_wants_are_not_read(void **state)
{
    walk_world *const f = *state;
    u64 counts[2];
    etlheap_query query = etlheap_query_default();
    walk_world_make(f, 0, 7);
    query.jobs = 2;
    free(read_feed(f->store, &query, counts));
    assert_true(counts[0] > 0 && counts[1] > 0);
    query.kinds = 1u << ETLHEAP_KIND_HEAP;
    free(read_feed(f->store, &query, counts));
    assert_true(counts[0] > 0 && counts[1] == 0);
    query.kinds = 1u << ETLHEAP_KIND_VIRTUALALLOC;
    free(read_feed(f->store, &query, counts));
    assert_true(counts[0] == 0 && counts[1] > 0);
}

int main(void)
{
#define RULE(name) cmocka_unit_test_setup_teardown(name, walk_world_open, walk_world_close)
    const struct CMUnitTest tests[] = {
        RULE(blocks_are_the_same_wherever_they_are_kept),
        RULE(answers_are_the_same_wherever_blocks_are_kept),
        RULE(questions_may_be_asked_at_the_same_time),
        RULE(sources_that_nobody_wants_are_not_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
