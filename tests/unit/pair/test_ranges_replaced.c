/*
 * Goal: a reservation over memory that is still in use ends that memory, and the release
 * that was missing does not end the new reservation when it comes late (ranges.h).
 * Method: single events on one table, with the thread and the CPU that logged each.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/pair/range_map.h"
#include "tests/support/engine_check.h"

#define PID   42u
#define PAGE  ((u64)4096)
#define BASE  (16 * PAGE)
#define T0    (CHECK_START + 1000)
#define NEVER ETLHEAP_TICKS_NEVER

typedef struct fixture {
    engine_check check;
    range_table table;
    u32 process;
} fixture;

static void open_fixture(fixture *f)
{
    memset(f, 0, sizeof *f);
    engine_check_open(&f->check);
    f->process = engine_check_owner(&f->check, PID, CHECK_START);
}

/* Thread n logs on CPU n. */
static void apply_at(fixture *f, memory_op op, i64 after, u32 thread, u64 address, u64 size)
{
    const memory_event event = { .ticks = T0 + after,
                                 .op = (u8)op,
                                 .address = address,
                                 .size = size,
                                 .pid = PID,
                                 .tid = thread,
                                 .cpu = (u16)thread };
    ranges_apply(&f->table, &f->check.context, &event, f->process, &f->check.out);
}

static void apply(fixture *f, memory_op op, i64 after, u32 thread, u64 size)
{
    apply_at(f, op, after, thread, BASE, size);
}

/* Thread 1 reserves and commits four pages; thread 2 does so again before their release. */
static void use_twice(fixture *f)
{
    open_fixture(f);
    for (u32 thread = 1; thread <= 2; thread++) {
        apply(f, OP_RESERVE, 100 * thread, thread, 4 * PAGE);
        apply(f, OP_COMMIT, 100 * thread, thread, 4 * PAGE);
    }
}

static lifetime row_of(u32 thread, i64 committed, i64 freed)
{
    return (lifetime){ .alloc_ticks = T0 + committed,
                       .free_ticks = freed == NEVER ? NEVER : T0 + freed,
                       .address = BASE,
                       .size = 4 * PAGE,
                       .process = 1,
                       .thread = thread,
                       .kind = ETLHEAP_KIND_VIRTUALALLOC,
                       .free_type = freed == NEVER ? ETLHEAP_FREE_NONE : ETLHEAP_FREE_FREE };
}

/* The first use ended with the second reservation; and when did the second end? */
static void end_with(fixture *f, i64 second_freed, u64 guesses)
{
    ranges_finish(&f->table, &f->check.context, &f->check.out);
    engine_check_rows(&f->check,
                      (const lifetime[]){ row_of(1, 100, 200), row_of(2, 200, second_freed) }, 2);
    assert_int_equal(engine_check_diag(&f->check, ETL_DIAG_reserve_over_live), 1);
    assert_int_equal(engine_check_diag(&f->check, ETL_DIAG_pairing_guessed), guesses);
    engine_check_close(&f->check);
}

static void reservation_ends_what_is_committed_in_its_place(void **state)
{
    fixture f;
    (void)state;
    use_twice(&f);
    end_with(&f, NEVER, 0);
}

static void release_that_another_cpu_logs_soon_is_the_missing_one(void **state)
{
    fixture f;
    (void)state;
    use_twice(&f);
    apply(&f, OP_RELEASE, 200 + 2 * CHECK_MS, 1, 0);
    end_with(&f, NEVER, 1);
}

static void second_release_is_the_new_reservations(void **state)
{
    fixture f;
    (void)state;
    use_twice(&f);
    apply(&f, OP_RELEASE, 210, 1, 4 * PAGE);
    apply(&f, OP_RELEASE, 220, 1, 4 * PAGE);
    end_with(&f, 220, 1);
}

static void release_by_the_new_reservations_thread_is_its_own(void **state)
{
    fixture f;
    (void)state;
    use_twice(&f);
    apply(&f, OP_RELEASE, 210, 2, 0);
    end_with(&f, 210, 0);
}

static void release_after_two_milliseconds_is_not_late(void **state)
{
    fixture f;
    (void)state;
    use_twice(&f);
    apply(&f, OP_RELEASE, 201 + 2 * CHECK_MS, 1, 0);
    end_with(&f, 201 + 2 * CHECK_MS, 0);
}

static const range_owner *owner_of_all(const fixture *f)
{
    assert_int_equal(f->table.owners.count, 1);
    return &f->table.owners.at[0];
}

/* Each page is reserved twice, by two threads. */
static void replace_pages(fixture *f, u32 count)
{
    open_fixture(f);
    for (u32 thread = 1; thread <= 2; thread++) {
        for (u32 i = 0; i < count; i++)
            apply_at(f, OP_RESERVE, 100 * thread + i, thread, BASE + i * PAGE, PAGE);
    }
    assert_int_equal(owner_of_all(f)->replaced.count, count);
}

/* Whichever release comes first, the others are still waited for. */
static void late_releases_come_in_any_order(void **state)
{
    enum { PAGES = 16 }; /* as many as the list has room for at first */
    static const u32 steps[] = { 1, 7, 15 };
    (void)state;
    for (u32 o = 0; o < ETL_COUNT_OF(steps); o++) {
        fixture f;
        replace_pages(&f, PAGES);
        for (u32 i = 0; i < PAGES; i++) {
            const u64 address = BASE + (i + 1) * steps[o] % PAGES * PAGE;
            apply_at(&f, OP_RELEASE, 300 + i, 1, address, 0);
            assert_int_equal(engine_check_diag(&f.check, ETL_DIAG_pairing_guessed), i + 1);
            const range_owner *const owner = owner_of_all(&f);
            assert_int_equal(owner->replaced.count, PAGES - 1 - i);
            for (u32 k = 0; k < owner->replaced.count; k++)
                assert_int_not_equal(owner->replaced.at[k].start, address);
        }
        range_place place;
        for (u32 i = 0; i < PAGES; i++)
            assert_non_null(range_map_seek(&owner_of_all(&f)->reserved, BASE + i * PAGE, &place));
        ranges_free(&f.table);
        engine_check_close(&f.check);
    }
}

/* Addresses are reserved again and again for the length of a trace. */
static void what_can_no_longer_be_late_is_forgotten(void **state)
{
    fixture f;
    (void)state;
    replace_pages(&f, 3);
    const i64 last_moment = 202 + 2 * CHECK_MS; /* of the third page */
    apply_at(&f, OP_RESERVE, last_moment, 1, BASE, PAGE);
    const range_owner *const owner = owner_of_all(&f);
    assert_int_equal(owner->replaced.count, 2);
    assert_int_equal(owner->replaced.at[0].start, BASE + 2 * PAGE);
    assert_int_equal(owner->replaced.at[0].tid, 2);
    assert_int_equal(owner->replaced.at[1].start, BASE);
    assert_int_equal(owner->replaced.at[1].ticks, T0 + last_moment);
    ranges_free(&f.table);
    engine_check_close(&f.check);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reservation_ends_what_is_committed_in_its_place),
        cmocka_unit_test(release_that_another_cpu_logs_soon_is_the_missing_one),
        cmocka_unit_test(second_release_is_the_new_reservations),
        cmocka_unit_test(release_by_the_new_reservations_thread_is_its_own),
        cmocka_unit_test(release_after_two_milliseconds_is_not_late),
        cmocka_unit_test(late_releases_come_in_any_order),
        cmocka_unit_test(what_can_no_longer_be_late_is_forgotten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
