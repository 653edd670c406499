/*
 * Goal: stacks that are listed together read differently, with no more callers than that
 * takes: the innermost frame alone where it is enough, lines where functions are the same,
 * the shorter of two stacks where it begins the longer one.
 * Method: tables made by hand, and the frames counted that a reader needs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "engine/compare/gate.h"

#define NONE ETLHEAP_NO_INDEX
#define STACKS(n)                                                                                  \
    {                                                                                              \
        .scope = ETLHEAP_SCOPE_STACK, .limit = (n)                                                 \
    }

/* 0-2: alloc, grow and run of one program, 3: run at another line, 4: another address of 0,
 * 5 and 6: places without a name. */
static const etlheap_frame frames[] = {
    { .module = "app.exe", .symbol = "alloc", .file = "a.c", .line = 1, .address = 1 },
    { .module = "app.exe", .symbol = "grow", .file = "a.c", .line = 2, .address = 2 },
    { .module = "app.exe", .symbol = "run", .file = "a.c", .line = 3, .address = 3 },
    { .module = "app.exe", .symbol = "run", .file = "a.c", .line = 4, .address = 4 },
    { .module = "app.exe", .symbol = "alloc", .file = "a.c", .line = 1, .address = 5 },
    { .module = "app.exe", .offset = 0x10, .address = 6 },
    { .module = "app.exe", .offset = 0x20, .address = 7 },
};

/* 0: alloc grow run, 1: alloc grow run at another line, 2: alloc' grow, 3: alloc' run,
 * 4: +0x10, 5: +0x20 alloc. */
static const u32 starts[] = { 0, 3, 6, 8, 10, 11, 13 };
static const u32 indices[] = { 0, 1, 2, 0, 1, 3, 4, 1, 4, 2, 5, 6, 0 };
static const etlheap_table table = { .frames = frames,
                                     .frame_count = (u32)ETL_COUNT_OF(frames),
                                     .stack_starts = starts,
                                     .frame_indices = indices,
                                     .stack_count = (u32)ETL_COUNT_OF(starts) - 1 };

static void subjects_take_the_frames_that_tell_them_apart(void **state)
{
    static const struct {
        u32 stack, pid, frames;
    } rows[] = {
        { 0, 1, 3 }, { 4, 1, 1 }, { 1, 1, 3 }, { 2, 1, 2 },
        { 3, 1, 2 }, { 5, 1, 1 }, { 0, 2, 1 }, { NONE, 1, 0 },
    };
    etlheap_gate_budget budget = { .budget = STACKS(0), .table = &table };
    etlheap_gate_subject subjects[ETL_COUNT_OF(rows)];
    gate_unsigned listed[ETL_COUNT_OF(rows)];
    owned_gate gate = { .budgets = &budget };
    (void)state;
    for (size_t i = 0; i < ETL_COUNT_OF(rows); i++) {
        subjects[i] = (etlheap_gate_subject){ .process = "app.exe",
                                              .pid = rows[i].pid,
                                              .stack = rows[i].stack };
        listed[i] = (gate_unsigned){ .budget = &budget, .subject = &subjects[i] };
    }
    gate.listed.at = listed;
    gate.listed.count = ETL_COUNT_OF(listed);
    assert_true(gate_tell_apart(&gate));
    for (size_t i = 0; i < ETL_COUNT_OF(rows); i++)
        assert_int_equal(subjects[i].frames_apart, rows[i].frames);
}

/* Stacks of two subjects are not listed together, nor are those of two processes. */
static void stacks_to_blame_are_told_apart_subject_by_subject(void **state)
{
    etlheap_gate_budget budget = { .budget = { .scope = ETLHEAP_SCOPE_PROCESS }, .table = &table };
    etlheap_gate_stack of_first[] = { { .stack = 2, .process = "app.exe" },
                                      { .stack = 3, .process = "app.exe" },
                                      { .stack = 2, .process = "b.exe" } };
    etlheap_gate_stack of_second[] = { { .stack = 2, .process = "app.exe" } };
    etlheap_gate_subject subjects[] = { { .stack = NONE, .stacks = of_first, .stack_count = 3 },
                                        { .stack = NONE, .stacks = of_second, .stack_count = 1 } };
    gate_unsigned listed[] = { { &budget, &subjects[0], of_first },
                               { &budget, &subjects[1], of_second } };
    owned_gate gate = { .budgets = &budget };
    (void)state;
    gate.listed.at = listed;
    gate.listed.count = ETL_COUNT_OF(listed);
    assert_true(gate_tell_apart(&gate));
    assert_int_equal(of_first[0].frames_apart, 2);
    assert_int_equal(of_first[1].frames_apart, 2);
    assert_int_equal(of_first[2].frames_apart, 1);
    assert_int_equal(of_second[0].frames_apart, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(subjects_take_the_frames_that_tell_them_apart),
        cmocka_unit_test(stacks_to_blame_are_told_apart_subject_by_subject),
    };
    return cmocka_run_group_tests_name("gate_apart", tests, NULL, NULL);
}
