/*
 * etlheap_spans.h - when each kind of memory was recorded. Part of engine.h.
 */
#ifndef ETLHEAP_SPANS_H
#define ETLHEAP_SPANS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * When a kind of memory was recorded, since time zero: [from_ns, to_ns). It begins with the first
 * event of the sessions that record the kind. Only if buffers are missing at the start does it
 * begin later: with the latest of the processors' oldest kept buffers, but not after the oldest of
 * them was flushed. It ends just after the last event of these sessions. etlheap_recorded.h clips
 * windows to it.
 */
typedef struct etlheap_recorded {
    bool is_known; /* false: no such events, a summary, or a store without it */
    int64_t from_ns, to_ns;
} etlheap_recorded;

#endif
