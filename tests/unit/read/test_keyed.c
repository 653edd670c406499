/*
 * Goal: a reference to a stack key becomes the stack of the first definition of
 * that key, of its mode, at or after it, wherever slices are cut; kernel and
 * user parts become one stack.
 * Method: a model that searches the list of all definitions, random keys that
 * are defined again and again, and cuts at random times.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "engine/read/keyed.h"
#include "tests/support/hand_bytes.h"

/* Stack n has n % 5 + 1 frames that tell it from all others. */
static u32 frames_of(u32 number, u64 frames[5])
{
    const u32 count = number % 5 + 1;
    for (u32 i = 0; i < count; i++)
        frames[i] = (u64)number << 8 | i;
    return count;
}

static u32 add_stack(stack_table *stacks, u32 number)
{
    u64 frames[5];
    u32 id;
    const u32 count = frames_of(number, frames);
    assert_true(stack_add(stacks, stack_hash(frames, count), frames, count, &id));
    return id;
}

/* Adds stacks 1..count, so that stack n has id n. */
static void add_stacks(stack_table *stacks, u32 count)
{
    for (u32 i = 1; i <= count; i++)
        assert_int_equal(add_stack(stacks, i), i);
}

/* A run in which everything happens in one slice. */
static u32 only_stack(key_definition *definitions, size_t count, u64 key, bool is_kernel, i64 ticks)
{
    keyed_stacks keyed = { 0 };
    stack_table stacks = { 0 };
    add_stacks(&stacks, 9);
    stack_ref ref;
    assert_true(keyed_define(&keyed, definitions, count));
    assert_true(keyed_use(&keyed, key, is_kernel, ticks, &ref));
    u32 *ids;
    u64 unresolved;
    assert_true(keyed_finish(&keyed, &stacks, &ids, &unresolved));
    const bool is_keyed = (ref & STACK_TAG_MASK) == STACK_TAG_KEYED;
    const u32 id = is_keyed ? ids[ref & STACK_NUMBER_MAX] : ref;
    assert_int_equal(unresolved, id == 0);
    assert_int_equal(keyed.keys_referenced, 1);
    assert_int_equal(keyed.keys_resolved, id != 0);
    free(ids);
    keyed_free(&keyed);
    stack_table_free(&stacks);
    return id;
}

static void a_key_means_its_next_definition(void **state)
{
    (void)state;
    key_definition rows[] = {
        { .ticks = 300, .key = 0xA0, .stack = 3 },
        { .ticks = 100, .key = 0xA0, .stack = 1 },
        { .ticks = 200, .key = 0xA0, .stack = 2 },
    };
    assert_int_equal(only_stack(rows, 3, 0xA0, false, 50), 1);
    assert_int_equal(only_stack(rows, 3, 0xA0, false, 101), 2);
    assert_int_equal(only_stack(rows, 3, 0xA0, false, 299), 3);
}

static void a_definition_at_the_same_tick_counts(void **state)
{
    (void)state;
    key_definition rows[] = { { .ticks = 100, .key = 0xA0, .stack = 1 },
                              { .ticks = 200, .key = 0xA0, .stack = 2 } };
    assert_int_equal(only_stack(rows, 2, 0xA0, false, 100), 1);
}

static void a_definition_before_does_not_count(void **state)
{
    (void)state;
    key_definition rows[] = { { .ticks = 100, .key = 0xA0, .stack = 1 } };
    assert_int_equal(only_stack(rows, 1, 0xA0, false, 101), 0);
}

static void the_mode_must_be_the_references(void **state)
{
    (void)state;
    key_definition rows[] = { { .ticks = 100, .key = 0xA0, .stack = 1, .is_kernel = true },
                              { .ticks = 200, .key = 0xA0, .stack = 2 } };
    assert_int_equal(only_stack(rows, 2, 0xA0, false, 50), 2);
    assert_int_equal(only_stack(rows, 2, 0xA0, true, 50), 1);
    assert_int_equal(only_stack(rows, 2, 0xA0, true, 150), 0);
}

static void other_keys_are_other_stacks(void **state)
{
    (void)state;
    key_definition rows[] = { { .ticks = 100, .key = 0xA0, .stack = 1 },
                              { .ticks = 100, .key = 0xA1, .stack = 2 } };
    assert_int_equal(only_stack(rows, 2, 0xA1, false, 50), 2);
    assert_int_equal(only_stack(rows, 2, 0xA2, false, 50), 0);
}

/* Not known how, but not left to chance either. */
static void definitions_of_one_tick_go_by_stream_and_order(void **state)
{
    (void)state;
    key_definition rows[] = {
        { .ticks = 100, .key = 0xA0, .stack = 3, .stream = 2, .order = 1 },
        { .ticks = 100, .key = 0xA0, .stack = 2, .stream = 1, .order = 8 },
        { .ticks = 100, .key = 0xA0, .stack = 1, .stream = 1, .order = 7 },
    };
    assert_int_equal(only_stack(rows, 3, 0xA0, false, 50), 1);
}

static void a_later_slice_resolves_what_is_open(void **state)
{
    (void)state;
    keyed_stacks keyed = { 0 };
    stack_table stacks = { 0 };
    add_stacks(&stacks, 5);
    stack_ref early, middle, late;
    assert_true(keyed_define(&keyed, NULL, 0));
    assert_true(keyed_use(&keyed, 0xA0, false, 10, &early));
    key_definition second[] = { { .ticks = 100, .key = 0xA0, .stack = 4 } };
    assert_true(keyed_define(&keyed, second, 1));
    assert_true(keyed_use(&keyed, 0xA0, false, 101, &middle));
    key_definition third[] = { { .ticks = 200, .key = 0xA0, .stack = 5 } };
    assert_true(keyed_define(&keyed, third, 1));
    assert_true(keyed_use(&keyed, 0xA0, false, 150, &late));
    assert_int_equal(late, 5);
    u32 *ids;
    u64 unresolved;
    assert_true(keyed_finish(&keyed, &stacks, &ids, &unresolved));
    assert_int_equal(early & STACK_TAG_MASK, STACK_TAG_KEYED);
    assert_int_equal(middle & STACK_TAG_MASK, STACK_TAG_KEYED);
    assert_int_equal(ids[early & STACK_NUMBER_MAX], 4);
    assert_int_equal(ids[middle & STACK_NUMBER_MAX], 5);
    assert_int_equal(unresolved, 0);
    assert_int_equal(keyed.keys_resolved, 3);
    free(ids);
    keyed_free(&keyed);
    stack_table_free(&stacks);
}

/* One key used a million times before it is defined is one node. */
static void open_references_of_a_key_share_a_node(void **state)
{
    (void)state;
    keyed_stacks keyed = { 0 };
    stack_ref first, ref;
    assert_true(keyed_define(&keyed, NULL, 0));
    assert_true(keyed_use(&keyed, 0xA0, false, 1, &first));
    for (i64 i = 2; i < 1000; i++) {
        assert_true(keyed_use(&keyed, 0xA0, false, i, &ref));
        assert_int_equal(ref, first);
    }
    assert_int_equal(keyed.nodes.count, 1);
    keyed_free(&keyed);
}

static void unresolved_references_are_counted_not_keys(void **state)
{
    (void)state;
    keyed_stacks keyed = { 0 };
    stack_table stacks = { 0 };
    stack_ref ref;
    assert_true(keyed_define(&keyed, NULL, 0));
    for (i64 i = 0; i < 7; i++)
        assert_true(keyed_use(&keyed, 0xA0 + (u64)(i % 2), false, i, &ref));
    u32 *ids;
    u64 unresolved;
    assert_true(keyed_finish(&keyed, &stacks, &ids, &unresolved));
    assert_int_equal(unresolved, 7);
    assert_int_equal(ids[1], 0);
    assert_int_equal(ids[2], 0);
    free(ids);
    keyed_free(&keyed);
    stack_table_free(&stacks);
}

/* --- kernel and user parts -------------------------------------------------- */

static void one_part_alone_is_itself(void **state)
{
    (void)state;
    keyed_stacks keyed = { 0 };
    stack_ref ref;
    assert_true(keyed_pair(&keyed, 7, STACK_NONE, &ref));
    assert_int_equal(ref, 7);
    assert_true(keyed_pair(&keyed, STACK_NONE, 8, &ref));
    assert_int_equal(ref, 8);
    assert_true(keyed_pair(&keyed, STACK_NONE, STACK_NONE, &ref));
    assert_int_equal(ref, STACK_NONE);
    assert_int_equal(keyed.nodes.count, 0);
    keyed_free(&keyed);
}

static void expect_joined(const stack_table *stacks, u32 id, u32 kernel, u32 user)
{
    u64 expected[10];
    const u32 inner = frames_of(kernel, expected);
    const u32 outer = frames_of(user, expected + inner);
    const etlheap_frames frames = stack_get(stacks, id);
    assert_int_equal(frames.count, inner + outer);
    assert_memory_equal(frames.addresses, expected, (size_t)(inner + outer) * 8);
}

static void kernel_frames_come_before_user_frames(void **state)
{
    (void)state;
    keyed_stacks keyed = { 0 };
    stack_table stacks = { 0 };
    add_stacks(&stacks, 9);
    stack_ref ref, again, other;
    assert_true(keyed_pair(&keyed, 3, 7, &ref));
    assert_true(keyed_pair(&keyed, 3, 7, &again));
    assert_true(keyed_pair(&keyed, 7, 3, &other));
    assert_int_equal(ref, again);
    assert_int_not_equal(ref, other);
    u32 *ids;
    u64 unresolved;
    assert_true(keyed_finish(&keyed, &stacks, &ids, &unresolved));
    expect_joined(&stacks, ids[ref & STACK_NUMBER_MAX], 3, 7);
    expect_joined(&stacks, ids[other & STACK_NUMBER_MAX], 7, 3);
    assert_int_equal(unresolved, 0);
    free(ids);
    keyed_free(&keyed);
    stack_table_free(&stacks);
}

/* Key + key, one of them defined only after the pair was made, one never. */
static void parts_may_be_keys_not_known_yet(void **state)
{
    (void)state;
    keyed_stacks keyed = { 0 };
    stack_table stacks = { 0 };
    add_stacks(&stacks, 9);
    stack_ref kernel, user, lost, whole, half;
    assert_true(keyed_define(&keyed, NULL, 0));
    assert_true(keyed_use(&keyed, 0xA0, true, 10, &kernel));
    assert_true(keyed_use(&keyed, 0xA0, false, 11, &user));
    assert_true(keyed_use(&keyed, 0xA9, true, 12, &lost));
    assert_true(keyed_pair(&keyed, kernel, user, &whole));
    assert_true(keyed_pair(&keyed, lost, user, &half));
    key_definition rows[] = { { .ticks = 50, .key = 0xA0, .stack = 4, .is_kernel = true },
                              { .ticks = 60, .key = 0xA0, .stack = 6 } };
    assert_true(keyed_define(&keyed, rows, 2));
    u32 *ids;
    u64 unresolved;
    assert_true(keyed_finish(&keyed, &stacks, &ids, &unresolved));
    expect_joined(&stacks, ids[whole & STACK_NUMBER_MAX], 4, 6);
    assert_int_equal(ids[half & STACK_NUMBER_MAX], 6);
    assert_int_equal(unresolved, 1);
    free(ids);
    keyed_free(&keyed);
    stack_table_free(&stacks);
}

static void the_deepest_halves_fit_together(void **state)
{
    (void)state;
    keyed_stacks keyed = { 0 };
    stack_table stacks = { 0 };
    u64 frames[STACK_FRAMES_MAX + 1];
    for (u32 i = 0; i <= STACK_FRAMES_MAX; i++)
        frames[i] = i + 1;
    u32 inner, outer;
    assert_true(
        stack_add(&stacks, stack_hash(frames, STACK_FRAMES_MAX), frames, STACK_FRAMES_MAX, &inner));
    assert_true(stack_add(&stacks, stack_hash(frames + 1, STACK_FRAMES_MAX), frames + 1,
                          STACK_FRAMES_MAX, &outer));
    stack_ref ref;
    assert_true(keyed_pair(&keyed, inner, outer, &ref));
    u32 *ids;
    u64 unresolved;
    assert_true(keyed_finish(&keyed, &stacks, &ids, &unresolved));
    const etlheap_frames joined = stack_get(&stacks, ids[1]);
    assert_int_equal(joined.count, 2 * STACK_FRAMES_MAX);
    assert_int_equal(joined.addresses[STACK_FRAMES_MAX], 2);
    free(ids);
    keyed_free(&keyed);
    stack_table_free(&stacks);
}

/* --- against the model --------------------------------------------------------- */

#define MODEL_ROWS 3000u
#define MODEL_TIME 10000

typedef struct model_use {
    i64 ticks;
    u64 key;
    bool is_kernel;
    stack_ref ref;
} model_use;

typedef struct model {
    key_definition definitions[MODEL_ROWS];
    model_use uses[MODEL_ROWS];
    u32 definition_count, use_count;
} model;

static u32 model_stack(const model *m, const model_use *use)
{
    const key_definition *best = NULL;
    for (u32 i = 0; i < m->definition_count; i++) {
        const key_definition *const row = &m->definitions[i];
        if (row->key == use->key && row->is_kernel == use->is_kernel && row->ticks >= use->ticks &&
            (best == NULL || row->ticks < best->ticks))
            best = row;
    }
    return best == NULL ? 0 : best->stack;
}

/* Few keys, so that each is used and defined often; times are distinct. */
static void fill_model(model *m, u64 seed)
{
    u64 random = seed;
    *m = (model){ .definition_count = 200 + hand_random(&random) % 1500,
                  .use_count = 200 + hand_random(&random) % 2500 };
    for (u32 i = 0; i < m->definition_count; i++)
        m->definitions[i] = (key_definition){
            .ticks = (i64)(i * MODEL_TIME / m->definition_count),
            .key = 0xffff0000u + hand_random(&random) % 40,
            .is_kernel = hand_random(&random) % 3 == 0,
            .stack = 1 + hand_random(&random) % 500,
            .order = i,
        };
    for (u32 i = 0; i < m->use_count; i++)
        m->uses[i] = (model_use){ .ticks = hand_random(&random) % MODEL_TIME,
                                  .key = 0xffff0000u + hand_random(&random) % 42,
                                  .is_kernel = hand_random(&random) % 3 == 0 };
}

/* What of the model lies in [from, to): its definitions are known first. */
static void run_slice(keyed_stacks *keyed, model *m, i64 from, i64 to, key_definition *spare)
{
    size_t count = 0;
    for (u32 i = 0; i < m->definition_count; i++) {
        if (m->definitions[i].ticks >= from && m->definitions[i].ticks < to)
            spare[count++] = m->definitions[i];
    }
    assert_true(keyed_define(keyed, spare, count));
    for (u32 i = 0; i < m->use_count; i++) {
        model_use *const use = &m->uses[i];
        if (use->ticks >= from && use->ticks < to)
            assert_true(keyed_use(keyed, use->key, use->is_kernel, use->ticks, &use->ref));
    }
}

static void compare_with_model(const keyed_stacks *keyed, const model *m, const u32 *ids,
                               u64 unresolved)
{
    u64 expected_unresolved = 0;
    for (u32 i = 0; i < m->use_count; i++) {
        const stack_ref ref = m->uses[i].ref;
        const bool is_keyed = (ref & STACK_TAG_MASK) == STACK_TAG_KEYED;
        const u32 expected = model_stack(m, &m->uses[i]);
        assert_int_equal(is_keyed ? ids[ref & STACK_NUMBER_MAX] : ref, expected);
        expected_unresolved += expected == 0;
    }
    assert_int_equal(unresolved, expected_unresolved);
    assert_int_equal(keyed->keys_referenced, m->use_count);
    assert_int_equal(keyed->keys_resolved, m->use_count - expected_unresolved);
}

static void slices_do_not_matter(void **state)
{
    (void)state;
    model *const m = malloc(sizeof *m);
    key_definition *const spare = malloc(sizeof m->definitions);
    assert_true(m != NULL && spare != NULL);
    for (u64 seed = 1; seed <= 40; seed++) {
        fill_model(m, seed);
        u64 random = seed * 77;
        keyed_stacks keyed = { 0 };
        stack_table stacks = { 0 };
        add_stacks(&stacks, 500);
        for (i64 from = 0; from < MODEL_TIME;) {
            const i64 to = from + 1 + hand_random(&random) % (seed % 4 == 0 ? 20000 : 400);
            run_slice(&keyed, m, from, to, spare);
            from = to;
        }
        u32 *ids;
        u64 unresolved;
        assert_true(keyed_finish(&keyed, &stacks, &ids, &unresolved));
        compare_with_model(&keyed, m, ids, unresolved);
        free(ids);
        keyed_free(&keyed);
        stack_table_free(&stacks);
    }
    free(spare);
    free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_key_means_its_next_definition),
        cmocka_unit_test(a_definition_at_the_same_tick_counts),
        cmocka_unit_test(a_definition_before_does_not_count),
        cmocka_unit_test(the_mode_must_be_the_references),
        cmocka_unit_test(other_keys_are_other_stacks),
        cmocka_unit_test(definitions_of_one_tick_go_by_stream_and_order),
        cmocka_unit_test(a_later_slice_resolves_what_is_open),
        cmocka_unit_test(open_references_of_a_key_share_a_node),
        cmocka_unit_test(unresolved_references_are_counted_not_keys),
        cmocka_unit_test(one_part_alone_is_itself),
        cmocka_unit_test(kernel_frames_come_before_user_frames),
        cmocka_unit_test(parts_may_be_keys_not_known_yet),
        cmocka_unit_test(the_deepest_halves_fit_together),
        cmocka_unit_test(slices_do_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
