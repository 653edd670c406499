/* json_sources.c - writes lines of source code as JSON. */
#include "formats/parts/source_lines.h"
#include "json.h"

/* Whether the file is the one that was compiled; null: the PDB does not say. */
static void write_state(etlheap_json *json, etlheap_source_state state)
{
    if (state == ETLHEAP_SOURCE_UNSURE)
        etlheap_json_null(json, "changed");
    else
        etlheap_json_bool(json, "changed", state == ETLHEAP_SOURCE_CHANGED);
}

static void write_lines(etlheap_json *json, const etlheap_source_part *part)
{
    const char *at = part->text;
    etlheap_json_array(json, "lines");
    for (u32 i = 0; i < part->line_count; i++) {
        const size_t size = strcspn(at, "\n");
        etlheap_json_string_bytes(json, NULL, at, size);
        at += size + 1;
    }
    etlheap_json_array_close(json);
}

static void write_part(etlheap_json *json, const etlheap_source_part *part)
{
    etlheap_json_object(json, NULL);
    etlheap_json_string(json, "file", part->file);
    etlheap_json_u64(json, "line", part->line);
    etlheap_json_string(json, "status", etlheap_source_status_word(part->status));
    etlheap_json_string(json, "path", part->path);
    write_state(json, part->state);
    if (part->link)
        etlheap_json_string(json, "link", part->link);
    if (part->line_count > 0)
        etlheap_json_u64(json, "first_line", part->first_line);
    else
        etlheap_json_null(json, "first_line");
    write_lines(json, part);
    etlheap_json_object_close(json);
}

etl_status etlheap_source_lines_write_json(const etlheap_source_lines *lines, etlheap_sink *sink)
{
    etlheap_json json = etlheap_json_begin(sink, 3);
    etlheap_json_object(&json, NULL);
    etlheap_json_string(&json, "schema", "etlheap-sources-1");
    etlheap_json_array(&json, "sources");
    for (u32 i = 0; i < lines->count; i++)
        write_part(&json, &lines->at[i]);
    etlheap_json_array_close(&json);
    etlheap_json_object_close(&json);
    etlheap_json_end(&json);
    return ETL_OK;
}
