/*
 * ranges.h - committed address ranges and how they split.
 *
 * VirtualAlloc commits and VirtualFree decommits any pages of a reservation, so
 * lifetimes are ranges in an interval map per process; heap extents (Expand,
 * Contract) are the same per heap. Rules (docs/format/events.md, 4):
 *
 *  - A commit opens one lifetime for each gap in what is committed already; the
 *    first committer keeps its pages, as the system charges them.
 *  - A decommit closes what it meets. Part of a lifetime: the part closes, the
 *    rest goes on with its original time and stack.
 *  - A release closes everything inside it, the reservation too; of size 0, inside the
 *    reservation that starts there.
 *  - A reservation is a lifetime of its own, of kind RESERVE, if the output keeps these. Commits
 *    and decommits leave it as it is. A placeholder that is replaced or split goes on; what is
 *    released of one ends, and the rest goes on.
 *  - Nobody can reserve what is reserved or committed: the release before it was lost, or is
 *    late, because another CPU logged it. What is still committed there ended by then, and a
 *    release of the old reservation that another CPU logs soon after is that late one.
 *  - Rundowns tell committed bytes per region: what is not known yet began
 *    before the trace. Where all of a process was seen, or told of at the start,
 *    the rundown at the end has to agree with that; where it does not, that is
 *    counted.
 *  - Freeing what is neither committed nor reserved is counted apart. Of a heap the
 *    addresses that it ever had as extents are its reservations.
 *  - Blocks of custom allocators are ranges of theirs, because some can be freed in parts.
 *    A free with a size gives back those bytes; one without, the block at its address. An
 *    allocation over live ones ends them: their frees were lost. What has no bytes takes
 *    one address in a map of its own.
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

/* Disjoint ranges by address, in leaves of up to RANGE_LEAF_MAX, so that
 * inserting in the middle moves little: a two-level tree. */
#define RANGE_LEAF_MAX 128

typedef struct range_leaf {
    u32 count; /* at least 1 */
    u64 bytes; /* of its ranges: whether there are gaps between them */
    range at[RANGE_LEAF_MAX];
} range_leaf;

typedef struct range_map {
    ETLHEAP_VECTOR(range_leaf *) leaves;
} range_map;

/* A reservation took the place of one whose release was not seen. */
typedef struct replaced_range {
    u64 start;
    i64 ticks; /* of the new reservation */
    u32 tid;
    u16 cpu;
} replaced_range;

typedef struct range_owner {
    u32 process;
    u8 kind;  /* ETLHEAP_KIND_VIRTUALALLOC, _EXTENT or _CUSTOM */
    u64 heap; /* extents, and custom allocators */
    range_map committed;
    range_map reserved; /* VirtualAlloc reservations; of extents those that there ever were */
    range_map empty;    /* custom blocks of no bytes, as ranges of one */
    ETLHEAP_VECTOR(replaced_range) replaced; /* of the latest moments, in time order */
    range_map disputed;                      /* regions that a rundown contradicted; likewise */
    bool was_told;                           /* of all its regions, by the rundown at the start */
    i64 swept_ticks;                         /* extents of heaps destroyed before are gone */
} range_owner;

typedef struct range_table {
    ETLHEAP_VECTOR(range_owner) owners;
    etlheap_index index;
} range_table;

void ranges_apply(range_table *table, const trace_context *context, const memory_event *event,
                  u32 process, shard_output *out);

/* As blocks_sweep and blocks_finish. */
void ranges_sweep(range_table *table, const trace_context *context, i64 now_ticks,
                  shard_output *out);
void ranges_finish(range_table *table, const trace_context *context, shard_output *out);
void ranges_free(range_table *table);

#endif
