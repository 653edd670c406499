/*
 * export_html_documents.h - the documents in an HTML page: answers of commands, as JSON.
 */
#ifndef ETLHEAP_EXPORT_HTML_DOCUMENTS_H
#define ETLHEAP_EXPORT_HTML_DOCUMENTS_H

#include "export_html.h"

/* Writes the array `documents`. A question that the result cannot answer has no document. Errors of
 * the engine's questions. */
etl_status html_documents_write(const html_answers *answers, etlheap_json *json, etl_error *err);

#define HTML_MAPS_MAX 20 /* processes whose address maps a page has */

/* The number of a process, as it is typed. */
typedef struct html_pid {
    char text[16];
} html_pid;

/* What a writer of one document gets. */
typedef struct html_inquiry {
    const html_answers *answers;
    etlheap_query query; /* its keys, kinds, order and figures */
    etlheap_layout layout;
    etlheap_answer answer; /* to the question of the row; borrowed */
    u32 top;               /* rows, groups or spikes; 0: all */
    etlheap_sink *sink;
    /* Set by the writer: */
    bool is_cut;
    html_pid processes[HTML_MAPS_MAX]; /* to which it has confined the answer */
    u32 process_count;                 /* 0: those of the request */
} html_inquiry;

/* Write a document (export_html_answers.c). */
etl_status html_answer_report(html_inquiry *inquiry, etl_error *err);
etl_status html_answer_histogram(html_inquiry *inquiry, etl_error *err);
etl_status html_answer_suspects(html_inquiry *inquiry, etl_error *err);
etl_status html_answer_map(html_inquiry *inquiry, etl_error *err);
etl_status html_answer_spikes(html_inquiry *inquiry, etl_error *err);
etl_status html_answer_symbols(html_inquiry *inquiry, etl_error *err);
etl_status html_answer_info(html_inquiry *inquiry, etl_error *err);

/* Writes the lasting rises with their call stacks. */
etl_status html_write_growth(html_inquiry *inquiry, etl_error *err);

#endif
