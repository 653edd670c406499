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

/* What the data of the page is made of. */
typedef struct report_data {
    const html_answers *answers;
    const html_choice *choice;
    const html_blocks *blocks;
} report_data;

static etl_status write_data(const void *user, etlheap_sink *sink);

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
    const html_page page = { html_page_html, html_page_css, html_page_js };
    const report_data data = { &answers, &choice, &blocks };
    if (status == ETL_OK && html_write_page(&page, write_data, &data, sink) != ETL_OK)
        status = etl_no_memory(err);
    html_blocks_close(&blocks);
    html_choice_close(&choice);
    html_answers_close(&answers);
    return status;
}

static etl_status write_data(const void *user, etlheap_sink *sink)
{
    const report_data *const data = user;
    return html_write_data(data->answers, data->choice, data->blocks, sink) ? ETL_OK
                                                                            : ETL_ERR_MEMORY;
}

static void write_lines(const char *const *lines, etlheap_sink *sink)
{
    for (; *lines != NULL; lines++)
        etlheap_sink_text(sink, *lines);
}

etl_status html_write_page(const html_page *page, html_data_fn *data, const void *user,
                           etlheap_sink *sink)
{
    etl_status status = ETL_OK;
    for (const char *const *line = page->html; status == ETL_OK && *line != NULL; line++) {
        if (strcmp(*line, "@style@\n") == 0)
            write_lines(page->css, sink);
        else if (strcmp(*line, "@script@\n") == 0)
            write_lines(page->js, sink);
        else if (strcmp(*line, "@data@\n") == 0)
            status = data(user, sink);
        else
            etlheap_sink_text(sink, *line);
    }
    return status;
}
