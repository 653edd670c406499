/*
 * etlheap_counts.h - how many records of each kind a trace has: engine.h includes this.
 *
 * Rows are owned by the result. Any thread may read them.
 */
#ifndef ETLHEAP_COUNTS_H
#define ETLHEAP_COUNTS_H

#include "engine.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Records by hook id, and all others by provider or class GUID (is_message: WPP). */
typedef struct etlheap_hook_count {
    u16 hook;
    const char *name; /* NULL unknown */
    u64 count;
    u64 bytes;
} etlheap_hook_count;

typedef struct etlheap_provider_count {
    etl_guid guid;
    bool is_message;
    u64 count;
    u64 bytes;
} etlheap_provider_count;

/* Events of providers, by id and version; events of TraceLogging, by name. The names are those
 * that the trace gives. Only of traces that `census_only` read, and of their stores. */
typedef struct etlheap_event_count {
    etl_guid provider;
    bool is_class; /* a classic event: `opcode` tells it apart, else `id` */
    u16 id;
    u16 opcode;
    u16 version;
    const char *provider_name; /* "" unknown, as the name */
    const char *name;          /* "Event" or "Event/Opcode" */
    u64 count;
    u64 bytes;
} etlheap_event_count;

typedef struct etlheap_stack_counts {
    u64 records; /* stack walks and key references */
    u64 matched; /* their event is in the trace; known after census_only runs only */
    u64 unmatched;
    u64 keys_referenced;
    u64 keys_resolved;
} etlheap_stack_counts;

/* In ascending hook and GUID order. */
u32 etlheap_hook_counts(const etlheap_result *result, const etlheap_hook_count **rows);
u32 etlheap_provider_counts(const etlheap_result *result, const etlheap_provider_count **rows);
/* In ascending order of GUID, id, version and name. */
u32 etlheap_event_counts(const etlheap_result *result, const etlheap_event_count **rows);
const etlheap_stack_counts *etlheap_result_stacks(const etlheap_result *result);

#ifdef __cplusplus
}
#endif

#endif
