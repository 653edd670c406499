/*
 * Goal: traces come out of zip files whole, and zips that lie, are damaged or
 * hold no trace are refused with nothing left behind.
 * Method: zips made with libzip in a folder of the test, some with bytes of
 * their directory changed; extraction goes to a second folder that is listed. Members
 * begin with a trace and go on as bytes that a copy is recognised by.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/build/etl_build.h"
#include "tests/support/temporary.h"
#include "formats/formats.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <zip.h>

#define PATH_SIZE   (2 * TEMPORARY_PATH_BYTES)
#define FILE_BYTES  100000
#define CENTRAL_SIG "PK\x01\x02"

typedef struct fixture {
    char folder[TEMPORARY_PATH_BYTES]; /* of temporary files */
    char zip[PATH_SIZE];
} fixture;

static int set_up(void **state)
{
    fixture *const f = calloc(1, sizeof *f);
    if (!f)
        return -1;
    if (!temporary_subfolder(f->folder, "etlheap-zip"))
        return -1;
    snprintf(f->zip, sizeof f->zip, "%s.zip", f->folder);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *const f = *state;
    unlink(f->zip);
    const int left = rmdir(f->folder); /* fails when a file was left behind */
    free(f);
    return left;
}

/* FILE_BYTES that begin like a trace. */
static const u8 *content(void)
{
    static u8 bytes[FILE_BYTES];
    static bool is_made;
    if (is_made)
        return bytes;
    size_t size = 0;
    etl_build *const b = etl_build_new(&(etl_build_options){ .cpus = 1 });
    assert_true(etl_build_finish(b));
    const u8 *const trace = etl_build_data(b, &size);
    is_made = true;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = i < size ? trace[i] : (u8)(i * 7 + i / 1000);
    etl_build_free(b);
    return bytes;
}

static void add_member(zip_t *zip, const char *name, const void *bytes, size_t size, i32 method)
{
    zip_source_t *const source = zip_source_buffer(zip, bytes, size, 0);
    assert_non_null(source);
    const zip_int64_t at = zip_file_add(zip, name, source, ZIP_FL_ENC_UTF_8);
    assert_true(at >= 0);
    assert_int_equal(zip_set_file_compression(zip, (zip_uint64_t)at, method, 0), 0);
}

static zip_t *begin_zip(const fixture *f)
{
    int code = 0;
    zip_t *const zip = zip_open(f->zip, ZIP_CREATE | ZIP_TRUNCATE, &code);
    assert_non_null(zip);
    return zip;
}

/* A zip with one member of FILE_BYTES for each name; NULL ends the names. */
static void make_zip(const fixture *f, const char *const *names)
{
    zip_t *const zip = begin_zip(f);
    for (; *names; names++)
        add_member(zip, *names, content(), FILE_BYTES, ZIP_CM_DEFLATE);
    assert_int_equal(zip_close(zip), 0);
}

static etl_status extract(const fixture *f, etlheap_unpacked **zip, etl_error *err)
{
    const etlheap_unpack_options options = { .size = sizeof options, .folder = f->folder };
    return etlheap_unpack(f->zip, &options, zip, err);
}

static void expect_refused(const fixture *f, etl_status status, const char *word)
{
    etlheap_unpacked *zip = NULL;
    etl_error err = { .status = ETL_OK };
    assert_int_equal(extract(f, &zip, &err), status);
    print_message("  %s\n", err.message);
    assert_null(zip);
    assert_non_null(strstr(err.message, word));
}

/* Writes a u32 at an offset from the first central directory entry. */
static void patch_directory(const fixture *f, size_t offset, u32 value)
{
    FILE *const file = fopen(f->zip, "r+");
    char bytes[4096];
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    const long size = ftell(file);
    const long from = size > (long)sizeof bytes ? size - (long)sizeof bytes : 0;
    fseek(file, from, SEEK_SET);
    const size_t got = fread(bytes, 1, sizeof bytes, file);
    size_t at = 0;
    while (at + 4 < got && memcmp(bytes + at, CENTRAL_SIG, 4) != 0)
        at++;
    assert_true(at + 4 < got);
    fseek(file, from + (long)(at + offset), SEEK_SET);
    assert_true(fwrite(&value, 1, sizeof value, file) == sizeof value);
    fclose(file);
}

static void a_member_comes_out_whole(void **state)
{
    const fixture *const f = *state;
    static const char *const names[] = { "readme.txt", "traces/App.ETL", NULL };
    etlheap_unpacked *zip;
    etl_error err;
    make_zip(f, names);
    assert_true(etlheap_is_packed(f->zip));
    assert_int_equal(extract(f, &zip, &err), ETL_OK);
    assert_int_equal(etlheap_unpacked_count(zip), 1);
    const etlheap_unpacked_member member = etlheap_unpacked_member_of(zip, 0);
    assert_string_equal(member.name, "traces/App.ETL");
    FILE *const file = fopen(member.path, "r");
    assert_non_null(file);
    for (size_t i = 0; i < FILE_BYTES; i++)
        assert_int_equal(fgetc(file), content()[i]);
    assert_int_equal(fgetc(file), EOF);
    fclose(file);
    etlheap_unpacked_close(zip);
}

static void several_members_are_files_of_one_recording(void **state)
{
    const fixture *const f = *state;
    static const char *const names[] = { "app.kernel.etl",     "app.etl",  "._app.etl",
                                         "__MACOSX/._app.etl", "app.etlx", NULL };
    etlheap_unpacked *zip;
    make_zip(f, names);
    assert_int_equal(extract(f, &zip, NULL), ETL_OK);
    assert_int_equal(etlheap_unpacked_count(zip), 2);
    assert_string_equal(etlheap_unpacked_member_of(zip, 0).name, "app.kernel.etl");
    assert_string_equal(etlheap_unpacked_member_of(zip, 1).name, "app.etl");
    assert_null(etlheap_unpacked_member_of(zip, 2).name);
    assert_null(etlheap_unpacked_member_of(zip, UINT32_MAX).path);
    etlheap_unpacked_close(zip);
}

static void a_zip_without_a_trace_is_refused(void **state)
{
    static const char *const names[] = { "readme.txt", ".etl", NULL };
    make_zip(*state, names);
    expect_refused(*state, ETL_ERR_NOT_ETL, "no .etl file");
}

/* Bytes that this process has read from files so far, as the system counts them; 0
 * where it does not. */
static u64 bytes_read(void)
{
    u64 count = 0;
    FILE *const file = fopen("/proc/self/io", "r");
    if (!file || fscanf(file, "rchar: %" SCNu64, &count) != 1)
        count = 0;
    if (file)
        fclose(file);
    return count;
}

static bool count_bytes(void *user, u64 done_bytes, u64 total_bytes)
{
    (void)total_bytes;
    *(u64 *)user = done_bytes;
    return true;
}

/* Refused with nothing unpacked and next to nothing read. */
static void expect_refused_at_once(const fixture *f, const char *word)
{
    u64 unpacked = 0;
    const etlheap_unpack_options options = { .size = sizeof options,
                                             .folder = f->folder,
                                             .progress = count_bytes,
                                             .progress_user = &unpacked };
    etlheap_unpacked *zip = NULL;
    etl_error err = { .status = ETL_OK };
    const u64 before = bytes_read();
    assert_int_equal(etlheap_unpack(f->zip, &options, &zip, &err), ETL_ERR_NOT_ETL);
    const u64 read_bytes = bytes_read() - before;
    print_message("  %s; %" PRIu64 " bytes read\n", err.message, read_bytes);
    assert_null(zip);
    assert_non_null(strstr(err.message, word));
    assert_int_equal(unpacked, 0);
    assert_true(read_bytes < 4 * ETL_START_BYTES);
}

static void a_member_that_is_no_trace_is_refused_by_its_first_bytes(void **state)
{
    const fixture *const f = *state;
    const size_t size = (size_t)32 << 20;
    u8 *const zeros = calloc(size, 1);
    assert_non_null(zeros);
    static const i32 methods[] = { ZIP_CM_DEFLATE, ZIP_CM_STORE };
    for (size_t i = 0; i < ETL_COUNT_OF(methods); i++) {
        zip_t *const zip = begin_zip(f);
        add_member(zip, "zeros.etl", zeros, size, methods[i]);
        assert_int_equal(zip_close(zip), 0);
        expect_refused_at_once(f, "zeros.etl in the zip: not an ETL trace: it looks like zero");
    }
    free(zeros);
}

/* Not only after the members before it were unpacked. */
static void members_are_looked_at_before_any_is_unpacked(void **state)
{
    static const char text[] = "all of this is text, and so it is no trace of any kind, however "
                               "long it is made to be by one who writes it";
    static const struct {
        const char *bytes;
        size_t size;
        const char *word;
    } rows[] = {
        { text, sizeof text - 1, "last.etl in the zip: not an ETL trace: it looks like text" },
        { text, 20, "last.etl in the zip: not an ETL trace: it looks like text" },
        { text, 0, "last.etl in the zip: the file is empty" },
    };
    for (size_t i = 0; i < ETL_COUNT_OF(rows); i++) {
        zip_t *const zip = begin_zip(*state);
        add_member(zip, "first.etl", content(), FILE_BYTES, ZIP_CM_DEFLATE);
        add_member(zip, "last.etl", rows[i].bytes, rows[i].size, ZIP_CM_DEFLATE);
        assert_int_equal(zip_close(zip), 0);
        expect_refused_at_once(*state, rows[i].word);
    }
}

static void a_member_longer_than_stated_is_refused(void **state)
{
    static const char *const names[] = { "app.etl", NULL };
    make_zip(*state, names);
    patch_directory(*state, 24, 1000); /* uncompressed size */
    expect_refused(*state, ETL_ERR_CORRUPT, "app.etl");
}

static void a_member_shorter_than_stated_is_refused(void **state)
{
    static const char *const names[] = { "app.etl", NULL };
    make_zip(*state, names);
    patch_directory(*state, 24, FILE_BYTES + 1);
    expect_refused(*state, ETL_ERR_CORRUPT, "app.etl");
}

static void a_member_with_a_wrong_checksum_is_refused(void **state)
{
    static const char *const names[] = { "app.etl", NULL };
    make_zip(*state, names);
    patch_directory(*state, 16, 0x12345678);
    expect_refused(*state, ETL_ERR_CORRUPT, "app.etl");
}

static void a_cut_zip_is_refused(void **state)
{
    const fixture *const f = *state;
    static const char *const names[] = { "app.etl", NULL };
    make_zip(f, names);
    assert_int_equal(truncate(f->zip, 300), 0);
    expect_refused(f, ETL_ERR_CORRUPT, "cannot open the zip");
}

static void the_room_and_the_limit_are_checked_before_writing(void **state)
{
    const fixture *const f = *state;
    static const char *const names[] = { "app.etl", NULL };
    etlheap_unpack_options options = { .size = sizeof options, .folder = f->folder };
    etlheap_unpacked *zip;
    etl_error err;
    make_zip(f, names);
    options.member_bytes_max = FILE_BYTES - 1;
    assert_int_equal(etlheap_unpack(f->zip, &options, &zip, &err), ETL_ERR_LIMIT);
    options.member_bytes_max = FILE_BYTES;
    assert_int_equal(etlheap_unpack(f->zip, &options, &zip, &err), ETL_OK);
    etlheap_unpacked_close(zip);
    options.folder = "/nonexistent";
    assert_int_equal(etlheap_unpack(f->zip, &options, &zip, &err), ETL_ERR_IO);
    assert_non_null(strstr(err.message, "TMPDIR"));
}

static bool cancel(void *user, u64 done_bytes, u64 total_bytes)
{
    u64 *const calls = user;
    (*calls)++;
    assert_true(done_bytes > 0 && done_bytes <= total_bytes);
    return false;
}

static void a_cancelled_extraction_leaves_nothing(void **state)
{
    const fixture *const f = *state;
    static const char *const names[] = { "app.etl", "b.etl", NULL };
    u64 calls = 0;
    const etlheap_unpack_options options = {
        .size = sizeof options, .folder = f->folder, .progress = cancel, .progress_user = &calls
    };
    etlheap_unpacked *zip;
    make_zip(f, names);
    assert_int_equal(etlheap_unpack(f->zip, &options, &zip, NULL), ETL_ERR_CANCELLED);
    assert_int_equal(calls, 1);
}

static void only_zips_are_recognised(void **state)
{
    const fixture *const f = *state;
    FILE *const file = fopen(f->zip, "w");
    assert_non_null(file);
    fputs("PK", file);
    fclose(file);
    assert_false(etlheap_is_packed(f->zip));
    assert_false(etlheap_is_packed(f->folder));
    assert_false(etlheap_is_packed("/nonexistent"));
    assert_false(etlheap_is_packed("/dev/null"));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_member_comes_out_whole),
        TEST(several_members_are_files_of_one_recording),
        TEST(a_zip_without_a_trace_is_refused),
        TEST(a_member_that_is_no_trace_is_refused_by_its_first_bytes),
        TEST(members_are_looked_at_before_any_is_unpacked),
        TEST(a_member_longer_than_stated_is_refused),
        TEST(a_member_shorter_than_stated_is_refused),
        TEST(a_member_with_a_wrong_checksum_is_refused),
        TEST(a_cut_zip_is_refused),
        TEST(the_room_and_the_limit_are_checked_before_writing),
        TEST(a_cancelled_extraction_leaves_nothing),
        TEST(only_zips_are_recognised),
    };
#undef TEST
    return cmocka_run_group_tests(tests, NULL, NULL);
}
