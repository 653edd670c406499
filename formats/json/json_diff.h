/*
 * json_diff.h - the document of a comparison, as a file or as the data of a page.
 */
#ifndef ETLHEAP_JSON_DIFF_H
#define ETLHEAP_JSON_DIFF_H

#include "json.h"

/* As etlheap_write_diff_json. in_markup: no character of it begins a tag. */
etl_status json_diff_write(const etlheap_diff_answer *answer, const etlheap_layout *given,
                           bool in_markup, etlheap_sink *sink);

/* A key of a row that several runs have in common: a process is a name alone. */
void json_compared_key(etlheap_json *json, const etlheap_row *row, etlheap_key key,
                       etlheap_field field);

#endif
