/* windows_memory.h - the last MemInfo values before each window ends. */
#ifndef ETLHEAP_WINDOWS_MEMORY_H
#define ETLHEAP_WINDOWS_MEMORY_H

#include "engine/query/windows_plan.h"

typedef struct windows_memory {
    etlheap_memory_sample *system; /* by window; NULL: none */
    etlheap_process_memory *processes;
    etlheap_memory_sample *samples; /* samples of all processes */
    u32 process_count;
} windows_memory;

/* Finds the samples of the system and of the selected processes. Close it in any case.
 * ETL_ERR_MEMORY, ETL_ERR_LIMIT (too many windows for the number of processes). */
etl_status windows_memory_open(windows_memory *out, const query_plan *query,
                               const windows_plan *plan, etl_error *err);
void windows_memory_close(windows_memory *memory);

#endif
