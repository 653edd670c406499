/*
 * trace_check.h - what must hold of the analysis of any bytes.
 *
 * The analysis of damaged input is a partial answer, and nobody knows which one is
 * right. But it must be the same one on all ways to it: with one thread and with
 * two, from an event list, from lifetimes and from a store; and what every row of it
 * says must add up. Where that fails the program is stopped, which a fuzzer sees.
 * Under a fuzzer, inputs go some of these ways only, chosen by their bytes
 * (FUZZ_SAMPLE); what it keeps goes all of them in replay.c.
 */
#ifndef FUZZ_TRACE_CHECK_H
#define FUZZ_TRACE_CHECK_H

#include "fuzz.h"

/* Analyzes the bytes as one trace on all ways, and reads every record. Bytes that
 * are no trace are fine. `slice_bytes` as in etlheap_options. */
void trace_check(const u8 *data, size_t size, u64 slice_bytes);

#endif
