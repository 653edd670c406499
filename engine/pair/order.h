/*
 * order.h - puts the memory events of a slice in time order and divides them among shards.
 *
 * Each stream (CPU) is in order, and a slice has as many sorted runs as tasks. Its time is cut into
 * buckets with about equally many events, which threads merge in parallel: in a bucket, the parts
 * of the runs are merged two by two. Ties go by stream, then by position, so the order is unique.
 *
 * Each event then has a *rank* in the slice and goes into its shard's list, with what pairing
 * needs: the number of its heap and, if it opens a block, its origin. The rank also identifies the
 * block that the event opens, and the place of its entry in the event list, so nothing has to be
 * sorted again.
 */
#ifndef ETLHEAP_ORDER_H
#define ETLHEAP_ORDER_H

#include "engine/context/context.h"
#include "engine/context/origins.h"
#include "engine/log/event_list.h"

/* Marks the number of something new in a bucket, until order_number gives it its final number. */
#define ORDER_LOCAL ((u32)1 << 31)

/* Marks an index into the bucket's waiting events instead of an origin. */
#define ORDER_WAITING ((u32)1 << 30)

/* An event that opens a block and whose stack may still come. */
typedef struct order_waiting {
    u32 number; /* from the join, in its shard */
    u32 origin; /* origin without a stack; may be local */
} order_waiting;

/* An event in a shard's list. */
typedef struct ordered_event {
    i64 ticks;
    union {
        u64 address;
        event_entry entry; /* once paired, with an event list: its entry */
    };
    union {
        u64 size;                  /* heap shards: as memory_event.size */
        const memory_event *range; /* range shards: the event itself */
    };
    union {
        u32 heap;    /* heap shards: number in origins.heaps; range shards: the process */
        u32 partner; /* once paired, with an event list: as in chunk_columns.partners */
    };
    u32 origin; /* opening ops: number in origins.origins; OLD: memory_event.since_alloc */
    u32 tid;
    u32 rank; /* in the slice */
    u32 hash; /* heap shards: block_hash, once the heap is final */
    u16 cpu;
    u8 op;              /* memory_op */
    bool stack_is_open; /* an opening op with no stack or a provisional one */
} ordered_event;

static_assert(sizeof(ordered_event) <= 48, "a slice of these should stay in the cache");

/* The number of events of a process in a bucket. */
typedef struct order_count {
    u32 process;
    u32 events[ETLHEAP_KIND_COUNT]; /* as etlheap_process_info.events */
} order_count;

/* An event whose freer may still come: see order_freers.h. */
typedef struct order_freer_wait {
    u32 number; /* stands for the stack ... */
    u32 rank;   /* in the slice */
    u32 owner;  /* may be local */
    u8 shard;   /* ... in this shard */
} order_freer_wait;

typedef struct order_bucket {
    i64 end_ticks;                /* end of the bucket; unused for the last one */
    u32 first, count;             /* ranks */
    u32 shard_starts[SHARDS + 1]; /* in slice_order.events, from `first` */
    ETLHEAP_VECTOR(heap_row) new_heaps;
    ETLHEAP_VECTOR(owner_row) new_owners;   /* .heap may be local */
    ETLHEAP_VECTOR(origin_row) new_origins; /* .owner may be local */
    ETLHEAP_VECTOR(u32) heap_ids;           /* heaps of the new owners, once numbered */
    ETLHEAP_VECTOR(u32) owner_ids;
    ETLHEAP_VECTOR(u32) origin_ids;
    ETLHEAP_VECTOR(order_waiting) waiting;
    ETLHEAP_VECTOR(origin_row) new_freers; /* .owner may be local */
    ETLHEAP_VECTOR(u32) freer_ids;
    ETLHEAP_VECTOR(order_freer_wait) freer_waits;
    ETLHEAP_VECTOR(order_count) counts;
    bool failed;
} order_bucket;

typedef struct slice_order {
    const scan_output *tasks;
    u32 task_count;
    trace_context *context;
    const origin_table *origins;
    const origin_table *freers; /* with wide.freers */
    bool count_only;
    bool numbers_blocks;   /* as in stack_join */
    i64 from_ticks;        /* latest time of earlier slices; INT64_MIN at first */
    i64 last_ticks;        /* time of the slice's last event; from_ticks if there is none */
    u64 steps_back;        /* places in streams where the time goes back, of all slices */
    ordered_event *events; /* by bucket, then shard, then time */
    i64 *ticks;            /* by rank, in the event list; NULL: not needed */
    event_entry *entries;  /* the same; marked where the time changes */
    chunk_columns wide;    /* the same, of opening ops; NULL: not needed */
    u32 count;
    size_t capacity;
    order_bucket *buckets;
    u32 bucket_count, bucket_capacity;
    u32 *bounds; /* by bucket: where each task's part begins */
    size_t bounds_capacity;
} slice_order;

/* Cuts the slice into buckets by the tasks' samples. A time that goes back within a stream is
 * raised to the latest before it, or to the start of the slice; the context gets a process for that
 * time, too. False if memory runs out, or there are too many events. */
bool order_plan(slice_order *order, scan_output *tasks, u32 task_count);

/* Fills bucket `index`. Different buckets may be filled in parallel. */
void order_fill(slice_order *order, u32 index);

/* Gives everything new its final number, bucket after bucket, except freers. False if memory ran
 * out, here or in a bucket. */
bool order_number(slice_order *order, origin_table *origins);

/* Call it after pairing. Copies the entries of the bucket's events to their places in the event
 * list. Different buckets may be copied in parallel. */
void order_note(const slice_order *order, u32 index);

void order_free(slice_order *order);

static inline u32 order_heap_number(const order_bucket *bucket, u32 heap)
{
    return (heap & ORDER_LOCAL) == 0 ? heap : bucket->heap_ids.at[heap & ~ORDER_LOCAL];
}

/* The waiting entry that an origin stands for; NULL if it is a real origin. */
static inline const order_waiting *order_waiting_of(const order_bucket *bucket, u32 origin)
{
    const u32 flags = ORDER_LOCAL | ORDER_WAITING;
    return (origin & flags) == flags ? &bucket->waiting.at[origin & ~flags] : NULL;
}

static inline u32 order_origin_number(const order_bucket *bucket, u32 origin)
{
    return (origin & ORDER_LOCAL) == 0 ? origin : bucket->origin_ids.at[origin & ~ORDER_LOCAL];
}

#endif
