/*
 * workers.h - the only place with threads.
 *
 * Work is divided by task number, never by thread. run() calls fn(ctx, i) once for each i below
 * task_count and returns when all calls have returned; threads claim tasks in order from one
 * counter. A task owns its memory and its output slot, so results cannot depend on which thread ran
 * it.
 *
 * A crew keeps its threads between calls, because a run over a trace makes thousands of calls,
 * milliseconds apart. Only one thread at a time may give work to a crew.
 */
#ifndef ETLHEAP_WORKERS_H
#define ETLHEAP_WORKERS_H

#include "parser/base.h"
#include "parser/parser.h"

typedef void etlheap_task_fn(void *context, u32 task);

typedef struct etlheap_crew etlheap_crew;

/* Starts a crew of `jobs` workers, including the calling thread, but at most four per processor.
 * Threads that cannot be started are left out. NULL if memory runs out. */
etlheap_crew *etlheap_crew_open(u32 jobs);
void etlheap_crew_run(etlheap_crew *crew, u32 task_count, etlheap_task_fn *fn, void *context);
void etlheap_crew_close(etlheap_crew *crew); /* NULL is allowed */

/* Runs tasks without a crew. With jobs 0 or 1, or if memory runs out, all tasks run on the calling
 * thread. */
void etlheap_workers_run(u32 jobs, u32 task_count, etlheap_task_fn *fn, void *context);

/* How a task ended; a part of its state. */
typedef struct task_end {
    etl_status status;
    etl_error err;
} task_end;

/* The first failure of `count` tasks, whose states lie `state_bytes` apart. */
static inline etl_status task_ends_first(const task_end *first, size_t state_bytes, u32 count,
                                         etl_error *err)
{
    for (u32 i = 0; i < count; i++) {
        const task_end *const own = (const void *)((const u8 *)first + i * state_bytes);
        if (own->status != ETL_OK && err != NULL)
            *err = own->err;
        if (own->status != ETL_OK)
            return own->status;
    }
    return ETL_OK;
}

/* Like calloc, with `jobs` threads, for large memory: the system clears pages when they are first
 * written, which takes one thread long while the others wait. */
void *etlheap_workers_calloc(u32 jobs, size_t count, size_t size);

/*
 * A thread besides the crews, for work that goes on beside theirs: reading ahead, unpacking. It
 * calls fn(context, until), which does one piece of work and returns whether there may be more.
 * When there is none, it sleeps until more is allowed. NULL if it cannot be started.
 */
typedef bool etlheap_helper_fn(void *context, u64 until);
typedef struct etlheap_helper etlheap_helper;

etlheap_helper *etlheap_helper_open(etlheap_helper_fn *fn, void *context);
void etlheap_helper_allow(etlheap_helper *helper, u64 until); /* 0 at first; NULL is allowed */
void etlheap_helper_close(etlheap_helper *helper); /* after the current piece; NULL is allowed */

/*
 * A number that one thread raises and others wait for: how far it has come. What was written before
 * it was raised can be read by whoever has seen it raised. 0 at first; it never falls. NULL if
 * memory runs out.
 */
typedef struct etlheap_gauge etlheap_gauge;

etlheap_gauge *etlheap_gauge_open(void);
void etlheap_gauge_raise(etlheap_gauge *gauge, u64 reached);

/* Waits until `wanted` is reached, at most so many milliseconds. Returns what has been reached. */
u64 etlheap_gauge_await(etlheap_gauge *gauge, u64 wanted, u32 milliseconds);
void etlheap_gauge_close(etlheap_gauge *gauge); /* while nobody waits; NULL is allowed */

/* A lock, for work that only one task may do at a time. NULL if memory runs out. */
typedef struct etlheap_lock etlheap_lock;

etlheap_lock *etlheap_lock_open(void);
void etlheap_lock_take(etlheap_lock *lock);
void etlheap_lock_give(etlheap_lock *lock);
void etlheap_lock_close(etlheap_lock *lock); /* NULL is allowed */

/* The default number of threads: the processors that this process may use. */
u32 etlheap_workers_default_jobs(void);

/* The number of threads that options ask for; 0 asks for the default. */
static inline u32 etlheap_workers_jobs(u32 wanted)
{
    return wanted == 0 ? etlheap_workers_default_jobs() : wanted;
}

#endif
