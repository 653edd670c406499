/*
 * export_samples.h - what a metric counts, by groups: the data of profiles.
 *
 * Profilers have samples: a stack and a value. A metric is a question to the engine whose rows are
 * such samples. This file defines the size and count of a row.
 */
#ifndef ETLHEAP_EXPORT_SAMPLES_H
#define ETLHEAP_EXPORT_SAMPLES_H

#include "formats/formats.h"

#include "parser/base.h"

/* The frame for memory without a recorded stack. */
#define EXPORT_NO_STACK "[no stack]"

/* Samples. Skip rows without a value (export_count is 0). For some metrics, rows are also divided
 * by type. */
typedef struct export_samples {
    etlheap_table *table; /* by the requested keys, largest size first, with named frames */
    etlheap_measure size, count;
} export_samples;

/* Opens samples grouped by `keys`, which must not include TYPE. Close them after a success. Errors
 * as for etlheap_aggregate. */
etl_status export_samples_open(const etlheap_export_request *request, const etlheap_key *keys,
                               u32 key_count, export_samples *out, etl_error *err);
void export_samples_close(export_samples *samples);

/* Makes the query for the lifetimes that a metric counts, to walk over them. `out` borrows from the
 * request's query and from `moments`. Errors as for etlheap_find_peaks. */
etl_status export_samples_select(const etlheap_export_request *request, etlheap_query *out,
                                 i64 moments[ETLHEAP_KIND_CAPACITY], etl_error *err);

/* Makes the rows of a report by these keys, largest outstanding size first, with named frames. The
 * caller owns *out. Errors as for etlheap_aggregate. */
etl_status export_table_open(const etlheap_export_request *request, const etlheap_key *keys,
                             u32 key_count, etlheap_table **out, etl_error *err);

/* The length of windows that people would choose, 1, 2 or 5 times a power of ten, so that the
 * query's window has fewer than `windows_max` of them, and at least two fifths as many. */
i64 export_window_length(const etlheap_export_request *request, u32 windows_max);

static inline i64 export_size(const export_samples *samples, const etlheap_row *row)
{
    return row->measures[samples->size];
}

static inline i64 export_count(const export_samples *samples, const etlheap_row *row)
{
    return row->measures[samples->count];
}

#endif
