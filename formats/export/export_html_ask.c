/*
 * export_html_ask.c - asks the engine what the cells of an HTML page are made of.
 *
 * In: a request with a result, query and symbols. Out: html_answers: windows, threads, blocks. The
 * documents of the page have questions of their own (export_html_documents.c).
 *
 * All questions are asked at once, so that the events are read once. Windows have a length that
 * people would choose (1, 2 or 5 times a power of ten) so that there are 100 to 250 of them: as
 * many as a chart can show. One window more covers the whole time. Invariant: a question that the
 * result cannot answer is left out, and the page says so; it must not fail the report.
 */
#include "export_html_blocks.h"
#include "export_samples.h"

#include <stdlib.h>

#define WINDOWS_WANTED 250
#define STEPS          3 /* that progress tells of: events, names, documents */

typedef enum html_question {
    HTML_OUTSTANDING_BLOCKS,
    HTML_FREED_BLOCKS,
    HTML_KINDS,
    HTML_GROUPS,
    HTML_ROWS,
    HTML_THREADS,
    HTML_QUESTIONS
} html_question;

#define TYPE_BIT(name) (1u << ETLHEAP_TYPE_##name)

/* A question: its kind, and how many of the keys it groups by. */
typedef struct question_row {
    etlheap_question_kind kind;
    const etlheap_key *keys;
    u32 key_count;
    bool with_whole;
    u32 types, top; /* of lists */
    bool optional;  /* the result may keep too little */
} question_row;

static etl_status ask_all(html_answers *answers, etl_error *err);
static etl_status name_rows(html_answers *answers, etl_error *err);
static etl_status open_nowhere(html_answers *answers, etl_error *err);

/* The keys, from the largest group to the smallest. Each question uses the first few. */
static const etlheap_key keys[] = { ETLHEAP_KEY_KIND, ETLHEAP_KEY_PROCESS, ETLHEAP_KEY_HEAP,
                                    ETLHEAP_KEY_STACK };
static const etlheap_key thread_keys[] = { ETLHEAP_KEY_KIND, ETLHEAP_KEY_PROCESS, ETLHEAP_KEY_HEAP,
                                           ETLHEAP_KEY_THREAD, ETLHEAP_KEY_TYPE };

static const question_row rows[HTML_QUESTIONS] = {
    [HTML_KINDS] = { ETLHEAP_ASK_WINDOWS, keys, 1, .with_whole = false },
    [HTML_GROUPS] = { ETLHEAP_ASK_WINDOWS, keys, 3, .with_whole = true },
    [HTML_ROWS] = { ETLHEAP_ASK_WINDOWS, keys, 4, .with_whole = true },
    [HTML_THREADS] = { ETLHEAP_ASK_TABLE, thread_keys, 5, .with_whole = false },
    [HTML_OUTSTANDING_BLOCKS] = { ETLHEAP_ASK_LIFETIMES, keys, 1,
                                  .types = TYPE_BIT(AIFO) | TYPE_BIT(AOFO),
                                  .top = HTML_OUTSTANDING_MAX, .optional = true },
    [HTML_FREED_BLOCKS] = { ETLHEAP_ASK_LIFETIMES, keys, 1,
                            .types = TYPE_BIT(AIFI) | TYPE_BIT(AOFI), .top = HTML_FREED_MAX,
                            .optional = true },
};

etl_status html_answers_open(const etlheap_export_request *request, html_answers *out,
                             etl_error *err)
{
    out->request = request;
    if (etlheap_result_is_summary(request->result))
        return etl_fail_with(
            err, ETL_ERR_UNSUPPORTED, 0,
            "an HTML report needs traces or one store; a summary has no single lifetimes");
    etl_status status = html_go_on(request, 0, err);
    if (status == ETL_OK)
        status = ask_all(out, err);
    if (status == ETL_OK)
        status = html_go_on(request, 1, err);
    if (status == ETL_OK)
        status = name_rows(out, err);
    return status == ETL_OK ? open_nowhere(out, err) : status;
}

void html_answers_let_go_of_cells(html_answers *answers)
{
    etlheap_windows_free(answers->groups);
    etlheap_windows_free(answers->rows);
    etlheap_table_free(answers->threads);
    etlheap_lifetimes_close(answers->outstanding_blocks);
    etlheap_lifetimes_close(answers->freed_blocks);
    answers->groups = answers->rows = NULL;
    answers->threads = NULL;
    answers->outstanding_blocks = answers->freed_blocks = NULL;
}

void html_answers_close(html_answers *answers)
{
    html_answers_let_go_of_cells(answers);
    etlheap_windows_free(answers->kinds);
    etlheap_symbols_close(answers->nowhere);
    *answers = (html_answers){ 0 };
}

etlheap_symbols *html_symbols_of(const html_answers *answers)
{
    etlheap_symbols *const symbols = answers->request->query->symbols;
    return symbols ? symbols : answers->nowhere;
}

/* In bytes of the trace. */
etl_status html_go_on(const etlheap_export_request *request, u32 step, etl_error *err)
{
    const u64 bytes = etlheap_result_trace(request->result)->bytes;
    const u64 done = bytes / STEPS * step;
    if (request->progress == NULL || request->progress(request->progress_user, done, bytes))
        return ETL_OK;
    return etl_fail_with(err, ETL_ERR_CANCELLED, 0, "cancelled");
}

static etlheap_query query_of(const html_answers *answers, const question_row *row)
{
    etlheap_query query = *answers->request->query;
    memcpy(query.group_by, row->keys, row->key_count * sizeof *row->keys);
    query.group_by_count = row->key_count;
    query.types = row->types;
    query.sums_only = row->kind == ETLHEAP_ASK_TABLE;
    query.sort = query.sums_only ? ETLHEAP_MEASURE_SIZE : ETLHEAP_MEASURE_PEAK_SIZE;
    query.sort_ascending = false;
    query.churn = query.unmatched = query.freed_by_other = false;
    return query;
}

static void take(html_answers *answers, const etlheap_answer given[HTML_QUESTIONS])
{
    answers->kinds = given[HTML_KINDS].windows;
    answers->groups = given[HTML_GROUPS].windows;
    answers->rows = given[HTML_ROWS].windows;
    answers->threads = given[HTML_THREADS].table;
    answers->outstanding_blocks = given[HTML_OUTSTANDING_BLOCKS].lifetimes;
    answers->freed_blocks = given[HTML_FREED_BLOCKS].lifetimes;
    answers->window_count = answers->kinds->window_count;
}

static etl_status ask_all(html_answers *answers, etl_error *err)
{
    etlheap_lifetimes_options lists[HTML_QUESTIONS];
    etlheap_query queries[HTML_QUESTIONS];
    etlheap_windows_options windows[HTML_QUESTIONS];
    etlheap_question questions[HTML_QUESTIONS];
    etlheap_answer given[HTML_QUESTIONS];
    for (u32 i = 0; i < HTML_QUESTIONS; i++) {
        const question_row *const row = &rows[i];
        queries[i] = query_of(answers, row);
        windows[i] = (etlheap_windows_options){ .size = sizeof windows[i],
                                                .every_ns = export_window_length(answers->request,
                                                                                 WINDOWS_WANTED),
                                                .with_whole = row->with_whole };
        lists[i] =
            (etlheap_lifetimes_options){ .size = sizeof lists[i],
                                         .sort = ETLHEAP_LIFETIME_SIZE,
                                         .sort_descending = true,
                                         .top = row->top,
                                         .memory_bytes_max = answers->request->memory_bytes_max };
        questions[i] = (etlheap_question){ .size = sizeof questions[i],
                                           .kind = row->kind,
                                           .query = &queries[i],
                                           .windows = &windows[i],
                                           .lifetimes = &lists[i],
                                           .optional = row->optional };
    }
    answers->has_times = !etlheap_result_is_snapshot(answers->request->result);
    const etl_status status =
        etlheap_ask(answers->request->result, questions, HTML_QUESTIONS, given, err);
    if (status == ETL_OK)
        take(answers, given);
    return status;
}

static etl_status name_rows(html_answers *answers, etl_error *err)
{
    etlheap_symbols *const symbols = answers->request->query->symbols;
    return symbols ? etlheap_table_name(answers->rows->table, symbols, NULL, err) : ETL_OK;
}

/* Which modules have symbols is asked without a symbol path, too: none has. */
static etl_status open_nowhere(html_answers *answers, etl_error *err)
{
    const etlheap_query *const query = answers->request->query;
    const etlheap_symbol_options options = {
        .size = sizeof options,
        .offline = true,
        .jobs = query->jobs,
    };
    if (query->symbols)
        return ETL_OK;
    return etlheap_symbols_open(answers->request->result, &options, &answers->nowhere, err);
}
