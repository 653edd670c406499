/*
 * order.c - puts the memory events of all tasks into one order of time and hands each to its
 * shard.
 *
 * In: per task, events sorted by time and samples of their times. Out: per bucket and shard,
 * lists of ordered_event with rank, heap number and origin.
 *
 *     tasks' runs --cut by time--> buckets --merge two by two--> one order --by key--> shards
 *
 * Buckets are filled in parallel, so numbers of what is new in a bucket (heaps, owners, origins)
 * are local (ORDER_LOCAL) until order_number numbers them bucket after bucket. Invariants: equal
 * times are ordered by stream, then position, so there is one order whatever the number of
 * threads; ranks are dense in the slice.
 */
#include "order.h"

#include <stdlib.h>

#include "order_freers.h"
#include "order_times.h"

#define EVENTS_PER_BUCKET 4096u
#define CACHE_SIZE        64u /* a power of two */
#define AHEAD             8u  /* events fetched before their turn */
/* How far ahead a shard's list is prefetched for writing: another core may hold the cache line, and
 * later stores wait for it. */
#define WRITE_AHEAD (2 * sizeof(ordered_event))

/* The sort key of an event. */
typedef struct order_key {
    i64 ticks;
    const memory_event *event;
} order_key;

/* Keys to be merged. */
typedef struct merge_room {
    order_key *keys, *other; /* the second as large, for every other pass */
    u32 *starts;             /* of the runs, and the end of the last one */
} merge_room;

/* The owner of a heap handle and process id, for times of the bucket. */
typedef struct cached_owner {
    u64 handle;
    u32 pid;
    u32 process; /* 0: nothing here */
    u32 heap, owner;
    bool is_steady; /* the same at any time of the bucket */
    order_count count;
} cached_owner;

typedef struct filler {
    const slice_order *order;
    order_bucket *bucket;
    order_key *keys; /* in order */
    u32 count;
    cached_owner cache[CACHE_SIZE];
} filler;

static bool reserve(slice_order *order, size_t count, u32 bucket_count);
static bool cut(slice_order *order, u32 bucket_count);
static bool open_room(merge_room *room, const slice_order *order, size_t count);
static void close_room(merge_room *room);
static order_key *merge_runs(const merge_room *room, u32 run_count);
static void note_ticks(const filler *f);
static bool hand_out(filler *f);
static bool flush_counts(filler *f);

bool order_plan(slice_order *order, scan_output *tasks, u32 task_count)
{
    order->tasks = tasks;
    order->task_count = task_count;
    size_t count = 0;
    for (u32 i = 0; i < task_count; i++)
        count += tasks[i].events.count;
    order->bucket_count = 0;
    order->count = (u32)count;
    if (count >= ORDER_LOCAL)
        return false;
    const u32 bucket_count = (u32)(count / EVENTS_PER_BUCKET) + 1;
    return order_raise_times(order, tasks) && reserve(order, count, bucket_count) &&
           cut(order, bucket_count);
}

static bool reserve(slice_order *order, size_t count, u32 bucket_count)
{
    if (count + 1 > order->capacity) {
        const size_t capacity = count + count / 4 + 1;
        free(order->events);
        order->events = malloc(capacity * sizeof *order->events);
        order->capacity = order->events != NULL ? capacity : 0;
        if (order->capacity == 0)
            return false;
    }
    if (bucket_count > order->bucket_capacity) {
        order_bucket *const buckets =
            realloc(order->buckets, (bucket_count + (size_t)8) * sizeof *buckets);
        if (buckets == NULL)
            return false;
        memset(buckets + order->bucket_capacity, 0,
               (bucket_count + (size_t)8 - order->bucket_capacity) * sizeof *buckets);
        order->buckets = buckets;
        order->bucket_capacity = bucket_count + 8;
    }
    const size_t bounds = (bucket_count + (size_t)1) * (order->task_count + (size_t)1);
    if (bounds > order->bounds_capacity) {
        free(order->bounds);
        order->bounds = malloc(bounds * 2 * sizeof *order->bounds);
        order->bounds_capacity = order->bounds == NULL ? 0 : bounds * 2;
    }
    return order->bounds_capacity > 0;
}

/* The first event of the task at or after `ticks`, from `low` on. */
static u32 find_ticks(const scan_output *task, u32 low, i64 ticks)
{
    const u32 count = (u32)task->events.count;
    u32 at;
    if (low == count || task->events.at[count - 1].ticks < ticks)
        return count;
    ETL_BISECT(at, low, count, task->events.at[at].ticks < ticks);
    return at;
}

/* Places the ends of the buckets, by a sample of the times. Tasks whose times go back are not
 * sorted; then buckets are uneven. */
static bool place_ends(slice_order *order, u32 bucket_count)
{
    size_t count = 0;
    for (u32 t = 0; t < order->task_count; t++)
        count += order->tasks[t].sample.count;
    merge_room room;
    const bool ok = open_room(&room, order, count);
    u32 filled = 0;
    for (u32 t = 0; ok && t < order->task_count; t++) {
        room.starts[t] = filled;
        for (size_t i = 0; i < order->tasks[t].sample.count; i++)
            room.keys[filled++] = (order_key){ .ticks = order->tasks[t].sample.at[i] };
    }
    if (ok && filled > 0) {
        room.starts[order->task_count] = filled;
        const order_key *const sorted = merge_runs(&room, order->task_count);
        for (u32 b = 0; b + 1 < bucket_count; b++)
            order->buckets[b].end_ticks = sorted[(size_t)filled * (b + 1) / bucket_count].ticks;
    }
    close_room(&room);
    return ok;
}

static bool cut(slice_order *order, u32 bucket_count)
{
    const u32 tasks = order->task_count;
    if (bucket_count > 1 && !place_ends(order, bucket_count))
        return false;
    memset(order->bounds, 0, tasks * sizeof *order->bounds);
    u32 first = 0;
    for (u32 b = 0; b < bucket_count; b++) {
        const u32 *const from = order->bounds + (size_t)b * tasks;
        u32 *const to = order->bounds + (size_t)(b + 1) * tasks;
        order_bucket *const bucket = &order->buckets[b];
        bucket->first = first;
        for (u32 t = 0; t < tasks; t++) {
            to[t] = b + 1 == bucket_count
                        ? (u32)order->tasks[t].events.count
                        : find_ticks(&order->tasks[t], from[t], bucket->end_ticks);
            first += to[t] - from[t];
        }
        bucket->count = first - bucket->first;
    }
    assert(first == order->count);
    order->bucket_count = bucket_count;
    return true;
}

/* Prefetches an origin; the origins of a bucket fit into the cache. See replay_fetch about
 * inlining. */
__attribute__((always_inline)) static inline void fetch_origin(const origin_table *origins,
                                                               stack_ref stack)
{
    const first_origin *const first = origins_first(origins, stack);
    if (first != NULL)
        __builtin_prefetch(first);
}

/* Gathers the parts of the runs, one after the other, and counts the events of each shard. starts
 * has task_count + 1 elements. Tasks of one stream make one run. */
static u32 gather(const slice_order *order, u32 index, order_key *keys, u32 *starts)
{
    u32 *const shards = order->buckets[index].shard_starts;
    const u32 tasks = order->task_count;
    const u32 *const from = order->bounds + (size_t)index * tasks;
    const u32 *const to = from + tasks;
    u32 run_count = 0, count = 0;
    u64 stream = 0;
    memset(shards, 0, sizeof order->buckets[index].shard_starts);
    for (u32 t = 0; t < tasks; t++) {
        if (from[t] == to[t])
            continue;
        if (run_count == 0 || order->tasks[t].stream != stream)
            starts[run_count++] = count;
        stream = order->tasks[t].stream;
        const memory_event *const events = order->tasks[t].events.at;
        for (u32 i = from[t]; i < to[t]; i++) {
            fetch_origin(order->origins, events[i].stack);
            shards[events[i].shard + 1]++;
            keys[count++] = (order_key){ events[i].ticks, &events[i] };
        }
    }
    starts[run_count] = count;
    for (u32 s = 0; s < SHARDS; s++)
        shards[s + 1] += shards[s];
    return run_count;
}

void order_fill(slice_order *order, u32 index)
{
    order_bucket *const bucket = &order->buckets[index];
    bucket->new_heaps.count = bucket->new_owners.count = bucket->new_origins.count = 0;
    bucket->waiting.count = bucket->counts.count = 0;
    bucket->new_freers.count = bucket->freer_waits.count = 0;
    bucket->failed = false;
    merge_room room;
    if (!open_room(&room, order, bucket->count)) {
        bucket->failed = true;
    } else {
        const u32 run_count = gather(order, index, room.keys, room.starts);
        filler f = { .order = order, .bucket = bucket, .count = bucket->count };
        f.keys = merge_runs(&room, run_count);
        if (order->ticks != NULL)
            note_ticks(&f);
        bucket->failed = !hand_out(&f) || !flush_counts(&f);
    }
    close_room(&room);
}

/* Makes room for `count` keys in as many runs as there are tasks; to be closed in any case. */
static bool open_room(merge_room *room, const slice_order *order, size_t count)
{
    room->keys = malloc((count * 2 + 1) * sizeof *room->keys);
    room->other = room->keys == NULL ? NULL : room->keys + count;
    room->starts = malloc((order->task_count + (size_t)1) * sizeof *room->starts);
    return room->keys != NULL && room->starts != NULL;
}

static void close_room(merge_room *room)
{
    free(room->keys);
    free(room->starts);
}

/* Merges two runs without branches on data, which would be mispredicted half the time, because CPUs
 * take turns. Which times are compared next depends on the last comparison, so both candidates are
 * read ahead; they may lie after their run. The masks are there because compilers make branches of
 * anything else. */
static void merge_two(const order_key *a, const order_key *middle, const order_key *end,
                      order_key *out)
{
    const order_key *b = middle;
    u64 a_ticks = (u64)a->ticks, b_ticks = (u64)b->ticks;
    while (a < middle && b < end) {
        const u64 a_next = (u64)a[1].ticks, b_next = (u64)b[1].ticks;
        const bool second = (i64)b_ticks < (i64)a_ticks;
        const u64 from_b = 0 - (u64)second;
        *out++ = *(second ? b : a);
        a_ticks = (a_ticks & from_b) | (a_next & ~from_b);
        b_ticks = (b_next & from_b) | (b_ticks & ~from_b);
        a += !second;
        b += second;
    }
    memcpy(out, a, (size_t)(middle - a) * sizeof *a);
    out += middle - a;
    memcpy(out, b, (size_t)(end - b) * sizeof *b);
}

/* Merges neighbouring runs until one is left; returns it. */
static order_key *merge_runs(const merge_room *room, u32 run_count)
{
    order_key *keys = room->keys, *other = room->other;
    u32 *const starts = room->starts;
    while (run_count > 1) {
        u32 merged = 0;
        for (u32 r = 0; r < run_count; r += 2) {
            const u32 first = starts[r], middle = starts[r + 1];
            const u32 end = r + 1 < run_count ? starts[r + 2] : middle;
            merge_two(keys + first, keys + middle, keys + end, other + first);
            starts[merged++] = first;
            starts[merged] = end;
        }
        order_key *const swapped = keys;
        keys = other;
        other = swapped;
        run_count = merged;
    }
    return keys;
}

/* Looks up an owner. Owners not in the table go to the bucket's own lists. */
static bool find_owner(filler *f, i64 ticks, cached_owner *out)
{
    const origin_table *const origins = f->order->origins;
    order_bucket *const bucket = f->bucket;
    out->heap = origins_find_heap(origins, out->process, out->handle);
    if (out->heap == 0) {
        out->heap = (u32)bucket->new_heaps.count | ORDER_LOCAL;
        if (!ETLHEAP_PUSH(&bucket->new_heaps, (heap_row){ out->handle, out->process }))
            return false;
    }
    const owner_row owner = { ticks, out->heap,
                              context_image_epoch(f->order->context, out->pid, ticks).number };
    const bool is_new = (out->heap & ORDER_LOCAL) != 0;
    out->owner = is_new ? 0 : origins_find_owner(origins, owner.heap, owner.epoch);
    if (out->owner != 0)
        return true;
    out->owner = (u32)bucket->new_owners.count | ORDER_LOCAL;
    return ETLHEAP_PUSH(&bucket->new_owners, owner);
}

static bool flush_count(filler *f, cached_owner *cached)
{
    const order_count count = cached->count;
    u32 events = 0;
    cached->count = (order_count){ 0 };
    for (u32 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++)
        events |= count.events[kind];
    return events == 0 || ETLHEAP_PUSH(&f->bucket->counts, count);
}

/* Finds the owner of the event; NULL without memory. */
static cached_owner *owner_of(filler *f, const memory_event *event, i64 ticks)
{
    const trace_context *const context = f->order->context;
    const u64 handle = event->op >= OP_COMMIT ? 0 : event->heap;
    const u64 mixed = (handle ^ (u64)event->pid << 32) * 0x9E3779B97F4A7C15u;
    cached_owner *const cached = &f->cache[mixed >> 58];
    if (cached->is_steady && cached->pid == event->pid && cached->handle == handle)
        return cached;
    if (!flush_count(f, cached))
        return NULL;
    const i64 first = f->keys[0].ticks, last = f->keys[f->count - 1].ticks;
    *cached = (cached_owner){ .handle = handle,
                              .pid = event->pid,
                              .process = context_process_at(context, event->pid, ticks) };
    assert(cached->process != 0);
    cached->count.process = cached->process;
    cached->is_steady = cached->process == context_process_at(context, event->pid, first) &&
                        cached->process == context_process_at(context, event->pid, last) &&
                        context_image_epoch(context, event->pid, first).number ==
                            context_image_epoch(context, event->pid, last).number;
    return f->order->count_only || find_owner(f, ticks, cached) ? cached : NULL;
}

static void count_event(cached_owner *owner, const memory_event *event)
{
    const u8 op = event->op;
    /* A realloc is two rows here; a reserving commit too. */
    const bool is_second = op == OP_REALLOC_OLD || op == OP_REALLOC_FREED ||
                           op == OP_REALLOC_ALONE || op == OP_REALLOC_CLOSE || op == OP_RESERVE;
    owner->count.events[op_counts_for(op)] += !is_second;
}

static inline bool add_origin(filler *f, stack_ref stack, u32 owner, u32 *origin)
{
    *origin = (u32)f->bucket->new_origins.count | ORDER_LOCAL;
    return ETLHEAP_PUSH(&f->bucket->new_origins, (origin_row){ stack, owner });
}

/* A waiting event gets the origin of no stack. Not inlined, to keep registers for the common
 * case. */
__attribute__((noinline)) static bool add_waiting(filler *f, stack_ref stack, u32 owner,
                                                  u32 *origin)
{
    order_waiting row = { .number = stack & STACK_NUMBER_MAX };
    row.origin =
        (owner & ORDER_LOCAL) != 0 ? 0 : origins_find(f->order->origins, STACK_NONE, owner);
    if (row.origin == 0 && !add_origin(f, STACK_NONE, owner, &row.origin))
        return false;
    *origin = (u32)f->bucket->waiting.count | ORDER_LOCAL | ORDER_WAITING;
    return ETLHEAP_PUSH(&f->bucket->waiting, row);
}

static bool origin_of(filler *f, const memory_event *event, u32 owner, u32 *origin)
{
    *origin = (owner & ORDER_LOCAL) != 0 ? 0 : origins_find(f->order->origins, event->stack, owner);
    if (*origin != 0)
        return true;
    if ((event->stack & STACK_TAG_MASK) == STACK_TAG_WAITING && f->order->numbers_blocks)
        return add_waiting(f, event->stack, owner, origin);
    return add_origin(f, event->stack, owner, origin);
}

static inline bool opens_block(u8 op)
{
    return op == OP_ALLOC || op == OP_REALLOC_NEW || op == OP_REALLOC_UNSEEN ||
           op == OP_REALLOC_SAME;
}

/* Events of one tick are never in two buckets. */
static void note_ticks(const filler *f)
{
    i64 *const ticks = f->order->ticks + f->bucket->first;
    event_entry *const entries = f->order->entries + f->bucket->first;
    for (u32 i = 0; i < f->count; i++) {
        ticks[i] = f->keys[i].ticks;
        entries[i] = i == 0 || ticks[i] != ticks[i - 1] ? ENTRY_NEW_TICK : 0;
    }
}

static void note_wide(const chunk_columns *wide, u32 rank, const memory_event *event)
{
    wide->sizes[rank] = event->size;
    if (wide->addresses != NULL)
        wide->addresses[rank] = event->address;
    if (wide->threads != NULL)
        wide->threads[rank] = event->tid;
}

/* Events of one tick are in one bucket, so the neighbours of a realloc's events are there. */
static bool note_freer(filler *f, u32 i, u32 owner)
{
    const freer_event at = { .event = f->keys[i].event,
                             .before = i == 0 ? NULL : f->keys[i - 1].event,
                             .after = i + 1 == f->count ? NULL : f->keys[i + 1].event,
                             .owner = owner,
                             .rank = f->bucket->first + i };
    return order_note_freer(f->order, f->bucket, &at);
}

static bool hand_out(filler *f)
{
    order_bucket *const bucket = f->bucket;
    ordered_event *const events = f->order->events + bucket->first;
    u32 next[SHARDS];
    memcpy(next, bucket->shard_starts, sizeof next);
    for (u32 i = 0; i < f->count; i++) {
        if (i + AHEAD < f->count)
            __builtin_prefetch(f->keys[i + AHEAD].event);
        const memory_event *const event = f->keys[i].event;
        const i64 ticks = f->keys[i].ticks;
        cached_owner *const owner = owner_of(f, event, ticks);
        if (owner == NULL)
            return false;
        count_event(owner, event);
        if (f->order->count_only)
            continue;
        u32 origin = 0;
        if (opens_block(event->op) && !origin_of(f, event, owner->owner, &origin))
            return false;
        if (event->op == OP_REALLOC_OLD)
            origin = event->since_alloc;
        else if (origin != 0 && f->order->wide.sizes != NULL)
            note_wide(&f->order->wide, bucket->first + i, event);
        if (f->order->wide.freers != NULL && !note_freer(f, i, owner->owner))
            return false;
        ordered_event *const out = &events[next[event->shard]++];
        __builtin_prefetch((const u8 *)out + WRITE_AHEAD, 1);
        *out = (ordered_event){ .ticks = ticks,
                                .address = event->address,
                                .size = event->size,
                                .heap = owner->heap,
                                .origin = origin,
                                .tid = event->tid,
                                .rank = bucket->first + i,
                                .cpu = event->cpu,
                                .op = event->op,
                                .stack_is_open = event->stack == STACK_NONE ||
                                                 (event->stack & STACK_TAG_MASK) != 0 };
        if (event->shard >= HEAP_SHARDS) {
            out->range = event;
            out->heap = owner->process;
        }
    }
    return true;
}

static bool flush_counts(filler *f)
{
    for (u32 i = 0; i < CACHE_SIZE; i++) {
        if (!flush_count(f, &f->cache[i]))
            return false;
    }
    return true;
}

static bool number_heaps(order_bucket *bucket, origin_table *origins)
{
    bucket->heap_ids.count = 0;
    for (size_t i = 0; i < bucket->new_heaps.count; i++) {
        const heap_row *const row = &bucket->new_heaps.at[i];
        const u32 id = origins_add_heap(origins, row->process, row->handle);
        if (id == 0 || !ETLHEAP_PUSH(&bucket->heap_ids, id))
            return false;
    }
    return true;
}

static bool number_owners(order_bucket *bucket, origin_table *origins)
{
    bucket->owner_ids.count = 0;
    for (size_t i = 0; i < bucket->new_owners.count; i++) {
        owner_row row = bucket->new_owners.at[i];
        row.heap = order_heap_number(bucket, row.heap);
        const u32 id = origins_add_owner(origins, &row);
        if (id == 0 || !ETLHEAP_PUSH(&bucket->owner_ids, id))
            return false;
    }
    return true;
}

static bool number_origins(order_bucket *bucket, origin_table *origins)
{
    bucket->origin_ids.count = 0;
    for (size_t i = 0; i < bucket->new_origins.count; i++) {
        const origin_row *const row = &bucket->new_origins.at[i];
        const u32 owner = (row->owner & ORDER_LOCAL) == 0
                              ? row->owner
                              : bucket->owner_ids.at[row->owner & ~ORDER_LOCAL];
        const u32 id = origins_add(origins, row->stack, owner);
        if (id == 0 || !ETLHEAP_PUSH(&bucket->origin_ids, id))
            return false;
    }
    return true;
}

bool order_number(slice_order *order, origin_table *origins)
{
    for (u32 b = 0; b < order->bucket_count; b++) {
        order_bucket *const bucket = &order->buckets[b];
        if (bucket->failed || !number_heaps(bucket, origins) || !number_owners(bucket, origins) ||
            !number_origins(bucket, origins))
            return false;
    }
    return true;
}

void order_note(const slice_order *order, u32 index)
{
    const order_bucket *const bucket = &order->buckets[index];
    const ordered_event *const events = order->events + bucket->first;
    u32 *const partners = order->wide.partners;
    if (order->wide.freers != NULL)
        order_number_freers(order, bucket);
    for (u32 i = 0; i < bucket->shard_starts[HEAP_SHARDS]; i++) {
        order->entries[events[i].rank] |= events[i].entry;
        if (partners != NULL)
            partners[events[i].rank] = events[i].partner;
    }
}

void order_free(slice_order *order)
{
    free(order->events);
    for (u32 b = 0; b < order->bucket_capacity; b++) {
        order_bucket *const bucket = &order->buckets[b];
        ETLHEAP_VECTOR_FREE(&bucket->new_heaps);
        ETLHEAP_VECTOR_FREE(&bucket->new_owners);
        ETLHEAP_VECTOR_FREE(&bucket->new_origins);
        ETLHEAP_VECTOR_FREE(&bucket->heap_ids);
        ETLHEAP_VECTOR_FREE(&bucket->owner_ids);
        ETLHEAP_VECTOR_FREE(&bucket->origin_ids);
        ETLHEAP_VECTOR_FREE(&bucket->waiting);
        ETLHEAP_VECTOR_FREE(&bucket->new_freers);
        ETLHEAP_VECTOR_FREE(&bucket->freer_ids);
        ETLHEAP_VECTOR_FREE(&bucket->freer_waits);
        ETLHEAP_VECTOR_FREE(&bucket->counts);
    }
    free(order->buckets);
    free(order->bounds);
    *order = (slice_order){ 0 };
}
