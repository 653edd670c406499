/*
 * json_diff.h - what the documents of a comparison and of a trend have in common.
 */
#ifndef ETLHEAP_JSON_DIFF_H
#define ETLHEAP_JSON_DIFF_H

#include "json.h"

/* Writes a key of a row that several runs share: a process is only a name. */
void json_compared_key(etlheap_json *json, const etlheap_row *row, etlheap_key key,
                       etlheap_field field);

#endif
