/*
 * Goal: realloc_trail.c finds the alloc and the free that belong to a moving realloc, and
 * finds the same however a CPU's events are cut into tasks and slices.
 * Method: short lists of events by hand; then random lists, searched whole, against the
 * same lists cut at random.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "engine/read/realloc_trail.h"
#include "tests/support/engine_check.h"

#define THREAD 7u
#define OTHER  8u
#define OLD    0x100u
#define NEW    0x200u

static void add(scan_output *task, memory_op op, i64 ticks, u32 tid, u64 address)
{
    const memory_event event = {
        .ticks = ticks, .op = (u8)op, .tid = tid, .pid = 1, .heap = 0x10000, .address = address
    };
    assert_true(ETLHEAP_PUSH(&task->events, event));
}

/* As the scan does it. */
static void add_realloc(scan_output *task, i64 ticks, u32 tid)
{
    add(task, OP_REALLOC_NEW, ticks, tid, NEW);
    add(task, OP_REALLOC_OLD, ticks, tid, OLD);
    assert_true(realloc_trail_begin(task, false));
}

static void assert_rows(const scan_output *task, memory_op fresh, memory_op old, u32 since_alloc)
{
    const memory_event *const events = task->events.at + task->events.count - 2;
    assert_int_equal(events[0].op, fresh);
    assert_int_equal(events[1].op, old);
    assert_int_equal(events[1].since_alloc, since_alloc);
}

static void assert_found(const scan_output *task, memory_op old, u32 since_alloc)
{
    assert_rows(task, OP_REALLOC_NEW, old, since_alloc);
}

/* One that is alone, and its thread did not free the old address either. */
static void assert_unseen(const scan_output *task, u32 since_alloc)
{
    assert_rows(task, OP_REALLOC_UNSEEN, OP_REALLOC_ALONE, since_alloc);
}

/* The first trail of the trace: other reallocs are no longer alone. */
static void add_whole_trail(scan_output *task)
{
    add(task, OP_ALLOC, 10, OTHER + 1, NEW);
    add(task, OP_FREE, 11, OTHER + 1, OLD);
    add_realloc(task, 12, OTHER + 1);
}

static void end_slice(trail_tails *tails, scan_output *tasks, u32 count)
{
    assert_true(realloc_trail_end(tails, tasks, count));
}

/* The only slice of a run. */
static void end_run(scan_output *tasks, u32 count)
{
    trail_tails tails = { 0 };
    end_slice(&tails, tasks, count);
    realloc_trail_free(&tails);
}

static void alloc_and_free_before_the_summary_are_found(void **state)
{
    scan_output task = { 0 };
    (void)state;
    add(&task, OP_ALLOC, 100, THREAD, NEW);
    add(&task, OP_FREE, 101, OTHER, OLD + 1);
    add(&task, OP_FREE, 134, THREAD, OLD);
    add(&task, OP_COMMIT, 135, THREAD, 0);
    add(&task, OP_COUNT_HEAP, 136, THREAD, 0);
    add_realloc(&task, 138, THREAD);
    assert_found(&task, OP_REALLOC_FREED, 0);
    assert_int_equal(task.trails.count, 0);
    scan_output_free(&task);
}

/* It is of an earlier block at the same address. */
static void alloc_of_another_size_is_not_the_reallocs(void **state)
{
    scan_output task = { 0 };
    (void)state;
    add(&task, OP_ALLOC, 100, THREAD, NEW);
    task.events.at[0].size = 16;
    add_realloc(&task, 138, THREAD);
    end_run(&task, 1);
    assert_unseen(&task, 0);
    scan_output_free(&task);
}

static void alloc_alone_says_when_it_was(void **state)
{
    scan_output task = { 0 };
    (void)state;
    add(&task, OP_ALLOC, 100, THREAD, NEW);
    add_realloc(&task, 138, THREAD);
    end_run(&task, 1);
    assert_found(&task, OP_REALLOC_ALONE, 39);
    scan_output_free(&task);
}

/* It is of an earlier block at the address. */
static void free_alone_is_not_the_reallocs(void **state)
{
    scan_output task = { 0 };
    (void)state;
    add(&task, OP_ALLOC, 90, THREAD, OLD);
    add(&task, OP_FREE, 134, THREAD, OLD);
    add_realloc(&task, 138, THREAD);
    end_run(&task, 1);
    assert_found(&task, OP_REALLOC_ALONE, 0);
    scan_output_free(&task);
}

/* What the thread did in between, or what another one did, is not the realloc's. */
static void other_events_of_the_thread_end_the_search(void **state)
{
    scan_output task = { 0 };
    (void)state;
    add(&task, OP_ALLOC, 100, THREAD, NEW);
    add(&task, OP_FREE, 101, THREAD, OLD);
    add(&task, OP_ALLOC, 102, THREAD, NEW + 1);
    add(&task, OP_ALLOC, 103, OTHER, NEW);
    add(&task, OP_FREE, 104, OTHER, OLD);
    add_realloc(&task, 138, THREAD);
    end_run(&task, 1);
    assert_found(&task, OP_REALLOC_ALONE, 0);
    scan_output_free(&task);
}

/* One that moved something else may have been logged in between. */
static void free_among_the_last_two_events_leaves_the_alloc_to_the_realloc(void **state)
{
    (void)state;
    for (u32 behind = 0; behind <= 2; behind++) {
        scan_output task = { 0 };
        add(&task, OP_ALLOC, 90, THREAD, NEW);
        task.events.at[0].size = 16; /* not the realloc's */
        add(&task, OP_FREE, 91, THREAD, OLD + 1);
        add(&task, OP_FREE, 134, THREAD, OLD);
        for (u32 i = 0; i < behind; i++)
            add(&task, OP_FREE, 135, THREAD, NEW + 1);
        add_realloc(&task, 138, THREAD);
        end_run(&task, 1);
        if (behind < 2)
            assert_found(&task, OP_REALLOC_ALONE, 0);
        else
            assert_unseen(&task, 0);
        scan_output_free(&task);
    }
}

/* The thread freed the old address elsewhere, before its last two events here or after. */
static void free_on_another_cpu_leaves_the_alloc_to_the_realloc_if_it_is_late_enough(void **state)
{
    (void)state;
    for (i64 ticks = 90; ticks <= 110; ticks += 10) {
        scan_output tasks[3] = { { .stream = 5 }, { .stream = 6 }, { .stream = 7 } };
        add(&tasks[0], OP_FREE, ticks + 5, THREAD, OLD);
        add(&tasks[1], OP_ALLOC, 100, THREAD, NEW);
        add(&tasks[1], OP_ALLOC, 110, THREAD, NEW + 1);
        add_realloc(&tasks[1], 138, THREAD);
        add(&tasks[2], OP_FREE, 139, THREAD, OLD); /* behind it */
        end_run(tasks, 3);
        if (ticks > 90)
            assert_found(&tasks[1], OP_REALLOC_ALONE, 0);
        else
            assert_unseen(&tasks[1], 0);
        for (u32 i = 0; i < 3; i++)
            scan_output_free(&tasks[i]);
    }
}

/* Of the thread's last two events one may be behind those of others that were looked at. */
static void realloc_is_not_unseen_if_the_search_ends_too_soon(void **state)
{
    (void)state;
    for (u32 cpu = 0; cpu < 2; cpu++) {
        for (u32 between = TRAIL_EVENTS_MAX - 1; between <= TRAIL_EVENTS_MAX; between++) {
            scan_output tasks[2] = { { .stream = 5 }, { .stream = 6 } };
            add(&tasks[1], OP_ALLOC, 90, THREAD, NEW);
            add(&tasks[1], OP_ALLOC, 95, THREAD, NEW + 1);
            for (u32 i = cpu; i < between; i++)
                add(&tasks[cpu], OP_FREE, 101, OTHER, i);
            add_realloc(&tasks[1], 138, THREAD);
            end_run(tasks, 2);
            if (between < TRAIL_EVENTS_MAX)
                assert_unseen(&tasks[1], 0);
            else
                assert_found(&tasks[1], OP_REALLOC_ALONE, 0);
            for (u32 i = 0; i < 2; i++)
                scan_output_free(&tasks[i]);
        }
    }
}

static void search_goes_on_in_earlier_tasks_and_slices(void **state)
{
    scan_output tasks[3] = { { .stream = 5 }, { .stream = 6 }, { .stream = 6 } };
    trail_tails tails = { 0 };
    (void)state;
    add(&tasks[0], OP_ALLOC, 99, THREAD, NEW); /* on another CPU */
    add(&tasks[1], OP_ALLOC, 100, THREAD, NEW);
    end_slice(&tails, tasks, 2);
    for (u32 i = 0; i < 2; i++)
        scan_output_reset(&tasks[i]);
    add(&tasks[1], OP_FREE, 134, THREAD, OLD);
    add_realloc(&tasks[2], 138, THREAD);
    assert_int_equal(tasks[2].trails.count, 1);
    end_slice(&tails, tasks, 3);
    assert_found(&tasks[2], OP_REALLOC_FREED, 0);
    for (u32 i = 0; i < 3; i++)
        scan_output_free(&tasks[i]);
    realloc_trail_free(&tails);
}

/* The thread was moved twice, and another CPU has the same address for another thread. */
static void the_thread_is_followed_to_other_cpus(void **state)
{
    scan_output tasks[3] = { { .stream = 5 }, { .stream = 6 }, { .stream = 7 } };
    (void)state;
    add_whole_trail(&tasks[0]);
    add(&tasks[0], OP_ALLOC, 100, THREAD, NEW);
    add(&tasks[0], OP_ALLOC, 200, THREAD, NEW + 1); /* later than the summary */
    add(&tasks[1], OP_FREE, 134, THREAD, OLD);
    add(&tasks[1], OP_ALLOC, 135, OTHER, OLD);
    add(&tasks[2], OP_FREE, 20, THREAD, NEW);
    add_realloc(&tasks[2], 138, THREAD);
    end_run(tasks, 3);
    assert_found(&tasks[2], OP_REALLOC_FREED, 0);
    for (u32 i = 0; i < 3; i++)
        scan_output_free(&tasks[i]);
}

/* On the realloc's own CPU the alloc is the latest, but the thread went on elsewhere. */
static void a_later_event_on_another_cpu_is_the_latest(void **state)
{
    scan_output tasks[2] = { { .stream = 5 }, { .stream = 6 } };
    (void)state;
    add_whole_trail(&tasks[0]);
    add(&tasks[0], OP_ALLOC, 120, THREAD, NEW + 1);
    add(&tasks[1], OP_ALLOC, 100, THREAD, NEW);
    add_realloc(&tasks[1], 138, THREAD);
    end_run(tasks, 2);
    assert_found(&tasks[1], OP_REALLOC_OLD, 0);
    for (u32 i = 0; i < 2; i++)
        scan_output_free(&tasks[i]);
}

static void search_ends_after_so_many_events(void **state)
{
    (void)state;
    for (u32 between = TRAIL_EVENTS_MAX - 2; between <= TRAIL_EVENTS_MAX; between++) {
        scan_output task = { 0 };
        trail_tails tails = { 0 };
        add_whole_trail(&task);
        add(&task, OP_ALLOC, 100, THREAD, NEW);
        for (u32 i = 0; i < between / 2; i++)
            add(&task, OP_FREE, 101, OTHER, i);
        end_slice(&tails, &task, 1);
        scan_output_reset(&task);
        for (u32 i = between / 2; i < between; i++)
            add(&task, OP_FREE, 101, OTHER, i);
        add_realloc(&task, 138, THREAD);
        end_slice(&tails, &task, 1);
        const bool is_near = between < TRAIL_EVENTS_MAX;
        assert_found(&task, OP_REALLOC_OLD, is_near ? 39 : 0);
        scan_output_free(&task);
        realloc_trail_free(&tails);
    }
}

/* All but one event of the search lie in the summary's own task. */
static void last_event_of_the_search_may_be_in_the_slice_before(void **state)
{
    (void)state;
    for (u32 before = 0; before <= 2; before++) {
        scan_output task = { 0 };
        trail_tails tails = { 0 };
        add_whole_trail(&task);
        add(&task, OP_ALLOC, 100, THREAD, NEW);
        end_slice(&tails, &task, 1);
        scan_output_reset(&task);
        for (u32 i = 0; i < TRAIL_EVENTS_MAX - 2 + before; i++)
            add(&task, OP_FREE, 101, OTHER, i);
        add_realloc(&task, 138, THREAD);
        end_slice(&tails, &task, 1);
        assert_found(&task, OP_REALLOC_OLD, before < 2 ? 39 : 0);
        scan_output_free(&task);
        realloc_trail_free(&tails);
    }
}

/* Slices of so many events, numbered by their addresses. */
static void latest_events_of_a_cpu_are_kept_in_order(void **state)
{
    static const u32 lengths[] = { 1,   0,   3, TRAIL_EVENTS_MAX - 4, TRAIL_EVENTS_MAX - 10, 7,
                                   100, 600, 2, TRAIL_EVENTS_MAX };
    trail_tails tails = { 0 };
    u32 number = 0;
    (void)state;
    for (u32 s = 0; s < ETL_COUNT_OF(lengths); s++) {
        scan_output tasks[2] = { { .stream = 3 }, { .stream = 4 } };
        for (u32 i = 0; i < lengths[s]; i++)
            add(&tasks[0], OP_FREE, 100, THREAD, number++);
        add(&tasks[1], OP_FREE, 100, THREAD, s);
        end_slice(&tails, tasks, 2);
        const u32 kept = number < TRAIL_EVENTS_MAX ? number : TRAIL_EVENTS_MAX;
        assert_int_equal(tails.at.count, 2);
        assert_int_equal(tails.at.at[0].stream, 3);
        assert_int_equal(tails.at.at[0].count, kept);
        for (u32 i = 0; i < kept; i++)
            assert_int_equal(tails.at.at[0].events[i].address, number - kept + i);
        assert_int_equal(tails.at.at[1].count, s + 1);
        for (u32 t = 0; t < 2; t++)
            scan_output_free(&tasks[t]);
    }
    realloc_trail_free(&tails);
}

/* A CPU that logged nothing in a slice is not forgotten, and takes nothing of another. */
static void slice_without_events_of_a_cpu_leaves_its_tail(void **state)
{
    scan_output tasks[2] = { { .stream = 5 }, { .stream = 6 } };
    trail_tails tails = { 0 };
    (void)state;
    end_slice(&tails, tasks, 2);
    assert_int_equal(tails.at.count, 0);
    add_whole_trail(&tasks[0]);
    add(&tasks[0], OP_ALLOC, 100, THREAD, NEW);
    end_slice(&tails, tasks, 2);
    scan_output_reset(&tasks[0]);
    add(&tasks[1], OP_FREE, 101, OTHER, OLD);
    end_slice(&tails, tasks, 2);
    scan_output_reset(&tasks[1]);
    add_realloc(&tasks[0], 138, THREAD);
    end_slice(&tails, tasks, 2);
    assert_found(&tasks[0], OP_REALLOC_OLD, 39);
    for (u32 t = 0; t < 2; t++)
        scan_output_free(&tasks[t]);
    realloc_trail_free(&tails);
}

static void times_that_go_back_are_no_time_between(void **state)
{
    static const i64 times[] = { INT64_MIN, -1, 0, INT64_MAX };
    (void)state;
    for (size_t a = 0; a < ETL_COUNT_OF(times); a++) {
        for (size_t b = 0; b < ETL_COUNT_OF(times); b++) {
            scan_output task = { 0 };
            add(&task, OP_ALLOC, times[a], THREAD, NEW);
            add_realloc(&task, times[b], THREAD);
            end_run(&task, 1);
            const u32 since = task.events.at[2].since_alloc;
            assert_true(since >= 1 && since < INT32_MAX + (u32)1);
            assert_true(times[a] < times[b] || since == 1);
            scan_output_free(&task);
        }
    }
}

/* --- the thread's other events in between --- */

/* What the thread, or another one, does before the alloc, before the free and after it. */
typedef struct between_case {
    memory_op op;
    u32 tid;
    u64 address, size;
    u32 before, middle, after; /* how often */
    bool is_found;
} between_case;

static void add_times(scan_output *task, const between_case *from, u32 times, i64 *ticks)
{
    for (u32 i = 0; i < times; i++) {
        add(task, from->op, (*ticks)++, from->tid, from->address);
        task->events.at[task->events.count - 1].size = from->size;
    }
}

/* The alloc, the free and the summary with other events in between. The block that moved had 24
 * bytes and has none now. */
static void add_between(scan_output *task, const between_case *from)
{
    i64 ticks = 100;
    add_times(task, from, from->before, &ticks);
    add(task, OP_ALLOC, ticks++, THREAD, NEW);
    add_times(task, from, from->middle, &ticks);
    add(task, OP_FREE, ticks++, THREAD, OLD);
    add_times(task, from, from->after, &ticks);
    add(task, OP_REALLOC_NEW, ticks, THREAD, NEW);
    add(task, OP_REALLOC_OLD, ticks, THREAD, OLD);
    task->events.at[task->events.count - 1].size = 24;
    assert_true(realloc_trail_begin(task, true));
}

static const between_case between_cases[] = {
    /* Other blocks: as many as one call may be about. */
    { OP_ALLOC, THREAD, NEW + 1, 0, 0, 1, 0, true },
    { OP_FREE, THREAD, OLD + 1, 0, 0, 0, 1, true },
    { OP_REALLOC_NEW, THREAD, NEW + 1, 0, 0, 4, 4, true },
    { OP_ALLOC, THREAD, NEW + 1, 0, 0, 4, 4, true },
    { OP_ALLOC, THREAD, NEW + 1, 0, 0, 4, 5, false },
    { OP_ALLOC, THREAD, NEW + 1, 0, 20, 0, 0, true },
    /* The new block lived and ended, or its address was in use, meanwhile. */
    { OP_FREE, THREAD, NEW, 0, 0, 0, 1, false },
    { OP_FREE, THREAD, NEW, 0, 0, 1, 0, false },
    { OP_REALLOC_OLD, THREAD, NEW, 0, 0, 1, 0, false },
    { OP_ALLOC, THREAD, NEW, 8, 0, 1, 0, false },
    { OP_FREE, THREAD, NEW, 0, 1, 0, 0, true },
    /* The old block began after the alloc, so another block was freed. */
    { OP_ALLOC, THREAD, OLD, 24, 0, 1, 0, false },
    { OP_ALLOC, THREAD, OLD, 24, 1, 0, 0, true },
    /* The old address was used again: by the block that moved, or by one of another size. */
    { OP_ALLOC, THREAD, OLD, 24, 0, 0, 1, false },
    { OP_ALLOC, THREAD, OLD, 48, 0, 0, 1, true },
    { OP_ALLOC, OTHER, OLD, 24, 0, 0, 1, true },
    /* Another thread's late free of the block that had the new address before. */
    { OP_FREE, OTHER, NEW, 0, 0, 1, 0, true },
};

static void events_in_between_may_be_about_other_blocks(void **state)
{
    (void)state;
    for (u32 i = 0; i < ETL_COUNT_OF(between_cases); i++) {
        scan_output task = { 0 };
        add_between(&task, &between_cases[i]);
        const memory_event *const old = &task.events.at[task.events.count - 1];
        assert_int_equal(old->op == OP_REALLOC_FREED, between_cases[i].is_found);
        assert_int_equal(task.realloc_frees.count, between_cases[i].is_found);
        scan_output_free(&task);
    }
}

/* Another thread's event at the new address, when the thread itself did something else, too: the
 * alloc is an older block's, which the other thread freed. */
static void a_free_by_another_thread_ends_the_block(void **state)
{
    for (u32 own = 0; own < 2; own++) {
        scan_output task = { 0 };
        (void)state;
        add(&task, OP_ALLOC, 100, THREAD, NEW);
        add(&task, OP_FREE, 101, THREAD, OLD);
        for (u32 i = 0; i < own; i++)
            add(&task, OP_ALLOC, 102, THREAD, OLD + 1);
        add(&task, OP_FREE, 103, OTHER, NEW);
        add_realloc(&task, 138, THREAD);
        end_run(&task, 1);
        assert_int_equal(task.events.at[task.events.count - 1].op,
                         own == 0 ? OP_REALLOC_FREED : OP_REALLOC_ALONE);
        scan_output_free(&task);
    }
}

/* The thread moves to another processor at every event, and the free is noted where it lies. */
static void events_in_between_may_be_on_other_cpus(void **state)
{
    scan_output tasks[3] = { { .stream = 5 }, { .stream = 6 }, { .stream = 7 } };
    trail_tails tails = { .wants_frees = true };
    (void)state;
    add_whole_trail(&tasks[0]);
    add(&tasks[0], OP_ALLOC, 100, THREAD, NEW);
    add(&tasks[1], OP_ALLOC, 110, THREAD, NEW + 1);
    add(&tasks[1], OP_FREE, 120, THREAD, OLD);
    add(&tasks[0], OP_FREE, 130, THREAD, NEW + 1);
    add_realloc(&tasks[2], 138, THREAD);
    end_slice(&tails, tasks, 3);
    assert_found(&tasks[2], OP_REALLOC_FREED, 0);
    assert_int_equal(tasks[2].realloc_frees.count, 1);
    const realloc_free *const freed = tasks[2].realloc_frees.at;
    assert_int_equal(freed->summary, 0);
    assert_int_equal(freed->task, 1 + 1);
    assert_int_equal(freed->event, 1);
    for (u32 i = 0; i < 3; i++)
        scan_output_free(&tasks[i]);
    realloc_trail_free(&tails);
}

/* --- cut anywhere --- */

typedef struct found {
    u8 fresh, old;
    u32 since_alloc;
} found;

/* Few threads and addresses: trails are found, cut off, and in each other's way. */
static void add_random(scan_output *task, u64 *seed, i64 ticks)
{
    static const u8 ops[] = { OP_ALLOC, OP_FREE, OP_COMMIT, OP_REALLOC_NEW };
    const u8 op = ops[engine_check_random(seed, ETL_COUNT_OF(ops))];
    const u32 tid =
        engine_check_random(seed, 30) == 0 ? THREAD : OTHER + engine_check_random(seed, 3);
    if (op == OP_REALLOC_NEW)
        add_realloc(task, ticks, tid);
    else
        add(task, (memory_op)op, ticks, tid, op == OP_ALLOC ? NEW : OLD);
}

static void take_found(const scan_output *task, found *out, u32 *count)
{
    for (size_t i = 0; i + 1 < task->events.count; i++) {
        const memory_event *const event = &task->events.at[i];
        if (event->op == OP_REALLOC_NEW || event->op == OP_REALLOC_UNSEEN)
            out[(*count)++] = (found){ event->op, event[1].op, event[1].since_alloc };
    }
}

/* Slices of up to three tasks of one CPU of up to `longest` events; 0: all in one task. */
static u32 find_all(u64 seed, u32 longest, found *out)
{
    trail_tails tails = { 0 };
    u64 content = seed, cuts = seed + 1000;
    u32 count = 0;
    for (u32 done = 0; done < 3000;) {
        scan_output tasks[3] = { { .stream = 1 }, { .stream = 1 }, { .stream = 1 } };
        for (u32 t = 0; t < 3; t++) {
            const u32 length = longest == 0 ? 3000 : engine_check_random(&cuts, longest);
            for (u32 i = 0; i < length && done < 3000; i++)
                add_random(&tasks[t], &content, 10 * (i64)done++);
        }
        end_slice(&tails, tasks, 3);
        for (u32 t = 0; t < 3; t++) {
            take_found(&tasks[t], out, &count);
            scan_output_free(&tasks[t]);
        }
    }
    realloc_trail_free(&tails);
    return count;
}

static void cutting_changes_nothing(void **state)
{
    found *const whole = calloc(3000, sizeof *whole), *const cut = calloc(3000, sizeof *cut);
    (void)state;
    assert_true(whole != NULL && cut != NULL);
    for (u64 seed = 1; seed <= 10; seed++) {
        const u32 count = find_all(seed, 0, whole);
        u32 marks = 0;
        for (u32 i = 0; i < count; i++)
            marks += whole[i].old == OP_REALLOC_FREED || whole[i].since_alloc > 0;
        assert_true(marks > 10 && marks < count);
        for (u32 longest = 3; longest < 400; longest *= 5) {
            assert_int_equal(find_all(seed, longest, cut), count);
            for (u32 i = 0; i < count; i++) {
                assert_int_equal(cut[i].fresh, whole[i].fresh);
                assert_int_equal(cut[i].old, whole[i].old);
                assert_int_equal(cut[i].since_alloc, whole[i].since_alloc);
            }
        }
    }
    free(whole);
    free(cut);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alloc_and_free_before_the_summary_are_found),
        cmocka_unit_test(alloc_of_another_size_is_not_the_reallocs),
        cmocka_unit_test(alloc_alone_says_when_it_was),
        cmocka_unit_test(free_alone_is_not_the_reallocs),
        cmocka_unit_test(other_events_of_the_thread_end_the_search),
        cmocka_unit_test(free_among_the_last_two_events_leaves_the_alloc_to_the_realloc),
        cmocka_unit_test(free_on_another_cpu_leaves_the_alloc_to_the_realloc_if_it_is_late_enough),
        cmocka_unit_test(realloc_is_not_unseen_if_the_search_ends_too_soon),
        cmocka_unit_test(search_goes_on_in_earlier_tasks_and_slices),
        cmocka_unit_test(the_thread_is_followed_to_other_cpus),
        cmocka_unit_test(a_later_event_on_another_cpu_is_the_latest),
        cmocka_unit_test(search_ends_after_so_many_events),
        cmocka_unit_test(last_event_of_the_search_may_be_in_the_slice_before),
        cmocka_unit_test(latest_events_of_a_cpu_are_kept_in_order),
        cmocka_unit_test(slice_without_events_of_a_cpu_leaves_its_tail),
        cmocka_unit_test(times_that_go_back_are_no_time_between),
        cmocka_unit_test(events_in_between_may_be_about_other_blocks),
        cmocka_unit_test(a_free_by_another_thread_ends_the_block),
        cmocka_unit_test(events_in_between_may_be_on_other_cpus),
        cmocka_unit_test(cutting_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
