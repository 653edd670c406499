/*
 * services.h - which Windows services a process runs.
 *
 * The kernel's rundown has one record for each service of the machine, with the id of
 * its process if it runs. A host such as svchost.exe runs several.
 */
#ifndef ETLHEAP_SERVICES_H
#define ETLHEAP_SERVICES_H

#include "context.h"
#include "engine/engine.h"

/* Fills in `services` of the processes: names in byte order, with commas. process_ids are
 * final ids by the run's ids. False without memory. */
bool services_describe(trace_context *context, const u32 *process_ids,
                       etlheap_process_info *processes);

#endif
