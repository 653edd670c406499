/*
 * etlheap_libraries.h - what this build runs with: other libraries and the processor.
 *
 * Part of engine.h. For reports of faults: the versions are those of the libraries
 * that are loaded, or would be when they are needed, not of the headers that were compiled
 * with. Any thread.
 */
#ifndef ETLHEAP_LIBRARIES_H
#define ETLHEAP_LIBRARIES_H

#include "parser/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct etlheap_library {
    const char *name; /* "zstd" */
    char version[24]; /* "1.5.4", "not installed" */
} etlheap_library;

/* The engine's libraries, one an index from 0; false after the last. */
bool etlheap_engine_library(u32 index, etlheap_library *out);

/*
 * The version of the binary interface that this library has. 0: it is not frozen yet, and
 * structures and functions may change with each release. A program then needs the library
 * that its headers came with. From 1 on, a program runs with every library that has the
 * same number as its headers. The soname has the number, too.
 */
#define ETLHEAP_ABI_VERSION 0
u32 etlheap_abi_version(void);

/* The instructions beyond plain C that the engine uses here: "sse2", "neon", or
 * "scalar" for none. They are chosen when it is compiled. */
const char *etlheap_cpu_features(void);

/*
 * Threads that are used where `jobs` is 0: as many as there are processors that this process
 * may use, from 1 to 256. Its affinity mask and, in a container or a step of a batch system,
 * its quota of processor time are less than etlheap_online_processors(), all processors that
 * the computer has switched on.
 */
u32 etlheap_default_jobs(void);
u32 etlheap_online_processors(void);

/* An etl_run_tasks_fn, for etl_open_options: `user` points to the u32 that says how many
 * threads it uses, the calling one included; 0: etlheap_default_jobs(). */
void etlheap_run_tasks(void *user, u32 task_count, void (*fn)(void *context, u32 task),
                       void *context);

#ifdef __cplusplus
}
#endif

#endif
