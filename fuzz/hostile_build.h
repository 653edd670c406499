/*
 * hostile_build.h - traces in which sizes and times are anything, made from fuzz bytes.
 *
 * The programs of fuzz_built.c have sizes below 256 and times that advance. What writes an answer
 * must also stand sizes of 2^63 and moments at both ends of time, so these have both:
 *
 *     session  +0 flags  +1 field to break  +2 its value, +3 shifted  +4 .. +7 of the target
 *     event    +0 what  +1 who  +2 time step  +3 heap, process  +4 address
 *              +5 size, +6 shifted  +7 stack
 */
#ifndef FUZZ_HOSTILE_BUILD_H
#define FUZZ_HOSTILE_BUILD_H

#include "formats/formats.h"
#include "tests/build/etl_build.h"

#define HOSTILE_STEP_BYTES   8u
#define HOSTILE_STEPS_MAX    1500u
#define HOSTILE_MEMORY_BYTES ((u64)512 << 20)

/* A number of any magnitude: up to 255, times a power of two. */
u64 hostile_number(u8 value, u8 shift);

/* A trace and its analysis. `result` borrows from the other two. */
typedef struct hostile_run {
    etl_build *built;
    etl_trace *trace;
    etlheap_result *result;
} hostile_run;

/* Analyzes the trace of a program for these questions; false if it is too short, or refused. Call
 * hostile_close in any case. */
bool hostile_open(hostile_run *run, const u8 *data, size_t size, const etlheap_question *questions,
                  u32 count);
void hostile_close(hostile_run *run);

/* A watcher of a sink (etlheap_sink_watch) that writes to a text. Stops the process if the output
 * of `steps` events is larger than any sound one would be. */
typedef struct hostile_bound {
    const etlheap_text *text;
    size_t bytes_max;
} hostile_bound;

hostile_bound hostile_bound_of(const etlheap_text *text, size_t program_bytes);
bool hostile_is_bounded(void *bound);

#endif
