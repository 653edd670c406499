/*
 * etlheap_batch.h - many inputs at once, and by what a file is known again.
 *
 * Part of engine.h. What is done with an input is the caller's business; this says
 * which inputs are worked on side by side, and with how many threads each:
 *
 *     many and small     a thread for each, the largest first
 *     few and large      one after the other, each with all threads
 *
 * An input is large when alone on one thread it would take longer than all that
 * is left on the others. Nothing that an input gives may depend on that.
 */
#ifndef ETLHEAP_BATCH_H
#define ETLHEAP_BATCH_H

#include "engine.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum etlheap_batch_answer {
    ETLHEAP_BATCH_DONE,
    ETLHEAP_BATCH_AGAIN /* what went wrong may be another input's fault: again, alone */
} etlheap_batch_answer;

typedef struct etlheap_batch_options {
    size_t size;            /* sizeof(etlheap_batch_options) */
    u32 jobs;               /* threads; 0: etlheap_default_jobs() */
    u64 memory_bytes_max;   /* inputs whose share it may exceed are worked on alone; 0: no limit */
    u32 count;              /* inputs */
    const u64 *input_bytes; /* of each its size, about */
    /* Works on an input with that many threads. Called by any thread, for several
     * inputs at once, but never twice for one at a time; what it answers alone
     * (is_alone: nothing else runs) is final. */
    etlheap_batch_answer (*work)(void *user, u32 index, u32 jobs, bool is_alone);
    /* After the last work on an input, on the thread that did it. One call at a
     * time, in order of finishing. */
    void (*finished)(void *user, u32 index);
    /* Asked before each input, by any thread; false: no more are begun. */
    bool (*goes_on)(void *user);
    void *user;
} etlheap_batch_options;

/* Returns when all is done, or nothing runs any more and goes_on said no.
 * ETL_ERR_MEMORY: then nothing was begun. */
etl_status etlheap_batch_run(const etlheap_batch_options *options, etl_error *err);

/* XXH3-128 of bytes, in the order in which the sum is written: high half first. */
typedef struct etlheap_content_id {
    u64 high, low;
} etlheap_content_id;

etlheap_content_id etlheap_content_of(const void *bytes, size_t size);

/*
 * The same of all bytes of a file, which is read from front to end. `*size_bytes`
 * is what it held then. ETL_ERR_IO, ETL_ERR_MEMORY.
 */
etl_status etlheap_content_of_file(const char *path, etlheap_content_id *out, u64 *size_bytes,
                                   etl_error *err);

/* The version of the format that stores are written in. */
u32 etlheap_store_version(void);

#ifdef __cplusplus
}
#endif

#endif
