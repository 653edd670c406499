/*
 * Goal: no file, however broken, crashes the reader, holds it up or makes it
 * read outside of the file; each address is answered once all the same.
 * Method: one small file that has everything a PDB can have, broken in every way
 * that is cheap to enumerate, in memory that ends with it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "pdb_check.h"

#define ADDRESS_COUNT 0x700u
#define BLOCK         512u

static pdb_check c;
static u32 rvas[ADDRESS_COUNT];
static hand_bytes sound;
static volatile u32 touched; /* so that reading the views is not left out */

static void add_functions(pdb_build *b)
{
    static const u8 outer[] = { 3, 2, 6, 4, 11, 0x23, 4, 9, 5, 0, 12, 3, 8 };
    static const u8 inner[] = { 3, 4, 4, 2 };
    static const u32 lines[] = { 0, 10, 8, 11, 0x10, PDB_LINE_NO_STEP_ONTO, 0x20, 12 };
    const u32 space = pdb_build_function_id(b, PDB_LF_STRING_ID, 0, "space");
    const u32 type = pdb_build_class(b, "space::list<int>");
    const u32 g = pdb_build_function_id(b, PDB_LF_FUNC_ID, space, "g");
    const u32 h = pdb_build_function_id(b, PDB_LF_MFUNC_ID, type, "h");
    for (u32 m = 0; m < 3; m++) {
        const u32 base = m * 0x200;
        pdb_build_module(b);
        pdb_build_contribution(b, 1, base, 0x200);
        const u32 a_cpp = pdb_build_file(b, "a.cpp");
        const u32 b_h = pdb_build_file(b, "b.h");
        pdb_build_inlinee_line(b, g, a_cpp, 20);
        pdb_build_inlinee_line(b, h, b_h, 30);
        for (u32 f = 0; f < 3; f++) {
            const u32 at = base + f * 0x80;
            (void)pdb_build_procedure(b, 1, at, 0x60, "function");
            (void)pdb_build_inline_site(b, g, outer, sizeof outer);
            (void)pdb_build_inline_site(b, h, inner, sizeof inner);
            pdb_build_end(b, PDB_S_INLINESITE_END);
            pdb_build_end(b, PDB_S_INLINESITE_END);
            (void)pdb_build_block(b);
            pdb_build_end(b, PDB_S_END);
            pdb_build_alloc_site(b, at + 0x30, 5, type);
            pdb_build_end(b, PDB_S_PROC_ID_END);
            const u32 begin = pdb_build_lines_begin(b, at, 0x60);
            pdb_build_lines_block(b, a_cpp, lines, 4);
            pdb_build_lines_block(b, b_h, lines, 1);
            pdb_build_lines_end(b, begin);
        }
        pdb_build_piece_of(b, base + 0x1a0, 8, base + 0x80);
        pdb_build_trampoline(b, base + 0x1b0, 5, base);
        pdb_build_thunk(b, 1, base + 0x1b8, 6, "thunk");
    }
}

static void build(bool with_omap, bool is_scattered)
{
    pdb_check_begin(&c);
    pdb_build *const b = &c.built;
    b->is_scattered = is_scattered;
    pdb_build_section(b, 0x1000, 0x800);
    add_functions(b);
    for (u32 i = 0; i < 40; i++)
        pdb_build_public(b, 1, i * 0x20, "?public@@YAXXZ");
    if (with_omap) {
        pdb_build_original_section(b, 0x1000, 0x800);
        for (u32 i = 0; i < 8; i++)
            pdb_build_omap(b, 0x1000 + i * 0x100, 0x1000 + i * 0x100);
    }
    pdb_check_write(&c);
    hand_put(&sound, c.bytes.at, c.bytes.size);
}

static int begin_test(void **state)
{
    (void)state;
    for (u32 i = 0; i < ADDRESS_COUNT; i++)
        rvas[i] = 0xff0 + i;
    return 0;
}

static int end_test(void **state)
{
    (void)state;
    pdb_check_end(&c);
    hand_free(&sound);
    return 0;
}

static u32 sum_of(etl_bytes bytes)
{
    u32 sum = (u32)bytes.size;
    for (size_t i = 0; i < bytes.size; i++)
        sum += bytes.at[i];
    return sum;
}

/* Reads every byte of every view. */
static u32 touch(const etl_pdb_location *location)
{
    u32 sum = sum_of(location->function.name) + sum_of(location->function.file) +
              sum_of(location->alloc_type);
    for (u32 i = 0; i < location->inline_count; i++)
        sum += sum_of(location->inlined[i].name) + sum_of(location->inlined[i].file);
    return sum;
}

/* Asks for everything in what is in c.bytes, if it opens; true if it does. */
static bool survive(void)
{
    static u8 answered[ADDRESS_COUNT];
    const etl_status status = pdb_check_reopen(&c);
    if (status != ETL_OK) {
        assert_true(status == ETL_ERR_CORRUPT || status == ETL_ERR_UNSUPPORTED);
        assert_true(c.error.message[0] != '\0');
        return false;
    }
    memset(answered, 0, sizeof answered);
    assert_int_equal(etl_pdb_resolver_begin(c.resolver, rvas, ADDRESS_COUNT, NULL), ETL_OK);
    etl_pdb_location location;
    while (etl_pdb_resolver_next(c.resolver, &location)) {
        assert_true(location.index < ADDRESS_COUNT);
        assert_int_equal(answered[location.index]++, 0);
        touched += touch(&location);
    }
    for (u32 i = 0; i < ADDRESS_COUNT; i++)
        assert_int_equal(answered[i], 1);
    u32 at = 0;
    for (etl_pdb_public symbol; etl_pdb_public_next(c.resolver, &at, &symbol);)
        touched += sum_of(symbol.name);
    return true;
}

static void restore(void)
{
    c.bytes.size = sound.size;
    memcpy(c.bytes.at, sound.at, sound.size);
}

static void sound_file_has_no_damage(void **state)
{
    (void)state;
    build(false, false);
    assert_true(survive());
    assert_int_equal(etl_pdb_resolver_damage(c.resolver)->count, 0);
    pdb_check_says(&c, 0x1005,
                   "space::list<int>::h b.h:30 < space::g a.cpp:23 < function+0x5 b.h:10");
    pdb_check_says(&c, 0x1034, "function+0x34 a.cpp:12 new space::list<int>");
}

static void file_cut_at_every_block(void **state)
{
    (void)state;
    for (int scattered = 0; scattered < 2; scattered++) {
        build(scattered, scattered);
        for (size_t size = 0; size < sound.size; size += BLOCK) {
            restore();
            c.bytes.size = size;
            assert_false(survive());
            /* As if the file had never been longer. */
            if (size >= BLOCK)
                hand_set_u32(&c.bytes, 0x28, (u32)(size / BLOCK));
            (void)survive();
        }
        (void)end_test(NULL);
    }
}

static void every_block_overwritten(void **state)
{
    (void)state;
    static const u8 fills[] = { 0x00, 0xff, 0x01, 0x80 };
    for (int scattered = 0; scattered < 2; scattered++) {
        build(!scattered, scattered);
        for (size_t at = 0; at < sound.size; at += BLOCK) {
            for (size_t i = 0; i < sizeof fills; i++) {
                restore();
                memset(c.bytes.at + at, fills[i], BLOCK);
                (void)survive();
            }
        }
        (void)end_test(NULL);
    }
}

static void every_word_set_to_an_extreme(void **state)
{
    (void)state;
    static const u32 values[] = { 0, 1, 0x7fffffff, 0xffff, UINT32_MAX };
    build(true, false);
    for (size_t at = 0; at + 4 <= sound.size; at += 4) {
        if (etl_load_u32(sound.at + at) == 0xdddddddd)
            continue;
        const u32 value = values[at / 4 % ETL_COUNT_OF(values)];
        restore();
        hand_set_u32(&c.bytes, at, value);
        (void)survive();
    }
}

static void bits_flipped_at_random(void **state)
{
    (void)state;
    u64 random = 0x9e3779b97f4a7c15u;
    build(true, true);
    for (u32 round = 0; round < 1500; round++) {
        restore();
        const u32 flips = 1 + hand_random(&random) % 20;
        for (u32 i = 0; i < flips; i++)
            c.bytes.at[hand_random(&random) % c.bytes.size] ^= (u8)(1u << hand_random(&random) % 8);
        (void)survive();
    }
}

/* All streams have the blocks of one: each is read as each other. */
static void streams_exchanged_for_each_other(void **state)
{
    (void)state;
    build(true, false);
    pdb_build *const b = &c.built;
    for (u32 i = 0; i < b->stream_count; i++) {
        for (u32 k = 0; k < b->stream_count; k++) {
            const hand_bytes kept = b->streams[i];
            b->streams[i] = b->streams[k];
            pdb_build_container(b->streams, b->stream_count, BLOCK, false, &c.bytes);
            b->streams[i] = kept;
            (void)survive();
        }
    }
}

static void streams_cut_short_at_any_byte(void **state)
{
    (void)state;
    build(true, false);
    pdb_build *const b = &c.built;
    for (u32 i = 0; i < b->stream_count; i++) {
        const size_t whole = b->streams[i].size;
        for (size_t size = 0; size < whole; size += 1 + whole / 150) {
            b->streams[i].size = size;
            pdb_build_container(b->streams, b->stream_count, BLOCK, false, &c.bytes);
            (void)survive();
        }
        b->streams[i].size = whole;
    }
}

/* Tables that each cover everything, thousands of times: this ends, and says why. */
static void tables_that_overlap_without_end_are_given_up(void **state)
{
    (void)state;
    pdb_check_begin(&c);
    pdb_build *const b = &c.built;
    static const u8 all[] = { 3, 0, 4, 0xc0, 0x10, 0, 0 };
    static const u32 line[] = { 0, 1 };
    pdb_build_section(b, 0x1000, 0x800000);
    pdb_build_module(b);
    pdb_build_contribution(b, 1, 0, 0x800000);
    const u32 file = pdb_build_file(b, "a.cpp");
    const u32 begin = pdb_build_lines_begin(b, 0, 0x800000);
    for (u32 i = 0; i < 40000; i++)
        pdb_build_lines_block(b, file, line, 1);
    pdb_build_lines_end(b, begin);
    (void)pdb_build_procedure(b, 1, 0, 0x800000, "f");
    for (u32 i = 0; i < 40000; i++) {
        (void)pdb_build_inline_site(b, 0x1000, all, sizeof all);
        pdb_build_end(b, PDB_S_INLINESITE_END);
    }
    pdb_build_end(b, PDB_S_END);
    pdb_check_open(&c);
    const u32 count = 100000;
    u32 *const many = malloc(count * sizeof *many);
    for (u32 i = 0; i < count; i++)
        many[i] = 0x1000 + i;
    etl_pdb_location location;
    u32 answers = 0;
    assert_int_equal(etl_pdb_resolver_begin(c.resolver, many, count, NULL), ETL_OK);
    while (etl_pdb_resolver_next(c.resolver, &location))
        answers++;
    free(many);
    assert_int_equal(answers, count);
    assert_non_null(strstr(etl_pdb_resolver_damage(c.resolver)->first.message, "overlap"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(sound_file_has_no_damage, begin_test, end_test),
        cmocka_unit_test_setup_teardown(file_cut_at_every_block, begin_test, end_test),
        cmocka_unit_test_setup_teardown(every_block_overwritten, begin_test, end_test),
        cmocka_unit_test_setup_teardown(every_word_set_to_an_extreme, begin_test, end_test),
        cmocka_unit_test_setup_teardown(bits_flipped_at_random, begin_test, end_test),
        cmocka_unit_test_setup_teardown(streams_exchanged_for_each_other, begin_test, end_test),
        cmocka_unit_test_setup_teardown(streams_cut_short_at_any_byte, begin_test, end_test),
        cmocka_unit_test_setup_teardown(tables_that_overlap_without_end_are_given_up, begin_test,
                                        end_test),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
