/* workers.c - see workers.h. */
#include "workers.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#define THREADS_MAX 256

typedef struct pool {
    _Atomic u32 next;
    u32 task_count;
    etlheap_task_fn *fn;
    void *context;
} pool;

static void *work(void *argument);

void etlheap_workers_run(u32 jobs, u32 task_count, etlheap_task_fn *fn, void *context)
{
    pool shared = { .task_count = task_count, .fn = fn, .context = context };
    pthread_t threads[THREADS_MAX];
    u32 wanted = jobs < task_count ? jobs : task_count;
    if (wanted > THREADS_MAX)
        wanted = THREADS_MAX;
    u32 started = 0;
    for (u32 i = 1; i < wanted; i++) {
        if (pthread_create(&threads[started], NULL, work, &shared) != 0)
            break;
        started++;
    }
    work(&shared);
    for (u32 i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
}

static void *work(void *argument)
{
    pool *const shared = argument;
    for (;;) {
        const u32 task = atomic_fetch_add_explicit(&shared->next, 1, memory_order_relaxed);
        if (task >= shared->task_count)
            return NULL;
        shared->fn(shared->context, task);
    }
}

u32 etlheap_workers_default_jobs(void)
{
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online < 1 ? 1 : online > THREADS_MAX ? THREADS_MAX : (u32)online;
}
