/*
 * release.h - releases the pages of buffers that were read.
 *
 * Mapped pages that were touched count as the program's memory until they are released, and at the
 * end a single thread would have to release the whole file. Done slice by slice, all threads share
 * the work, and less memory is held.
 */
#ifndef ETLHEAP_RELEASE_H
#define ETLHEAP_RELEASE_H

#include "plan.h"

/* Bytes of a file that are no longer needed. */
typedef struct release_piece {
    u64 offset, size_bytes;
    u32 trace;
} release_piece;

typedef struct release_list {
    ETLHEAP_VECTOR(release_piece) pieces;
} release_list;

/* Lists the bytes that the slice no longer needs: adjacent buffers together, in pieces of a few
 * megabytes. False if memory runs out. */
bool release_plan(release_list *list, etl_trace *const *traces, const plan_slice *slice);

/* Releases piece `index`. Different pieces may be released in parallel. */
void release_run(const release_list *list, etl_trace *const *traces, u32 index);

void release_free(release_list *list);

#endif
