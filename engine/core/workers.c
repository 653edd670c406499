/*
 * workers.c - a crew of threads that runs numbered tasks, round by round. It is the only place that
 * starts threads for work.
 *
 * In: a function and a number of tasks. Out: all tasks done, when the call returns.
 *
 * A round is announced by its number. Waiting threads watch that number for a moment before they
 * sleep, because the next round is usually near: between two rounds of a slice, one thread is busy
 * for a tenth of a millisecond or two, and waking the others takes nearly as long. A crew larger
 * than the machine does not watch: that would keep a processor from the thread that is waited for.
 * No crew is so large that waking it takes longer than its work. Invariant: the fields of a round
 * are written before its number, and only when no thread works.
 */
#include "workers.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "machine.h"

#define THREADS_MAX 256u
#define STACK_BYTES ((size_t)1 << 20) /* no function here takes a tenth of it */
#define PATIENCE    10000u            /* looks, some hundred microseconds */
#define CROWD       4u                /* threads to a processor, at most */
#define CLEAR_BYTES ((size_t)4 << 20) /* of a task; of large pages, two */
#define CROWD_LEAST 8u                /* as many as that are always started */

struct etlheap_crew {
    /* The fields of a round: written before its number, while no thread works. */
    _Atomic u32 next;
    u32 task_count;
    etlheap_task_fn *fn;
    void *context;
    _Atomic u32 round;
    _Atomic u32 working; /* threads that have not left the round */
    bool is_closing;
    pthread_mutex_t lock;
    pthread_cond_t round_begins, round_ends;
    u32 patience; /* looks before going to sleep */
    u32 thread_count;
    pthread_t threads[THREADS_MAX];
};

static etlheap_crew *open_crew(u32 jobs, u32 patience);
static void *work(void *argument);
static void do_tasks(etlheap_crew *crew);
static void begin_round(etlheap_crew *crew);

static inline void pause_briefly(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

etlheap_crew *etlheap_crew_open(u32 jobs)
{
    return open_crew(jobs, jobs > 1 && jobs <= machine_processors() ? PATIENCE : 0);
}

/* The number of threads worth starting. Each round wakes all of them, which costs more than they
 * can do if there are many for each processor. */
static u32 worthwhile(u32 jobs)
{
    if (jobs <= CROWD_LEAST)
        return jobs;
    const u32 crowd = (u32)etl_min_u64((u64)machine_processors() * CROWD, THREADS_MAX);
    return (u32)etl_min_u64(jobs, etl_max_u64(crowd, CROWD_LEAST));
}

static etlheap_crew *open_crew(u32 jobs, u32 patience)
{
    const u32 wanted = worthwhile(jobs);
    etlheap_crew *const crew = calloc(1, sizeof *crew);
    if (crew == NULL)
        return NULL;
    crew->patience = patience;
    pthread_mutex_init(&crew->lock, NULL);
    pthread_cond_init(&crew->round_begins, NULL);
    pthread_cond_init(&crew->round_ends, NULL);
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0)
        return crew;
    (void)pthread_attr_setstacksize(&attributes, STACK_BYTES);
    while (crew->thread_count + 1 < wanted && crew->thread_count < THREADS_MAX) {
        if (pthread_create(&crew->threads[crew->thread_count], &attributes, work, crew) != 0)
            break;
        crew->thread_count++;
    }
    pthread_attr_destroy(&attributes);
    return crew;
}

void etlheap_crew_close(etlheap_crew *crew)
{
    if (crew == NULL)
        return;
    crew->is_closing = true;
    begin_round(crew);
    for (u32 i = 0; i < crew->thread_count; i++)
        pthread_join(crew->threads[i], NULL);
    pthread_mutex_destroy(&crew->lock);
    pthread_cond_destroy(&crew->round_begins);
    pthread_cond_destroy(&crew->round_ends);
    free(crew);
}

static void begin_round(etlheap_crew *crew)
{
    atomic_store_explicit(&crew->next, 0, memory_order_relaxed);
    atomic_store_explicit(&crew->working, crew->thread_count, memory_order_relaxed);
    pthread_mutex_lock(&crew->lock);
    atomic_fetch_add_explicit(&crew->round, 1, memory_order_release);
    pthread_cond_broadcast(&crew->round_begins);
    pthread_mutex_unlock(&crew->lock);
}

void etlheap_crew_run(etlheap_crew *crew, u32 task_count, etlheap_task_fn *fn, void *context)
{
    crew->task_count = task_count;
    crew->fn = fn;
    crew->context = context;
    if (crew->thread_count == 0 || task_count < 2) {
        for (u32 i = 0; i < task_count; i++)
            fn(context, i);
        return;
    }
    begin_round(crew);
    do_tasks(crew);
    for (u32 i = 0; i < crew->patience; i++) {
        if (atomic_load_explicit(&crew->working, memory_order_acquire) == 0)
            return;
        pause_briefly();
    }
    pthread_mutex_lock(&crew->lock);
    while (atomic_load_explicit(&crew->working, memory_order_acquire) != 0)
        pthread_cond_wait(&crew->round_ends, &crew->lock);
    pthread_mutex_unlock(&crew->lock);
}

static void do_tasks(etlheap_crew *crew)
{
    for (;;) {
        const u32 task = atomic_fetch_add_explicit(&crew->next, 1, memory_order_relaxed);
        if (task >= crew->task_count)
            return;
        crew->fn(crew->context, task);
    }
}

/* Waits until the round's number differs from `done`. */
static void await_round(etlheap_crew *crew, u32 done)
{
    for (u32 i = 0; i < crew->patience; i++) {
        if (atomic_load_explicit(&crew->round, memory_order_acquire) != done)
            return;
        pause_briefly();
    }
    pthread_mutex_lock(&crew->lock);
    while (atomic_load_explicit(&crew->round, memory_order_acquire) == done)
        pthread_cond_wait(&crew->round_begins, &crew->lock);
    pthread_mutex_unlock(&crew->lock);
}

static void *work(void *argument)
{
    etlheap_crew *const crew = argument;
    for (u32 done = 0;; done++) {
        await_round(crew, done);
        if (crew->is_closing)
            return NULL;
        do_tasks(crew);
        if (atomic_fetch_sub_explicit(&crew->working, 1, memory_order_acq_rel) == 1) {
            pthread_mutex_lock(&crew->lock);
            pthread_cond_signal(&crew->round_ends);
            pthread_mutex_unlock(&crew->lock);
        }
    }
}

/* Runs a single round: threads need not watch for another one. */
void etlheap_workers_run(u32 jobs, u32 task_count, etlheap_task_fn *fn, void *context)
{
    etlheap_crew *const crew = open_crew(jobs < task_count ? jobs : task_count, 0);
    if (crew != NULL) {
        etlheap_crew_run(crew, task_count, fn, context);
    } else {
        for (u32 i = 0; i < task_count; i++)
            fn(context, i);
    }
    etlheap_crew_close(crew);
}

/* Memory to be cleared. */
typedef struct clearing {
    u8 *at;
    size_t size;
} clearing;

static void clear_piece(void *context, u32 task)
{
    const clearing *const all = context;
    const size_t from = (size_t)task * CLEAR_BYTES;
    memset(all->at + from, 0, all->size - from < CLEAR_BYTES ? all->size - from : CLEAR_BYTES);
}

void *etlheap_workers_calloc(u32 jobs, size_t count, size_t size)
{
    clearing all = { .at = NULL };
    if (__builtin_mul_overflow(count, size, &all.size) || all.size / CLEAR_BYTES >= UINT32_MAX)
        return NULL;
    if (jobs < 2 || all.size < 2 * CLEAR_BYTES)
        return calloc(count, size);
    all.at = malloc(all.size);
    if (all.at != NULL)
        etlheap_workers_run(jobs, (u32)((all.size + CLEAR_BYTES - 1) / CLEAR_BYTES), clear_piece,
                            &all);
    return all.at;
}

struct etlheap_helper {
    etlheap_helper_fn *fn;
    void *context;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    u64 until; /* this and the next under the lock */
    bool is_closing;
    pthread_t thread;
};

static void *help(void *argument)
{
    etlheap_helper *const helper = argument;
    pthread_mutex_lock(&helper->lock);
    while (!helper->is_closing) {
        const u64 until = helper->until;
        pthread_mutex_unlock(&helper->lock);
        const bool has_more = helper->fn(helper->context, until);
        pthread_mutex_lock(&helper->lock);
        while (!has_more && !helper->is_closing && helper->until == until)
            pthread_cond_wait(&helper->changed, &helper->lock);
    }
    pthread_mutex_unlock(&helper->lock);
    return NULL;
}

etlheap_helper *etlheap_helper_open(etlheap_helper_fn *fn, void *context)
{
    etlheap_helper *const helper = calloc(1, sizeof *helper);
    pthread_attr_t attributes;
    if (helper == NULL || pthread_attr_init(&attributes) != 0) {
        free(helper);
        return NULL;
    }
    helper->fn = fn;
    helper->context = context;
    pthread_mutex_init(&helper->lock, NULL);
    pthread_cond_init(&helper->changed, NULL);
    (void)pthread_attr_setstacksize(&attributes, STACK_BYTES);
    const bool is_started = pthread_create(&helper->thread, &attributes, help, helper) == 0;
    pthread_attr_destroy(&attributes);
    if (is_started)
        return helper;
    pthread_mutex_destroy(&helper->lock);
    pthread_cond_destroy(&helper->changed);
    free(helper);
    return NULL;
}

void etlheap_helper_allow(etlheap_helper *helper, u64 until)
{
    if (helper == NULL)
        return;
    pthread_mutex_lock(&helper->lock);
    helper->until = until;
    pthread_cond_signal(&helper->changed);
    pthread_mutex_unlock(&helper->lock);
}

void etlheap_helper_close(etlheap_helper *helper)
{
    if (helper == NULL)
        return;
    pthread_mutex_lock(&helper->lock);
    helper->is_closing = true;
    pthread_cond_signal(&helper->changed);
    pthread_mutex_unlock(&helper->lock);
    pthread_join(helper->thread, NULL);
    pthread_mutex_destroy(&helper->lock);
    pthread_cond_destroy(&helper->changed);
    free(helper);
}

struct etlheap_gauge {
    pthread_mutex_t lock;
    pthread_cond_t risen;
    u64 reached; /* this and the next under the lock */
    u64 awaited; /* the least that somebody waits for; UINT64_MAX: nobody waits for less */
};

etlheap_gauge *etlheap_gauge_open(void)
{
    etlheap_gauge *const gauge = calloc(1, sizeof *gauge);
    if (gauge == NULL)
        return NULL;
    gauge->awaited = UINT64_MAX;
    pthread_mutex_init(&gauge->lock, NULL);
    pthread_cond_init(&gauge->risen, NULL);
    return gauge;
}

/* Wakes nobody in vain: a gauge may rise thousands of times until it is where it is awaited. */
void etlheap_gauge_raise(etlheap_gauge *gauge, u64 reached)
{
    pthread_mutex_lock(&gauge->lock);
    gauge->reached = etl_max_u64(gauge->reached, reached);
    if (gauge->reached >= gauge->awaited) {
        gauge->awaited = UINT64_MAX; /* who still has to wait says so again */
        pthread_cond_broadcast(&gauge->risen);
    }
    pthread_mutex_unlock(&gauge->lock);
}

static struct timespec time_after(u32 milliseconds)
{
    struct timespec until;
    (void)clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += milliseconds / 1000;
    until.tv_nsec += (long)(milliseconds % 1000) * 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    return until;
}

u64 etlheap_gauge_await(etlheap_gauge *gauge, u64 wanted, u32 milliseconds)
{
    const struct timespec until = time_after(milliseconds);
    pthread_mutex_lock(&gauge->lock);
    bool has_time = true;
    while (has_time && gauge->reached < wanted) {
        gauge->awaited = etl_min_u64(gauge->awaited, wanted);
        has_time = pthread_cond_timedwait(&gauge->risen, &gauge->lock, &until) == 0;
    }
    const u64 reached = gauge->reached;
    pthread_mutex_unlock(&gauge->lock);
    return reached;
}

void etlheap_gauge_close(etlheap_gauge *gauge)
{
    if (gauge == NULL)
        return;
    pthread_mutex_destroy(&gauge->lock);
    pthread_cond_destroy(&gauge->risen);
    free(gauge);
}

struct etlheap_lock {
    pthread_mutex_t mutex;
};

etlheap_lock *etlheap_lock_open(void)
{
    etlheap_lock *const lock = calloc(1, sizeof *lock);
    if (lock != NULL)
        pthread_mutex_init(&lock->mutex, NULL);
    return lock;
}

void etlheap_lock_take(etlheap_lock *lock)
{
    pthread_mutex_lock(&lock->mutex);
}

void etlheap_lock_give(etlheap_lock *lock)
{
    pthread_mutex_unlock(&lock->mutex);
}

void etlheap_lock_close(etlheap_lock *lock)
{
    if (lock == NULL)
        return;
    pthread_mutex_destroy(&lock->mutex);
    free(lock);
}

u32 etlheap_workers_default_jobs(void)
{
    return (u32)etl_min_u64(machine_processors(), THREADS_MAX);
}
