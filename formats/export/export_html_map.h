/*
 * export_html_map.h - the map of address space in an HTML report.
 */
#ifndef ETLHEAP_EXPORT_HTML_MAP_H
#define ETLHEAP_EXPORT_HTML_MAP_H

#include "formats/json/json.h"

/* Makes the map at the end of the query's window; *out is NULL if the result has no addresses.
 * Errors as for etlheap_ask, except ETL_ERR_ARGUMENT. */
etl_status html_map_ask(const etlheap_result *result, const etlheap_query *query, etlheap_map **out,
                        etl_error *err);

/* Writes the member `map`: null, or the largest regions of the processes with the most memory. */
void html_map_write(const etlheap_map *map, etlheap_json *json, etlheap_text *scratch);

#endif
