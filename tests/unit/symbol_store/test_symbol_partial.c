/*
 * Goal: a file under its own name is always whole; what is not complete stays
 * aside, can be gone on with, and belongs to one process at a time.
 * Method: files written in steps in a folder of the test; a second process holds
 * one while we ask for it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/symbol_store/symbol_partial.h"
#include "symbol_tree.h"

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

static void open_app(const symbol_tree *tree, symbol_partial *partial)
{
    assert_true(symbol_partial_open(partial, symbol_tree_path(tree, "store/key/app.pdb")));
}

static void append(symbol_partial *partial, const char *text)
{
    assert_true(symbol_partial_append(partial, (etl_bytes){ (const u8 *)text, strlen(text) }));
}

static void assert_text(const symbol_tree *tree, const char *name, const char *expected)
{
    char text[64] = "";
    FILE *const file = fopen(symbol_tree_path(tree, name), "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    assert_string_equal(text, expected);
}

static void a_file_appears_when_it_is_committed(void **state)
{
    const symbol_tree *const tree = *state;
    symbol_partial partial;
    open_app(tree, &partial);
    append(&partial, "one ");
    append(&partial, "two");
    assert_true(partial.size_bytes == 7);
    assert_false(symbol_tree_exists(tree, "store/key/app.pdb"));
    assert_true(symbol_tree_exists(tree, "store/key/app.pdb.new"));
    assert_true(symbol_partial_commit(&partial));
    assert_text(tree, "store/key/app.pdb", "one two");
    assert_int_equal(symbol_tree_count(tree, "", ""), 1);
}

static void what_is_kept_is_gone_on_with(void **state)
{
    const symbol_tree *const tree = *state;
    symbol_partial partial;
    open_app(tree, &partial);
    append(&partial, "one ");
    symbol_partial_keep(&partial);
    open_app(tree, &partial);
    assert_true(partial.size_bytes == 4);
    append(&partial, "two");
    assert_true(symbol_partial_commit(&partial));
    assert_text(tree, "store/key/app.pdb", "one two");
}

static void what_is_cleared_begins_anew(void **state)
{
    const symbol_tree *const tree = *state;
    symbol_partial partial;
    open_app(tree, &partial);
    append(&partial, "something longer");
    assert_true(symbol_partial_clear(&partial));
    assert_true(partial.size_bytes == 0);
    append(&partial, "short");
    assert_true(symbol_partial_commit(&partial));
    assert_text(tree, "store/key/app.pdb", "short");
}

static void what_is_dropped_or_empty_leaves_nothing(void **state)
{
    const symbol_tree *const tree = *state;
    symbol_partial partial;
    open_app(tree, &partial);
    append(&partial, "one");
    symbol_partial_drop(&partial);
    open_app(tree, &partial);
    symbol_partial_keep(&partial);
    assert_int_equal(symbol_tree_count(tree, "", ""), 0);
}

/* A process that holds the partial file until the pipe is closed. */
static pid_t start_holder(const symbol_tree *tree, const int ready[2], const int stop[2])
{
    const pid_t process = fork();
    assert_true(process >= 0);
    if (process > 0)
        return process;
    symbol_partial partial;
    char byte = 'x';
    close(stop[1]);
    if (!symbol_partial_open(&partial, symbol_tree_path(tree, "store/key/app.pdb")) ||
        !partial.is_shared || !symbol_partial_append(&partial, (etl_bytes){ (u8 *)&byte, 1 }) ||
        write(ready[1], &byte, 1) != 1 || read(stop[0], &byte, 1) != 0)
        _exit(1);
    symbol_partial_keep(&partial);
    _exit(0);
}

static void a_second_process_writes_to_a_file_of_its_own(void **state)
{
    const symbol_tree *const tree = *state;
    int ready[2];
    int stop[2];
    char byte;
    int status;
    symbol_partial partial;
    assert_int_equal(pipe(ready), 0);
    assert_int_equal(pipe(stop), 0);
    const pid_t holder = start_holder(tree, ready, stop);
    close(stop[0]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    open_app(tree, &partial);
    assert_false(partial.is_shared);
    assert_true(partial.size_bytes == 0);
    append(&partial, "ours");
    assert_true(symbol_partial_commit(&partial));
    assert_text(tree, "store/key/app.pdb", "ours");
    assert_text(tree, "store/key/app.pdb.new", "x");
    close(stop[1]);
    assert_int_equal(waitpid(holder, &status, 0), holder);
    assert_int_equal(status, 0);
    close(ready[0]);
    close(ready[1]);
    /* With the holder gone its part is anybody's. */
    open_app(tree, &partial);
    assert_true(partial.is_shared);
    assert_true(partial.size_bytes == 1);
    symbol_partial_drop(&partial);
}

static void looking_at_a_part_does_not_unlock_it(void **state)
{
    const symbol_tree *const tree = *state;
    symbol_partial first;
    symbol_partial second;
    open_app(tree, &first);
    append(&first, "one");
    assert_text(tree, "store/key/app.pdb.new", "one");
    open_app(tree, &second);
    assert_false(second.is_shared);
    symbol_partial_drop(&second);
    assert_true(symbol_partial_commit(&first));
    assert_text(tree, "store/key/app.pdb", "one");
}

static void a_link_in_the_way_is_not_followed(void **state)
{
    const symbol_tree *const tree = *state;
    symbol_partial partial;
    symbol_tree_text(tree, "precious", "data");
    symbol_tree_text(tree, "store/key/other", "");
    assert_int_equal(symlink(symbol_tree_path(tree, "precious"),
                             symbol_tree_path(tree, "store/key/app.pdb.new")),
                     0);
    open_app(tree, &partial);
    assert_false(partial.is_shared);
    append(&partial, "new");
    assert_true(symbol_partial_commit(&partial));
    assert_text(tree, "precious", "data");
    assert_text(tree, "store/key/app.pdb", "new");
}

static void a_name_that_is_too_long_is_refused(void **state)
{
    (void)state;
    symbol_partial partial;
    static char name[SYMBOL_FILE_SIZE];
    memset(name, 'a', sizeof name - 5);
    assert_false(symbol_partial_open(&partial, name));
    assert_int_equal(errno, ENAMETOOLONG);
}

static void a_copy_is_whole_or_not_there(void **state)
{
    const symbol_tree *const tree = *state;
    hand_bytes content = symbol_tree_content("key", 200000);
    symbol_tree_write(tree, "from", hand_view(&content));
    assert_true(symbol_copy_file(symbol_tree_path(tree, "from"), symbol_tree_path(tree, "a/b/to")));
    struct stat facts;
    assert_int_equal(stat(symbol_tree_path(tree, "a/b/to"), &facts), 0);
    assert_int_equal(facts.st_size, 200000);
    assert_false(
        symbol_copy_file(symbol_tree_path(tree, "nothing"), symbol_tree_path(tree, "a/b/other")));
    assert_false(
        symbol_copy_file(symbol_tree_path(tree, "a"), symbol_tree_path(tree, "a/b/other")));
    assert_int_equal(symbol_tree_count(tree, "a", ""), 1);
    hand_free(&content);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_file_appears_when_it_is_committed),
        TEST(what_is_kept_is_gone_on_with),
        TEST(what_is_cleared_begins_anew),
        TEST(what_is_dropped_or_empty_leaves_nothing),
        TEST(a_second_process_writes_to_a_file_of_its_own),
        TEST(looking_at_a_part_does_not_unlock_it),
        TEST(a_link_in_the_way_is_not_followed),
        cmocka_unit_test(a_name_that_is_too_long_is_refused),
        TEST(a_copy_is_whole_or_not_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
