/*
 * services.h - the Windows services that a process runs.
 *
 * The kernel's rundown has one record for each service of the computer, with the id of its process
 * if it runs. A host such as svchost.exe runs several.
 */
#ifndef ETLHEAP_SERVICES_H
#define ETLHEAP_SERVICES_H

#include "context.h"
#include "engine/engine.h"

/* Sets `services` of the processes: names in byte order, separated by commas. process_ids has the
 * final ids by the run's ids. False if memory runs out. */
bool services_describe(trace_context *context, const u32 *process_ids,
                       etlheap_process_info *processes);

#endif
