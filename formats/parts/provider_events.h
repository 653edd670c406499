/*
 * provider_events.h - what `info` says of a provider and its events.
 */
#ifndef ETLHEAP_PROVIDER_EVENTS_H
#define ETLHEAP_PROVIDER_EVENTS_H

#include "formats/formats.h"

/* The counts of the events of a provider, *count of them. */
void etlheap_provider_events(const etlheap_result *result, const u8 *guid,
                             const etlheap_event_count **rows, u32 *count);

/* The name of a provider: ours, or the one that its events give; NULL: none. */
const char *etlheap_provider_title(const etlheap_result *result, const u8 *guid);

#endif
