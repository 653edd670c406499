/*
 * summary_traces.h - the traces that a summary was made of, as `info` lists them.
 */
#ifndef FORMATS_SUMMARY_TRACES_H
#define FORMATS_SUMMARY_TRACES_H

#include "formats/parts/tabular.h"
#include "json.h"

/* The keys `every_ns` and `traces`; nothing unless the result is a summary. */
void etlheap_json_traces(etlheap_json *json, const etlheap_result *result);

/* How many traces there are and how long the windows; then all traces in the order
 * of their start: nothing unless the result is a summary. ETL_ERR_MEMORY. */
void etlheap_text_summary(const etlheap_result *result, const etlheap_layout *layout,
                          etlheap_sink *sink);
etl_status etlheap_text_traces(const etlheap_result *result, const etlheap_layout *layout,
                               etlheap_sink *sink);

#endif
