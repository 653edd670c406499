/*
 * Goal: a rise is explained by the stacks that are part of what rises and grew
 * themselves, and by no others, whatever the groups are.
 * Method: a process whose stacks grow, shrink or stand still in the window of its
 * rise, beside another one with the same stacks, by several keys.
 *
 *     stack       1     2     3     4     5
 *     rising.exe  9000  600   50    -400  0
 *     other.exe   100   100   100   100   100
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "formats/parts/field_units.h"
#include "formats/parts/window_rows.h"
#include "tests/support/hand_result.h"

#define TICKS(n)   (HAND_START_TICKS + (n))
#define NS(n)      ((n)*HAND_TICK_NS)
#define STACKS     5
#define WINDOWS    10
#define RISE       5 /* the window */
#define ROWS_MAX   32
#define NEVER      ETLHEAP_TICKS_NEVER
#define MODULE_AT  0x10000
#define FIRST_SITE 0x100

typedef struct world {
    etlheap_result *result;
    etlheap_windows *windows, *stacks;
    etlheap_growth growth;
    etlheap_windows_answer answer;
    bool explains[ROWS_MAX];
} world;

static void add(world *w, u32 process, u32 stack, i64 from, i64 to, u64 size)
{
    const lifetime row = { .alloc_ticks = from,
                           .free_ticks = to,
                           .size = size,
                           .heap = 0x10,
                           .process = process,
                           .stack = stack,
                           .free_type = to == NEVER ? ETLHEAP_FREE_NONE : ETLHEAP_FREE_FREE };
    hand_lifetime(w->result, &row);
}

static void open_world(world *w)
{
    static const u64 grown[STACKS] = { 9000, 600, 50, 0, 0 };
    const i64 rise = TICKS(RISE * 10 + 5);
    w->result = hand_result_new();
    const u32 rising = hand_process(w->result, 10, "rising.exe");
    const u32 other = hand_process(w->result, 20, "other.exe");
    for (u32 i = 0; i < STACKS; i++) {
        const u64 frames[] = { MODULE_AT + FIRST_SITE + i, MODULE_AT + 8 };
        const u32 stack = hand_stack(w->result, frames, 2);
        add(w, rising, stack, TICKS(1), i == 3 ? rise : NEVER, 400);
        if (grown[i] > 0)
            add(w, rising, stack, rise, NEVER, grown[i]);
        add(w, other, stack, rise, NEVER, 100);
    }
    hand_ready(w->result, TICKS(WINDOWS * 10) - 1);
}

static void close_world(world *w)
{
    etlheap_windows_free(w->stacks);
    etlheap_windows_free(w->windows);
    etlheap_result_free(w->result);
}

/* The rise of the row with these keys: of rising.exe, or of what it has. */
static void ask(world *w, const etlheap_key *keys, u32 key_count)
{
    etlheap_windows_options options = { .size = sizeof options, .every_ns = NS(10) };
    etlheap_query query = etlheap_query_default();
    memcpy(query.group_by, keys, key_count * sizeof *keys);
    query.group_by_count = key_count;
    query.jobs = 1;
    etlheap_windows_free(w->stacks);
    etlheap_windows_free(w->windows);
    assert_int_equal(etlheap_windows_make(w->result, &query, &options, &w->windows, NULL), ETL_OK);
    assert_true(etlheap_windows_find_growth(w->windows, ETLHEAP_NO_INDEX, &w->growth));
    assert_int_equal(w->growth.first_window, RISE);
    assert_int_equal(w->growth.window_count, 1);
    bool by_stack = false;
    for (u32 k = 0; k < key_count; k++)
        by_stack |= keys[k] == ETLHEAP_KEY_STACK;
    if (!by_stack)
        query.group_by[query.group_by_count++] = ETLHEAP_KEY_STACK;
    query.sort = ETLHEAP_MEASURE_IMPACTING_SIZE;
    options.measured_first = w->growth.first_window;
    options.measured_count = w->growth.window_count;
    assert_int_equal(etlheap_windows_make(w->result, &query, &options, &w->stacks, NULL), ETL_OK);
    assert_true(w->stacks->table->row_count <= ROWS_MAX);
    w->answer = (etlheap_windows_answer){
        .windows = w->windows, .growth_wanted = true, .growth = &w->growth, .stacks = w->stacks
    };
}

static u32 explain(world *w, const etlheap_layout *layout)
{
    return etlheap_windows_explain(&w->answer, layout, w->explains);
}

/* The marked rows are these, in this order, all of the process. */
static void expect(const world *w, const char *process, const i64 *sizes, u32 count)
{
    u32 marked = 0;
    for (u32 i = 0; i < w->stacks->table->row_count; i++) {
        const etlheap_row *const row = &w->stacks->table->rows[i];
        if (!w->explains[i])
            continue;
        assert_true(marked < count);
        assert_int_equal(row->measures[ETLHEAP_MEASURE_IMPACTING_SIZE], sizes[marked]);
        if (process)
            assert_string_equal(row->process, process);
        marked++;
    }
    assert_int_equal(marked, count);
}

static void stacks_of_the_row_that_grew_explain_it(void **state)
{
    static const etlheap_key keys[] = { ETLHEAP_KEY_KIND, ETLHEAP_KEY_PROCESS };
    static const i64 sizes[] = { 9000, 600, 50 };
    world w = { 0 };
    (void)state;
    open_world(&w);
    ask(&w, keys, 2);
    const etlheap_window_moves moves = etlheap_windows_moves(&w.answer);
    assert_int_equal(moves.grown_size, 9000 + 600 + 50);
    assert_int_equal(moves.shrunk_size, 400);
    assert_int_equal(explain(&w, NULL), 0);
    expect(&w, "rising.exe", sizes, 3);
    close_world(&w);
}

static void text_leaves_out_what_is_little_and_counts_it(void **state)
{
    static const etlheap_key keys[] = { ETLHEAP_KEY_KIND, ETLHEAP_KEY_PROCESS };
    static const i64 sizes[] = { 9000, 600, 50 };
    etlheap_layout layout = etlheap_layout_default();
    world w = { 0 };
    (void)state;
    open_world(&w);
    ask(&w, keys, 2);
    assert_int_equal(explain(&w, &layout), 1); /* 50 are below a hundredth */
    expect(&w, "rising.exe", sizes, 2);
    layout.rows_max = 1;
    assert_int_equal(explain(&w, &layout), 2);
    expect(&w, "rising.exe", sizes, 1);
    layout.rows_max = 7;
    layout.rows_of_each_kind = false; /* --top 7 */
    assert_int_equal(explain(&w, &layout), 0);
    expect(&w, "rising.exe", sizes, 3);
    close_world(&w);
}

static void a_row_of_several_processes_has_the_stacks_of_all(void **state)
{
    static const etlheap_key keys[] = { ETLHEAP_KEY_KIND, ETLHEAP_KEY_HEAP };
    static const i64 sizes[] = { 9100, 700, 150, 100 };
    world w = { 0 };
    (void)state;
    open_world(&w);
    ask(&w, keys, 2);
    assert_int_equal(explain(&w, NULL), 0);
    expect(&w, NULL, sizes, 4);
    close_world(&w);
}

static void a_stack_or_a_site_explains_itself(void **state)
{
    static const etlheap_key keys[][3] = {
        { ETLHEAP_KEY_KIND, ETLHEAP_KEY_PROCESS, ETLHEAP_KEY_STACK },
        { ETLHEAP_KEY_KIND, ETLHEAP_KEY_PROCESS, ETLHEAP_KEY_SITE },
        { ETLHEAP_KEY_KIND, ETLHEAP_KEY_PROCESS, ETLHEAP_KEY_FRAME },
    };
    static const i64 sizes[] = { 9000 };
    (void)state;
    for (size_t i = 0; i < ETL_COUNT_OF(keys); i++) {
        world w = { 0 };
        open_world(&w);
        ask(&w, keys[i], 3);
        assert_int_equal(explain(&w, NULL), 0);
        expect(&w, "rising.exe", sizes, 1);
        close_world(&w);
    }
}

static void columns_name_members_of_a_cell(void **state)
{
    const etlheap_cell cell = { .count = { [ETLHEAP_TYPE_AIFO] = 1, [ETLHEAP_TYPE_AOFI] = 2 },
                                .size = { [ETLHEAP_TYPE_AIFI] = 3, [ETLHEAP_TYPE_AOFO] = 4 },
                                .outstanding_size = 5,
                                .impacting_size = -6 };
    const etlheap_field *const fields = etlheap_cell_columns.fields;
    etlheap_value values[ETLHEAP_CELL_COLUMN_COUNT];
    (void)state;
    etlheap_cell_values(&cell, ETLHEAP_KIND_HEAP, values);
    assert_int_equal(values[ETLHEAP_CELL_AIFO_COUNT].number, 1);
    assert_int_equal(values[ETLHEAP_CELL_AOFI_COUNT].number, 2);
    assert_int_equal(values[ETLHEAP_CELL_AIFI_SIZE].number, 3);
    assert_int_equal(values[ETLHEAP_CELL_AOFO_SIZE].number, 4);
    assert_int_equal(values[ETLHEAP_CELL_OUTSTANDING_SIZE].number, 5);
    assert_true((i64)values[ETLHEAP_CELL_IMPACTING_SIZE].number == -6);
    assert_string_equal(etlheap_field_key(fields[ETLHEAP_CELL_AOFI_COUNT]), "aofi_count");
    assert_string_equal(etlheap_field_title(fields[ETLHEAP_CELL_PEAK_SIZE]), "Size Peak");
    assert_string_equal(etlheap_field_unit(fields[ETLHEAP_CELL_PEAK_SIZE]), "B");
    assert_string_equal(etlheap_field_unit(fields[ETLHEAP_CELL_PEAK_COUNT]), "");
    etlheap_cell_values(&cell, ETLHEAP_KIND_HANDLE, values);
    assert_int_equal(values[ETLHEAP_CELL_AIFO_COUNT].number, 1);
    assert_int_equal(values[ETLHEAP_CELL_AIFI_SIZE].form, ETLHEAP_VALUE_UNKNOWN);
    assert_int_equal(values[ETLHEAP_CELL_OUTSTANDING_SIZE].form, ETLHEAP_VALUE_UNKNOWN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stacks_of_the_row_that_grew_explain_it),
        cmocka_unit_test(text_leaves_out_what_is_little_and_counts_it),
        cmocka_unit_test(a_row_of_several_processes_has_the_stacks_of_all),
        cmocka_unit_test(a_stack_or_a_site_explains_itself),
        cmocka_unit_test(columns_name_members_of_a_cell),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
