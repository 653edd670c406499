/*
 * workers.h - the only place with threads.
 *
 * Work is cut by task number, never by thread: run() calls fn(ctx, i) once for
 * each i below task_count, tasks are claimed in order from one counter, and the
 * call returns when all have run. A task owns its memory and its output slot,
 * so results cannot depend on which thread ran it.
 *
 * A crew keeps its threads between calls: a run over a trace makes thousands of
 * them, milliseconds apart. One thread at a time gives a crew work.
 */
#ifndef ETLHEAP_WORKERS_H
#define ETLHEAP_WORKERS_H

#include "parser/base.h"

typedef void etlheap_task_fn(void *context, u32 task);

typedef struct etlheap_crew etlheap_crew;

/* A crew of `jobs` workers, the calling thread included, or of fewer if there would be more
 * than four to a processor; threads that cannot be started are done without. NULL without
 * memory. */
etlheap_crew *etlheap_crew_open(u32 jobs);
void etlheap_crew_run(etlheap_crew *crew, u32 task_count, etlheap_task_fn *fn, void *context);
void etlheap_crew_close(etlheap_crew *crew); /* NULL is allowed */

/* The same for once. jobs 0 or 1: on the calling thread alone. Without memory
 * too: all tasks run in any case. */
void etlheap_workers_run(u32 jobs, u32 task_count, etlheap_task_fn *fn, void *context);

/* calloc by `jobs` threads, for large memory: the system clears pages as they are first written,
 * and one thread alone would be at it for long while the others have nothing to do. */
void *etlheap_workers_calloc(u32 jobs, size_t count, size_t size);

/*
 * A thread beside the crews, for what waits for the disk and not for a processor. It calls
 * fn(context, mark), which does one piece of work and returns whether there may be more;
 * once there is none it sleeps until the mark changes. NULL if it cannot be started.
 */
typedef bool etlheap_helper_fn(void *context, u64 mark);
typedef struct etlheap_helper etlheap_helper;

etlheap_helper *etlheap_helper_open(etlheap_helper_fn *fn, void *context);
void etlheap_helper_mark(etlheap_helper *helper, u64 mark); /* 0 at first; NULL is allowed */
void etlheap_helper_close(etlheap_helper *helper); /* after the piece at hand; NULL is allowed */

/* For what tasks may not do at the same time. NULL without memory. */
typedef struct etlheap_lock etlheap_lock;

etlheap_lock *etlheap_lock_open(void);
void etlheap_lock_take(etlheap_lock *lock);
void etlheap_lock_give(etlheap_lock *lock);
void etlheap_lock_close(etlheap_lock *lock); /* NULL is allowed */

/* Threads where nobody says how many: one for each processor that this process may use. */
u32 etlheap_workers_default_jobs(void);

#endif
