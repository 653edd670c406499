/*
 * Goal: streams are the bytes that were put in, wherever their blocks lie; what
 * the container says falsely is found before it is believed.
 * Method: containers of a few streams built in memory, and then one field broken.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "parser/symbols/msf.h"
#include "tests/support/pdb_build.h"

#define STREAMS 4u
#define BLOCK   512u

static hand_bytes streams[STREAMS];
static hand_bytes file;
static hand_guarded memory;
static msf_file msf;
static etl_error error;

static int begin_test(void **state)
{
    (void)state;
    /* Of no bytes, less than a block, some blocks and a bit, and two blocks. */
    static const u32 sizes[STREAMS] = { 0, 100, 5 * BLOCK + 17, 2 * BLOCK };
    for (u32 i = 0; i < STREAMS; i++)
        for (u32 at = 0; at < sizes[i]; at++)
            hand_u8(&streams[i], 1 + (at * 7 + i) % 250);
    msf = (msf_file){ 0 };
    return 0;
}

static int end_test(void **state)
{
    (void)state;
    msf_close(&msf);
    if (memory.pages)
        hand_unguard(&memory);
    memory = (hand_guarded){ 0 };
    hand_free(&file);
    for (u32 i = 0; i < STREAMS; i++)
        hand_free(&streams[i]);
    return 0;
}

static void build(bool is_scattered)
{
    pdb_build_container(streams, STREAMS, BLOCK, is_scattered, &file);
}

/* Opens what is in `file`, in memory that ends with it. */
static etl_status reopen(void)
{
    msf_close(&msf);
    if (memory.pages)
        hand_unguard(&memory);
    memory = hand_guard_bytes(hand_view(&file), HAND_AT_END);
    error = (etl_error){ 0 };
    return msf_open((etl_bytes){ memory.at, memory.size }, &msf, &error);
}

static void assert_error(etl_status status, const char *part)
{
    assert_int_equal(reopen(), status);
    assert_int_equal(error.status, status);
    if (!strstr(error.message, part))
        fail_msg("\"%s\" does not say \"%s\"", error.message, part);
}

/* File offset of the directory's word `i`; the directory is in one block here. */
static size_t directory_word(u32 i)
{
    const u32 map = etl_load_u32(file.at + PDB_SUPERBLOCK_BYTES);
    const u32 directory = etl_load_u32(file.at + (size_t)map * BLOCK);
    return (size_t)directory * BLOCK + (size_t)i * 4;
}

/* --- reading ------------------------------------------------------------------ */

static void assert_stream_reads(u32 index, u32 step)
{
    u8 scratch[4 * BLOCK];
    msf_stream stream = msf_stream_of(&msf, index);
    assert_int_equal(stream.size, streams[index].size);
    for (u32 at = 0; at + step <= stream.size; at += step / 2 + 1) {
        const etl_bytes view = msf_view(&stream, at, step, scratch);
        assert_int_equal(view.size, step);
        assert_memory_equal(view.at, streams[index].at + at, step);
    }
}

static void streams_read_as_written_from_neighbouring_blocks(void **state)
{
    (void)state;
    build(false);
    assert_int_equal(reopen(), ETL_OK);
    for (u32 i = 1; i < STREAMS; i++)
        for (u32 step = 1; step <= 4 * BLOCK; step = step * 3 + 1)
            assert_stream_reads(i, step);
}

static void streams_read_as_written_from_scattered_blocks(void **state)
{
    (void)state;
    build(true);
    assert_int_equal(reopen(), ETL_OK);
    for (u32 i = 1; i < STREAMS; i++)
        for (u32 step = 1; step <= 4 * BLOCK; step = step * 3 + 1)
            assert_stream_reads(i, step);
}

static void view_in_neighbouring_blocks_is_not_copied(void **state)
{
    (void)state;
    build(false);
    assert_int_equal(reopen(), ETL_OK);
    msf_stream stream = msf_stream_of(&msf, 2);
    const etl_bytes view = msf_view(&stream, BLOCK - 10, 2 * BLOCK, NULL);
    assert_true(view.at > memory.at && view.at < memory.at + memory.size);
}

static void view_across_scattered_blocks_is_in_the_scratch(void **state)
{
    (void)state;
    build(true);
    assert_int_equal(reopen(), ETL_OK);
    u8 scratch[20];
    msf_stream stream = msf_stream_of(&msf, 2);
    assert_ptr_equal(msf_view(&stream, BLOCK - 10, 20, scratch).at, scratch);
}

static void view_past_the_end_is_refused(void **state)
{
    (void)state;
    build(false);
    assert_int_equal(reopen(), ETL_OK);
    u8 scratch[200];
    msf_stream stream = msf_stream_of(&msf, 1);
    assert_null(msf_view(&stream, 0, 101, scratch).at);
    assert_null(msf_view(&stream, 100, 1, scratch).at);
    assert_null(msf_view(&stream, UINT32_MAX, 2, scratch).at);
    assert_non_null(msf_view(&stream, 100, 0, scratch).at);
    assert_int_equal(msf_view(&stream, 99, 1, scratch).size, 1);
}

static void stream_that_is_absent_is_empty(void **state)
{
    (void)state;
    build(false);
    hand_set_u32(&file, directory_word(1 + 1), PDB_STREAM_ABSENT_SIZE);
    /* Stream 1 had one block: its number now stands before those of stream 2. */
    assert_int_equal(reopen(), ETL_OK);
    assert_int_equal(msf_stream_of(&msf, 1).size, 0);
    assert_int_equal(msf_stream_of(&msf, STREAMS).size, 0);
    assert_int_equal(msf_stream_of(&msf, PDB_STREAM_NONE).size, 0);
}

static void text_ends_at_its_nul_in_either_layout(void **state)
{
    (void)state;
    for (int scattered = 0; scattered < 2; scattered++) {
        streams[2].at[BLOCK - 3] = 'a';
        streams[2].at[BLOCK + 4] = 0;
        build(scattered);
        assert_int_equal(reopen(), ETL_OK);
        u8 scratch[100];
        msf_stream stream = msf_stream_of(&msf, 2);
        const etl_bytes text = msf_text(&stream, BLOCK - 3, sizeof scratch, scratch);
        assert_int_equal(text.size, 7);
        assert_memory_equal(text.at, streams[2].at + BLOCK - 3, 7);
        assert_int_equal(text.at == scratch, scattered);
    }
}

static void text_without_nul_ends_with_the_stream_or_the_limit(void **state)
{
    (void)state;
    build(true);
    assert_int_equal(reopen(), ETL_OK);
    u8 scratch[2 * BLOCK];
    msf_stream stream = msf_stream_of(&msf, 2);
    assert_int_equal(msf_text(&stream, stream.size - 5, 100, scratch).size, 5);
    assert_int_equal(msf_text(&stream, BLOCK - 5, 10, scratch).size, 10);
    assert_int_equal(msf_text(&stream, stream.size, 10, scratch).size, 0);
}

static void directory_of_several_map_blocks_is_read(void **state)
{
    (void)state;
    /* 128 numbers fit a map block of 512 bytes: a directory of 40,000 absent
     * streams takes 313 blocks, and its map three. */
    hand_bytes directory = { 0 };
    hand_u32(&directory, 40000);
    hand_fill(&directory, 0xff, 4 * (size_t)40000);
    hand_set_u32(&directory, 4 * (size_t)40000, 3);
    hand_u32(&directory, 1);
    hand_fill(&file, 'x', 2 * BLOCK);
    hand_bytes map = { 0 };
    for (size_t at = 0; at < directory.size; at += BLOCK) {
        const size_t left = directory.size - at;
        hand_u32(&map, (u32)(file.size / BLOCK));
        hand_put(&file, directory.at + at, left < BLOCK ? left : BLOCK);
        hand_fill(&file, 0, left < BLOCK ? BLOCK - left : 0);
    }
    hand_set_u32(&file, PDB_SUPERBLOCK_BYTES, (u32)(file.size / BLOCK));
    hand_set_u32(&file, PDB_SUPERBLOCK_BYTES + 4, (u32)(file.size / BLOCK + 1));
    hand_set_u32(&file, PDB_SUPERBLOCK_BYTES + 8, (u32)(file.size / BLOCK + 2));
    hand_put(&file, map.at, map.size);
    hand_fill(&file, 0, 3 * BLOCK - map.size);
    memcpy(file.at, PDB_MAGIC_MSF7, PDB_MAGIC_BYTES);
    hand_set_u32(&file, 0x20, BLOCK);
    hand_set_u32(&file, 0x28, (u32)(file.size / BLOCK));
    hand_set_u32(&file, 0x2c, (u32)directory.size);
    hand_free(&directory);
    hand_free(&map);

    assert_int_equal(reopen(), ETL_OK);
    msf_stream stream = msf_stream_of(&msf, 39999);
    assert_int_equal(stream.size, 3);
    assert_memory_equal(msf_view(&stream, 0, 3, NULL).at, "xxx", 3);
}

/* --- what is refused --------------------------------------------------------------- */

static void other_kinds_of_pdb_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *magic, *said;
    } kinds[] = {
        { PDB_MAGIC_MSFZ, "MSFZ" },
        { PDB_MAGIC_MSF2, "PDB 2.00" },
        { PDB_MAGIC_PORTABLE, ".NET" },
        { "MZ", "not a PDB" },
        { "", "not a PDB" },
    };
    for (size_t i = 0; i < ETL_COUNT_OF(kinds); i++) {
        hand_free(&file);
        hand_put(&file, kinds[i].magic, strlen(kinds[i].magic));
        assert_error(ETL_ERR_UNSUPPORTED, kinds[i].said);
    }
}

static void file_cut_at_any_block_is_refused(void **state)
{
    (void)state;
    build(false);
    const size_t whole = file.size;
    for (size_t size = BLOCK; size < whole; size += BLOCK) {
        file.size = size;
        assert_error(ETL_ERR_CORRUPT, "copy it again");
    }
    file.size = 40;
    assert_error(ETL_ERR_CORRUPT, "superblock");
}

/* The RAD linker wrote such headers. */
static void header_that_counts_too_many_blocks_is_believed_by_the_streams(void **state)
{
    (void)state;
    build(true);
    const u32 count = (u32)(file.size / BLOCK);
    hand_set_u32(&file, 0x28, count + 13);
    assert_int_equal(reopen(), ETL_OK);
    for (u32 i = 1; i < STREAMS; i++)
        assert_stream_reads(i, 100);
    /* A stream that lies in the blocks that are missing does not. */
    hand_set_u32(&file, directory_word(1 + STREAMS), count + 2);
    assert_error(ETL_ERR_CORRUPT, "ends in block");
    hand_set_u32(&file, 0x28, UINT32_MAX);
    assert_error(ETL_ERR_CORRUPT, "ends in block");
}

static void block_size_must_be_a_power_of_two_in_range(void **state)
{
    (void)state;
    static const u32 sizes[] = { 0, 1, 256, 513, 131072, 0x80000000u };
    build(false);
    for (size_t i = 0; i < ETL_COUNT_OF(sizes); i++) {
        hand_set_u32(&file, 0x20, sizes[i]);
        assert_error(ETL_ERR_CORRUPT, "block size");
    }
}

static void directory_size_must_be_possible(void **state)
{
    (void)state;
    static const u32 sizes[] = { 0, 3, 0x40000000u, UINT32_MAX };
    build(false);
    for (size_t i = 0; i < ETL_COUNT_OF(sizes); i++) {
        hand_set_u32(&file, 0x2c, sizes[i]);
        assert_error(ETL_ERR_CORRUPT, "a directory of");
    }
}

static void directory_outside_the_file_is_refused(void **state)
{
    (void)state;
    static const u32 blocks[] = { 0, 100000, UINT32_MAX };
    for (size_t i = 0; i < ETL_COUNT_OF(blocks); i++) {
        build(false);
        const u32 map = etl_load_u32(file.at + PDB_SUPERBLOCK_BYTES);
        hand_set_u32(&file, (size_t)map * BLOCK, blocks[i]);
        assert_error(ETL_ERR_CORRUPT, "the directory: its block 0");
        hand_set_u32(&file, PDB_SUPERBLOCK_BYTES, blocks[i]);
        assert_error(ETL_ERR_CORRUPT, "the directory: its block 0");
    }
}

static void more_streams_than_the_directory_holds_are_refused(void **state)
{
    (void)state;
    static const u32 counts[] = { 100, 1u << 21, UINT32_MAX };
    build(false);
    for (size_t i = 0; i < ETL_COUNT_OF(counts); i++) {
        hand_set_u32(&file, directory_word(0), counts[i]);
        assert_error(ETL_ERR_CORRUPT, "streams do not fit");
    }
}

static void stream_larger_than_its_list_is_refused(void **state)
{
    (void)state;
    static const u32 sizes[] = { 100 * BLOCK, 0x7fffffff, UINT32_MAX - 1 };
    build(false);
    for (size_t i = 0; i < ETL_COUNT_OF(sizes); i++) {
        hand_set_u32(&file, directory_word(1 + 2), sizes[i]);
        assert_error(ETL_ERR_CORRUPT, "stream 2 lists");
    }
}

/* A directory that names the same block over and over is as long as it likes. */
static void list_that_goes_round_is_refused(void **state)
{
    (void)state;
    hand_bytes looping[2] = { { 0 } };
    hand_fill(&looping[1], 'x', 200 * BLOCK);
    pdb_build_container(looping, 2, BLOCK, false, &file);
    hand_free(&looping[1]);
    /* All 200 numbers stay, but the file ends behind the blocks of the directory. */
    const u32 map = etl_load_u32(file.at + PDB_SUPERBLOCK_BYTES);
    const size_t directory = (size_t)etl_load_u32(file.at + (size_t)map * BLOCK) * BLOCK;
    for (u32 i = 0; i < 200; i++)
        hand_set_u32(&file, directory + 12 + (size_t)i * 4, 3);
    memmove(file.at + 4 * (size_t)BLOCK, file.at + directory, 2 * BLOCK);
    file.size = 7 * (size_t)BLOCK;
    hand_set_u32(&file, 6 * (size_t)BLOCK, 4);
    hand_set_u32(&file, 6 * (size_t)BLOCK + 4, 5);
    hand_set_u32(&file, PDB_SUPERBLOCK_BYTES, 6);
    hand_set_u32(&file, 0x28, 7);
    assert_error(ETL_ERR_CORRUPT, "stream 1 lists 200 blocks");
}

static void block_number_outside_the_file_ends_a_view(void **state)
{
    (void)state;
    static const u32 numbers[] = { 0, 1000, UINT32_MAX };
    for (size_t i = 0; i < ETL_COUNT_OF(numbers); i++) {
        build(false);
        /* The second block of stream 2, behind the counts and stream 1's block. */
        hand_set_u32(&file, directory_word(1 + STREAMS + 1 + 1), numbers[i]);
        assert_int_equal(reopen(), ETL_OK);
        u8 scratch[2 * BLOCK];
        msf_stream stream = msf_stream_of(&msf, 2);
        assert_non_null(msf_view(&stream, 0, BLOCK, scratch).at);
        assert_null(msf_view(&stream, BLOCK, 1, scratch).at);
        assert_null(msf_view(&stream, BLOCK - 1, 2, scratch).at);
        assert_null(msf_text(&stream, BLOCK - 1, 2, scratch).at);
        assert_non_null(msf_view(&stream, 2 * BLOCK, BLOCK, scratch).at);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(streams_read_as_written_from_neighbouring_blocks,
                                        begin_test, end_test),
        cmocka_unit_test_setup_teardown(streams_read_as_written_from_scattered_blocks, begin_test,
                                        end_test),
        cmocka_unit_test_setup_teardown(view_in_neighbouring_blocks_is_not_copied, begin_test,
                                        end_test),
        cmocka_unit_test_setup_teardown(view_across_scattered_blocks_is_in_the_scratch, begin_test,
                                        end_test),
        cmocka_unit_test_setup_teardown(view_past_the_end_is_refused, begin_test, end_test),
        cmocka_unit_test_setup_teardown(stream_that_is_absent_is_empty, begin_test, end_test),
        cmocka_unit_test_setup_teardown(text_ends_at_its_nul_in_either_layout, begin_test,
                                        end_test),
        cmocka_unit_test_setup_teardown(text_without_nul_ends_with_the_stream_or_the_limit,
                                        begin_test, end_test),
        cmocka_unit_test_setup_teardown(directory_of_several_map_blocks_is_read, begin_test,
                                        end_test),
        cmocka_unit_test_setup_teardown(other_kinds_of_pdb_are_named, begin_test, end_test),
        cmocka_unit_test_setup_teardown(file_cut_at_any_block_is_refused, begin_test, end_test),
        cmocka_unit_test_setup_teardown(
            header_that_counts_too_many_blocks_is_believed_by_the_streams, begin_test, end_test),
        cmocka_unit_test_setup_teardown(block_size_must_be_a_power_of_two_in_range, begin_test,
                                        end_test),
        cmocka_unit_test_setup_teardown(directory_size_must_be_possible, begin_test, end_test),
        cmocka_unit_test_setup_teardown(directory_outside_the_file_is_refused, begin_test,
                                        end_test),
        cmocka_unit_test_setup_teardown(more_streams_than_the_directory_holds_are_refused,
                                        begin_test, end_test),
        cmocka_unit_test_setup_teardown(stream_larger_than_its_list_is_refused, begin_test,
                                        end_test),
        cmocka_unit_test_setup_teardown(list_that_goes_round_is_refused, begin_test, end_test),
        cmocka_unit_test_setup_teardown(block_number_outside_the_file_ends_a_view, begin_test,
                                        end_test),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
