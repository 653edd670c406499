/*
 * heap_blocks.c - see heap_blocks.h.
 *
 * Each class of each heap has a part of the address space in which new blocks
 * follow one another, and a list of free blocks that are taken first. The open
 * blocks of a process are an array; closing one moves the last into its place.
 */
#include "heap_blocks.h"

#include "bench.h"

#include <stdlib.h>

#define HEAPS_MAX     64u
#define FIRST_ADDRESS 0x1d000000000u
#define REGION_BYTES  ((u64)1 << 36) /* of one class of one heap */

/* Free blocks of one class of one heap, and where its next new block goes. */
typedef struct free_list {
    u32 first;
    u64 next_address;
} free_list;

struct heap_blocks {
    heap_block *at;
    u32 count;
    u32 capacity;
    free_list lists[HEAPS_MAX][HEAP_BLOCK_CLASSES];
    heap_open_list open[STACK_POOL_PROCESSES];
};

static u32 take(heap_blocks *blocks, u32 heap, u32 size, i64 now_ticks);

heap_blocks *heap_blocks_new(u32 capacity, const u32 *regions, u32 heaps)
{
    heap_blocks *const blocks = bench_allocate(1, sizeof *blocks);
    blocks->at = bench_allocate(capacity, sizeof *blocks->at);
    blocks->capacity = capacity;
    for (u32 p = 0; p < STACK_POOL_PROCESSES; p++)
        blocks->open[p].numbers = bench_allocate(capacity, sizeof(u32));
    for (u32 heap = 0; heap < heaps && heap < HEAPS_MAX; heap++) {
        for (u32 c = 0; c < HEAP_BLOCK_CLASSES; c++) {
            const u64 region = (u64)regions[heap] * HEAP_BLOCK_CLASSES + c;
            blocks->lists[heap][c] =
                (free_list){ HEAP_BLOCK_NONE, FIRST_ADDRESS + region * REGION_BYTES };
        }
    }
    return blocks;
}

void heap_blocks_free(heap_blocks *blocks)
{
    if (blocks == NULL)
        return;
    for (u32 p = 0; p < STACK_POOL_PROCESSES; p++)
        free(blocks->open[p].numbers);
    free(blocks->at);
    free(blocks);
}

u32 heap_blocks_open(heap_blocks *blocks, const heap_request *request, i64 now_ticks)
{
    const u32 number = take(blocks, request->heap, request->size, now_ticks);
    heap_open_list *const open = &blocks->open[request->process];
    heap_block *const block = &blocks->at[number];
    block->ticks = now_ticks;
    block->size = request->size;
    block->stack = request->stack;
    block->process = (u8)request->process;
    block->is_open = true;
    block->place = open->count;
    open->numbers[open->count++] = number;
    return number;
}

/* A block that was freed before this tick, or a new one. */
static u32 take(heap_blocks *blocks, u32 heap, u32 size, i64 now_ticks)
{
    u32 size_class = 0;
    while (HEAP_BLOCK_MIN_BYTES << size_class < size)
        size_class++;
    free_list *const list = &blocks->lists[heap][size_class];
    const u32 first = list->first;
    if (first != HEAP_BLOCK_NONE && blocks->at[first].ticks < now_ticks) {
        list->first = blocks->at[first].place;
        return first;
    }
    if (blocks->count == blocks->capacity)
        abort();
    heap_block *const made = &blocks->at[blocks->count];
    made->address = list->next_address;
    made->heap = (u8)heap;
    made->size_class = (u8)size_class;
    list->next_address += HEAP_BLOCK_MIN_BYTES << size_class;
    return blocks->count++;
}

void heap_blocks_close(heap_blocks *blocks, u32 number, i64 now_ticks)
{
    heap_block *const block = &blocks->at[number];
    heap_open_list *const open = &blocks->open[block->process];
    const u32 last = open->numbers[--open->count];
    open->numbers[block->place] = last;
    blocks->at[last].place = block->place;

    free_list *const list = &blocks->lists[block->heap][block->size_class];
    block->is_open = false;
    block->ticks = now_ticks;
    block->place = list->first;
    list->first = number;
}

const heap_block *heap_blocks_get(const heap_blocks *blocks, u32 number)
{
    return &blocks->at[number];
}

const heap_open_list *heap_blocks_list(const heap_blocks *blocks, u32 process)
{
    return &blocks->open[process];
}
