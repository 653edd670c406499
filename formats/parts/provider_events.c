/*
 * provider_events.c - finds the events of a provider in a result's counts, and the provider's
 * title.
 */
#include "provider_events.h"

void etlheap_provider_events(const etlheap_result *result, const u8 *guid,
                             const etlheap_event_count **rows, u32 *count)
{
    const etlheap_event_count *all;
    const u32 all_count = etlheap_event_counts(result, &all);
    u32 first = 0;
    while (first < all_count && memcmp(all[first].provider.bytes, guid, sizeof(etl_guid)) != 0)
        first++;
    u32 end = first;
    while (end < all_count && memcmp(all[end].provider.bytes, guid, sizeof(etl_guid)) == 0)
        end++;
    *rows = all_count == 0 ? NULL : all + first;
    *count = end - first;
}

const char *etlheap_provider_title(const etlheap_result *result, const u8 *guid)
{
    const etlheap_event_count *rows;
    u32 count;
    const char *name = etl_provider_name(guid);
    etlheap_provider_events(result, guid, &rows, &count);
    for (u32 i = 0; i < count && name == NULL; i++)
        name = rows[i].provider_name[0] != '\0' ? rows[i].provider_name : NULL;
    return name;
}
