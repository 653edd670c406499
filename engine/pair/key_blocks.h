/*
 * key_blocks.h - blocks that are found by a key and freed as a whole: pool of the kernel, views.
 *
 * The row of a kind (etlheap_kinds.h) says within what keys are unique: within a process, or, for
 * memory of the kernel, within the system or a session. Another process than the one that asked for
 * a block may then free it, and the end of that process frees nothing.
 *
 *     event.address  the key
 *     event.heap     names the origin, such as a tag, with its session (key_words.h)
 *     event.size     also of frees, if the provider logs it there
 *
 * Rules:
 *
 * - An allocation at a key in use ends the old block: its free was lost.
 * - A free ends the block with its key. Sizes that differ are counted.
 * - A rundown at the start lists blocks from before the trace. One at the end is a check point: a
 *   block that it lists and that nothing else told of is from before the trace too, and counts as
 *   unseen if there was a rundown at the start; an older block that it does not list was freed
 *   unseen, and counts as missing, unless its process has ended.
 * - A rundown may lack the numbers of sessions. At the start its blocks are those of any session
 *   that frees or allocates there; at the end it tells nothing about them.
 */
#ifndef ETLHEAP_KEY_BLOCKS_H
#define ETLHEAP_KEY_BLOCKS_H

#include "engine/context/key_words.h"
#include "shard.h"

typedef struct key_block {
    u64 address;
    u64 heap;
    u64 size;
    i64 alloc_ticks;
    stack_ref stack;
    u32 space; /* process or session, by kind */
    u32 process;
    u32 tid;
    u32 hash;
    u8 kind; /* ETLHEAP_KIND_COUNT: a free place */
    bool is_listed;
} key_block;

/* What rundowns list of a kind. */
typedef struct key_lists {
    bool has_start, has_end; /* there is a rundown at the start, and one at the end */
    i64 end_ticks;           /* of the first row of that at the end */
} key_lists;

/* Start from {0}. */
typedef struct key_blocks {
    ETLHEAP_VECTOR(key_block) blocks;
    ETLHEAP_VECTOR(u32) free; /* places of blocks */
    u32 *origins;             /* place + 1 by hash, 0: none; linear probing */
    u32 mask, count;          /* origins - 1; open blocks */
    key_lists lists[ETLHEAP_KIND_COUNT];
    u64 unseen[ETLHEAP_KIND_COUNT]; /* rows of lists at the end that nothing else told of */
} key_blocks;

/* True if blocks of the kind are found by key. */
bool key_blocks_has_kind(u8 kind);

/* The process or session within which the event's key is unique; 0: the system. */
u32 key_blocks_space(const memory_event *event, u8 kind, u32 process);

void key_blocks_apply(key_blocks *blocks, const memory_event *event, u8 kind, u32 process,
                      shard_output *out);

/* True if a block has the event's key. */
bool key_blocks_is_live(const key_blocks *blocks, const memory_event *event, u8 kind, u32 process);

/* Adds what the rundowns in `from` list to `into`: a rundown is one for all shards. Call it for all
 * before key_blocks_finish, and give each the sum. */
void key_lists_add(key_lists into[ETLHEAP_KIND_COUNT], const key_blocks *from);
void key_lists_set(key_blocks *blocks, const key_lists sum[ETLHEAP_KIND_COUNT]);

/* Emits the blocks of processes that ended longer before `now_ticks` than late events can come.
 * key_blocks_finish emits all others, and frees the table. */
void key_blocks_sweep(key_blocks *blocks, const trace_context *context, i64 now_ticks,
                      shard_output *out);
void key_blocks_finish(key_blocks *blocks, const trace_context *context, shard_output *out);
void key_blocks_free(key_blocks *blocks);

#endif
