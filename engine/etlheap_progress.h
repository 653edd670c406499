/* etlheap_progress.h - reports of progress. Part of engine.h. */
#ifndef ETLHEAP_PROGRESS_H
#define ETLHEAP_PROGRESS_H

#include "parser/base.h"

/* Reports progress on the thread that called the engine, after every time slice (64 MiB of trace by
 * default). Return false to cancel: the call then fails with ETL_ERR_CANCELLED. */
typedef bool etlheap_progress_fn(void *user, u64 done_bytes, u64 total_bytes);

#endif
