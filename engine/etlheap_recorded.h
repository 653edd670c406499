/*
 * etlheap_recorded.h - clips windows to the time in which memory was recorded. Part of engine.h.
 *
 * A window may be longer than the recording: a circular recording of an hour keeps its last minute,
 * and a kernel session may be older than the heap session. So what is divided by a time is divided
 * by the part of the window that was recorded:
 *
 *     window      ├──────────────────────────────┤
 *     recorded                         ├──────────────┤    etlheap_trace_info.recorded
 *     part                             ├─────────┤
 */
#ifndef ETLHEAP_RECORDED_H
#define ETLHEAP_RECORDED_H

#include "engine.h"

#include "etlheap_windows.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The kinds that the result has events of, as bits. */
uint32_t etlheap_result_kinds(const etlheap_result *result);

/* The part of a window in which kinds were recorded: from the first to the last of their recorded
 * spans. `kinds` has a bit per etlheap_kind, 0: the default ones. The whole window if no span of
 * these kinds is known. Empty, with from_ns equal to to_ns, if nothing of it was recorded. */
etlheap_time_range etlheap_recorded_part(const etlheap_trace_info *trace, uint32_t kinds,
                                         etlheap_time_range window);

/* True if a part lacks more than 1 % or 1 ms of its window, so that the reader should know. */
bool etlheap_recorded_lacks(etlheap_time_range part, etlheap_time_range window);

/* True if buffers from before the recorded span are missing: memory allocated before it may have
 * been freed unseen. */
bool etlheap_recorded_is_ring(const etlheap_result *result);

#ifdef __cplusplus
}
#endif

#endif
