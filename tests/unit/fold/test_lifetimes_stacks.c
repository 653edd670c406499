/*
 * Goal: stacks find their events on whole traces, by exact time and thread, in
 * whatever pieces, order and place of the file they come.
 * Method: one short trace a rule, its lifetimes and their frames by hand,
 * analysed with several slice sizes and numbers of jobs (lifetime_check.h).
 * Keys and records in full detail; etl_build_stack_walk() where it does not matter.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "lifetime_check.h"

#define PID     42u
#define HEAP    0x1F0000u
#define PAGE    ((u64)4096)
#define KEY     0xFFFFA80003200010u
#define KERNEL  0x1825
#define USER    0x1826
#define DEFINED 0x1823 /* as its cache entry is given up */
#define RUNDOWN 0x1824 /* as the session stops */

static const u64 kernel_frames[] = { 0xFFFFF80312340000, 0xFFFFF80312350000 };
static const u64 kernel_other[] = { 0xFFFFF80312340000, 0xFFFFF80312360000 };
static const u64 user_frames[] = { 0x7FF811110000, 0x7FF822220000, 0x7FF633330000 };
static const u64 user_other[] = { 0x7FF811110000, 0x7FF822220000, 0x7FF644440000 };
static const u64 both_frames[] = { 0xFFFFF80312340000, 0xFFFFF80312350000, 0x7FF811110000,
                                   0x7FF822220000, 0x7FF633330000 };
static const u64 both_other[] = { 0xFFFFF80312340000, 0xFFFFF80312360000, 0x7FF811110000,
                                  0x7FF822220000, 0x7FF633330000 };

#define WALK(...)                                                                                  \
    &(etl_build_stack)                                                                             \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
#define BOTH .kernel = kernel_frames, .kernel_count = 2, .user = user_frames, .user_count = 3

static etl_build_at at(i64 after, u32 cpu, u32 tid)
{
    return (etl_build_at){ .ticks = LIFE_START + after, .cpu = cpu, .pid = PID, .tid = tid };
}

/* A block of the usual size, and a page committed, both never freed. */
static life block(u64 address, i64 alloc, u32 tid, const u64 *frames, u32 count)
{
    return (life){ .pid = PID,
                   .tid = tid,
                   .heap = HEAP,
                   .address = address,
                   .size = 24,
                   .alloc = LIFE_START + alloc,
                   .frames = frames,
                   .frame_count = count };
}

static life page(u64 number, i64 alloc, u32 tid, const u64 *frames, u32 count)
{
    life row = block(number * PAGE, alloc, tid, frames, count);
    row.kind = ETLHEAP_KIND_VIRTUALALLOC;
    row.heap = 0;
    row.size = PAGE;
    return row;
}

static void alloc(etl_build *b, etl_build_at when, u64 address)
{
    etl_build_heap_alloc(b, when, HEAP, address, 24);
}

static void commit(etl_build *b, etl_build_at when, u64 number)
{
    etl_build_virtual_alloc(b, when, number * PAGE, PAGE, ETL_BUILD_COMMIT);
}

/* --- whole stacks --- */

static void stack_of_an_event_is_kernel_then_user_frames(void **state)
{
    (void)state;
    static const u8 forms[] = { ETL_BUILD_STACK_INLINE, ETL_BUILD_STACK_MIXED,
                                ETL_BUILD_STACK_KEYED };
    for (size_t i = 0; i < ETL_COUNT_OF(forms); i++) {
        etl_build *const b = lifetime_build(NULL);
        alloc(b, at(10, 0, 7), 0x100);
        etl_build_stack_walk(b, at(10, 0, 7), WALK(BOTH, .form = forms[i]));
        alloc(b, at(500, 1, 8), 0x200);
        etl_build_stack_walk(b, at(500, 1, 8),
                             WALK(.user = user_other, .user_count = 3, .form = forms[i]));
        ASSERT_LIFETIMES(b, block(0x100, 10, 7, both_frames, 5),
                         block(0x200, 500, 8, user_other, 3));
    }
}

static void kernel_part_alone_is_a_stack(void **state)
{
    (void)state;
    etl_build *const b = lifetime_build(NULL);
    commit(b, at(10, 0, 7), 16);
    etl_build_stack_walk(b, at(10, 0, 7), WALK(.kernel = kernel_frames, .kernel_count = 2));
    ASSERT_LIFETIMES(b, page(16, 10, 7, kernel_frames, 2));
}

static void every_event_that_opens_a_lifetime_has_its_own_stack(void **state)
{
    (void)state;
    etl_build *const b = lifetime_build(NULL);
    const u64 *const frames = user_frames;
    alloc(b, at(10, 0, 7), 0x100);
    etl_build_stack_walk(b, at(10, 0, 7), WALK(.user = user_other, .user_count = 3));
    etl_build_heap_realloc(b, at(100, 0, 7), HEAP, &(etl_build_realloc){ 0x100, 0x100, 24, 24 });
    etl_build_stack_walk(b, at(100, 0, 7), WALK(.user = frames, .user_count = 1));
    etl_build_heap_expand(b, at(200, 0, 7), HEAP, 16 * PAGE, PAGE);
    etl_build_stack_walk(b, at(200, 0, 7), WALK(.user = frames, .user_count = 2));
    commit(b, at(300, 0, 7), 32);
    etl_build_stack_walk(b, at(300, 0, 7), WALK(.user = frames, .user_count = 3));
    life first = block(0x100, 10, 7, user_other, 3), renewed = block(0x100, 100, 7, frames, 1);
    first.freed = LIFE_START + 100;
    first.end = ETLHEAP_FREE_FREE;
    renewed.is_realloc = true;
    life extent = page(16, 200, 7, frames, 2);
    extent.kind = ETLHEAP_KIND_EXTENT;
    extent.heap = HEAP;
    ASSERT_LIFETIMES(b, first, renewed, extent, page(32, 300, 7, frames, 3));
}

static void block_moved_by_a_realloc_keeps_the_stack_of_its_alloc(void **state)
{
    (void)state;
    etl_build *const b = lifetime_build(NULL);
    alloc(b, at(100, 0, 7), 0x200);
    etl_build_stack_walk(b, at(100, 0, 7), WALK(.user = user_frames, .user_count = 3));
    etl_build_heap_realloc(b, at(138, 0, 7), HEAP, &(etl_build_realloc){ 0x200, 0x100, 24, 24 });
    etl_build_stack_walk(b, at(138, 0, 7), WALK(.user = user_other, .user_count = 3));
    life row = block(0x200, 100, 7, user_frames, 3);
    row.is_realloc = true;
    ASSERT_LIFETIMES(b, row);
}

static void parts_of_a_split_range_keep_its_stack(void **state)
{
    (void)state;
    etl_build *const b = lifetime_build(NULL);
    etl_build_virtual_alloc(b, at(10, 0, 7), 16 * PAGE, 3 * PAGE, ETL_BUILD_COMMIT);
    etl_build_stack_walk(b, at(10, 0, 7), WALK(.user = user_frames, .user_count = 3));
    etl_build_virtual_free(b, at(500, 0, 7), 17 * PAGE, PAGE, ETL_BUILD_DECOMMIT);
    life middle = page(17, 10, 7, user_frames, 3);
    middle.freed = LIFE_START + 500;
    middle.end = ETLHEAP_FREE_FREE;
    ASSERT_LIFETIMES(b, page(16, 10, 7, user_frames, 3), middle, page(18, 10, 7, user_frames, 3));
}

static void events_without_a_stack_are_counted(void **state)
{
    (void)state;
    etl_build *const b = lifetime_build(NULL);
    alloc(b, at(10, 0, 7), 0x100);
    alloc(b, at(20, 0, 7), 0x200);
    etl_build_stack_walk(b, at(20, 0, 7), WALK(BOTH));
    lifetime_check *const check = lifetime_check_open(b);
    lifetime_check_rows(
        check, (const life[]){ block(0x100, 10, 7, NULL, 0), block(0x200, 20, 7, both_frames, 5) },
        2);
    assert_int_equal(lifetime_check_diag(check, ETL_DIAG_alloc_without_stack), 1);
    lifetime_check_close(check);
}

static void frames_of_32_bit_systems_have_four_bytes(void **state)
{
    (void)state;
    static const u64 kernel[] = { 0x81234000, 0xFFFF0000 };
    static const u64 user[] = { 0x7FFF0000, 0x401000 };
    static const u64 both[] = { 0x81234000, 0xFFFF0000, 0x7FFF0000, 0x401000 };
    etl_build *const b = lifetime_build(&(etl_build_options){ .pointer_bytes = 4 });
    commit(b, at(10, 0, 7), 16);
    etl_build_stack_walk(b, at(10, 0, 7),
                         WALK(.kernel = kernel, .kernel_count = 2, .user = user, .user_count = 2));
    ASSERT_LIFETIMES(b, page(16, 10, 7, both, 4));
}

static void stacks_of_32_bit_programs_on_64_bit_systems_are_user_stacks(void **state)
{
    (void)state;
    static const u64 user[] = { 0x77000000, 0xFFE01000, 0x401000 };
    etl_build *const b = lifetime_build(NULL);
    etl_build_at narrow = at(10, 0, 7);
    narrow.pointer_bytes = 4;
    etl_build_heap_alloc(b, narrow, HEAP, 0x100, 24);
    etl_build_stack_walk(
        b, at(10, 0, 7),
        WALK(.kernel = kernel_frames, .kernel_count = 2, .user = user, .user_count = 3));
    static const u64 both[] = { 0xFFFFF80312340000, 0xFFFFF80312350000, 0x77000000, 0xFFE01000,
                                0x401000 };
    ASSERT_LIFETIMES(b, block(0x100, 10, 7, both, 5));
}

static void stack_deeper_than_we_keep_is_cut_at_its_outer_end(void **state)
{
    (void)state;
    enum { DEEP = 1100, KEPT = 1024 };
    static u64 frames[DEEP];
    for (u32 i = 0; i < DEEP; i++)
        frames[i] = 0x7FF800000000 + 16 * (u64)i;
    etl_build *const b = lifetime_build(&(etl_build_options){ .buffer_bytes = 16384 });
    alloc(b, at(10, 0, 7), 0x100);
    etl_build_stack_walk(b, at(10, 0, 7), WALK(.user = frames, .user_count = DEEP));
    lifetime_check *const check = lifetime_check_open(b);
    lifetime_check_rows(check, (const life[]){ block(0x100, 10, 7, frames, KEPT) }, 1);
    assert_int_equal(lifetime_check_diag(check, ETL_DIAG_stack_too_deep), 1);
    lifetime_check_close(check);
}

/* --- whose stack --- */

static void stack_belongs_to_the_event_of_its_exact_time_and_thread(void **state)
{
    (void)state;
    etl_build *const b = lifetime_build(NULL);
    for (u32 cpu = 0; cpu < 4; cpu++) {
        alloc(b, at(10, cpu, 7 + cpu), 0x100 * (cpu + 1));
        alloc(b, at(11, cpu, 7 + cpu), 0x1000 * (cpu + 1));
    }
    for (u32 cpu = 0; cpu < 4; cpu++) {
        /* Written for the older of two events, in another order than these. */
        etl_build_stack_walk(
            b, at(10, 3 - cpu, 7 + 3 - cpu),
            WALK(.user = &user_frames[cpu % 3], .user_count = 1, .delay_ticks = 50));
    }
    life rows[8];
    for (u32 cpu = 0; cpu < 4; cpu++) {
        rows[cpu] = block(0x100 * (cpu + 1), 10, 7 + cpu, &user_frames[(3 - cpu) % 3], 1);
        rows[4 + cpu] = block(0x1000 * (cpu + 1), 11, 7 + cpu, NULL, 0);
    }
    lifetime_check_all(b, rows, 8);
}

static void stack_of_another_time_or_thread_is_nobodys(void **state)
{
    (void)state;
    etl_build *const b = lifetime_build(NULL);
    alloc(b, at(10, 0, 7), 0x100);
    etl_build_stack_inline(b, at(20, 0, 7), LIFE_START + 11, user_frames, 3);
    etl_build_stack_inline(b, at(21, 0, 7), LIFE_START + 9, user_frames, 3);
    etl_build_stack_inline(b, at(22, 0, 8), LIFE_START + 10, user_frames, 3);
    ASSERT_LIFETIMES(b, block(0x100, 10, 7, NULL, 0));
}

static void stack_of_a_free_is_not_taken_by_the_next_alloc(void **state)
{
    (void)state;
    etl_build *const b = lifetime_build(NULL);
    etl_build_heap_free(b, at(10, 0, 7), HEAP, 0x100);
    alloc(b, at(11, 0, 7), 0x100);
    etl_build_stack_walk(b, at(10, 0, 7), WALK(.user = user_frames, .user_count = 3));
    ASSERT_LIFETIMES(b, block(0x100, 11, 7, NULL, 0));
}

static void many_events_between_an_event_and_its_stack_do_not_matter(void **state)
{
    (void)state;
    etl_build *const b = lifetime_build(NULL);
    life rows[101];
    for (u32 i = 0; i <= 100; i++) {
        alloc(b, at(10 + i, 0, 7), 0x100 * (i + 1));
        rows[i] = block(0x100 * (i + 1), 10 + i, 7, NULL, 0);
    }
    etl_build_stack_walk(b, at(10, 0, 7), WALK(BOTH, .delay_ticks = 500));
    rows[0] = block(0x100, 10, 7, both_frames, 5);
    lifetime_check_all(b, rows, 101);
}

/* --- the user part --- */

static void user_part_may_come_on_another_cpu(void **state)
{
    (void)state;
    for (u32 cpu = 0; cpu < 4; cpu++) {
        etl_build *const b = lifetime_build(NULL);
        commit(b, at(10, 1, 7), 16);
        etl_build_stack_walk(b, at(10, 1, 7),
                             WALK(BOTH, .user_cpu_differs = true, .user_cpu = cpu));
        ASSERT_LIFETIMES(b, page(16, 10, 7, both_frames, 5));
    }
}

static void user_part_may_come_much_later(void **state)
{
    (void)state;
    etl_build *const b = lifetime_build(NULL);
    commit(b, at(10, 1, 7), 16);
    etl_build_stack_walk(b, at(10, 1, 7),
                         WALK(BOTH, .user_cpu_differs = true, .user_cpu = 2,
                              .user_delay_ticks = 4 * LIFE_SECOND / 10));
    for (i64 i = 1; i < 100; i++)
        etl_build_heap_free(b, at(i * LIFE_SECOND / 200, 3, 9), HEAP, 0x100);
    ASSERT_LIFETIMES(b, page(16, 10, 7, both_frames, 5));
}

/* The event's buffer is written last, that of its user part first. */
static void user_part_may_lie_in_an_earlier_buffer_of_the_file(void **state)
{
    (void)state;
    etl_build *const b = lifetime_build(
        &(etl_build_options){ .flush_interval_ticks = 1000 * LIFE_SECOND, .buffer_bytes = 1024 });
    commit(b, at(10, 0, 7), 16);
    etl_build_stack_walk(b, at(10, 0, 7), WALK(BOTH, .user_cpu_differs = true, .user_cpu = 3));
    for (i64 i = 0; i < 100; i++)
        etl_build_heap_free(b, at(200 + i, 3, 9), HEAP, 0x100);
    ASSERT_LIFETIMES(b, page(16, 10, 7, both_frames, 5));
}

static void user_part_serves_all_kernel_parts_that_wait_for_it(void **state)
{
    (void)state;
    for (u32 owner = 0; owner < 2; owner++) {
        etl_build *const b = lifetime_build(NULL);
        for (u32 i = 0; i < 2; i++) {
            commit(b, at(10 + 100 * i, 0, 7), 16 + i);
            const u64 *const kernel = i == 0 ? kernel_frames : kernel_other;
            etl_build_stack_inline(b, at(20 + 100 * i, 0, 7), LIFE_START + 10 + 100 * i, kernel, 2);
        }
        /* A later event and another thread's are not served. */
        etl_build_stack_inline(b, at(300, 2, 7), LIFE_START + 10 + 100 * owner, user_frames, 3);
        commit(b, at(115, 1, 8), 20);
        etl_build_stack_inline(b, at(120, 1, 8), LIFE_START + 115, kernel_frames, 2);
        commit(b, at(400, 0, 7), 21);
        etl_build_stack_inline(b, at(410, 0, 7), LIFE_START + 400, kernel_other, 2);
        ASSERT_LIFETIMES(b, page(16, 10, 7, both_frames, 5), page(17, 110, 7, both_other, 5),
                         page(20, 115, 8, kernel_frames, 2), page(21, 400, 7, kernel_other, 2));
    }
}

static void user_part_of_another_event_serves_kernel_parts_too(void **state)
{
    (void)state;
    etl_build *const b = lifetime_build(NULL);
    commit(b, at(10, 0, 7), 16);
    etl_build_stack_inline(b, at(20, 0, 7), LIFE_START + 10, kernel_frames, 2);
    etl_build_stack_inline(b, at(300, 0, 7), LIFE_START + 250, user_frames, 3);
    ASSERT_LIFETIMES(b, page(16, 10, 7, both_frames, 5));
}

static void user_part_of_an_event_without_a_kernel_part_serves_it_alone(void **state)
{
    (void)state;
    etl_build *const b = lifetime_build(NULL);
    commit(b, at(10, 0, 7), 16);
    etl_build_stack_inline(b, at(20, 0, 7), LIFE_START + 10, kernel_frames, 2);
    commit(b, at(250, 0, 7), 17);
    etl_build_stack_inline(b, at(300, 0, 7), LIFE_START + 250, user_frames, 3);
    ASSERT_LIFETIMES(b, page(16, 10, 7, kernel_frames, 2), page(17, 250, 7, user_frames, 3));
}

/* --- events without a thread --- */

static etl_build *build_without_threads(void)
{
    return lifetime_build(&(etl_build_options){ .virtual_alloc_without_tid = true });
}

static void event_without_a_thread_is_found_by_time_and_cpu(void **state)
{
    (void)state;
    etl_build *const b = build_without_threads();
    for (u32 cpu = 0; cpu < 4; cpu++)
        commit(b, at(10, cpu, 7 + cpu), 16 + cpu);
    for (u32 i = 0; i < 4; i++) {
        const u32 cpu = 3 - i;
        etl_build_stack_walk(b, at(10, cpu, 7 + cpu),
                             WALK(.user = &user_frames[cpu % 3], .user_count = 1));
    }
    ASSERT_LIFETIMES(b, page(16, 10, 7, &user_frames[0], 1), page(17, 10, 8, &user_frames[1], 1),
                     page(18, 10, 9, &user_frames[2], 1), page(19, 10, 10, &user_frames[0], 1));
}

static void event_without_a_thread_learns_it_from_the_kernel_part(void **state)
{
    (void)state;
    etl_build *const b = build_without_threads();
    commit(b, at(10, 0, 7), 16);
    commit(b, at(10, 1, 8), 17);
    etl_build_stack_walk(b, at(10, 0, 7), WALK(BOTH, .user_cpu_differs = true, .user_cpu = 1));
    etl_build_stack_walk(b, at(10, 1, 8),
                         WALK(.kernel = kernel_other, .kernel_count = 2, .user = user_frames,
                              .user_count = 3, .user_cpu_differs = true, .user_cpu = 0));
    ASSERT_LIFETIMES(b, page(16, 10, 7, both_frames, 5), page(17, 10, 8, both_other, 5));
}

static void event_without_thread_and_stack_stays_so(void **state)
{
    (void)state;
    etl_build *const b = build_without_threads();
    commit(b, at(10, 0, 7), 16);
    commit(b, at(20, 0, 7), 17);
    etl_build_stack_walk(b, at(20, 0, 7), WALK(BOTH));
    ASSERT_LIFETIMES(b, page(16, 10, ETL_NO_ID, NULL, 0), page(17, 20, 7, both_frames, 5));
}

/* --- keys --- */

static void key(etl_build *b, etl_build_at when, u16 hook, i64 event, u64 value)
{
    etl_build_stack_key(b, when, hook, LIFE_START + event, value);
}

static void define(etl_build *b, etl_build_at when, u16 hook, u64 value, const u64 *user)
{
    etl_build_stack_definition(b, when, hook, value, WALK(.user = user, .user_count = 3));
}

static void define_kernel(etl_build *b, etl_build_at when, u16 hook, u64 value, const u64 *frames)
{
    etl_build_stack_definition(b, when, hook, value, WALK(.kernel = frames, .kernel_count = 2));
}

static void key_is_defined_when_the_session_stops(void **state)
{
    (void)state;
    etl_build *const b = lifetime_build(NULL);
    alloc(b, at(10, 0, 7), 0x100);
    key(b, at(20, 0, 7), USER, 10, KEY);
    alloc(b, at(30, 1, 8), 0x200);
    key(b, at(40, 1, 8), USER, 30, KEY);
    commit(b, at(50, 0, 7), 16);
    key(b, at(60, 0, 7), KERNEL, 50, KEY + 0x240);
    key(b, at(90, 2, 7), USER, 50, KEY);
    define(b, at(5 * LIFE_SECOND, 3, 0), RUNDOWN, KEY, user_frames);
    define_kernel(b, at(5 * LIFE_SECOND + 1, 3, 0), RUNDOWN, KEY + 0x240, kernel_frames);
    lifetime_check *const check = lifetime_check_open(b);
    lifetime_check_rows(check,
                        (const life[]){ block(0x100, 10, 7, user_frames, 3),
                                        block(0x200, 30, 8, user_frames, 3),
                                        page(16, 50, 7, both_frames, 5) },
                        3);
    const etlheap_stack_counts *const counts = etlheap_result_stacks(lifetime_check_result(check));
    assert_int_equal(counts->keys_referenced, 4);
    assert_int_equal(counts->keys_resolved, 4);
    lifetime_check_close(check);
}

static void key_means_the_first_definition_after_its_use(void **state)
{
    (void)state;
    etl_build *const b = lifetime_build(NULL);
    define(b, at(5, 3, 0), DEFINED, KEY, user_other);
    alloc(b, at(10, 0, 7), 0x100);
    key(b, at(20, 0, 7), USER, 10, KEY);
    define(b, at(20, 1, 0), DEFINED, KEY, user_frames);
    alloc(b, at(30, 0, 7), 0x200);
    key(b, at(40, 0, 7), USER, 30, KEY);
    define(b, at(45, 1, 0), DEFINED, KEY, user_other);
    define(b, at(46, 1, 0), DEFINED, KEY, user_frames);
    ASSERT_LIFETIMES(b, block(0x100, 10, 7, user_frames, 3), block(0x200, 30, 7, user_other, 3));
}

/* The time of the reference counts, not that of the event. */
static void key_used_late_means_what_it_meant_then(void **state)
{
    (void)state;
    etl_build *const b = lifetime_build(NULL);
    commit(b, at(10, 0, 7), 16);
    etl_build_stack_inline(b, at(20, 0, 7), LIFE_START + 10, kernel_frames, 2);
    define(b, at(500, 1, 0), DEFINED, KEY, user_other);
    key(b, at(1000, 2, 7), USER, 10, KEY);
    define(b, at(1500, 1, 0), DEFINED, KEY, user_frames);
    ASSERT_LIFETIMES(b, page(16, 10, 7, both_frames, 5));
}

static void kernel_and_user_keys_of_one_value_are_two(void **state)
{
    (void)state;
    etl_build *const b = lifetime_build(NULL);
    commit(b, at(10, 0, 7), 16);
    key(b, at(20, 0, 7), KERNEL, 10, KEY);
    key(b, at(30, 0, 7), USER, 10, KEY);
    define(b, at(500, 1, 0), DEFINED, KEY, user_frames);
    define_kernel(b, at(600, 1, 0), RUNDOWN, KEY, kernel_frames);
    ASSERT_LIFETIMES(b, page(16, 10, 7, both_frames, 5));
}

static void key_never_defined_leaves_what_is_known(void **state)
{
    (void)state;
    etl_build *const b = lifetime_build(NULL);
    define(b, at(1, 1, 0), DEFINED, KEY, user_other);
    commit(b, at(10, 0, 7), 16);
    key(b, at(20, 0, 7), KERNEL, 10, KEY + 0x240);
    key(b, at(30, 0, 7), USER, 10, KEY);
    alloc(b, at(40, 0, 7), 0x100);
    key(b, at(50, 0, 7), USER, 40, KEY);
    define_kernel(b, at(600, 1, 0), RUNDOWN, KEY + 0x240, kernel_frames);
    lifetime_check *const check = lifetime_check_open(b);
    lifetime_check_rows(
        check, (const life[]){ page(16, 10, 7, kernel_frames, 2), block(0x100, 40, 7, NULL, 0) },
        2);
    assert_int_equal(lifetime_check_diag(check, ETL_DIAG_stack_key_unresolved), 2);
    lifetime_check_close(check);
}

/* --- images --- */

/* How many stack records of the trace find their event, by an inventory. */
static etlheap_stack_counts count_stacks(etl_build *b)
{
    size_t size;
    etl_trace *trace;
    etlheap_result *result;
    const char *const name = "built.etl";
    const etlheap_options options = { .size = sizeof options, .inventory_only = true };
    assert_true(etl_build_finish(b));
    const u8 *const data = etl_build_data(b, &size);
    assert_int_equal(etl_open_memory((etl_bytes){ data, size }, NULL, &trace, NULL), ETL_OK);
    assert_int_equal(etlheap_analyze(&trace, &name, 1, &options, &result, NULL), ETL_OK);
    const etlheap_stack_counts counts = *etlheap_result_stacks(result);
    etlheap_result_free(result);
    etl_close(trace);
    etl_build_free(b);
    return counts;
}

/* A merge writes image identities with the time and thread of the image event. */
static void injected_image_identities_are_never_targets(void **state)
{
    (void)state;
    const etl_build_image_spec image = { .pid = PID,
                                         .base = 0x7FF811110000,
                                         .size = 0x10000,
                                         .path = "\\Device\\HarddiskVolume3\\app.exe" };
    const etl_build_pdb_spec pdb = { .age = 1, .name = "app.pdb" };
    for (u32 with_image = 0; with_image < 2; with_image++) {
        etl_build *const b = lifetime_build(&(etl_build_options){ .buffer_bytes = 4096 });
        etl_build_image_id(b, at(10, 0, 7), &image, &pdb);
        if (with_image == 1)
            etl_build_image(b, at(10, 0, 7), ETL_BUILD_START, &image);
        etl_build_stack_inline(b, at(20, 0, 7), LIFE_START + 10, user_frames, 3);
        const etlheap_stack_counts counts = count_stacks(b);
        assert_int_equal(counts.records, 1);
        assert_int_equal(counts.matched, with_image);
        assert_int_equal(counts.unmatched, 1 - with_image);
    }
}

static void stack_of_an_image_load_is_not_an_allocations(void **state)
{
    (void)state;
    const etl_build_image_spec image = { .pid = PID, .base = 0x7FF811110000, .path = "\\app.exe" };
    etl_build *const b = lifetime_build(&(etl_build_options){ .buffer_bytes = 4096 });
    etl_build_image_id(b, at(10, 0, 7), &image, NULL);
    etl_build_image(b, at(10, 0, 7), ETL_BUILD_START, &image);
    alloc(b, at(11, 0, 7), 0x100);
    etl_build_stack_walk(b, at(10, 0, 7), WALK(.user = user_frames, .user_count = 3));
    ASSERT_LIFETIMES(b, block(0x100, 11, 7, NULL, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stack_of_an_event_is_kernel_then_user_frames),
        cmocka_unit_test(kernel_part_alone_is_a_stack),
        cmocka_unit_test(every_event_that_opens_a_lifetime_has_its_own_stack),
        cmocka_unit_test(block_moved_by_a_realloc_keeps_the_stack_of_its_alloc),
        cmocka_unit_test(parts_of_a_split_range_keep_its_stack),
        cmocka_unit_test(events_without_a_stack_are_counted),
        cmocka_unit_test(frames_of_32_bit_systems_have_four_bytes),
        cmocka_unit_test(stacks_of_32_bit_programs_on_64_bit_systems_are_user_stacks),
        cmocka_unit_test(stack_deeper_than_we_keep_is_cut_at_its_outer_end),
        cmocka_unit_test(stack_belongs_to_the_event_of_its_exact_time_and_thread),
        cmocka_unit_test(stack_of_another_time_or_thread_is_nobodys),
        cmocka_unit_test(stack_of_a_free_is_not_taken_by_the_next_alloc),
        cmocka_unit_test(many_events_between_an_event_and_its_stack_do_not_matter),
        cmocka_unit_test(user_part_may_come_on_another_cpu),
        cmocka_unit_test(user_part_may_come_much_later),
        cmocka_unit_test(user_part_may_lie_in_an_earlier_buffer_of_the_file),
        cmocka_unit_test(user_part_serves_all_kernel_parts_that_wait_for_it),
        cmocka_unit_test(user_part_of_another_event_serves_kernel_parts_too),
        cmocka_unit_test(user_part_of_an_event_without_a_kernel_part_serves_it_alone),
        cmocka_unit_test(event_without_a_thread_is_found_by_time_and_cpu),
        cmocka_unit_test(event_without_a_thread_learns_it_from_the_kernel_part),
        cmocka_unit_test(event_without_thread_and_stack_stays_so),
        cmocka_unit_test(key_is_defined_when_the_session_stops),
        cmocka_unit_test(key_means_the_first_definition_after_its_use),
        cmocka_unit_test(key_used_late_means_what_it_meant_then),
        cmocka_unit_test(kernel_and_user_keys_of_one_value_are_two),
        cmocka_unit_test(key_never_defined_leaves_what_is_known),
        cmocka_unit_test(injected_image_identities_are_never_targets),
        cmocka_unit_test(stack_of_an_image_load_is_not_an_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
