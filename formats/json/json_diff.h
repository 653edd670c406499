/*
 * json_diff.h - the document of a comparison, as a file or as the data of a page.
 */
#ifndef ETLHEAP_JSON_DIFF_H
#define ETLHEAP_JSON_DIFF_H

#include "json.h"

/* Like etlheap_write_diff_json. in_markup: escapes every character that could begin a tag. */
etl_status json_diff_write(const etlheap_diff_answer *answer, const etlheap_layout *given,
                           bool in_markup, etlheap_sink *sink);

/* Writes a key of a row that several runs share: a process is only a name. */
void json_compared_key(etlheap_json *json, const etlheap_row *row, etlheap_key key,
                       etlheap_field field);

#endif
