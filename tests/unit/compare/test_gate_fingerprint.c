/*
 * Goal: fingerprints of findings stay the same from version to version. Trackers keep
 * them, and another number for the same leak would be reported as a new one.
 * Method: a table made by hand. The expected numbers come from a Python script that
 * follows gate_fingerprint.c's description, with FNV-1a written anew and XXH3 from the
 * program xxhsum.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/compare/gate.h"

#define NONE ETLHEAP_NO_INDEX

/* Stack 0: grow in App.exe < an unnamed place in lib.dll; 1: outside every module; 2:
 * the unnamed place alone. */
static etlheap_table hand_table(void)
{
    static const etlheap_frame frames[] = {
        { .module = "App.exe",
          .symbol = "grow",
          .address = 0x401000,
          .offset = 0x1000,
          .line = 11 },
        { .module = "lib.dll", .address = 0x501234, .offset = 0x1234 },
        { .address = 0x7000 },
    };
    static const u32 starts[] = { 0, 2, 3, 4 }, indices[] = { 0, 1, 2, 1 };
    return (etlheap_table){ .frames = frames,
                            .frame_count = (u32)ETL_COUNT_OF(frames),
                            .stack_starts = starts,
                            .frame_indices = indices,
                            .stack_count = 3 };
}

static void a_stack_has_the_fingerprint_that_trackers_keep(void **state)
{
    static const struct {
        const char *process;
        u32 stack;
        u64 fingerprint;
    } rows[] = {
        { "a.exe", 0, 0x0fffaa432a92cdac },    { "A.EXE", 0, 0x0fffaa432a92cdac },
        { "a.exe", 1, 0x0ffaadffc76ad895 },    { "a.exe", 2, 0x3d11d87a3bd61f76 },
        { "a.exe", NONE, 0x0ffaadffc76ad895 }, { NULL, 0, 0x628056b7e1749778 },
    };
    const etlheap_table table = hand_table();
    (void)state;
    for (size_t i = 0; i < ETL_COUNT_OF(rows); i++)
        assert_true(gate_stack_fingerprint(&table, rows[i].process, rows[i].stack) ==
                    rows[i].fingerprint);
}

static void what_a_build_renames_keeps_its_fingerprint(void **state)
{
    (void)state;
    static const char *const symbols[] = { "f::<lambda_1>::operator()",
                                           "f::<lambda_12>::operator()",
                                           "g::<lambda_1>::operator()" };
    etlheap_frame frames[3] = { { .module = "app.exe" }, { .module = "app.exe" } };
    etlheap_table table = hand_table();
    u64 prints[3];
    table.frames = frames;
    for (size_t i = 0; i < ETL_COUNT_OF(symbols); i++) {
        frames[0].symbol = symbols[i];
        prints[i] = gate_stack_fingerprint(&table, "a.exe", 0);
    }
    assert_true(prints[0] == prints[1]);
    assert_true(prints[0] != prints[2]);
}

static void a_subject_has_the_fingerprint_that_trackers_keep(void **state)
{
    static const struct {
        etlheap_budget budget;
        etlheap_kind kind;
        const char *process;
        u32 stack;
        u64 fingerprint;
    } rows[] = {
        { { .scope = ETLHEAP_SCOPE_TOTAL }, ETLHEAP_KIND_HEAP, NULL, NONE, 0xfbc37dac2dc4ce65 },
        { { .scope = ETLHEAP_SCOPE_PROCESS },
          ETLHEAP_KIND_HEAP,
          "a.exe",
          NONE,
          0x7736d8292d7f14a4 },
        { { .scope = ETLHEAP_SCOPE_PROCESS, .is_count = true },
          ETLHEAP_KIND_HEAP,
          "a.exe",
          NONE,
          0xb880d85a50f4a571 },
        { { .scope = ETLHEAP_SCOPE_PROCESS, .is_growth = true },
          ETLHEAP_KIND_HEAP,
          "a.exe",
          NONE,
          0x9e82c0444b9731b7 },
        { { .scope = ETLHEAP_SCOPE_PROCESS, .is_growth = true, .is_count = true },
          ETLHEAP_KIND_EXTENT,
          "a.exe",
          NONE,
          0xc9ed58cbc26a3dd7 },
        { { .scope = ETLHEAP_SCOPE_HEAP }, ETLHEAP_KIND_HEAP, "a.exe", NONE, 0x4daa88a57821619b },
        { { .scope = ETLHEAP_SCOPE_STACK }, ETLHEAP_KIND_HEAP, "a.exe", 0, 0x94ded1857a4a081d },
        { { .scope = ETLHEAP_SCOPE_STACK },
          ETLHEAP_KIND_VIRTUALALLOC,
          "a.exe",
          NONE,
          0xacfa3e4eee8b2907 },
    };
    const etlheap_table table = hand_table();
    (void)state;
    for (size_t i = 0; i < ETL_COUNT_OF(rows); i++) {
        const etlheap_gate_subject subject = {
            .kind = rows[i].kind,
            .process = rows[i].process,
            .pid = 10 + (u32)i, /* ids, handles and limits do not count */
            .heap_handle = 0x1000 * i,
            .stack = rows[i].stack,
            .limit = (i64)i,
        };
        assert_true(gate_subject_fingerprint(&table, &rows[i].budget, &subject) ==
                    rows[i].fingerprint);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stack_has_the_fingerprint_that_trackers_keep),
        cmocka_unit_test(what_a_build_renames_keeps_its_fingerprint),
        cmocka_unit_test(a_subject_has_the_fingerprint_that_trackers_keep),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
