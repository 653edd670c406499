/*
 * Goal: a trace that is read while it is unpacked from a zip says what it says when it is complete,
 * a zip that is refused is refused in the same words, and nothing is left over.
 * Method: random workloads, packed with libzip, analysed in small slices with one thread and two,
 * as text against the same bytes in memory. Zips that lie about sizes or checksums, or are damaged,
 * are unpacked both ways. The folder of temporary files is listed, and open files are counted.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "formats/formats.h"
#include "tests/build/workload.h"
#include "tests/support/run_check.h"
#include "tests/support/temporary.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>
#include <zip.h>

#define CENTRAL_BYTES 46 /* of a directory entry, without its name */

typedef struct fixture {
    char folder[TEMPORARY_PATH_BYTES]; /* of temporary files */
    char zip[2 * TEMPORARY_PATH_BYTES];
    u8 *bytes; /* of the trace */
    size_t size;
    u64 told; /* by progress: calls, and the last bytes */
    u64 told_bytes;
    bool is_cancelled;
} fixture;

static void make_trace(fixture *f)
{
    const etl_build_options build = { .buffer_bytes = 4096 };
    const workload_options work = { .seed = 11, .operations = 7000 };
    workload *const w = workload_random(&work);
    etl_build *const b = etl_build_new(&build);
    workload_write(w, b, b);
    assert_true(etl_build_finish(b));
    const u8 *const bytes = etl_build_data(b, &f->size);
    f->bytes = malloc(f->size);
    assert_non_null(f->bytes);
    memcpy(f->bytes, bytes, f->size);
    etl_build_free(b);
    workload_free(w);
}

static int set_up(void **state)
{
    fixture *const f = calloc(1, sizeof *f);
    if (!f || !temporary_subfolder(f->folder, "etlheap-beside"))
        return -1;
    snprintf(f->zip, sizeof f->zip, "%s.zip", f->folder);
    make_trace(f);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *const f = *state;
    (void)unlink(f->zip);
    const int left = rmdir(f->folder); /* fails if a file was left behind */
    free(f->bytes);
    free(f);
    return left;
}

static void make_zip(const fixture *f, const char *const *names, i32 method)
{
    int code = 0;
    zip_t *const zip = zip_open(f->zip, ZIP_CREATE | ZIP_TRUNCATE, &code);
    assert_non_null(zip);
    for (; *names; names++) {
        zip_source_t *const source = zip_source_buffer(zip, f->bytes, f->size, 0);
        const zip_int64_t at = zip_file_add(zip, *names, source, ZIP_FL_ENC_UTF_8);
        assert_true(at >= 0);
        assert_int_equal(zip_set_file_compression(zip, (zip_uint64_t)at, method, 1), 0);
    }
    assert_int_equal(zip_close(zip), 0);
}

static const char *const one_name[] = { "app.etl", NULL };

static bool note_progress(void *user, u64 done_bytes, u64 total_bytes)
{
    fixture *const f = user;
    f->told++;
    assert_true(done_bytes >= f->told_bytes && done_bytes <= total_bytes);
    f->told_bytes = done_bytes;
    return !f->is_cancelled;
}

static etl_status unpack(fixture *f, bool beside, etlheap_unpacked **out, etl_error *err)
{
    const etlheap_unpack_options options = { .size = sizeof options,
                                             .folder = f->folder,
                                             .progress = note_progress,
                                             .progress_user = f,
                                             .beside = beside };
    f->told = f->told_bytes = 0;
    return etlheap_unpack(f->zip, &options, out, err);
}

static etl_status open_arriving(etlheap_unpacked *unpacked, etl_trace **out, etl_error *err)
{
    const etl_open_options options = { .size = sizeof options,
                                       .in_steps = true,
                                       .arrival = etlheap_unpacked_arrival,
                                       .arrival_user = unpacked };
    const etl_status status =
        etl_open(etlheap_unpacked_member_of(unpacked, 0).path, &options, out, err);
    etlheap_unpacked_hide(unpacked);
    return status;
}

static etl_status analyse(etl_trace *trace, u32 jobs, etlheap_result **out, etl_error *err)
{
    static const char *const names[] = { "trace" };
    const etlheap_options options = { .size = sizeof options, .slice_bytes = 32768, .jobs = jobs };
    return etlheap_analyze(&trace, names, 1, &options, out, err);
}

static u32 entries_of(const char *folder)
{
    u32 count = 0;
    DIR *const listing = opendir(folder);
    assert_non_null(listing);
    while (readdir(listing))
        count++;
    closedir(listing);
    return count;
}

static u32 open_files(void)
{
    u32 count = 0;
    for (int i = 0; i < 200; i++) {
        const int copy = dup(i);
        count += copy >= 0;
        if (copy >= 0)
            close(copy);
    }
    return count;
}

static void result_is_that_of_the_trace(void **state)
{
    static const i32 methods[] = { ZIP_CM_DEFLATE, ZIP_CM_STORE };
    fixture *const f = *state;
    etl_trace *whole = NULL;
    etlheap_result *result = NULL;
    assert_int_equal(etl_open_memory((etl_bytes){ f->bytes, f->size }, NULL, &whole, NULL), ETL_OK);
    assert_int_equal(analyse(whole, 1, &result, NULL), ETL_OK);
    char *const expected = check_result_text(result);
    etlheap_result_free(result);
    etl_close(whole);
    for (u32 turn = 0; turn < 8; turn++) {
        etlheap_unpacked *unpacked = NULL;
        etl_trace *trace = NULL;
        make_zip(f, one_name, methods[turn % 2]);
        assert_int_equal(unpack(f, true, &unpacked, NULL), ETL_OK);
        assert_true(etlheap_unpacked_is_arriving(unpacked));
        assert_int_equal(etlheap_unpacked_count(unpacked), 1);
        assert_string_equal(etlheap_unpacked_member_of(unpacked, 0).name, "app.etl");
        assert_int_equal(unlink(f->zip), 0); /* as a pipe's copy is */
        assert_int_equal(open_arriving(unpacked, &trace, NULL), ETL_OK);
        assert_int_equal(entries_of(f->folder), 2); /* "." and ".." */
        assert_null(etlheap_unpacked_member_of(unpacked, 0).path);
        assert_int_equal(analyse(trace, 1 + turn / 2 % 2, &result, NULL), ETL_OK);
        char *const text = check_result_text(result);
        assert_true(check_same_text(text, expected));
        assert_true(f->told > 0 && f->told_bytes == f->size);
        free(text);
        etlheap_result_free(result);
        etl_close(trace);
        etlheap_unpacked_close(unpacked);
    }
    free(expected);
}

/* --- what is refused ---------------------------------------------------------------- */

/* Changes a zip that is in memory; `entry` is the directory's only one. */
typedef void damage_fn(u8 *zip, size_t size, u8 *entry, u32 trace_bytes);

static void put_u32(u8 *at, u32 value)
{
    memcpy(at, &value, sizeof value);
}

static void state_one_more(u8 *zip, size_t size, u8 *entry, u32 trace_bytes)
{
    (void)zip, (void)size;
    put_u32(entry + 24, trace_bytes + 1);
}

static void state_one_less(u8 *zip, size_t size, u8 *entry, u32 trace_bytes)
{
    (void)zip, (void)size;
    put_u32(entry + 24, trace_bytes - 1);
}

static void state_half(u8 *zip, size_t size, u8 *entry, u32 trace_bytes)
{
    (void)zip, (void)size;
    put_u32(entry + 24, trace_bytes / 2);
}

/* Not even a log-file header: the trace cannot be opened, but that is the zip's fault. */
static void state_a_hundred(u8 *zip, size_t size, u8 *entry, u32 trace_bytes)
{
    (void)zip, (void)size, (void)trace_bytes;
    put_u32(entry + 24, 100);
}

static void state_nothing(u8 *zip, size_t size, u8 *entry, u32 trace_bytes)
{
    (void)zip, (void)size, (void)trace_bytes;
    put_u32(entry + 24, 0);
}

static void change_checksum(u8 *zip, size_t size, u8 *entry, u32 trace_bytes)
{
    (void)zip, (void)size, (void)trace_bytes;
    entry[16] ^= 1;
}

static void break_the_middle(u8 *zip, size_t size, u8 *entry, u32 trace_bytes)
{
    (void)entry, (void)trace_bytes;
    for (size_t i = 0; i < size / 8; i++)
        zip[size / 2 + i] = (u8)(i * i >> 3);
}

static void break_the_end(u8 *zip, size_t size, u8 *entry, u32 trace_bytes)
{
    (void)size, (void)trace_bytes;
    for (size_t i = 0; i < 8; i++)
        zip[(size_t)(entry - zip) - 64 + i] ^= 0x5A;
}

static void damage_zip(const fixture *f, damage_fn *damage)
{
    FILE *file = fopen(f->zip, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    const size_t size = (size_t)ftell(file);
    u8 *const zip = malloc(size);
    assert_non_null(zip);
    rewind(file);
    assert_int_equal(fread(zip, 1, size, file), size);
    (void)fclose(file);
    size_t at = size - CENTRAL_BYTES;
    while (memcmp(zip + at, "PK\x01\x02", 4) != 0)
        at--;
    damage(zip, size, zip + at, (u32)f->size);
    file = fopen(f->zip, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(zip, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
    free(zip);
}

/* What a program does with a zip, until something fails. Nothing may come out of it. */
static etl_status read_beside(fixture *f, u32 jobs, etl_error *err)
{
    etlheap_unpacked *unpacked = NULL;
    etl_trace *trace = NULL;
    etlheap_result *result = NULL;
    etl_status status = unpack(f, true, &unpacked, err);
    if (status != ETL_OK)
        return status;
    assert_true(etlheap_unpacked_is_arriving(unpacked));
    status = open_arriving(unpacked, &trace, err);
    if (status == ETL_OK)
        status = analyse(trace, jobs, &result, err);
    assert_null(result);
    u64 arrived;
    etl_error again = { .status = ETL_OK };
    assert_int_not_equal(etlheap_unpacked_arrival(unpacked, UINT64_MAX, &arrived, &again), ETL_OK);
    if (status == ETL_OK || !trace)
        *err = again;
    assert_string_equal(err->message, again.message);
    etl_close(trace);
    etlheap_unpacked_close(unpacked);
    return err->status;
}

static void refusals_are_the_same(void **state)
{
    static damage_fn *const damages[] = { state_one_more,  state_one_less,  state_half,
                                          state_a_hundred, state_nothing,   change_checksum,
                                          break_the_end,   break_the_middle };
    fixture *const f = *state;
    for (size_t i = 0; i < ETL_COUNT_OF(damages); i++) {
        etl_error wanted = { .status = ETL_OK };
        etlheap_unpacked *unpacked = NULL;
        make_zip(f, one_name, ZIP_CM_DEFLATE);
        damage_zip(f, damages[i]);
        const etl_status status = unpack(f, false, &unpacked, &wanted);
        print_message("  %s\n", wanted.message);
        assert_int_not_equal(status, ETL_OK);
        for (u32 jobs = 1; jobs <= 2; jobs++) {
            etl_error got = { .status = ETL_OK };
            assert_int_equal(read_beside(f, jobs, &got), status);
            assert_string_equal(got.message, wanted.message);
            assert_int_equal(got.offset, wanted.offset);
            assert_int_equal(entries_of(f->folder), 2);
        }
    }
}

/* Once the file has its size, no more may be written than its beginning. The thread may have
 * written all before that limit is set; then all is well. */
static bool fails_to_write(fixture *f)
{
    struct rlimit before, less;
    etlheap_unpacked *unpacked = NULL;
    etl_error err = { .status = ETL_OK };
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    less = before;
    less.rlim_cur = f->size - 1;
    assert_int_equal(unpack(f, true, &unpacked, NULL), ETL_OK);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &less), 0);
    u64 arrived;
    const etl_status status = etlheap_unpacked_arrival(unpacked, UINT64_MAX, &arrived, &err);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    etlheap_unpacked_close(unpacked);
    assert_int_equal(entries_of(f->folder), 2);
    if (status == ETL_OK)
        return false;
    char wanted[400];
    snprintf(wanted, sizeof wanted, "cannot unpack into %.80s: File too large; set TMPDIR",
             f->folder);
    assert_int_equal(status, ETL_ERR_IO);
    assert_string_equal(err.message, wanted);
    return true;
}

static void full_folder_is_told(void **state)
{
    fixture *const f = *state;
    void (*const before)(int) = signal(SIGXFSZ, SIG_IGN);
    make_zip(f, one_name, ZIP_CM_DEFLATE);
    u32 failed = 0;
    for (u32 turn = 0; turn < 200 && failed < 5; turn++)
        failed += fails_to_write(f);
    (void)signal(SIGXFSZ, before);
    assert_true(failed > 0);
}

/* --- how it ends --------------------------------------------------------------------- */

static void nothing_is_left_when_it_is_closed_early(void **state)
{
    fixture *const f = *state;
    const u32 files = open_files();
    make_zip(f, one_name, ZIP_CM_DEFLATE);
    for (u32 turn = 0; turn < 20; turn++) {
        etlheap_unpacked *unpacked = NULL;
        assert_int_equal(unpack(f, true, &unpacked, NULL), ETL_OK);
        assert_int_equal(entries_of(f->folder), 3);
        if (turn % 2 == 1)
            etlheap_unpacked_hide(unpacked);
        u64 arrived = 0;
        if (turn % 4 >= 2)
            assert_int_equal(
                etlheap_unpacked_arrival(unpacked, f->size / (turn + 1), &arrived, NULL), ETL_OK);
        etlheap_unpacked_close(unpacked);
        assert_int_equal(entries_of(f->folder), 2);
        assert_int_equal(open_files(), files);
    }
}

/* While the trace is opened, and while it is analysed, if it has not arrived by then. */
static void waiting_can_be_cancelled(void **state)
{
    fixture *const f = *state;
    make_zip(f, one_name, ZIP_CM_DEFLATE);
    for (u32 turn = 0; turn < 4; turn++) {
        etlheap_unpacked *unpacked = NULL;
        etl_trace *trace = NULL;
        etlheap_result *result = NULL;
        etl_error err = { .status = ETL_OK };
        assert_int_equal(unpack(f, true, &unpacked, NULL), ETL_OK);
        f->is_cancelled = turn % 2 == 0;
        etl_status status = open_arriving(unpacked, &trace, &err);
        assert_int_equal(status, f->is_cancelled ? ETL_ERR_CANCELLED : ETL_OK);
        f->is_cancelled = true;
        if (status == ETL_OK && !etl_is_indexed(trace))
            assert_int_equal(analyse(trace, 2, &result, &err), ETL_ERR_CANCELLED);
        assert_null(result);
        etl_close(trace);
        etlheap_unpacked_close(unpacked);
        f->is_cancelled = false;
    }
}

static void several_members_are_complete(void **state)
{
    static const char *const names[] = { "app.kernel.etl", "app.etl", NULL };
    fixture *const f = *state;
    etlheap_unpacked *unpacked = NULL;
    make_zip(f, names, ZIP_CM_DEFLATE);
    assert_int_equal(unpack(f, true, &unpacked, NULL), ETL_OK);
    assert_false(etlheap_unpacked_is_arriving(unpacked));
    assert_int_equal(etlheap_unpacked_count(unpacked), 2);
    assert_int_equal(f->told_bytes, 2 * f->size);
    etlheap_unpacked_close(unpacked);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(result_is_that_of_the_trace, set_up, tear_down),
        cmocka_unit_test_setup_teardown(refusals_are_the_same, set_up, tear_down),
        cmocka_unit_test_setup_teardown(full_folder_is_told, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nothing_is_left_when_it_is_closed_early, set_up, tear_down),
        cmocka_unit_test_setup_teardown(waiting_can_be_cancelled, set_up, tear_down),
        cmocka_unit_test_setup_teardown(several_members_are_complete, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
