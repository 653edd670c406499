/*
 * heap_model.h - the heap workload of the benchmark as a stream of events in
 * global time order. What is written to traces and what is written for other
 * programs to read comes from the same stream.
 */
#ifndef BENCH_HEAP_MODEL_H
#define BENCH_HEAP_MODEL_H

#include "stack_pool.h"

typedef struct heap_model heap_model;

#define HEAP_MODEL_CPUS  8u
#define HEAP_MODEL_HZ    10000000u
#define HEAP_MODEL_HEAPS 12u

typedef enum heap_event_kind {
    HEAP_EVENT_ALLOC,
    HEAP_EVENT_FREE,
    HEAP_EVENT_STACK /* of the CPU's last ALLOC, whose values it repeats */
} heap_event_kind;

typedef struct heap_event {
    heap_event_kind kind;
    u32 cpu;
    u32 process; /* into the pool's processes */
    u32 tid;
    u32 stack; /* of the allocation, also for a free */
    i64 ticks;
    i64 alloc_ticks; /* of the allocation, for all three kinds */
    u64 heap;
    u64 address;
    u64 size;
} heap_event;

/* Sums over the events handed out so far. */
typedef struct heap_model_sums {
    u64 allocs;
    u64 frees;
    u64 open;
    u64 open_peak;
    u64 alloc_bytes;
    u64 open_bytes;
    u64 frames;
} heap_model_sums;

/* At least `allocs` allocations, the first one just after `start_ticks`; about `open_max`
 * blocks open at once, 0: the model's own number. The pool is borrowed. To be given to
 * heap_model_free(). */
heap_model *heap_model_new(const stack_pool *pool, u64 allocs, u32 open_max, i64 start_ticks);
void heap_model_free(heap_model *m);

/* The next event, false at the end. Every allocation is followed by its stack. */
bool heap_model_next(heap_model *m, heap_event *out);

const heap_model_sums *heap_model_sums_of(const heap_model *m);

/* For the records a trace begins with. */
typedef struct heap_model_heap {
    u32 process;
    u64 handle;
} heap_model_heap;

u32 heap_model_heaps(const heap_model *m, const heap_model_heap **out);

#endif
