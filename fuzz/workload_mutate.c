/*
 * workload_mutate.c - other programs for the target workload.
 *
 * A program is a list of operations of 8 bytes. Here operations go, come, change places and
 * come twice, alone and in runs, and single fields of them change by a little, so that what
 * follows keeps its meaning; bytes of the machine change one at a time. Of the seed's lowest
 * bits some leave the bytes to the fuzzer.
 */
#include "fuzz.h"
#include "workload_world.h"

typedef struct program {
    u8 *at;
    u32 count, count_max; /* operations, the machine is before them */
    u64 random;
} program;

static u32 below(program *p, u32 limit)
{
    p->random = p->random * 6364136223846793005u + 1442695040888963407u;
    return (u32)((p->random >> 33) % limit);
}

static u8 *operation(const program *p, u32 index)
{
    return p->at + (size_t)(index + 1) * WORLD_BYTES;
}

/* Makes room for operations, with what is there now. */
static bool insert(program *p, u32 at, u32 count)
{
    if (count > p->count_max - p->count)
        return false;
    memmove(operation(p, at + count), operation(p, at), (size_t)(p->count - at) * WORLD_BYTES);
    p->count += count;
    return true;
}

static void remove_some(program *p)
{
    if (p->count < 2)
        return;
    const u32 at = below(p, p->count), left = p->count - at;
    const u32 count = below(p, 4) != 0 ? 1 : 1 + below(p, left < 8 ? left : 8);
    memmove(operation(p, at), operation(p, at + count),
            (size_t)(p->count - at - count) * WORLD_BYTES);
    p->count -= count;
}

static void add_random(program *p)
{
    const u32 at = below(p, p->count + 1);
    if (!insert(p, at, 1))
        return;
    for (u32 i = 0; i < WORLD_BYTES; i++)
        operation(p, at)[i] = (u8)below(p, 256);
    if (p->count > 1 && below(p, 2) == 0) /* about what its neighbour is about */
        memcpy(operation(p, at) + 3, operation(p, at == 0 ? 1 : at - 1) + 3, 2);
}

static void repeat(program *p)
{
    if (p->count == 0)
        return;
    const u32 from = below(p, p->count), left = p->count - from;
    const u32 count = 1 + below(p, left < 6 ? left : 6);
    u8 copy[6 * WORLD_BYTES];
    memcpy(copy, operation(p, from), (size_t)count * WORLD_BYTES);
    const u32 to = below(p, p->count + 1);
    if (insert(p, to, count))
        memcpy(operation(p, to), copy, (size_t)count * WORLD_BYTES);
}

static void swap(program *p)
{
    if (p->count < 2)
        return;
    const u32 a = below(p, p->count - 1);
    const u32 b = below(p, 2) == 0 ? a + 1 : below(p, p->count);
    u8 copy[WORLD_BYTES];
    memcpy(copy, operation(p, a), WORLD_BYTES);
    memmove(operation(p, a), operation(p, b), WORLD_BYTES);
    memcpy(operation(p, b), copy, WORLD_BYTES);
}

/* One field: a step, an address, a size, a stack, a delay, ... */
static void nudge(program *p)
{
    if (p->count == 0)
        return;
    u8 *const field = operation(p, below(p, p->count)) + below(p, WORLD_BYTES);
    switch (below(p, 4)) {
    case 0:
        *field = (u8)(*field + 1);
        break;
    case 1:
        *field = (u8)(*field - 1);
        break;
    case 2:
        *field = (u8)(*field ^ 1u << below(p, 8));
        break;
    default:
        *field = (u8)below(p, 256);
        break;
    }
}

/* Two operations are about one thread, place, address or stack. */
static void share(program *p)
{
    if (p->count < 2)
        return;
    const u32 field = 1 + below(p, WORLD_BYTES - 1);
    operation(p, below(p, p->count))[field] = operation(p, below(p, p->count))[field];
}

static void change_machine(program *p)
{
    u8 *const field = p->at + below(p, WORLD_BYTES);
    const u32 flipped = *field ^ 1u << below(p, 8);
    *field = (u8)(below(p, 2) == 0 ? flipped : below(p, 256));
    if (below(p, 8) != 0)
        p->at[7] = 0; /* nothing is lost */
}

size_t LLVMFuzzerCustomMutator(u8 *data, size_t size, size_t size_max, unsigned seed)
{
    static void (*const changes[])(program * p) = {
        remove_some, add_random, repeat, swap, nudge, nudge, share, change_machine
    };
    program p = { .at = data, .random = seed };
    if (size_max < 4 * WORLD_BYTES)
        return LLVMFuzzerMutate(data, size, size_max);
    if (size < 2 * WORLD_BYTES) {
        memset(data + size, 0, 2 * WORLD_BYTES - size);
        size = 2 * WORLD_BYTES;
    }
    p.count = (u32)(size / WORLD_BYTES) - 1;
    p.count_max = (u32)(size_max / WORLD_BYTES) - 1;
    p.count_max = p.count_max < WORLD_OPS_MAX ? p.count_max : WORLD_OPS_MAX;
    if (p.count > p.count_max)
        p.count = p.count_max;
    if (below(&p, 16) == 0)
        return LLVMFuzzerMutate(data, size, size_max);
    for (u32 i = 1 + below(&p, 4); i > 0; i--)
        changes[below(&p, ETL_COUNT_OF(changes))](&p);
    return (size_t)(p.count + 1) * WORLD_BYTES;
}
