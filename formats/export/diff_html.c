/*
 * diff_html.c - a comparison as one HTML file that needs nothing else.
 *
 * The page is formats/html/diff.html; its data is the document that --format json writes
 * (json_diff.c), with the characters escaped that could begin a tag.
 */
#include "export_html.h"
#include "formats/json/json_diff.h"
#include "formats/writers.h"

etl_status etlheap_write_diff_html(const etlheap_diff_answer *answer, const etlheap_layout *layout,
                                   etlheap_sink *sink)
{
    etl_status status = ETL_OK;
    for (const char *const *line = diff_page_html; status == ETL_OK && *line != NULL; line++) {
        if (strcmp(*line, "@style@\n") == 0)
            html_write_lines(diff_page_css, sink);
        else if (strcmp(*line, "@script@\n") == 0)
            html_write_lines(diff_page_js, sink);
        else if (strcmp(*line, "@data@\n") == 0)
            status = json_diff_write(answer, layout, true, sink);
        else
            etlheap_sink_text(sink, *line);
    }
    return status;
}
