/*
 * export_html.h - the parts of an HTML page: questions, answers, data.
 *
 *     html_answers_open      request -> answers of the engine
 *     html_choice_make       answers -> rows to show one by one (export_html_choice.h)
 *     html_blocks_find       both    -> single blocks of these rows (export_html_blocks.h)
 *     html_write_cells       all     -> what the page works sums of windows out of
 *     html_documents_write   request -> answers of commands (export_html_documents.h)
 *
 * The page's own text, style and script are the files of formats/html; the Makefile turns them into
 * arrays of lines.
 */
#ifndef ETLHEAP_EXPORT_HTML_H
#define ETLHEAP_EXPORT_HTML_H

#include "formats/json/json.h"
#include "export_html_choice.h"

typedef struct html_blocks html_blocks; /* export_html_blocks.h */

/* Start from {0}. Rows are sorted by their peak, the largest first. */
typedef struct html_answers {
    const etlheap_export_request *request;
    /* Grouped by kind; by kind, process and heap; and by these and stack. All have the same
     * windows, without gaps; the last two have the whole as an additional window. */
    etlheap_windows *kinds, *groups, *rows;
    u32 window_count;
    /* By kind, process, heap, thread and type, the largest first. */
    etlheap_table *threads;
    bool has_times; /* otherwise a list of blocks at one moment */
    /* The largest blocks; NULL if the result has no single blocks. */
    etlheap_lifetimes *outstanding_blocks, *freed_blocks;
    etlheap_symbols *nowhere; /* used if the request has no symbols: all are missing */
} html_answers;

/* Asks the engine. The request is borrowed until the answers are closed; close them in any case.
 * Errors of the engine's questions, and ETL_ERR_UNSUPPORTED (the result is a summary). */
etl_status html_answers_open(const etlheap_export_request *request, html_answers *out,
                             etl_error *err);
void html_answers_close(html_answers *answers);

/* Frees all but `kinds`, which is all that documents need. What borrows the rest must not be used
 * after this. */
void html_answers_let_go_of_cells(html_answers *answers);

/* Reports progress before a step; ETL_ERR_CANCELLED. */
etl_status html_go_on(const etlheap_export_request *request, u32 step, etl_error *err);

/* The symbols of the request, or else those of nowhere. */
etlheap_symbols *html_symbols_of(const html_answers *answers);

/* Writes the document `etlheap-cells-1`. False if memory runs out. */
bool html_write_cells(const html_answers *answers, const html_choice *choice,
                      const html_blocks *blocks, etlheap_sink *sink);

/* Writes the members `source_roots` and `sources`, the lines of code around the frames of the rows
 * that are shown, those of the largest rows first. Nothing if the request has no sources. Errors:
 * ETL_ERR_MEMORY. */
etl_status html_write_sources(const html_answers *answers, const html_choice *choice,
                              etlheap_json *json, etl_error *err);

/* What was typed, as in etlheap_layout and etlheap_export_request. */
typedef struct html_typed {
    etlheap_typed inputs, selection;
    bool lacks_login;
} html_typed;

/* Begins the data of a page: writes the members before its cells and documents. */
void html_data_open(etlheap_json *json, const html_typed *typed, bool has_symbols);
void html_data_close(etlheap_json *json);

/* Writes the data that a page draws. */
typedef etl_status html_data_fn(const void *user, etlheap_sink *sink);

/* Writes the page. Returns the result of the function that writes the data. */
etl_status html_write_page(html_data_fn *data, const void *user, etlheap_sink *sink);

/* Made by the Makefile: the lines of formats/html/view.html, and so on. It is the page of a live
 * view, of reports, comparisons and trends. */
extern const char *const view_page_html[];
extern const char *const view_page_css[];
extern const char *const view_page_js[];

#endif
