/*
 * Goal: rows of a walk with symbols have the stacks that a report of the same query
 * has, culled, required and named alike; what is not handed out is not looked up.
 * Method: blocks over the modules of symbol_world.h; the rows of a walk, added up by
 * the text of their stack, against the rows of the report.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "tests/support/symbol_world.h"
#include "walk_check.h"

#define APP(offset) (WORLD_APP + (offset))
#define CRT(offset) (WORLD_CRT + (offset))
#define LIB(offset) (WORLD_LIB + (offset))

static int begin_test(void **state)
{
    symbol_world *const w = world_new();
    world_open_symbols(w, NULL);
    w->query.group_by[0] = ETLHEAP_KEY_STACK;
    w->query.group_by_count = 1;
    *state = w;
    return 0;
}

static int end_test(void **state)
{
    world_free(*state);
    return 0;
}

#define BLOCK(w, size, ...)                                                                        \
    (void)world_block((w), (size), (const u64[]){ __VA_ARGS__ },                                   \
                      (u32)(sizeof((u64[]){ __VA_ARGS__ }) / sizeof(u64)))

static void add_blocks(symbol_world *w)
{
    BLOCK(w, 30, CRT(WORLD_MALLOC), APP(WORLD_ALLOCATE), APP(WORLD_MAIN));
    BLOCK(w, 20, APP(WORLD_GROW), APP(WORLD_MAIN), WORLD_GONE + 0x30);
    BLOCK(w, 31, CRT(WORLD_MALLOC), APP(WORLD_ALLOCATE), APP(WORLD_MAIN));
    BLOCK(w, 8, LIB(WORLD_LIB_MAKE), APP(WORLD_MAIN));
    BLOCK(w, 9, WORLD_BLANK + 0x40, UINT64_C(0x7fff0000));
    BLOCK(w, 40, CRT(WORLD_FILE), APP(WORLD_PUSH), APP(WORLD_MAIN));
}

/* Stacks of a table as text, inner frames first. */
static void put_stack(FILE *out, const etlheap_table *table, u32 stack)
{
    for (u32 i = table->stack_starts[stack]; i < table->stack_starts[stack + 1]; i++) {
        const etlheap_frame *const frame = &table->frames[table->frame_indices[i]];
        fprintf(out, " %s+%llx@%llx!%s:%s:%u%s%s", frame->module == NULL ? "-" : frame->module,
                (unsigned long long)frame->offset, (unsigned long long)frame->address,
                frame->symbol == NULL ? "-" : frame->symbol,
                frame->file == NULL ? "-" : frame->file, frame->line,
                frame->is_inlined ? " inlined" : "", frame->is_nearest ? " near" : "");
    }
}

#define STACKS_MAX 16u

/* "2 blocks, 61 bytes: STACK" for each stack, sorted. */
static char *sums_of_walk(const symbol_world *w)
{
    u64 counts[STACKS_MAX] = { 0 }, sizes[STACKS_MAX] = { 0 };
    etlheap_lifetimes *walk = NULL;
    etlheap_lifetime row;
    char *text = NULL;
    size_t size = 0;
    assert_int_equal(etlheap_lifetimes_open(w->result, &w->query, NULL, &walk, NULL), ETL_OK);
    while (etlheap_lifetimes_next(walk, &row)) {
        assert_true(row.stack < STACKS_MAX);
        counts[row.stack]++;
        sizes[row.stack] += row.size_bytes;
    }
    const etlheap_table *const table = etlheap_lifetimes_table(walk);
    FILE *const out = open_memstream(&text, &size);
    for (u32 i = 0; i < table->stack_count; i++) {
        fprintf(out, "%llu blocks, %llu bytes:", (unsigned long long)counts[i],
                (unsigned long long)sizes[i]);
        put_stack(out, table, i);
        fputc('\n', out);
    }
    fclose(out);
    etlheap_lifetimes_close(walk);
    return walk_check_sorted(text);
}

static char *sums_of_report(const symbol_world *w)
{
    etlheap_table *table = NULL;
    char *text = NULL;
    size_t size = 0;
    assert_int_equal(etlheap_aggregate(w->result, &w->query, &table, NULL), ETL_OK);
    assert_int_equal(etlheap_table_name(table, w->symbols, NULL, NULL), ETL_OK);
    FILE *const out = open_memstream(&text, &size);
    for (u32 i = 0; i < table->row_count; i++) {
        const etlheap_row *const row = &table->rows[i];
        fprintf(out, "%lld blocks, %lld bytes:", (long long)row->measures[ETLHEAP_MEASURE_COUNT],
                (long long)row->measures[ETLHEAP_MEASURE_SIZE]);
        put_stack(out, table, row->stack);
        fputc('\n', out);
    }
    fclose(out);
    etlheap_table_free(table);
    return walk_check_sorted(text);
}

static void assert_same_sums(const symbol_world *w)
{
    char *const walk = sums_of_walk(w), *const report = sums_of_report(w);
    assert_string_equal(walk, report);
    assert_true(walk[0] != '\0');
    free(walk);
    free(report);
}

static void stacks_are_those_of_a_report(void **state)
{
    symbol_world *const w = *state;
    add_blocks(w);
    assert_same_sums(w);
}

static void stacks_are_culled_by_name_as_those_of_a_report(void **state)
{
    symbol_world *const w = *state;
    const etlheap_pattern cull[] = { { .symbol = "malloc" }, { .symbol = "allocate" } };
    w->query.cull_frames = cull;
    w->query.cull_frame_count = 2;
    add_blocks(w);
    assert_same_sums(w);
}

static void required_functions_choose_rows_as_in_a_report(void **state)
{
    symbol_world *const w = *state;
    const etlheap_pattern cull[] = { { .symbol = "malloc" } };
    const etlheap_pattern require[] = { { .module = "app", .symbol = "grow" } };
    w->query.cull_frames = cull;
    w->query.cull_frame_count = 1;
    w->query.require_frames = require;
    w->query.require_frame_count = 1;
    add_blocks(w);
    assert_same_sums(w);
}

static void nothing_is_left_when_no_function_is_the_required_one(void **state)
{
    symbol_world *const w = *state;
    const etlheap_pattern require[] = { { .symbol = "there is no such function" } };
    const walk_request request = { .query = &w->query };
    w->query.require_frames = require;
    w->query.require_frame_count = 1;
    add_blocks(w);
    etl_error err;
    u64 rows;
    assert_int_equal(walk_check_status(w->result, &request, &rows, &err), ETL_OK);
    assert_int_equal(rows, 0);
}

/* Lines of walk_check.h end with the frames. */
static void rows_are_numbered_and_named_in_their_order(void **state)
{
    symbol_world *const w = *state;
    walk_request request = { .query = &w->query };
    request.options.sort = ETLHEAP_LIFETIME_SIZE;
    request.options.sort_descending = true;
    request.options.top = 2;
    add_blocks(w);
    char *const text = walk_check_text(w->result, &request);
    assert_non_null(strstr(text, "size 40 "));
    assert_non_null(strstr(text, "app.exe!vec<int>::push app.exe!grow app.exe!main\n"));
    assert_non_null(strstr(text, "size 31 "));
    assert_non_null(strstr(text, "app.exe!allocate app.exe!vec<int>::push app.exe!grow"));
    free(text);
}

static void only_stacks_that_are_handed_out_are_looked_up(void **state)
{
    symbol_world *const w = *state;
    walk_request request = { .query = &w->query };
    request.options.sort = ETLHEAP_LIFETIME_SIZE;
    request.options.top = 1; /* the block of 8 bytes: two frames */
    add_blocks(w);
    free(walk_check_text(w->result, &request));
    assert_int_equal(w->symbols->names.count, 2);
    request.options.top = 0;
    free(walk_check_text(w->result, &request));
    assert_true(w->symbols->names.count > 2);
}

/* To know that a stack is not wanted takes the names of its frames of app.exe, and no
 * others. */
static void stacks_that_are_not_required_are_not_named(void **state)
{
    symbol_world *const w = *state;
    const etlheap_pattern require[] = { { .module = "app", .symbol = "grow" } };
    const walk_request request = { .query = &w->query };
    w->query.require_frames = require;
    w->query.require_frame_count = 1;
    BLOCK(w, 8, LIB(WORLD_LIB_MAKE), CRT(WORLD_FILE), APP(WORLD_MAIN));
    BLOCK(w, 20, APP(WORLD_GROW), APP(WORLD_MAIN));
    free(walk_check_text(w->result, &request));
    assert_int_equal(w->symbols->names.count, 2);
}

int main(void)
{
#define RULE(name) cmocka_unit_test_setup_teardown(name, begin_test, end_test)
    const struct CMUnitTest tests[] = {
        RULE(stacks_are_those_of_a_report),
        RULE(stacks_are_culled_by_name_as_those_of_a_report),
        RULE(required_functions_choose_rows_as_in_a_report),
        RULE(nothing_is_left_when_no_function_is_the_required_one),
        RULE(rows_are_numbered_and_named_in_their_order),
        RULE(only_stacks_that_are_handed_out_are_looked_up),
        RULE(stacks_that_are_not_required_are_not_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
