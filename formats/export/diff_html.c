/*
 * diff_html.c - a comparison as one HTML file that needs nothing else.
 *
 * The page is formats/html/diff.html; its data is the document that --format json writes
 * (json_diff.c), with the characters escaped that could begin a tag.
 */
#include "export_html.h"
#include "formats/json/json_diff.h"
#include "formats/writers.h"

typedef struct page_data {
    const etlheap_diff_answer *diff;
    const etlheap_layout *layout;
} page_data;

static etl_status write_diff(const void *user, etlheap_sink *sink)
{
    const page_data *const data = user;
    return json_diff_write(data->diff, data->layout, true, sink);
}

etl_status etlheap_write_diff_html(const etlheap_diff_answer *answer, const etlheap_layout *layout,
                                   etlheap_sink *sink)
{
    const html_page page = { diff_page_html, diff_page_css, diff_page_js };
    const page_data data = { .diff = answer, .layout = layout };
    return html_write_page(&page, write_diff, &data, sink);
}
