/*
 * etlheap_part.h - stores of a part of a recording. Part of engine.h.
 *
 * A part has the memory of some processes and kinds in a window: every block and range that belongs
 * to the window, whole, including those that were open when it began. So a question about the part
 * has the same answer as the same question, with the same window, processes and kinds, about the
 * whole recording. Times stay those of the recording.
 *
 *     recording   0 s ├────────────────────────────────────────┤ 60 s
 *     part                      ├──────────┤ 20 s to 30 s
 *     blocks          ├───────────────┤   ├───┤   ├────────        kept, with all their times
 *                       ├───┤                        ├──┤          left out
 *
 * A result that was opened from such a store answers questions without a window, kinds or processes
 * for its part, and refuses a question about anything outside with ETL_ERR_UNSUPPORTED.
 */
#include "engine.h" /* before the guard: it includes this header */

#ifndef ETLHEAP_PART_H
#define ETLHEAP_PART_H

#ifdef __cplusplus
extern "C" {
#endif

/* A part of a recording. Start from etlheap_part_whole(). */
typedef struct etlheap_part {
    size_t size;                  /* sizeof(etlheap_part) */
    int64_t from_ns, to_ns;       /* INT64_MIN, INT64_MAX: where the recording begins and ends */
    uint32_t kinds;               /* a bit per etlheap_kind; 0: all */
    const char *const *processes; /* words as in etlheap_query; borrowed */
    uint32_t process_count;       /* 0: all */
} etlheap_part;

static inline etlheap_part etlheap_part_whole(void)
{
    const etlheap_part whole = { sizeof(etlheap_part), INT64_MIN, INT64_MAX, 0, NULL, 0 };
    return whole;
}

/* The part that a result has; NULL: a whole recording. Valid until the result is freed. */
const etlheap_part *etlheap_result_part(const etlheap_result *result);

/* True if a file begins like a store of a whole recording with its own names: not a summary, a part
 * or an anonymised store. Pass at least its first 18 bytes. */
bool etlheap_is_whole_store(etl_bytes file);

/*
 * Writes a store of a part of a store. `from` must have been opened with etlheap_open_store for a
 * question about all events (ETLHEAP_ASK_EVENTS). Of `options`, store, jobs, memory_bytes_max,
 * progress and cancel count; store->part says which part. A part of a part is what both have in
 * common. Errors: ETL_ERR_UNSUPPORTED (the part reaches beyond the one that the store has),
 * ETL_ERR_ARGUMENT (a summary, or a word that names no process), ETL_ERR_CORRUPT, ETL_ERR_IO,
 * ETL_ERR_MEMORY, ETL_ERR_CANCELLED. For a part of traces, call etlheap_analyze.
 */
etl_status etlheap_store_part(const etlheap_result *from, const etlheap_options *options,
                              etl_error *err);

#ifdef __cplusplus
}
#endif

#endif
