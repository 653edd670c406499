/*
 * Goal: what a raw stack becomes depends on the modules of its process at its time
 * and on nothing that was found before.
 * Method: random modules that come, go and move, in processes that share addresses,
 * and the kernel's; random stacks are resolved in random order and compared, frame by
 * frame, with what the modules say when asked directly. A search of all that was
 * resolved says which ids must be equal.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <stdio.h>
#include <cmocka.h>

#include "engine/names/frames.h"
#include "tests/support/hand_bytes.h"
#include "tests/support/hand_result.h"

#define PROCESSES   3u
#define MODULES     5u /* names; a process may have one of them twice */
#define PLACES      12u
#define STACKS      60u
#define DEPTH_MAX   40u
#define QUESTIONS   1500u
#define TIME        400
#define USER_BASE   UINT64_C(0x7ffa00000000)
#define KERNEL_BASE UINT64_C(0xfffff80000000000)
#define SIZE        UINT64_C(0x20000)

typedef struct world {
    etlheap_result *result;
    etlheap_query query;
    frame_table table;
    u32 processes[PROCESSES];
    u64 random;
    /* What was resolved: ids and their texts. */
    u32 ids[QUESTIONS];
    char *texts[QUESTIONS];
    u32 count;
} world;

static u32 below(world *w, u32 bound)
{
    return hand_random(&w->random) % bound;
}

/* How much happens to the modules of a process. */
typedef enum world_motion {
    MOTION_NONE,  /* each module stays at its place, the same in all processes */
    MOTION_BASES, /* and may lie at several */
    MOTION_TIME   /* and may come and go */
} world_motion;

static void add_module(world *w, u32 pid, u32 place, u32 name, i64 load, i64 unload)
{
    char path[32];
    const u64 base = (pid == 0 ? KERNEL_BASE : USER_BASE) + place * SIZE;
    (void)snprintf(path, sizeof path, "C:\\%s%u.dll", pid == 0 ? "k" : "m", name);
    hand_image_spec image = { .kind = load == 0 ? ETL_EVENT_IMAGE_DCSTART : ETL_EVENT_IMAGE_LOAD,
                              .pid = pid,
                              .base = base,
                              .size_bytes = SIZE - 0x1000, /* a gap behind each */
                              .ticks = HAND_START_TICKS + load,
                              .path = path };
    hand_image(&w->result->context, &image);
    if (unload == 0)
        return;
    image.kind = ETL_EVENT_IMAGE_UNLOAD;
    image.ticks = HAND_START_TICKS + unload;
    hand_image(&w->result->context, &image);
}

static void add_modules(world *w, u32 pid, world_motion motion)
{
    for (u32 place = 0; place < PLACES; place++) {
        if (motion == MOTION_NONE) {
            if (place < MODULES && below(w, 4) != 0)
                add_module(w, pid, place, place, 0, 0);
            continue;
        }
        i64 time = 0;
        do {
            const i64 end = time + 1 + below(w, TIME);
            if (below(w, 3) != 0)
                add_module(w, pid, place, below(w, MODULES), time, motion == MOTION_TIME ? end : 0);
            time = end + below(w, 50);
        } while (motion == MOTION_TIME && time < TIME);
    }
}

static u64 random_address(world *w)
{
    const u32 kind = below(w, 10);
    const u64 offset = below(w, PLACES) * SIZE + below(w, 40) * (SIZE / 32);
    return kind == 0 ? 0x1000 + below(w, 20) : (kind < 3 ? KERNEL_BASE : USER_BASE) + offset;
}

static void open_world(world *w, u64 seed, world_motion motion)
{
    *w = (world){ .random = seed, .result = hand_result_new() };
    static const char *const names[PROCESSES] = { "a.exe", "b.exe", "c.exe" };
    for (u32 i = 0; i < PROCESSES; i++) {
        w->processes[i] = hand_process(w->result, 10 + i, names[i]);
        add_modules(w, 10 + i, motion);
    }
    add_modules(w, 0, motion);
    for (u32 i = 0; i < STACKS; i++) {
        u64 frames[DEPTH_MAX];
        const u32 count = 1 + below(w, DEPTH_MAX);
        for (u32 k = 0; k < count; k++)
            frames[k] = random_address(w);
        (void)hand_stack(w->result, frames, count);
    }
    hand_ready(w->result, HAND_START_TICKS + TIME);
    w->query = etlheap_query_default();
}

static void close_world(world *w)
{
    for (u32 i = 0; i < w->count; i++)
        free(w->texts[i]);
    frames_close(&w->table);
    etlheap_result_free(w->result);
}

/* What the modules say, asked for one address at a time. */
static char *expected_text(const world *w, u32 process, u32 stack, i64 ticks)
{
    const module_table *const modules = &w->result->modules;
    const etlheap_frames raw = stack_get(&w->result->stacks, stack);
    char *const text = calloc(raw.count + 1, 40);
    size_t size = 0;
    assert_non_null(text);
    for (u32 i = 0; i < raw.count; i++) {
        const u32 pid = w->result->processes.at[process - 1].pid;
        const u64 address = raw.addresses[i];
        const u32 module =
            modules_find(modules, &(module_space){ .pid = pid, .ticks = ticks }, address);
        const bool is_none = module == UINT32_MAX;
        const int written = snprintf(
            text + size, 40, " %s+%llx", is_none ? "?" : modules->list.at[module].name,
            (unsigned long long)(is_none ? address : address - modules->list.at[module].base));
        assert_true(written > 0 && written < 40);
        size += (size_t)written;
    }
    return text;
}

static void expect_frames(const world *w, u32 id, const char *expected)
{
    const frame_stack *const stack = &w->table.stacks.at[id - 1];
    for (u32 i = 0; i < stack->count; i++) {
        char text[40];
        const u32 frame = w->table.pool.at[stack->start + i];
        const char *const module = frames_module(&w->table, frame);
        const int size = snprintf(text, sizeof text, " %s+%llx", module == NULL ? "?" : module,
                                  (unsigned long long)w->table.frames.at[frame].offset);
        assert_memory_equal(text, expected, (size_t)size);
        expected += size;
    }
    assert_string_equal(expected, "");
}

/* Equal frames have one id, others have others. */
static void expect_id(world *w, u32 id, char *text)
{
    for (u32 i = 0; i < w->count; i++)
        assert_int_equal(w->ids[i] == id, strcmp(w->texts[i], text) == 0);
    w->ids[w->count] = id;
    w->texts[w->count++] = text;
}

/* Of all addresses at which a frame was met the lowest is kept. */
static void expect_lowest(const world *w, u32 stack, u32 id)
{
    const etlheap_frames raw = stack_get(&w->result->stacks, stack);
    for (u32 i = 0; i < raw.count; i++) {
        const u32 frame = w->table.pool.at[w->table.stacks.at[id - 1].start + i];
        assert_true(w->table.frames.at[frame].address <= raw.addresses[i]);
    }
}

static stack_place random_question(world *w)
{
    return (stack_place){ .process = w->processes[below(w, PROCESSES)],
                          .stack = 1 + below(w, (u32)w->result->stacks.list.count),
                          .ticks = HAND_START_TICKS + below(w, TIME) };
}

static void ask(world *w, const stack_place *question)
{
    const u32 process = question->process, stack = question->stack;
    u32 id;
    assert_true(frames_resolve(&w->table, process, stack, question->ticks, &id));
    char *const text = expected_text(w, process, stack, question->ticks);
    expect_frames(w, id, text);
    expect_lowest(w, stack, id);
    expect_id(w, id, text);
}

static void ask_at_random(world *w)
{
    assert_true(frames_open(&w->table, w->result, &w->query));
    for (u32 i = 0; i < QUESTIONS; i++) {
        const stack_place question = random_question(w);
        ask(w, &question);
    }
}

/* Some were asked before, some come together, and some later. */
static void ask_together(world *w)
{
    stack_place *const questions = calloc(QUESTIONS, sizeof *questions);
    assert_non_null(questions);
    assert_true(frames_open(&w->table, w->result, &w->query));
    for (u32 i = 0; i < QUESTIONS; i++)
        questions[i] = random_question(w);
    for (u32 i = 0; i < 10; i++)
        ask(w, &questions[below(w, QUESTIONS)]);
    questions[7].stack = 0;
    assert_true(frames_resolve_all(&w->table, questions, QUESTIONS / 3));
    assert_true(frames_resolve_all(&w->table, questions, QUESTIONS - 10));
    questions[7].stack = 1;
    for (u32 i = 0; i < QUESTIONS - 10; i++)
        ask(w, &questions[i]);
    free(questions);
}

static void check_worlds(world_motion motion, bool together)
{
    for (u64 seed = 1; seed < 9; seed++) {
        world *const w = malloc(sizeof *w);
        assert_non_null(w);
        open_world(w, seed * 77, motion);
        w->query.jobs = 1 + (u32)seed % 3;
        if (together)
            ask_together(w);
        else
            ask_at_random(w);
        close_world(w);
        free(w);
    }
}

static void modules_at_one_place_are_found(void **state)
{
    (void)state;
    check_worlds(MOTION_NONE, false);
}

static void modules_at_several_places_are_one(void **state)
{
    (void)state;
    check_worlds(MOTION_BASES, false);
}

static void modules_that_come_and_go_are_told_apart(void **state)
{
    (void)state;
    check_worlds(MOTION_TIME, false);
}

static void stacks_may_be_resolved_together(void **state)
{
    (void)state;
    check_worlds(MOTION_NONE, true);
    check_worlds(MOTION_BASES, true);
    check_worlds(MOTION_TIME, true);
}

static void expect_same_stack(const frame_table *a, u32 x, const frame_table *b, u32 y)
{
    const frame_stack *const p = &a->stacks.at[x - 1], *const q = &b->stacks.at[y - 1];
    assert_int_equal(p->count, q->count);
    assert_int_equal(p->wanted, q->wanted);
    for (u32 i = 0; i < p->count; i++) {
        const frame_row *const f = &a->frames.at[a->pool.at[p->start + i]];
        const frame_row *const g = &b->frames.at[b->pool.at[q->start + i]];
        assert_int_equal(f->module, g->module);
        assert_int_equal(f->offset, g->offset);
        assert_int_equal(f->address, g->address);
    }
}

static void culling_is_the_same_together(void **state)
{
    (void)state;
    static const etlheap_pattern culled[] = { { .module = "m1.dll" }, { .module = "k*.dll" } };
    static const etlheap_pattern required = { .module = "m3.dll" };
    for (u64 seed = 1; seed < 9; seed++) {
        world *const w = malloc(sizeof *w);
        stack_place *const questions = calloc(QUESTIONS, sizeof *questions);
        frame_table one_by_one;
        assert_non_null(w);
        assert_non_null(questions);
        open_world(w, seed * 31, seed % 2 == 0 ? MOTION_BASES : MOTION_NONE);
        w->query.cull_frames = culled;
        w->query.cull_frame_count = 2;
        w->query.require_frames = &required;
        w->query.require_frame_count = seed % 3 == 0 ? 0 : 1;
        w->query.exclude_frames = culled;
        w->query.exclude_frame_count = seed % 4 == 0 ? 1 : 0;
        w->query.fold_modules = culled + 1;
        w->query.fold_module_count = seed % 2;
        w->query.jobs = 1 + (u32)seed % 3;
        for (u32 i = 0; i < QUESTIONS; i++)
            questions[i] = random_question(w);
        assert_true(frames_open(&w->table, w->result, &w->query));
        assert_true(frames_open(&one_by_one, w->result, &w->query));
        assert_true(frames_resolve_all(&w->table, questions, QUESTIONS));
        assert_int_not_equal(w->table.stacks.count, 0);
        for (u32 pass = 0; pass < 2; pass++) { /* lowest addresses are known after one */
            for (u32 i = 0; i < QUESTIONS; i++) {
                const stack_place *const q = &questions[i];
                u32 a, b;
                assert_true(frames_resolve(&w->table, q->process, q->stack, q->ticks, &a));
                assert_true(frames_resolve(&one_by_one, q->process, q->stack, q->ticks, &b));
                if (pass == 1)
                    expect_same_stack(&w->table, a, &one_by_one, b);
            }
        }
        assert_int_equal(w->table.stacks.count, one_by_one.stacks.count);
        assert_int_equal(w->table.frames.count, one_by_one.frames.count);
        frames_close(&one_by_one);
        close_world(w);
        free(w);
        free(questions);
    }
}

/* Frames that no stack has at its time must not be there: what an address would be in
 * another process is nobody's. */
static void only_what_was_asked_for_becomes_a_frame(void **state)
{
    (void)state;
    world *const w = malloc(sizeof *w);
    assert_non_null(w);
    open_world(w, 5, MOTION_BASES);
    stack_place questions[300];
    for (u32 i = 0; i < ETL_COUNT_OF(questions); i++)
        questions[i] = (stack_place){ HAND_START_TICKS, w->processes[i % 2], 1 + i % 2 };
    assert_true(frames_open(&w->table, w->result, &w->query));
    assert_true(frames_resolve_all(&w->table, questions, ETL_COUNT_OF(questions)));
    for (u32 frame = 0; frame < w->table.frames.count; frame++) {
        bool is_used = false;
        for (u32 id = 0; id < 2; id++) {
            u32 stack_id;
            assert_true(
                frames_resolve(&w->table, w->processes[id], 1 + id, HAND_START_TICKS, &stack_id));
            const frame_stack *const stack = &w->table.stacks.at[stack_id - 1];
            for (u32 i = 0; i < stack->count; i++)
                is_used |= w->table.pool.at[stack->start + i] == frame;
        }
        assert_true(is_used);
    }
    assert_int_equal(w->table.stacks.count, 2);
    close_world(w);
    free(w);
}

#define MANY_STACKS 600u

/* More of them than one task takes, in all of the modules and in none. */
static void many_addresses_are_found_together(void **state)
{
    (void)state;
    world *const w = malloc(sizeof *w);
    stack_place *const questions = calloc(MANY_STACKS, sizeof *questions);
    assert_non_null(w);
    assert_non_null(questions);
    open_world(w, 12, MOTION_BASES);
    for (u32 i = 0; i < MANY_STACKS; i++) {
        u64 frames[DEPTH_MAX];
        for (u32 k = 0; k < DEPTH_MAX; k++)
            frames[k] = USER_BASE + (i * DEPTH_MAX + k) * (PLACES * SIZE / MANY_STACKS / DEPTH_MAX);
        questions[i] = (stack_place){ .process = w->processes[i % 2],
                                      .stack = hand_stack(w->result, frames, DEPTH_MAX),
                                      .ticks = HAND_START_TICKS };
    }
    w->query.jobs = 3;
    assert_true(w->result->stacks.number_count > 20000);
    assert_true(frames_open(&w->table, w->result, &w->query));
    assert_true(frames_resolve_all(&w->table, questions, MANY_STACKS));
    assert_true(w->table.stacks.count > MANY_STACKS / 2);
    for (u32 i = 0; i < MANY_STACKS; i++) {
        const stack_place *const q = &questions[i];
        u32 id;
        assert_true(frames_resolve(&w->table, q->process, q->stack, q->ticks, &id));
        char *const text = expected_text(w, q->process, q->stack, q->ticks);
        expect_frames(w, id, text);
        free(text);
    }
    close_world(w);
    free(questions);
    free(w);
}

#define FLIPS        17000u /* of a module: each begins and ends an epoch */
#define OTHER_STACKS 32u
#define OTHER_FRAMES 100u

/* A trace may have more contexts than are worth remembering what is known in. */
static void any_number_of_contexts_is_taken(void **state)
{
    (void)state;
    world *const w = calloc(1, sizeof *w);
    assert_non_null(w);
    w->result = hand_result_new();
    w->query = etlheap_query_default();
    w->processes[0] = hand_process(w->result, 10, "a.exe");
    for (u32 i = 0; i < FLIPS; i++)
        add_module(w, 10, 0, i % 3, 2 * i + 1, 2 * i + 2);
    const u64 frames[] = { KERNEL_BASE + 5, USER_BASE + 7, 0x1234 };
    const u32 stack = hand_stack(w->result, frames, 3);
    /* The more addresses there are, the more a context remembers. */
    for (u32 i = 0; i < OTHER_STACKS; i++) {
        u64 others[OTHER_FRAMES];
        for (u32 k = 0; k < OTHER_FRAMES; k++)
            others[k] = 0x100000 + 16 * (u64)(i * OTHER_FRAMES + k);
        (void)hand_stack(w->result, others, OTHER_FRAMES);
    }
    hand_ready(w->result, HAND_START_TICKS + 2 * FLIPS);
    assert_true(frames_open(&w->table, w->result, &w->query));
    for (i64 ticks = HAND_START_TICKS; ticks < (i64)(HAND_START_TICKS + 2 * FLIPS); ticks++) {
        u32 id;
        assert_true(frames_resolve(&w->table, w->processes[0], stack, ticks, &id));
        char *const text = expected_text(w, w->processes[0], stack, ticks);
        expect_frames(w, id, text);
        free(text);
    }
    assert_int_equal(w->table.finder.contexts.count, 2 * FLIPS);
    assert_int_equal(w->table.finder.contexts.at[2 * FLIPS - 1].known_words, 0);
    assert_int_equal(w->table.stacks.count, 3);
    close_world(w);
    free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(modules_at_one_place_are_found),
        cmocka_unit_test(modules_at_several_places_are_one),
        cmocka_unit_test(modules_that_come_and_go_are_told_apart),
        cmocka_unit_test(stacks_may_be_resolved_together),
        cmocka_unit_test(culling_is_the_same_together),
        cmocka_unit_test(only_what_was_asked_for_becomes_a_frame),
        cmocka_unit_test(many_addresses_are_found_together),
        cmocka_unit_test(any_number_of_contexts_is_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
