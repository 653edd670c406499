/* space_ranges.h - address ranges of processes at one moment, and their unions. */
#ifndef ETLHEAP_SPACE_RANGES_H
#define ETLHEAP_SPACE_RANGES_H

#include "engine/core/arena.h"

typedef enum space_what {
    SPACE_IMAGE,
    SPACE_VIEW, /* of a file */
    SPACE_RESERVED,
    SPACE_COMMITTED, /* by VirtualAlloc */
    SPACE_EXTENT,
    SPACE_INNER, /* whole units inside a large block */
    SPACE_WHAT_COUNT
} space_what;

typedef struct space_range {
    u64 start, end; /* start < end */
    u64 heap;       /* for EXTENT and INNER; of a VIEW, its file */
    u32 process;
    u32 module; /* for IMAGE: index in the result's list */
    u8 what;    /* space_what */
} space_range;

typedef ETLHEAP_VECTOR(space_range) space_range_list;

/* Sorts ranges by process, what, start and the other members. */
void space_ranges_sort(space_range_list *list);

/* Consecutive ranges of a sorted list. */
typedef struct space_slice {
    const space_range *at;
    u32 count;
} space_slice;

space_slice space_ranges_of(const space_range_list *list, u32 process, space_what what);

/* A span of addresses. Lists of spans are sorted and do not overlap. */
typedef struct space_span {
    u64 start, end;
} space_span;

typedef ETLHEAP_VECTOR(space_span) space_spans;

/* Makes the union of two slices. False if memory runs out. */
bool space_spans_unite(space_spans *out, space_slice a, space_slice b);

/* The first span that ends after an address. */
u32 space_spans_after(const space_spans *spans, u64 address);

/* The number of bytes of [start, end) in the spans. The search starts at *at, which is advanced. */
u64 space_spans_bytes(const space_spans *spans, u32 *at, u64 start, u64 end);

#endif
