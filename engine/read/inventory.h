/* inventory.h - counts all records of a trace, by hook id and by provider. */
#ifndef ETLHEAP_INVENTORY_H
#define ETLHEAP_INVENTORY_H

#include "event_inventory.h"

typedef struct inventory_count {
    u64 count, bytes;
} inventory_count;

/* Counters by hook, in one page per group that is made on first use. A task meets only a few
 * groups, and clearing 64 Ki counters would cost more than using them. */
typedef struct record_inventory {
    inventory_count *pages[256];
    ETLHEAP_VECTOR(etlheap_provider_count) providers;
    etlheap_index provider_index;
    u32 last_provider;      /* id of the last record's provider, because records come in runs */
    event_inventory events; /* events of providers; only in runs for `info` */
    u64 records;
    u64 stack_records; /* stack walks and key references */
    u64 key_records;
    u64 stack_items; /* stacks inside events of custom allocators */
} record_inventory;

/* A record that a stack walk may belong to. */
typedef struct inventory_target {
    i64 ticks;
    u32 tid;
    u16 cpu;
    bool frees; /* it frees memory */
} inventory_target;

/* Count records. inventory_add_hook adds records of a hook that the caller counted. False if memory
 * runs out. */
bool inventory_add(record_inventory *inventory, const etl_record *record);
bool inventory_add_hook(record_inventory *inventory, u16 hook, const inventory_count *records);

/* The diagnostics of an inventory: those of a run, except what only pairing finds, and with all
 * stacks, while a run checks only those of memory events. */
etl_diag_counts inventory_diagnostics(const etl_diag_counts *run,
                                      const etlheap_stack_counts *stacks);

bool inventory_merge(record_inventory *into, const record_inventory *from);
void inventory_free(record_inventory *inventory);

#endif
