/*
 * bench_cores.c - estimates how fast the program would be on a machine with more processors.
 *
 * In: the program itself, linked with the crews of this file in place of its own (`__wrap_`). Out:
 * its usual output, and one line of JSON on stderr:
 *
 *     BENCH_CORES=N        the calling thread does all tasks one after the other and measures each:
 *                          {"cores":N, "seconds":s, "alone":s, "with_cores":s, "longest":s},
 *                          all in processor time
 *     BENCH_PROCESSORS=N   only the number of processors changes, so that a crew of N threads is
 *                          started on a smaller machine
 *
 * Work outside of crews (`alone`) stays as it is. The tasks of a round are dealt out as a crew of N
 * threads would take them: in order, each to the thread that is free first. Workers
 * (pair_workers.h) take shards as they come, so a round of workers is dealt out by shards.
 * `with_cores` is how long N processors would take if they did not slow each other down and rounds
 * began at once; `longest` is the longest task, which no number of processors shortens. Invariant:
 * the model must claim tasks in the same order as workers.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "engine/core/machine.h"
#include "engine/core/workers.h"
#include "engine/pair/pair.h"

#define CORES_MAX 1024u
#define LOOKS     1000u

etlheap_crew *__real_etlheap_crew_open(u32 jobs);
void __real_etlheap_crew_run(etlheap_crew *crew, u32 task_count, etlheap_task_fn *fn,
                             void *context);
void __real_etlheap_workers_run(u32 jobs, u32 task_count, etlheap_task_fn *fn, void *context);
void __real_pair_slice(const pair_input *input, u32 index, pair_shard *shard);
void __real_pair_finish(const pair_input *input, pair_shard *shard);
u32 __real_machine_processors(void);

etlheap_crew *__wrap_etlheap_crew_open(u32 jobs);
void __wrap_etlheap_crew_run(etlheap_crew *crew, u32 task_count, etlheap_task_fn *fn,
                             void *context);
void __wrap_etlheap_workers_run(u32 jobs, u32 task_count, etlheap_task_fn *fn, void *context);
void __wrap_pair_slice(const pair_input *input, u32 index, pair_shard *shard);
void __wrap_pair_finish(const pair_input *input, pair_shard *shard);
u32 __wrap_machine_processors(void);

/* The measurements so far, in seconds of the thread that runs the tasks. */
static struct {
    u32 cores; /* 0: nothing is measured */
    double began;
    double look;    /* at the clock: falls half on tasks, half on what lies between them */
    u64 pairs;      /* of looks */
    double tasks;   /* in tasks, as they were run */
    double modeled; /* in the same tasks, with so many cores */
    double longest;
} run;

/* The current round, as the modelled threads share it. */
static struct {
    u32 threads;
    double free_at[CORES_MAX];
    double last;   /* when the last of them is done */
    double shards; /* seconds of the task at hand that are already dealt out */
} dealt;

/* Processor time of this thread: other programs do not count. */
static double own_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Seconds since a task began, less the time that reading the clock takes. */
static double seconds_since(double began)
{
    run.pairs++;
    return own_seconds() - began - run.look;
}

static u32 number_of(const char *variable)
{
    const char *const text = getenv(variable);
    return text == NULL ? 0 : (u32)etl_min_u64(strtoul(text, NULL, 10), CORES_MAX);
}

__attribute__((constructor)) static void begin(void)
{
    run.cores = number_of("BENCH_CORES");
    const double first = own_seconds();
    for (u32 i = 0; i < LOOKS; i++)
        run.look = (own_seconds() - first) / LOOKS;
    run.began = own_seconds();
}

__attribute__((destructor)) static void end(void)
{
    const double looks = 2 * run.look * (double)run.pairs;
    const double seconds = own_seconds() - run.began - looks;
    const double alone = seconds - run.tasks;
    if (run.cores > 0)
        fprintf(stderr,
                "{\"cores\":%u,\"seconds\":%.4f,\"alone\":%.4f,\"with_cores\":%.4f,"
                "\"longest\":%.4f}\n",
                run.cores, seconds, alone, alone + run.modeled, run.longest);
}

/* Gives the work to the thread that is free first. */
static void deal(double seconds)
{
    u32 first = 0;
    for (u32 i = 1; i < dealt.threads; i++) {
        if (dealt.free_at[i] < dealt.free_at[first])
            first = i;
    }
    dealt.free_at[first] += seconds;
    dealt.last = dealt.last > dealt.free_at[first] ? dealt.last : dealt.free_at[first];
    run.longest = run.longest > seconds ? run.longest : seconds;
}

static void run_measured(u32 task_count, etlheap_task_fn *fn, void *context)
{
    memset(&dealt, 0, sizeof dealt);
    dealt.threads = (u32)etl_min_u64(run.cores, task_count);
    for (u32 i = 0; i < task_count; i++) {
        dealt.shards = 0.0;
        const double began = own_seconds();
        fn(context, i);
        const double took = seconds_since(began);
        deal(took - dealt.shards);
        run.tasks += took;
    }
    run.modeled += dealt.last;
}

/* Threads that would only wait are not started. */
etlheap_crew *__wrap_etlheap_crew_open(u32 jobs)
{
    return __real_etlheap_crew_open(run.cores > 0 ? 1 : jobs);
}

void __wrap_etlheap_crew_run(etlheap_crew *crew, u32 task_count, etlheap_task_fn *fn, void *context)
{
    if (run.cores > 0)
        run_measured(task_count, fn, context);
    else
        __real_etlheap_crew_run(crew, task_count, fn, context);
}

void __wrap_etlheap_workers_run(u32 jobs, u32 task_count, etlheap_task_fn *fn, void *context)
{
    if (run.cores > 0)
        run_measured(task_count, fn, context);
    else
        __real_etlheap_workers_run(jobs, task_count, fn, context);
}

static void deal_shard(double began)
{
    const double took = seconds_since(began);
    deal(took);
    dealt.shards += took;
}

void __wrap_pair_slice(const pair_input *input, u32 index, pair_shard *shard)
{
    const double began = own_seconds();
    __real_pair_slice(input, index, shard);
    if (run.cores > 0)
        deal_shard(began);
}

void __wrap_pair_finish(const pair_input *input, pair_shard *shard)
{
    const double began = own_seconds();
    __real_pair_finish(input, shard);
    if (run.cores > 0)
        deal_shard(began);
}

u32 __wrap_machine_processors(void)
{
    const u32 wanted = number_of("BENCH_PROCESSORS");
    return wanted > 0 ? wanted : __real_machine_processors();
}
