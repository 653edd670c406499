/* census.h - counts all records of a trace, by hook id and by provider. */
#ifndef ETLHEAP_CENSUS_H
#define ETLHEAP_CENSUS_H

#include "event_census.h"

typedef struct census_count {
    u64 count, bytes;
} census_count;

/* Counters by hook, in one page per group that is made on first use. A task meets only a few
 * groups, and clearing 64 Ki counters would cost more than using them. */
typedef struct record_census {
    census_count *pages[256];
    ETLHEAP_VECTOR(etlheap_provider_count) providers;
    etlheap_index provider_index;
    u32 last_provider;   /* id of the last record's provider, because records come in runs */
    event_census events; /* events of providers; only in runs for `info` */
    u64 records;
    u64 stack_records; /* stack walks and key references */
    u64 key_records;
    u64 stack_items; /* stacks inside events of custom allocators */
} record_census;

/* A record that a stack walk may belong to. */
typedef struct census_target {
    i64 ticks;
    u32 tid;
    u16 cpu;
} census_target;

/* Count records. census_add_hook adds records of a hook that the caller counted. False if memory
 * runs out. */
bool census_add(record_census *census, const etl_record *record);
bool census_add_hook(record_census *census, u16 hook, const census_count *records);

/* The diagnostics of a census: those of a run, except what only pairing finds, and with all stacks,
 * while a run checks only those of memory events. */
etl_diag_counts census_diagnostics(const etl_diag_counts *run, const etlheap_stack_counts *stacks);

bool census_merge(record_census *into, const record_census *from);
void census_free(record_census *census);

#endif
