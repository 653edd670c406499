/*
 * export_html.c - a report as one HTML file that needs nothing else.
 *
 * The page is formats/html/report.html. Three of its lines stand for what is put in
 * their place: the style, the data, the script. Its policy forbids it to load
 * anything, and the data is JSON in which no tag can begin.
 */
#include "export_html.h"

#include "export_html_blocks.h"
#include "export_writers.h"

static bool write_page(const html_answers *answers, const html_choice *choice,
                       const html_blocks *blocks, etlheap_sink *sink);

etl_status etlheap_export_html(const etlheap_export_request *request, etlheap_sink *sink,
                               etl_error *err)
{
    html_answers answers = { 0 };
    html_choice choice = { 0 };
    html_blocks blocks = { 0 };
    etl_status status = html_answers_open(request, &answers, err);
    if (status == ETL_OK)
        status = html_choice_make(answers.groups->table, answers.rows->table, &choice, err);
    if (status == ETL_OK)
        status = html_blocks_find(&answers, &choice, &blocks, err);
    if (status == ETL_OK && !write_page(&answers, &choice, &blocks, sink))
        status = etl_fail_with(err, ETL_ERR_MEMORY, 0, "out of memory");
    html_blocks_close(&blocks);
    html_choice_close(&choice);
    html_answers_close(&answers);
    return status;
}

/* False: out of memory. */
static bool write_page(const html_answers *answers, const html_choice *choice,
                       const html_blocks *blocks, etlheap_sink *sink)
{
    bool ok = true;
    for (const char *const *line = html_page_html; ok && *line != NULL; line++) {
        if (strcmp(*line, "@style@\n") == 0)
            html_write_lines(html_page_css, sink);
        else if (strcmp(*line, "@script@\n") == 0)
            html_write_lines(html_page_js, sink);
        else if (strcmp(*line, "@data@\n") == 0)
            ok = html_write_data(answers, choice, blocks, sink);
        else
            etlheap_sink_text(sink, *line);
    }
    return ok;
}

void html_write_lines(const char *const *lines, etlheap_sink *sink)
{
    for (; *lines != NULL; lines++)
        etlheap_sink_text(sink, *lines);
}
