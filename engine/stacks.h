/*
 * stacks.h - interned stacks and references to stacks not yet known.
 *
 * A stack is its raw address array, innermost first. Each distinct array is kept
 * once and has an id. Between scanning and the end of a run an event holds a
 * *reference*: two tag bits and a number, because its stack may be known only
 * later (a key defined at the end of the trace, a user half on its way).
 *
 *     00 id        an interned stack of the table (0: none)
 *     01 local     a stack that is new in this task; renumbered when tasks merge
 *     10 waiting   slot of an event that may still get a part of its stack
 *     11 deferred  a node: a stack key, or a kernel part plus a user part
 *
 * Threads: many may look up in one table while nobody adds to it. A task puts
 * what it does not find into a table of its own; those are merged in task order
 * afterwards, so ids do not depend on who ran first.
 */
#ifndef ETLHEAP_STACKS_H
#define ETLHEAP_STACKS_H

#include "engine.h"
#include "intern.h"

typedef u32 stack_ref;

#define STACK_NONE         ((stack_ref)0)
#define STACK_TAG_MASK     ((stack_ref)0xC0000000)
#define STACK_TAG_LOCAL    ((stack_ref)0x40000000)
#define STACK_TAG_WAITING  ((stack_ref)0x80000000)
#define STACK_TAG_DEFERRED ((stack_ref)0xC0000000)
#define STACK_NUMBER_MAX   ((stack_ref)0x3FFFFFFF)

/* Frames we keep of one stack. The kernel's own limit is 192 (MOF StackWalk);
 * definitions of 140 were seen. Two halves join to at most twice this. */
#define STACK_FRAMES_MAX 1024

typedef struct stack_entry {
    const u64 *frames;
    u64 hash;
    u32 count;
} stack_entry;

typedef struct stack_table {
    etlheap_arena arena;
    struct stack_group *groups;       /* tags and ids; see stacks.c */
    u32 group_mask;                   /* group count - 1 */
    ETLHEAP_VECTOR(stack_entry) list; /* list.at[id - 1] */
} stack_table;

/* `frames` are count addresses of 8 bytes, at any alignment: they may lie in a
 * record as it is in the file. */
u64 stack_hash(const void *frames, u32 count);

/*
 * The id, or 0. A look-up misses the cache three times: for the slots, for the
 * entry, for the frames to compare with. Where many are at hand, announce them
 * first: each step fetches what the next one reads.
 */
u32 stack_find(const stack_table *table, u64 hash, const void *frames, u32 count);
void stack_prefetch_slots(const stack_table *table, u64 hash);
void stack_prefetch_entry(const stack_table *table, u64 hash);
void stack_prefetch_frames(const stack_table *table, u64 hash);

/* Finds or adds; count > 0. False without memory or beyond STACK_NUMBER_MAX. */
bool stack_add(stack_table *table, u64 hash, const void *frames, u32 count, u32 *id);

static inline etlheap_frames stack_get(const stack_table *table, u32 id)
{
    const stack_entry *const entry = &table->list.at[id - 1];
    return (etlheap_frames){ entry->frames, entry->count };
}

void stack_table_free(stack_table *table);

/* The kernel's half of the address space: x64 sign bit; 32-bit systems 2 GiB. */
static inline bool stack_is_kernel_address(u64 address, u32 frame_bytes)
{
    return frame_bytes == 4 ? address >= 0x80000000u : (address >> 63) != 0;
}

#endif
