/*
 * Goal: what is no ETL file is refused with a sentence that helps, and what is one
 * opens the same way mapped, read and in memory.
 * Method: files put together by hand, in memory that ends with them or written to
 * a temporary file.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <unistd.h>

#include "hand_trace.h"
#include "tests/support/temporary.h"
#include "parser/system/map.h"

static hand_bytes file;
static hand_guarded memory;
static etl_trace *trace;
static char path[TEMPORARY_PATH_BYTES];

static int begin_test(void **state)
{
    (void)state;
    trace = NULL;
    return 0;
}

static int end_test(void **state)
{
    (void)state;
    etl_close(trace);
    if (memory.pages)
        hand_unguard(&memory);
    hand_free(&file);
    return 0;
}

static etl_status open_file_bytes(etl_error *err)
{
    etl_close(trace);
    if (memory.pages)
        hand_unguard(&memory);
    memory = hand_guard_bytes(hand_view(&file), HAND_AT_END);
    return etl_open_memory((etl_bytes){ memory.at, memory.size }, NULL, &trace, err);
}

static void put_header(void)
{
    const hand_log_header facts = hand_header();
    hand_header_buffer(&file, &facts, ETL_COMPRESSION_XPRESS);
}

static size_t count_records(u32 index)
{
    etl_scratch scratch = { 0 };
    etl_diag_counts diag = { { 0 } };
    etl_buffer buffer;
    etl_record record;
    size_t count = 0;
    assert_int_equal(etl_buffer_load(trace, index, &scratch, &diag, &buffer), ETL_OK);
    while (etl_record_next(&buffer, &record))
        count++;
    return count;
}

static void assert_refused(etl_status expected, const char *phrase)
{
    etl_error err = { 0 };
    const etl_status status = open_file_bytes(&err);
    assert_int_equal(status, expected);
    assert_int_equal(err.status, expected);
    assert_null(trace);
    if (!strstr(err.message, phrase))
        fail_msg("\"%s\" does not say \"%s\"", err.message, phrase);
    /* The start alone says the same. */
    etl_error early = { 0 };
    assert_int_equal(etl_check_start((etl_bytes){ memory.at, memory.size }, &early), expected);
    assert_int_equal(early.status, expected);
    assert_string_equal(early.message, err.message);
}

static void assert_bytes_refused(const void *bytes, size_t size, const char *phrase)
{
    hand_free(&file);
    hand_put(&file, bytes, size);
    hand_fill(&file, 0x01, 200);
    assert_refused(ETL_ERR_NOT_ETL, phrase);
}

static void other_files_are_named(void **state)
{
    (void)state;
    assert_bytes_refused("PK\3\4", 4, "zip");
    assert_bytes_refused("MZ\x90", 3, "program");
    assert_bytes_refused("\x28\xb5\x2f\xfd", 4, "zstd");
    assert_bytes_refused("\x1f\x8b\x08", 3, "gzip");
    assert_bytes_refused("Microsoft C/C++ MSF 7.00\r\n", 26, "PDB");
    assert_bytes_refused("ElfFile\0", 8, "event log");
    assert_bytes_refused("\xff\xfeH\0i\0", 6, "UTF-16");
    assert_bytes_refused("\x12\x34\x56\x78", 4, "no log-file header at 0x48");
}

static void text_is_told_from_other_bytes(void **state)
{
    (void)state;
    const char *const line = "Name;Size\tCaf\xc3\xa9\r\n";
    for (int i = 0; i < 20; i++)
        hand_put(&file, line, strlen(line));
    assert_refused(ETL_ERR_NOT_ETL, "looks like text");
    const u8 controls[] = { 0x02, 0x7f };
    for (size_t i = 0; i < ETL_COUNT_OF(controls); i++) {
        file.at[5] = controls[i];
        assert_refused(ETL_ERR_NOT_ETL, "no log-file header");
    }
}

static void empty_and_short_files_are_named(void **state)
{
    (void)state;
    assert_refused(ETL_ERR_NOT_ETL, "empty");
    hand_fill(&file, 0, 1000);
    assert_refused(ETL_ERR_NOT_ETL, "zero bytes");
    hand_free(&file);
    hand_fill(&file, 1, 71);
    assert_refused(ETL_ERR_NOT_ETL, "too short");
    hand_fill(&file, 1, 32);
    assert_refused(ETL_ERR_NOT_ETL, "ends before the log-file header");
    hand_free(&file);
    hand_put(&file, "PK\3", 3); /* a zip archive has one byte more */
    assert_refused(ETL_ERR_NOT_ETL, "too short");
}

static void a_log_file_header_that_is_cut_off_is_damage(void **state)
{
    (void)state;
    put_header();
    file.size = 200;
    assert_refused(ETL_ERR_CORRUPT, "cut off");
    hand_set_u16(&file, 72 + 4, 100);
    file.size = HAND_BUFFER_BYTES;
    assert_refused(ETL_ERR_CORRUPT, "cut off");
}

static void files_from_before_vista_are_unsupported(void **state)
{
    (void)state;
    hand_log_header facts = hand_header();
    facts.version = 1;
    hand_header_buffer(&file, &facts, 0);
    assert_refused(ETL_ERR_UNSUPPORTED, "Vista");
    hand_free(&file);
    facts.version = 2;
    facts.os_major = 5;
    hand_header_buffer(&file, &facts, 0);
    assert_refused(ETL_ERR_UNSUPPORTED, "5.1");
}

static void other_first_records_are_no_log_file_header(void **state)
{
    (void)state;
    const size_t fields[] = { 72 + 2, 72 + 3, 72 + 6, 72 + 7 };
    for (size_t i = 0; i < ETL_COUNT_OF(fields); i++) {
        hand_free(&file);
        put_header();
        assert_int_equal(open_file_bytes(NULL), ETL_OK);
        file.at[fields[i]] = 0x13;
        assert_refused(ETL_ERR_NOT_ETL, "no log-file header");
    }
    hand_free(&file);
    put_header();
    hand_set_u16(&file, 72 + 4, 31);
    assert_refused(ETL_ERR_NOT_ETL, "no log-file header");
}

static void a_trace_is_known_by_its_start(void **state)
{
    (void)state;
    put_header();
    hand_data_buffer(&file, 1, 1, 5000);
    const u64 record_bytes = etl_load_u16(file.at + 72 + 4);
    assert_int_equal(etl_check_start(hand_view(&file), NULL), ETL_OK);
    assert_int_equal(etl_check_start((etl_bytes){ file.at, 72 + record_bytes }, NULL), ETL_OK);
    assert_true(72 + record_bytes <= ETL_START_BYTES);
}

static void missing_files_and_folders_are_named(void **state)
{
    (void)state;
    etl_error err = { 0 };
    assert_int_equal(etl_open("/nonexistent/file.etl", NULL, &trace, &err), ETL_ERR_IO);
    assert_non_null(strstr(err.message, "No such file"));
    assert_null(trace);
    assert_int_equal(etl_open("/", NULL, &trace, &err), ETL_ERR_IO);
    assert_non_null(strstr(err.message, "directory"));
    assert_int_equal(etl_open("/dev/null", NULL, &trace, &err), ETL_ERR_IO);
    assert_non_null(strstr(err.message, "regular"));
    assert_int_equal(etl_open("/", NULL, &trace, NULL), ETL_ERR_IO);
}

/* Writes `file` to a temporary file, which the caller removes. */
static void write_file(void)
{
    const int fd = temporary_file(path, "test_trace");
    assert_true(fd >= 0);
    assert_int_equal(write(fd, file.at, file.size), file.size);
    assert_int_equal(close(fd), 0);
}

static void a_file_opens_the_same_mapped_and_read(void **state)
{
    (void)state;
    put_header();
    hand_data_buffer(&file, 1, 1, 5000);
    write_file();
    for (int read_it = 0; read_it <= 1; read_it++) {
        const etl_open_options options = { .size = sizeof options, .no_mmap = read_it != 0 };
        assert_int_equal(etl_open(path, &options, &trace, NULL), ETL_OK);
        assert_int_equal(etl_file_size(trace), file.size);
        assert_int_equal(etl_buffer_count(trace), 2);
        assert_int_equal(count_records(1), 1);
        etl_close(trace);
        trace = NULL;
    }
    assert_int_equal(unlink(path), 0);
}

static void a_file_is_read_into_memory_only_when_asked(void **state)
{
    (void)state;
    hand_put(&file, "content", 7);
    write_file();
    for (int read_it = 0; read_it <= 1; read_it++) {
        etl_map map;
        assert_int_equal(etl_map_open(path, read_it != 0, &map, NULL), ETL_OK);
        assert_int_equal(map.is_mapped, read_it == 0);
        assert_int_equal(map.bytes.size, 7);
        assert_memory_equal(map.bytes.at, "content", 7);
        etl_map_close(&map);
        assert_null(map.bytes.at);
    }
    assert_int_equal(unlink(path), 0);
}

/* The parser cannot read a store, and names the function that can. */
static void a_store_is_named_as_one(void **state)
{
    static const u8 begin[] = { 0x89, 'E', 'H', 'S', '\r', '\n', 0x1A, '\n', 2, 0, 0, 0 };
    (void)state;
    hand_put(&file, begin, sizeof begin);
    write_file();
    etl_error err = { 0 };
    assert_int_equal(etl_open(path, NULL, &trace, &err), ETL_ERR_NOT_ETL);
    assert_non_null(strstr(err.message, "a store of etlheap (.ehs), which etlheap_open_store"));
    assert_int_equal(unlink(path), 0);
}

static void an_empty_file_is_no_etl_file(void **state)
{
    (void)state;
    write_file();
    etl_error err = { 0 };
    assert_int_equal(etl_open(path, NULL, &trace, &err), ETL_ERR_NOT_ETL);
    assert_non_null(strstr(err.message, "empty"));
    assert_int_equal(unlink(path), 0);
}

static void options_of_another_size_are_refused(void **state)
{
    (void)state;
    const etl_open_options options = { .size = 1 };
    assert_int_equal(etl_open_memory((etl_bytes){ NULL, 0 }, &options, &trace, NULL),
                     ETL_ERR_ARGUMENT);
    assert_int_equal(etl_open("/", &options, &trace, NULL), ETL_ERR_ARGUMENT);
}

static void closing_nothing_is_allowed(void **state)
{
    (void)state;
    etl_close(NULL);
    etl_scratch none = { 0 };
    etl_scratch_free(&none);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin_test, end_test)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(other_files_are_named),
        TEST(text_is_told_from_other_bytes),
        TEST(empty_and_short_files_are_named),
        TEST(a_log_file_header_that_is_cut_off_is_damage),
        TEST(files_from_before_vista_are_unsupported),
        TEST(other_first_records_are_no_log_file_header),
        TEST(missing_files_and_folders_are_named),
        TEST(a_trace_is_known_by_its_start),
        TEST(a_file_opens_the_same_mapped_and_read),
        TEST(a_file_is_read_into_memory_only_when_asked),
        TEST(a_store_is_named_as_one),
        TEST(an_empty_file_is_no_etl_file),
        TEST(options_of_another_size_are_refused),
        TEST(closing_nothing_is_allowed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
