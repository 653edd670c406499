/*
 * export_html_command.c - the words that the commands on an HTML report begin and end with: its
 * inputs, and the options that select and name what it shows. The page's script quotes them, and
 * says once if they lack a login.
 */
#include "export_html.h"

#include "formats/parts/layout_read.h"

static void write_words(etlheap_json *json, const char *key, etlheap_typed words)
{
    etlheap_json_array(json, key);
    for (u32 i = 0; i < words.count; i++)
        etlheap_json_string(json, NULL, words.at[i]);
    etlheap_json_array_close(json);
}

void html_write_command(etlheap_json *json, const etlheap_export_request *request)
{
    const etlheap_trace_info *const trace = etlheap_result_trace(request->result);
    const etlheap_typed files = { trace->files, trace->file_count };
    write_words(json, "inputs", request->inputs.count > 0 ? request->inputs : files);
    write_words(json, "selection", request->selection);
    const etl_hint login = request->lacks_login ? ETL_HINT_LOGIN : ETL_HINT_NONE;
    etlheap_json_string(json, "login_advice", etlheap_hint_words(request->hint, login));
}
