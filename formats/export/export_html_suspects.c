/*
 * export_html_suspects.c - the `suspects` of an HTML report's document.
 *
 * null if the input has no times, by which suspects are told. Otherwise:
 *
 *     groups    how many groups have blocks that are never freed
 *     hidden    how many suspects are left out
 *     rows      those with the highest scores, as JSON of `report --suspects` has them, but with
 *               the texts of their frames in place of numbers
 */
#include "export_html.h"

#include "formats/io/text_buffer.h"
#include "formats/json/json_rows.h"

#define SUSPECTS_MAX 100u
#define FRAMES_MAX   16u

static void write_frames(etlheap_json *json, const etlheap_table *table, const etlheap_row *row,
                         etlheap_text *scratch)
{
    const etlheap_indices frames = etlheap_row_frames(table, row);
    const u32 shown = (u32)etl_min_u64(frames.count, FRAMES_MAX);
    etlheap_json_array(json, "frames");
    for (u32 i = 0; i < shown; i++) {
        etlheap_text_clear(scratch);
        etlheap_text_add_function(scratch, &table->frames[frames.at[i]]);
        etlheap_text_add_source(scratch, &table->frames[frames.at[i]]);
        etlheap_json_string(json, NULL, etlheap_text_of(scratch));
    }
    etlheap_json_array_close(json);
    etlheap_json_u64(json, "frames_left", frames.count - shown);
}

void html_write_suspects(etlheap_json *json, const etlheap_suspects *suspects,
                         etlheap_text *scratch)
{
    if (!suspects) {
        etlheap_json_null(json, "suspects");
        return;
    }
    const etlheap_table *const table = suspects->table;
    const u32 shown = (u32)etl_min_u64(table->row_count, SUSPECTS_MAX);
    etlheap_json_object(json, "suspects");
    etlheap_json_u64(json, "groups", suspects->group_count);
    etlheap_json_u64(json, "hidden", table->row_count - shown);
    etlheap_json_array(json, "rows");
    for (u32 i = 0; i < shown; i++) {
        etlheap_json_object(json, NULL);
        etlheap_json_key(json, &table->rows[i], ETLHEAP_KEY_KIND);
        etlheap_json_key(json, &table->rows[i], ETLHEAP_KEY_PROCESS);
        write_frames(json, table, &table->rows[i], scratch);
        etlheap_json_suspect(json, &table->rows[i], &suspects->rows[i], scratch);
        etlheap_json_object_close(json);
    }
    etlheap_json_array_close(json);
    etlheap_json_object_close(json);
}
