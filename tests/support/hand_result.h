/*
 * hand_result.h - results of an analysis put together by hand.
 *
 * For tests of the stages behind the analysis: they need processes, modules,
 * stacks and lifetimes, but no trace. One clock for all: 10 MHz, time zero at
 * HAND_START_TICKS, so that a tick is 100 ns.
 */
#ifndef TESTS_HAND_RESULT_H
#define TESTS_HAND_RESULT_H

#include "engine/result/result.h"

#define HAND_START_TICKS ((i64)1000000)
#define HAND_TICK_NS     ((i64)100)

/* The clock of everything made here. */
const etl_session *hand_session(void);
timebase hand_timebase(void);

/* An empty result for etlheap_result_free(); no memory ends the test program. */
etlheap_result *hand_result_new(void);

/* What images and volumes say, through the same door as the events of a trace. */
typedef struct hand_image_spec {
    etl_event_kind kind; /* ETL_EVENT_IMAGE_LOAD ... */
    u32 pid;
    u64 base;
    u64 size_bytes;
    i64 ticks;
    const char *path;
    u32 time_date_stamp, checksum;
} hand_image_spec;

void hand_image(trace_context *context, const hand_image_spec *image);
void hand_volume(trace_context *context, const char *nt_path, const char *dos_path);

/* The identity a merge writes before an image event: PDB with guid[0] == `mark`. */
void hand_rsds(trace_context *context, const hand_image_spec *image, u8 mark, const char *pdb);
void hand_image_id(trace_context *context, const hand_image_spec *image, u32 time_date_stamp);

/* Each returns the id of what it adds. Names must outlive the result. */
u32 hand_process(etlheap_result *result, u32 pid, const char *name);
u32 hand_stack(etlheap_result *result, const u64 *frames, u32 count);

/* Appends the lifetime; its stack is a final id. */
void hand_lifetime(etlheap_result *result, const lifetime *row);

/* After the last addition: builds the module table, gives numbers to addresses, sets the end
 * of the trace. A stack may still come later. */
void hand_ready(etlheap_result *result, i64 last_ticks);

#endif
