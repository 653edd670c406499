/*
 * Goal: buffers load as they were before compression, damaged ones as far as they
 * are good, and their first time is found without loading them.
 * Method: buffers put together by hand, in memory that ends with them. Compressed
 * ones hold nothing but literals, which either format writes down easily.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "hand_trace.h"

static hand_bytes file;
static hand_bytes records;
static hand_guarded memory;
static etl_trace *trace;
static etl_scratch scratch;
static etl_diag_counts diag;

static int begin_test(void **state)
{
    (void)state;
    trace = NULL;
    memset(&diag, 0, sizeof diag);
    return 0;
}

static int end_test(void **state)
{
    (void)state;
    etl_close(trace);
    etl_scratch_free(&scratch);
    if (memory.pages)
        hand_unguard(&memory);
    hand_free(&records);
    hand_free(&file);
    return 0;
}

static etl_status open_file_bytes(void)
{
    etl_close(trace);
    if (memory.pages)
        hand_unguard(&memory);
    memory = hand_guard_bytes(hand_view(&file), HAND_AT_END);
    return etl_open_memory((etl_bytes){ memory.at, memory.size }, NULL, &trace, NULL);
}

static void put_header(u32 compression, u32 buffer_size)
{
    hand_log_header facts = hand_header();
    facts.buffer_size = buffer_size;
    hand_header_buffer(&file, &facts, compression);
}

/* Puts the records as a plain XPRESS stream of literals. */
static void put_xpress(hand_bytes *out)
{
    for (size_t i = 0; i < records.size; i++) {
        if (i % 32 == 0)
            hand_u32(out, 0);
        hand_u8(out, records.at[i]);
    }
}

/* Puts them as an XPRESS Huffman stream: each literal has 8 bits, which are the
 * literal itself; bits are in u16 words from the top. */
static void put_xpress_huffman(hand_bytes *out)
{
    hand_fill(out, 0x88, 128);
    hand_fill(out, 0, 128);
    for (size_t i = 0; i < records.size; i += 2)
        hand_u16(out,
                 (unsigned)records.at[i] << 8 | (i + 1 < records.size ? records.at[i + 1] : 0u));
    hand_u32(out, 0);
}

/* A compressed buffer of what is in `records`, odd in size. */
static void put_compressed(void (*put)(hand_bytes *), i64 sequence)
{
    hand_bytes packed = { 0 };
    put(&packed);
    const hand_buffer facts = {
        .valid = ETL_BUFFER_HEADER_BYTES + (u32)records.size,
        .flags = ETL_BUFFER_PROC_INDEX | ETL_BUFFER_COMPRESSED,
        .processor = 2,
        .sequence = sequence,
        .fill_to = 1,
    };
    hand_put_buffer(&file, &facts, &packed);
    hand_free(&packed);
}

static void put_records(int count)
{
    for (int i = 0; i < count; i++)
        hand_hook(&records, ETL_TYPE_SYSTEM64, 2, HAND_TICKS + (u64)i, "payload");
}

static etl_buffer load(u32 index)
{
    etl_buffer buffer;
    assert_int_equal(etl_buffer_load(trace, index, &scratch, &diag, &buffer), ETL_OK);
    return buffer;
}

static size_t count_records(etl_buffer buffer)
{
    etl_record record;
    size_t count = 0;
    while (etl_record_next(&buffer, &record))
        count++;
    return count;
}

static void plain_buffers_load_in_place(void **state)
{
    (void)state;
    put_header(ETL_COMPRESSION_XPRESS, HAND_BUFFER_BYTES);
    hand_data_buffer(&file, 3, 1, 5000);
    assert_int_equal(open_file_bytes(), ETL_OK);
    const etl_buffer header = load(0);
    assert_int_equal(count_records(header), 1);
    const etl_buffer buffer = load(1);
    assert_ptr_equal(buffer.base, memory.at + HAND_BUFFER_BYTES);
    assert_int_equal(buffer.at, 72);
    assert_int_equal(buffer.end, 72 + 40);
    assert_int_equal(buffer.cpu, 3);
    assert_int_equal(buffer.session, 0);
    assert_int_equal(buffer.file_offset, HAND_BUFFER_BYTES);
    assert_int_equal(count_records(buffer), 1);
    assert_null(scratch.bytes);
}

static void compressed_buffers_load_as_they_were(void **state)
{
    (void)state;
    void (*const puts[])(hand_bytes *) = { put_xpress, put_xpress_huffman };
    const u32 formats[] = { ETL_COMPRESSION_XPRESS, 0x0100 | ETL_COMPRESSION_XPRESS_HUFF };
    for (size_t i = 0; i < ETL_COUNT_OF(puts); i++) {
        hand_free(&file);
        put_header(formats[i], 65536);
        records.size = 0;
        put_records(300);
        put_compressed(puts[i], 1);
        put_compressed(puts[i], 2);
        assert_int_equal(open_file_bytes(), ETL_OK);
        assert_int_equal(etl_buffer_count(trace), 3);
        for (u32 index = 1; index <= 2; index++) {
            const etl_buffer buffer = load(index);
            assert_int_equal(buffer.end, 72 + records.size);
            assert_memory_equal(buffer.base + 72, records.at, records.size);
            assert_memory_equal(buffer.base, memory.at + buffer.file_offset, 72);
            assert_int_equal(buffer.cpu, 2);
            assert_int_equal(count_records(buffer), 300);
        }
        assert_int_equal(diag.of[ETL_DIAG_buffer_compression_invalid], 0);
    }
}

static void the_scratch_grows_with_the_buffers(void **state)
{
    (void)state;
    put_header(ETL_COMPRESSION_XPRESS, 1 << 20);
    put_records(3);
    put_compressed(put_xpress, 1);
    put_records(8000);
    put_compressed(put_xpress, 2);
    assert_int_equal(open_file_bytes(), ETL_OK);
    assert_int_equal(count_records(load(1)), 3);
    assert_int_equal(count_records(load(2)), 8003);
    assert_int_equal(count_records(load(1)), 3);
}

static void other_format_numbers_are_believed_when_xpress_fits(void **state)
{
    (void)state;
    put_header(0, 65536);
    put_records(10);
    put_compressed(put_xpress, 1);
    put_compressed(put_xpress_huffman, 2);
    assert_int_equal(open_file_bytes(), ETL_OK);
    assert_int_equal(count_records(load(1)), 10);
    assert_int_equal(diag.of[ETL_DIAG_buffer_compression_unsupported], 0);
    assert_int_equal(count_records(load(2)), 0);
    assert_int_equal(diag.of[ETL_DIAG_buffer_compression_unsupported], 1);
    assert_int_equal(diag.of[ETL_DIAG_buffer_compression_invalid], 0);
}

static void lznt1_is_unsupported(void **state)
{
    (void)state;
    put_header(ETL_COMPRESSION_LZNT1, 65536);
    put_records(10);
    put_compressed(put_xpress, 1);
    assert_int_equal(open_file_bytes(), ETL_OK);
    assert_int_equal(count_records(load(1)), 0);
    assert_int_equal(diag.of[ETL_DIAG_buffer_compression_unsupported], 1);
}

static void a_damaged_stream_gives_the_records_before_the_damage(void **state)
{
    (void)state;
    put_header(ETL_COMPRESSION_XPRESS, 65536);
    put_records(100);
    put_compressed(put_xpress, 1);
    hand_set_u32(&file, HAND_BUFFER_BYTES + 72 + 36 * 50, UINT32_MAX); /* 50 * 32 bytes on */
    assert_int_equal(open_file_bytes(), ETL_OK);
    const etl_buffer buffer = load(1);
    assert_true(count_records(buffer) >= 40 && count_records(buffer) < 100);
    assert_memory_equal(buffer.base + 72, records.at, 1600);
    assert_int_equal(diag.of[ETL_DIAG_buffer_compression_invalid], 1);
}

static void a_cut_off_stream_gives_its_complete_records(void **state)
{
    (void)state;
    put_header(ETL_COMPRESSION_XPRESS, 65536);
    put_records(20);
    put_compressed(put_xpress, 1);
    const size_t whole = file.size;
    size_t previous = 0;
    for (file.size = HAND_BUFFER_BYTES + 72; file.size < whole; file.size++) {
        assert_int_equal(open_file_bytes(), ETL_OK);
        memset(&diag, 0, sizeof diag);
        const size_t found = count_records(load(1));
        assert_true(found == previous || found == previous + 1);
        assert_int_equal(diag.of[ETL_DIAG_buffer_compression_invalid], 1);
        previous = found;
    }
    assert_int_equal(previous, 20); /* the last byte only pads the last record */
}

/* A match of 3 bytes where the stated size leaves room for one. */
static void a_stream_longer_than_stated_is_cut_and_counted(void **state)
{
    (void)state;
    put_header(ETL_COMPRESSION_XPRESS, 65536);
    put_records(3);
    put_compressed(put_xpress, 1);
    hand_set_u32(&file, HAND_BUFFER_BYTES + 0x30, 72 + 80);
    hand_set_u32(&file, HAND_BUFFER_BYTES + 72 + 36 * 2, 0x0001ffff);
    hand_set_u16(&file, HAND_BUFFER_BYTES + 72 + 36 * 2 + 4 + 15, 0);
    assert_int_equal(open_file_bytes(), ETL_OK);
    assert_int_equal(count_records(load(1)), 2);
    assert_int_equal(diag.of[ETL_DIAG_buffer_compression_invalid], 1);
}

static void buffers_without_records_load_as_empty(void **state)
{
    (void)state;
    const u16 with_records = 1 << ETL_BUFFER_TYPE_GENERIC | 1 << ETL_BUFFER_TYPE_RUNDOWN |
                             1 << ETL_BUFFER_TYPE_CTX_SWAP | 1 << ETL_BUFFER_TYPE_HEADER |
                             1 << ETL_BUFFER_TYPE_BATCHED;
    for (unsigned type = 0; type < 10; type++) {
        hand_free(&file);
        put_header(ETL_COMPRESSION_XPRESS, HAND_BUFFER_BYTES);
        hand_data_buffer(&file, 0, 1, 5000);
        hand_set_u16(&file, HAND_BUFFER_BYTES + 0x36, type);
        assert_int_equal(open_file_bytes(), ETL_OK);
        assert_int_equal(count_records(load(1)), with_records >> type & 1);
        i64 ticks = 0;
        assert_int_equal(etl_buffer_first_ticks(trace, 1, &ticks), with_records >> type & 1);
    }
}

static void without_buffers_per_cpu_records_have_none(void **state)
{
    (void)state;
    hand_log_header facts = hand_header();
    facts.mode = ETL_MODE_NO_PER_PROCESSOR_BUFFERING;
    hand_header_buffer(&file, &facts, ETL_COMPRESSION_XPRESS);
    hand_data_buffer(&file, 0, 1, 5000);
    assert_int_equal(open_file_bytes(), ETL_OK);
    etl_buffer buffer = load(1);
    etl_record record;
    assert_true(etl_record_next(&buffer, &record));
    assert_int_equal(record.cpu, -1);
}

static void first_records_without_time_inherit_the_next(void **state)
{
    (void)state;
    put_header(ETL_COMPRESSION_XPRESS, HAND_BUFFER_BYTES);
    hand_message(&records, 0, "", 0);
    hand_hook(&records, ETL_TYPE_SYSTEM64, 2, 5000, "");
    hand_put_buffer(&file, &(hand_buffer){ .sequence = 1 }, &records);
    records.size = 0;
    hand_message(&records, 0, "", 0);
    hand_put_buffer(&file, &(hand_buffer){ .sequence = 2 }, &records);
    assert_int_equal(open_file_bytes(), ETL_OK);
    etl_record record;
    etl_buffer buffer = load(1);
    assert_true(etl_record_next(&buffer, &record));
    assert_true(record.ticks == 5000);
    buffer = load(2);
    assert_true(etl_record_next(&buffer, &record));
    assert_true(record.ticks == 1000); /* that of the header: nothing else is known */
    assert_int_equal(diag.of[ETL_DIAG_time_backwards], 0);
}

static void assert_first_ticks(u32 index, i64 expected)
{
    i64 ticks = 0;
    assert_true(etl_buffer_first_ticks(trace, index, &ticks));
    assert_true(ticks == expected);
}

static void the_first_time_of_a_buffer_is_found(void **state)
{
    (void)state;
    put_header(ETL_COMPRESSION_XPRESS, 65536);
    hand_data_buffer(&file, 0, 1, 5000);
    hand_put_buffer(&file, &(hand_buffer){ .sequence = 2 }, NULL);
    put_records(300);
    put_compressed(put_xpress, 3);
    records.size = 0;
    for (int i = 0; i < 1000; i++)
        hand_message(&records, 0, "", 0); /* the first time lies behind any prefix */
    put_records(1);
    put_compressed(put_xpress, 4);
    records.size = 8000;
    put_compressed(put_xpress, 5);
    assert_int_equal(open_file_bytes(), ETL_OK);
    assert_int_equal(etl_buffer_count(trace), 6);
    assert_first_ticks(0, 1000);
    assert_first_ticks(1, 5000);
    assert_first_ticks(3, HAND_TICKS);
    assert_first_ticks(4, HAND_TICKS);
    i64 ticks = 77;
    assert_false(etl_buffer_first_ticks(trace, 2, &ticks));
    assert_false(etl_buffer_first_ticks(trace, 5, &ticks));
    assert_true(ticks == 77);
}

/* A look at the beginning must not find what loading the buffer does not give. */
static void there_is_no_first_time_where_nothing_loads(void **state)
{
    (void)state;
    const u32 formats[] = { ETL_COMPRESSION_XPRESS, 0 };
    for (size_t i = 0; i < ETL_COUNT_OF(formats); i++) {
        hand_free(&file);
        put_header(formats[i], 65536);
        records.size = 0;
        put_records(300);
        put_compressed(put_xpress, 1);
        if (formats[i] == 0)
            file.size -= 100;
        else
            hand_set_u16(&file, HAND_BUFFER_BYTES + 0x36, ETL_BUFFER_TYPE_REFTIME);
        assert_int_equal(open_file_bytes(), ETL_OK);
        i64 ticks;
        assert_int_equal(count_records(load(1)), 0);
        assert_false(etl_buffer_first_ticks(trace, 1, &ticks));
    }
}

static void random_damage_never_leaves_the_file(void **state)
{
    (void)state;
    put_header(ETL_COMPRESSION_XPRESS, 65536);
    hand_data_buffer(&file, 0, 1, 5000);
    put_records(40);
    put_compressed(put_xpress, 2);
    put_compressed(put_xpress, 3);
    u64 random = 23;
    for (int round = 0; round < 3000; round++) {
        const size_t at = hand_random(&random) % file.size;
        const u8 saved = file.at[at];
        file.at[at] = (u8)hand_random(&random);
        if (open_file_bytes() == ETL_OK)
            for (u32 i = 0; i < etl_buffer_count(trace); i++) {
                i64 ticks;
                (void)count_records(load(i));
                (void)etl_buffer_first_ticks(trace, i, &ticks);
            }
        file.at[at] = saved;
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin_test, end_test)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(plain_buffers_load_in_place),
        TEST(compressed_buffers_load_as_they_were),
        TEST(the_scratch_grows_with_the_buffers),
        TEST(other_format_numbers_are_believed_when_xpress_fits),
        TEST(lznt1_is_unsupported),
        TEST(a_damaged_stream_gives_the_records_before_the_damage),
        TEST(a_cut_off_stream_gives_its_complete_records),
        TEST(a_stream_longer_than_stated_is_cut_and_counted),
        TEST(buffers_without_records_load_as_empty),
        TEST(without_buffers_per_cpu_records_have_none),
        TEST(first_records_without_time_inherit_the_next),
        TEST(the_first_time_of_a_buffer_is_found),
        TEST(there_is_no_first_time_where_nothing_loads),
        TEST(random_damage_never_leaves_the_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
