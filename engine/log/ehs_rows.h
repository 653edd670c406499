/*
 * ehs_rows.h - lifetimes as rows, and what their numbers mean.
 *
 * Committed ranges and heap extents are few beside heap blocks, and blocks of custom
 * allocators may be freed in parts, so each lifetime of them is a row. Rows leave while the trace is still read; their processes and stacks
 * are then numbers of the run, which two small tables, written last, make final:
 *
 *     ref       a stack reference that was provisional: its stack, and the thread
 *               that was known with it only
 *     instance  process numbers in the order of the run
 *
 * The same goes for heap blocks, whose slots name a stack, an owner and a thread.
 */
#ifndef ETLHEAP_EHS_ROWS_H
#define ETLHEAP_EHS_ROWS_H

#include "ehs_table.h"
#include "store.h"
#include "tally.h"

/* The number of the lane that stands for a kind on disk, and the kind of a lane;
 * ETLHEAP_KIND_COUNT for lanes that this version does not know. */
u8 ehs_lane_of_kind(u32 kind);
u32 ehs_kind_of_lane(u32 lane);

/* Encodes rows as part `part`; who freed only if they have a column of it. False without
 * memory. */
bool ehs_rows_encode(ehs_blocks *out, ehs_codec *codec, u32 part, const etlheap_segment *rows);

/* Added to the lane in life.kind: a free of what the recording does not know, which is no
 * lifetime. Readers that do not know it pass over it. */
#define EHS_LIFE_UNMATCHED 0x80u

typedef struct ehs_ref {
    u32 number; /* ascending */
    u32 stack;
    u32 thread; /* of rows without one; ETL_NO_ID unknown */
} ehs_ref;

/* What makes numbers of the run final. Either may be empty: numbers are final. */
typedef struct ehs_remap {
    ETLHEAP_VECTOR(ehs_ref) refs;
    ETLHEAP_VECTOR(u32) processes; /* by number - 1 */
} ehs_remap;

bool ehs_remap_save(ehs_saver *saver, const ehs_remap *remap);
void ehs_remap_free(ehs_remap *remap);

/* What numbers of rows may be. */
typedef struct ehs_bounds {
    u32 process_count, stack_count;
} ehs_bounds;

/* Where rows go, and what the file did not record of them (EHS_WANT_*). */
typedef struct ehs_rows_out {
    allocation_store *store, *unmatched;
    u32 *lacks;
    u32 kinds; /* the wanted ones, bit per etlheap_kind */
} ehs_rows_out;

/* Appends all rows of these kinds with final numbers, which are checked to be within
 * the bounds, as no row may end before it begins. CORRUPT, MEMORY, LIMIT. */
etl_status ehs_rows_load(ehs_loader *loader, const ehs_bounds *bounds, const ehs_rows_out *out);

/* --- slots of heap blocks --------------------------------------------------------- */

typedef struct ehs_slot {
    u32 stack;  /* final; 0: none */
    u32 owner;  /* row n - 1 of owners */
    u32 thread; /* of blocks without one; ETL_NO_ID unknown */
} ehs_slot;

/* The whole recording's blocks of a slot, by tally_end. */
typedef struct ehs_slot_sums {
    type_sums of[TALLY_IN_USE + 1];
} ehs_slot_sums;

/* The stack that freed, and whose memory. */
typedef struct ehs_actor {
    u32 stack, owner; /* as in ehs_slot */
} ehs_actor;

typedef struct ehs_owner {
    i64 first_ticks;
    u32 heap; /* row n - 1 of heaps */
    u32 epoch;
} ehs_owner;

typedef struct ehs_heap {
    u64 value;
    u32 process; /* final */
} ehs_heap;

typedef struct ehs_slots {
    ETLHEAP_VECTOR(ehs_slot) slots; /* slot n is at[n - 1] */
    ETLHEAP_VECTOR(ehs_owner) owners;
    ETLHEAP_VECTOR(ehs_heap) heaps;
    ETLHEAP_VECTOR(ehs_slot_sums) sums; /* as slots; empty: the file has none */
    ETLHEAP_VECTOR(ehs_actor) actors;   /* actor n is at[n - 1] */
} ehs_slots;

bool ehs_slots_save(ehs_saver *saver, const ehs_slots *slots);

/* All numbers are within their tables and the bounds. The caller frees *out in any
 * case. CORRUPT, MEMORY, LIMIT. */
etl_status ehs_slots_load(ehs_loader *loader, const ehs_bounds *bounds, ehs_slots *out);
void ehs_slots_free(ehs_slots *slots);

#endif
