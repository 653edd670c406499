/* summary_traces.h - lists the traces in a summary, for `info`. */
#ifndef FORMATS_SUMMARY_TRACES_H
#define FORMATS_SUMMARY_TRACES_H

#include "formats/parts/tabular.h"
#include "json.h"

/* Writes the keys `every_ns` and `traces`; nothing if the result is not a summary. */
void etlheap_json_traces(etlheap_json *json, const etlheap_result *result);

/* Writes the number of traces and the length of windows, then all traces in the order of their
 * start; nothing if the result is not a summary. ETL_ERR_MEMORY. */
void etlheap_text_summary(const etlheap_result *result, const etlheap_layout *layout,
                          etlheap_sink *sink);
etl_status etlheap_text_traces(const etlheap_result *result, const etlheap_layout *layout,
                               etlheap_sink *sink);

#endif
