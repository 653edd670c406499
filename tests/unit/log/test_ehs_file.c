/*
 * Goal: blocks of a store come back by column and part, in whatever order they
 * were written; a file that is damaged anywhere is refused with a sentence that
 * names the place, and one that was not finished says so.
 * Method: files made in memory; every cut; every bit of a small file turned;
 * directories that lie, with checksums that are right.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <xxhash.h>

#include "engine/log/ehs_file.h"
#include "tests/support/hand_bytes.h"

static ehs_codec codec;

static bool keep(void *user, const void *bytes, size_t size)
{
    return ehs_put(user, bytes, size);
}

/* Takes so many bytes and then no more. */
typedef struct full_disk {
    size_t left;
} full_disk;

static bool keep_some(void *user, const void *bytes, size_t size)
{
    full_disk *const disk = user;
    (void)bytes;
    if (size > disk->left)
        return false;
    disk->left -= size;
    return true;
}

static void put_origins(ehs_blocks *blocks, u32 part, u32 first, u32 count)
{
    u32 values[1000];
    for (u32 i = 0; i < count; i++)
        values[i] = first + i;
    assert_true(ehs_blocks_add(blocks, &codec, EHS_HEAP_ORIGIN, part, values, count));
}

static void put_text(ehs_blocks *blocks, const char *text)
{
    assert_true(ehs_blocks_add(blocks, &codec, EHS_STRING_TEXT, 0, text, (u32)strlen(text) + 1));
}

/* Three parts of a column and one of another, out of order, in two goes. */
static ehs_bytes make_file(void)
{
    ehs_bytes file = { 0 };
    ehs_blocks blocks = { 0 };
    ehs_writer writer;
    assert_int_equal(ehs_writer_open(&writer, keep, &file, EHS_CONTENT_STORE), ETL_OK);
    put_text(&blocks, "hello");
    put_origins(&blocks, 2, 2000, 7);
    assert_int_equal(ehs_writer_put(&writer, &blocks), ETL_OK);
    ehs_blocks_clear(&blocks);
    put_origins(&blocks, 0, 0, 1000);
    put_origins(&blocks, 1, 1000, 1000);
    assert_int_equal(ehs_writer_put(&writer, &blocks), ETL_OK);
    assert_int_equal(ehs_writer_close(&writer), ETL_OK);
    ehs_blocks_free(&blocks);
    return file;
}

static etl_bytes view_of(const ehs_bytes *file)
{
    return (etl_bytes){ file->at, file->count };
}

static etl_status get(const ehs_reader *reader, ehs_column column, u32 part, void *values,
                      u32 capacity, etl_error *err)
{
    const ehs_row *const row = ehs_reader_find(reader, column, part);
    assert_non_null(row);
    return ehs_reader_get(reader, &codec, row, values, capacity, err);
}

static void blocks_come_back_by_column_and_part(void **state)
{
    (void)state;
    ehs_bytes file = make_file();
    ehs_reader reader;
    assert_true(ehs_is_store(view_of(&file)));
    assert_true(ehs_is_full_store(view_of(&file)));
    assert_false(ehs_is_full_store((etl_bytes){ file.at, 15 }));
    assert_int_equal(ehs_reader_open(&reader, view_of(&file), NULL), ETL_OK);
    assert_int_equal(reader.content, EHS_CONTENT_STORE);
    u64 total;
    assert_int_equal(ehs_reader_parts(&reader, EHS_HEAP_ORIGIN, &total), 3);
    assert_int_equal(total, 2007);
    for (u32 part = 0; part < 3; part++) {
        u32 values[1000];
        assert_int_equal(get(&reader, EHS_HEAP_ORIGIN, part, values, 1000, NULL), ETL_OK);
        for (u32 i = 0; i < ehs_reader_find(&reader, EHS_HEAP_ORIGIN, part)->values; i++)
            assert_int_equal(values[i], part * 1000 + i);
    }
    char text[6];
    assert_int_equal(get(&reader, EHS_STRING_TEXT, 0, text, sizeof text, NULL), ETL_OK);
    assert_string_equal(text, "hello");
    assert_null(ehs_reader_find(&reader, EHS_HEAP_ORIGIN, 3));
    assert_null(ehs_reader_find(&reader, EHS_HEAP_SIZE, 0));
    assert_int_equal(ehs_reader_parts(&reader, EHS_HEAP_SIZE, &total), 0);
    ehs_reader_close(&reader);
    ETLHEAP_VECTOR_FREE(&file);
}

static void a_file_without_blocks_opens(void **state)
{
    (void)state;
    ehs_bytes file = { 0 };
    ehs_writer writer;
    ehs_reader reader;
    assert_int_equal(ehs_writer_open(&writer, keep, &file, EHS_CONTENT_SUMMARY), ETL_OK);
    assert_int_equal(ehs_writer_close(&writer), ETL_OK);
    assert_int_equal(file.count, EHS_HEADER_BYTES + EHS_FOOTER_BYTES);
    assert_false(ehs_is_full_store(view_of(&file)));
    assert_int_equal(ehs_reader_open(&reader, view_of(&file), NULL), ETL_OK);
    assert_int_equal(reader.content, EHS_CONTENT_SUMMARY);
    assert_int_equal(reader.row_count, 0);
    ehs_reader_close(&reader);
    ETLHEAP_VECTOR_FREE(&file);
}

static void columns_are_found_by_id_and_in_order(void **state)
{
    (void)state;
    static const struct {
        u32 id;
        const char *text;
    } list[] = {
#define LIST(name, id, text, layout, transform, bytes) { id, text },
        EHS_COLUMNS(LIST)
#undef LIST
    };
    u32 before = 0;
    for (size_t i = 0; i < ETL_COUNT_OF(list); i++) {
        assert_true(list[i].id > before);
        assert_string_equal(ehs_column_find(list[i].id)->name, list[i].text);
        before = list[i].id;
    }
    assert_null(ehs_column_find(0));
    assert_null(ehs_column_find(before + 1));
}

/* Those of planned columns too: what a later version writes is what is said here. */
static void every_column_comes_back_as_it_is_laid_out(void **state)
{
    (void)state;
    static const struct {
        ehs_column column;
        u32 width;
        bool is_bits;
    } list[] = {
#define LIST(name, id, text, layout, transform, bytes)                                             \
    { EHS_##name, bytes, EHS_LAYOUT_##layout == EHS_LAYOUT_BITS },
        EHS_COLUMNS(LIST)
#undef LIST
    };
    u8 given[100 * sizeof(u64)], got[sizeof given];
    for (size_t c = 0; c < ETL_COUNT_OF(list); c++) {
        const size_t size = (size_t)100 * list[c].width;
        for (size_t i = 0; i < size; i++)
            given[i] = (u8)(list[c].is_bits ? i % 3 == 0 : i * 37 + c);
        ehs_bytes file = { 0 };
        ehs_blocks blocks = { 0 };
        ehs_writer writer;
        ehs_reader reader;
        assert_int_equal(ehs_writer_open(&writer, keep, &file, EHS_CONTENT_STORE), ETL_OK);
        assert_true(ehs_blocks_add(&blocks, &codec, list[c].column, 0, given, 100));
        assert_int_equal(ehs_writer_put(&writer, &blocks), ETL_OK);
        assert_int_equal(ehs_writer_close(&writer), ETL_OK);
        assert_int_equal(ehs_reader_open(&reader, view_of(&file), NULL), ETL_OK);
        assert_int_equal(get(&reader, list[c].column, 0, got, 100, NULL), ETL_OK);
        assert_memory_equal(got, given, size);
        ehs_reader_close(&reader);
        ehs_blocks_free(&blocks);
        ETLHEAP_VECTOR_FREE(&file);
    }
}

/* Tables 1 to 6 stand once for each kind, so no id of today's may look like one of a kind. */
static void a_kind_has_ids_of_its_own(void **state)
{
    (void)state;
    static const u32 ids[] = {
#define LIST(name, id, text, layout, transform, bytes) id,
        EHS_COLUMNS(LIST)
#undef LIST
    };
    for (size_t i = 0; i < ETL_COUNT_OF(ids); i++) {
        assert_true(ids[i] < 0x10000);
        assert_int_equal(ehs_kind_column(EHS_KIND_HEAP, (ehs_column)ids[i]), ids[i]);
        assert_null(ehs_column_find(ehs_kind_column(EHS_KIND_POOL, (ehs_column)ids[i])));
    }
    assert_int_equal(ehs_kind_column(EHS_KIND_CUSTOM, EHS_HEAP_ORIGIN), 0x040104);
}

static void every_cut_is_refused_as_unfinished(void **state)
{
    (void)state;
    ehs_bytes file = make_file();
    for (size_t size = 0; size < file.count; size++) {
        hand_guarded cut = hand_guard_bytes((etl_bytes){ file.at, size }, HAND_AT_END);
        ehs_reader reader;
        etl_error err;
        assert_int_equal(ehs_reader_open(&reader, (etl_bytes){ cut.at, size }, &err),
                         ETL_ERR_CORRUPT);
        if (size >= EHS_HEADER_BYTES && strstr(err.message, "is unfinished") == NULL)
            fail_msg("cut to %zu bytes: %s", size, err.message);
        hand_unguard(&cut);
    }
    ETLHEAP_VECTOR_FREE(&file);
}

/* Every block of a file that opens; the first failure. */
static etl_status read_all(etl_bytes file, etl_error *err)
{
    ehs_reader reader;
    etl_status status = ehs_reader_open(&reader, file, err);
    for (size_t i = 0; status == ETL_OK && i < reader.row_count; i++) {
        u8 values[8192];
        if (ehs_column_find(reader.rows[i].column) != NULL)
            status = ehs_reader_get(&reader, &codec, &reader.rows[i], values,
                                    reader.rows[i].column == EHS_STRING_TEXT ? 8192 : 1000, err);
    }
    ehs_reader_close(&reader);
    return status;
}

static void every_turned_bit_is_found(void **state)
{
    (void)state;
    ehs_bytes file = make_file();
    assert_int_equal(read_all(view_of(&file), NULL), ETL_OK);
    for (size_t bit = 0; bit < file.count * 8; bit++) {
        etl_error err = { .message = "" };
        file.at[bit / 8] = (u8)(file.at[bit / 8] ^ 1u << bit % 8);
        if (read_all(view_of(&file), &err) == ETL_OK)
            fail_msg("bit %zu of byte %zu turned is not noticed", bit % 8, bit / 8);
        assert_true(err.message[0] != '\0');
        file.at[bit / 8] = (u8)(file.at[bit / 8] ^ 1u << bit % 8);
    }
    ETLHEAP_VECTOR_FREE(&file);
}

static void damage_is_told_by_block_and_offset(void **state)
{
    (void)state;
    ehs_bytes file = make_file();
    ehs_reader reader;
    etl_error err;
    u32 values[1000];
    assert_int_equal(ehs_reader_open(&reader, view_of(&file), NULL), ETL_OK);
    const ehs_row row = *ehs_reader_find(&reader, EHS_HEAP_ORIGIN, 1);
    file.at[row.offset + 20] ^= 1;
    assert_int_equal(get(&reader, EHS_HEAP_ORIGIN, 1, values, 1000, &err), ETL_ERR_CORRUPT);
    char expected[100];
    snprintf(expected, sizeof expected,
             "block 1 of heap.origin at 0x%llx is damaged: its checksum differs",
             (unsigned long long)row.offset);
    assert_string_equal(err.message, expected);
    assert_int_equal(err.offset, row.offset);
    assert_int_equal(get(&reader, EHS_HEAP_ORIGIN, 0, values, 1000, &err), ETL_OK);
    ehs_reader_close(&reader);
    ETLHEAP_VECTOR_FREE(&file);
}

/* --- files whose checksums are right but whose numbers are not -------------------- */

static void set_u64(ehs_bytes *file, size_t at, u64 value)
{
    memcpy(file->at + at, &value, sizeof value);
}

static void set_u32(ehs_bytes *file, size_t at, u32 value)
{
    memcpy(file->at + at, &value, sizeof value);
}

static size_t directory_of(const ehs_bytes *file)
{
    return (size_t)etl_load_u64(file->at + file->count - EHS_FOOTER_BYTES);
}

/* Puts right all sums but those of blocks. */
static void seal(ehs_bytes *file)
{
    const size_t footer = file->count - EHS_FOOTER_BYTES, directory = directory_of(file);
    set_u64(file, 24, XXH3_64bits(file->at, 24));
    if (directory <= footer)
        set_u64(file, footer + 16, XXH3_64bits(file->at + directory, footer - directory));
    set_u64(file, footer + 24, XXH3_64bits(file->at + footer, 24));
}

static void assert_refused(ehs_bytes *file, etl_status status, const char *part)
{
    ehs_reader reader;
    etl_error err = { .message = "" };
    seal(file);
    assert_int_equal(ehs_reader_open(&reader, view_of(file), &err), status);
    if (strstr(err.message, part) == NULL)
        fail_msg("\"%s\" is not in \"%s\"", part, err.message);
    ETLHEAP_VECTOR_FREE(file);
}

static void a_format_that_is_not_read_is_named_with_what_to_do(void **state)
{
    (void)state;
    static const struct {
        u8 major, minor, content, minor_needed;
        const char *sentence;
    } cases[] = {
        { 1, 0, EHS_CONTENT_STORE, 0,
          "is a store of format 1.0, which this version no longer reads: make the store again "
          "from its trace" },
        { 1, 3, EHS_CONTENT_SUMMARY, 0,
          "is a summary of format 1.3, which this version no longer reads: make the summary "
          "again from its trace" },
        { 9, 4, EHS_CONTENT_STORE, 0,
          "is a store of format 9.4, and this version reads up to 2.4: use a newer version, or "
          "make the store again from its trace" },
        { EHS_MAJOR, 7, EHS_CONTENT_SUMMARY, 5, "is a summary of format 2.7, and this version" },
    };
    for (size_t i = 0; i < ETL_COUNT_OF(cases); i++) {
        ehs_bytes file = make_file();
        file.at[8] = cases[i].major;
        file.at[10] = cases[i].minor;
        file.at[12] = cases[i].content;
        file.at[16] = cases[i].minor_needed;
        assert_refused(&file, ETL_ERR_UNSUPPORTED, cases[i].sentence);
    }
}

static void a_later_minor_version_opens(void **state)
{
    (void)state;
    ehs_bytes file = make_file();
    file.at[10] = 200;
    seal(&file);
    ehs_reader reader;
    assert_int_equal(ehs_reader_open(&reader, view_of(&file), NULL), ETL_OK);
    assert_int_equal(reader.minor, 200);
    ehs_reader_close(&reader);
    ETLHEAP_VECTOR_FREE(&file);
}

static void an_unknown_content_is_refused(void **state)
{
    (void)state;
    ehs_bytes file = make_file();
    file.at[12] = 3;
    assert_refused(&file, ETL_ERR_UNSUPPORTED, "an unknown kind (3)");
}

static void other_files_are_no_stores(void **state)
{
    (void)state;
    static const u8 other[EHS_HEADER_BYTES + EHS_FOOTER_BYTES] = "PK\x03\x04";
    ehs_reader reader;
    etl_error err;
    const etl_bytes file = { other, sizeof other };
    assert_false(ehs_is_store(file));
    assert_false(ehs_is_store((etl_bytes){ other, 3 }));
    assert_false(ehs_is_full_store(file));
    assert_int_equal(ehs_reader_open(&reader, file, &err), ETL_ERR_CORRUPT);
    assert_non_null(strstr(err.message, "not a store"));
}

static void a_directory_somewhere_else_is_refused(void **state)
{
    (void)state;
    static const u64 offsets[] = { 0, 8, EHS_HEADER_BYTES, UINT64_MAX, UINT64_MAX - 31 };
    for (size_t i = 0; i < ETL_COUNT_OF(offsets); i++) {
        ehs_bytes file = make_file();
        set_u64(&file, file.count - EHS_FOOTER_BYTES, offsets[i]);
        assert_refused(&file, ETL_ERR_CORRUPT, "the footer at");
    }
    ehs_bytes file = make_file();
    set_u64(&file, file.count - EHS_FOOTER_BYTES, directory_of(&file) - 8);
    assert_refused(&file, ETL_ERR_CORRUPT, "the footer at");
    file = make_file();
    set_u64(&file, file.count - EHS_FOOTER_BYTES + 8, (u64)1 << 59);
    assert_refused(&file, ETL_ERR_CORRUPT, "the footer at");
}

static void blocks_outside_of_the_file_are_refused(void **state)
{
    (void)state;
    static const u64 offsets[] = { 0, EHS_HEADER_BYTES - 1, 1 << 20, UINT64_MAX };
    for (size_t i = 0; i < ETL_COUNT_OF(offsets); i++) {
        ehs_bytes file = make_file();
        set_u64(&file, directory_of(&file) + 8, offsets[i]);
        assert_refused(&file, ETL_ERR_CORRUPT, "lies outside the file's blocks");
    }
    ehs_bytes file = make_file();
    set_u32(&file, directory_of(&file) + 16, UINT32_MAX);
    assert_refused(&file, ETL_ERR_CORRUPT, "lies outside the file's blocks");
}

static void a_directory_out_of_order_is_refused(void **state)
{
    (void)state;
    ehs_bytes file = make_file();
    set_u32(&file, directory_of(&file) + EHS_ROW_BYTES + 4, 0);
    assert_refused(&file, ETL_ERR_CORRUPT, "block 0 of heap.origin at");
}

static void columns_of_later_versions_are_passed_over(void **state)
{
    (void)state;
    ehs_bytes file = make_file();
    set_u32(&file, directory_of(&file) + 3 * EHS_ROW_BYTES, 0xABCDEF);
    seal(&file);
    ehs_reader reader;
    u64 total;
    assert_int_equal(ehs_reader_open(&reader, view_of(&file), NULL), ETL_OK);
    assert_int_equal(ehs_reader_parts(&reader, EHS_HEAP_ORIGIN, &total), 3);
    ehs_reader_close(&reader);
    ETLHEAP_VECTOR_FREE(&file);
}

static void a_count_that_differs_from_the_directory_is_refused(void **state)
{
    (void)state;
    ehs_bytes file = make_file();
    set_u32(&file, directory_of(&file) + 20, 999);
    seal(&file);
    ehs_reader reader;
    etl_error err;
    u32 values[1000];
    assert_int_equal(ehs_reader_open(&reader, view_of(&file), NULL), ETL_OK);
    assert_int_equal(get(&reader, EHS_HEAP_ORIGIN, 0, values, 1000, &err), ETL_ERR_CORRUPT);
    assert_non_null(strstr(err.message, "a different number of values"));
    ehs_reader_close(&reader);
    ETLHEAP_VECTOR_FREE(&file);
}

static void a_sink_that_fails_is_told_of_at_once_and_at_the_end(void **state)
{
    (void)state;
    ehs_bytes whole = make_file();
    for (size_t room = 0; room <= whole.count; room += 5) {
        full_disk disk = { room };
        ehs_blocks blocks = { 0 };
        ehs_writer writer;
        const etl_status opened = ehs_writer_open(&writer, keep_some, &disk, EHS_CONTENT_STORE);
        assert_int_equal(opened, room < EHS_HEADER_BYTES ? ETL_ERR_IO : ETL_OK);
        put_origins(&blocks, 0, 0, 1000);
        const etl_status put = ehs_writer_put(&writer, &blocks);
        const bool has_room = room >= EHS_HEADER_BYTES + blocks.bytes.count;
        assert_int_equal(put, has_room ? ETL_OK : ETL_ERR_IO);
        const bool fits =
            room >= EHS_HEADER_BYTES + blocks.bytes.count + EHS_ROW_BYTES + EHS_FOOTER_BYTES;
        assert_int_equal(ehs_writer_close(&writer), fits ? ETL_OK : ETL_ERR_IO);
        ehs_blocks_free(&blocks);
    }
    ETLHEAP_VECTOR_FREE(&whole);
}

static int close_codec(void **state)
{
    (void)state;
    ehs_codec_free(&codec);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_come_back_by_column_and_part),
        cmocka_unit_test(a_file_without_blocks_opens),
        cmocka_unit_test(columns_are_found_by_id_and_in_order),
        cmocka_unit_test(every_column_comes_back_as_it_is_laid_out),
        cmocka_unit_test(a_kind_has_ids_of_its_own),
        cmocka_unit_test(every_cut_is_refused_as_unfinished),
        cmocka_unit_test(every_turned_bit_is_found),
        cmocka_unit_test(damage_is_told_by_block_and_offset),
        cmocka_unit_test(a_format_that_is_not_read_is_named_with_what_to_do),
        cmocka_unit_test(a_later_minor_version_opens),
        cmocka_unit_test(an_unknown_content_is_refused),
        cmocka_unit_test(other_files_are_no_stores),
        cmocka_unit_test(a_directory_somewhere_else_is_refused),
        cmocka_unit_test(blocks_outside_of_the_file_are_refused),
        cmocka_unit_test(a_directory_out_of_order_is_refused),
        cmocka_unit_test(columns_of_later_versions_are_passed_over),
        cmocka_unit_test(a_count_that_differs_from_the_directory_is_refused),
        cmocka_unit_test(a_sink_that_fails_is_told_of_at_once_and_at_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, close_codec);
}
