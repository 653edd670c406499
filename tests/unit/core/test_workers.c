/*
 * Goal: every task runs exactly once and has run when the call returns, for any
 * number of threads, once or in a round of a crew that lasts; without threads
 * tasks run in order on the caller.
 * Method: tasks count themselves; two tasks that wait for each other show that
 * threads are really used. Rounds write plain memory, of the round alone and of
 * all rounds: ThreadSanitizer sees what is not ordered.
 */
#define _GNU_SOURCE 1 /* sched_setaffinity */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>

#include "engine/core/machine.h"
#include "engine/core/workers.h"
#include "tests/support/long_tests.h"

#define TASKS 1000u

typedef struct log_of_runs {
    _Atomic u32 runs[TASKS];
    u32 order[TASKS]; /* single thread only */
    _Atomic u32 count;
    pthread_t caller;
    _Atomic bool left_caller;
} log_of_runs;

static void note(void *context, u32 task)
{
    log_of_runs *const log = context;
    log->runs[task]++;
    log->order[log->count++] = task;
    if (!pthread_equal(pthread_self(), log->caller))
        log->left_caller = true;
}

static void assert_each_ran_once(u32 jobs, u32 tasks)
{
    static log_of_runs log;
    memset(&log, 0, sizeof log);
    log.caller = pthread_self();
    etlheap_workers_run(jobs, tasks, note, &log);
    for (u32 i = 0; i < TASKS; i++)
        assert_int_equal(log.runs[i], i < tasks);
}

static void each_task_runs_once_for_any_number_of_jobs(void **state)
{
    (void)state;
    static const u32 jobs[] = { 0, 1, 2, 7, 64, 1000, UINT32_MAX };
    for (size_t i = 0; i < ETL_COUNT_OF(jobs); i++) {
        assert_each_ran_once(jobs[i], TASKS);
        assert_each_ran_once(jobs[i], 3);
        assert_each_ran_once(jobs[i], 1);
    }
}

static void no_task_is_no_call(void **state)
{
    (void)state;
    assert_each_ran_once(0, 0);
    assert_each_ran_once(4, 0);
}

static void one_job_runs_tasks_in_order_on_the_caller(void **state)
{
    (void)state;
    for (u32 jobs = 0; jobs <= 1; jobs++) {
        static log_of_runs log;
        memset(&log, 0, sizeof log);
        log.caller = pthread_self();
        etlheap_workers_run(jobs, TASKS, note, &log);
        for (u32 i = 0; i < TASKS; i++)
            assert_int_equal(log.order[i], i);
        assert_false(log.left_caller);
    }
}

/* Each waits until the other has come, ten seconds at most. */
static void meet(void *context, u32 task)
{
    (void)task;
    _Atomic u32 *const here = context;
    const struct timespec moment = { .tv_nsec = 1000000 };
    atomic_fetch_add(here, 1);
    for (u32 i = 0; i < 10000 && atomic_load(here) < 2; i++)
        nanosleep(&moment, NULL);
    atomic_fetch_add(here, atomic_load(here) < 2 ? 100 : 0);
}

static void two_jobs_run_two_tasks_at_once(void **state)
{
    (void)state;
    _Atomic u32 here = 0;
    etlheap_workers_run(2, 2, meet, &here);
    assert_int_equal(here, 2);
}

static void work_of_other_threads_is_visible_afterwards(void **state)
{
    (void)state;
    static log_of_runs log;
    for (u32 round = 0; round < 50; round++) {
        memset(&log, 0, sizeof log);
        etlheap_workers_run(7, TASKS, note, &log);
        assert_int_equal(log.count, TASKS);
    }
}

/* --- crews --- */

static void crew_runs_each_task_once_for_any_number_of_jobs(void **state)
{
    (void)state;
    static const u32 jobs[] = { 0, 1, 2, 7, 64, UINT32_MAX };
    static const u32 tasks[] = { 0, 1, 2, 3, 100, TASKS };
    for (size_t j = 0; j < ETL_COUNT_OF(jobs); j++) {
        etlheap_crew *const crew = etlheap_crew_open(jobs[j]);
        assert_non_null(crew);
        for (size_t t = 0; t < ETL_COUNT_OF(tasks); t++) {
            static log_of_runs log;
            memset(&log, 0, sizeof log);
            log.caller = pthread_self();
            etlheap_crew_run(crew, tasks[t], note, &log);
            for (u32 i = 0; i < TASKS; i++)
                assert_int_equal(log.runs[i], i < tasks[t]);
        }
        etlheap_crew_close(crew);
    }
}

static void crew_of_one_runs_tasks_in_order_on_the_caller(void **state)
{
    (void)state;
    for (u32 jobs = 0; jobs <= 1; jobs++) {
        static log_of_runs log;
        memset(&log, 0, sizeof log);
        log.caller = pthread_self();
        etlheap_crew *const crew = etlheap_crew_open(jobs);
        etlheap_crew_run(crew, TASKS, note, &log);
        etlheap_crew_close(crew);
        for (u32 i = 0; i < TASKS; i++)
            assert_int_equal(log.order[i], i);
        assert_false(log.left_caller);
    }
}

static void round_of_one_task_needs_no_other_thread(void **state)
{
    (void)state;
    static log_of_runs log;
    memset(&log, 0, sizeof log);
    log.caller = pthread_self();
    etlheap_crew *const crew = etlheap_crew_open(4);
    for (u32 i = 0; i < 100; i++)
        etlheap_crew_run(crew, 1, note, &log);
    etlheap_crew_close(crew);
    assert_int_equal(log.runs[0], 100);
    assert_false(log.left_caller);
}

static void two_of_a_crew_work_at_once(void **state)
{
    (void)state;
    etlheap_crew *const crew = etlheap_crew_open(2);
    for (u32 i = 0; i < 20; i++) {
        _Atomic u32 here = 0;
        etlheap_crew_run(crew, 2, meet, &here);
        assert_int_equal(here, 2);
    }
    etlheap_crew_close(crew);
}

static void crew_is_closed_without_work(void **state)
{
    (void)state;
    for (u32 i = 0; i < 50; i++)
        etlheap_crew_close(etlheap_crew_open(i % 7));
    etlheap_crew_close(NULL);
}

#define ROUND_TASKS 8u

/* What tasks write without locks; round r of t tasks. */
typedef struct rounds {
    u32 round;               /* written by the caller between rounds */
    u32 seen[ROUND_TASKS];   /* the latest round of the task */
    u64 totals[ROUND_TASKS]; /* of all its rounds */
} rounds;

static void take_part(void *context, u32 task)
{
    rounds *const all = context;
    all->seen[task] = all->round;
    all->totals[task] += all->round;
}

/* Round `number`, of number % 9 tasks. */
static void run_round(etlheap_crew *crew, rounds *all, u32 number, u64 *totals)
{
    const u32 tasks = number % (ROUND_TASKS + 1);
    all->round = number;
    etlheap_crew_run(crew, tasks, take_part, all);
    for (u32 i = 0; i < tasks; i++) {
        totals[i] += number;
        assert_int_equal(all->seen[i], number);
        assert_int_equal(all->totals[i], totals[i]);
    }
}

static void crew_lasts_thousands_of_rounds(void **state)
{
    (void)state;
    rounds all = { 0 };
    u64 totals[ROUND_TASKS] = { 0 };
    etlheap_crew *const crew = etlheap_crew_open(3);
    const u32 count = long_tests() ? 100000 : 3000;
    for (u32 number = 1; number <= count; number++)
        run_round(crew, &all, number, totals);
    etlheap_crew_close(crew);
}

/* After a while without work the others sleep, and are woken by the next round. */
static void crew_that_fell_asleep_wakes_up(void **state)
{
    (void)state;
    const struct timespec moment = { .tv_nsec = 3000000 };
    rounds all = { 0 };
    u64 totals[ROUND_TASKS] = { 0 };
    etlheap_crew *const crew = etlheap_crew_open(4);
    for (u32 number = 1; number <= 40; number++) {
        nanosleep(&moment, NULL);
        run_round(crew, &all, number, totals);
    }
    nanosleep(&moment, NULL);
    etlheap_crew_close(crew);
}

/* The task that is not the caller's takes longer than anybody looks for. */
static void take_long(void *context, u32 task)
{
    log_of_runs *const log = context;
    const struct timespec moment = { .tv_nsec = 20000000 };
    meet(&log->count, task);
    if (!pthread_equal(pthread_self(), log->caller))
        nanosleep(&moment, NULL);
    log->runs[task]++;
}

static void caller_waits_for_the_last_of_its_crew(void **state)
{
    (void)state;
    etlheap_crew *const crew = etlheap_crew_open(2);
    for (u32 i = 0; i < 5; i++) {
        static log_of_runs log;
        memset(&log, 0, sizeof log);
        log.caller = pthread_self();
        etlheap_crew_run(crew, 2, take_long, &log);
        assert_int_equal(log.runs[0], 1);
        assert_int_equal(log.runs[1], 1);
    }
    etlheap_crew_close(crew);
}

/* Does the work that the until allows, piece by piece. */
typedef struct errand {
    u64 done; /* of the helper alone, until it is closed */
    _Atomic u64 seen;
} errand;

static bool run_errand(void *context, u64 until)
{
    errand *const own = context;
    if (own->done < until)
        own->seen = ++own->done;
    return own->done < until;
}

static void helper_works_up_to_the_mark(void **state)
{
    (void)state;
    errand own = { 0 };
    etlheap_helper *const helper = etlheap_helper_open(run_errand, &own);
    assert_non_null(helper);
    for (u64 until = 1; until < 2000; until += 1 + until % 7) {
        etlheap_helper_allow(helper, until);
        while (own.seen < until)
            sched_yield();
        assert_true(own.seen == until);
    }
    etlheap_helper_close(helper);
    assert_true(own.done == own.seen);
}

static bool never_rests(void *context, u64 until)
{
    (void)until;
    ++*(_Atomic u64 *)context;
    return true;
}

static void helper_is_closed_in_the_middle_of_its_work(void **state)
{
    (void)state;
    _Atomic u64 pieces = 0;
    etlheap_helper *const helper = etlheap_helper_open(never_rests, &pieces);
    while (pieces == 0)
        sched_yield();
    etlheap_helper_close(helper);
    const u64 last = pieces;
    sched_yield();
    assert_true(pieces == last);
    etlheap_helper_allow(NULL, 1);
    etlheap_helper_close(NULL);
}

/* A gauge, and what lies behind it: plain memory, of the helper until the gauge has passed it. */
typedef struct gauged {
    etlheap_gauge *gauge;
    u32 count;
    u32 written[TASKS];
} gauged;

static bool write_and_raise(void *context, u64 until)
{
    gauged *const own = context;
    (void)until;
    own->written[own->count] = ~own->count;
    etlheap_gauge_raise(own->gauge, ++own->count);
    return own->count < TASKS;
}

static void gauge_says_how_far_another_thread_has_come(void **state)
{
    (void)state;
    static gauged own;
    own = (gauged){ .gauge = etlheap_gauge_open() };
    assert_non_null(own.gauge);
    etlheap_helper *const helper = etlheap_helper_open(write_and_raise, &own);
    for (u64 wanted = 1, passed = 0; wanted <= TASKS; wanted += 1 + wanted % 13) {
        u64 reached;
        do {
            reached = etlheap_gauge_await(own.gauge, wanted, 5);
            assert_true(reached >= passed && reached <= TASKS);
            passed = reached;
        } while (reached < wanted);
        for (u64 i = 0; i < reached; i++)
            assert_int_equal(own.written[i], ~(u32)i);
    }
    etlheap_helper_close(helper);
    etlheap_gauge_close(own.gauge);
}

static void gauge_waits_no_longer_than_it_may(void **state)
{
    (void)state;
    etlheap_gauge *const gauge = etlheap_gauge_open();
    struct timespec before, after;
    assert_non_null(gauge);
    assert_int_equal(clock_gettime(CLOCK_MONOTONIC, &before), 0);
    assert_int_equal(etlheap_gauge_await(gauge, 1, 30), 0);
    assert_int_equal(clock_gettime(CLOCK_MONOTONIC, &after), 0);
    const i64 waited_ns =
        (after.tv_sec - before.tv_sec) * 1000000000 + after.tv_nsec - before.tv_nsec;
    assert_true(waited_ns >= 25000000);
    etlheap_gauge_raise(gauge, UINT64_MAX);
    etlheap_gauge_raise(gauge, 3);
    assert_true(etlheap_gauge_await(gauge, 4, 0) == UINT64_MAX); /* it never falls */
    etlheap_gauge_close(gauge);
    etlheap_gauge_close(NULL);
}

static void there_is_at_least_one_processor(void **state)
{
    (void)state;
    assert_in_range(etlheap_workers_default_jobs(), 1, 256);
    assert_true(machine_processors() <= machine_processors_online());
}

/* Whatever the computer has, and other threads may use. */
static void mask_of_processors_limits_the_default(void **state)
{
    (void)state;
#if defined(__linux__)
    cpu_set_t before, one;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    size_t first = 0;
    while (!CPU_ISSET(first, &before))
        first++;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    assert_int_equal(etlheap_workers_default_jobs(), 1);
    assert_each_ran_once(2, TASKS);
    assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
#else
    skip();
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_task_runs_once_for_any_number_of_jobs),
        cmocka_unit_test(no_task_is_no_call),
        cmocka_unit_test(one_job_runs_tasks_in_order_on_the_caller),
        cmocka_unit_test(two_jobs_run_two_tasks_at_once),
        cmocka_unit_test(work_of_other_threads_is_visible_afterwards),
        cmocka_unit_test(crew_runs_each_task_once_for_any_number_of_jobs),
        cmocka_unit_test(crew_of_one_runs_tasks_in_order_on_the_caller),
        cmocka_unit_test(round_of_one_task_needs_no_other_thread),
        cmocka_unit_test(two_of_a_crew_work_at_once),
        cmocka_unit_test(crew_is_closed_without_work),
        cmocka_unit_test(crew_lasts_thousands_of_rounds),
        cmocka_unit_test(crew_that_fell_asleep_wakes_up),
        cmocka_unit_test(caller_waits_for_the_last_of_its_crew),
        cmocka_unit_test(helper_works_up_to_the_mark),
        cmocka_unit_test(helper_is_closed_in_the_middle_of_its_work),
        cmocka_unit_test(gauge_says_how_far_another_thread_has_come),
        cmocka_unit_test(gauge_waits_no_longer_than_it_may),
        cmocka_unit_test(there_is_at_least_one_processor),
        cmocka_unit_test(mask_of_processors_limits_the_default),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
