/*
 * etlheap_recording.h - whether several files belong to one recording. Part of engine.h.
 *
 * etlheap_analyze treats its traces as parts of one recording that several sessions wrote at the
 * same time (kernel.etl, heap.etl). It would add up two different runs, and count a file given
 * twice double. A program that takes files from people should therefore call this first.
 */
#ifndef ETLHEAP_RECORDING_H
#define ETLHEAP_RECORDING_H

#include "parser/parser.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * [stable] Compares each trace with those before it.
 *
 *     ETL_OK            the traces may belong to one recording
 *     ETL_ERR_ARGUMENT  they do not: pair[0] < pair[1] are the first two that differ, and the
 *                       message says how they differ and what to do, without file names
 *     ETL_ERR_MEMORY
 *
 * Compares, from the log-file headers:
 *
 *     content    one is a copy of the other
 *     computer   frequency of the performance counter, number of processors, and the Windows build,
 *                except for merged files, which state the build of the merging tool
 *     boot       boot times, or if one is missing, whether the clocks fit together
 *     time       one was stopped before the other was started; but files that one session wrote one
 *                after the other belong to one recording
 *
 * With `together`, different recordings are accepted and only copies are refused. Reads up to 64
 * buffers of traces that look alike. Any thread.
 */
etl_status etlheap_recording_check(etl_trace *const *traces, uint32_t trace_count, bool together,
                                   uint32_t pair[2], etl_error *err);

#ifdef __cplusplus
}
#endif

#endif
