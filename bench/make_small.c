/*
 * make_small.c - writes many small traces, each another one, always the same bytes.
 *
 *     make_small COUNT FOLDER        FOLDER/t00001.etl, ...
 *
 * Random workloads of the tests' generator, of 150 to 450 operations on two
 * processors in buffers of 8 KiB: 65 to 125 KB each.
 */
#include "bench.h"

#include "tests/build/scenario.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#define COUNT_MAX        100000u
#define OPERATIONS_LEAST 150u
#define OPERATIONS_RANGE 300u

static bool write_one(u32 number, const char *folder);

int main(int argc, char **argv)
{
    const unsigned long count = argc == 3 ? strtoul(argv[1], NULL, 10) : 0;
    if (count == 0 || count > COUNT_MAX) {
        fprintf(stderr, "usage: make_small COUNT FOLDER\n");
        return 2;
    }
    if (mkdir(argv[2], 0777) != 0 && errno != EEXIST) {
        fprintf(stderr, "make_small: cannot create %s\n", argv[2]);
        return 1;
    }
    for (u32 i = 1; i <= count; i++) {
        if (!write_one(i, argv[2]))
            return 1;
    }
    return 0;
}

static bool write_one(u32 number, const char *folder)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/t%05u.etl", folder, (unsigned)number);
    etl_build *const trace =
        etl_build_new(&(etl_build_options){ .path = path, .cpus = 2, .buffer_bytes = 8192 });
    scenario_run run = { .seed = number,
                         .operations = OPERATIONS_LEAST + number % OPERATIONS_RANGE,
                         .cpus = 2 };
    const bool ok =
        scenario_write(scenario_find("workload"), &run, trace) && etl_build_finish(trace);
    if (!ok)
        fprintf(stderr, "make_small: %s: %s\n", path, etl_build_error(trace));
    scenario_run_free(&run);
    etl_build_free(trace);
    return ok;
}
