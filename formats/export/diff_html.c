/*
 * diff_html.c - a comparison, or a trend, as one HTML file that needs nothing else.
 *
 * The pages are formats/html/diff.html and trend.html; their data is the document that --format
 * json writes (json_diff.c, json_trend.c), with the characters escaped that could begin a tag.
 */
#include "export_html.h"
#include "formats/json/json_diff.h"
#include "formats/json/json_trend.h"
#include "formats/writers.h"

typedef struct page_data {
    const etlheap_diff_answer *diff;
    const etlheap_trend_answer *trend;
    const etlheap_layout *layout;
} page_data;

static etl_status write_diff(const void *user, etlheap_sink *sink)
{
    const page_data *const data = user;
    return json_diff_write(data->diff, data->layout, true, sink);
}

static etl_status write_trend(const void *user, etlheap_sink *sink)
{
    const page_data *const data = user;
    return json_trend_write(data->trend, data->layout, true, sink);
}

etl_status etlheap_write_diff_html(const etlheap_diff_answer *answer, const etlheap_layout *layout,
                                   etlheap_sink *sink)
{
    const html_page page = { diff_page_html, diff_page_css, diff_page_js };
    const page_data data = { .diff = answer, .layout = layout };
    return html_write_page(&page, write_diff, &data, sink);
}

etl_status etlheap_write_trend_html(const etlheap_trend_answer *answer,
                                    const etlheap_layout *layout, etlheap_sink *sink)
{
    const html_page page = { trend_page_html, trend_page_css, trend_page_js };
    const page_data data = { .trend = answer, .layout = layout };
    return html_write_page(&page, write_trend, &data, sink);
}
