/*
 * Goal: the earliest marks are kept, in the order of time, whatever came first; their names are
 * bounded; equal names are numbered; and what is left out is counted.
 * Method: notes in random order against a plain sort of all of them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "engine/context/mark_list.h"

#include <stdio.h>
#include <string.h>

static const etl_session seconds = { .clock_hz = 10000000, .clock = ETL_CLOCK_QPC };

static u64 next(u64 *random)
{
    *random = *random * 6364136223846793005u + 1442695040888963407u;
    return *random >> 33;
}

static etl_bytes bytes_of(const char *text)
{
    return (etl_bytes){ (const u8 *)text, strlen(text) };
}

static void add(mark_list *list, etlheap_strings *strings, i64 ticks, u64 stream, const char *name)
{
    const mark_note note = { .ticks = ticks, .stream = stream, .name = bytes_of(name) };
    assert_true(mark_list_add(list, &note, strings));
}

static void finish(mark_list *list, etlheap_strings *strings)
{
    mark_list_free(list);
    etlheap_strings_free(strings);
}

static void marks_are_in_order_and_numbered(void **state)
{
    mark_list list = { .arrived = 0 };
    etlheap_strings strings = { .arena = { .chunks = NULL } };
    (void)state;
    add(&list, &strings, 500, 1, "b");
    add(&list, &strings, 300, 2, "a");
    add(&list, &strings, 100, 1, "a");
    add(&list, &strings, 300, 1, "a");
    assert_true(mark_list_make(&list, &strings, &seconds));
    const etlheap_marks *const marks = &list.marks;
    assert_int_equal(marks->count, 4);
    assert_int_equal(marks->at[0].time_ns, 10000);
    for (u32 i = 0; i < 3; i++) {
        assert_string_equal(marks->at[i].name, "a");
        assert_int_equal(marks->at[i].number, i + 1);
    }
    assert_int_equal(marks->at[3].number, 1);
    assert_true(etlheap_marks_find(marks, "a", 3) == &marks->at[2]);
    assert_null(etlheap_marks_find(marks, "a", 4));
    assert_null(etlheap_marks_find(marks, "c", 1));
    finish(&list, &strings);
}

static void names_are_cut_between_characters(void **state)
{
    char name[400];
    mark_note note = { .ticks = 1 };
    etlheap_arena arena = { .chunks = NULL };
    (void)state;
    memset(name, 'x', sizeof name);
    memcpy(name + 254, "\xC3\xA4", 2); /* does not fit */
    assert_true(mark_note_name(&note, (etl_text){ { (u8 *)name, sizeof name }, false }, &arena));
    assert_true(note.is_cut && note.name.size == 254);
    assert_true(mark_note_name(&note, (etl_text){ { (u8 *)name, 254 }, false }, &arena));
    assert_true(!note.is_cut && note.name.size == 254);
    assert_true(mark_note_name(&note, (etl_text){ { NULL, 0 }, false }, &arena));
    assert_true(!note.is_cut && note.name.size == 7 && memcmp(note.name.at, "unnamed", 7) == 0);
    etlheap_arena_free(&arena);
}

static void cut_names_are_counted(void **state)
{
    const mark_note cut = { .name = { (const u8 *)"n", 1 }, .ticks = 1, .is_cut = true };
    mark_list list = { .arrived = 0 };
    etlheap_strings strings = { .arena = { .chunks = NULL } };
    (void)state;
    assert_true(mark_list_add(&list, &cut, &strings));
    add(&list, &strings, 2, 1, "whole");
    assert_true(mark_list_make(&list, &strings, &seconds));
    assert_int_equal(list.marks.diagnostics.of[ETL_DIAG_mark_name_cut], 1);
    finish(&list, &strings);
}

static int by_value(const void *a, const void *b)
{
    const i64 x = *(const i64 *)a, y = *(const i64 *)b;
    return (x > y) - (x < y);
}

static void the_earliest_are_kept(void **state)
{
    const u32 count = 5 * ETLHEAP_MARKS_MAX / 2 + 7;
    mark_list list = { .arrived = 0 };
    etlheap_strings strings = { .arena = { .chunks = NULL } };
    i64 *const ticks = malloc(count * sizeof *ticks);
    u64 random = 11;
    (void)state;
    assert_non_null(ticks);
    for (u32 i = 0; i < count; i++) {
        ticks[i] = (i64)(next(&random) % 1000000);
        add(&list, &strings, ticks[i], next(&random) % 4, "m");
    }
    assert_true(mark_list_make(&list, &strings, &seconds));
    qsort(ticks, count, sizeof *ticks, by_value);
    assert_int_equal(list.marks.count, ETLHEAP_MARKS_MAX);
    for (u32 i = 0; i < ETLHEAP_MARKS_MAX; i++) {
        assert_int_equal(list.marks.at[i].ticks, ticks[i]);
        assert_int_equal(list.marks.at[i].number, i + 1);
    }
    assert_int_equal(list.marks.diagnostics.of[ETL_DIAG_marks_left_out], count - ETLHEAP_MARKS_MAX);
    free(ticks);
    finish(&list, &strings);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(marks_are_in_order_and_numbered),
        cmocka_unit_test(names_are_cut_between_characters),
        cmocka_unit_test(cut_names_are_counted),
        cmocka_unit_test(the_earliest_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
