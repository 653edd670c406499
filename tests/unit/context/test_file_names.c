/*
 * Goal: a view is named after the file that its key named at that time, or after none.
 * Method: each rule of file_names.h by hand. oracle_views.py compares random keys with a model.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>

#include "engine/context/context.h"
#include "tests/support/engine_check.h"

#define KEY UINT64_C(0xffff82082c300170)

typedef struct fixture {
    engine_check check;
} fixture;

static int open_fixture(void **state)
{
    static fixture f;
    engine_check_open(&f.check);
    *state = &f;
    return 0;
}

static int close_fixture(void **state)
{
    fixture *const f = *state;
    engine_check_close(&f->check);
    return 0;
}

static void tell(fixture *f, etl_event_kind kind, u64 key, const char *name, i64 ticks)
{
    u32 id;
    assert_true(etlheap_strings_add(&f->check.context.strings, name, strlen(name), &id));
    assert_true(file_names_tell(&f->check.context.files, kind, key, id, ticks));
}

static u64 view(fixture *f, u64 key, i64 ticks)
{
    u64 number = 0;
    assert_true(file_names_number(&f->check.context.files, key, ticks, &number));
    return number;
}

static void finish(fixture *f)
{
    assert_true(file_names_finish(&f->check.context));
    logged_names_finish(&f->check.context.logged_names);
}

static void assert_named(const fixture *f, u64 number, const char *wanted)
{
    const char *const name = logged_names_find(&f->check.context.logged_names, number);
    if (wanted == NULL)
        assert_null(name);
    else
        assert_string_equal(name, wanted);
}

static void a_name_at_the_end_is_that_of_earlier_views(void **state)
{
    fixture *const f = *state;
    const u64 first = view(f, KEY, 100), other = view(f, KEY + 16, 100);
    tell(f, ETL_EVENT_FILE_RUNDOWN, KEY, "a", 900);
    finish(f);
    assert_named(f, first, "a");
    assert_named(f, other, NULL);
    assert_int_equal(first >> 60, 14);
}

static void a_key_that_names_another_file_later_names_two(void **state)
{
    fixture *const f = *state;
    tell(f, ETL_EVENT_FILE_CREATE, KEY, "a", 100);
    const u64 first = view(f, KEY, 110);
    tell(f, ETL_EVENT_FILE_DELETE, KEY, "a", 200);
    const u64 second = view(f, KEY, 210), late = view(f, KEY, 190);
    tell(f, ETL_EVENT_FILE_CREATE, KEY, "b", 220);
    tell(f, ETL_EVENT_FILE_CREATE, KEY, "c", 300); /* the deletion of b was lost */
    const u64 third = view(f, KEY, 310), before = view(f, KEY, 50);
    tell(f, ETL_EVENT_FILE_RUNDOWN, KEY, "c", 900);
    finish(f);
    assert_named(f, first, "a");
    assert_named(f, late, "a");
    assert_named(f, before, "a");
    assert_named(f, second, "b");
    assert_named(f, third, "c");
}

static void two_names_without_a_deletion_are_none(void **state)
{
    fixture *const f = *state;
    const u64 number = view(f, KEY, 100);
    tell(f, ETL_EVENT_FILE_RUNDOWN, KEY, "a", 800);
    tell(f, ETL_EVENT_FILE_RUNDOWN, KEY, "b", 900);
    finish(f);
    assert_named(f, number, NULL);
}

static void what_a_second_session_repeats_changes_nothing(void **state)
{
    fixture *const f = *state;
    for (u32 i = 0; i < 2; i++)
        tell(f, ETL_EVENT_FILE_CREATE, KEY, "a", 100 + i);
    const u64 first = view(f, KEY, 110);
    for (u32 i = 0; i < 2; i++)
        tell(f, ETL_EVENT_FILE_DELETE, KEY, "a", 200 + i);
    const u64 second = view(f, KEY, 210);
    tell(f, ETL_EVENT_FILE_CREATE, KEY, "b", 220);
    finish(f);
    assert_named(f, first, "a");
    assert_named(f, second, "b");
}

static void files_without_views_are_not_kept(void **state)
{
    fixture *const f = *state;
    tell(f, ETL_EVENT_FILE_RUNDOWN, KEY, "a", 900);
    finish(f);
    assert_int_equal(f->check.context.logged_names.list.count, 0);
}

static void paths_get_drive_letters(void **state)
{
    fixture *const f = *state;
    const char *const nt = "\\Device\\HarddiskVolume3\\", *const dos = "C:\\";
    volume_row volume;
    etlheap_strings *const strings = &f->check.context.strings;
    assert_true(etlheap_strings_add(strings, nt, strlen(nt), &volume.nt_path) &&
                etlheap_strings_add(strings, dos, strlen(dos), &volume.dos_path) &&
                ETLHEAP_PUSH(&f->check.context.volumes, volume));
    const u64 number = view(f, KEY, 100), other = view(f, KEY + 16, 100);
    tell(f, ETL_EVENT_FILE_NAME, KEY, "\\Device\\HarddiskVolume3\\app\\a.dat", 900);
    tell(f, ETL_EVENT_FILE_NAME, KEY + 16, "\\Device\\HarddiskVolume4\\b.dat", 900);
    finish(f);
    assert_named(f, number, "C:\\app\\a.dat");
    assert_named(f, other, "\\Device\\HarddiskVolume4\\b.dat");
}

/* Beyond the lives that have numbers of their own, views have no name rather than a wrong one. */
static void many_lives_stay_apart_or_have_no_name(void **state)
{
    fixture *const f = *state;
    static u64 numbers[400];
    char name[16];
    for (u32 i = 0; i < ETL_COUNT_OF(numbers); i++) {
        snprintf(name, sizeof name, "f%u", i);
        tell(f, ETL_EVENT_FILE_CREATE, KEY, name, 100 * i);
        numbers[i] = view(f, KEY, 100 * i + 10);
        tell(f, ETL_EVENT_FILE_DELETE, KEY, name, 100 * i + 20);
    }
    finish(f);
    for (u32 i = 0; i < ETL_COUNT_OF(numbers); i++) {
        snprintf(name, sizeof name, "f%u", i);
        assert_named(f, numbers[i], i < FILE_LIVES_NAMED ? name : NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_name_at_the_end_is_that_of_earlier_views, open_fixture,
                                        close_fixture),
        cmocka_unit_test_setup_teardown(a_key_that_names_another_file_later_names_two, open_fixture,
                                        close_fixture),
        cmocka_unit_test_setup_teardown(two_names_without_a_deletion_are_none, open_fixture,
                                        close_fixture),
        cmocka_unit_test_setup_teardown(what_a_second_session_repeats_changes_nothing, open_fixture,
                                        close_fixture),
        cmocka_unit_test_setup_teardown(files_without_views_are_not_kept, open_fixture,
                                        close_fixture),
        cmocka_unit_test_setup_teardown(paths_get_drive_letters, open_fixture, close_fixture),
        cmocka_unit_test_setup_teardown(many_lives_stay_apart_or_have_no_name, open_fixture,
                                        close_fixture),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
