/*
 * export_html.c - a report as one HTML file that needs nothing else.
 *
 * In: a request. Out: the page (export_html_page.c) with the data of a report:
 *
 *     cells       export_html_data.c, deflated
 *     sources     export_html_sources.c, deflated; only if there are folders of sources
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
    const report_data data = { &answers, &choice, &blocks, err };
    if (status == ETL_OK)
        status = html_write_page(write_data, &data, sink);
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
    const etlheap_trace_info *const trace = etlheap_result_trace(request->result);
    const etlheap_typed files = { trace->files, trace->file_count };
    const html_typed typed = { .inputs = request->inputs.count > 0 ? request->inputs : files,
                               .selection = request->selection,
                               .lacks_login = request->lacks_login };
    etlheap_json json = etlheap_json_begin(sink, 2);
    json.hint = request->hint;
    html_data_open(&json, &typed, request->query->symbols != NULL);
    etl_status status = write_cells(data, &json);
    if (status == ETL_OK)
        status = html_write_sources(data->answers, data->choice, &json, data->err);
    html_answers_let_go_of_cells(data->answers); /* documents take as much again */
    if (status == ETL_OK)
        status = html_documents_write(data->answers, &json, data->err);
    html_data_close(&json);
    return status;
}
