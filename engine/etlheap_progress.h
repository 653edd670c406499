/* etlheap_progress.h - reports of progress. Part of engine.h. */
#ifndef ETLHEAP_PROGRESS_H
#define ETLHEAP_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

/* Reports progress on the thread that called the engine, after every time slice (64 MiB of trace by
 * default). Return false to cancel: the call then fails with ETL_ERR_CANCELLED. */
typedef bool etlheap_progress_fn(void *user, uint64_t done_bytes, uint64_t total_bytes);

#endif
