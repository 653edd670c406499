/*
 * etlheap_libraries.h - libraries, instructions and processors that etlheap runs with. Part of
 * engine.h.
 *
 * For bug reports: versions are those of the libraries that are loaded, or would be loaded when
 * needed, not of the headers etlheap was compiled with. Any thread.
 */
#ifndef ETLHEAP_LIBRARIES_H
#define ETLHEAP_LIBRARIES_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A library and its version. */
typedef struct etlheap_library {
    const char *name; /* "zstd" */
    char version[24]; /* "1.5.4", "not installed" */
} etlheap_library;

/* The libraries that the engine uses, by index from 0. False after the last. */
bool etlheap_engine_library(uint32_t index, etlheap_library *out);

/*
 * [stable] The version of the binary interface; also in the soname. A program that calls stable
 * functions alone runs with every library that has the same number as its headers, older or newer
 * (docs/c_api.md). Experimental functions may change with each release.
 */
#define ETLHEAP_ABI_VERSION 1
uint32_t etlheap_abi_version(void);

/* The instruction set that the engine uses: "sse2", "neon", or "scalar" for none. It is chosen when
 * etlheap is compiled. */
const char *etlheap_cpu_features(void);

/*
 * The number of threads used if `jobs` is 0: the processors that this process may use, from 1 to
 * 256. An affinity mask or, in a container, a quota of processor time can make this less than
 * etlheap_online_processors(), which counts all processors that are switched on.
 */
uint32_t etlheap_default_jobs(void);
uint32_t etlheap_online_processors(void);

/* An etl_run_tasks_fn for etl_open_options. `user` points to a uint32_t with the number of threads
 * to use, including the calling one; 0: etlheap_default_jobs(). */
void etlheap_run_tasks(void *user, uint32_t task_count, void (*fn)(void *context, uint32_t task),
                       void *context);

#ifdef __cplusplus
}
#endif

#endif
