/*
 * Goal: the compressed files of symbol stores come out as they went in; what is
 * damaged, larger than allowed or no cabinet says so and leaves nothing behind.
 * Method: cabinets put together by hand and one by gcab, each cut at every byte
 * and changed at random places.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>

#include "engine/symbol_store/symbol_cab.h"
#include "symbol_tree.h"

#define KEY            "1EB9FACB04C73C5DEA7160764CD333D01"
#define LARGE_BYTES    100000u
#define RANDOM_CHANGES 500

static int set_up(void **state)
{
    symbol_tree *const tree = calloc(1, sizeof *tree);
    if (!tree)
        return -1;
    symbol_tree_open(tree);
    *state = tree;
    return 0;
}

static int tear_down(void **state)
{
    symbol_tree_close(*state);
    free(*state);
    return 0;
}

/* Expands in.pd_ to out.pdb, which is there only if that went well. */
static etl_status expand(const symbol_tree *tree, u64 bytes_max, etl_error *error)
{
    symbol_partial partial;
    assert_true(symbol_partial_open(&partial, symbol_tree_path(tree, "out.pdb")));
    const etl_status status =
        symbol_cab_expand(symbol_tree_path(tree, "in.pd_"), "app.pdb", bytes_max, &partial, error);
    if (status == ETL_OK)
        assert_true(symbol_partial_commit(&partial));
    else
        symbol_partial_drop(&partial);
    assert_int_equal(symbol_tree_count(tree, "", ".new"), 0);
    return status;
}

static void assert_file_is(const symbol_tree *tree, const char *name, etl_bytes content)
{
    u8 *const read = malloc(content.size + 1);
    FILE *const file = fopen(symbol_tree_path(tree, name), "rb");
    assert_non_null(read);
    assert_non_null(file);
    assert_int_equal(fread(read, 1, content.size + 1, file), content.size);
    assert_memory_equal(read, content.at, content.size);
    fclose(file);
    free(read);
}

static void round_trip(const symbol_tree *tree, size_t size, cabinet_kind kind)
{
    hand_bytes content = symbol_tree_content(KEY, size);
    hand_bytes cabinet = symbol_tree_cabinet_bytes("app.pdb", hand_view(&content), kind);
    symbol_tree_write(tree, "in.pd_", hand_view(&cabinet));
    etl_error error = { 0 };
    assert_int_equal(expand(tree, size, &error), ETL_OK);
    assert_file_is(tree, "out.pdb", hand_view(&content));
    hand_free(&content);
    hand_free(&cabinet);
}

static void stored_cabinets_expand(void **state)
{
    round_trip(*state, LARGE_BYTES, CABINET_STORED);
}

static void zipped_cabinets_expand(void **state)
{
    round_trip(*state, LARGE_BYTES, CABINET_MSZIP);
}

static void cabinets_of_another_maker_expand(void **state)
{
    const symbol_tree *const tree = *state;
    char command[2048];
    if (system("command -v gcab > /dev/null") != 0) {
        print_message("gcab is missing\n");
        skip();
    }
    hand_bytes content = symbol_tree_content(KEY, LARGE_BYTES);
    symbol_tree_write(tree, "app.pdb", hand_view(&content));
    snprintf(command, sizeof command, "cd '%s' && gcab -c -z in.pd_ app.pdb > gcab.log 2>&1",
             tree->root);
    assert_int_equal(system(command), 0);
    assert_int_equal(expand(tree, LARGE_BYTES, NULL), ETL_OK);
    assert_file_is(tree, "out.pdb", hand_view(&content));
    hand_free(&content);
}

static void the_only_file_is_taken_whatever_its_name(void **state)
{
    const symbol_tree *const tree = *state;
    symbol_tree_cabinet(tree, "in.pd_", "something else", KEY);
    assert_int_equal(expand(tree, ETL_MIB, NULL), ETL_OK);
    assert_true(symbol_tree_is_symbol(symbol_tree_path(tree, "out.pdb"), KEY));
}

static void what_a_former_attempt_left_is_overwritten(void **state)
{
    const symbol_tree *const tree = *state;
    hand_bytes rest = symbol_tree_content("other", LARGE_BYTES);
    symbol_tree_write(tree, "out.pdb.new", hand_view(&rest));
    symbol_tree_cabinet(tree, "in.pd_", "app.pdb", KEY);
    assert_int_equal(expand(tree, ETL_MIB, NULL), ETL_OK);
    assert_true(symbol_tree_is_symbol(symbol_tree_path(tree, "out.pdb"), KEY));
    hand_free(&rest);
}

static void a_cabinet_with_too_much_is_refused(void **state)
{
    const symbol_tree *const tree = *state;
    etl_error error = { 0 };
    symbol_tree_cabinet(tree, "in.pd_", "app.pdb", KEY);
    assert_int_equal(expand(tree, 2999, &error), ETL_ERR_LIMIT);
    assert_false(symbol_tree_exists(tree, "out.pdb"));
    assert_int_equal(expand(tree, 3000, &error), ETL_OK);
}

static void a_cabinet_that_understates_its_size_is_damaged(void **state)
{
    const symbol_tree *const tree = *state;
    hand_bytes content = symbol_tree_content(KEY, LARGE_BYTES);
    hand_bytes cabinet = symbol_tree_cabinet_bytes("app.pdb", hand_view(&content), CABINET_STORED);
    hand_set_u32(&cabinet, 36 + 8, LARGE_BYTES * 2);
    symbol_tree_write(tree, "in.pd_", hand_view(&cabinet));
    etl_error error = { 0 };
    assert_int_equal(expand(tree, ETL_MIB, &error), ETL_ERR_CORRUPT);
    assert_true(error.message[0] != 0);
    hand_free(&content);
    hand_free(&cabinet);
}

static void what_is_no_cabinet_is_unsupported(void **state)
{
    const symbol_tree *const tree = *state;
    symbol_tree_text(tree, "in.pd_", "PK\x03\x04 a zip, which newer symstores can write too......");
    assert_int_equal(expand(tree, ETL_MIB, NULL), ETL_ERR_UNSUPPORTED);
    symbol_tree_text(tree, "in.pd_", "");
    assert_int_not_equal(expand(tree, ETL_MIB, NULL), ETL_OK);
}

static void a_cabinet_that_is_not_there_is_an_io_error(void **state)
{
    assert_int_equal(expand(*state, ETL_MIB, NULL), ETL_ERR_IO);
}

static void no_cut_of_a_cabinet_passes_for_whole(void **state)
{
    const symbol_tree *const tree = *state;
    hand_bytes content = symbol_tree_content(KEY, 200);
    hand_bytes cabinet = symbol_tree_cabinet_bytes("app.pdb", hand_view(&content), CABINET_MSZIP);
    for (size_t size = 0; size < cabinet.size; size++) {
        symbol_tree_write(tree, "in.pd_", (etl_bytes){ cabinet.at, size });
        assert_int_not_equal(expand(tree, ETL_MIB, NULL), ETL_OK);
    }
    hand_free(&content);
    hand_free(&cabinet);
}

static void no_change_of_a_cabinet_crashes_or_fills_the_disk(void **state)
{
    const symbol_tree *const tree = *state;
    hand_bytes content = symbol_tree_content(KEY, 200);
    u64 seed = 4711;
    for (u32 i = 0; i < RANDOM_CHANGES; i++) {
        const cabinet_kind kind = i % 2 ? CABINET_MSZIP : CABINET_STORED;
        hand_bytes cabinet = symbol_tree_cabinet_bytes("app.pdb", hand_view(&content), kind);
        for (u32 change = hand_random(&seed) % 4 + 1; change > 0; change--)
            cabinet.at[hand_random(&seed) % cabinet.size] = (u8)hand_random(&seed);
        symbol_tree_write(tree, "in.pd_", hand_view(&cabinet));
        symbol_partial partial;
        assert_true(symbol_partial_open(&partial, symbol_tree_path(tree, "out.pdb")));
        (void)symbol_cab_expand(symbol_tree_path(tree, "in.pd_"), "app.pdb", ETL_MIB, &partial,
                                NULL);
        assert_true(partial.size_bytes <= ETL_MIB);
        symbol_partial_drop(&partial);
        hand_free(&cabinet);
    }
    hand_free(&content);
}

static void the_name_of_the_compressed_form_ends_with_an_underscore(void **state)
{
    (void)state;
    char name[16];
    assert_true(symbol_cab_name(name, sizeof name, "ntdll.pdb"));
    assert_string_equal(name, "ntdll.pd_");
    assert_false(symbol_cab_name(name, sizeof name, ""));
    assert_false(symbol_cab_name(name, sizeof name, "a-name-of-16.pdb"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(stored_cabinets_expand),
        TEST(zipped_cabinets_expand),
        TEST(cabinets_of_another_maker_expand),
        TEST(the_only_file_is_taken_whatever_its_name),
        TEST(what_a_former_attempt_left_is_overwritten),
        TEST(a_cabinet_with_too_much_is_refused),
        TEST(a_cabinet_that_understates_its_size_is_damaged),
        TEST(what_is_no_cabinet_is_unsupported),
        TEST(a_cabinet_that_is_not_there_is_an_io_error),
        TEST(no_cut_of_a_cabinet_passes_for_whole),
        TEST(no_change_of_a_cabinet_crashes_or_fills_the_disk),
        cmocka_unit_test(the_name_of_the_compressed_form_ends_with_an_underscore),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
