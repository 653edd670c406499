/* trace_identity.h - identifies a trace by its content. */
#ifndef ETLHEAP_TRACE_IDENTITY_H
#define ETLHEAP_TRACE_IDENTITY_H

#include "engine/engine.h"

#include "parser/base.h"

/*
 * Computes 128 bits from the content of the file: the same under any name, never 0. ETL_ERR_MEMORY.
 *
 * They are the XXH3 hash of the log-file headers, the list of all buffers, and the records of 64
 * evenly spread buffers, including the first and the last; in a small trace, of all buffers. So a
 * large trace is not read twice, and different recordings differ in their start, buffer sizes or
 * records.
 */
etl_status trace_identify(const etl_trace *trace, u64 id[2]);

#endif
