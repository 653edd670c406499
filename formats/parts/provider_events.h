/* provider_events.h - a provider and its events, for `info`. */
#ifndef ETLHEAP_PROVIDER_EVENTS_H
#define ETLHEAP_PROVIDER_EVENTS_H

#include "formats/formats.h"

#include "parser/base.h"

/* Finds the counts of a provider's events; sets *count. */
void etlheap_provider_events(const etlheap_result *result, const u8 *guid,
                             const etlheap_event_count **rows, u32 *count);

/* The name of a provider: the built-in one, or the one in its events; NULL: none. */
const char *etlheap_provider_title(const etlheap_result *result, const u8 *guid);

#endif
