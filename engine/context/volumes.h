/* volumes.h - drive letters of paths, from the volumes that a merge lists. */
#ifndef ETLHEAP_VOLUMES_H
#define ETLHEAP_VOLUMES_H

#include "context.h"

/* Applies a record of a volume. False if memory runs out. */
bool volumes_told(trace_context *context, const system_event *row);

/* Sets *out to the DOS path of an NT path, or to the path itself if its volume is unknown; valid as
 * long as the context. Of several volumes the one with the longest NT path counts. False if memory
 * runs out. */
bool volumes_path(trace_context *context, const char *path, const char **out);

#endif
