/*
 * Goal: look-ups of modules at places that are used again and again are right,
 * agree within an epoch, and are quick.
 * Method: random loads and unloads at a few bases that overlap, against a walk
 * over the whole list; one base with very many lives.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <stdio.h>
#include <cmocka.h>

#include "tests/support/hand_bytes.h"
#include "module_bench.h"
#include "tests/support/hand_result.h"

#define PID  7u
#define BASE UINT64_C(0x7ff600000000)
#define SIZE UINT64_C(0x10000)

#define LOAD   ETL_EVENT_IMAGE_LOAD
#define UNLOAD ETL_EVENT_IMAGE_UNLOAD

/* An image event of PID at BASE. */
static void add(module_bench *b, etl_event_kind kind, i64 ticks, const char *path)
{
    hand_image(&b->context, &(hand_image_spec){ .kind = kind,
                                                .pid = PID,
                                                .base = BASE,
                                                .size_bytes = SIZE,
                                                .ticks = ticks,
                                                .path = path });
}

/* Between two moments of one epoch every address means the same. */
static void places_used_once_have_one_epoch(void **state)
{
    (void)state;
    module_bench *const b = module_bench_open();
    for (u32 i = 0; i < 20; i++)
        hand_image(&b->context, &(hand_image_spec){ .kind = LOAD,
                                                    .pid = PID,
                                                    .base = BASE + i * SIZE,
                                                    .size_bytes = SIZE,
                                                    .ticks = 100 * i,
                                                    .path = "\\x\\a.dll" });
    module_bench_build(b);
    assert_int_equal(b->modules.epochs.count, 0);
    module_bench_close(b);
}

#define RANDOM_BASES  6u
#define RANDOM_EVENTS 60u
#define RANDOM_TIME   1000

/* Loads and unloads at bases that overlap, each module a path of its own. */
static void add_random(module_bench *b, u64 *random, u32 pid, u64 base)
{
    bool loaded[RANDOM_BASES] = { false };
    char path[32];
    for (u32 i = 0; i < RANDOM_EVENTS; i++) {
        const u32 place = hand_random(random) % RANDOM_BASES;
        loaded[place] = !loaded[place];
        (void)snprintf(path, sizeof path, "\\x\\m%u.dll", loaded[place] ? i : 99);
        hand_image(&b->context, &(hand_image_spec){ .kind = loaded[place] ? LOAD : UNLOAD,
                                                    .pid = pid,
                                                    .base = base + place * SIZE / 2,
                                                    .size_bytes = SIZE,
                                                    .ticks = (i64)i * RANDOM_TIME / RANDOM_EVENTS,
                                                    .path = path });
    }
}

static void look_ups_of_one_epoch_agree(void **state)
{
    (void)state;
    u64 random = 11;
    for (u32 round = 0; round < 30; round++) {
        module_bench *const b = module_bench_open();
        add_random(b, &random, PID, BASE);
        module_bench_build(b);
        for (u64 address = BASE; address < BASE + 4 * SIZE; address += SIZE / 4) {
            u32 epoch = UINT32_MAX, found = 0;
            for (i64 ticks = -10; ticks < RANDOM_TIME + 10; ticks++) {
                const u32 now = modules_epoch(&b->modules, PID, ticks);
                const u32 here = modules_find(
                    &b->modules, &(module_space){ .pid = PID, .ticks = ticks }, address);
                assert_true(now != epoch || here == found);
                epoch = now;
                found = here;
            }
        }
        module_bench_close(b);
    }
}

/* A module alive at the moment that covers the address, if there is one. */
static void look_ups_find_who_is_there(void **state)
{
    (void)state;
    u64 random = 12;
    for (u32 round = 0; round < 30; round++) {
        module_bench *const b = module_bench_open();
        add_random(b, &random, PID, BASE);
        add_random(b, &random, PID + 1, BASE);
        module_bench_build(b);
        for (u32 i = 0; i < 3000; i++) {
            /* At an edge of a module, and just before it. */
            const u64 address =
                BASE + hand_random(&random) % 9 * SIZE / 2 - hand_random(&random) % 2;
            const i64 ticks = hand_random(&random) % RANDOM_TIME;
            const u32 pid = PID + hand_random(&random) % 2;
            bool any = false, alive = false;
            for (size_t k = 0; k < b->modules.list.count; k++) {
                const etlheap_module_info *const row = &b->modules.list.at[k];
                const bool covers =
                    row->pid == pid && address >= row->base && address - row->base < SIZE;
                any |= covers;
                alive |= covers && row->load_ticks <= ticks && ticks < row->unload_ticks;
            }
            const u32 found =
                modules_find(&b->modules, &(module_space){ .pid = pid, .ticks = ticks }, address);
            assert_int_equal(found != UINT32_MAX, any);
            if (!any)
                continue;
            const etlheap_module_info *const row = &b->modules.list.at[found];
            assert_true(row->pid == pid && address >= row->base && address - row->base < SIZE);
            assert_int_equal(row->load_ticks <= ticks && ticks < row->unload_ticks, alive);
        }
        module_bench_close(b);
    }
}

/* A plug-in loaded and unloaded all day long: look-ups must not go through all
 * its lives. */
static void a_base_used_very_often_is_looked_up_quickly(void **state)
{
    (void)state;
    enum { LIVES = 60000 };
    module_bench *const b = module_bench_open();
    for (u32 i = 0; i < LIVES; i++) {
        add(b, LOAD, 10 * (i64)i, "\\x\\plugin.dll");
        add(b, UNLOAD, 10 * (i64)i + 5, "\\x\\plugin.dll");
    }
    module_bench_build(b);
    assert_int_equal(b->modules.list.count, LIVES);
    for (u32 i = 0; i < LIVES; i++) {
        const u32 found = modules_find(
            &b->modules, &(module_space){ .pid = PID, .ticks = 10 * (i64)i + 1 }, BASE + 5);
        assert_int_equal(b->modules.list.at[found].load_ticks, 10 * (i64)i);
    }
    module_bench_close(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_used_once_have_one_epoch),
        cmocka_unit_test(look_ups_of_one_epoch_agree),
        cmocka_unit_test(look_ups_find_who_is_there),
        cmocka_unit_test(a_base_used_very_often_is_looked_up_quickly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
