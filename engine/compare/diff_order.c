/*
 * diff_order.c - gives identities of rows an order that is the same in every run.
 *
 * In: identities as row_identity.c numbered them, in the order in which rows came. Out: a rank for
 * each.
 *
 *     frames ──sort──▶ ranks ──▶ stacks, by the ranks of their frames ──▶ ranks
 *                                     └──▶ keys, by the ranks of their stacks ──▶ ranks
 *
 * Each step sorts numbers that the step before gave. Invariant: ranks follow from content alone, so
 * whatever is shown must be ordered by them, never by identity.
 */
#include "row_identity.h"

#include <stdlib.h>

/* An element has everything that its comparison needs, because qsort passes nothing else. */
typedef struct frame_order {
    const char *module, *symbol;
    u64 offset;
    u32 side, id;
} frame_order;

typedef struct stack_order {
    const u32 *ranks; /* of its frames */
    u32 count, id;
} stack_order;

/* A key while keys are sorted, with what its parts are compared by. */
typedef struct key_order {
    const row_identities *identities;
    const u32 *frame_ranks, *stack_ranks;
    u32 id;
} key_order;

static bool rank_frames(const row_identities *identities, u32 *ranks);
static int compare_frames(const void *a, const void *b);
static bool rank_stacks(const row_identities *identities, const u32 *frame_ranks, u32 *ranks);
static int compare_stacks(const void *a, const void *b);
static bool rank_keys(const row_identities *identities, const u32 *frame_ranks,
                      const u32 *stack_ranks, u32 *ranks);
static int compare_keys(const void *a, const void *b);

/* Fills ranks by id, from 1; ranks[0] is 0, for "none". */
bool row_identities_rank(const row_identities *identities, u32 *ranks)
{
    u32 *const frame_ranks = calloc(identities->frames.count + 1, sizeof *frame_ranks);
    u32 *const stack_ranks = calloc(identities->stacks.count + 1, sizeof *stack_ranks);
    const bool ok = frame_ranks != NULL && stack_ranks != NULL &&
                    rank_frames(identities, frame_ranks) &&
                    rank_stacks(identities, frame_ranks, stack_ranks) &&
                    rank_keys(identities, frame_ranks, stack_ranks, ranks);
    free(frame_ranks);
    free(stack_ranks);
    return ok;
}

static bool rank_frames(const row_identities *identities, u32 *ranks)
{
    const size_t count = identities->frames.count;
    frame_order *const order = calloc(count + 1, sizeof *order);
    if (order == NULL)
        return false;
    for (u32 i = 0; i < count; i++) {
        const identity_frame *const frame = &identities->frames.at[i];
        order[i] =
            (frame_order){ .module = etlheap_strings_get(&identities->strings, frame->module),
                           .symbol = etlheap_strings_get(&identities->strings, frame->symbol),
                           .offset = frame->offset,
                           .side = frame->side,
                           .id = i + 1 };
    }
    qsort(order, count, sizeof *order, compare_frames);
    for (u32 i = 0; i < count; i++)
        ranks[order[i].id] = i + 1;
    free(order);
    return true;
}

static int compare_u64(u64 x, u64 y)
{
    return (x > y) - (x < y);
}

static int compare_frames(const void *a, const void *b)
{
    const frame_order *const x = a, *const y = b;
    int order = strcmp(x->module, y->module);
    if (order == 0)
        order = strcmp(x->symbol, y->symbol);
    if (order == 0)
        order = compare_u64(x->offset, y->offset);
    return order != 0 ? order : compare_u64(x->side, y->side);
}

static bool rank_stacks(const row_identities *identities, const u32 *frame_ranks, u32 *ranks)
{
    const size_t count = identities->stacks.count;
    stack_order *const order = calloc(count + 1, sizeof *order);
    u32 *const pool = calloc(identities->pool.count + 1, sizeof *pool);
    const bool ok = order != NULL && pool != NULL;
    for (size_t i = 0; ok && i < identities->pool.count; i++)
        pool[i] = frame_ranks[identities->pool.at[i]];
    for (u32 i = 0; ok && i < count; i++) {
        const identity_stack *const stack = &identities->stacks.at[i];
        order[i] = (stack_order){ &pool[stack->start], stack->count, i + 1 };
    }
    if (ok) {
        qsort(order, count, sizeof *order, compare_stacks);
        for (u32 i = 0; i < count; i++)
            ranks[order[i].id] = i + 1;
    }
    free(order);
    free(pool);
    return ok;
}

static int compare_stacks(const void *a, const void *b)
{
    const stack_order *const x = a, *const y = b;
    const u32 shared = (u32)etl_min_u64(x->count, y->count);
    for (u32 i = 0; i < shared; i++) {
        if (x->ranks[i] != y->ranks[i])
            return x->ranks[i] < y->ranks[i] ? -1 : 1;
    }
    return compare_u64(x->count, y->count);
}

static bool rank_keys(const row_identities *identities, const u32 *frame_ranks,
                      const u32 *stack_ranks, u32 *ranks)
{
    const size_t count = identities->keys.count;
    key_order *const order = calloc(count + 1, sizeof *order);
    if (order == NULL)
        return false;
    for (u32 i = 0; i < count; i++)
        order[i] = (key_order){ identities, frame_ranks, stack_ranks, i + 1 };
    qsort(order, count, sizeof *order, compare_keys);
    for (u32 i = 0; i < count; i++)
        ranks[order[i].id - 1] = i + 1;
    free(order);
    return true;
}

/* Compares what two keys read: names by their letters, frames and stacks by their ranks. */
static int compare_parts(const key_order *order, key_reads reads, u32 x, u32 y)
{
    const etlheap_strings *const strings = &order->identities->strings;
    switch (reads) {
    case KEY_READS_STACK:
        return compare_u64(order->stack_ranks[x], order->stack_ranks[y]);
    case KEY_READS_FRAME:
        return compare_u64(order->frame_ranks[x], order->frame_ranks[y]);
    case KEY_READS_PROCESS:
    case KEY_READS_POOL_TAG:
    case KEY_READS_OBJECT_TYPE:
    case KEY_READS_MODULE:
    case KEY_READS_TYPE_NAME:
    case KEY_READS_TAG:
    case KEY_READS_THREAD_NAME:
        return strcmp(etlheap_strings_get(strings, x), etlheap_strings_get(strings, y));
    default:
        return compare_u64(x, y);
    }
}

static int compare_keys(const void *a, const void *b)
{
    const key_order *const x = a, *const y = b;
    const u32 *const left = x->identities->keys.at[x->id - 1].parts;
    const u32 *const right = y->identities->keys.at[y->id - 1].parts;
    int order = 0;
    for (u32 i = 0; i < KEY_READS_COMPARED && order == 0; i++)
        order = left[i] == right[i] ? 0 : compare_parts(x, (key_reads)i, left[i], right[i]);
    return order;
}
