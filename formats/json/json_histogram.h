/*
 * json_histogram.h - the `histogram` of a report document.
 */
#ifndef ETLHEAP_JSON_HISTOGRAM_H
#define ETLHEAP_JSON_HISTOGRAM_H

#include "json.h"

void etlheap_json_histogram(etlheap_json *json, const etlheap_histogram *histogram);

#endif
