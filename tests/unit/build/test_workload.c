/*
 * Goal: the truth that reports are compared with is right, and random workloads
 * hold the trouble they promise.
 * Method: each rule of the model on a handful of operations with the answer
 * written out; properties of random workloads; the numbers of the scenarios.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>

#include "tests/build/scenario.h"
#include "tests/build/workload_inside.h"

#define HEAP  0x1f0000u
#define PAGE  4096u
#define START 1000000
#define MS    10000 /* ticks */

/* --- a workload by hand -------------------------------------------------------- */

static workload *new_workload(void)
{
    workload *const w = workload_new(START, 10000000);
    const workload_process process = { .pid = 42, .name = "app.exe" };
    workload_add_process(w, &process);
    return w;
}

static void add(workload *w, i64 ticks, workload_op_kind kind, u64 address, u64 size)
{
    const workload_op op = { .ticks = START + ticks,
                             .kind = (u8)kind,
                             .stack = WORKLOAD_NONE,
                             .heap = HEAP,
                             .address = address,
                             .size = size };
    workload_add_op(w, &op);
}

static void add_realloc(workload *w, i64 ticks, u64 address, u64 old_address, u64 size)
{
    add(w, ticks, WORKLOAD_HEAP_REALLOC, address, size);
    w->ops[w->op_count - 1].old_address = old_address;
}

static void add_memory(workload *w, i64 ticks, workload_op_kind kind, u64 from_page, u64 pages,
                       u32 flags)
{
    add(w, ticks, kind, from_page * PAGE, pages * PAGE);
    w->ops[w->op_count - 1].flags = flags;
}

/* One expected lifetime; ticks from the start, f < 0: never. */
typedef struct expected {
    u64 address;
    u64 size;
    i64 a;
    i64 f;
    workload_free_type ft;
    bool is_realloc;
} expected;

/* All lifetimes, in any order. Frees the workload. */
static void assert_truth(workload *w, const expected *list, u32 count, u64 unknown_frees)
{
    workload_truth truth = workload_truth_of(w);
    assert_int_equal(truth.count, count);
    assert_int_equal(truth.unknown_frees[0], unknown_frees);
    for (u32 i = 0; i < count; i++) {
        u32 found = 0;
        for (u32 j = 0; j < truth.count; j++) {
            const workload_lifetime *const l = &truth.lifetimes[j];
            const bool ended = l->ft != WORKLOAD_FREE_NONE;
            found += l->address == list[i].address && l->size == list[i].size &&
                     l->a == START + list[i].a && ended == (list[i].f >= 0) &&
                     (!ended || l->f == START + list[i].f) && l->ft == list[i].ft &&
                     l->is_realloc == list[i].is_realloc;
        }
        if (found != 1)
            fail_msg("expected lifetime %u is there %u times", i, found);
    }
    workload_truth_free(&truth);
    workload_free(w);
}

#define ASSERT_TRUTH(w, unknown_frees, ...)                                                        \
    do {                                                                                           \
        const expected list[] = { __VA_ARGS__ };                                                   \
        assert_truth(w, list, (u32)ETL_COUNT_OF(list), unknown_frees);                             \
    } while (0)

/* --- heap ------------------------------------------------------------------------ */

static void a_free_ends_the_block_at_its_address(void **state)
{
    (void)state;
    workload *const w = new_workload();
    add(w, 10, WORKLOAD_HEAP_ALLOC, 0x100, 8);
    add(w, 20, WORKLOAD_HEAP_ALLOC, 0x200, 9);
    add(w, 30, WORKLOAD_HEAP_FREE, 0x100, 0);
    add(w, 40, WORKLOAD_HEAP_ALLOC, 0x100, 7);
    ASSERT_TRUTH(w, 0, { 0x100, 8, 10, 30, WORKLOAD_FREE_FREE, false },
                 { 0x200, 9, 20, -1, WORKLOAD_FREE_NONE, false },
                 { 0x100, 7, 40, -1, WORKLOAD_FREE_NONE, false });
}

static void a_free_of_an_unknown_block_is_counted_apart(void **state)
{
    (void)state;
    workload *const w = new_workload();
    add(w, 10, WORKLOAD_HEAP_ALLOC, 0x100, 8);
    add(w, 20, WORKLOAD_HEAP_FREE, 0x300, 0);
    add(w, 30, WORKLOAD_HEAP_FREE, 0x300, 0);
    ASSERT_TRUTH(w, 2, { 0x100, 8, 10, -1, WORKLOAD_FREE_NONE, false });
}

static void a_displaced_block_ends_with_the_first_free_in_time(void **state)
{
    (void)state;
    workload *const w = new_workload();
    add(w, 10, WORKLOAD_HEAP_ALLOC, 0x100, 8);
    add(w, 50, WORKLOAD_HEAP_ALLOC, 0x100, 9);
    add(w, 50 + MS, WORKLOAD_HEAP_FREE, 0x100, 0);
    add(w, 60 + MS, WORKLOAD_HEAP_FREE, 0x100, 0);
    ASSERT_TRUTH(w, 0, { 0x100, 8, 10, 50 + MS, WORKLOAD_FREE_FREE, false },
                 { 0x100, 9, 50, 60 + MS, WORKLOAD_FREE_FREE, false });
}

static void a_displaced_block_without_a_free_in_time_ended_when_displaced(void **state)
{
    (void)state;
    workload *const w = new_workload();
    add(w, 10, WORKLOAD_HEAP_ALLOC, 0x100, 8);
    add(w, 50, WORKLOAD_HEAP_ALLOC, 0x100, 9);
    add(w, 51 + MS, WORKLOAD_HEAP_FREE, 0x100, 0);
    ASSERT_TRUTH(w, 0, { 0x100, 8, 10, 50, WORKLOAD_FREE_FREE, false },
                 { 0x100, 9, 50, 51 + MS, WORKLOAD_FREE_FREE, false });
}

static void a_moving_realloc_is_counted_once(void **state)
{
    (void)state;
    workload *const w = new_workload();
    add(w, 10, WORKLOAD_HEAP_ALLOC, 0x100, 8);
    add(w, 20, WORKLOAD_HEAP_ALLOC, 0x200, 16);
    add(w, 54, WORKLOAD_HEAP_FREE, 0x100, 0);
    add_realloc(w, 58, 0x200, 0x100, 16);
    ASSERT_TRUTH(w, 0, { 0x100, 8, 10, 54, WORKLOAD_FREE_FREE, false },
                 { 0x200, 16, 20, -1, WORKLOAD_FREE_NONE, true });
}

static void a_moving_realloc_supplies_what_is_missing(void **state)
{
    (void)state;
    workload *const w = new_workload();
    add(w, 10, WORKLOAD_HEAP_ALLOC, 0x100, 8);
    add_realloc(w, 58, 0x200, 0x100, 16);
    add_realloc(w, 90, 0x300, 0x900, 5);
    ASSERT_TRUTH(w, 0, { 0x100, 8, 10, 58, WORKLOAD_FREE_FREE, false },
                 { 0x200, 16, 58, -1, WORKLOAD_FREE_NONE, true },
                 { 0x300, 5, 90, -1, WORKLOAD_FREE_NONE, true });
}

static void a_block_another_thread_was_given_is_not_the_one_that_moved(void **state)
{
    (void)state;
    workload *const w = new_workload();
    add(w, 10, WORKLOAD_HEAP_ALLOC, 0x100, 8);
    add(w, 20, WORKLOAD_HEAP_ALLOC, 0x200, 16);
    add(w, 54, WORKLOAD_HEAP_FREE, 0x100, 0);
    add(w, 55, WORKLOAD_HEAP_ALLOC, 0x100, 5);
    w->ops[3].tid = 99;
    add_realloc(w, 58, 0x200, 0x100, 16);
    ASSERT_TRUTH(w, 0, { 0x100, 8, 10, 54, WORKLOAD_FREE_FREE, false },
                 { 0x200, 16, 20, -1, WORKLOAD_FREE_NONE, true },
                 { 0x100, 5, 55, -1, WORKLOAD_FREE_NONE, false });
}

static void a_realloc_in_place_ends_and_opens_at_once(void **state)
{
    (void)state;
    workload *const w = new_workload();
    add(w, 10, WORKLOAD_HEAP_ALLOC, 0x100, 8);
    add_realloc(w, 20, 0x100, 0x100, 16);
    add_realloc(w, 30, 0x100, 0, 24);
    add_realloc(w, 40, 0x700, 0x700, 4);
    ASSERT_TRUTH(w, 0, { 0x100, 8, 10, 20, WORKLOAD_FREE_FREE, false },
                 { 0x100, 16, 20, 30, WORKLOAD_FREE_FREE, true },
                 { 0x100, 24, 30, -1, WORKLOAD_FREE_NONE, true },
                 { 0x700, 4, 40, -1, WORKLOAD_FREE_NONE, true });
}

static void a_destroyed_heap_ends_its_blocks_and_extents(void **state)
{
    (void)state;
    workload *const w = new_workload();
    add(w, 10, WORKLOAD_HEAP_ALLOC, 0x100, 8);
    add(w, 11, WORKLOAD_HEAP_EXPAND, 0x10000, PAGE);
    add(w, 12, WORKLOAD_HEAP_ALLOC, 0x100, 8);
    w->ops[2].heap = HEAP + 1;
    add(w, 20, WORKLOAD_HEAP_DESTROY, 0, 0);
    ASSERT_TRUTH(w, 0, { 0x100, 8, 10, 20, WORKLOAD_FREE_HEAP_DESTROY, false },
                 { 0x10000, PAGE, 11, 20, WORKLOAD_FREE_HEAP_DESTROY, false },
                 { 0x100, 8, 12, -1, WORKLOAD_FREE_NONE, false });
}

static void a_process_end_ends_all_but_what_is_freed_a_moment_later(void **state)
{
    (void)state;
    workload *const w = new_workload();
    add(w, 10, WORKLOAD_HEAP_ALLOC, 0x100, 8);
    add(w, 11, WORKLOAD_HEAP_ALLOC, 0x200, 8);
    add(w, 12, WORKLOAD_HEAP_ALLOC, 0x300, 8);
    add_memory(w, 13, WORKLOAD_VIRTUAL_ALLOC, 16, 1, ETL_BUILD_COMMIT);
    add(w, 100, WORKLOAD_PROCESS_END, 0, 0);
    add(w, 100 + 2 * MS, WORKLOAD_HEAP_FREE, 0x200, 0);
    add(w, 101 + 2 * MS, WORKLOAD_HEAP_FREE, 0x300, 0);
    ASSERT_TRUTH(w, 1, { 0x100, 8, 10, 100, WORKLOAD_FREE_PROCESS_EXIT, false },
                 { 0x200, 8, 11, 100 + 2 * MS, WORKLOAD_FREE_FREE, false },
                 { 0x300, 8, 12, 100, WORKLOAD_FREE_PROCESS_EXIT, false },
                 { 16 * PAGE, PAGE, 13, 100, WORKLOAD_FREE_PROCESS_EXIT, false });
}

/* --- ranges ------------------------------------------------------------------------ */

static void a_commit_opens_only_the_gaps(void **state)
{
    (void)state;
    workload *const w = new_workload();
    add_memory(w, 5, WORKLOAD_VIRTUAL_ALLOC, 16, 8, ETL_BUILD_RESERVE);
    add_memory(w, 10, WORKLOAD_VIRTUAL_ALLOC, 18, 2, ETL_BUILD_COMMIT);
    add_memory(w, 20, WORKLOAD_VIRTUAL_ALLOC, 16, 6, ETL_BUILD_COMMIT);
    add_memory(w, 30, WORKLOAD_VIRTUAL_ALLOC, 16, 6, ETL_BUILD_COMMIT);
    add_memory(w, 40, WORKLOAD_VIRTUAL_ALLOC, 16, 8, ETL_BUILD_RESET);
    ASSERT_TRUTH(w, 0, { 18 * PAGE, 2 * PAGE, 10, -1, WORKLOAD_FREE_NONE, false },
                 { 16 * PAGE, 2 * PAGE, 20, -1, WORKLOAD_FREE_NONE, false },
                 { 20 * PAGE, 2 * PAGE, 20, -1, WORKLOAD_FREE_NONE, false });
}

static void a_partial_decommit_splits_a_range(void **state)
{
    (void)state;
    workload *const w = new_workload();
    add_memory(w, 10, WORKLOAD_VIRTUAL_ALLOC, 16, 10, ETL_BUILD_RESERVE | ETL_BUILD_COMMIT);
    add_memory(w, 20, WORKLOAD_VIRTUAL_FREE, 18, 3, ETL_BUILD_DECOMMIT);
    add_memory(w, 30, WORKLOAD_VIRTUAL_FREE, 20, 2, ETL_BUILD_DECOMMIT);
    ASSERT_TRUTH(w, 0, { 18 * PAGE, 3 * PAGE, 10, 20, WORKLOAD_FREE_FREE, false },
                 { 16 * PAGE, 2 * PAGE, 10, -1, WORKLOAD_FREE_NONE, false },
                 { 21 * PAGE, 1 * PAGE, 10, 30, WORKLOAD_FREE_FREE, false },
                 { 22 * PAGE, 4 * PAGE, 10, -1, WORKLOAD_FREE_NONE, false });
}

static void a_release_without_a_size_covers_the_latest_reservation(void **state)
{
    (void)state;
    workload *const w = new_workload();
    add_memory(w, 10, WORKLOAD_VIRTUAL_ALLOC, 16, 4, ETL_BUILD_RESERVE | ETL_BUILD_COMMIT);
    add_memory(w, 20, WORKLOAD_VIRTUAL_FREE, 16, 0, ETL_BUILD_RELEASE);
    add_memory(w, 30, WORKLOAD_VIRTUAL_ALLOC, 16, 2, ETL_BUILD_RESERVE | ETL_BUILD_COMMIT);
    add_memory(w, 31, WORKLOAD_VIRTUAL_ALLOC, 18, 2, ETL_BUILD_RESERVE | ETL_BUILD_COMMIT);
    add_memory(w, 40, WORKLOAD_VIRTUAL_FREE, 16, 0, ETL_BUILD_RELEASE);
    ASSERT_TRUTH(w, 0, { 16 * PAGE, 4 * PAGE, 10, 20, WORKLOAD_FREE_FREE, false },
                 { 16 * PAGE, 2 * PAGE, 30, 40, WORKLOAD_FREE_FREE, false },
                 { 18 * PAGE, 2 * PAGE, 31, -1, WORKLOAD_FREE_NONE, false });
}

/* --- random workloads ---------------------------------------------------------------- */

static u32 count_of(const workload_truth *truth, workload_kind kind, workload_free_type ft)
{
    u32 count = 0;
    for (u32 i = 0; i < truth->count; i++)
        count += truth->lifetimes[i].kind == kind && truth->lifetimes[i].ft == ft;
    return count;
}

static void random_workloads_hold_every_kind_of_trouble(void **state)
{
    (void)state;
    for (u64 seed = 1; seed <= 10; seed++) {
        workload *const w = workload_random(&(workload_options){ .seed = seed });
        workload_truth truth = workload_truth_of(w);
        assert_in_range(count_of(&truth, WORKLOAD_KIND_HEAP, WORKLOAD_FREE_FREE), 500, 3000);
        assert_true(count_of(&truth, WORKLOAD_KIND_HEAP, WORKLOAD_FREE_NONE) > 20);
        assert_true(count_of(&truth, WORKLOAD_KIND_HEAP, WORKLOAD_FREE_PROCESS_EXIT) > 5);
        assert_true(count_of(&truth, WORKLOAD_KIND_VIRTUALALLOC, WORKLOAD_FREE_FREE) > 20);
        assert_true(count_of(&truth, WORKLOAD_KIND_VIRTUALALLOC, WORKLOAD_FREE_NONE) > 20);
        assert_true(count_of(&truth, WORKLOAD_KIND_EXTENT, WORKLOAD_FREE_FREE) > 5);
        u32 reallocs = 0;
        u32 without_stack = 0;
        u64 unknown = 0;
        for (u32 i = 0; i < truth.count; i++) {
            const workload_lifetime *const l = &truth.lifetimes[i];
            assert_true(l->ft == WORKLOAD_FREE_NONE || l->f >= l->a);
            assert_true(l->size > 0);
            reallocs += l->is_realloc;
            without_stack += l->stack == WORKLOAD_NONE;
        }
        for (u32 i = 0; i < truth.process_count; i++)
            unknown += truth.unknown_frees[i];
        assert_true(reallocs > 50 && without_stack > 50 && unknown > 10);
        workload_truth_free(&truth);
        workload_free(w);
    }
}

/* The model's outcome must not hang on a block being exactly as old as a limit,
 * or on the order of operations of the same time. */
static void operations_on_one_thing_never_share_a_time(void **state)
{
    (void)state;
    for (u64 seed = 1; seed <= 10; seed++) {
        workload *const w = workload_random(&(workload_options){ .seed = seed });
        for (u32 i = 1; i < w->op_count; i++) {
            assert_true(w->ops[i].ticks >= w->ops[i - 1].ticks);
            for (u32 j = i; j-- > 0 && w->ops[j].ticks == w->ops[i].ticks;) {
                const bool noise =
                    w->ops[i].kind == WORKLOAD_NOISE || w->ops[j].kind == WORKLOAD_NOISE;
                assert_true(noise || w->ops[i].process != w->ops[j].process);
            }
        }
        workload_free(w);
    }
}

static void a_thread_waits_for_its_user_half(void **state)
{
    (void)state;
    workload *const w = workload_random(&(workload_options){ .seed = 4, .operations = 8000 });
    for (u32 i = 0; i < w->op_count; i++) {
        const workload_op *const op = &w->ops[i];
        if (op->user_delay == 0 || op->kind == WORKLOAD_NOISE)
            continue;
        for (u32 j = i + 1; j < w->op_count && w->ops[j].ticks <= op->ticks + op->user_delay; j++)
            assert_int_not_equal(w->ops[j].tid, op->tid);
    }
    workload_free(w);
}

static void the_same_seed_gives_the_same_file(void **state)
{
    (void)state;
    size_t sizes[3];
    etl_build *builders[3];
    for (u64 i = 0; i < 3; i++) {
        builders[i] = etl_build_new(NULL);
        scenario_run run = { .seed = 5 + i / 2, .operations = 500 };
        assert_true(scenario_write(scenario_find("workload"), &run, builders[i]));
        assert_true(etl_build_finish(builders[i]));
        scenario_run_free(&run);
    }
    const u8 *const one = etl_build_data(builders[0], &sizes[0]);
    const u8 *const same = etl_build_data(builders[1], &sizes[1]);
    const u8 *const other = etl_build_data(builders[2], &sizes[2]);
    assert_int_equal(sizes[0], sizes[1]);
    assert_memory_equal(one, same, sizes[0]);
    assert_true(sizes[0] != sizes[2] || memcmp(one, other, sizes[0]) != 0);
    for (int i = 0; i < 3; i++)
        etl_build_free(builders[i]);
}

/* --- scenarios --------------------------------------------------------------------------- */

typedef struct sums {
    u32 count;
    u64 bytes;
} sums;

static sums sums_of(const workload_truth *truth, workload_kind kind, workload_free_type ft)
{
    sums found = { 0 };
    for (u32 i = 0; i < truth->count; i++) {
        if (truth->lifetimes[i].kind != kind || truth->lifetimes[i].ft != ft)
            continue;
        found.count++;
        found.bytes += truth->lifetimes[i].size;
    }
    return found;
}

static void scenarios_hold_their_numbers(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        workload_kind kind;
        workload_free_type ft;
        sums expected; /* bytes 0: not stated */
    } rows[] = {
        { "battery-meter",
          WORKLOAD_KIND_HEAP,
          WORKLOAD_FREE_NONE,
          { BATTERY_METER_LEAK_COUNT, BATTERY_METER_LEAK_BYTES } },
        { "battery-meter",
          WORKLOAD_KIND_HEAP,
          WORKLOAD_FREE_FREE,
          { BATTERY_METER_TRANSIENT_COUNT, 0 } },
        { "battery-meter-fixed",
          WORKLOAD_KIND_HEAP,
          WORKLOAD_FREE_NONE,
          { BATTERY_METER_FIXED_KEPT + BATTERY_METER_FIXED_PIN_COUNT,
            BATTERY_METER_FIXED_KEPT * 4096u + BATTERY_METER_FIXED_PIN_BYTES } },
        { "battery-meter-fixed",
          WORKLOAD_KIND_HEAP,
          WORKLOAD_FREE_FREE,
          { DEMO_TRANSIENT_COUNT + DEMO_LEAK_COUNT - BATTERY_METER_FIXED_KEPT +
                BATTERY_METER_FIXED_ICON_COUNT,
            0 } },
        { "virtualalloc-exercise",
          WORKLOAD_KIND_VIRTUALALLOC,
          WORKLOAD_FREE_FREE,
          { VIRTUALALLOC_EXERCISE_COUNT, VIRTUALALLOC_EXERCISE_TOTAL_BYTES } },
        { "virtualalloc-exercise", WORKLOAD_KIND_VIRTUALALLOC, WORKLOAD_FREE_NONE, { 0, 0 } },
        { "heap-exercise",
          WORKLOAD_KIND_HEAP,
          WORKLOAD_FREE_NONE,
          { HEAP_EXERCISE_LEAK_COUNT, HEAP_EXERCISE_LEAK_BYTES } },
        { "heap-exercise",
          WORKLOAD_KIND_HEAP,
          WORKLOAD_FREE_FREE,
          { HEAP_EXERCISE_TRANSIENT_COUNT, 0 } },
        { "demo", WORKLOAD_KIND_HEAP, WORKLOAD_FREE_NONE, { DEMO_LEAK_COUNT, DEMO_LEAK_BYTES } },
        { "demo", WORKLOAD_KIND_HEAP, WORKLOAD_FREE_FREE, { DEMO_TRANSIENT_COUNT, 0 } },
        { "demo", WORKLOAD_KIND_VIRTUALALLOC, WORKLOAD_FREE_NONE, { 1, DEMO_OUTSTANDING_BYTES } },
    };
    for (u32 wow64 = 0; wow64 < 2; wow64++) {
        for (size_t i = 0; i < ETL_COUNT_OF(rows); i++) {
            etl_build *const b = etl_build_new(NULL);
            scenario_run run = { .wow64 = wow64 == 1 };
            assert_true(scenario_write(scenario_find(rows[i].name), &run, b));
            const sums found = sums_of(&run.truth, rows[i].kind, rows[i].ft);
            assert_int_equal(found.count, rows[i].expected.count);
            if (rows[i].expected.bytes != 0)
                assert_int_equal(found.bytes, rows[i].expected.bytes);
            scenario_run_free(&run);
            etl_build_free(b);
        }
    }
}

static void frames_are_named_by_module_and_offset(void **state)
{
    (void)state;
    char text[64];
    etl_build *const b = etl_build_new(NULL);
    scenario_run run = { 0 };
    assert_true(scenario_write(scenario_find("virtualalloc-exercise"), &run, b));
    const workload_lifetime *spike = NULL;
    for (u32 i = 0; i < run.truth.count; i++) {
        const workload_lifetime *const l = &run.truth.lifetimes[i];
        if (l->ft == WORKLOAD_FREE_FREE && l->f - l->a == 100 * MS)
            spike = l;
    }
    assert_non_null(spike);
    assert_true(workload_stack_text(run.work, spike->stack, 0, text));
    assert_string_equal(text, "ntoskrnl.exe+0x6f2a41");
    assert_true(workload_stack_text(run.work, spike->stack, 5, text));
    assert_string_equal(text, "memorytestapp.exe+0x118b");
    assert_true(workload_stack_text(run.work, spike->stack, 9, text));
    assert_false(workload_stack_text(run.work, spike->stack, 10, text));
    scenario_run_free(&run);
    etl_build_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_free_ends_the_block_at_its_address),
        cmocka_unit_test(a_free_of_an_unknown_block_is_counted_apart),
        cmocka_unit_test(a_displaced_block_ends_with_the_first_free_in_time),
        cmocka_unit_test(a_displaced_block_without_a_free_in_time_ended_when_displaced),
        cmocka_unit_test(a_moving_realloc_is_counted_once),
        cmocka_unit_test(a_moving_realloc_supplies_what_is_missing),
        cmocka_unit_test(a_block_another_thread_was_given_is_not_the_one_that_moved),
        cmocka_unit_test(a_realloc_in_place_ends_and_opens_at_once),
        cmocka_unit_test(a_destroyed_heap_ends_its_blocks_and_extents),
        cmocka_unit_test(a_process_end_ends_all_but_what_is_freed_a_moment_later),
        cmocka_unit_test(a_commit_opens_only_the_gaps),
        cmocka_unit_test(a_partial_decommit_splits_a_range),
        cmocka_unit_test(a_release_without_a_size_covers_the_latest_reservation),
        cmocka_unit_test(random_workloads_hold_every_kind_of_trouble),
        cmocka_unit_test(operations_on_one_thing_never_share_a_time),
        cmocka_unit_test(a_thread_waits_for_its_user_half),
        cmocka_unit_test(the_same_seed_gives_the_same_file),
        cmocka_unit_test(scenarios_hold_their_numbers),
        cmocka_unit_test(frames_are_named_by_module_and_offset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
