/*
 * Goal: real files of many writers give their known records, byte for byte.
 * Method: numbers of buffers and records and a CRC-32 over all record areas after
 * decompression, in file order, as independent readers found them. The folder of
 * real traces is named by TRACES; without it these tests are skipped.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "parser/etl/layout.h"
#include "parser/parser.h"

typedef struct real_trace {
    const char *name;
    u32 buffers;
    u64 records;
    u64 record_bytes;
    u32 crc32;
} real_trace;

static const real_trace real_traces[] = {
    { "amsi-lost3.etl", 6, 21, 45840, 0x17336ebc },
    { "kernel-shutdown-win10.etl", 49, 17078, 3088984, 0xd86a12c2 },
    { "lxcore.etl", 3, 4, 1192, 0xe09a875d },
    { "tiny-selfdescribing-compressed.etl", 3, 23, 7712, 0x08fca778 },
    { "tiny-32bit-compressed.etl", 2, 2, 1064, 0xabfbf260 },
    { "primitive-types.etl", 2, 7, 2360, 0x943dc2cb },
    { "circular-gcevents.etl", 5, 71, 9816, 0x89ba3392 },
    { "perfview-net452-x64-merged-compressed-stackkeys.etl", 360, 179474, 23016672, 0x67f84a11 },
    { "windowsupdate-newfile-lost41.etl", 7, 82, 23352, 0x6bfd73cb },
    { "waasmedic.etl", 2, 21, 5064, 0xfb614c49 },
    { "cldflt0-wpp-clock2.etl", 2, 17, 1456, 0x074b0c3a },
    { "cldflt1-wpp-clock2.etl", 2, 7, 816, 0x8f20f081 },
    { "cldflt2-live-copy-clock2.etl", 1, 2, 520, 0xcd812b2c },
};

/* The CRC-32 of zlib, half a byte at a time. */
static u32 crc32_add(u32 crc, const u8 *bytes, size_t size)
{
    static const u32 table[16] = { 0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac,
                                   0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
                                   0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
                                   0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c };
    crc = ~crc;
    for (size_t i = 0; i < size; i++) {
        crc = table[(crc ^ bytes[i]) & 15] ^ crc >> 4;
        crc = table[(crc ^ bytes[i] >> 4) & 15] ^ crc >> 4;
    }
    return ~crc;
}

/* Opens a trace of the folder, or skips the test. */
static etl_trace *open_real(const char *name)
{
    const char *const folder = getenv("TRACES");
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/%s", folder ? folder : "../shared/traces", name);
    /* Whether it is there is not for the library to say, which may fail to read it. */
    FILE *const file = fopen(path, "rb");
    if (file == NULL) {
        print_message("%s is not here; set TRACES to the folder of real traces\n", path);
        skip();
    }
    (void)fclose(file);
    etl_trace *trace = NULL;
    assert_int_equal(etl_open(path, NULL, &trace, NULL), ETL_OK);
    return trace;
}

static void assert_trace_is(const etl_trace *trace, const real_trace *expected)
{
    etl_scratch scratch = { 0 };
    etl_diag_counts diag = { { 0 } };
    u64 records = 0;
    u64 record_bytes = 0;
    u32 crc = 0;
    for (u32 i = 0; i < etl_buffer_count(trace); i++) {
        etl_buffer buffer;
        assert_int_equal(etl_buffer_load(trace, i, &scratch, &diag, &buffer), ETL_OK);
        const u32 size = buffer.end - ETL_BUFFER_HEADER_BYTES;
        crc = crc32_add(crc, buffer.base + ETL_BUFFER_HEADER_BYTES, size);
        record_bytes += size;
        etl_record record;
        while (etl_record_next(&buffer, &record))
            records++;
    }
    etl_scratch_free(&scratch);
    assert_int_equal(etl_buffer_count(trace), expected->buffers);
    assert_int_equal(records, expected->records);
    assert_int_equal(record_bytes, expected->record_bytes);
    assert_int_equal(crc, expected->crc32);
    for (int i = 0; i < ETL_DIAG_COUNT; i++)
        assert_int_equal(diag.of[i], 0);
}

static void records_are_those_other_readers_found(void **state)
{
    (void)state;
    for (size_t i = 0; i < ETL_COUNT_OF(real_traces); i++) {
        etl_trace *const trace = open_real(real_traces[i].name);
        assert_trace_is(trace, &real_traces[i]);
        etl_close(trace);
    }
}

static void first_times_are_those_of_the_loaded_buffers(void **state)
{
    (void)state;
    for (size_t i = 0; i < ETL_COUNT_OF(real_traces); i++) {
        etl_trace *const trace = open_real(real_traces[i].name);
        etl_scratch scratch = { 0 };
        etl_diag_counts diag = { { 0 } };
        for (u32 k = 0; k < etl_buffer_count(trace); k++) {
            etl_buffer buffer;
            etl_record record;
            assert_int_equal(etl_buffer_load(trace, k, &scratch, &diag, &buffer), ETL_OK);
            i64 ticks = 0;
            assert_true(etl_buffer_first_ticks(trace, k, &ticks));
            assert_true(etl_record_next(&buffer, &record) && record.ticks == ticks);
        }
        etl_scratch_free(&scratch);
        etl_close(trace);
    }
}

/* StartTime and a data record of this file are known from another reader: the
 * record is 28.484 ms after the header, on cpu 7. */
static void times_are_those_another_reader_printed(void **state)
{
    (void)state;
    etl_trace *const trace = open_real("perfview-net452-x64-merged-compressed-stackkeys.etl");
    const etl_session *const session = etl_session_of(trace, 0);
    assert_true(session->start_time_filetime == 132404548206236167);
    etl_scratch scratch = { 0 };
    etl_diag_counts diag = { { 0 } };
    etl_buffer buffer;
    etl_record record;
    assert_int_equal(etl_buffer_load(trace, 1, &scratch, &diag, &buffer), ETL_OK);
    assert_true(etl_record_next(&buffer, &record));
    assert_int_equal(record.cpu, 7);
    assert_int_equal(record.hook, 0x0005);
    assert_int_equal(etl_time_ns(session, record.ticks), 28483700);
    etl_scratch_free(&scratch);
    etl_close(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_are_those_other_readers_found),
        cmocka_unit_test(first_times_are_those_of_the_loaded_buffers),
        cmocka_unit_test(times_are_those_another_reader_printed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
