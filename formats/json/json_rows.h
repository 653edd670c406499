/*
 * json_rows.h - what documents with the rows of a table have in common.
 */
#ifndef ETLHEAP_JSON_ROWS_H
#define ETLHEAP_JSON_ROWS_H

#include "formats/parts/allocation_rows.h"
#include "json.h"

/* The `frames` and `stacks` of a table. Frames are listed once and referred to by
 * index: stacks share most of them. */
void etlheap_json_frames(etlheap_json *json, const etlheap_table *table);
void etlheap_json_stacks(etlheap_json *json, const etlheap_table *table);

/* The `window` and `group_by` of a table. */
void etlheap_json_window(etlheap_json *json, const etlheap_table *table);
void etlheap_json_group_by(etlheap_json *json, const etlheap_table *table);

/* What is known of a suspect besides its keys. `scratch` is overwritten. */
void etlheap_json_suspect(etlheap_json *json, const etlheap_row *row,
                          const etlheap_suspect *suspect, etlheap_text *scratch);

/* One frame, as a member of an array. */
void etlheap_json_frame(etlheap_json *json, const etlheap_frame *frame);

/* The member or members that say a row's key. Some keys are two: a process is a
 * name and an id, a type has WPA's word for its effect beside it. */
void etlheap_json_key(etlheap_json *json, const etlheap_row *row, etlheap_key key);

/* The measures that rows of the table have; null for what is not known. */
void etlheap_json_measures(etlheap_json *json, const etlheap_table *table, const etlheap_row *row);

/* The row's stack as the texts of its frames, and the module, function, file and line of the
 * innermost one, for lines that stand alone; null: none, or not known. */
void etlheap_json_stack_texts(etlheap_json *json, const etlheap_table *table,
                              const etlheap_row *row, etlheap_frame_texts *texts);

/* The stack that freed, or its site, as texts, likewise. */
void etlheap_json_free_keys(etlheap_json *json, const etlheap_table *table, const etlheap_row *row,
                            etlheap_key key, etlheap_frame_texts *texts);

#endif
