/* trace_counts.h - counts what a trace has, by a sample of a given size. */
#ifndef ETLHEAP_TRACE_COUNTS_H
#define ETLHEAP_TRACE_COUNTS_H

#include "engine/etlheap_counts.h"
#include "parser/base.h"

/* Counts an indexed trace; reads about so many bytes of it. ETL_ERR_MEMORY. */
etl_status trace_counts_sample(const etl_trace *trace, u64 sample_bytes, etlheap_trace_counts *out,
                               etl_error *err);

#endif
