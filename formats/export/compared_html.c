/*
 * compared_html.c - a comparison, or a trend, as one HTML file that needs nothing else.
 *
 * In: the answer. Out: the page (export_html_page.c) with one document: what `diff` or `trend`
 * prints as JSON, deflated.
 *
 *     answer ──▶ its first rows ──▶ JSON writer ──▶ deflated ──▶ too large? fewer rows
 *
 * The document names the command and the options that print just these rows. Invariant: unless the
 * user chose how many rows there are to be, the page stays below 2 MB.
 */
#include "export_html.h"

#include "export_html_pack.h"
#include "formats/parts/layout_read.h"
#include "formats/writers.h"

#include <stdio.h>

#define DOCUMENT_BYTES 1400000u /* packed */
#define FEWER_PART     8u       /* rows left out if the document is too large */

typedef struct compared_page compared_page;
typedef etl_status write_rows_fn(const compared_page *page, u32 rows, etlheap_sink *sink);

struct compared_page {
    const char *command;
    const etlheap_diff_answer *diff;
    const etlheap_trend_answer *trend;
    write_rows_fn *write;
    const etlheap_table *table;
    bool has_all; /* rows that have not changed, too */
    etlheap_layout layout;
};

/* Leaves the first rows. Frames and stacks are in order of first use, so theirs are first, too. */
static void keep_rows(etlheap_table *table, u32 rows)
{
    u32 stacks = 0, frames = 0;
    if (rows >= table->row_count)
        return;
    for (u32 i = 0; i < rows; i++) {
        const etlheap_row *const row = etlheap_table_row(table, i);
        if (row->stack != ETLHEAP_NO_INDEX && row->stack >= stacks)
            stacks = row->stack + 1;
        if (row->frame != ETLHEAP_NO_INDEX && row->frame >= frames)
            frames = row->frame + 1;
    }
    for (u32 i = 0; i < table->stack_starts[stacks]; i++) {
        if (table->frame_indices[i] >= frames)
            frames = table->frame_indices[i] + 1;
    }
    table->row_count = rows;
    table->stack_count = stacks;
    table->frame_count = frames;
}

static etl_status write_diff(const compared_page *page, u32 rows, etlheap_sink *sink)
{
    etlheap_diff first = *page->diff->diff;
    etlheap_diff_answer answer = *page->diff;
    keep_rows(&first.table, rows);
    answer.diff = &first;
    return etlheap_write_diff_json(&answer, &page->layout, sink);
}

static etl_status write_trend(const compared_page *page, u32 rows, etlheap_sink *sink)
{
    etlheap_trend first = *page->trend->trend;
    etlheap_trend_answer answer = *page->trend;
    keep_rows(&first.table, rows);
    answer.trend = &first;
    return etlheap_write_trend_json(&answer, &page->layout, sink);
}

/* Adds the packed document to `out`, if it fits; else nothing, and ETL_ERR_CANCELLED. */
static etl_status pack_rows(const compared_page *page, u32 rows, u64 most, etlheap_text *out)
{
    html_packer packer;
    etl_status status = html_packer_open(&packer, most, NULL);
    if (status != ETL_OK)
        return status;
    status = page->write(page, rows, packer.sink);
    const bool is_full = html_packer_is_full(&packer);
    if (status == ETL_OK || is_full)
        return html_packer_close(&packer, out, NULL);
    html_packer_discard(&packer);
    return status;
}

/* Returns in `rows` how many there are. */
static etl_status pack(const compared_page *page, u32 *rows, etlheap_text *out)
{
    const bool is_chosen = !page->layout.rows_of_each_kind;
    const u64 most = is_chosen ? UINT64_MAX : DOCUMENT_BYTES;
    *rows = page->table->row_count;
    etl_status status = pack_rows(page, *rows, most, out);
    while (status == ETL_ERR_CANCELLED && *rows > 0) {
        *rows -= *rows / FEWER_PART + 1;
        status = pack_rows(page, *rows, most, out);
    }
    return status;
}

static void write_option(etlheap_json *json, const char *name, const char *value)
{
    etlheap_json_array(json, NULL);
    etlheap_json_string(json, NULL, name);
    etlheap_json_string(json, NULL, value);
    etlheap_json_array_close(json);
}

static void write_options(const compared_page *page, u32 rows, etlheap_json *json)
{
    char number[16];
    snprintf(number, sizeof number, "%u", (unsigned)rows);
    etlheap_json_array(json, "options");
    if (page->has_all)
        write_option(json, "all", "");
    if (rows > 0)
        write_option(json, "top", number);
    etlheap_json_array_close(json);
}

static bool has_functions(const etlheap_table *table)
{
    for (u32 i = 0; i < table->frame_count; i++) {
        if (etlheap_table_frame(table, i)->symbol)
            return true;
    }
    return false;
}

/* A page with as many rows as were asked for lacks those behind them, if there are any. */
static bool is_cut(const compared_page *page, u32 rows)
{
    return rows < page->table->row_count || (rows > 0 && rows == page->layout.rows_max);
}

static etl_status write_data(const void *user, etlheap_sink *sink)
{
    const compared_page *const page = user;
    const etlheap_layout *const layout = &page->layout;
    const html_typed typed = { layout->inputs, layout->selection, layout->lacks_login };
    etlheap_json json = etlheap_json_begin(sink, 2);
    etlheap_text packed = { 0 };
    u32 rows = 0;
    const etl_status status = pack(page, &rows, &packed);
    json.hint = layout->hint;
    html_data_open(&json, &typed, has_functions(page->table));
    etlheap_json_array(&json, "documents");
    etlheap_json_object(&json, NULL);
    etlheap_json_string(&json, "command", page->command);
    write_options(page, rows, &json);
    etlheap_json_bool(&json, "is_cut", is_cut(page, rows));
    etlheap_json_string(&json, "deflated", etlheap_text_of(&packed));
    etlheap_json_object_close(&json);
    etlheap_json_array_close(&json);
    html_data_close(&json);
    etlheap_text_free(&packed);
    return status;
}

etl_status etlheap_write_diff_html(const etlheap_diff_answer *answer, const etlheap_layout *layout,
                                   etlheap_sink *sink)
{
    compared_page page = { .command = "diff",
                           .diff = answer,
                           .write = write_diff,
                           .table = &answer->diff->table,
                           .has_all = true };
    const etl_status status = etlheap_layout_read(layout, &page.layout);
    return status == ETL_OK ? html_write_page(write_data, &page, sink) : status;
}

etl_status etlheap_write_trend_html(const etlheap_trend_answer *answer,
                                    const etlheap_layout *layout, etlheap_sink *sink)
{
    compared_page page = {
        .command = "trend", .trend = answer, .write = write_trend, .table = &answer->trend->table
    };
    const etl_status status = etlheap_layout_read(layout, &page.layout);
    return status == ETL_OK ? html_write_page(write_data, &page, sink) : status;
}
