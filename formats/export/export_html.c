/*
 * export_html.c - a report as one HTML file that needs nothing else.
 *
 * The page is that of a live view, formats/html/view.html. Three of its lines stand for what is put
 * in their place: the style, the data, the script. Its policy forbids it to load anything, and the
 * data is JSON in which no tag can begin:
 *
 *     schema, version, inputs, selection, login_advice
 *     symbols     whether functions were to be named
 *     cells       export_html_data.c, deflated
 *     documents   export_html_documents.c, each deflated
 */
#include "export_html.h"

#include "export_html_blocks.h"
#include "export_html_documents.h"
#include "export_html_pack.h"
#include "export_writers.h"

/* What the data of the page is made of. */
typedef struct report_data {
    html_answers *answers;
    const html_choice *choice;
    const html_blocks *blocks;
    etl_error *err;
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
    if (status == ETL_OK)
        status = html_go_on(request, 2, err);
    const html_page page = { view_page_html, view_page_css, view_page_js };
    const report_data data = { &answers, &choice, &blocks, err };
    if (status == ETL_OK)
        status = html_write_page(&page, write_data, &data, sink);
    html_blocks_close(&blocks);
    html_choice_close(&choice);
    html_answers_close(&answers);
    return status;
}

/* Writes the member `cells`. */
static etl_status write_cells(const report_data *data, etlheap_json *json)
{
    etlheap_text packed = { 0 };
    html_packer packer;
    etl_status status = html_packer_open(&packer, UINT64_MAX, data->err);
    if (status != ETL_OK)
        return status;
    const bool ok = html_write_cells(data->answers, data->choice, data->blocks, packer.sink);
    status = html_packer_close(&packer, &packed, data->err);
    if (status == ETL_OK && (!ok || packed.failed))
        status = etl_no_memory(data->err);
    etlheap_json_string(json, "cells", etlheap_text_of(&packed));
    etlheap_text_free(&packed);
    return status;
}

static etl_status write_data(const void *user, etlheap_sink *sink)
{
    const report_data *const data = user;
    const etlheap_export_request *const request = data->answers->request;
    etlheap_json json = etlheap_json_begin(sink, 2);
    json.in_markup = true;
    json.hint = request->hint;
    etlheap_json_object(&json, NULL);
    etlheap_json_string(&json, "schema", "etlheap-page-1");
    etlheap_json_string(&json, "version", ETLHEAP_VERSION);
    html_write_command(&json, request);
    etlheap_json_string(&json, "symbols", request->query->symbols ? "ready" : "none");
    etl_status status = write_cells(data, &json);
    html_answers_let_go_of_cells(data->answers); /* documents take as much again */
    if (status == ETL_OK)
        status = html_documents_write(data->answers, &json, data->err);
    etlheap_json_object_close(&json);
    etlheap_json_end(&json);
    return status;
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
