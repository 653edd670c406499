/*
 * Goal: chunks and files are laid out as Parquet's specification says.
 * Method: an empty file byte by byte, worked out by hand from parquet.thrift; pages
 * unpacked and compared with values laid out by hand; what chunks say of themselves.
 * That other programs read the whole is for oracle_parquet.py.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/support/capture.h"
#include "tests/support/temporary.h"
#include "formats/export/parquet_chunk.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define PAGES_MAX 8
#define PAGE_SIZE 65536

/* What a chunk came to: its pages, unpacked. */
typedef struct unpacked {
    parquet_chunk_sizes sizes;
    u32 count;
    size_t page_sizes[PAGES_MAX];
    u8 pages[PAGES_MAX][PAGE_SIZE];
} unpacked;

static void unpack(unpacked *out, const u8 *bytes, size_t size)
{
    static const u8 magic[] = { 0x28, 0xB5, 0x2F, 0xFD };
    size_t at = 0;
    out->count = 0;
    while (at + sizeof magic <= size) {
        if (memcmp(bytes + at, magic, sizeof magic) != 0) {
            at++;
            continue;
        }
        const size_t packed = ZSTD_findFrameCompressedSize(bytes + at, size - at);
        assert_false(ZSTD_isError(packed));
        assert_true(out->count < PAGES_MAX);
        const size_t page = ZSTD_decompress(out->pages[out->count], PAGE_SIZE, bytes + at, packed);
        assert_false(ZSTD_isError(page));
        out->page_sizes[out->count++] = page;
        at += packed;
    }
}

/* Writes the chunk to a file and reads that. */
static void write_chunk(const parquet_chunk *chunk, unpacked *out)
{
    char path[TEMPORARY_PATH_BYTES];
    static u8 bytes[8 * PAGE_SIZE];
    const int descriptor = temporary_file(path, "etlheap-parquet");
    parquet_pages pages = { .zstd = ZSTD_createCCtx() };
    etl_error err;
    assert_true(descriptor >= 0);
    pages.numbers = malloc(PARQUET_PAGE_ROWS * sizeof *pages.numbers);
    assert_int_equal(etlheap_sink_open_descriptor(descriptor, "test", &pages.sink, &err), ETL_OK);
    out->sizes = parquet_chunk_write(chunk, &pages);
    assert_false(pages.failed);
    assert_int_equal(etlheap_sink_close(pages.sink, &err), ETL_OK);
    const ssize_t size = pread(descriptor, bytes, sizeof bytes, 0);
    assert_int_equal(size, pages.offset);
    assert_int_equal(out->sizes.packed_bytes, pages.offset);
    unpack(out, bytes, (size_t)size);
    close(descriptor);
    unlink(path); /* Windows removes no file that is open */
    free(pages.numbers);
    ZSTD_freeCCtx(pages.zstd);
    etlheap_text_free(&pages.header);
    etlheap_text_free(&pages.page);
    etlheap_text_free(&pages.packed);
}

static void expect_page(const unpacked *got, u32 page, const char *hex)
{
    char text[512] = "";
    assert_true(page < got->count);
    assert_true(got->page_sizes[page] * 2 < sizeof text);
    for (size_t i = 0; i < got->page_sizes[page]; i++)
        snprintf(text + i * 2, 3, "%02x", got->pages[page][i]);
    assert_string_equal(text, hex);
}

static void expect_statistics(const parquet_chunk *chunk, const char *hex)
{
    char text[512] = "";
    etlheap_text out = { 0 };
    parquet_thrift thrift = { .out = &out };
    parquet_thrift_open(&thrift);
    parquet_chunk_statistics(chunk, 12, &thrift);
    parquet_thrift_close(&thrift);
    assert_true(out.size * 2 < sizeof text);
    for (size_t i = 0; i < out.size; i++)
        snprintf(text + i * 2, 3, "%02x", (u8)out.bytes[i]);
    assert_string_equal(text, hex);
    etlheap_text_free(&out);
}

static void add_text(parquet_chunk *chunk, const char *text)
{
    parquet_chunk_entry(chunk, parquet_chunk_intern(chunk, text, strlen(text)));
}

static unpacked got;

/* --- chunks ----------------------------------------------------------------- */

static void plain_numbers_follow_what_is_null(void **state)
{
    const parquet_column column = { .name = "x", .type = PARQUET_INT64, .is_optional = true };
    parquet_chunk chunk;
    (void)state;
    assert_true(parquet_chunk_init(&chunk, &column, 4));
    parquet_chunk_number(&chunk, 5);
    parquet_chunk_null(&chunk);
    parquet_chunk_number(&chunk, (u64)-2);
    write_chunk(&chunk, &got);
    assert_int_equal(got.count, 1);
    assert_false(got.sizes.is_coded);
    /* two bytes of levels, 1 0 1 in one group; 5; -2 */
    expect_page(&got, 0,
                "020000000305"
                "0500000000000000"
                "feffffffffffffff");
    /* struct 12: 3: 1 NULL; 5: most 5; 6: least -2 */
    expect_statistics(&chunk, "cc3602"
                              "28080500000000000000"
                              "1808feffffffffffffff"
                              "0000");
    parquet_chunk_free(&chunk);
}

static void unsigned_numbers_have_an_order_of_their_own(void **state)
{
    const parquet_column column = { .name = "x", .type = PARQUET_UINT64 };
    parquet_chunk chunk;
    (void)state;
    assert_true(parquet_chunk_init(&chunk, &column, 4));
    parquet_chunk_number(&chunk, 5);
    parquet_chunk_number(&chunk, UINT64_MAX);
    expect_statistics(&chunk, "cc3600"
                              "2808ffffffffffffffff"
                              "18080500000000000000"
                              "0000");
    parquet_chunk_free(&chunk);
}

static void truths_are_bits(void **state)
{
    const parquet_column column = { .name = "x", .type = PARQUET_BOOLEAN, .repeats = true };
    parquet_chunk chunk;
    (void)state;
    assert_true(parquet_chunk_init(&chunk, &column, 16));
    for (u32 i = 0; i < 10; i++)
        parquet_chunk_number(&chunk, i == 0 || i == 3 || i == 9);
    write_chunk(&chunk, &got);
    assert_int_equal(got.count, 1);
    expect_page(&got, 0, "0902");
    expect_statistics(&chunk, "cc3600"
                              "280101"
                              "180100"
                              "0000");
    parquet_chunk_free(&chunk);
}

static void texts_that_repeat_are_a_dictionary(void **state)
{
    const parquet_column column = { .name = "x", .type = PARQUET_STRING };
    parquet_chunk chunk;
    (void)state;
    assert_true(parquet_chunk_init(&chunk, &column, 32));
    add_text(&chunk, "b");
    add_text(&chunk, "a");
    add_text(&chunk, "cc");
    for (u32 i = 0; i < 13; i++)
        add_text(&chunk, "a");
    write_chunk(&chunk, &got);
    assert_true(got.sizes.is_coded);
    assert_true(got.sizes.data_offset > got.sizes.offset);
    assert_int_equal(got.count, 2);
    expect_page(&got, 0,
                "0100000062"
                "0100000061"
                "020000006363");
    /* 2 bits wide; 0 1 2 1 1 1 1 1 packed; a run of 8 */
    expect_page(&got, 1,
                "02"
                "036455"
                "1001");
    expect_statistics(&chunk, "cc3600"
                              "28026363"
                              "180161"
                              "0000");
    parquet_chunk_free(&chunk);
}

static void add_list(parquet_chunk *chunk, const char *letters)
{
    const u32 list = parquet_lists_begin(&chunk->lists);
    for (; *letters != '\0'; letters++)
        parquet_chunk_item(chunk, letters, 1);
    parquet_chunk_entry(chunk, list);
}

static void lists_are_levels_and_values(void **state)
{
    const parquet_column column = {
        .name = "x", .type = PARQUET_STRING, .is_optional = true, .is_list = true
    };
    parquet_chunk chunk;
    (void)state;
    assert_true(parquet_chunk_init(&chunk, &column, 8));
    add_list(&chunk, "ab");
    parquet_chunk_null(&chunk);
    add_list(&chunk, "");
    add_list(&chunk, "b");
    assert_int_equal(parquet_chunk_level_count(&chunk), 5);
    write_chunk(&chunk, &got);
    assert_true(got.sizes.is_coded);
    expect_page(&got, 0,
                "0100000061"
                "0100000062");
    /* 0 1 0 0 0: what goes on; 2 2 0 1 2: value, value, no list, empty, value; entries 0 1 1 */
    expect_page(&got, 1,
                "02000000"
                "0302"
                "03000000"
                "034a02"
                "01"
                "0306");
    parquet_chunk_free(&chunk);
}

static void texts_that_do_not_repeat_are_plain(void **state)
{
    const parquet_column column = { .name = "x", .type = PARQUET_STRING, .is_optional = true };
    parquet_chunk chunk;
    (void)state;
    assert_true(parquet_chunk_init(&chunk, &column, 4));
    add_text(&chunk, "b");
    parquet_chunk_null(&chunk);
    add_text(&chunk, "a");
    write_chunk(&chunk, &got);
    assert_false(got.sizes.is_coded);
    assert_int_equal(got.sizes.data_offset, got.sizes.offset);
    assert_int_equal(got.count, 1);
    expect_page(&got, 0,
                "020000000305"
                "0100000062"
                "0100000061");
    parquet_chunk_free(&chunk);
}

static void numbers_that_do_not_repeat_are_plain(void **state)
{
    const parquet_column column = { .name = "x", .type = PARQUET_INT64, .repeats = true };
    parquet_chunk chunk;
    (void)state;
    assert_true(parquet_chunk_init(&chunk, &column, 300));
    for (u32 i = 0; i < 2; i++)
        parquet_chunk_number(&chunk, i);
    write_chunk(&chunk, &got);
    assert_false(got.sizes.is_coded);
    expect_page(&got, 0, "00000000000000000100000000000000");
    for (u32 i = 0; i < 200; i++)
        parquet_chunk_number(&chunk, i & 1);
    write_chunk(&chunk, &got);
    assert_true(got.sizes.is_coded);
    parquet_chunk_free(&chunk);
}

static void long_texts_are_not_told_as_statistics(void **state)
{
    const parquet_column column = { .name = "x", .type = PARQUET_STRING };
    char text[66];
    parquet_chunk chunk;
    (void)state;
    memset(text, 'x', 65);
    text[65] = '\0';
    assert_true(parquet_chunk_init(&chunk, &column, 4));
    add_text(&chunk, "a");
    add_text(&chunk, text);
    expect_statistics(&chunk, "cc36000000");
    parquet_chunk_free(&chunk);
}

static void rows_are_cut_into_pages(void **state)
{
    const parquet_column column = { .name = "x", .type = PARQUET_BOOLEAN, .is_optional = true };
    const u32 rows = 2 * PARQUET_PAGE_ROWS + 9;
    parquet_chunk chunk;
    (void)state;
    assert_true(parquet_chunk_init(&chunk, &column, rows));
    for (u32 i = 0; i < rows; i++) {
        if (i < PARQUET_PAGE_ROWS)
            parquet_chunk_null(&chunk);
        else
            parquet_chunk_number(&chunk, i == rows - 1);
    }
    write_chunk(&chunk, &got);
    assert_int_equal(got.count, 3);
    expect_page(&got, 0, "0400000080800400");      /* a run of 32768 zeros */
    assert_int_equal(got.page_sizes[1], 8 + 4096); /* of ones, and their bits */
    expect_page(&got, 2, "0200000012010001");
    parquet_chunk_free(&chunk);
}

/* --- files -------------------------------------------------------------------- */

static const char *write_empty(capture *captured)
{
    static const parquet_column columns[] = {
        { .name = "n", .type = PARQUET_UINT64 },
        { .name = "t", .type = PARQUET_TIMESTAMP, .is_optional = true },
        { .name = "s", .type = PARQUET_STRING },
    };
    const parquet_options options = { .name = "e", .columns = columns, .column_count = 3 };
    capture_open(captured);
    parquet_writer *const writer = parquet_open(&options, captured->sink);
    assert_non_null(writer);
    parquet_add_fact(writer, "k", "v\xFF");
    assert_int_equal(parquet_close(writer), ETL_OK);
    return capture_text(captured);
}

static void an_empty_file_is_its_schema(void **state)
{
    static const char before[] = "PAR1"
                                 "\x15\x04" /* 1: version 2 */
                                 "\x19\x4c" /* 2: four elements */
                                 "\x48\x01" /* root: 4: name */
                                 "e"
                                 "\x15\x06\x00"             /* 5: three children */
                                 "\x15\x04\x25\x00\x18\x01" /* INT64, required, 4: name */
                                 "n"
                                 "\x25\x1c"                         /* 6: UINT_64 */
                                 "\x4c\xac\x13\x40\x12\x00\x00\x00" /* 10: INTEGER(64, false) */
                                 "\x15\x04\x25\x02\x18\x01"         /* INT64, optional, 4: name */
                                 "t"
                                 "\x25\x14" /* 6: TIMESTAMP_MICROS */
                                 "\x4c\x8c\x11\x1c\x2c\x00\x00\x00\x00\x00" /* 10: TIMESTAMP(UTC) */
                                 "\x15\x0c\x25\x00\x18\x01" /* BYTE_ARRAY, required, 4: name */
                                 "s"
                                 "\x25\x00"             /* 6: UTF8 */
                                 "\x4c\x1c\x00\x00\x00" /* 10: STRING */
                                 "\x16\x00"             /* 3: no rows */
                                 "\x19\x0c"             /* 4: no row groups */
                                 "\x19\x1c"             /* 5: one fact */
                                 "\x18\x01"
                                 "k"
                                 "\x18\x04"
                                 "v\xef\xbf\xbd\x00"
                                 "\x18"; /* 6: created by */
    static const char by[] = "etlheap version " ETLHEAP_VERSION;
    static const char after[] = "\x19\x3c" /* 7: orders of columns */
                                "\x1c\x00\x00\x1c\x00\x00\x1c\x00\x00"
                                "\x00";
    const size_t footer = sizeof before - 1 - 4 + sizeof by + sizeof after - 1;
    capture captured;
    (void)state;
    const char *text = write_empty(&captured);
    assert_memory_equal(text, before, sizeof before - 1);
    text += sizeof before - 1;
    assert_int_equal(*text++, sizeof by - 1);
    assert_memory_equal(text, by, sizeof by - 1);
    text += sizeof by - 1;
    assert_memory_equal(text, after, sizeof after - 1);
    text += sizeof after - 1;
    assert_int_equal(etl_load_u32((const u8 *)text), footer);
    assert_string_equal(text + 4, "PAR1");
    capture_close(&captured);
}

static void names_are_known_within_a_row_group(void **state)
{
    static const parquet_column columns[] = { { .name = "s", .type = PARQUET_STRING } };
    const parquet_options options = {
        .name = "e", .columns = columns, .column_count = 1, .group_rows = 2
    };
    parquet_name name = { 0 };
    capture captured;
    (void)state;
    capture_open(&captured);
    parquet_writer *const writer = parquet_open(&options, captured.sink);
    assert_non_null(writer);
    assert_false(parquet_put_known(writer, &name));
    parquet_put_new(writer, &name, "x", 1);
    parquet_end_row(writer);
    assert_true(parquet_put_known(writer, &name));
    parquet_end_row(writer);
    assert_false(parquet_put_known(writer, &name));
    parquet_put_name(writer, &name, "x");
    parquet_end_row(writer);
    assert_int_equal(parquet_close(writer), ETL_OK);
    (void)capture_text(&captured);
    capture_close(&captured);
}

/* Far too little memory: 4096 rows are the least. */
static void little_memory_makes_small_row_groups(void **state)
{
    static const parquet_column columns[] = { { .name = "s", .type = PARQUET_STRING } };
    const parquet_options options = {
        .name = "e", .columns = columns, .column_count = 1, .memory_bytes_max = 1
    };
    parquet_name name = { 0 };
    capture captured;
    (void)state;
    capture_open(&captured);
    parquet_writer *const writer = parquet_open(&options, captured.sink);
    assert_non_null(writer);
    parquet_put_name(writer, &name, "x");
    parquet_end_row(writer);
    for (u32 row = 1; row < 4096; row++) {
        assert_true(parquet_put_known(writer, &name));
        parquet_end_row(writer);
    }
    assert_false(parquet_put_known(writer, &name));
    assert_int_equal(parquet_close(writer), ETL_OK);
    (void)capture_text(&captured);
    capture_close(&captured);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_numbers_follow_what_is_null),
        cmocka_unit_test(unsigned_numbers_have_an_order_of_their_own),
        cmocka_unit_test(truths_are_bits),
        cmocka_unit_test(texts_that_repeat_are_a_dictionary),
        cmocka_unit_test(lists_are_levels_and_values),
        cmocka_unit_test(texts_that_do_not_repeat_are_plain),
        cmocka_unit_test(numbers_that_do_not_repeat_are_plain),
        cmocka_unit_test(long_texts_are_not_told_as_statistics),
        cmocka_unit_test(rows_are_cut_into_pages),
        cmocka_unit_test(an_empty_file_is_its_schema),
        cmocka_unit_test(names_are_known_within_a_row_group),
        cmocka_unit_test(little_memory_makes_small_row_groups),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
