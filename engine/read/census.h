/*
 * census.h - counts of everything in a trace, by hook id and by provider.
 */
#ifndef ETLHEAP_CENSUS_H
#define ETLHEAP_CENSUS_H

#include "event_census.h"

typedef struct census_count {
    u64 count, bytes;
} census_count;

/* Counters per hook live in pages by group, made on first use: a task touches a
 * handful of groups, and 64 Ki counters would cost more to clear than to use. */
typedef struct record_census {
    census_count *pages[256];
    ETLHEAP_VECTOR(etlheap_provider_count) providers;
    etlheap_index provider_index;
    u32 last_provider;   /* id of the latest one: records come in runs */
    event_census events; /* of providers; counted by runs that `info` asks */
    u64 records;
    u64 stack_records; /* stack walks and key references */
    u64 key_records;
    u64 stack_items; /* stacks inside of events of custom allocators */
} record_census;

/* A record a stack walk may belong to. */
typedef struct census_target {
    i64 ticks;
    u32 tid;
    u16 cpu;
} census_target;

/* False without memory. census_add_hook: records of a hook that are counted already. */
bool census_add(record_census *census, const etl_record *record);
bool census_add_hook(record_census *census, u16 hook, const census_count *records);

/* What a census finds wrong, by what a run does: all but what pairing alone can find, and
 * with stacks, of which a run looks at those of memory events. */
etl_diag_counts census_diagnostics(const etl_diag_counts *run, const etlheap_stack_counts *stacks);

bool census_merge(record_census *into, const record_census *from);
void census_free(record_census *census);

#endif
