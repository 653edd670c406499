/*
 * ranges.h - committed address ranges, and how they split.
 *
 * VirtualAlloc commits and VirtualFree decommits any pages of a reservation, so lifetimes are
 * ranges in an interval map per process; heap extents (Expand, Contract) are ranges per heap. Rules
 * (docs/format/events.md, 4):
 *
 * - A commit opens a lifetime for each gap in the committed memory. The first committer keeps the
 *   pages, because Windows charges them to it.
 * - A decommit closes what it covers. If it covers part of a lifetime, that part closes, and the
 *   rest keeps its original time and stack.
 * - A release closes everything inside it, including the reservation. With size 0 it covers the
 *   whole reservation that starts there.
 * - A reservation is a lifetime of kind RESERVE, if the output keeps these. Decommits do not change
 *   it, and commits only name it: the commit of the same call has its stack. A placeholder that is
 *   replaced or split continues; a released part ends, and the rest continues.
 * - Reserved or committed memory cannot be reserved again. If it is, the release before it was
 *   lost, or is late because another CPU logged it. Memory still committed there ended by then, and
 *   a release of the old reservation that another CPU logs soon after is the late one.
 * - Rundowns state committed bytes per region. Bytes without a known commit are dated before the
 *   trace. If all of a process was seen, or stated at the start, the rundown at the end has to
 *   agree; differences are counted.
 * - A free of memory that is neither committed nor reserved is counted separately. For a heap, all
 *   addresses that were its extents, until it is destroyed, count as reserved.
 * - Blocks of custom allocators are separate ranges, because some can be freed in parts. A free
 *   with a size frees those bytes; one without, the block at its address. An allocation over live
 *   blocks ends them: their frees were lost. A block of size 0 takes one address in a separate map;
 *   an allocation ends it only if it begins there.
 */
#ifndef ETLHEAP_RANGES_H
#define ETLHEAP_RANGES_H

#include "shard.h"

typedef struct range {
    u64 start, end; /* [start, end), start < end */
    i64 alloc_ticks;
    stack_ref stack;
    u32 tid;
} range;

/* Disjoint ranges by address, in leaves of up to RANGE_LEAF_MAX, so that an insertion moves few
 * elements: a two-level tree. */
#define RANGE_LEAF_MAX 128

typedef struct range_leaf {
    u32 count; /* at least 1 */
    u64 bytes; /* bytes of its ranges, to see if there are gaps */
    range at[RANGE_LEAF_MAX];
} range_leaf;

typedef struct range_map {
    ETLHEAP_VECTOR(range_leaf *) leaves;
} range_map;

/* A reservation that replaced one whose release was not seen. */
typedef struct replaced_range {
    u64 start;
    i64 ticks; /* time of the new reservation */
    u32 tid;
    u16 cpu;
} replaced_range;

typedef struct range_owner {
    u32 process;
    u8 kind;  /* ETLHEAP_KIND_VIRTUALALLOC, _EXTENT or _CUSTOM */
    u64 heap; /* for extents and custom allocators */
    range_map committed;
    range_map reserved; /* VirtualAlloc reservations; extents: all of the heap so far */
    range_map empty;    /* custom blocks of size 0, as ranges of 1 byte */
    ETLHEAP_VECTOR(replaced_range) replaced; /* recent ones, in time order */
    range_map disputed;                      /* regions that a rundown contradicted, recent ones */
    bool was_told;                           /* the rundown at the start stated all its regions */
    i64 swept_ticks; /* extents of heaps destroyed before this were removed */
} range_owner;

typedef struct range_table {
    ETLHEAP_VECTOR(range_owner) owners;
    etlheap_index index;
} range_table;

void ranges_apply(range_table *table, const trace_context *context, const memory_event *event,
                  u32 process, shard_output *out);

/* Emits the ranges of processes that ended longer before `now_ticks` than late events can come, and
 * the extents of heaps destroyed before it. ranges_finish emits all remaining ranges, and frees the
 * table. */
void ranges_sweep(range_table *table, const trace_context *context, i64 now_ticks,
                  shard_output *out);
void ranges_finish(range_table *table, const trace_context *context, shard_output *out);
void ranges_free(range_table *table);

#endif
