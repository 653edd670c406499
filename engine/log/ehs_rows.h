/*
 * ehs_rows.h - lifetimes as rows, and the meaning of their numbers.
 *
 * There are few committed ranges and heap extents compared with heap blocks, and blocks of custom
 * allocators can be freed in parts, so each lifetime of these kinds is a row. Rows are written
 * while the trace is still being read, when their processes and stacks are numbers of the run. Two
 * small tables, written last, map these to final numbers:
 *
 *     ref       a provisional stack reference: its stack, and the thread
 *               that only the stack's arrival revealed
 *     instance  process numbers in the order of the run
 *
 * Heap blocks work the same way: their origins name a stack, an owner and a thread.
 */
#ifndef ETLHEAP_EHS_ROWS_H
#define ETLHEAP_EHS_ROWS_H

#include "ehs_table.h"
#include "store.h"
#include "tally.h"

/* The number of a kind on disk, and the kind of a number; ETLHEAP_KIND_COUNT for unknown
 * ones. */
u8 ehs_number_of_kind(u32 kind);
u32 ehs_kind_of_number(u32 number);

/* Encodes rows as part `part`, with who freed only if they have these columns. False if memory runs
 * out. */
bool ehs_rows_encode(ehs_blocks *out, ehs_codec *codec, u32 part, const etlheap_segment *rows);

/* Added to the number in life.kind: the row is a free of memory that the recording does not know,
 * not a lifetime. Readers that do not know it skip the row. */
#define EHS_LIFE_UNMATCHED 0x80u

typedef struct ehs_ref {
    u32 number; /* ascending */
    u32 stack;
    u32 thread; /* for rows without a thread; ETL_NO_ID unknown */
} ehs_ref;

/* Maps numbers of the run to final ones. Either list may be empty: numbers are final. */
typedef struct ehs_remap {
    ETLHEAP_VECTOR(ehs_ref) refs;
    ETLHEAP_VECTOR(u32) processes; /* by number - 1 */
} ehs_remap;

bool ehs_remap_save(ehs_saver *saver, const ehs_remap *remap);
void ehs_remap_free(ehs_remap *remap);

/* Limits of the numbers in rows, and the stacks that name another process than the event did. */
typedef struct ehs_bounds {
    u32 process_count, stack_count;
    const foreign_stacks *foreign; /* processes are within the limit; NULL: none */
} ehs_bounds;

/* The output for rows, and the columns that the file lacks (EHS_WANT_*). */
typedef struct ehs_rows_out {
    lifetime_table *store, *unmatched;
    u32 *lacks;
    u32 kinds; /* kinds to read, bit per etlheap_kind */
} ehs_rows_out;

/* Appends all rows of these kinds with final numbers. Checks that the numbers are within the
 * bounds, and that no row ends before it begins. ETL_ERR_CORRUPT, ETL_ERR_MEMORY, ETL_ERR_LIMIT. */
etl_status ehs_rows_load(ehs_loader *loader, const ehs_bounds *bounds, const ehs_rows_out *out);

/* --- origins of heap blocks --------------------------------------------------------- */

typedef struct ehs_origin {
    u32 stack;  /* final; 0: none */
    u32 owner;  /* row n - 1 of owners */
    u32 thread; /* for blocks without a thread; ETL_NO_ID unknown */
} ehs_origin;

/* Sums over all blocks of an origin in the recording, by tally_end. */
typedef struct ehs_origin_sums {
    type_sums of[TALLY_IN_USE + 1];
} ehs_origin_sums;

/* The stack that freed, and the owner of the memory. */
typedef struct ehs_freer {
    u32 stack, owner; /* as in ehs_origin */
} ehs_freer;

typedef struct ehs_owner {
    i64 first_ticks;
    u32 heap; /* row n - 1 of heaps */
    u32 epoch;
} ehs_owner;

typedef struct ehs_heap {
    u64 value;
    u32 process; /* final */
} ehs_heap;

typedef struct ehs_origins {
    ETLHEAP_VECTOR(ehs_origin) origins; /* origin n is at[n - 1] */
    ETLHEAP_VECTOR(ehs_owner) owners;
    ETLHEAP_VECTOR(ehs_heap) heaps;
    ETLHEAP_VECTOR(ehs_origin_sums) sums; /* one per origin; empty: not in the file */
    ETLHEAP_VECTOR(ehs_freer) freers;     /* freer n is at[n - 1] */
} ehs_origins;

bool ehs_origins_save(ehs_saver *saver, const ehs_origins *origins);

/* Reads the origins; checks that all numbers are within their tables and the bounds. The caller
 * frees *out in any case. ETL_ERR_CORRUPT, ETL_ERR_MEMORY, ETL_ERR_LIMIT. */
etl_status ehs_origins_load(ehs_loader *loader, const ehs_bounds *bounds, ehs_origins *out);
void ehs_origins_free(ehs_origins *origins);

#endif
