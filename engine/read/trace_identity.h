/*
 * trace_identity.h - by what a trace is known again.
 */
#ifndef ETLHEAP_TRACE_IDENTITY_H
#define ETLHEAP_TRACE_IDENTITY_H

#include "engine/engine.h"

/*
 * 128 bits of what the file holds, the same under any name, never 0. ETL_ERR_MEMORY.
 *
 * XXH3 of the log-file headers, the list of all buffers, and the records of 64
 * buffers that are spread evenly, the first and the last among them: all of them in
 * a small trace. So a large trace is not read twice, and two recordings that
 * differ have different starts, buffer sizes or records.
 */
etl_status trace_identify(const etl_trace *trace, u64 id[2]);

#endif
