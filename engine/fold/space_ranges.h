/*
 * space_ranges.h - address ranges of processes at one moment, and what they add up to.
 */
#ifndef ETLHEAP_SPACE_RANGES_H
#define ETLHEAP_SPACE_RANGES_H

#include "engine/core/arena.h"

typedef enum space_what {
    SPACE_IMAGE,
    SPACE_RESERVED,
    SPACE_COMMITTED, /* by VirtualAlloc */
    SPACE_EXTENT,
    SPACE_INNER, /* whole units that a large block fills */
    SPACE_WHAT_COUNT
} space_what;

typedef struct space_range {
    u64 start, end; /* start < end */
    u64 heap;       /* EXTENT and INNER */
    u32 process;
    u32 module; /* IMAGE: of the result's list */
    u8 what;    /* space_what */
} space_range;

typedef ETLHEAP_VECTOR(space_range) space_range_list;

/* By process, what, start and the rest. */
void space_ranges_sort(space_range_list *list);

/* Ranges of a sorted list that follow each other. */
typedef struct space_slice {
    const space_range *at;
    u32 count;
} space_slice;

space_slice space_ranges_of(const space_range_list *list, u32 process, space_what what);

/* A stretch of addresses, and lists of such that are in order and do not overlap. */
typedef struct space_span {
    u64 start, end;
} space_span;

typedef ETLHEAP_VECTOR(space_span) space_spans;

/* What one slice or the other covers. False without memory. */
bool space_spans_unite(space_spans *out, space_slice a, space_slice b);

/* The first span that ends after an address. */
u32 space_spans_after(const space_spans *spans, u64 address);

/* Bytes of [start, end) in the spans; *at is where to look first, and where to go on. */
u64 space_spans_bytes(const space_spans *spans, u32 *at, u64 start, u64 end);

#endif
