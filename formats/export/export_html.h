/*
 * export_html.h - what an HTML report is made of: questions, answers, document.
 *
 *     html_answers_open   request -> answers of the engine
 *     html_choice_make    answers -> what is shown one by one (export_html_choice.h)
 *     html_blocks_find    both    -> single blocks of what is shown (export_html_blocks.h)
 *     html_write_data     all     -> the JSON in the page
 *
 * The page's own text, style and script are the files of formats/html; the Makefile
 * turns them into arrays of lines.
 */
#ifndef ETLHEAP_EXPORT_HTML_H
#define ETLHEAP_EXPORT_HTML_H

#include "formats/json/json.h"
#include "export_html_choice.h"
#include "formats/json/json.h"

typedef struct html_blocks html_blocks; /* export_html_blocks.h */

/* Start from {0}. Rows are sorted by their peak, the largest first. */
typedef struct html_answers {
    const etlheap_export_request *request;
    /* By kind; by kind, process and heap; and by these and stack. All follow the same
     * windows, which have no gaps; the last two have one window more, the whole. */
    etlheap_windows *kinds, *groups, *rows;
    u32 window_count;
    const etlheap_table *ends; /* by kind and how lifetimes end */
    /* By kind, process, heap, thread and type: the largest first. */
    const etlheap_table *threads;
    etlheap_suspects *suspects; /* NULL: what has no times has none */
    etlheap_peak_moment peaks[ETLHEAP_KIND_CAPACITY];
    const etlheap_histogram *histograms[ETLHEAP_HISTOGRAM_BY_COUNT];
    /* The largest blocks; NULL if nothing is kept of single ones. */
    etlheap_lifetimes *outstanding_blocks, *freed_blocks;
    etlheap_symbols *nowhere; /* when the request has no symbols: all are missing */
    const etlheap_symbol_list *symbols;
    etlheap_map *map; /* NULL: addresses are not known */
} html_answers;

/* Errors as of the engine's questions, and ETL_ERR_UNSUPPORTED: the result is a
 * summary. To be closed in any case. The request is borrowed until then. */
etl_status html_answers_open(const etlheap_export_request *request, html_answers *out,
                             etl_error *err);
void html_answers_close(html_answers *answers);

/* The document `etlheap-html-1`, safe inside of a script element. False: out of memory. */
bool html_write_data(const html_answers *answers, const html_choice *choice,
                     const html_blocks *blocks, etlheap_sink *sink);

/* A member of the document. `scratch` is overwritten. */
void html_write_suspects(etlheap_json *json, const etlheap_suspects *suspects,
                         etlheap_text *scratch);

/* A page: lines of its text, which has places for style, script and data; each list is followed by
 * NULL. */
typedef struct html_page {
    const char *const *html, *const *css, *const *js;
} html_page;

/* Writes the data that a page draws. */
typedef etl_status html_data_fn(const void *user, etlheap_sink *sink);

/* Writes the page; returns what the data's writer does. */
etl_status html_write_page(const html_page *page, html_data_fn *data, const void *user,
                           etlheap_sink *sink);

/* Made by the Makefile: the lines of formats/html/report.html and so on. */
extern const char *const html_page_html[];
extern const char *const html_page_css[];
extern const char *const html_page_js[];

/* The same of formats/html/diff.html, the page of a comparison. */
extern const char *const diff_page_html[];
extern const char *const diff_page_css[];
extern const char *const diff_page_js[];

/* And of formats/html/trend.html. */
extern const char *const trend_page_html[];
extern const char *const trend_page_css[];
extern const char *const trend_page_js[];

/* The first marks of the recording, and how many more there are; scratch is emptied. */
void html_write_marks(etlheap_json *json, const etlheap_result *result, etlheap_text *scratch);

#endif
