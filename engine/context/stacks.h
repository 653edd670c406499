/*
 * stacks.h - interned stacks, and references to stacks that are not known yet.
 *
 * A stack is its raw array of addresses, innermost first. Each distinct array is kept once and has
 * an id. Between scanning and the end of a run an event holds a *reference*: two tag bits and a
 * number, because its stack may become known later (a key defined at the end of the trace, a user
 * half that is still to come).
 *
 *     00 id        an interned stack of the table (0: none)
 *     01 local     a stack that is new in this task; renumbered when tasks merge
 *     10 waiting   slot of an event that may still get a part of its stack
 *     11 keyed  a node: a stack key, or a kernel part plus a user part
 *
 * Threads: many may look up in a table while none adds to it. A task adds new stacks to its own
 * table. These tables are merged in task order afterwards, so ids do not depend on which task ran
 * first.
 */
#ifndef ETLHEAP_STACKS_H
#define ETLHEAP_STACKS_H

#include "engine/core/intern.h"
#include "engine/core/tag_groups.h"
#include "engine/engine.h"

typedef u32 stack_ref;

#define STACK_NONE        ((stack_ref)0)
#define STACK_TAG_MASK    ((stack_ref)0xC0000000)
#define STACK_TAG_LOCAL   ((stack_ref)0x40000000)
#define STACK_TAG_WAITING ((stack_ref)0x80000000)
#define STACK_TAG_KEYED   ((stack_ref)0xC0000000)
#define STACK_NUMBER_MAX  ((stack_ref)0x3FFFFFFF)

/* The largest number of frames kept of a stack. The kernel's own limit is 192 (MOF StackWalk);
 * definitions of 140 were seen. Two joined halves have at most twice as many. */
#define STACK_FRAMES_MAX 1024

typedef struct stack_entry {
    const u64 *frames; /* NULL: the table has only numbers */
    u64 first_number;  /* in a table with numbers: index of its first number */
    u32 count;
} stack_entry;

/* A stack in the table. What a look-up compares first is in front of the frames. */
typedef struct stack_block {
    u64 hash;
    u32 count;
    u32 id;
    u64 frames[];
} stack_block;

/* The addresses of all frames of a table that has only numbers. Few questions need them, so the
 * first one makes them. */
typedef struct stack_spelling {
    _Atomic(u64 *) frames;
} stack_spelling;

#define STACK_GROUP_SLOTS 6u

/* Slots with their tags (tag_groups.h), the last of which are unused, so that a group is one cache
 * line. */
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
    /* In a complete table: the frames of all stacks, stack by stack, as numbers of addresses. A
     * store has them; for a trace stack_numbering.h makes them. NULL: not known. The table owns
     * both arrays. */
    u32 *numbers;
    size_t numbered_count; /* frames */
    u64 *addresses;        /* by number */
    u32 number_count;
    stack_spelling *spelling; /* NULL: entries have their frames */
} stack_table;

/* The hash of `count` frames of 8 bytes, at any alignment: they may be in a record of the file. */
u64 stack_hash(const void *frames, u32 count);

/* The id of a stack, or 0. */
u32 stack_find(const stack_table *table, u64 hash, const void *frames, u32 count);

/*
 * A look-up misses the cache twice, for the group and for the block. If there are many, take each
 * in steps, with others in between:
 *
 *     stack_prefetch_group(table, hash);
 *     candidate = stack_candidate(table, hash);    // NULL: not in its group
 *     stack_prefetch_block(candidate, count);
 *     if (stack_block_is(candidate, hash, frames, count)) the id is candidate->id
 *
 * If it is not, call stack_find().
 */
static inline void stack_prefetch_group(const stack_table *table, u64 hash);
static inline const stack_block *stack_candidate(const stack_table *table, u64 hash);
static inline void stack_prefetch_block(const stack_block *block, u32 count);
static inline bool stack_block_is(const stack_block *block, u64 hash, const void *frames,
                                  u32 count);

/* Finds or adds a stack in a table without numbers; count > 0. False if memory runs out, or beyond
 * STACK_NUMBER_MAX. */
bool stack_add(stack_table *table, u64 hash, const void *frames, u32 count, u32 *id);

/* Gives the frames of a stack another id, which no look-up finds, for a stack that means something
 * else. Call it after the last stack_add. False if memory runs out, or beyond STACK_NUMBER_MAX. */
bool stack_add_copy(stack_table *table, u32 id, u32 *copy);

/* A stack with addresses of another process than the memory's owner. */
typedef struct foreign_stack {
    u32 stack;
    u32 process;
    i64 ticks; /* time at which its addresses are looked up; NEVER: each event's own */
} foreign_stack;

/* Foreign stacks have the last ids of a table; rows are in the order of ids. */
typedef ETLHEAP_VECTOR(foreign_stack) foreign_stacks;

/* The foreign row of a stack. NULL, nearly always: the addresses belong to the owner. */
static inline const foreign_stack *foreign_find(const foreign_stacks *foreign, u32 stack)
{
    const bool is_foreign = foreign->count > 0 && stack >= foreign->at[0].stack &&
                            stack - foreign->at[0].stack < foreign->count;
    return is_foreign ? &foreign->at[stack - foreign->at[0].stack] : NULL;
}

/* The process that the addresses of a stack belong to. */
static inline u32 foreign_process(const foreign_stacks *foreign, u32 stack, u32 owner)
{
    const foreign_stack *const found = foreign_find(foreign, stack);
    return found != NULL ? found->process : owner;
}

/* The process that asked for memory of a kind that outlives processes: the one whose stack it is,
 * if the event named no process. */
static inline u32 foreign_asker(const foreign_stacks *foreign, u8 kind, u32 stack, u32 process)
{
    return etlheap_kind_has(kind, ETLHEAP_KIND_OUTLIVES) ? foreign_process(foreign, stack, process)
                                                         : process;
}

/* The frames of a stack. For an entry that has only numbers, just their count. */
static inline etlheap_frames stack_get(const stack_table *table, u32 id)
{
    const stack_entry *const entry = &table->list.at[id - 1];
    return (etlheap_frames){ entry->frames, entry->count };
}

/* The numbers of a stack's addresses; NULL: there are none. */
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

/* The frames of a stack of any table; no frames if memory runs out. Any thread. */
etlheap_frames stack_spell(const stack_table *table, u32 id);

void stack_table_free(stack_table *table);

/* Moves a table; `from` is empty afterwards. */
void stack_table_move(stack_table *to, stack_table *from);

/* Keeps only the numbers of a complete table, from which stack_spell() makes addresses: a third of
 * its memory. Nothing can be looked up or added afterwards. False if memory runs out; then it is as
 * before. */
bool stack_table_keep_numbers(stack_table *table);

/* --- a look-up, step by step ----------------------------------------------------- */

/* The group at which the probe for a hash starts. */
static inline u32 stack_group_of(const stack_table *table, u64 hash)
{
    return (u32)(hash >> 8) & table->group_mask;
}

/* Bit i is set if slot i has the tag. */
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

/* Prefetches a block. `count` is that of the stack being looked up, because the block's own is not
 * in the cache yet. */
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

/* True for addresses in the kernel's half of the address space: the sign bit on x64, above 2 GiB on
 * 32-bit systems. */
static inline bool stack_is_kernel_address(u64 address, u32 frame_bytes)
{
    return frame_bytes == 4 ? address >= 0x80000000u : (address >> 63) != 0;
}

#endif
