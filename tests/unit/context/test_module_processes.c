/*
 * Goal: modules belong to processes, not to process ids: an address is looked up
 * among those of its own process, what lay there in another one with its id is a
 * guess, and a program is never guessed.
 * Method: process and image events by hand, then look-ups for each process.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "tests/support/hand_result.h"
#include "module_bench.h"

#define PID    7u
#define BASE   UINT64_C(0x7ff600000000)
#define SIZE   UINT64_C(0x10000)
#define MS     ((i64)10000) /* ticks */
#define NONE   UINT32_MAX
#define FIRST  1u /* processes of the id, in the order of their events */
#define SECOND 2u

#define LOAD   ETL_EVENT_IMAGE_LOAD
#define UNLOAD ETL_EVENT_IMAGE_UNLOAD
#define END    ETL_EVENT_IMAGE_DCEND

static void process(module_bench *b, etl_event_kind kind, i64 ticks, u64 key)
{
    system_event row = { .ticks = ticks };
    row.event.kind = kind;
    row.event.as.process.process_id = PID;
    row.event.as.process.unique_process_key = key;
    assert_true(context_apply(&b->context, &row, 1));
}

static hand_image_spec image(etl_event_kind kind, i64 ticks, const char *path)
{
    return (hand_image_spec){
        .kind = kind, .pid = PID, .base = BASE, .size_bytes = SIZE, .ticks = ticks, .path = path
    };
}

static void add(module_bench *b, etl_event_kind kind, i64 ticks, const char *path)
{
    const hand_image_spec spec = image(kind, ticks, path);
    hand_image(&b->context, &spec);
}

/* One process up to 200 ms, another with its id from 300 ms on. */
static module_bench *open_two(void)
{
    module_bench *const b = module_bench_open();
    process(b, ETL_EVENT_PROCESS_START, 100 * MS, 1);
    process(b, ETL_EVENT_PROCESS_END, 200 * MS, 1);
    process(b, ETL_EVENT_PROCESS_START, 300 * MS, 2);
    return b;
}

/* The module that an address means to a process, and whether that is sure. */
static void expect(const module_bench *b, u32 owner, i64 ticks, u32 module, bool is_sure)
{
    const module_space space = { .pid = PID, .process = owner, .ticks = ticks };
    const u32 found = modules_find(&b->modules, &space, BASE + 0x10);
    assert_int_equal(found, module);
    if (found == NONE)
        return;
    const module_span span = modules_span(&b->modules, found, &space);
    assert_int_equal(ticks >= span.from_ticks && ticks < span.until_ticks, is_sure);
}

static void expect_life(const module_bench *b, u32 module, u32 owner, i64 load, i64 unload)
{
    assert_true(module < b->modules.list.count);
    assert_int_equal(b->modules.list.at[module].process.v, owner);
    assert_int_equal(b->modules.list.at[module].load_ticks, load);
    assert_int_equal(b->modules.list.at[module].unload_ticks, unload);
}

static void a_library_at_its_place_again_is_the_next_processs(void **state)
{
    (void)state;
    module_bench *const b = open_two();
    add(b, LOAD, 110 * MS, "\\x\\a.dll");
    add(b, LOAD, 310 * MS, "\\x\\a.dll"); /* the unload between was not seen */
    module_bench_build(b);
    assert_int_equal(b->modules.list.count, 2);
    expect_life(b, 0, FIRST, 110 * MS, 200 * MS);
    expect_life(b, 1, SECOND, 310 * MS, ETLHEAP_TICKS_NEVER);
    expect(b, FIRST, 150 * MS, 0, true);
    expect(b, FIRST, 105 * MS, 0, false);
    expect(b, SECOND, 305 * MS, 1, false);
    expect(b, SECOND, 350 * MS, 1, true);
    module_bench_close(b);
}

static void a_program_is_never_guessed_from_another_process(void **state)
{
    (void)state;
    static const etl_event_kind kinds[] = { LOAD, END, UNLOAD };
    for (size_t i = 0; i < ETL_COUNT_OF(kinds); i++) {
        module_bench *const b = open_two();
        add(b, kinds[i], 310 * MS, "\\x\\B.EXE");
        module_bench_build(b);
        assert_int_equal(b->modules.list.at[0].process.v, SECOND);
        expect(b, FIRST, 150 * MS, NONE, false);
        expect(b, SECOND, 305 * MS, 0, kinds[i] != LOAD);
        module_bench_close(b);
    }
}

/* Systems have their libraries at one place in all processes. */
static void a_library_is_guessed_from_another_process(void **state)
{
    (void)state;
    module_bench *const b = open_two();
    add(b, END, 310 * MS, "\\x\\a.dll");
    module_bench_build(b);
    expect(b, FIRST, 150 * MS, 0, false);
    expect(b, SECOND, 301 * MS, 0, true);
    module_bench_close(b);
}

/* What the process itself had later is better than what another one has now. */
static void the_own_process_is_guessed_first(void **state)
{
    (void)state;
    module_bench *const b = open_two();
    add(b, END, 150 * MS, "\\x\\former.dll");
    add(b, LOAD, 350 * MS, "\\x\\own.dll");
    module_bench_build(b);
    expect(b, SECOND, 310 * MS, 1, false);
    expect(b, FIRST, 190 * MS, 0, true);
    module_bench_close(b);
}

/* Modules of an ended process go when its memory is taken down, which may be a
 * moment before the next one with its id starts. */
static void a_late_unload_is_the_former_processs(void **state)
{
    (void)state;
    module_bench *const b = open_two();
    add(b, LOAD, 110 * MS, "\\x\\a.dll");
    add(b, UNLOAD, 299 * MS, "\\x\\a.dll");
    module_bench_build(b);
    assert_int_equal(b->modules.list.count, 1);
    expect_life(b, 0, FIRST, 110 * MS, 299 * MS);
    module_bench_close(b);
}

/* A process is started from any file. */
static void a_file_named_like_the_process_is_its_program(void **state)
{
    (void)state;
    const etlheap_process_info infos[] = { { .name = "a.exe" },
                                           { .name = "Setup.tmp" },
                                           { .name = "long-name-of-a" } };
    const module_owners owners = { .processes = infos, .count = ETL_COUNT_OF(infos) };
    static const struct {
        const char *path;
        u32 owner;
        bool is_program;
    } rows[] = { { "\\x\\setup.TMP", 2, true },   { "\\x\\setup.tmp", 1, false },
                 { "\\x\\setup.tmp2", 2, false }, { "\\x\\long-name-of-a-thing.scr", 3, true },
                 { "\\x\\any.exe", 0, true },     { "\\x\\exe", 0, false } };
    for (size_t i = 0; i < ETL_COUNT_OF(rows); i++) {
        module_bench *const b = module_bench_open();
        add(b, LOAD, 110 * MS, rows[i].path);
        module_bench_build(b);
        module_table again = { .list = b->modules.list };
        again.list.at[0].process.v = rows[i].owner;
        assert_true(modules_index(&again, &owners));
        assert_int_equal(again.is_program.at[0], rows[i].is_program);
        memset(&again.list, 0, sizeof again.list);
        modules_free(&again);
        module_bench_close(b);
    }
}

/* A program that is built and started again, to which no unload belongs. */
static void another_build_at_the_place_is_another_module(void **state)
{
    (void)state;
    module_bench *const b = module_bench_open();
    for (u8 i = 0; i < 3; i++) {
        const hand_image_spec spec = image(LOAD, 100 * MS * (i + 1), "\\x\\a.dll");
        hand_rsds(&b->context, &spec, i / 2, "a.pdb");
        hand_image(&b->context, &spec);
    }
    module_bench_build(b);
    assert_int_equal(b->modules.list.count, 2);
    expect_life(b, 0, 0, 100 * MS, 300 * MS);
    expect_life(b, 1, 0, 300 * MS, ETLHEAP_TICKS_NEVER);
    assert_int_equal(b->modules.list.at[0].guid.bytes[0], 0);
    assert_int_equal(b->modules.list.at[1].guid.bytes[0], 1);
    module_bench_close(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_library_at_its_place_again_is_the_next_processs),
        cmocka_unit_test(a_program_is_never_guessed_from_another_process),
        cmocka_unit_test(a_library_is_guessed_from_another_process),
        cmocka_unit_test(the_own_process_is_guessed_first),
        cmocka_unit_test(a_late_unload_is_the_former_processs),
        cmocka_unit_test(a_file_named_like_the_process_is_its_program),
        cmocka_unit_test(another_build_at_the_place_is_another_module),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
