/*
 * Goal: reports and stores give a block the call stack that came slices later, whatever
 * happened to the block meanwhile, and what never comes leaves nothing behind.
 * Method: stories of blocks whose stacks come at once, later, too late or never, with small
 * blocks in between so that slices are short. Lifetimes kept in memory find late stacks at
 * the end of the run, by way of origins of their own, so they are what the others must tell.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "tests/support/engine_check.h"
#include "tests/support/long_tests.h"
#include "replay_check.h"
#include "tests/support/store_check.h"
#include "tests/support/asked.h"

#define START        ((i64)1000000)
#define T0           (START + 1000)
#define MS           ((i64)10000)
#define STORY_MS     37
#define PID          42u
#define HEAP         0x1F0000u
#define BUFFER_BYTES 1024u
#define STORIES      120u /* over more than two patiences */

/* A block with a story: an address of its own, and room after it. */
typedef struct story {
    etl_build *b;
    i64 ticks;
    u64 heap, address, size;
    u32 pid, number;
    u64 *seed;
} story;

typedef void story_fn(const story *s);

static etl_build_at after(const story *s, i64 ticks)
{
    return (etl_build_at){
        .ticks = s->ticks + ticks, .cpu = s->number % 4, .pid = s->pid, .tid = 7 + s->number % 3
    };
}

/* Its stack comes after a while, or never. */
static void alloc(const story *s, i64 ticks, u64 address, u64 size)
{
    static const i64 delays[] = { 0, 0, 5, 20 * MS, 300 * MS, 1900 * MS, 1999 * MS, 2100 * MS };
    const u64 frames[] = { 0x401000 + engine_check_random(s->seed, 5) * 0x10, 0x402000 };
    const i64 delay = delays[engine_check_random(s->seed, ETL_COUNT_OF(delays))];
    const etl_build_stack stack = { .user = frames, .user_count = 2, .delay_ticks = delay };
    etl_build_heap_alloc(s->b, after(s, ticks), s->heap, address, size);
    if (delay != 0)
        etl_build_stack_walk(s->b, after(s, ticks), &stack);
}

static void free_at(const story *s, i64 ticks, u64 address)
{
    etl_build_heap_free(s->b, after(s, ticks), s->heap, address);
}

static void leaked(const story *s)
{
    alloc(s, 0, s->address, s->size);
}

static void freed(const story *s)
{
    static const i64 ticks[] = { 3, MS, 100 * MS, 1500 * MS, 2500 * MS };
    alloc(s, 0, s->address, s->size);
    free_at(s, ticks[engine_check_random(s->seed, ETL_COUNT_OF(ticks))], s->address);
}

static void moved(const story *s)
{
    const etl_build_realloc change = { s->address + 64, s->address, s->size, 24 };
    alloc(s, 0, s->address, 24);
    alloc(s, 10, s->address + 64, s->size);
    free_at(s, 11, s->address);
    etl_build_heap_realloc(s->b, after(s, 3 * MS), s->heap, &change);
    if (s->number % 2 == 0)
        free_at(s, 45 * MS, s->address + 64);
}

/* Neither alloc nor free was logged: both are supplied. */
static void moved_unseen(const story *s)
{
    const etl_build_realloc change = { s->address + 64, s->address, s->size, s->size };
    alloc(s, 0, s->address, s->size);
    etl_build_heap_realloc(s->b, after(s, 2 * MS), s->heap, &change);
}

static void grown_in_place(const story *s)
{
    const etl_build_realloc change = { s->address, s->address, s->size, 24 };
    alloc(s, 0, s->address, 24);
    etl_build_heap_realloc(s->b, after(s, 10), s->heap, &change);
}

/* The next alloc of the address is logged before its free. */
static void displaced_for_a_moment(const story *s)
{
    alloc(s, 0, s->address, s->size);
    alloc(s, 5, s->address, s->size / 2);
    free_at(s, 8, s->address);
}

static void displaced_for_good(const story *s)
{
    alloc(s, 0, s->address, s->size);
    alloc(s, 30 * MS, s->address, 24);
    alloc(s, 40 * MS, s->address, s->size);
}

static void ended_with_its_heap(const story *s)
{
    story own = *s;
    own.heap = HEAP + 0x10000 * (s->number + (u64)1);
    etl_build_heap_create(s->b, after(&own, 0), own.heap);
    alloc(&own, 1, s->address, s->size);
    etl_build_heap_destroy(s->b, after(&own, 2 * MS), own.heap);
    etl_build_heap_create(s->b, after(&own, 3 * MS), own.heap);
    alloc(&own, 3 * MS + 1, s->address, s->size);
}

static void ended_with_its_process(const story *s)
{
    story own = *s;
    own.pid = 1000 + s->number;
    const etl_build_process_spec spec = { .pid = own.pid, .parent_pid = 4, .name = "child.exe" };
    etl_build_process(s->b, after(s, 0), ETL_BUILD_START, &spec);
    alloc(&own, 1, s->address, s->size);
    etl_build_process(s->b, after(s, MS / 2), ETL_BUILD_END, &spec);
}

static void failed(const story *s)
{
    alloc(s, 0, 0, s->size);
}

static story_fn *const stories[] = { leaked,       freed,
                                     freed,        moved,
                                     moved_unseen, grown_in_place,
                                     failed,       displaced_for_a_moment,
                                     freed,        displaced_for_good,
                                     leaked,       ended_with_its_heap,
                                     freed,        ended_with_its_process };

/* Small blocks that come and go, so that buffers fill up in between. No thread does two things
 * in one tick. */
static void fill(const story *s)
{
    for (u32 i = 0; i < 20; i++) {
        story small = *s;
        small.number = i;
        small.ticks = s->ticks + 500 + (i64)i * (STORY_MS * MS / 20);
        alloc(&small, 0, 0x9000 + i * 0x10, 16 + i % 3);
        if (i % 8 != 0)
            free_at(&small, 2 * MS, 0x9000 + i * 0x10);
    }
}

static void write_stories(check_traces *traces, u64 seed)
{
    static const u64 sizes[] = { 24, 100, ((u64)1 << 31) - 1, UINT32_MAX, (u64)1 << 40 };
    etl_build *const b = etl_build_new(&(etl_build_options){ .buffer_bytes = BUFFER_BYTES });
    for (u32 i = 0; i < STORIES; i++) {
        const story s = { .b = b,
                          .ticks = T0 + (i64)i * STORY_MS * MS,
                          .heap = HEAP,
                          .address = 0x100000 + i * (u64)0x1000,
                          .size = sizes[engine_check_random(&seed, ETL_COUNT_OF(sizes))],
                          .pid = PID,
                          .number = i,
                          .seed = &seed };
        stories[engine_check_random(&seed, ETL_COUNT_OF(stories))](&s);
        fill(&s);
    }
    check_open(traces, b);
}

static void check_store(const check_traces *traces, const etlheap_result *rows, u64 slice_bytes)
{
    const etlheap_options options = { .size = sizeof options, .slice_bytes = slice_bytes };
    ehs_bytes file = store_check_write(traces, &options, NULL);
    etlheap_result *const stored = store_check_read(&file);
    char *const expected = check_lifetimes_text(rows);
    char *const found = check_lifetimes_text(stored);
    if (!check_same_text(expected, found))
        fail_msg("a store, slices of %u", (unsigned)slice_bytes);
    assert_int_equal(stored->diag.of[ETL_DIAG_alloc_without_stack],
                     rows->diag.of[ETL_DIAG_alloc_without_stack]);
    free(expected);
    free(found);
    etlheap_result_free(stored);
    ETLHEAP_VECTOR_FREE(&file);
}

static void late_stacks_reach_their_blocks(void **state)
{
    static const u64 slices[] = { 1, 3 * BUFFER_BYTES, 40 * BUFFER_BYTES, 0 };
    const u64 seeds = long_tests() ? 60 : 3;
    (void)state;
    for (u64 seed = 1; seed <= seeds; seed++) {
        check_traces traces = { 0 };
        write_stories(&traces, seed);
        etlheap_result *const rows = check_analyze(&traces, NULL);
        for (u32 i = 0; i < ETL_COUNT_OF(slices); i++) {
            if (!long_tests() && (seed + i) % 3 == 0)
                continue; /* two seeds of three meet each size */
            etlheap_query query = etlheap_query_default();
            query.jobs = 1 + i % 3;
            query.at_exit_freed = i % 2 == 0;
            query.from_ns = seed % 2 == 0 ? INT64_MIN : 2000000000;
            query.to_ns = seed % 3 == 0 ? INT64_MAX : 5500000000;
            replay_check_same(&traces, &query, rows, slices[i], "curves");
            query.sums_only = true;
            replay_check_same(&traces, &query, rows, slices[i], "sums");
            check_store(&traces, rows, slices[i]);
        }
        etlheap_result_free(rows);
        check_close(&traces);
    }
}

/* One origin for each heap, and a number only for what waits. */
static void stacks_that_never_come_leave_nothing_behind(void **state)
{
    (void)state;
    check_traces traces = { 0 };
    etl_build *const b = etl_build_new(&(etl_build_options){ .buffer_bytes = BUFFER_BYTES });
    for (u32 i = 0; i < 30000; i++) {
        const etl_build_at at = { .ticks = T0 + i * MS, .cpu = i % 4, .pid = PID, .tid = 7 };
        etl_build_heap_alloc(b, at, HEAP + i % 3, 0x100000 + i % 1000 * (u64)64, 24);
    }
    check_open(&traces, b);
    for (u32 sums_only = 0; sums_only < 2; sums_only++) {
        etlheap_query query = etlheap_query_default();
        query.sums_only = sums_only != 0;
        const etlheap_options options = { .size = sizeof options,
                                          .slice_bytes = 4 * BUFFER_BYTES,
                                          ASKED_TABLE(&query) };
        etlheap_result *const kept = check_analyze(&traces, &options);
        assert_int_equal(kept->origin_table.origins.count, 3);
        assert_int_equal(kept->diag.of[ETL_DIAG_alloc_without_stack], 30000);
        assert_int_equal(kept->diag.of[ETL_DIAG_stack_wait_limited], 0);
        etlheap_result_free(kept);
    }
    check_close(&traces);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(late_stacks_reach_their_blocks),
        cmocka_unit_test(stacks_that_never_come_leave_nothing_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
