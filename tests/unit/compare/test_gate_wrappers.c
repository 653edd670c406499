/*
 * Goal: a function is called a wrapper if it is the innermost of more than half of the bytes of
 * a kind and has three callers, and not otherwise.
 * Method: tables made by hand, one situation a row.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "engine/compare/gate.h"

static const etlheap_frame frames[] = {
    { .module = "a.exe", .symbol = "zmalloc", .line = 1 },
    { .module = "a.exe", .symbol = "load" },
    { .module = "a.exe", .symbol = "save" },
    { .module = "a.exe", .symbol = "draw" },
    { .module = "a.exe", .symbol = "zmalloc", .line = 9 },
    { .module = "a.exe", .offset = 1 },
};

/* 0-2: zmalloc for load, save, draw; 3: its other line for load; 4: load; 5: a place without a
 * name for load. */
static const u32 starts[] = { 0, 2, 4, 6, 8, 9, 11 };
static const u32 indices[] = { 0, 1, 0, 2, 0, 3, 4, 1, 1, 5, 1 };
static etlheap_table table = { .frames = frames,
                               .frame_count = (u32)ETL_COUNT_OF(frames),
                               .stack_starts = starts,
                               .frame_indices = indices,
                               .stack_count = 6 };

static void wrappers_have_most_bytes_and_three_callers(void **state)
{
    static const struct {
        u64 sizes[6];
        bool suppressed; /* stack 2 */
        u32 callers;     /* 0: no wrapper */
        u64 size_bytes, of_bytes;
    } rows[] = {
        { { 20, 20, 10, 1, 50, 0 }, false, 3, 51, 101 },
        { { 20, 20, 10, 0, 50, 0 }, false, 0, 0, 0 }, /* half is not most */
        { { 90, 20, 0, 10, 1, 0 }, false, 0, 0, 0 },  /* two callers */
        { { 90, 20, 10, 10, 1, 0 }, true, 0, 0, 0 },  /* the third is a known leak */
        { { 10, 10, 10, 0, 0, 90 }, false, 0, 0, 0 }, /* the most has no name */
        { { 30, 20, 10, 0, 0, 10 }, false, 3, 60, 70 },
    };
    (void)state;
    for (size_t i = 0; i < ETL_COUNT_OF(rows); i++) {
        gate_row list[6];
        owned_gate gate = { .table = &table };
        for (u32 k = 0; k < ETL_COUNT_OF(list); k++)
            list[k] =
                (gate_row){ .kind = ETLHEAP_KIND_HEAP,
                            .stack = k,
                            .suppression = rows[i].suppressed && k == 2 ? 0 : SUPPRESSION_NONE,
                            .now = { rows[i].sizes[k], rows[i].sizes[k] > 0 } };
        gate.absolute.list.at = list;
        gate.absolute.list.count = ETL_COUNT_OF(list);
        assert_true(gate_find_wrappers(&gate));
        assert_int_equal(gate.gate.wrapper_count, rows[i].callers > 0);
        if (rows[i].callers == 0)
            continue;
        assert_string_equal(gate.gate.wrappers[0].symbol, "zmalloc");
        assert_int_equal(gate.gate.wrappers[0].callers, rows[i].callers);
        assert_int_equal(gate.gate.wrappers[0].size_bytes, rows[i].size_bytes);
        assert_int_equal(gate.gate.wrappers[0].of_bytes, rows[i].of_bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrappers_have_most_bytes_and_three_callers),
    };
    return cmocka_run_group_tests_name("gate_wrappers", tests, NULL, NULL);
}
