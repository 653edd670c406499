/*
 * Goal: fields are written as the wire format of protocol buffers has them, and a gzip
 * stream gives back what was put in.
 * Method: the examples of the format's description, and edge values; bytes of all
 * sizes are inflated again by zlib.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>
#include <cmocka.h>

#include "tests/support/capture.h"
#include "tests/support/engine_check.h"
#include "formats/io/gzip.h"
#include "formats/export/protobuf.h"

#define ASSERT_BYTES(text, wanted)                                                                 \
    do {                                                                                           \
        assert_int_equal((text).size, sizeof(wanted) - 1);                                         \
        assert_memory_equal(etlheap_text_of(&(text)), wanted, sizeof(wanted) - 1);                 \
        etlheap_text_free(&(text));                                                                \
    } while (0)

static void varint_is_seven_bits_a_byte_lowest_first(void **state)
{
    etlheap_text text = { 0 };
    (void)state;
    etlheap_protobuf_varint(&text, 0);
    etlheap_protobuf_varint(&text, 127);
    etlheap_protobuf_varint(&text, 128);
    etlheap_protobuf_varint(&text, 150);
    etlheap_protobuf_varint(&text, UINT64_MAX);
    ASSERT_BYTES(text, "\x00\x7f\x80\x01\x96\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
}

static void number_has_its_field_before_it(void **state)
{
    etlheap_text text = { 0 };
    (void)state;
    etlheap_protobuf_number(&text, 1, 150);
    etlheap_protobuf_number(&text, 16, 1);
    ASSERT_BYTES(text, "\x08\x96\x01\x80\x01\x01");
}

static void number_0_is_left_out(void **state)
{
    etlheap_text text = { 0 };
    (void)state;
    etlheap_protobuf_number(&text, 1, 0);
    assert_int_equal(text.size, 0);
    etlheap_text_free(&text);
}

static void a_number_that_must_be_there_is_written_even_if_0(void **state)
{
    etlheap_text text = { 0 };
    (void)state;
    etlheap_protobuf_present(&text, 8, 0);
    assert_int_equal(text.size, 2);
    assert_memory_equal(text.bytes, "\x40\x00", 2);
    etlheap_text_free(&text);
}

static void bytes_have_their_length_before_them(void **state)
{
    etlheap_text text = { 0 };
    (void)state;
    etlheap_protobuf_bytes(&text, 2, (etl_bytes){ (const u8 *)"testing", 7 });
    ASSERT_BYTES(text, "\x12\x07testing");
}

static void no_bytes_are_a_member_too(void **state)
{
    etlheap_text text = { 0 };
    (void)state;
    etlheap_protobuf_bytes(&text, 6, (etl_bytes){ NULL, 0 });
    ASSERT_BYTES(text, "\x32\x00");
}

/* What comes out of inflating what was captured; fails the test if it is not whole. */
static size_t inflate_all(const capture *captured, u8 *out, size_t capacity)
{
    const off_t size = lseek(captured->descriptor, 0, SEEK_END);
    z_stream stream = { 0 };
    assert_int_equal(inflateInit2(&stream, 31), Z_OK);
    stream.next_in = (Bytef *)captured->text;
    stream.avail_in = (uInt)size;
    stream.next_out = out;
    stream.avail_out = (uInt)capacity;
    assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
    assert_int_equal(stream.avail_in, 0);
    const size_t found = stream.total_out;
    (void)inflateEnd(&stream);
    return found;
}

static void check_gzip(size_t size, size_t piece, bool is_random)
{
    u8 *const in = malloc(size + 1);
    u8 *const out = malloc(size + 1);
    capture captured;
    u64 seed = 1;
    assert_non_null(in);
    assert_non_null(out);
    for (size_t i = 0; i < size; i++)
        in[i] = is_random ? (u8)engine_check_random(&seed, 256) : (u8)(i / 1000);
    capture_open(&captured);
    etlheap_gzip *const gzip = etlheap_gzip_open(captured.sink);
    assert_non_null(gzip);
    for (size_t at = 0; at < size; at += piece)
        etlheap_gzip_write(gzip, in + at, size - at < piece ? size - at : piece);
    etlheap_gzip_close(gzip);
    (void)capture_text(&captured);
    assert_int_equal(inflate_all(&captured, out, size + 1), size);
    assert_memory_equal(in, out, size);
    capture_close(&captured);
    free(in);
    free(out);
}

static void gzip_gives_back_what_was_put_in(void **state)
{
    (void)state;
    check_gzip(0, 1, false);
    check_gzip(1, 1, false);
    check_gzip(100000, 7, false);
    check_gzip(3000000, 3000000, true);
    check_gzip(1000000, 4093, true);
}

static void gzip_has_no_time_in_it(void **state)
{
    capture captured;
    (void)state;
    capture_open(&captured);
    etlheap_gzip_close(etlheap_gzip_open(captured.sink));
    assert_memory_equal(capture_text(&captured), "\x1f\x8b\x08\0\0\0\0\0", 8);
    capture_close(&captured);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(varint_is_seven_bits_a_byte_lowest_first),
        cmocka_unit_test(number_has_its_field_before_it),
        cmocka_unit_test(number_0_is_left_out),
        cmocka_unit_test(a_number_that_must_be_there_is_written_even_if_0),
        cmocka_unit_test(bytes_have_their_length_before_them),
        cmocka_unit_test(no_bytes_are_a_member_too),
        cmocka_unit_test(gzip_gives_back_what_was_put_in),
        cmocka_unit_test(gzip_has_no_time_in_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
