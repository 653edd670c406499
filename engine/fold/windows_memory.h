/*
 * windows_memory.h - what MemInfo records said last before windows end.
 */
#ifndef ETLHEAP_WINDOWS_MEMORY_H
#define ETLHEAP_WINDOWS_MEMORY_H

#include "engine/query/windows_plan.h"

typedef struct windows_memory {
    etlheap_memory_sample *system; /* by window; NULL: nothing is known */
    etlheap_process_memory *processes;
    etlheap_memory_sample *samples; /* of all processes */
    u32 process_count;
} windows_memory;

/* Of the processes that the query selects. To be closed in any case.
 * ETL_ERR_MEMORY, ETL_ERR_LIMIT (too many windows for as many processes). */
etl_status windows_memory_open(windows_memory *out, const query_plan *query,
                               const windows_plan *plan, etl_error *err);
void windows_memory_close(windows_memory *memory);

#endif
