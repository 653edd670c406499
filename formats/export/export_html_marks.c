/* export_html_marks.c - marks of an HTML report: the first ones, by time. */
#include "export_html.h"

#define HTML_MARKS_MAX 200u /* more would hide the chart */

void html_write_marks(etlheap_json *json, const etlheap_result *result, etlheap_text *scratch)
{
    const etlheap_marks *const marks = etlheap_result_marks(result);
    const u32 shown = marks->count < HTML_MARKS_MAX ? marks->count : HTML_MARKS_MAX;
    etlheap_json_array(json, "marks");
    for (u32 i = 0; i < shown; i++) {
        etlheap_text_clear(scratch);
        html_name_add(scratch, marks->at[i].name);
        if (marks->at[i].number > 1)
            etlheap_text_add_format(scratch, "#%u", (unsigned)marks->at[i].number);
        etlheap_json_object(json, NULL);
        etlheap_json_string(json, "name", etlheap_text_of(scratch));
        etlheap_json_i64(json, "time_ns", marks->at[i].time_ns);
        etlheap_json_object_close(json);
    }
    etlheap_json_array_close(json);
    etlheap_json_u64(json, "marks_omitted", marks->count - shown);
}
