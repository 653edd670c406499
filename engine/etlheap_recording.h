/*
 * etlheap_recording.h - whether several files are of one recording.
 *
 * Part of engine.h. etlheap_analyze takes its traces for parts of one recording, written
 * side by side by several sessions (kernel.etl, heap.etl). Two runs given to it would be
 * summed, and one file given twice would count double. So a program that takes files from
 * people asks here first.
 */
#ifndef ETLHEAP_RECORDING_H
#define ETLHEAP_RECORDING_H

#include "parser/parser.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Compares each trace with those before it. ETL_OK: nothing says that they are of
 * different recordings. ETL_ERR_ARGUMENT: something does; pair[0] < pair[1] are the first
 * two that differ, and the message says in what and what to do, without their names. What
 * counts, from the log-file headers:
 *
 *   - the same content: the one is a copy of the other;
 *   - the computer: frequency of the performance counter, number of processors, and
 *     Windows build unless a file was merged, which states the build of the merging tool;
 *   - the boot: boot times, or where one is missing clocks that do not fit together;
 *   - the time: the one was stopped before the other was started. Files that one session
 *     wrote one after the other are of one recording.
 *
 * `together`: different recordings are wanted as one, and only copies are refused.
 * ETL_ERR_MEMORY. Reads up to 64 buffers of traces that look alike; any thread.
 */
etl_status etlheap_recording_check(etl_trace *const *traces, u32 trace_count, bool together,
                                   u32 pair[2], etl_error *err);

#ifdef __cplusplus
}
#endif

#endif
