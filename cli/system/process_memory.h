/* process_memory.h - the memory of the process, as the system counts and limits it. */
#ifndef CLI_PROCESS_MEMORY_H
#define CLI_PROCESS_MEMORY_H

#include "parser/base.h"

/* The private memory of the process, written to or not; 0: unknown. */
u64 cli_memory_in_use(void);

/* Limits the memory from now on (0: as before). False if the system has no such limit. Freed memory
 * is then returned to the system at once, because kept memory would count. */
bool cli_memory_set_limit(u64 bytes);

#endif
