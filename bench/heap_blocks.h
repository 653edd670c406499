/*
 * heap_blocks.h - the blocks of the heap model: which are open, which addresses
 * are free to be given out again.
 */
#ifndef BENCH_HEAP_BLOCKS_H
#define BENCH_HEAP_BLOCKS_H

#include "stack_pool.h"

#define HEAP_BLOCK_CLASSES   14u
#define HEAP_BLOCK_MIN_BYTES 16u /* largest block of the first class; each next one doubles */
#define HEAP_BLOCK_NONE      UINT32_MAX

typedef struct heap_block {
    u64 address;
    i64 ticks; /* of the allocation while open, else of the free */
    u32 size;
    u32 place; /* in its process's open list, or the next free block */
    u32 stack;
    u8 heap;
    u8 size_class;
    u8 process;
    bool is_open;
} heap_block;

/* Open blocks of one process, in no order. */
typedef struct heap_open_list {
    u32 *numbers;
    u32 count;
} heap_open_list;

typedef struct heap_blocks heap_blocks;

/* Room for `capacity` blocks of `heaps` heaps, a few dozen at most. region[i] tells
 * heaps of one process apart; those of two processes may share addresses. */
heap_blocks *heap_blocks_new(u32 capacity, const u32 *regions, u32 heaps);
void heap_blocks_free(heap_blocks *blocks);

/* What is asked for. */
typedef struct heap_request {
    u32 process;
    u32 heap;
    u32 size;
    u32 stack;
} heap_request;

/*
 * Opens a block and returns its number. An address is given out again, last freed
 * first, but never in the tick in which it was freed: no recording can show that
 * either, because the two calls take longer than a tick. Aborts when full.
 */
u32 heap_blocks_open(heap_blocks *blocks, const heap_request *request, i64 now_ticks);

/* Closes an open block. Its other fields stay as they are till it is opened again. */
void heap_blocks_close(heap_blocks *blocks, u32 number, i64 now_ticks);

const heap_block *heap_blocks_get(const heap_blocks *blocks, u32 number);
const heap_open_list *heap_blocks_list(const heap_blocks *blocks, u32 process);

#endif
