/*
 * scan_inside.h - what the files of the scan share.
 *
 *     scan.c         buffers and records; what each kind of event becomes
 *     scan_lean.c    the same for the few kinds of which there are most
 *     scan_stacks.c  stacks on their way to their events
 *     scan_custom.c  events of custom allocators, with their stacks
 */
#ifndef ETLHEAP_SCAN_INSIDE_H
#define ETLHEAP_SCAN_INSIDE_H

#include "half_walks.h"
#include "wait_limit.h"

/* The sorts of records that scan_lean() takes. */
typedef enum lean_sort { LEAN_ALLOC, LEAN_FREE, LEAN_STACK, LEAN_STACK_KEY, LEAN_SORTS } lean_sort;

typedef struct scanner {
    const scan_input *input;
    scan_output *out;
    const tick_map *map;      /* of the buffer */
    const etl_record *record; /* in hand; not of scan_lean() */
    i64 ticks;                /* of the record, base clock */
    u64 settle_ticks;         /* a stack that comes later than that is left to the join */
    bool out_of_memory;       /* in scan_lean() */
    stack_ring ring;
    u32 settled; /* events of the ring, ever, that got a stack */
    half_walks walks;
    stack_queue queue;
    census_count lean_counts[LEAN_SORTS]; /* not yet in the census */
    u64 *widened;                         /* STACK_FRAMES_MAX, for frames of 4 bytes */
} scanner;

/*
 * Reads on in the buffer as long as records are plain, and leaves it at the first
 * that is not. For those records it does what etl_record_next() and the handlers
 * of scan.c do. Not where times must be converted. False without memory.
 */
bool scan_lean(scanner *s, etl_buffer *buffer);

/* Puts into the census what scan_lean() counted. False without memory. */
bool scan_lean_count(scanner *s);

/*
 * The ring's event for a part, and what sort of event it is of; NULL: the ring does not have
 * it, or another event may be meant.
 */
stack_ring_entry *scan_find_event(scanner *s, const part_name *name, event_sort *sort);

/* Does the stack come so soon after its event that no limit of waiting can matter? Which
 * stacks a task has is a matter of slices, so the join must not decide otherwise. */
static inline bool scan_is_soon(const scanner *s, i64 event_ticks, i64 ticks)
{
    return (u64)ticks - (u64)event_ticks <= s->settle_ticks;
}

/* A stack's frames as they are used: 8 bytes each, not too many. */
typedef struct frame_view {
    const void *at;
    u32 count;
    stack_part part;
} frame_view;

/* Frames of 4 bytes are widened into the one place for that, so what waits there
 * is looked up first. False without memory. */
bool scan_view_frames(scanner *s, const u8 *frames, u32 frame_bytes, u32 count, frame_view *out);

/* Has the stack's reference put where `target` and `index` say, soon. False without memory. */
bool scan_request_stack(scanner *s, const frame_view *frames, stack_target target, size_t index);

/* Appends an event of the record in hand to the task's. False without memory. */
bool scan_push_event(scanner *s, memory_event event);

/* What becomes of an allocation or free of a custom allocator. False without memory. */
bool scan_custom(scanner *s, const etl_event *event);

/* Notes how process ids and times go on with an event that was appended. */
bool scan_note_event(scan_output *out, const memory_event *event);

/* The shard of a heap event: that of its block. */
static inline u8 scan_heap_shard(u64 address, u32 pid)
{
    return (u8)((u32)(etlheap_mix_u64(address ^ (u64)pid << 40) >> 32) % HEAP_SHARDS);
}

#endif
