/* json_report.h - shared by the documents of reports. */
#ifndef ETLHEAP_JSON_REPORT_H
#define ETLHEAP_JSON_REPORT_H

#include "formats/parts/call_tree.h"
#include "json.h"

/* Writes the `frames` and `nodes` of a call tree. */
void etlheap_json_tree(etlheap_json *json, const etlheap_table *table, const call_tree *tree,
                       bool *no_memory);

#endif
