/*
 * module_bench.h - a module table made of image events by hand.
 */
#ifndef TESTS_MODULE_BENCH_H
#define TESTS_MODULE_BENCH_H

#include "engine/context/modules.h"

typedef struct module_bench {
    timebase base;
    trace_context context;
    module_table modules;
} module_bench;

module_bench *module_bench_open(void);
void module_bench_close(module_bench *bench);

/* Builds the table of the images that the context was told of. */
void module_bench_build(module_bench *bench);

#endif
