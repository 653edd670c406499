/* json_rows.h - shared by documents with rows of a table. */
#ifndef ETLHEAP_JSON_ROWS_H
#define ETLHEAP_JSON_ROWS_H

#include "formats/parts/allocation_rows.h"
#include "formats/parts/report_columns.h"
#include "json.h"

/* Writes the `frames` and `stacks` of a table. Frames are listed once and referred to by index,
 * because stacks share most of them. */
void etlheap_json_frames(etlheap_json *json, const etlheap_table *table);
void etlheap_json_stacks(etlheap_json *json, const etlheap_table *table);

/* Writes the `window` and `group_by` of a table. */
void etlheap_json_window(etlheap_json *json, const etlheap_result *result,
                         const etlheap_table *table);
void etlheap_json_group_by(etlheap_json *json, const etlheap_table *table);

/* Writes a suspect, except its keys. `scratch` is overwritten. */
void etlheap_json_suspect(etlheap_json *json, const etlheap_row *row,
                          const etlheap_suspect *suspect, etlheap_text *scratch);

/* Writes one frame as a member of an array. */
void etlheap_json_frame(etlheap_json *json, const etlheap_frame *frame);

/* Writes the value of a field, null if unknown, or those of columns. */
void etlheap_json_value(etlheap_json *json, etlheap_field field, const etlheap_value *value);
void etlheap_json_values(etlheap_json *json, const etlheap_field_list *columns,
                         const etlheap_value *values);

/* Writes a key of a row as one or two members: a process has a name and an id, a type also WPA's
 * impacting type. */
void etlheap_json_key(etlheap_json *json, const etlheap_row *row, etlheap_key key);

/* Writes the measures of a row that are columns; null if unknown. */
void etlheap_json_measures(etlheap_json *json, const report_columns *columns,
                           const etlheap_row *row);

/* Writes the row's stack (etlheap_stack_key) as texts of its frames, and module, function, file and
 * line of the innermost one, for lines that stand alone; null: none, or unknown. */
void etlheap_json_stack_texts(etlheap_json *json, const etlheap_table *table,
                              const etlheap_row *row, etlheap_frame_texts *texts);

/* Writes the stack that freed, or its site, in the same way. */
void etlheap_json_free_keys(etlheap_json *json, const etlheap_table *table, const etlheap_row *row,
                            etlheap_key key, etlheap_frame_texts *texts);

#endif
