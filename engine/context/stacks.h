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

#include "engine/core/intern.h"
#include "engine/core/tag_groups.h"
#include "engine/engine.h"

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
    const u64 *frames; /* NULL: there are numbers of them alone */
    u64 first_number;  /* of a table that has numbers: where its own begin */
    u32 count;
} stack_entry;

/* A stack as the table keeps it: what a look-up asks for lies in front of the
 * frames it compares. */
typedef struct stack_block {
    u64 hash;
    u32 count;
    u32 id;
    u64 frames[];
} stack_block;

/* The addresses of all frames of a table that has numbers of them alone: few ask for
 * them, so the first who does has them made. */
typedef struct stack_spelling {
    _Atomic(u64 *) frames;
} stack_spelling;

#define STACK_GROUP_SLOTS 6u

/* Slots with their tags (tag_groups.h), of which the last ones are not used: a
 * group is one cache line. */
typedef struct stack_group {
    u8 tags[TAG_GROUP_SIZE];
    const stack_block *blocks[STACK_GROUP_SLOTS];
} stack_group;

static_assert(sizeof(stack_group) == 64, "a look-up reads one line of the slots");

typedef struct stack_table {
    etlheap_arena arena;
    stack_group *groups;              /* see stacks.c; NULL while empty */
    u32 group_mask;                   /* group count - 1 */
    ETLHEAP_VECTOR(stack_entry) list; /* list.at[id - 1] */
    /* Of a table that is complete: the frames of all stacks, stack by stack, as numbers
     * of addresses. A store has them, a trace gets them by stack_numbering.h. NULL: not
     * known. Both arrays are the table's own, for free(). */
    u32 *numbers;
    size_t numbered_count; /* frames */
    u64 *addresses;        /* by number */
    u32 number_count;
    stack_spelling *spelling; /* NULL: entries have their frames */
} stack_table;

/* `frames` are count addresses of 8 bytes, at any alignment: they may lie in a
 * record as it is in the file. */
u64 stack_hash(const void *frames, u32 count);

/* The id, or 0. */
u32 stack_find(const stack_table *table, u64 hash, const void *frames, u32 count);

/*
 * A look-up misses the cache for the group and for the block. Where many are at
 * hand each can be taken in steps, with others in between:
 *
 *     stack_prefetch_group(table, hash);
 *     candidate = stack_candidate(table, hash);    // NULL: not in its group
 *     stack_prefetch_block(candidate, count);
 *     if (stack_block_is(candidate, hash, frames, count)) the id is candidate->id
 *
 * Where the answer is no, stack_find() knows.
 */
static inline void stack_prefetch_group(const stack_table *table, u64 hash);
static inline const stack_block *stack_candidate(const stack_table *table, u64 hash);
static inline void stack_prefetch_block(const stack_block *block, u32 count);
static inline bool stack_block_is(const stack_block *block, u64 hash, const void *frames,
                                  u32 count);

/* Finds or adds to a table that has no numbers yet; count > 0. False without memory or
 * beyond STACK_NUMBER_MAX. */
bool stack_add(stack_table *table, u64 hash, const void *frames, u32 count, u32 *id);

/* Another id for the frames of a stack, which no look-up finds: for one that means
 * something else. After the last stack_add. False without memory or beyond
 * STACK_NUMBER_MAX. */
bool stack_add_copy(stack_table *table, u32 id, u32 *copy);

/* A stack whose addresses are another process's than the memory's owner. */
typedef struct foreign_stack {
    u32 stack;
    u32 process;
    i64 ticks; /* a moment at which its addresses meant what they mean; NEVER: each event's own */
} foreign_stack;

/* Their ids are the last of a table, and the rows in the order of those. */
typedef ETLHEAP_VECTOR(foreign_stack) foreign_stacks;

/* NULL, nearly always: its addresses are the owner's. */
static inline const foreign_stack *foreign_find(const foreign_stacks *foreign, u32 stack)
{
    const bool is_foreign = foreign->count > 0 && stack >= foreign->at[0].stack &&
                            stack - foreign->at[0].stack < foreign->count;
    return is_foreign ? &foreign->at[stack - foreign->at[0].stack] : NULL;
}

/* Whose addresses those of a stack are. */
static inline u32 foreign_process(const foreign_stacks *foreign, u32 stack, u32 owner)
{
    const foreign_stack *const found = foreign_find(foreign, stack);
    return found != NULL ? found->process : owner;
}

/* Of an entry that has numbers alone it tells the count only. */
static inline etlheap_frames stack_get(const stack_table *table, u32 id)
{
    const stack_entry *const entry = &table->list.at[id - 1];
    return (etlheap_frames){ entry->frames, entry->count };
}

/* The numbers of a stack's addresses; NULL: they have none. */
static inline const u32 *stack_numbers(const stack_table *table, u32 id)
{
    return table->numbers == NULL ? NULL : table->numbers + table->list.at[id - 1].first_number;
}

/* The hash of an entry that stack_add() made. */
static inline u64 stack_entry_hash(const stack_entry *entry)
{
    const u8 *const frames = (const u8 *)entry->frames;
    return ((const stack_block *)(const void *)(frames - offsetof(stack_block, frames)))->hash;
}

/* The frames of a stack of any table; no frames without memory. Any thread. */
etlheap_frames stack_spell(const stack_table *table, u32 id);

void stack_table_free(stack_table *table);

/* --- a look-up, step by step ----------------------------------------------------- */

/* The group at which the probe for a hash starts. */
static inline u32 stack_group_of(const stack_table *table, u64 hash)
{
    return (u32)(hash >> 8) & table->group_mask;
}

/* Bit i: slot i has the tag. */
static inline u32 stack_group_match(const stack_group *group, u8 tag)
{
    return tag_match(group->tags, tag) & ((1u << STACK_GROUP_SLOTS) - 1);
}

static inline void stack_prefetch_group(const stack_table *table, u64 hash)
{
    if (table->groups != NULL)
        __builtin_prefetch(&table->groups[stack_group_of(table, hash)]);
}

static inline const stack_block *stack_candidate(const stack_table *table, u64 hash)
{
    if (table->groups == NULL)
        return NULL;
    const stack_group *const group = &table->groups[stack_group_of(table, hash)];
    const u32 matches = stack_group_match(group, tag_of(hash));
    return matches == 0 ? NULL : group->blocks[__builtin_ctz(matches)];
}

/* `count` is that of the stack looked for: the block's own is not here yet. */
static inline void stack_prefetch_block(const stack_block *block, u32 count)
{
    const u8 *const at = (const u8 *)block;
    const size_t size = sizeof *block + (size_t)count * sizeof *block->frames;
    for (size_t offset = 0; offset < size; offset += 64)
        __builtin_prefetch(at + offset);
}

static inline bool stack_block_is(const stack_block *block, u64 hash, const void *frames, u32 count)
{
    return block->hash == hash && block->count == count &&
           memcmp(block->frames, frames, (size_t)count * sizeof *block->frames) == 0;
}

/* The kernel's half of the address space: x64 sign bit; 32-bit systems 2 GiB. */
static inline bool stack_is_kernel_address(u64 address, u32 frame_bytes)
{
    return frame_bytes == 4 ? address >= 0x80000000u : (address >> 63) != 0;
}

#endif
