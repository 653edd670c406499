/*
 * export_html_ask.c - asks the engine everything that an HTML report needs.
 *
 * In: a request with a result, query and symbols. Out: html_answers: tables, windows, lists,
 * suspects, map.
 *
 * All questions are asked at once, so that the events are read once. Windows have a length that
 * people would choose (1, 2 or 5 times a power of ten) so that there are 100 to 250 of them: as
 * many as a chart can show. One window more covers the whole time. Invariant: a question that the
 * result cannot answer is left out, and the page says so; it must not fail the report.
 */
#include "export_html_blocks.h"
#include "export_html_map.h"
#include "export_samples.h"

#include <stdlib.h>

#define WINDOWS_WANTED 250
#define STEPS          3 /* that progress tells of: events, names, symbols */

typedef enum html_question {
    HTML_UNMATCHED,
    HTML_OUTSTANDING_BLOCKS,
    HTML_FREED_BLOCKS,
    HTML_FREE_STACKS,
    HTML_PAIRS,
    HTML_MAP,
    HTML_FREE_THREADS,
    HTML_KINDS,
    HTML_GROUPS,
    HTML_ROWS,
    HTML_ENDS,
    HTML_THREADS,
    HTML_PEAKS,
    HTML_SIZES,
    HTML_LIFETIMES,
    HTML_SUSPECTS,
    HTML_QUESTIONS
} html_question;

#define QUESTION_BIT(name) (1u << HTML_##name)
#define TYPE_BIT(name)     (1u << ETLHEAP_TYPE_##name)

/* A question: its kind, and how many of the keys it groups by. */
typedef struct question_row {
    etlheap_question_kind kind;
    const etlheap_key *keys;
    u32 key_count;
    bool with_whole;
    etlheap_histogram_by by;
    u32 types, top; /* of lists */
    bool churn, unmatched;
    bool frees;    /* also by keys of who freed */
    bool optional; /* the result may keep too little, or the selection may make no sense */
} question_row;

static etl_status go_on(const etlheap_export_request *request, u32 step, etl_error *err);
static etl_status ask_all(html_answers *answers, etl_error *err);
static etl_status name_rows(html_answers *answers, etl_error *err);
static etl_status ask_symbols(html_answers *answers, etl_error *err);

/* The keys, from the largest group to the smallest. Each question uses the first few. */
static const etlheap_key keys[] = { ETLHEAP_KEY_KIND, ETLHEAP_KEY_PROCESS, ETLHEAP_KEY_HEAP,
                                    ETLHEAP_KEY_STACK };
static const etlheap_key suspect_keys[] = { ETLHEAP_KEY_KIND, ETLHEAP_KEY_PROCESS,
                                            ETLHEAP_KEY_STACK };
static const etlheap_key end_keys[] = { ETLHEAP_KEY_FREE_TYPE, ETLHEAP_KEY_KIND };
static const etlheap_key thread_keys[] = { ETLHEAP_KEY_KIND, ETLHEAP_KEY_PROCESS, ETLHEAP_KEY_HEAP,
                                           ETLHEAP_KEY_THREAD, ETLHEAP_KEY_TYPE };

static const etlheap_key pair_keys[] = { ETLHEAP_KEY_KIND, ETLHEAP_KEY_PROCESS, ETLHEAP_KEY_SITE,
                                         ETLHEAP_KEY_FREE_SITE };
static const etlheap_key free_stack_keys[] = { ETLHEAP_KEY_KIND, ETLHEAP_KEY_PROCESS,
                                               ETLHEAP_KEY_FREE_STACK };
static const etlheap_key free_thread_keys[] = { ETLHEAP_KEY_KIND, ETLHEAP_KEY_PROCESS,
                                                ETLHEAP_KEY_THREAD, ETLHEAP_KEY_FREE_TYPE,
                                                ETLHEAP_KEY_FREE_THREAD };
static const etlheap_key unmatched_keys[] = { ETLHEAP_KEY_KIND, ETLHEAP_KEY_PROCESS,
                                              ETLHEAP_KEY_HEAP, ETLHEAP_KEY_FREE_STACK };

static const question_row rows[HTML_QUESTIONS] = {
    [HTML_UNMATCHED] = { ETLHEAP_ASK_TABLE, unmatched_keys, 4, .unmatched = true, .frees = true,
                         .optional = true },
    [HTML_FREE_STACKS] = { ETLHEAP_ASK_TABLE, free_stack_keys, 3, .frees = true, .optional = true },
    [HTML_PAIRS] = { ETLHEAP_ASK_TABLE, pair_keys, 4, .frees = true, .optional = true },
    [HTML_MAP] = { ETLHEAP_ASK_MAP, NULL, 0, .optional = true },
    [HTML_FREE_THREADS] = { ETLHEAP_ASK_TABLE, free_thread_keys, 5, .churn = true, .frees = true,
                            .optional = true },
    [HTML_KINDS] = { ETLHEAP_ASK_WINDOWS, keys, 1, .with_whole = false },
    [HTML_GROUPS] = { ETLHEAP_ASK_WINDOWS, keys, 3, .with_whole = true },
    [HTML_ROWS] = { ETLHEAP_ASK_WINDOWS, keys, 4, .with_whole = true, .churn = true },
    [HTML_ENDS] = { ETLHEAP_ASK_TABLE, end_keys, 2, .with_whole = false },
    [HTML_THREADS] = { ETLHEAP_ASK_TABLE, thread_keys, 5, .with_whole = false },
    [HTML_PEAKS] = { ETLHEAP_ASK_PEAKS, keys, 1, .with_whole = false },
    [HTML_SIZES] = { ETLHEAP_ASK_HISTOGRAM, keys, 1, .by = ETLHEAP_HISTOGRAM_SIZE },
    [HTML_LIFETIMES] = { ETLHEAP_ASK_HISTOGRAM, keys, 1, .by = ETLHEAP_HISTOGRAM_LIFETIME },
    [HTML_SUSPECTS] = { ETLHEAP_ASK_SUSPECTS, suspect_keys, 3, .with_whole = false },
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
    etl_status status = go_on(request, 0, err);
    if (status == ETL_OK)
        status = ask_all(out, err);
    if (status == ETL_OK)
        status = go_on(request, 1, err);
    if (status == ETL_OK)
        status = name_rows(out, err);
    if (status == ETL_OK)
        status = go_on(request, 2, err);
    return status == ETL_OK ? ask_symbols(out, err) : status;
}

void html_answers_close(html_answers *answers)
{
    etlheap_windows_free(answers->kinds);
    etlheap_windows_free(answers->groups);
    etlheap_windows_free(answers->rows);
    etlheap_table_free(answers->ends);
    etlheap_table_free(answers->threads);
    etlheap_table_free(answers->free_stacks);
    etlheap_table_free(answers->pairs);
    etlheap_table_free(answers->free_threads);
    etlheap_table_free(answers->unmatched);
    etlheap_suspects_free(answers->suspects);
    for (u32 by = 0; by < ETLHEAP_HISTOGRAM_BY_COUNT; by++)
        etlheap_histogram_free(answers->histograms[by]);
    etlheap_lifetimes_close(answers->outstanding_blocks);
    etlheap_lifetimes_close(answers->freed_blocks);
    etlheap_symbol_list_free(answers->symbols);
    etlheap_symbols_close(answers->nowhere);
    etlheap_map_free(answers->map);
    *answers = (html_answers){ 0 };
}

/* Reports progress in bytes of the trace. */
static etl_status go_on(const etlheap_export_request *request, u32 step, etl_error *err)
{
    const u64 bytes = etlheap_result_trace(request->result)->bytes;
    const u64 done = bytes / STEPS * step;
    if (request->progress == NULL || request->progress(request->progress_user, done, bytes))
        return ETL_OK;
    return etl_fail_with(err, ETL_ERR_CANCELLED, 0, "cancelled");
}

static etlheap_query query_of(const html_answers *answers, const question_row *row, bool with_frees)
{
    etlheap_query query = *answers->request->query;
    if (row->kind == ETLHEAP_ASK_MAP)
        return query;
    query.group_by_count = 0;
    for (u32 i = 0; i < row->key_count; i++) {
        if (with_frees || !etlheap_key_is_of_free(row->keys[i]))
            query.group_by[query.group_by_count++] = row->keys[i];
    }
    query.types = row->types;
    query.sort = ETLHEAP_MEASURE_PEAK_SIZE;
    query.sort_ascending = false;
    query.sums_only = row->kind == ETLHEAP_ASK_TABLE;
    if (query.sums_only)
        query.sort = row->unmatched ? ETLHEAP_MEASURE_COUNT : ETLHEAP_MEASURE_SIZE;
    query.churn = row->churn && answers->has_times;
    query.unmatched = row->unmatched;
    query.freed_by_other = row->frees && with_frees && !row->unmatched;
    return query;
}

static void take(html_answers *answers, const etlheap_answer given[HTML_QUESTIONS])
{
    answers->kinds = given[HTML_KINDS].windows;
    answers->groups = given[HTML_GROUPS].windows;
    answers->rows = given[HTML_ROWS].windows;
    answers->ends = given[HTML_ENDS].table;
    answers->threads = given[HTML_THREADS].table;
    answers->suspects = given[HTML_SUSPECTS].suspects;
    memcpy(answers->peaks, given[HTML_PEAKS].peaks, sizeof answers->peaks);
    answers->histograms[ETLHEAP_HISTOGRAM_SIZE] = given[HTML_SIZES].histogram;
    answers->histograms[ETLHEAP_HISTOGRAM_LIFETIME] = given[HTML_LIFETIMES].histogram;
    answers->outstanding_blocks = given[HTML_OUTSTANDING_BLOCKS].lifetimes;
    answers->freed_blocks = given[HTML_FREED_BLOCKS].lifetimes;
    answers->free_stacks = given[HTML_FREE_STACKS].table;
    answers->pairs = given[HTML_PAIRS].table;
    answers->free_threads = given[HTML_FREE_THREADS].table;
    answers->unmatched = given[HTML_UNMATCHED].table;
    answers->map = given[HTML_MAP].map;
    answers->window_count = answers->kinds->window_count;
}

/* Asks the questions that have a bit in `wanted`, and fills their elements of `given`. */
static etl_status ask(const html_answers *answers, u32 wanted, bool with_frees,
                      etlheap_answer given[HTML_QUESTIONS], etl_error *err)
{
    etlheap_lifetimes_options lists[HTML_QUESTIONS];
    etlheap_query queries[HTML_QUESTIONS];
    etlheap_windows_options windows[HTML_QUESTIONS];
    const etlheap_map_options map = { .size = sizeof map, .pins_max = HTML_MAP_PINS };
    etlheap_question questions[HTML_QUESTIONS];
    etlheap_answer answered[HTML_QUESTIONS];
    u32 count = 0;
    for (u32 i = 0; i < HTML_QUESTIONS; i++) {
        const question_row *const row = &rows[i];
        if ((wanted >> i & 1) == 0)
            continue;
        queries[i] = query_of(answers, row, with_frees);
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
        questions[count++] = (etlheap_question){ .size = sizeof questions[i],
                                                 .kind = row->kind,
                                                 .query = &queries[i],
                                                 .windows = &windows[i],
                                                 .by = row->by,
                                                 .lifetimes = &lists[i],
                                                 .map = &map,
                                                 .optional = row->optional && with_frees };
    }
    const etl_status status =
        etlheap_ask(answers->request->result, questions, count, answered, err);
    for (u32 i = HTML_QUESTIONS; status == ETL_OK && i-- > 0;) {
        if ((wanted >> i & 1) != 0)
            given[i] = answered[--count];
    }
    return status;
}

/* Blocks whose times are not known have no suspects, and nobody knows who freed them. The engine
 * says what else cannot be answered. If it is who freed, threads are asked once more without that
 * key. */
static etl_status ask_all(html_answers *answers, etl_error *err)
{
    const u32 stacks = QUESTION_BIT(FREE_STACKS) | QUESTION_BIT(PAIRS);
    const u32 frees = QUESTION_BIT(FREE_THREADS) | QUESTION_BIT(UNMATCHED) | stacks;
    etlheap_answer given[HTML_QUESTIONS] = { 0 };
    u32 wanted = (1u << HTML_QUESTIONS) - 1;
    answers->has_times = !etlheap_result_is_snapshot(answers->request->result);
    wanted &= answers->has_times ? ~QUESTION_BIT(ENDS) /* rows of threads say how they end, too */
                                 : ~(QUESTION_BIT(SUSPECTS) | frees);
    if (!etlheap_result_has_free_stacks(answers->request->result))
        wanted &= ~stacks;
    etl_status status = ask(answers, wanted, true, given, err);
    if (status == ETL_OK && answers->has_times && given[HTML_FREE_THREADS].table == NULL)
        status = ask(answers, QUESTION_BIT(FREE_THREADS), false, given, err);
    if (status == ETL_OK)
        take(answers, given);
    else
        etlheap_answers_free(given, HTML_QUESTIONS);
    return status;
}

static etl_status name_rows(html_answers *answers, etl_error *err)
{
    etlheap_symbols *const symbols = answers->request->query->symbols;
    etlheap_table *const tables[] = {
        answers->rows->table, answers->suspects != NULL ? answers->suspects->table : NULL,
        answers->pairs,       answers->free_stacks,
        answers->unmatched,   answers->map != NULL ? answers->map->table : NULL,
    };
    etl_status status = ETL_OK;
    for (size_t i = 0; symbols != NULL && status == ETL_OK && i < ETL_COUNT_OF(tables); i++) {
        if (tables[i] != NULL)
            status = etlheap_table_name(tables[i], symbols, NULL, err);
    }
    return status;
}

/* Asks which modules have symbols. Without a symbol path none has, and the list says that too. */
static etl_status ask_symbols(html_answers *answers, etl_error *err)
{
    etlheap_query query = *answers->request->query;
    etl_status status = ETL_OK;
    if (query.symbols == NULL) {
        const etlheap_symbol_options options = {
            .size = sizeof options,
            .offline = true,
            .jobs = query.jobs,
        };
        status = etlheap_symbols_open(answers->request->result, &options, &answers->nowhere, err);
        query.symbols = answers->nowhere;
    }
    return status == ETL_OK ? etlheap_symbols_list(&query, &answers->symbols, err) : status;
}
