/* etlheap_threads.h - the names of threads. Part of engine.h. */
#ifndef ETLHEAP_THREADS_H
#define ETLHEAP_THREADS_H

#include "engine.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The last name of a thread of this process, or NULL: the process never had a thread with this id,
 * or the thread has no name. Ids of processes and threads are reused; names are not. Owned by the
 * result. */
const char *etlheap_process_thread_name(const etlheap_result *result, etlheap_process process,
                                        uint32_t tid);

#ifdef __cplusplus
}
#endif
#endif
