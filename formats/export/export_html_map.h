/*
 * export_html_map.h - the map of address space in an HTML report.
 */
#ifndef ETLHEAP_EXPORT_HTML_MAP_H
#define ETLHEAP_EXPORT_HTML_MAP_H

#include "formats/json/json.h"

#define HTML_MAP_PINS 40u /* blocks that keep memory committed */

/* Writes the member `map`: null, or the largest regions of the processes with the most memory. */
void html_map_write(const etlheap_map *map, etlheap_json *json, etlheap_text *scratch);

#endif
