/*
 * etlheap_batch.h - works on many inputs in parallel, and identifies files by content. Part of
 * engine.h.
 *
 * The caller provides the work on one input. etlheap_batch_run decides which inputs run at the same
 * time, and with how many threads each:
 *
 *     many small inputs    one thread each, the largest first
 *     few large inputs     one after the other, each with all threads
 *
 * An input is large if one thread would need longer for it than all threads for the inputs that are
 * left. The output of an input must not depend on this choice.
 */
#ifndef ETLHEAP_BATCH_H
#define ETLHEAP_BATCH_H

#include "engine.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum etlheap_batch_answer {
    ETLHEAP_BATCH_DONE,
    ETLHEAP_BATCH_AGAIN /* failed, perhaps because of other inputs: run it again, alone */
} etlheap_batch_answer;

/* Options of etlheap_batch_run. All three functions are required; `work` and `goes_on` run on
 * several threads at once. */
typedef struct etlheap_batch_options {
    size_t size;                 /* sizeof(etlheap_batch_options) */
    uint32_t jobs;               /* threads; 0: etlheap_default_jobs() */
    uint64_t memory_bytes_max;   /* inputs that may exceed their share run alone; 0: no limit */
    uint32_t count;              /* number of inputs */
    const uint64_t *input_bytes; /* approximate size of each */
    /* Works on input `index` with `jobs` threads. Called on any thread, for several inputs at the
     * same time, but never twice at a time for one. With is_alone nothing else runs, and the answer
     * is final. */
    etlheap_batch_answer (*work)(void *user, uint32_t index, uint32_t jobs, bool is_alone);
    /* Called after an input is done, on the thread that did it: one call at a time, in the order in
     * which inputs finish. */
    void (*finished)(void *user, uint32_t index);
    /* Called before each input, on any thread. Return false to start no more inputs. */
    bool (*goes_on)(void *user);
    void *user;
} etlheap_batch_options;

/* Runs the batch. Returns when all inputs are done, or when goes_on returned false and all running
 * work has finished. options is borrowed for the call. ETL_ERR_ARGUMENT (a function is missing),
 * ETL_ERR_MEMORY; then nothing was started. */
etl_status etlheap_batch_run(const etlheap_batch_options *options, etl_error *err);

/* Identifies content: the XXH3-128 hash of some bytes. Written with the high half first. */
typedef struct etlheap_content_id {
    uint64_t high, low;
} etlheap_content_id;

/* The id of bytes in memory. Any thread. */
etlheap_content_id etlheap_content_of(const void *bytes, size_t size);

/* The id of a file's content. Reads the file from front to end and sets *size_bytes to the number
 * of bytes read. Any thread. ETL_ERR_IO, ETL_ERR_MEMORY. */
etl_status etlheap_content_of_file(const char *path, etlheap_content_id *out, uint64_t *size_bytes,
                                   etl_error *err);

/* The version of the store format that this library writes. */
uint32_t etlheap_store_version(void);

#ifdef __cplusplus
}
#endif

#endif
