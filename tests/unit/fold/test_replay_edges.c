/*
 * Goal: a report made from the event list is the one made from lifetimes where the
 * event list has to take care: sizes about the 31 and 32 bits that entries and blocks
 * have for them, whatever becomes of such blocks; windows that begin and end with
 * an event; ends of blocks that are noticed late, up to one buffer a slice.
 * Method: stories of blocks, one a millisecond, with small blocks in between so
 * that slices are short; analysed both ways, tables compared as text.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>

#include "tests/support/engine_check.h"
#include "tests/support/long_tests.h"
#include "replay_check.h"

#define START ((i64)1000000)
#define T0    (START + 1000)
#define MS    ((i64)10000)
#define PID   42u
#define HEAP  0x1F0000u

static const u64 sizes[] = { ((u64)1 << 31) - 2, ((u64)1 << 31) - 1, (u64)1 << 31,
                             UINT32_MAX,         (u64)1 << 32,       (u64)1 << 40 };

/* A block with a story: an address of its own, and room after it. */
typedef struct story {
    etl_build *b;
    i64 ticks;
    u64 heap, address, size;
    u32 pid, number;
} story;

typedef void story_fn(const story *s);

static etl_build_at after(const story *s, i64 ticks)
{
    return (etl_build_at){
        .ticks = s->ticks + ticks, .cpu = s->number % 4, .pid = s->pid, .tid = 7 + s->number % 3
    };
}

static void alloc(const story *s, i64 ticks, u64 address, u64 size)
{
    const u64 frames[] = { 0x401000 + s->number % 5 * 0x10, 0x402000 };
    const etl_build_stack stack = { .user = frames, .user_count = 2 };
    etl_build_heap_alloc(s->b, after(s, ticks), s->heap, address, size);
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
    alloc(s, 0, s->address, s->size);
    free_at(s, 300, s->address);
}

static void freed_late(const story *s)
{
    alloc(s, 0, s->address, s->size);
    free_at(s, 20 * MS, s->address);
}

/* The realloc's own record shows the new block, however large. */
static void moved_to(const story *s)
{
    const etl_build_realloc change = { s->address + 64, s->address, s->size, 24 };
    alloc(s, 0, s->address, 24);
    alloc(s, 10, s->address + 64, s->size);
    free_at(s, 11, s->address);
    etl_build_heap_realloc(s->b, after(s, 12), s->heap, &change);
}

static void moved_to_and_freed(const story *s)
{
    moved_to(s);
    free_at(s, 15 * MS, s->address + 64);
}

static void moved_away(const story *s)
{
    const etl_build_realloc change = { s->address + 64, s->address, 24, s->size };
    alloc(s, 0, s->address, s->size);
    alloc(s, 10, s->address + 64, 24);
    free_at(s, 11, s->address);
    etl_build_heap_realloc(s->b, after(s, 12), s->heap, &change);
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
    if (s->number % 2 == 0)
        free_at(s, MS, s->address);
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
    alloc(s, 3 * MS, s->address, 24);
    alloc(s, 4 * MS, s->address, s->size);
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

static story_fn *const stories[] = { leaked,
                                     freed,
                                     freed_late,
                                     moved_to,
                                     moved_to_and_freed,
                                     moved_away,
                                     moved_unseen,
                                     grown_in_place,
                                     displaced_for_a_moment,
                                     displaced_for_good,
                                     ended_with_its_heap,
                                     ended_with_its_process };

#define STORIES ((u32)(ETL_COUNT_OF(stories) * ETL_COUNT_OF(sizes)))

static i64 begin_of(u32 number)
{
    return T0 + number * MS;
}

/* Small blocks that come and go, so that buffers fill up in between. */
static void fill(const story *s)
{
    for (u32 i = 0; i < 60; i++) {
        story small = *s;
        small.number = i;
        small.ticks = s->ticks + (i64)i * (MS / 60);
        alloc(&small, 0, 0x9000 + i * 0x10, 16 + i % 3);
        if (i % 8 != 0)
            free_at(&small, 2 * MS, 0x9000 + i * 0x10);
    }
}

static void write_stories(check_traces *traces)
{
    etl_build *const b = etl_build_new(&(etl_build_options){ .buffer_bytes = 4096 });
    for (u32 i = 0; i < STORIES + 5; i++) {
        const story s = { .b = b,
                          .ticks = begin_of(i),
                          .heap = HEAP,
                          .address = 0x100000 + i * (u64)0x1000,
                          .size = sizes[i / ETL_COUNT_OF(stories) % ETL_COUNT_OF(sizes)],
                          .pid = PID,
                          .number = i };
        if (i < STORIES)
            stories[i % ETL_COUNT_OF(stories)](&s);
        fill(&s);
    }
    check_open(traces, b);
}

static i64 ns_of(i64 ticks)
{
    return (ticks - START) * 100;
}

static void shape(etlheap_query *query, u32 number)
{
    switch (number) {
    case 1: /* one curve */
        query->group_by_count = 1;
        break;
    case 2:
        query->group_by[2] = ETLHEAP_KEY_TYPE;
        query->group_by_count = 3;
        query->size_min_bytes = ((u64)1 << 31) - 1;
        query->size_max_bytes = (u64)1 << 32;
        break;
    case 3:
        query->group_by[1] = ETLHEAP_KEY_TYPE;
        query->group_by_count = 2;
        query->size_max_bytes = ((u64)1 << 31) - 2;
        break;
    default:
        break;
    }
}

#define SHAPES 4u

/* Windows that begin or end just with, before and after what a story does. */
static const struct window {
    const char *name;
    i64 from, to;
} windows[] = {
    { "all", INT64_MIN, INT64_MAX },
    { "from a leak", T0 + 24 * MS, INT64_MAX },
    { "up to a leak", INT64_MIN, T0 + 24 * MS },
    { "from a free to a free", T0 + 13 * MS + 300, T0 + 49 * MS + 300 },
    { "from and to the tick after a free", T0 + 13 * MS + 301, T0 + 49 * MS + 301 },
    { "from a realloc to a realloc", T0 + 27 * MS + 12, T0 + 51 * MS + 12 },
    { "between alloc and free", T0 + 2 * MS + 1, T0 + 26 * MS + 1 },
    { "up to the end of a process", T0 + 11 * MS, T0 + 35 * MS + MS / 2 },
    { "from the end of a heap", T0 + 24 * MS, T0 + 36 * MS },
    { "from a displaced block", T0 + 36 * MS, T0 + 72 * MS },
};

static void sizes_beyond_an_entry_tell_what_lifetimes_tell(void **state)
{
    (void)state;
    static const u64 slices[] = { 0, 1, 20000 };
    check_traces traces = { 0 };
    write_stories(&traces);
    etlheap_result *const rows = check_analyze(&traces, NULL);
    for (u32 i = 0; i < ETL_COUNT_OF(windows) * SHAPES; i++) {
        const struct window *const window = &windows[i / SHAPES];
        etlheap_query query = etlheap_query_default();
        query.from_ns = window->from == INT64_MIN ? INT64_MIN : ns_of(window->from);
        query.to_ns = window->to == INT64_MAX ? INT64_MAX : ns_of(window->to);
        shape(&query, i % SHAPES);
        /* The shapes of a window take turns with the slices, in the long form all meet. */
        for (u32 k = 0; k < ETL_COUNT_OF(slices); k++) {
            if (k != i % ETL_COUNT_OF(slices) && !long_tests())
                continue;
            query.jobs = 1 + (i + k) % 3;
            query.at_exit_freed = (i / SHAPES + k) % 2 == 0;
            replay_check_same(&traces, &query, rows, slices[k], window->name);
            query.sums_only = true;
            replay_check_same(&traces, &query, rows, slices[k], window->name);
            query.sums_only = false;
        }
    }
    etlheap_result_free(rows);
    check_close(&traces);
}

/* Streams whose time goes back now and then, by up to four milliseconds, also
 * behind records that are none of memory. */
static void write_disorder(check_traces *traces, u64 seed)
{
    etl_build *const b =
        etl_build_new(&(etl_build_options){ .buffer_bytes = 2048, .order = ETL_BUILD_AS_CALLED });
    for (u32 i = 0; i < 6000; i++) {
        const u32 back =
            engine_check_random(&seed, 20) == 0 ? engine_check_random(&seed, 4 * (u32)MS) : 0;
        const story s = { .b = b,
                          .ticks = T0 + 80 * (i64)i - back,
                          .heap = HEAP,
                          .address = 0x100000 + engine_check_random(&seed, 300) * (u64)0x100,
                          .size = 1 + engine_check_random(&seed, 1000),
                          .pid = PID,
                          .number = engine_check_random(&seed, 12) };
        switch (engine_check_random(&seed, 3)) {
        case 0:
            etl_build_mark(b, after(&s, 0), "mark");
            break;
        case 1:
            etl_build_heap_alloc(b, after(&s, 0), HEAP, s.address, s.size);
            break;
        default:
            free_at(&s, 0, s.address);
            break;
        }
    }
    check_open(traces, b);
}

/* What is ordered by which time depends on the slices then, for rows alike. */
static void time_that_goes_back_tells_what_lifetimes_tell(void **state)
{
    (void)state;
    static const u64 slices[] = { 0, 1, 8000 };
    for (u32 i = 0; i < 24; i++) {
        const u64 slice_bytes = slices[i % ETL_COUNT_OF(slices)];
        const etlheap_options options = { .size = sizeof options, .slice_bytes = slice_bytes };
        check_traces traces = { 0 };
        write_disorder(&traces, i);
        etlheap_result *const rows = check_analyze(&traces, &options);
        etlheap_query query = etlheap_query_default();
        query.from_ns = ns_of(T0 + i * MS);
        query.to_ns = ns_of(T0 + 35 * MS);
        query.jobs = 1 + i % 2;
        shape(&query, i % SHAPES);
        replay_check_same(&traces, &query, rows, slice_bytes, "disorder");
        query.sums_only = true;
        replay_check_same(&traces, &query, rows, slice_bytes, "disorder");
        query.sums_only = false;
        etlheap_result_free(rows);
        check_close(&traces);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_beyond_an_entry_tell_what_lifetimes_tell),
        cmocka_unit_test(time_that_goes_back_tells_what_lifetimes_tell),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
