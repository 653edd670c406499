/*
 * heap_events.h - the payloads of events of heaps. Part of events.h.
 *
 * Values are raw, and views borrow from the record, as events.h says.
 */
#include "parser.h" /* before the guard: it includes events.h, which needs this header */

#ifndef ETL_HEAP_EVENTS_H
#define ETL_HEAP_EVENTS_H

#ifdef __cplusplus
extern "C" {
#endif

/* source_id: the part of the heap that served the request, with the values of the heap events. */
#define ETL_HEAP_SOURCE_LOOKASIDE         1u
#define ETL_HEAP_SOURCE_LOW_FRAGMENTATION 2u
#define ETL_HEAP_SOURCE_MAIN              3u
#define ETL_HEAP_SOURCE_SLOW              4u
#define ETL_HEAP_SOURCE_INVALID           5u
#define ETL_HEAP_SOURCE_SEGMENT           6u

typedef struct etl_heap_create {
    uint64_t heap_handle;
    uint64_t reserved_space_bytes; /* version 3; 0 before */
    uint64_t committed_space_bytes;
    uint64_t allocated_space_bytes;
    uint32_t heap_flags;
} etl_heap_create;

typedef struct etl_heap_alloc {
    uint64_t heap_handle;
    uint64_t alloc_size_bytes; /* as requested, not rounded */
    uint64_t alloc_address;
    uint32_t source_id; /* ETL_HEAP_SOURCE_* */
} etl_heap_alloc;

typedef struct etl_heap_realloc {
    uint64_t heap_handle;
    uint64_t new_alloc_address;
    uint64_t old_alloc_address;
    uint64_t new_alloc_size_bytes;
    uint64_t old_alloc_size_bytes;
    uint32_t source_id;
} etl_heap_realloc;

typedef struct etl_heap_free {
    uint64_t heap_handle;
    uint64_t free_address;
    uint32_t source_id;
} etl_heap_free;

typedef struct etl_heap_handle {
    uint64_t heap_handle;
} etl_heap_handle;

/* Expand committed the range, Contract decommitted it. */
typedef struct etl_heap_extent {
    uint64_t heap_handle;
    uint64_t size_bytes;
    uint64_t address;
    uint64_t free_space_bytes;
    uint64_t committed_space_bytes;
    uint64_t reserved_space_bytes;
    uint64_t allocated_space_bytes; /* version 3; 0 before */
    uint32_t ucr_count;
} etl_heap_extent;

typedef struct etl_heap_snapshot {
    uint64_t heap_handle;
    uint64_t free_space_bytes;
    uint64_t committed_space_bytes;
    uint64_t reserved_space_bytes;
    uint64_t large_ucr_space_bytes; /* this and the following: 0 in the old short form */
    uint64_t allocated_space_bytes; /* version 3; 0 before */
    uint32_t heap_flags;            /* also in the short form */
    uint32_t process_id;
    uint32_t free_list_length;
    uint32_t ucr_length;
} etl_heap_snapshot;

/* ranges: range_count pairs {address, size}, each number pointer_bytes wide. */
typedef struct etl_heap_range_rundown {
    uint64_t heap_handle;
    uint32_t flags;
    uint32_t process_id;
    uint32_t range_count; /* at most the pairs that are in the record */
    etl_bytes ranges;
} etl_heap_range_rundown;

typedef struct etl_heap_range_create {
    uint64_t heap_handle;
    uint64_t first_range_size_bytes;
    uint32_t flags;
} etl_heap_range_create;

typedef struct etl_heap_range {
    uint64_t heap_handle;
    uint64_t address;
    uint64_t size_bytes;
} etl_heap_range;

/* caller of a commit: what the heap was doing (phnt). */
#define ETL_HEAP_COMMIT_CREATES_HEAP 1u

/* Pages of a heap that were committed or decommitted. */
typedef struct etl_heap_commit {
    uint64_t heap_handle;
    uint64_t address;
    uint64_t size_bytes;
    uint32_t caller;
} etl_heap_commit;

/* A subsegment: blocks of one size in the low-fragmentation heap. Events state only some of this;
 * the others are 0. */
typedef struct etl_heap_subsegment {
    uint64_t heap_handle;
    uint64_t subsegment;       /* its address */
    uint64_t size_bytes;       /* ALLOC, FREE */
    uint64_t block_size_bytes; /* ALLOC, FREE, INIT */
    uint64_t block_count;      /* INIT */
    uint32_t number;           /* index of the bucket of sizes, the slot or the affinity */
} etl_heap_subsegment;

#ifdef __cplusplus
}
#endif

#endif
