/*
 * bench.h - what the programs of the benchmark share: a clock and memory.
 */
#ifndef BENCH_H
#define BENCH_H

#include "parser/base.h"

/* Seconds of a clock that never goes back. */
double bench_now_seconds(void);

/* Zeroed memory, or abort: a benchmark without memory has nothing to tell. */
void *bench_allocate(size_t count, size_t size);

#endif
