/*
 * Goal: arrays of structs, text and stacks come back as they were; tables that do
 * not agree with each other are refused; memory stays within the allowance.
 * Method: a struct with every kind of member in more rows than a part has; stacks
 * that share frames in all ways; files made with the parts that are to be wrong.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "engine/log/ehs_stacks.h"
#include "tests/support/hand_bytes.h"
#include "tests/support/table_file.h"

/* --- tables ------------------------------------------------------------------------ */

/* A member of each kind, in columns that fit. */
typedef struct mixed {
    const char *text;
    u64 wide;
    u32 narrow;
    u16 half;
    bool flag;
} mixed;

static const ehs_field mixed_fields[] = {
    { EHS_PROCESS_NAME, offsetof(mixed, text), EHS_MEMBER_TEXT },
    { EHS_PROCESS_START, offsetof(mixed, wide), EHS_MEMBER_U64 },
    { EHS_PROCESS_PID, offsetof(mixed, narrow), EHS_MEMBER_U32 },
    { EHS_HOOK_ID, offsetof(mixed, half), EHS_MEMBER_U16 },
    { EHS_MODULE_HAS_RSDS, offsetof(mixed, flag), EHS_MEMBER_BOOL },
};
static const ehs_table mixed_table = { mixed_fields, ETL_COUNT_OF(mixed_fields), sizeof(mixed) };

/* The same without its first columns. */
static const ehs_table shorter_table = { mixed_fields + 2, ETL_COUNT_OF(mixed_fields) - 2,
                                         sizeof(mixed) };

static const char *const names[] = { "", "a", "\xC3\xA4pp.exe", "a", NULL };

static mixed mixed_row(u32 i)
{
    return (mixed){ .text = names[i % 5],
                    .wide = (u64)i << 40 | i,
                    .narrow = i * 7,
                    .half = (u16)i,
                    .flag = i % 3 == 0 };
}

static void assert_mixed(const mixed *row, u32 i)
{
    const mixed wanted = mixed_row(i);
    assert_string_equal(row->text, wanted.text == NULL ? "" : wanted.text);
    assert_int_equal(row->wide, wanted.wide);
    assert_int_equal(row->narrow, wanted.narrow);
    assert_int_equal(row->half, wanted.half);
    assert_int_equal(row->flag, wanted.flag);
}

static void save_mixed(ehs_saver *saver, const ehs_table *table, u32 count)
{
    mixed *const rows = calloc(count + 1, sizeof *rows);
    for (u32 i = 0; i < count; i++)
        rows[i] = mixed_row(i);
    assert_true(ehs_table_save(saver, table, rows, count));
    free(rows);
}

static void rows_of_a_table_come_back(void **state)
{
    (void)state;
    static const u32 counts[] = { 0, 1, 5, EHS_PART_ROWS, EHS_PART_ROWS + 1, 150000 };
    for (size_t c = 0; c < ETL_COUNT_OF(counts); c++) {
        table_file file = { 0 };
        mixed *rows = NULL;
        size_t count = 0;
        save_mixed(&file.saver, &mixed_table, counts[c]);
        assert_true(ehs_strings_save(&file.saver));
        assert_int_equal(table_file_open(&file, UINT64_MAX), ETL_OK);
        assert_int_equal(ehs_table_load(&file.loader, &mixed_table, &rows, &count), ETL_OK);
        assert_int_equal(count, counts[c]);
        for (u32 i = 0; i < count; i++)
            assert_mixed(&rows[i], i);
        free(rows);
        table_file_close(&file);
    }
}

static void a_table_without_one_of_its_columns_is_refused(void **state)
{
    (void)state;
    table_file file = { 0 };
    mixed *rows = NULL;
    size_t count = 0;
    save_mixed(&file.saver, &shorter_table, 10);
    assert_int_equal(table_file_open(&file, UINT64_MAX), ETL_OK);
    assert_int_equal(ehs_table_load(&file.loader, &mixed_table, &rows, &count), ETL_ERR_CORRUPT);
    table_file_says(&file, "column process.name is missing");
    table_file_close(&file);
    /* Its first part is missing, and the others are there. */
    const u64 wide[] = { 1, 2 };
    save_mixed(&file.saver, &shorter_table, 2);
    table_file_add(&file, EHS_PROCESS_NAME, (const u32[]){ 0, 0 }, 2);
    assert_true(
        ehs_blocks_add(&file.saver.blocks, &file.saver.codec, EHS_PROCESS_START, 1, wide, 2));
    assert_int_equal(table_file_open(&file, UINT64_MAX), ETL_OK);
    assert_int_equal(ehs_table_load(&file.loader, &mixed_table, &rows, &count), ETL_ERR_CORRUPT);
    table_file_says(&file, "column process.start_ticks is missing");
    table_file_close(&file);
}

/* Number and half of the mixed table alone, for files made by hand. */
static const ehs_field narrow_fields[] = {
    { EHS_PROCESS_PID, offsetof(mixed, narrow), EHS_MEMBER_U32 },
    { EHS_HOOK_ID, offsetof(mixed, half), EHS_MEMBER_U16 },
};
static const ehs_table narrow_table = { narrow_fields, ETL_COUNT_OF(narrow_fields), sizeof(mixed) };

static void columns_of_different_lengths_are_refused(void **state)
{
    (void)state;
    table_file file = { 0 };
    mixed *rows = NULL;
    size_t count = 0;
    const u32 values[3] = { 0 };
    table_file_add(&file, EHS_PROCESS_PID, values, 3);
    table_file_add(&file, EHS_HOOK_ID, values, 2);
    assert_int_equal(table_file_open(&file, UINT64_MAX), ETL_OK);
    assert_int_equal(ehs_table_load(&file.loader, &narrow_table, &rows, &count), ETL_ERR_CORRUPT);
    table_file_says(&file, "block 0 of hook.id at 0x");
    table_file_close(&file);
}

static void values_that_no_member_can_have_are_refused(void **state)
{
    (void)state;
    static const struct {
        ehs_field field;
        u32 value;
    } cases[] = { { { EHS_HOOK_ID, offsetof(mixed, half), EHS_MEMBER_U16 }, 0x10000 },
                  { { EHS_PROCESS_NAME, offsetof(mixed, text), EHS_MEMBER_TEXT }, 1 } };
    for (size_t i = 0; i < ETL_COUNT_OF(cases); i++) {
        const ehs_table table = { &cases[i].field, 1, sizeof(mixed) };
        table_file file = { 0 };
        mixed *rows = NULL;
        size_t count = 0;
        table_file_add(&file, cases[i].field.column, &cases[i].value, 1);
        assert_int_equal(table_file_open(&file, UINT64_MAX), ETL_OK);
        assert_int_equal(ehs_table_load(&file.loader, &table, &rows, &count), ETL_ERR_CORRUPT);
        table_file_says(&file, "has a value that its table cannot hold");
        table_file_close(&file);
    }
}

/* Thirty bytes of a file may stand for a million rows. */
static void a_table_larger_than_the_allowance_is_refused(void **state)
{
    (void)state;
    table_file file = { 0 };
    mixed *rows = NULL;
    size_t count = 0;
    u32 *const zeros = calloc(EHS_PART_ROWS, sizeof *zeros);
    const ehs_table one_column = { narrow_fields, 1, sizeof(mixed) };
    table_file_add(&file, EHS_PROCESS_PID, zeros, EHS_PART_ROWS);
    assert_true(file.saver.blocks.bytes.count < 32);
    assert_int_equal(table_file_open(&file, 1000000), ETL_OK);
    assert_int_equal(ehs_table_load(&file.loader, &one_column, &rows, &count), ETL_ERR_LIMIT);
    table_file_says(&file, "more than fits into the memory allowed");
    assert_int_equal(file.err.hint, ETL_HINT_MORE_MEMORY);
    free(zeros);
    table_file_close(&file);
}

static etl_status open_text(table_file *file, const char *text, u32 size)
{
    assert_true(
        ehs_blocks_add(&file->saver.blocks, &file->saver.codec, EHS_STRING_TEXT, 0, text, size));
    return table_file_open(file, UINT64_MAX);
}

static void text_without_end_or_of_no_encoding_is_refused(void **state)
{
    (void)state;
    table_file file = { 0 };
    assert_int_equal(open_text(&file, "one\0two", 8), ETL_OK);
    assert_int_equal(file.loader.text_count, 2);
    assert_string_equal(file.loader.texts[1], "two");
    table_file_close(&file);
    assert_int_equal(open_text(&file, "one\0two", 7), ETL_ERR_CORRUPT);
    table_file_says(&file, "whose last string is not terminated");
    table_file_close(&file);
    assert_int_equal(open_text(&file, "one\0\xFFtwo", 9), ETL_ERR_CORRUPT);
    table_file_says(&file, "is not UTF-8");
    table_file_close(&file);
}

static void text_longer_than_a_block_comes_back(void **state)
{
    (void)state;
    table_file file = { 0 };
    char name[3000];
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    ehs_saver *const saver = &file.saver;
    for (u32 i = 0; i < 1000; i++) {
        u32 id;
        snprintf(name, 8, "%07u", i);
        name[7] = 'x';
        assert_true(etlheap_strings_add(&saver->strings, name, sizeof name - 1, &id));
    }
    assert_true(ehs_strings_save(saver));
    assert_int_equal(saver->blocks.rows.count, 3);
    assert_int_equal(table_file_open(&file, UINT64_MAX), ETL_OK);
    assert_int_equal(file.loader.text_count, 1000);
    for (u32 i = 0; i < 1000; i++) {
        assert_int_equal(strlen(file.loader.texts[i]), sizeof name - 1);
        assert_int_equal(atoi(file.loader.texts[i]), i);
    }
    table_file_close(&file);
}

/* --- stacks -------------------------------------------------------------------------- */

static void add_stack(stack_table *stacks, const u64 *frames, u32 count)
{
    u32 id;
    assert_true(stack_add(stacks, stack_hash(frames, count), frames, count, &id));
}

/* Like calls: a random stack's outer frames and some of its own. */
static void make_stacks(stack_table *stacks, u32 count)
{
    u64 random = 3, frames[40];
    for (u32 i = 0; i < count; i++) {
        const u32 depth = 1 + hand_random(&random) % 39;
        u32 shared = 0;
        if (i > 0) {
            const etlheap_frames model =
                stack_get(stacks, 1 + hand_random(&random) % (u32)stacks->list.count);
            shared = hand_random(&random) % (1 + (model.count < depth ? model.count : depth));
            memcpy(frames + depth - shared, model.addresses + model.count - shared,
                   shared * sizeof *frames);
        }
        for (u32 k = 0; k < depth - shared; k++)
            frames[k] = 0x7FF600000000 + (u64)(hand_random(&random) % 3000) * 5;
        add_stack(stacks, frames, depth);
    }
}

/* Each frame's number is that of its address. */
static void expect_numbers(const stack_table *stacks, u32 id)
{
    const etlheap_frames frames = stack_spell(stacks, id);
    const u32 *const numbers = stack_numbers(stacks, id);
    assert_non_null(numbers);
    for (u32 i = 0; i < frames.count; i++) {
        assert_true(numbers[i] < stacks->number_count);
        assert_int_equal(stacks->addresses[numbers[i]], frames.addresses[i]);
    }
}

static void expect_stacks(ehs_frames kind)
{
    static const u32 counts[] = { 0, 1, 2, 1000, 70000 };
    for (size_t c = 0; c < ETL_COUNT_OF(counts); c++) {
        table_file file = { 0 };
        stack_table given = { 0 }, got = { 0 };
        make_stacks(&given, counts[c]);
        assert_true(ehs_stacks_save(&file.saver, &given));
        assert_int_equal(table_file_open(&file, UINT64_MAX), ETL_OK);
        assert_int_equal(ehs_stacks_load(&file.loader, kind, &got), ETL_OK);
        assert_int_equal(got.list.count, given.list.count);
        for (u32 id = 1; id <= given.list.count; id++) {
            const etlheap_frames a = stack_get(&given, id), b = stack_spell(&got, id);
            assert_int_equal(a.count, stack_get(&got, id).count);
            assert_int_equal(a.count, b.count);
            assert_memory_equal(a.addresses, b.addresses, a.count * sizeof *a.addresses);
            expect_numbers(&got, id);
        }
        for (u32 i = 1; i < got.number_count; i++)
            assert_true(got.addresses[i - 1] < got.addresses[i]);
        stack_table_free(&given);
        stack_table_free(&got);
        table_file_close(&file);
    }
}

static void stacks_come_back_under_their_ids(void **state)
{
    (void)state;
    expect_stacks(EHS_FRAMES_ADDRESSES);
}

static void stacks_with_numbers_alone_are_spelled_when_asked(void **state)
{
    (void)state;
    expect_stacks(EHS_FRAMES_NUMBERS);
}

static void stacks_without_one_of_their_columns_are_refused(void **state)
{
    (void)state;
    table_file file = { 0 };
    stack_table stacks = { 0 };
    const u32 one = 1;
    table_file_add(&file, EHS_STACK_SHARED, &one, 1);
    table_file_add(&file, EHS_STACK_OWN, &one, 1);
    table_file_add(&file, EHS_STACK_FRAME, &one, 1);
    assert_int_equal(table_file_open(&file, UINT64_MAX), ETL_OK);
    assert_int_equal(ehs_stacks_load(&file.loader, EHS_FRAMES_ADDRESSES, &stacks), ETL_ERR_CORRUPT);
    table_file_says(&file, "column stack.id is missing");
    stack_table_free(&stacks);
    table_file_close(&file);
}

/* Two stacks: frames 0 1 outwards, and 2 on top of the outer one. */
typedef struct forged_stacks {
    u32 id[2], shared[2], own[2], frame[3];
} forged_stacks;

static etl_status load_forged(const forged_stacks *what, table_file *file, u64 bytes_max)
{
    const u64 addresses[] = { 0x10, 0x20, 0x30 };
    stack_table stacks = { 0 };
    table_file_add(file, EHS_STACK_ID, what->id, 2);
    table_file_add(file, EHS_STACK_SHARED, what->shared, 2);
    table_file_add(file, EHS_STACK_OWN, what->own, 2);
    table_file_add(file, EHS_STACK_FRAME, what->frame, 3);
    assert_true(ehs_blocks_add(&file->saver.blocks, &file->saver.codec, EHS_FRAME_ADDRESS, 0,
                               addresses, 3));
    assert_int_equal(table_file_open(file, bytes_max), ETL_OK);
    const etl_status status = ehs_stacks_load(&file->loader, EHS_FRAMES_ADDRESSES, &stacks);
    if (status == ETL_OK) {
        const etlheap_frames second = stack_get(&stacks, 1);
        assert_int_equal(second.count, 2);
        assert_int_equal(second.addresses[0], 0x30);
        assert_int_equal(second.addresses[1], 0x10);
    }
    stack_table_free(&stacks);
    return status;
}

static void stacks_that_cannot_be_are_refused(void **state)
{
    (void)state;
    static const struct {
        forged_stacks what;
        etl_status status;
    } cases[] = {
        { { { 2, 1 }, { 0, 1 }, { 2, 1 }, { 0, 1, 2 } }, ETL_OK },
        { { { 2, 2 }, { 0, 1 }, { 2, 1 }, { 0, 1, 2 } }, ETL_ERR_CORRUPT },
        { { { 2, 0 }, { 0, 1 }, { 2, 1 }, { 0, 1, 2 } }, ETL_ERR_CORRUPT },
        { { { 2, 3 }, { 0, 1 }, { 2, 1 }, { 0, 1, 2 } }, ETL_ERR_CORRUPT },
        { { { 2, 1 }, { 1, 1 }, { 2, 1 }, { 0, 1, 2 } }, ETL_ERR_CORRUPT },
        { { { 2, 1 }, { 0, 3 }, { 2, 1 }, { 0, 1, 2 } }, ETL_ERR_CORRUPT },
        { { { 2, 1 }, { 0, 1 }, { 2, 2 }, { 0, 1, 2 } }, ETL_ERR_CORRUPT },
        { { { 2, 1 }, { 0, 1 }, { 2, UINT32_MAX }, { 0, 1, 2 } }, ETL_ERR_CORRUPT },
        { { { 2, 1 }, { 0, 1 }, { 2, 1 }, { 0, 1, 3 } }, ETL_ERR_CORRUPT },
        { { { 2, 1 }, { 0, 0 }, { 3, 0 }, { 0, 1, 2 } }, ETL_ERR_CORRUPT }, /* no frame */
    };
    for (size_t i = 0; i < ETL_COUNT_OF(cases); i++) {
        table_file file = { 0 };
        const etl_status status = load_forged(&cases[i].what, &file, UINT64_MAX);
        if (status != cases[i].status)
            fail_msg("case %zu: %d, %s", i, (int)status, file.err.message);
        table_file_close(&file);
    }
    table_file file = { 0 };
    assert_int_equal(load_forged(&cases[0].what, &file, 100), ETL_ERR_LIMIT);
    table_file_close(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_a_table_come_back),
        cmocka_unit_test(a_table_without_one_of_its_columns_is_refused),
        cmocka_unit_test(columns_of_different_lengths_are_refused),
        cmocka_unit_test(values_that_no_member_can_have_are_refused),
        cmocka_unit_test(a_table_larger_than_the_allowance_is_refused),
        cmocka_unit_test(text_without_end_or_of_no_encoding_is_refused),
        cmocka_unit_test(text_longer_than_a_block_comes_back),
        cmocka_unit_test(stacks_come_back_under_their_ids),
        cmocka_unit_test(stacks_with_numbers_alone_are_spelled_when_asked),
        cmocka_unit_test(stacks_without_one_of_their_columns_are_refused),
        cmocka_unit_test(stacks_that_cannot_be_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
