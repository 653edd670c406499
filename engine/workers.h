/*
 * workers.h - the only place with threads.
 *
 * Work is cut by task number, never by thread: run() calls fn(ctx, i) once for
 * each i below task_count, tasks are claimed in order from one counter, and the
 * call returns when all have run. A task owns its memory and its output slot,
 * so results cannot depend on which thread ran it.
 */
#ifndef ETLHEAP_WORKERS_H
#define ETLHEAP_WORKERS_H

#include "parser/base.h"

typedef void etlheap_task_fn(void *context, u32 task);

/* jobs 0 or 1: on the calling thread alone. Threads that cannot be started are
 * done without; all tasks run in any case. */
void etlheap_workers_run(u32 jobs, u32 task_count, etlheap_task_fn *fn, void *context);

/* Online processors, at least 1. */
u32 etlheap_workers_default_jobs(void);

#endif
