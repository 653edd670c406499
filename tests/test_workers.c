/*
 * Goal: every task runs exactly once and has run when the call returns, for any
 * number of threads; without threads tasks run in order on the caller.
 * Method: tasks count themselves; two tasks that wait for each other show that
 * threads are really used.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "engine/workers.h"

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

static void there_is_at_least_one_processor(void **state)
{
    (void)state;
    assert_in_range(etlheap_workers_default_jobs(), 1, 256);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_task_runs_once_for_any_number_of_jobs),
        cmocka_unit_test(no_task_is_no_call),
        cmocka_unit_test(one_job_runs_tasks_in_order_on_the_caller),
        cmocka_unit_test(two_jobs_run_two_tasks_at_once),
        cmocka_unit_test(work_of_other_threads_is_visible_afterwards),
        cmocka_unit_test(there_is_at_least_one_processor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
