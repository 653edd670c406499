/*
 * Goal: a trace or store comes out of a gzip file, a zstd file and a descriptor byte for byte,
 * whatever its frames are; what is cut off, damaged, too long or no trace is refused with a
 * sentence; and no file is left behind.
 * Method: files that zlib and zstd pack in memory. Unpacking goes to a folder of the test, which
 * must be empty at the end. Cuts and changed bits are tried at every place of a small file.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "pack_bytes.h"
#include "tests/build/etl_build.h"
#include "tests/support/temporary.h"
#include "formats/formats.h"
#include "formats/io/unpack.h"
#include "parser/system/files.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define PATH_SIZE   (2 * TEMPORARY_PATH_BYTES)
#define BLOCK_BYTES ((size_t)256 * 1024) /* what is unpacked at a time: formats/io/unpack.h */
#define MANY_BYTES  (3 * BLOCK_BYTES)
#define FEW_BYTES   ((size_t)4096)

typedef struct fixture {
    char folder[TEMPORARY_PATH_BYTES]; /* of temporary files */
    char path[PATH_SIZE];
    etlheap_unpack_options options;
} fixture;

static int set_up(void **state)
{
    fixture *const f = calloc(1, sizeof *f);
    if (!f || !temporary_subfolder(f->folder, "etlheap-unpack"))
        return -1;
    snprintf(f->path, sizeof f->path, "%s.packed", f->folder);
    f->options = (etlheap_unpack_options){ .size = sizeof f->options, .folder = f->folder };
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *const f = *state;
    (void)etl_file_remove(f->path);
    const bool is_empty = etl_folder_remove(f->folder); /* else a file was left behind */
    free(f);
    return is_empty ? 0 : -1;
}

/* The first bytes of a trace, and from there on bytes that are hard to pack. */
static const u8 *content(void)
{
    static u8 bytes[MANY_BYTES];
    static bool is_made;
    if (is_made)
        return bytes;
    size_t size = 0;
    etl_build *const b = etl_build_new(&(etl_build_options){ .cpus = 1 });
    assert_true(etl_build_finish(b));
    const u8 *const trace = etl_build_data(b, &size);
    u32 noise = 1;
    for (size_t i = 0; i < sizeof bytes; i++) {
        noise = noise * 1664525u + 1013904223u;
        bytes[i] = i < size && i < FEW_BYTES / 2 ? trace[i] : (u8)(noise >> 24);
    }
    etl_build_free(b);
    is_made = true;
    return bytes;
}

static const struct {
    const char *name;
    pack_fn *pack;
} packings[] = {
    { "gzip", pack_gzip },
    { "zstd", pack_zstd },
};

static void write_file(const fixture *f, const void *bytes, size_t size)
{
    const int file = etl_file_create(f->path);
    assert_true(file >= 0);
    assert_true(etl_file_write(file, bytes, size));
    assert_true(etl_file_close(file));
}

static void write_packed(const fixture *f, packed_bytes *packed)
{
    write_file(f, packed->at, packed->size);
    packed_free(packed);
}

static void pack_file(const fixture *f, pack_fn *pack, const void *bytes, size_t size)
{
    packed_bytes packed = { .at = NULL };
    pack(&packed, bytes, size);
    write_packed(f, &packed);
}

static etl_status unpack(const fixture *f, etlheap_unpacked **out, etl_error *err)
{
    return etlheap_unpack(f->path, &f->options, out, err);
}

static etl_status spool(const fixture *f, etlheap_unpacked **out, etl_error *err)
{
    const int file = etl_file_open(f->path);
    assert_true(file >= 0);
    const etl_status status = etlheap_spool(file, &f->options, out, err);
    assert_true(etl_file_close(file));
    return status;
}

/* Closes it. */
static void expect_content(etlheap_unpacked *unpacked, const void *bytes, size_t size)
{
    u8 *const got = malloc(size + 1);
    assert_non_null(got);
    assert_int_equal(etlheap_unpacked_count(unpacked), 1);
    const etlheap_unpacked_member member = etlheap_unpacked_member_of(unpacked, 0);
    assert_null(member.name);
    assert_null(etlheap_unpacked_member_of(unpacked, 1).path);
    const int file = etl_file_open(member.path);
    assert_true(file >= 0);
    assert_int_equal(etl_file_read(file, got, size + 1), size);
    assert_true(etl_file_close(file));
    assert_memory_equal(got, bytes, size);
    free(got);
    etlheap_unpacked_close(unpacked);
}

static void expect_unpacked(const fixture *f, const void *bytes, size_t size)
{
    etlheap_unpacked *unpacked = NULL;
    etl_error err = { .status = ETL_OK };
    assert_true(etlheap_is_packed(f->path));
    if (unpack(f, &unpacked, &err) != ETL_OK)
        fail_msg("%s", err.message);
    expect_content(unpacked, bytes, size);
}

static void expect_refused(const fixture *f, etl_status status, const char *sentence)
{
    etlheap_unpacked *unpacked = NULL;
    etl_error err = { .status = ETL_OK };
    assert_int_equal(unpack(f, &unpacked, &err), status);
    assert_int_equal(err.status, status);
    assert_null(unpacked);
    if (!strstr(err.message, sentence))
        fail_msg("'%s' is not in '%s'", sentence, err.message);
}

/* --- what comes out ------------------------------------------------------------------ */

static void what_is_packed_comes_out_whole(void **state)
{
    static const size_t sizes[] = {
        2000, BLOCK_BYTES - 1, BLOCK_BYTES, BLOCK_BYTES + 1, 2 * BLOCK_BYTES, MANY_BYTES
    };
    for (size_t i = 0; i < ETL_COUNT_OF(packings) * ETL_COUNT_OF(sizes); i++) {
        const size_t size = sizes[i / ETL_COUNT_OF(packings)];
        pack_file(*state, packings[i % ETL_COUNT_OF(packings)].pack, content(), size);
        expect_unpacked(*state, content(), size);
    }
}

static void a_descriptor_is_copied_whole(void **state)
{
    static const size_t sizes[] = { 2000, BLOCK_BYTES - 1, BLOCK_BYTES, BLOCK_BYTES + 1,
                                    MANY_BYTES };
    for (size_t i = 0; i < ETL_COUNT_OF(sizes); i++) {
        etlheap_unpacked *copied = NULL;
        write_file(*state, content(), sizes[i]);
        assert_false(etlheap_is_packed(((const fixture *)*state)->path));
        assert_int_equal(spool(*state, &copied, NULL), ETL_OK);
        expect_content(copied, content(), sizes[i]);
    }
}

/* Whatever comes first, and with frames of nothing in between. */
static void frames_are_parts_of_one_whole(void **state)
{
    static const size_t cuts[] = { 0, 1, 71, 2000, BLOCK_BYTES, MANY_BYTES };
    for (size_t i = 0; i < ETL_COUNT_OF(packings) * ETL_COUNT_OF(cuts); i++) {
        const size_t cut = cuts[i / ETL_COUNT_OF(packings)];
        pack_fn *const pack = packings[i % ETL_COUNT_OF(packings)].pack;
        packed_bytes packed = { .at = NULL };
        pack(&packed, content(), cut);
        pack(&packed, "", 0);
        pack(&packed, content() + cut, MANY_BYTES - cut);
        write_packed(*state, &packed);
        expect_unpacked(*state, content(), MANY_BYTES);
    }
}

static void frames_that_hold_something_else_are_skipped(void **state)
{
    packed_bytes packed = { .at = NULL };
    pack_zstd_skipped(&packed, "abcd", 4); /* as pzstd begins */
    pack_zstd(&packed, content(), 5000);
    pack_zstd_skipped(&packed, content(), BLOCK_BYTES);
    pack_zstd_skipped(&packed, "", 0);
    pack_zstd(&packed, content() + 5000, BLOCK_BYTES);
    pack_zstd_skipped(&packed, "end", 3);
    packed.at[0] = (u8)(packed.at[0] | 0xF); /* the sixteen kinds are skipped alike */
    write_packed(*state, &packed);
    expect_unpacked(*state, content(), 5000 + BLOCK_BYTES);
}

/* Tapes and block devices pad to whole blocks. */
static void zeros_behind_gzip_are_padding(void **state)
{
    static const size_t sizes[] = { 1, 2, 511, BLOCK_BYTES, 2 * BLOCK_BYTES + 1 };
    u8 *const zeros = calloc(2 * BLOCK_BYTES + 1, 1);
    assert_non_null(zeros);
    for (size_t i = 0; i < ETL_COUNT_OF(sizes); i++) {
        packed_bytes packed = { .at = NULL };
        pack_gzip(&packed, content(), 2000);
        pack_plain(&packed, zeros, sizes[i]);
        pack_gzip(&packed, content() + 2000, 3000);
        pack_plain(&packed, zeros, sizes[i]);
        write_packed(*state, &packed);
        expect_unpacked(*state, content(), 5000);
    }
    packed_bytes packed = { .at = NULL };
    pack_zstd(&packed, content(), 2000);
    pack_plain(&packed, zeros, 512);
    write_packed(*state, &packed);
    expect_refused(*state, ETL_ERR_CORRUPT, "the zstd file is damaged");
    free(zeros);
}

static void a_store_comes_out_as_well(void **state)
{
    static const char store[] = "\211EHS\r\n\032\n and what else a store has";
    assert_true(etlheap_is_store((etl_bytes){ (const u8 *)store, sizeof store }));
    for (size_t i = 0; i < ETL_COUNT_OF(packings); i++) {
        pack_file(*state, packings[i].pack, store, sizeof store);
        expect_unpacked(*state, store, sizeof store);
    }
    etlheap_unpacked *copied = NULL;
    write_file(*state, store, sizeof store);
    assert_int_equal(spool(*state, &copied, NULL), ETL_OK);
    expect_content(copied, store, sizeof store);
}

/* What is behind reads the first bytes of the copy again. */
static void what_is_packed_is_copied_as_it_is(void **state)
{
    for (size_t i = 0; i < ETL_COUNT_OF(packings); i++) {
        packed_bytes packed = { .at = NULL };
        etlheap_unpacked *copied = NULL;
        packings[i].pack(&packed, content(), MANY_BYTES);
        write_file(*state, packed.at, packed.size);
        assert_int_equal(spool(*state, &copied, NULL), ETL_OK);
        assert_true(etlheap_is_packed(etlheap_unpacked_member_of(copied, 0).path));
        expect_content(copied, packed.at, packed.size);
        packed_free(&packed);
    }
}

/* --- what does not -------------------------------------------------------------------- */

static void a_file_that_is_cut_off_anywhere_is_refused(void **state)
{
    for (size_t i = 0; i < ETL_COUNT_OF(packings); i++) {
        packed_bytes packed = { .at = NULL };
        packings[i].pack(&packed, content(), 1000);
        const size_t first = packed.size;
        packings[i].pack(&packed, content() + 1000, 1000);
        for (size_t size = 4; size < packed.size; size++) {
            write_file(*state, packed.at, size);
            if (size == first)
                expect_unpacked(*state, content(), 1000); /* nobody can tell */
            else
                expect_refused(*state, ETL_ERR_CORRUPT, "is cut off; copy or download it again");
        }
        packed_free(&packed);
    }
}

/* Some bits say nothing of the content, as the time in a gzip file. */
static void no_changed_bit_changes_what_comes_out(void **state)
{
    for (size_t i = 0; i < ETL_COUNT_OF(packings); i++) {
        packed_bytes packed = { .at = NULL };
        u32 refused = 0;
        packings[i].pack(&packed, content(), 1000);
        for (size_t bit = 0; bit < 8 * packed.size; bit++) {
            etlheap_unpacked *unpacked = NULL;
            etl_error err = { .status = ETL_OK };
            packed.at[bit / 8] ^= (u8)(1u << bit % 8);
            write_file(*state, packed.at, packed.size);
            packed.at[bit / 8] ^= (u8)(1u << bit % 8);
            if (unpack(*state, &unpacked, &err) == ETL_OK) {
                expect_content(unpacked, content(), 1000);
                continue;
            }
            assert_true(err.message[0] != '\0');
            refused++;
        }
        print_message("  %s: %" PRIu32 " of %" PRIu64 " changed bits refused\n", packings[i].name,
                      refused, (u64)8 * packed.size);
        assert_true(refused > 7 * packed.size);
        packed_free(&packed);
    }
}

static void damage_is_told_as_damage(void **state)
{
    for (size_t i = 0; i < ETL_COUNT_OF(packings); i++) {
        char sentence[64];
        packed_bytes packed = { .at = NULL };
        snprintf(sentence, sizeof sentence, "the %s file is damaged: ", packings[i].name);
        packings[i].pack(&packed, content(), MANY_BYTES);
        packed.at[packed.size - 3] ^= 1; /* within the checksum or the size */
        write_file(*state, packed.at, packed.size);
        expect_refused(*state, ETL_ERR_CORRUPT, sentence);
        packed.at[packed.size - 3] ^= 1;
        pack_plain(&packed, "and more", 8);
        write_packed(*state, &packed);
        expect_refused(*state, ETL_ERR_CORRUPT, sentence);
    }
}

/* The folder is not there, so nothing can have been written. */
static void what_is_no_trace_is_refused_by_its_first_bytes(void **state)
{
    static const struct {
        const char *bytes;
        size_t size;
        const char *sentence;
    } rows[] = {
        { "", 0, "the file is empty" },
        { "ETW", 3, "not an ETL trace: it looks like text" },
        { "\1\2\3", 3, "too short for an ETL trace" },
        { "MZ\220 and more", 12, "looks like a Windows program" },
    };
    fixture *const f = *state;
    f->options.folder = "/nonexistent";
    u8 *const zeros = calloc(MANY_BYTES, 1);
    assert_non_null(zeros);
    for (size_t i = 0; i < ETL_COUNT_OF(packings); i++) {
        for (size_t k = 0; k < ETL_COUNT_OF(rows); k++) {
            pack_file(f, packings[i].pack, rows[k].bytes, rows[k].size);
            expect_refused(f, ETL_ERR_NOT_ETL, rows[k].sentence);
        }
        pack_file(f, packings[i].pack, zeros, MANY_BYTES);
        expect_refused(f, ETL_ERR_NOT_ETL, "looks like zero bytes");
        pack_file(f, packings[i].pack, content(), FEW_BYTES);
        expect_refused(f, ETL_ERR_IO, "cannot unpack into /nonexistent: ");
        expect_refused(f, ETL_ERR_IO, "; set TMPDIR");
    }
    free(zeros);
}

static void what_is_packed_twice_is_refused(void **state)
{
    for (size_t i = 0; i < ETL_COUNT_OF(packings) * ETL_COUNT_OF(packings); i++) {
        const size_t inner = i / ETL_COUNT_OF(packings);
        char sentence[64];
        packed_bytes packed = { .at = NULL };
        packings[inner].pack(&packed, content(), FEW_BYTES);
        pack_file(*state, packings[i % ETL_COUNT_OF(packings)].pack, packed.at, packed.size);
        packed_free(&packed);
        snprintf(sentence, sizeof sentence, "looks like a %s archive; unpack it first",
                 packings[inner].name);
        expect_refused(*state, ETL_ERR_NOT_ETL, sentence);
    }
    static const char zip[] = "PK\3\4 and what else a zip has";
    pack_file(*state, pack_gzip, zip, sizeof zip);
    expect_refused(*state, ETL_ERR_NOT_ETL, "looks like a zip archive; unpack it first");
}

/* Not damaged, so nobody is told to download it again. */
static void what_zstd_can_unpack_and_we_cannot_is_told_apart(void **state)
{
    /* One byte of window: 2 to the power of 10 + 20. Then a raw block, the last, of a byte. */
    static const u8 wide[] = { 0x28, 0xB5, 0x2F, 0xFD, 0, 20 << 3, 1 | 1 << 3, 0, 0, 'x' };
    /* With the number of a dictionary, of one byte. */
    static const u8 words[] = { 0x28, 0xB5, 0x2F, 0xFD, 1, 0, 7, 1 | 1 << 3, 0, 0, 'x' };
    write_file(*state, wide, sizeof wide);
    expect_refused(*state, ETL_ERR_UNSUPPORTED, "its window is larger than 128 MiB; unpack it");
    write_file(*state, words, sizeof words);
    expect_refused(*state, ETL_ERR_UNSUPPORTED, "dictionary");
}

static void what_cannot_be_unpacked_is_refused(void **state)
{
    const fixture *const f = *state;
    etlheap_unpacked *unpacked = NULL;
    etl_error err = { .status = ETL_OK };
    write_file(f, content(), FEW_BYTES);
    expect_refused(f, ETL_ERR_ARGUMENT, "is not packed");
    assert_true(etl_file_remove(f->path));
    assert_false(etlheap_is_packed(f->path));
    expect_refused(f, ETL_ERR_ARGUMENT, "is not packed");
    assert_int_equal(etlheap_spool(-1, &f->options, &unpacked, &err), ETL_ERR_IO);
    assert_non_null(strstr(err.message, "cannot be read: "));
    assert_null(unpacked);
    write_file(f, "", 0);
    assert_int_equal(spool(f, &unpacked, &err), ETL_ERR_NOT_ETL);
    assert_non_null(strstr(err.message, "the file is empty"));
    assert_null(unpacked);
    etlheap_unpacked_close(NULL);
}

/* --- limits ------------------------------------------------------------------------------ */

static void what_unpacks_to_more_than_the_limit_is_refused(void **state)
{
    static const size_t sizes[] = { 2000, BLOCK_BYTES, MANY_BYTES };
    fixture *const f = *state;
    for (size_t i = 0; i < ETL_COUNT_OF(packings) * ETL_COUNT_OF(sizes); i++) {
        const size_t size = sizes[i / ETL_COUNT_OF(packings)];
        pack_file(f, packings[i % ETL_COUNT_OF(packings)].pack, content(), size);
        f->options.member_bytes_max = size;
        expect_unpacked(f, content(), size);
        f->options.member_bytes_max = size - 1;
        expect_refused(f, ETL_ERR_LIMIT, "its unpacked size exceeds the limit");
    }
    etlheap_unpacked *copied = NULL;
    write_file(f, content(), MANY_BYTES);
    assert_int_equal(spool(f, &copied, NULL), ETL_ERR_LIMIT);
}

static void all_files_together_have_a_limit(void **state)
{
    fixture *const f = *state;
    for (size_t i = 0; i < ETL_COUNT_OF(packings); i++) {
        pack_file(f, packings[i].pack, content(), MANY_BYTES);
        f->options.unpacked_bytes_max = MANY_BYTES;
        expect_unpacked(f, content(), MANY_BYTES);
        f->options.unpacked_bytes_max = MANY_BYTES - 1;
        expect_refused(f, ETL_ERR_LIMIT, "it unpacks to more than the limit of");
    }
    etlheap_unpacked *copied = NULL;
    write_file(f, content(), MANY_BYTES);
    assert_int_equal(spool(f, &copied, NULL), ETL_ERR_LIMIT);
}

static void the_limit_is_ten_times_the_file_or_64_gib(void **state)
{
    const u64 gib = (u64)1 << 30;
    (void)state;
    assert_int_equal(unpack_limit_of(0, 0), 64 * gib);
    assert_int_equal(unpack_limit_of(6 * gib, 0), 64 * gib);
    assert_int_equal(unpack_limit_of(7 * gib, 0), 70 * gib);
    assert_int_equal(unpack_limit_of(UINT64_MAX / 5, 0), UINT64_MAX);
    assert_int_equal(unpack_limit_of(7 * gib, 5), 5);
    assert_int_equal(unpack_limit_of(7 * gib, UINT64_MAX), UINT64_MAX);
}

typedef struct told {
    u32 calls, cancel_at;
    u64 done_bytes, total_bytes;
} told;

static bool tell(void *user, u64 done_bytes, u64 total_bytes)
{
    told *const t = user;
    assert_true(done_bytes >= t->done_bytes);
    t->calls++;
    t->done_bytes = done_bytes;
    t->total_bytes = total_bytes;
    return t->calls != t->cancel_at;
}

static told follow(fixture *f, etl_status wanted, u32 cancel_at)
{
    told t = { .cancel_at = cancel_at };
    etlheap_unpacked *unpacked = NULL;
    f->options.progress = tell;
    f->options.progress_user = &t;
    assert_int_equal(unpack(f, &unpacked, NULL), wanted);
    etlheap_unpacked_close(unpacked);
    return t;
}

static void progress_counts_what_is_packed(void **state)
{
    fixture *const f = *state;
    for (size_t i = 0; i < ETL_COUNT_OF(packings); i++) {
        packed_bytes packed = { .at = NULL };
        packings[i].pack(&packed, content(), MANY_BYTES);
        const told t = (write_file(f, packed.at, packed.size), follow(f, ETL_OK, 0));
        assert_int_equal(t.done_bytes, packed.size);
        assert_int_equal(t.total_bytes, packed.size);
        packed_free(&packed);
        for (u32 call = 1; call <= t.calls; call++)
            assert_int_equal(follow(f, ETL_ERR_CANCELLED, call).calls, call);
    }
}

/* A file of kilobytes may unpack to gigabytes, which must not take until the next read. */
static void cancelling_does_not_wait_for_all_that_comes_of_little(void **state)
{
    const size_t size = 64 * BLOCK_BYTES;
    u8 *const bytes = calloc(size, 1);
    assert_non_null(bytes);
    memcpy(bytes, content(), FEW_BYTES);
    for (size_t i = 0; i < ETL_COUNT_OF(packings); i++) {
        pack_file(*state, packings[i].pack, bytes, size);
        assert_true(follow(*state, ETL_OK, 0).calls >= 64);
    }
    free(bytes);
}

static void options_are_read_by_their_size(void **state)
{
    fixture *const f = *state;
    etlheap_unpacked *unpacked = NULL;
    static const size_t sizes[] = { 0, sizeof(void *), 100000 };
    pack_file(f, pack_gzip, content(), FEW_BYTES);
    for (size_t i = 0; i < ETL_COUNT_OF(sizes); i++) {
        f->options.size = sizes[i];
        expect_refused(f, ETL_ERR_ARGUMENT, "etlheap_unpack_options");
        assert_int_equal(spool(f, &unpacked, NULL), ETL_ERR_ARGUMENT);
    }
    /* Of a program that knows no limit: what lies behind the size is not looked at. */
    f->options.size = offsetof(etlheap_unpack_options, member_bytes_max);
    f->options.member_bytes_max = 1;
    expect_unpacked(f, content(), FEW_BYTES);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(what_is_packed_comes_out_whole),
        TEST(a_descriptor_is_copied_whole),
        TEST(frames_are_parts_of_one_whole),
        TEST(frames_that_hold_something_else_are_skipped),
        TEST(zeros_behind_gzip_are_padding),
        TEST(a_store_comes_out_as_well),
        TEST(what_is_packed_is_copied_as_it_is),
        TEST(a_file_that_is_cut_off_anywhere_is_refused),
        TEST(no_changed_bit_changes_what_comes_out),
        TEST(damage_is_told_as_damage),
        TEST(what_is_no_trace_is_refused_by_its_first_bytes),
        TEST(what_is_packed_twice_is_refused),
        TEST(what_zstd_can_unpack_and_we_cannot_is_told_apart),
        TEST(what_cannot_be_unpacked_is_refused),
        TEST(what_unpacks_to_more_than_the_limit_is_refused),
        TEST(all_files_together_have_a_limit),
        TEST(the_limit_is_ten_times_the_file_or_64_gib),
        TEST(progress_counts_what_is_packed),
        TEST(cancelling_does_not_wait_for_all_that_comes_of_little),
        TEST(options_are_read_by_their_size),
    };
#undef TEST
    return cmocka_run_group_tests(tests, NULL, NULL);
}
