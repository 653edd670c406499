/*
 * Goal: frames of a table get names, inlined calls become frames of their own,
 * and rows stay as they are; `etlheap symbols` adds up by the module of the site.
 * Method: blocks over the modules of symbol_world.h, grouped through the front
 * door; tables as text.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "tests/support/symbol_world.h"

#define APP(offset) (WORLD_APP + (offset))
#define CRT(offset) (WORLD_CRT + (offset))
#define LIB(offset) (WORLD_LIB + (offset))

typedef struct bench {
    symbol_world *world;
    etlheap_table *table;
    const etlheap_symbol_list *list;
    char text[4000];
} bench;

static int begin_test(void **state)
{
    bench *const b = calloc(1, sizeof *b);
    b->world = world_new();
    world_open_symbols(b->world, NULL);
    *state = b;
    return 0;
}

static int end_test(void **state)
{
    bench *const b = *state;
    etlheap_table_free(b->table);
    etlheap_symbol_list_free(b->list);
    world_free(b->world);
    free(b);
    return 0;
}

#define BLOCK(b, size, ...)                                                                        \
    (void)world_block((b)->world, (size), (const u64[]){ __VA_ARGS__ },                            \
                      (u32)(sizeof((u64[]){ __VA_ARGS__ }) / sizeof(u64)))

static void group_by(bench *b, etlheap_key key)
{
    b->world->query.group_by[0] = key;
    b->world->query.group_by_count = 1;
}

static void aggregate(bench *b)
{
    assert_int_equal(etlheap_aggregate(b->world->result, &b->world->query, &b->table, NULL),
                     ETL_OK);
}

static void name(bench *b, const bool *rows)
{
    assert_int_equal(etlheap_table_name(b->table, b->world->symbols, rows, NULL), ETL_OK);
}

static void put_frame(const etlheap_frame *frame, FILE *out)
{
    const char *const slash = frame->file == NULL ? NULL : strrchr(frame->file, '\\');
    if (frame->symbol == NULL)
        fprintf(out, "+%llx", (unsigned long long)frame->offset);
    else
        fprintf(out, "%s", frame->symbol);
    if (frame->is_nearest)
        fprintf(out, "~%llx", (unsigned long long)frame->displacement);
    if (frame->line != 0)
        fprintf(out, " %s:%u", slash == NULL ? frame->file : slash + 1, frame->line);
    if (frame->is_inlined)
        fprintf(out, " inlined");
}

/* One line a row: its size, then its stack or frame. */
static const char *rows_of(bench *b)
{
    const etlheap_table *const table = b->table;
    FILE *const out = fmemopen(b->text, sizeof b->text, "w");
    for (u32 i = 0; i < table->row_count; i++) {
        const etlheap_row *const row = &table->rows[i];
        fprintf(out, "%lld:", (long long)row->measures[ETLHEAP_MEASURE_OUTSTANDING_SIZE]);
        if (row->stack != ETLHEAP_NO_INDEX) {
            for (u32 k = table->stack_starts[row->stack]; k < table->stack_starts[row->stack + 1];
                 k++) {
                fprintf(out, k > table->stack_starts[row->stack] ? " < " : " ");
                put_frame(&table->frames[table->frame_indices[k]], out);
            }
        }
        if (row->frame != ETLHEAP_NO_INDEX) {
            fprintf(out, " ");
            put_frame(&table->frames[row->frame], out);
        }
        fprintf(out, "\n");
    }
    fputc('\0', out);
    fclose(out);
    return b->text;
}

/* --- frames and stacks ---------------------------------------------------------- */

static void frames_become_calls(void **state)
{
    bench *const b = *state;
    BLOCK(b, 30, CRT(WORLD_MALLOC), APP(WORLD_ALLOCATE), APP(WORLD_MAIN));
    BLOCK(b, 20, APP(WORLD_GROW), APP(WORLD_MAIN), WORLD_GONE + 0x30);
    group_by(b, ETLHEAP_KEY_STACK);
    aggregate(b);
    assert_string_equal(rows_of(b), "30: +1010 < +1117 < +1308\n20: +1104 < +1308 < +30\n");
    name(b, NULL);
    assert_string_equal(rows_of(b),
                        "30: malloc~10 < allocate a.cpp:3 inlined < vec<int>::push inlined < "
                        "grow a.cpp:11 < main\n20: grow a.cpp:11 < main < +30\n");
}

static void calls_share_their_place(void **state)
{
    bench *const b = *state;
    BLOCK(b, 30, APP(WORLD_ALLOCATE), APP(WORLD_MAIN));
    group_by(b, ETLHEAP_KEY_STACK);
    aggregate(b);
    name(b, NULL);
    assert_int_equal(b->table->frame_count, 4);
    for (u32 i = 0; i < 3; i++) {
        assert_int_equal(b->table->frames[i].offset, WORLD_ALLOCATE);
        assert_int_equal(b->table->frames[i].address, APP(WORLD_ALLOCATE));
        assert_string_equal(b->table->frames[i].module, "app.exe");
    }
}

static void frames_stay_in_order_of_first_use(void **state)
{
    bench *const b = *state;
    BLOCK(b, 30, APP(WORLD_ALLOCATE), APP(WORLD_MAIN));
    BLOCK(b, 20, APP(WORLD_MAIN), APP(WORLD_ALLOCATE));
    group_by(b, ETLHEAP_KEY_STACK);
    aggregate(b);
    name(b, NULL);
    const u32 wanted[] = { 0, 1, 2, 3, 3, 0, 1, 2 };
    assert_int_equal(b->table->stack_starts[2], ETL_COUNT_OF(wanted));
    assert_memory_equal(b->table->frame_indices, wanted, sizeof wanted);
}

static void culled_calls_stay_away(void **state)
{
    bench *const b = *state;
    const etlheap_pattern cull = { .symbol = "allocate" };
    b->world->query.cull_frames = &cull;
    b->world->query.cull_frame_count = 1;
    BLOCK(b, 30, APP(WORLD_ALLOCATE), APP(WORLD_MAIN));
    group_by(b, ETLHEAP_KEY_STACK);
    aggregate(b);
    name(b, NULL);
    assert_string_equal(rows_of(b), "30: vec<int>::push inlined < grow a.cpp:11 < main\n");
}

static void rows_that_are_not_chosen_keep_what_they_have(void **state)
{
    bench *const b = *state;
    const bool rows[] = { true, false };
    BLOCK(b, 30, APP(WORLD_GROW), APP(WORLD_MAIN));
    BLOCK(b, 20, APP(WORLD_GROW), CRT(WORLD_MALLOC));
    group_by(b, ETLHEAP_KEY_STACK);
    aggregate(b);
    name(b, rows);
    assert_string_equal(rows_of(b), "30: grow a.cpp:11 < main\n20: grow a.cpp:11 < +1010\n");
    assert_int_equal(b->world->symbols->names.count, 2);
}

static void rows_that_were_dropped_need_no_names(void **state)
{
    bench *const b = *state;
    BLOCK(b, 30, APP(WORLD_GROW), APP(WORLD_MAIN));
    BLOCK(b, 20, WORLD_GONE + 5);
    group_by(b, ETLHEAP_KEY_STACK);
    aggregate(b);
    assert_int_equal(etlheap_table_keep_top(b->table, 1, NULL), ETL_OK);
    name(b, NULL);
    assert_string_equal(rows_of(b), "30: grow a.cpp:11 < main\n");
    assert_int_equal(b->table->diagnostics.of[ETL_DIAG_symbol_missing], 0);
}

static void what_was_odd_is_told_with_the_table(void **state)
{
    bench *const b = *state;
    BLOCK(b, 30, LIB(WORLD_LIB_MAKE), WORLD_GONE + 5);
    group_by(b, ETLHEAP_KEY_SITE);
    aggregate(b);
    assert_int_equal(b->table->diagnostics.of[ETL_DIAG_symbol_exports_only], 1);
    etlheap_table_free(b->table);
    group_by(b, ETLHEAP_KEY_STACK);
    aggregate(b);
    name(b, NULL);
    assert_int_equal(b->table->diagnostics.of[ETL_DIAG_symbol_exports_only], 1);
    assert_int_equal(b->table->diagnostics.of[ETL_DIAG_symbol_missing], 1);
}

static void tables_without_stacks_take_names_too(void **state)
{
    bench *const b = *state;
    BLOCK(b, 30, APP(WORLD_GROW));
    group_by(b, ETLHEAP_KEY_PROCESS);
    aggregate(b);
    name(b, NULL);
    assert_int_equal(b->table->row_count, 1);
    assert_int_equal(b->world->symbols->names.count, 0);
}

/* --- groups by name -------------------------------------------------------------------- */

static void sites_are_functions(void **state)
{
    bench *const b = *state;
    BLOCK(b, 30, APP(WORLD_GROW), APP(WORLD_MAIN));
    BLOCK(b, 5, APP(WORLD_GROW_LATE), APP(WORLD_MAIN));
    BLOCK(b, 20, APP(WORLD_MAIN));
    BLOCK(b, 1, WORLD_GONE + 5);
    group_by(b, ETLHEAP_KEY_SITE);
    aggregate(b);
    assert_string_equal(rows_of(b), "35: grow\n20: main\n1: +5\n");
    name(b, NULL);
    assert_string_equal(rows_of(b), "35: grow\n20: main\n1: +5\n");
}

static void sites_without_symbols_are_places(void **state)
{
    bench *const b = *state;
    b->world->query.symbols = NULL;
    BLOCK(b, 30, APP(WORLD_GROW), APP(WORLD_MAIN));
    BLOCK(b, 5, APP(WORLD_GROW_LATE), APP(WORLD_MAIN));
    group_by(b, ETLHEAP_KEY_SITE);
    aggregate(b);
    assert_string_equal(rows_of(b), "30: +1104\n5: +1180\n");
}

static void types_are_groups(void **state)
{
    bench *const b = *state;
    BLOCK(b, 30, APP(WORLD_NEW), APP(WORLD_ALLOCATE), APP(WORLD_MAIN));
    BLOCK(b, 5, APP(WORLD_NEW), APP(WORLD_MAIN));
    group_by(b, ETLHEAP_KEY_TYPE_NAME);
    aggregate(b);
    assert_int_equal(b->table->row_count, 2);
    assert_string_equal(b->table->rows[0].type_name, "int");
    assert_int_equal(b->table->rows[0].measures[ETLHEAP_MEASURE_SIZE], 30);
    assert_string_equal(b->table->rows[1].type_name, "unknown");
}

static void modules_are_those_of_the_site(void **state)
{
    bench *const b = *state;
    const etlheap_pattern cull = { .symbol = "malloc" };
    b->world->query.cull_frames = &cull;
    b->world->query.cull_frame_count = 1;
    BLOCK(b, 30, CRT(WORLD_MALLOC), APP(WORLD_MAIN));
    BLOCK(b, 5, CRT(WORLD_FILE), APP(WORLD_MAIN));
    group_by(b, ETLHEAP_KEY_MODULE);
    aggregate(b);
    assert_string_equal(b->table->rows[0].module, "app.exe");
    assert_string_equal(b->table->rows[1].module, "crt.dll");
}

/* --- the list of modules ------------------------------------------------------------------ */

static const char *list_of(bench *b)
{
    FILE *const out = fmemopen(b->text, sizeof b->text, "w");
    assert_int_equal(etlheap_symbols_list(&b->world->query, &b->list, NULL), ETL_OK);
    fprintf(out, "%lld of %lld\n", (long long)b->list->named_size[ETLHEAP_KIND_HEAP],
            (long long)b->list->size[ETLHEAP_KIND_HEAP]);
    for (u32 i = 0; i < b->list->module_count; i++) {
        const etlheap_symbol_module *const row = &b->list->modules[i];
        fprintf(
            out, "%s %s %lld of %lld\n", row->module->name, etlheap_symbol_state_word(row->state),
            (long long)row->named_size[ETLHEAP_KIND_HEAP], (long long)row->size[ETLHEAP_KIND_HEAP]);
    }
    fputc('\0', out);
    fclose(out);
    return b->text;
}

static void list_adds_up_by_the_module_of_the_site(void **state)
{
    bench *const b = *state;
    const etlheap_pattern cull = { .symbol = "malloc" };
    b->world->query.cull_frames = &cull;
    b->world->query.cull_frame_count = 1;
    BLOCK(b, 30, CRT(WORLD_MALLOC), APP(WORLD_MAIN));
    BLOCK(b, 2, CRT(WORLD_MALLOC), APP(WORLD_MAIN_AT), LIB(WORLD_LIB_MAKE));
    BLOCK(b, 5, LIB(WORLD_LIB_MAKE), APP(WORLD_MAIN));
    BLOCK(b, 7, CRT(WORLD_FILE), WORLD_GONE + 5, WORLD_BLANK + 5);
    BLOCK(b, 100, 0x1234);
    assert_string_equal(list_of(b), "37 of 144\n"
                                    "app.exe found 30 of 32\n"
                                    "crt.dll found 7 of 7\n"
                                    "lib.dll exports 0 of 5\n"
                                    "blank.dll unidentified 0 of 0\n"
                                    "gone.dll missing 0 of 0\n");
    assert_int_equal(b->list->diagnostics.of[ETL_DIAG_symbol_missing], 1);
}

static void list_says_what_is_expected(void **state)
{
    bench *const b = *state;
    BLOCK(b, 30, WORLD_GONE + 5, LIB(WORLD_LIB_MAKE), WORLD_BLANK + 5);
    etlheap_module_info *const gone =
        &b->world->result->modules.list.at[world_module(b->world, "gone.dll")];
    gone->pdb_name = "c:\\build\\gone.pdb";
    gone->guid =
        (etl_guid){ { 0x10, 0x32, 0x54, 0x76, 0x98, 0xba, 0xdc, 0xfe, 1, 2, 3, 4, 5, 6, 7, 8 } };
    gone->age = 0x1b;
    world_open_symbols(b->world, NULL);
    (void)list_of(b);
    assert_string_equal(b->list->modules[0].expected,
                        "gone.pdb/76543210BA98FEDC01020304050607081b");
    assert_null(b->list->modules[0].file);
    assert_string_equal(b->list->modules[1].expected, "");
    assert_string_equal(b->list->modules[2].expected, "lib.dll/5E0A12348000");
    assert_non_null(b->list->modules[2].file);
}

static void list_of_nothing_is_empty(void **state)
{
    bench *const b = *state;
    assert_string_equal(list_of(b), "0 of 0\n");
}

static void list_knows_only_what_is_outstanding(void **state)
{
    bench *const b = *state;
    const u64 gone = WORLD_GONE + 5;
    const lifetime freed = { .alloc_ticks = HAND_START_TICKS + 1,
                             .free_ticks = HAND_START_TICKS + 2,
                             .free_type = ETLHEAP_FREE_FREE,
                             .size = 50,
                             .process = b->world->process,
                             .stack = hand_stack(b->world->result, &gone, 1) };
    BLOCK(b, 30, APP(WORLD_MAIN));
    hand_lifetime(b->world->result, &freed);
    assert_string_equal(list_of(b), "30 of 30\napp.exe found 30 of 30\n");
}

/* Those of a later library, which has more to say about each. */
static void rows_and_frames_may_lie_further_apart(void **state)
{
    bench *const b = *state;
    struct {
        etlheap_row row;
        u64 more;
    } rows[2] = { { .row = { .pid = 1 } }, { .row = { .pid = 2 } } };
    struct {
        etlheap_frame frame;
        u64 more;
    } frames[2] = { { .frame = { .line = 3 } }, { .frame = { .line = 4 } } };
    const etlheap_table later = { .rows = &rows[0].row,
                                  .row_count = 2,
                                  .row_stride = sizeof rows[0],
                                  .frames = &frames[0].frame,
                                  .frame_count = 2,
                                  .frame_stride = sizeof frames[0] };
    assert_int_equal(etlheap_table_row(&later, 1)->pid, 2);
    assert_int_equal(etlheap_table_frame(&later, 1)->line, 4);

    BLOCK(b, 10, CRT(0x40), APP(WORLD_MAIN));
    BLOCK(b, 20, APP(WORLD_MAIN));
    group_by(b, ETLHEAP_KEY_SITE);
    aggregate(b);
    assert_ptr_equal(etlheap_table_row(b->table, 1), &b->table->rows[1]);
    assert_ptr_equal(etlheap_table_frame(b->table, 1), &b->table->frames[1]);
    etlheap_diff_options options = etlheap_diff_options_default();
    options.keep_unchanged = true;
    etlheap_diff *diff = NULL;
    assert_int_equal(etlheap_diff_tables(b->table, b->table, &options, &diff, NULL), ETL_OK);
    assert_true(diff->table.row_count > 1 && diff->table.frame_count > 1);
    assert_ptr_equal(etlheap_table_row(&diff->table, 1), &diff->table.rows[1]);
    assert_ptr_equal(etlheap_table_frame(&diff->table, 1), &diff->table.frames[1]);
    etlheap_diff_free(diff);
}

#define NAME_TEST(test) cmocka_unit_test_setup_teardown(test, begin_test, end_test)

int main(void)
{
    const struct CMUnitTest tests[] = {
        NAME_TEST(frames_become_calls),
        NAME_TEST(calls_share_their_place),
        NAME_TEST(frames_stay_in_order_of_first_use),
        NAME_TEST(culled_calls_stay_away),
        NAME_TEST(rows_that_are_not_chosen_keep_what_they_have),
        NAME_TEST(rows_that_were_dropped_need_no_names),
        NAME_TEST(what_was_odd_is_told_with_the_table),
        NAME_TEST(tables_without_stacks_take_names_too),
        NAME_TEST(rows_and_frames_may_lie_further_apart),
        NAME_TEST(sites_are_functions),
        NAME_TEST(sites_without_symbols_are_places),
        NAME_TEST(types_are_groups),
        NAME_TEST(modules_are_those_of_the_site),
        NAME_TEST(list_adds_up_by_the_module_of_the_site),
        NAME_TEST(list_says_what_is_expected),
        NAME_TEST(list_of_nothing_is_empty),
        NAME_TEST(list_knows_only_what_is_outstanding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
