/*
 * frames_batch.c - resolves many stacks at once, by several threads.
 *
 * In: stacks, each in a process at a time. Out: the same frames, and ids of stacks, that
 * frames_resolve would give one by one.
 *
 * One by one, each stack looks up its addresses in its own order, and searches in between for those
 * not known yet. Here the work is done address by address:
 *
 *     all threads   flag the numbers of a chunk's stacks       by context
 *     all threads   find a module for each flagged number      one context after the other
 *     one           make a frame for each flagged number       in order
 *     all threads   collect the frames of a chunk's stacks, culled, into the pool
 *     one           give an id to each stack
 *
 * The parallel steps only read shared tables, and write to memory of their own chunk. A stack with
 * an address for which another frame stands is left to be resolved by itself; so is everything if a
 * batch does not pay. Invariant: frames and ids are given in an order that does not depend on
 * threads, so tables are the same as without batches.
 */
#include <stdatomic.h>
#include <stdlib.h>

#include "engine/core/workers.h"
#include "frames.h"

#define BATCH_MIN     256u           /* stacks */
#define CHUNK_STACKS  1024u          /* of a task ... */
#define CHUNK_NUMBERS 8192u          /* ... or these */
#define CONTEXTS_MAX  16u            /* each has a byte for every address, ... */
#define FLAGS_MAX     ((u64)1 << 26) /* ... of all together */
#define IDS_AHEAD     16u            /* fetched while others are looked up */

/* A stack of the batch. */
typedef struct batch_stack {
    u32 stack, context; /* index in contexts of the batch */
    size_t start;       /* of its frames in the pool */
    frame_stack row;
    u64 hash;
    bool is_found;
} batch_stack;

typedef struct batch {
    frame_table *table;
    const stack_table *stacks;
    ETLHEAP_VECTOR(batch_stack) list;
    address_flags contexts[CONTEXTS_MAX];
    u32 context_count;
    const address_flags *looked_up; /* of these */
} batch;

static bool list_stacks(batch *b, const stack_place *places, size_t count);
static void flag_chunk(void *user, u32 task);
static bool find_flagged(batch *b, etlheap_crew *crew);
static void build_chunk(void *user, u32 task);
static bool add_stacks(batch *b);

bool frames_resolve_all(frame_table *table, const stack_place *places, size_t count)
{
    batch b = { .table = table, .stacks = &table->result->stacks };
    if (count < BATCH_MIN || table->tags.tags != NULL)
        return true;
    bool ok = list_stacks(&b, places, count);
    const u32 tasks = (u32)((b.list.count + CHUNK_STACKS - 1) / CHUNK_STACKS);
    const u32 jobs = etlheap_workers_jobs(table->query->jobs);
    etlheap_crew *const crew = ok ? etlheap_crew_open(jobs < tasks ? jobs : tasks) : NULL;
    ok = ok && crew != NULL;
    if (ok) {
        etlheap_crew_run(crew, tasks, flag_chunk, &b);
        ok = find_flagged(&b, crew);
    }
    if (ok) {
        etlheap_crew_run(crew, tasks, build_chunk, &b);
        ok = add_stacks(&b);
    }
    etlheap_crew_close(crew);
    for (u32 i = 0; i < b.context_count; i++)
        free(b.contexts[i].at);
    ETLHEAP_VECTOR_FREE(&b.list);
    return ok;
}

/* The context of a stack in the batch; CONTEXTS_MAX if there are too many. */
static bool find_context(batch *b, const stack_place *place, u32 *context)
{
    u32 index, at = 0;
    const stack_place asked = frames_asked(b->table, *place);
    if (!frames_context(b->table, asked.process, asked.ticks, &index))
        return false;
    while (at < b->context_count && b->contexts[at].context != index)
        at++;
    *context = at;
    if (at < b->context_count)
        return true;
    if (at == CONTEXTS_MAX || (at + (u64)1) * b->stacks->number_count > FLAGS_MAX) {
        *context = CONTEXTS_MAX;
        return true;
    }
    _Atomic u8 *const flags = calloc((size_t)b->stacks->number_count + 1, sizeof *flags);
    b->contexts[at] = (address_flags){ .at = flags, .context = index, .ticks = asked.ticks };
    b->context_count += flags != NULL;
    return flags != NULL;
}

/* Lists each stack once, in the context of its first place. */
static bool list_stacks(batch *b, const stack_place *places, size_t count)
{
    frame_table *const table = b->table;
    size_t frames = table->pool.count;
    bool ok = ETLHEAP_RESERVE(&b->list, count);
    for (size_t i = 0; ok && i < count; i++) {
        const u32 stack = places[i].stack;
        if (stack == 0 || stack > table->first_count || table->firsts[stack].stack != 0)
            continue;
        batch_stack fresh = { .stack = stack, .start = frames };
        ok = find_context(b, &places[i], &fresh.context);
        const u32 depth = stack_get(b->stacks, stack).count;
        if (!ok || fresh.context == CONTEXTS_MAX || frames + depth > UINT32_MAX)
            continue;
        frames += depth;
        table->firsts[stack].stack = stack; /* listed, if it has no context yet */
        b->list.at[b->list.count++] = fresh;
    }
    if (!ok || b->list.count == 0)
        return ok;
    ok = frames_prepare(table) && ETLHEAP_RESERVE(&table->pool, frames - table->pool.count);
    table->pool.count = ok ? frames : table->pool.count;
    return ok;
}

static size_t chunk_end(const batch *b, u32 task)
{
    return (size_t)etl_min_u64(((u64)task + 1) * CHUNK_STACKS, b->list.count);
}

/* Flags numbers. Those flagged already are only read, because threads that write to one cache line
 * slow each other down. */
static void flag_chunk(void *user, u32 task)
{
    const batch *const b = user;
    for (size_t i = (size_t)task * CHUNK_STACKS; i < chunk_end(b, task); i++) {
        const u32 stack = b->list.at[i].stack;
        const u32 *const numbers = stack_numbers(b->stacks, stack);
        const u32 count = stack_get(b->stacks, stack).count;
        _Atomic u8 *const flags = b->contexts[b->list.at[i].context].at;
        for (u32 k = 0; k < count; k++) {
            _Atomic u8 *const flag = &flags[numbers[k]];
            if (atomic_load_explicit(flag, memory_order_relaxed) == 0)
                atomic_store_explicit(flag, ADDRESS_ASKED, memory_order_relaxed);
        }
    }
}

static void look_up_chunk(void *user, u32 task)
{
    const batch *const b = user;
    const u32 first = task * CHUNK_NUMBERS, left = b->stacks->number_count - first;
    const u32 count = left < CHUNK_NUMBERS ? left : CHUNK_NUMBERS;
    frames_look_up(b->table, b->looked_up, first, first + count);
}

static bool find_flagged(batch *b, etlheap_crew *crew)
{
    const u32 count = b->stacks->number_count;
    const u32 tasks = (count + CHUNK_NUMBERS - 1) / CHUNK_NUMBERS;
    u32 *const modules = malloc(((size_t)count + 1) * sizeof *modules); /* of each in turn */
    bool ok = modules != NULL;
    for (u32 i = 0; ok && i < b->context_count; i++) {
        address_flags *const flags = &b->contexts[i];
        flags->modules = modules;
        b->looked_up = flags;
        etlheap_crew_run(crew, tasks, look_up_chunk, b);
        ok = frames_find_flagged(b->table, flags);
    }
    free(modules);
    return ok;
}

/* All verdicts that culling needs are known by now, so only the chunk's own memory is written. */
static void build_chunk(void *user, u32 task)
{
    batch *const b = user;
    for (size_t i = (size_t)task * CHUNK_STACKS; i < chunk_end(b, task); i++) {
        batch_stack *const item = &b->list.at[i];
        u32 *const frames = b->table->pool.at + item->start;
        const address_flags *const flags = &b->contexts[item->context];
        const u32 count = stack_get(b->stacks, item->stack).count;
        u32 culled;
        item->is_found = frames_known(b->table, flags, item->stack, frames, &culled);
        if (!item->is_found)
            continue;
        item->row = frames_row(b->table, frames, count, culled);
        item->row.start = (u32)item->start + count - item->row.count;
        if (b->table->query->symbols == NULL)
            item->row.count =
                frames_fold(b->table, b->table->pool.at + item->row.start, item->row.count);
        item->hash = frames_hash(b->table->pool.at + item->row.start, item->row.count);
    }
}

static bool add_stacks(batch *b)
{
    frame_table *const table = b->table;
    etlheap_index_expect(&table->stack_index, table->stacks.count + b->list.count);
    for (size_t i = 0; i < b->list.count; i++) {
        const batch_stack *const item = &b->list.at[i];
        frame_cache *const first = &table->firsts[item->stack];
        if (i + IDS_AHEAD < b->list.count)
            etlheap_index_prefetch(&table->stack_index, item[IDS_AHEAD].hash);
        if (!item->is_found)
            continue;
        if (!frames_add_pooled(table, &item->row, item->hash, &first->resolved))
            return false;
        first->context = b->contexts[item->context].context + 1;
    }
    return true;
}
