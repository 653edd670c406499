/*
 * Goal: arrays of structs, text, stacks, rows and slots come back as they were;
 * tables that do not agree with each other, and numbers of things that do not
 * exist, are refused; memory stays within the allowance.
 * Method: a struct with every kind of member in more rows than a part has; stacks
 * that share frames in all ways; files made with the parts that are to be wrong.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>

#include "engine/log/ehs_rows.h"
#include "engine/log/ehs_stacks.h"
#include "tests/support/hand_bytes.h"

/* A file from what a saver holds, and what it is read with. */
typedef struct table_file {
    ehs_saver saver;
    ehs_bytes bytes;
    ehs_reader reader;
    ehs_loader loader;
    etlheap_arena arena;
    etl_error err;
} table_file;

static bool keep(void *user, const void *bytes, size_t size)
{
    return ehs_put(user, bytes, size);
}

static etl_status open_file(table_file *file, u64 bytes_max)
{
    ehs_writer writer;
    assert_int_equal(ehs_writer_open(&writer, keep, &file->bytes, EHS_CONTENT_JOURNAL), ETL_OK);
    assert_int_equal(ehs_writer_put(&writer, &file->saver.blocks), ETL_OK);
    assert_int_equal(ehs_writer_close(&writer), ETL_OK);
    const etl_bytes bytes = { file->bytes.at, file->bytes.count };
    assert_int_equal(ehs_reader_open(&file->reader, bytes, &file->err), ETL_OK);
    file->loader = (ehs_loader){
        .reader = &file->reader, .arena = &file->arena, .bytes_left = bytes_max, .err = &file->err
    };
    return ehs_loader_open(&file->loader);
}

static void close_file(table_file *file)
{
    ehs_loader_free(&file->loader);
    ehs_reader_close(&file->reader);
    ehs_saver_free(&file->saver);
    etlheap_arena_free(&file->arena);
    ETLHEAP_VECTOR_FREE(&file->bytes);
    *file = (table_file){ 0 };
}

static void assert_says(const table_file *file, const char *part)
{
    if (strstr(file->err.message, part) == NULL)
        fail_msg("\"%s\" is not in \"%s\"", part, file->err.message);
}

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

/* The same without its first columns, as a later version may have added them. */
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
        assert_int_equal(open_file(&file, UINT64_MAX), ETL_OK);
        assert_int_equal(ehs_table_load(&file.loader, &mixed_table, &rows, &count), ETL_OK);
        assert_int_equal(count, counts[c]);
        for (u32 i = 0; i < count; i++)
            assert_mixed(&rows[i], i);
        free(rows);
        close_file(&file);
    }
}

static void columns_that_a_file_lacks_read_as_zeros(void **state)
{
    (void)state;
    table_file file = { 0 };
    mixed *rows = NULL;
    size_t count = 0;
    save_mixed(&file.saver, &shorter_table, 10);
    assert_int_equal(open_file(&file, UINT64_MAX), ETL_OK);
    assert_int_equal(ehs_table_load(&file.loader, &mixed_table, &rows, &count), ETL_OK);
    assert_int_equal(count, 10);
    for (u32 i = 0; i < count; i++) {
        assert_string_equal(rows[i].text, "");
        assert_int_equal(rows[i].wide, 0);
        assert_int_equal(rows[i].narrow, i * 7);
    }
    free(rows);
    close_file(&file);
}

static void add_u32(table_file *file, ehs_column column, const u32 *values, u32 count)
{
    assert_true(ehs_blocks_add(&file->saver.blocks, &file->saver.codec, column, 0, values, count));
}

static void columns_of_different_lengths_are_refused(void **state)
{
    (void)state;
    table_file file = { 0 };
    mixed *rows = NULL;
    size_t count = 0;
    const u32 values[3] = { 0 };
    add_u32(&file, EHS_PROCESS_PID, values, 3);
    add_u32(&file, EHS_HOOK_ID, values, 2);
    assert_int_equal(open_file(&file, UINT64_MAX), ETL_OK);
    assert_int_equal(ehs_table_load(&file.loader, &mixed_table, &rows, &count), ETL_ERR_CORRUPT);
    assert_says(&file, "block 0 of hook.id at 0x");
    close_file(&file);
}

static void values_that_no_member_can_have_are_refused(void **state)
{
    (void)state;
    static const struct {
        ehs_column column;
        u32 value;
    } cases[] = { { EHS_HOOK_ID, 0x10000 }, { EHS_PROCESS_NAME, 1 } };
    for (size_t i = 0; i < ETL_COUNT_OF(cases); i++) {
        table_file file = { 0 };
        mixed *rows = NULL;
        size_t count = 0;
        add_u32(&file, cases[i].column, &cases[i].value, 1);
        assert_int_equal(open_file(&file, UINT64_MAX), ETL_OK);
        assert_int_equal(ehs_table_load(&file.loader, &mixed_table, &rows, &count),
                         ETL_ERR_CORRUPT);
        assert_says(&file, "has a value that its table cannot hold");
        close_file(&file);
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
    add_u32(&file, EHS_PROCESS_PID, zeros, EHS_PART_ROWS);
    assert_true(file.saver.blocks.bytes.count < 32);
    assert_int_equal(open_file(&file, 1000000), ETL_OK);
    assert_int_equal(ehs_table_load(&file.loader, &mixed_table, &rows, &count), ETL_ERR_LIMIT);
    assert_says(&file, "more than fits into the memory allowed");
    assert_int_equal(file.err.hint, ETL_HINT_MORE_MEMORY);
    free(zeros);
    close_file(&file);
}

static etl_status open_text(table_file *file, const char *text, u32 size)
{
    assert_true(
        ehs_blocks_add(&file->saver.blocks, &file->saver.codec, EHS_STRING_TEXT, 0, text, size));
    return open_file(file, UINT64_MAX);
}

static void text_without_end_or_of_no_encoding_is_refused(void **state)
{
    (void)state;
    table_file file = { 0 };
    assert_int_equal(open_text(&file, "one\0two", 8), ETL_OK);
    assert_int_equal(file.loader.text_count, 2);
    assert_string_equal(file.loader.texts[1], "two");
    close_file(&file);
    assert_int_equal(open_text(&file, "one\0two", 7), ETL_ERR_CORRUPT);
    assert_says(&file, "whose last string has no end");
    close_file(&file);
    assert_int_equal(open_text(&file, "one\0\xFFtwo", 9), ETL_ERR_CORRUPT);
    assert_says(&file, "is not UTF-8");
    close_file(&file);
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
    assert_int_equal(open_file(&file, UINT64_MAX), ETL_OK);
    assert_int_equal(file.loader.text_count, 1000);
    for (u32 i = 0; i < 1000; i++) {
        assert_int_equal(strlen(file.loader.texts[i]), sizeof name - 1);
        assert_int_equal(atoi(file.loader.texts[i]), i);
    }
    close_file(&file);
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
        assert_int_equal(open_file(&file, UINT64_MAX), ETL_OK);
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
        close_file(&file);
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

/* Two stacks: frames 0 1 outwards, and 2 on top of the outer one. */
typedef struct forged_stacks {
    u32 id[2], shared[2], own[2], frame[3];
} forged_stacks;

static etl_status load_forged(const forged_stacks *what, table_file *file, u64 bytes_max)
{
    const u64 addresses[] = { 0x10, 0x20, 0x30 };
    stack_table stacks = { 0 };
    add_u32(file, EHS_STACK_ID, what->id, 2);
    add_u32(file, EHS_STACK_SHARED, what->shared, 2);
    add_u32(file, EHS_STACK_OWN, what->own, 2);
    add_u32(file, EHS_STACK_FRAME, what->frame, 3);
    assert_true(ehs_blocks_add(&file->saver.blocks, &file->saver.codec, EHS_FRAME_ADDRESS, 0,
                               addresses, 3));
    assert_int_equal(open_file(file, bytes_max), ETL_OK);
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
        close_file(&file);
    }
    table_file file = { 0 };
    assert_int_equal(load_forged(&cases[0].what, &file, 100), ETL_ERR_LIMIT);
    close_file(&file);
}

/* --- rows and slots -------------------------------------------------------------------- */

static const ehs_bounds bounds = { .process_count = 3, .stack_count = 10 };

static lifetime row_of(u32 n)
{
    return (lifetime){ .alloc_ticks = n % 9 == 0 ? ETLHEAP_TICKS_BEFORE : (i64)n * 3,
                       .free_ticks = n % 5 == 0 ? ETLHEAP_TICKS_NEVER : (i64)n * 4,
                       .address = (u64)n << 16,
                       .size = 4096 * (u64)n,
                       .heap = n % 2 == 0 ? 0 : 0x1A0000,
                       .process = 1 + n % 3,
                       .stack = n % 11,
                       .thread = n % 4 == 0 ? ETL_NO_ID : n,
                       .kind = (u8)(n % ETLHEAP_KIND_COUNT),
                       .free_type = (u8)(n % ETLHEAP_FREE_TYPE_COUNT),
                       .is_realloc = n % 6 == 0 };
}

static void save_rows(table_file *file, const allocation_store *store)
{
    for (size_t i = 0; i < store->segments.count; i++) {
        const etlheap_segment rows = store_view(&store->segments.at[i]);
        assert_true(ehs_rows_encode(&file->saver.blocks, &file->saver.codec, (u32)i, &rows));
    }
}

static void assert_same_rows(const allocation_store *a, const allocation_store *b)
{
    assert_int_equal(a->rows, b->rows);
    for (u64 n = 0; n < a->rows; n++) {
        const etlheap_segment x = store_view(&a->segments.at[n / ETLHEAP_SEGMENT_ROWS]);
        const etlheap_segment y = store_view(&b->segments.at[n / ETLHEAP_SEGMENT_ROWS]);
        const size_t i = n % ETLHEAP_SEGMENT_ROWS;
        assert_true(x.alloc_ticks[i] == y.alloc_ticks[i] && x.free_ticks[i] == y.free_ticks[i]);
        assert_true(x.address[i] == y.address[i] && x.size_bytes[i] == y.size_bytes[i]);
        assert_true(x.heap_handle[i] == y.heap_handle[i] && x.process[i] == y.process[i]);
        assert_true(x.stack[i] == y.stack[i] && x.thread[i] == y.thread[i]);
        assert_true(x.kind[i] == y.kind[i] && x.free_type[i] == y.free_type[i]);
        assert_true(x.is_realloc[i] == y.is_realloc[i]);
    }
}

static void lifetimes_come_back_in_order(void **state)
{
    (void)state;
    table_file file = { 0 };
    allocation_store given = { 0 }, got = { 0 };
    lifetime *const rows = calloc(100000, sizeof *rows);
    for (u32 n = 0; n < 100000; n++)
        rows[n] = row_of(n);
    assert_true(store_append(&given, rows, 100000));
    save_rows(&file, &given);
    assert_int_equal(open_file(&file, UINT64_MAX), ETL_OK);
    assert_int_equal(ehs_rows_load(&file.loader, &bounds, &got), ETL_OK);
    assert_same_rows(&given, &got);
    free(rows);
    store_free(&given);
    store_free(&got);
    close_file(&file);
}

static etl_status load_one_row(const lifetime *row, const ehs_remap *remap, allocation_store *got,
                               table_file *file)
{
    allocation_store given = { 0 };
    assert_true(store_append(&given, row, 1));
    save_rows(file, &given);
    store_free(&given);
    if (remap != NULL)
        assert_true(ehs_remap_save(&file->saver, remap));
    assert_int_equal(open_file(file, UINT64_MAX), ETL_OK);
    return ehs_rows_load(&file->loader, &bounds, got);
}

static void numbers_of_the_run_become_final(void **state)
{
    (void)state;
    ehs_ref refs[] = { { 0x80000001, 7, 44 }, { 0xC0000005, 9, ETL_NO_ID } };
    u32 processes[] = { 3, 1, 2 };
    const ehs_remap remap = { { refs, 2, 2 }, { processes, 3, 3 } };
    const struct {
        u32 process, stack, thread, final_process, final_stack, final_thread;
    } cases[] = {
        { 1, 0x80000001, ETL_NO_ID, 3, 7, 44 },
        { 2, 0x80000001, 5, 1, 7, 5 },
        { 3, 0xC0000005, ETL_NO_ID, 2, 9, ETL_NO_ID },
        { 1, 4, 6, 3, 4, 6 },
    };
    for (size_t i = 0; i < ETL_COUNT_OF(cases); i++) {
        table_file file = { 0 };
        allocation_store got = { 0 };
        lifetime row = row_of(1);
        row.process = cases[i].process;
        row.stack = cases[i].stack;
        row.thread = cases[i].thread;
        assert_int_equal(load_one_row(&row, &remap, &got, &file), ETL_OK);
        const etlheap_segment rows = store_view(&got.segments.at[0]);
        assert_int_equal(rows.process[0], cases[i].final_process);
        assert_int_equal(rows.stack[0], cases[i].final_stack);
        assert_int_equal(rows.thread[0], cases[i].final_thread);
        store_free(&got);
        close_file(&file);
    }
}

static void rows_of_what_does_not_exist_are_refused(void **state)
{
    (void)state;
    for (u32 i = 0; i < 5; i++) {
        table_file file = { 0 };
        allocation_store got = { 0 };
        lifetime row = row_of(1);
        row.process = i == 0 ? 0 : i == 1 ? 4 : row.process;
        row.stack = i == 2 ? 11 : row.stack;
        row.kind = i == 3 ? ETLHEAP_KIND_COUNT : row.kind;
        row.free_type = i == 4 ? ETLHEAP_FREE_TYPE_COUNT : row.free_type;
        assert_int_equal(load_one_row(&row, NULL, &got, &file), ETL_ERR_CORRUPT);
        assert_says(&file, "of a process, stack or kind that does not exist");
        store_free(&got);
        close_file(&file);
    }
}

static etl_status load_slots(const ehs_slots *slots, ehs_slots *got, table_file *file)
{
    assert_true(ehs_slots_save(&file->saver, slots));
    assert_int_equal(open_file(file, UINT64_MAX), ETL_OK);
    return ehs_slots_load(&file->loader, &bounds, got);
}

static void slots_come_back_and_must_lead_to_a_process(void **state)
{
    (void)state;
    for (u32 wrong = 0; wrong < 10; wrong++) {
        table_file file = { 0 };
        ehs_slots got;
        ehs_slot slot[] = { { 10, 1, ETL_NO_ID }, { 0, 2, 77 } };
        ehs_owner owner[] = { { -5, 1, 0 }, { 9, 1, 3 } };
        ehs_handle handle[] = { { 0x1D0000, 3 } };
        ehs_slot_sums sums[] = { { { { 5, 500, 1 }, { 0, 0, 0 }, { 2, 70, 0 } } },
                                 { { { 0, 0, 0 }, { 1, INT64_MAX, 0 }, { 0, 0, 0 } } } };
        const size_t sum_count = wrong == 8 ? 1 : 2;
        const ehs_slots given = {
            { slot, 2, 2 }, { owner, 2, 2 }, { handle, 1, 1 }, { sums, sum_count, sum_count }
        };
        slot[0].stack = wrong == 1 ? 11 : slot[0].stack;
        slot[1].owner = wrong == 2 ? 3 : wrong == 3 ? 0 : slot[1].owner;
        owner[1].heap = wrong == 4 ? 2 : wrong == 5 ? 0 : owner[1].heap;
        handle[0].process = wrong == 6 ? 4 : wrong == 7 ? 0 : handle[0].process;
        sums[1].of[TALLY_EXITED].size = wrong == 9 ? -1 : INT64_MAX;
        const etl_status status = load_slots(&given, &got, &file);
        assert_int_equal(status, wrong == 0 ? ETL_OK : ETL_ERR_CORRUPT);
        if (wrong == 0) {
            assert_memory_equal(got.slots.at, slot, sizeof slot);
            assert_memory_equal(got.sums.at, sums, sizeof sums);
            assert_memory_equal(got.owners.at, owner, sizeof owner);
            assert_int_equal(got.handles.at[0].value, 0x1D0000);
            assert_int_equal(got.handles.at[0].process, 3);
        }
        ehs_slots_free(&got);
        close_file(&file);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_a_table_come_back),
        cmocka_unit_test(columns_that_a_file_lacks_read_as_zeros),
        cmocka_unit_test(columns_of_different_lengths_are_refused),
        cmocka_unit_test(values_that_no_member_can_have_are_refused),
        cmocka_unit_test(a_table_larger_than_the_allowance_is_refused),
        cmocka_unit_test(text_without_end_or_of_no_encoding_is_refused),
        cmocka_unit_test(text_longer_than_a_block_comes_back),
        cmocka_unit_test(stacks_come_back_under_their_ids),
        cmocka_unit_test(stacks_with_numbers_alone_are_spelled_when_asked),
        cmocka_unit_test(stacks_that_cannot_be_are_refused),
        cmocka_unit_test(lifetimes_come_back_in_order),
        cmocka_unit_test(numbers_of_the_run_become_final),
        cmocka_unit_test(rows_of_what_does_not_exist_are_refused),
        cmocka_unit_test(slots_come_back_and_must_lead_to_a_process),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
