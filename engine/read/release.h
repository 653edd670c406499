/*
 * release.h - gives back the pages of buffers that were read.
 *
 * What a mapping has touched counts as the program's memory until it is given
 * back, and at the end one thread would have to do that for the whole file. Done
 * slice by slice it is work for all threads, and little memory is held.
 */
#ifndef ETLHEAP_RELEASE_H
#define ETLHEAP_RELEASE_H

#include "plan.h"

/* Bytes of a file that are done with. */
typedef struct release_piece {
    u64 offset, size_bytes;
    u32 trace;
} release_piece;

typedef struct release_list {
    ETLHEAP_VECTOR(release_piece) pieces;
} release_list;

/* Lists what the slice is done with: neighbouring buffers together, in pieces of a
 * few megabytes. False without memory. */
bool release_plan(release_list *list, etl_trace *const *traces, const plan_slice *slice);

/* Gives back piece `index`; each by one task. */
void release_run(const release_list *list, etl_trace *const *traces, u32 index);

void release_free(release_list *list);

#endif
