/*
 * order.h - the memory events of a slice in time order, cut for the shards.
 *
 * Every stream (CPU) is in order by itself, and a slice has as many sorted runs
 * as tasks. Its time is cut into buckets of about equal count, which many
 * threads merge at once: in a bucket, the runs' parts are merged two by two;
 * ties go by stream, then by position, so there is one order only. Each event
 * then has a *rank* in the slice, and is handed to its shard's list with all that
 * pairing asks for: the number of its heap and, where it opens a block, its slot.
 *
 * A rank is also the name of the block that its event opens, and the place of
 * its entry in the journal: nothing has to be put in order a second time.
 */
#ifndef ETLHEAP_ORDER_H
#define ETLHEAP_ORDER_H

#include "engine/context/context.h"
#include "engine/context/slots.h"
#include "engine/log/journal.h"

/* Numbers of what is new in a bucket, until order_settle gives it its own. */
#define ORDER_LOCAL ((u32)1 << 31)

/* Besides: in place of a slot there is a place among the bucket's events that wait. */
#define ORDER_WAITING ((u32)1 << 30)

/* An event that opens a block whose stack may still come. */
typedef struct order_waiting {
    u32 number; /* that the join gave it, in its shard */
    u32 slot;   /* of no stack; may be local */
} order_waiting;

/* An event as a shard sees it. */
typedef struct ordered_event {
    i64 ticks;
    union {
        u64 address;
        journal_entry entry; /* once paired, with a journal: what was noted at its place */
    };
    union {
        u64 size;                  /* heap shards; as memory_event.size */
        const memory_event *range; /* range shards: the event itself */
    };
    union {
        u32 heap;    /* heap shards: number in slots.heaps; range shards: the process */
        u32 partner; /* once paired, with a journal: as journal_wide.partners */
    };
    u32 slot; /* opening ops: number in slots.slots; OLD: memory_event.since_alloc */
    u32 tid;
    u32 rank; /* in the slice */
    u32 hash; /* heap shards: block_hash, once the heap is settled */
    u16 cpu;
    u8 op;              /* memory_op */
    bool stack_is_open; /* an opening op whose stack is none or provisional */
} ordered_event;

static_assert(sizeof(ordered_event) <= 48, "a slice of these should stay in the cache");

/* Events of a process in a bucket. */
typedef struct order_count {
    u32 process;
    u32 heap_events, virtualalloc_events, custom_events;
} order_count;

/* An event whose actor may still come: see order_actors.h. */
typedef struct order_actor_wait {
    u32 number; /* that stands in place of the stack, ... */
    u32 rank;   /* in the slice */
    u32 owner;  /* may be local */
    u8 shard;   /* ... in this shard */
} order_actor_wait;

typedef struct order_bucket {
    i64 end_ticks;                /* of all but the last one */
    u32 first, count;             /* ranks */
    u32 shard_starts[SHARDS + 1]; /* in slice_order.events, from `first` */
    ETLHEAP_VECTOR(heap_row) new_heaps;
    ETLHEAP_VECTOR(owner_row) new_owners; /* .heap may be local */
    ETLHEAP_VECTOR(slot_row) new_slots;   /* .owner may be local */
    ETLHEAP_VECTOR(u32) heap_ids;         /* of the new ones, once settled */
    ETLHEAP_VECTOR(u32) owner_ids;
    ETLHEAP_VECTOR(u32) slot_ids;
    ETLHEAP_VECTOR(order_waiting) waiting;
    ETLHEAP_VECTOR(slot_row) new_actors; /* .owner may be local */
    ETLHEAP_VECTOR(u32) actor_ids;
    ETLHEAP_VECTOR(order_actor_wait) actor_waits;
    ETLHEAP_VECTOR(order_count) counts;
    bool failed;
} order_bucket;

typedef struct slice_order {
    const scan_output *tasks;
    u32 task_count;
    const trace_context *context;
    const slot_table *slots;
    const slot_table *actors; /* with wide.actors */
    bool count_only;
    bool numbers_blocks;    /* as stack_join.numbers_blocks */
    i64 from_ticks;         /* no event of the slices before is later; INT64_MIN at first */
    i64 last_ticks;         /* of the slice's last event; from_ticks without one */
    ordered_event *events;  /* by bucket, then shard, then time */
    i64 *ticks;             /* by rank, the journal's; NULL: not wanted */
    journal_entry *entries; /* likewise: marked where time moves on */
    journal_wide wide;      /* likewise: of opening ops; NULL: not wanted */
    u32 count;
    size_t capacity;
    order_bucket *buckets;
    u32 bucket_count, bucket_capacity;
    u32 *bounds; /* bucket after bucket: where each task's part begins */
    size_t bounds_capacity;
} slice_order;

/* Cuts the slice into buckets by the tasks' samples. Times that go back within a stream
 * are moved up to the latest before them, or to where the slice begins. False without
 * memory or with too many events. */
bool order_plan(slice_order *order, scan_output *tasks, u32 task_count);

/* Fills bucket `index`; each by one task, at the same time. */
void order_fill(slice_order *order, u32 index);

/* Numbers what is new, bucket after bucket, but for actors. False without memory, or when a
 * bucket had none. */
bool order_settle(slice_order *order, slot_table *slots);

/* After pairing: brings what was noted of the bucket's events to their places in
 * the journal; each bucket by one task. */
void order_note(const slice_order *order, u32 index);

void order_free(slice_order *order);

static inline u32 order_heap_number(const order_bucket *bucket, u32 heap)
{
    return (heap & ORDER_LOCAL) == 0 ? heap : bucket->heap_ids.at[heap & ~ORDER_LOCAL];
}

/* NULL: an event with a slot. */
static inline const order_waiting *order_waiting_of(const order_bucket *bucket, u32 slot)
{
    const u32 flags = ORDER_LOCAL | ORDER_WAITING;
    return (slot & flags) == flags ? &bucket->waiting.at[slot & ~flags] : NULL;
}

static inline u32 order_slot_number(const order_bucket *bucket, u32 slot)
{
    return (slot & ORDER_LOCAL) == 0 ? slot : bucket->slot_ids.at[slot & ~ORDER_LOCAL];
}

#endif
