/*
 * virtual_model.h - a program that reserves, commits, decommits and releases
 * address space, as a stream of events in global time order.
 */
#ifndef BENCH_VIRTUAL_MODEL_H
#define BENCH_VIRTUAL_MODEL_H

#include "stack_pool.h"

typedef struct virtual_model virtual_model;

typedef struct virtual_event {
    bool is_alloc; /* VirtualAlloc, else VirtualFree */
    u32 cpu;
    u32 process;
    u32 tid;
    u32 stack;
    u32 flags; /* as the record has them */
    i64 ticks;
    u64 base;
    u64 size;
} virtual_event;

typedef struct virtual_model_sums {
    u64 allocs;
    u64 frees;
    u64 committed_bytes;
    u64 committed_peak_bytes;
} virtual_model_sums;

/* `events` VirtualAlloc and VirtualFree calls. To be given to virtual_model_free(). */
virtual_model *virtual_model_new(const stack_pool *pool, u64 events, i64 start_ticks);
void virtual_model_free(virtual_model *m);

bool virtual_model_next(virtual_model *m, virtual_event *out);
const virtual_model_sums *virtual_model_sums_of(const virtual_model *m);

#endif
