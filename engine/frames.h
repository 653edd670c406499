/*
 * frames.h - raw stacks as frames of modules, for output and grouping.
 *
 * The same code has different addresses in different processes and boots, so
 * what is shown and grouped is module + offset. A raw stack is resolved once
 * per process and module epochs, its own and the kernel's; equal results share
 * one id.
 */
#ifndef ETLHEAP_FRAMES_H
#define ETLHEAP_FRAMES_H

#include "query.h"

#define FRAME_NONE UINT32_MAX

/* A distinct frame: (module, offset), or an address outside every module. */
typedef struct frame_row {
    u32 module; /* index of the first module of that path; FRAME_NONE */
    u64 offset; /* in the module, or the address */
    u64 address;
} frame_row;

/* A distinct stack of frames after culling; id 0 is "no stack". */
typedef struct frame_stack {
    u32 start, count; /* into pool */
    bool wanted;      /* passes --require-frame */
} frame_stack;

typedef struct frame_cache {
    u32 process, stack, epoch, kernel_epoch, resolved;
} frame_cache;

/* A frame found lately, by what it was found for. */
typedef struct recent_frame {
    u64 address;
    u32 process, epoch, kernel_epoch;
    u32 frame; /* + 1; 0: nothing here */
} recent_frame;

typedef struct frame_table {
    const etlheap_result *result;
    const etlheap_query *query;
    u32 *canonical; /* by module: the first module of the same path */
    u32 *namesakes; /* by module: the first module of the same name */
    ETLHEAP_VECTOR(frame_row) frames;
    ETLHEAP_VECTOR(u32) pool; /* frame indices */
    ETLHEAP_VECTOR(frame_stack) stacks;
    ETLHEAP_VECTOR(frame_cache) cache;
    etlheap_index frame_index, stack_index, cache_index;
    recent_frame *recent; /* direct mapped: the same callers are in most stacks */
    u32 *ranks;           /* by frame, after frames_rank: places in frames_compare order */
} frame_table;

/* False without memory; the table is then empty, and closing it is harmless. */
bool frames_open(frame_table *out, const etlheap_result *result, const etlheap_query *query);
void frames_close(frame_table *table);

/* The resolved stack of a lifetime; false without memory. */
bool frames_resolve(frame_table *table, u32 process, u32 stack, i64 ticks, u32 *id);

/* The innermost frame of a resolved stack, FRAME_NONE for id 0. */
u32 frames_innermost(const frame_table *table, u32 id);

/* Module's name or NULL. */
const char *frames_module(const frame_table *table, u32 frame);

/* Puts all frames in order: by module name, then offset or address, the same for
 * every run. The comparisons below go by that. False without memory. */
bool frames_rank(frame_table *table);
int frames_compare(const frame_table *table, u32 a, u32 b);
int frames_compare_stacks(const frame_table *table, u32 a, u32 b);

/* Stacks whose prefixes differ are in the order of their prefixes. */
u64 frames_prefix(const frame_table *table, u32 id);

#endif
