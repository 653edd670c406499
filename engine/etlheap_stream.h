/*
 * etlheap_stream.h - every record of one or more traces, in time order. Part of engine.h.
 *
 * Use this to print or search records. parser.h reads the records of single buffers, which are not
 * in time order across processors. Only one thread may use a stream at a time.
 */
#ifndef ETLHEAP_STREAM_H
#define ETLHEAP_STREAM_H

#include "parser/parser.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct etlheap_stream etlheap_stream;

/*
 * Opens a stream over all records of the traces, ordered by (time, file, CPU, position). Keeps one
 * buffer in memory per CPU and trace. The array and the traces are borrowed until the stream is
 * closed. On success the caller owns *out. ETL_ERR_ARGUMENT (no trace), ETL_ERR_MEMORY.
 */
etl_status etlheap_stream_open(etl_trace *const *traces, uint32_t trace_count, etlheap_stream **out,
                               etl_error *err);
void etlheap_stream_close(etlheap_stream *stream); /* NULL is allowed */

/* A record, with its time in the first trace's clock. Its views are valid until the next call. */
typedef struct etlheap_stream_record {
    etl_record record;
    /* index of the trace, and of the session in it */
    uint32_t trace;
    uint32_t session;
    int64_t ticks; /* in the first trace's clock */
    int64_t time_ns;
    etl_description description; /* set after etlheap_stream_describe */
    etl_diag_counts *diag;       /* the stream's; pass it to etl_walk_begin */
} etlheap_stream_record;

/*
 * From now on, sets the description of records that describe themselves or that the traces
 * describe. Reads all buffers once more when the first event without its own description turns up.
 */
void etlheap_stream_describe(etlheap_stream *stream);

/* Reads the next record. False after the last one, and if memory ran out: then
 * etlheap_stream_status returns ETL_ERR_MEMORY, else ETL_OK. */
bool etlheap_stream_next(etlheap_stream *stream, etlheap_stream_record *out);
etl_status etlheap_stream_status(const etlheap_stream *stream);

/* Damage found so far. Owned by the stream. */
const etl_diag_counts *etlheap_stream_diagnostics(const etlheap_stream *stream);

#ifdef __cplusplus
}
#endif

#endif
