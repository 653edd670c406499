/*
 * export_samples.h - what a metric counts, by groups: what profiles are made of.
 *
 * Profilers know samples: a stack and a value. A metric is a question to the engine
 * whose rows are such samples; what size and count of a row are is said once, here.
 */
#ifndef ETLHEAP_EXPORT_SAMPLES_H
#define ETLHEAP_EXPORT_SAMPLES_H

#include "formats/formats.h"

/* The frame of memory whose stack was not recorded. */
#define EXPORT_NO_STACK "[no stack]"

/* Rows of the table that have nothing of the metric (export_count is 0) are to be
 * passed over. Some metrics have a row for each type besides the keys asked for. */
typedef struct export_samples {
    const etlheap_table *table; /* by the keys asked for, largest size first; frames are named */
    etlheap_measure size, count;
} export_samples;

/* keys: what rows are grouped by; TYPE is not among them. Errors as of etlheap_aggregate. To be closed after a
 * success. */
etl_status export_samples_open(const etlheap_export_request *request, const etlheap_key *keys,
                               u32 key_count, export_samples *out, etl_error *err);
void export_samples_close(export_samples *samples);

/*
 * The lifetimes that a metric counts, for those who walk over them. `out` borrows from
 * the request's query and from `moments`. Errors as of etlheap_find_peaks.
 */
etl_status export_samples_select(const etlheap_export_request *request, etlheap_query *out,
                                 i64 moments[ETLHEAP_KIND_CAPACITY], etl_error *err);

/* The rows of a report by these keys, largest outstanding size first; frames are named.
 * Errors as of etlheap_aggregate. Owned by the caller after a success. */
etl_status export_table_open(const etlheap_export_request *request, const etlheap_key *keys,
                             u32 key_count, const etlheap_table **out, etl_error *err);

static inline i64 export_size(const export_samples *samples, const etlheap_row *row)
{
    return row->measures[samples->size];
}

static inline i64 export_count(const export_samples *samples, const etlheap_row *row)
{
    return row->measures[samples->count];
}

#endif
