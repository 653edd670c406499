/*
 * etlheap_stream.h - every record of several traces, in time order.
 *
 * Part of engine.h.
 */
#ifndef ETLHEAP_STREAM_H
#define ETLHEAP_STREAM_H

#include "parser/parser.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct etlheap_stream etlheap_stream;

/*
 * Opens a merged view of all records of the traces, ordered by (time, file, CPU,
 * position). Memory: one buffer per CPU stream.
 */
etl_status etlheap_stream_open(etl_trace *const *traces, u32 trace_count, etlheap_stream **out,
                               etl_error *err);
void etlheap_stream_close(etlheap_stream *stream); /* NULL is allowed */

/* A record and the session whose clock it is in, and that as ticks and ns of the
 * first trace's clock. The record's views are valid until the next call. */
typedef struct etlheap_stream_record {
    etl_record record;
    u32 trace;
    u32 session;
    i64 ticks; /* in the first trace's clock; the record's own when clocks agree */
    i64 time_ns;
    etl_description description; /* after etlheap_stream_describe; else ETL_DESCRIPTION_NONE */
    etl_diag_counts *diag;       /* of the stream: where a walk over the fields counts */
} etlheap_stream_record;

/*
 * From now on, records of events that describe themselves, or that the traces describe,
 * have their description. Descriptions are looked for when the first event turns up that
 * has none of its own: then all buffers are read once more.
 */
void etlheap_stream_describe(etlheap_stream *stream);

/* False after the last record, and when there is no memory to go on: ask
 * etlheap_stream_status, which then is ETL_ERR_MEMORY and else ETL_OK. */
bool etlheap_stream_next(etlheap_stream *stream, etlheap_stream_record *out);
etl_status etlheap_stream_status(const etlheap_stream *stream);

/* Damage met so far. */
const etl_diag_counts *etlheap_stream_diagnostics(const etlheap_stream *stream);

#ifdef __cplusplus
}
#endif

#endif
