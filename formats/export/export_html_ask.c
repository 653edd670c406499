/*
 * export_html_ask.c - what an HTML report asks the engine: see export_html.h.
 *
 * Windows have a length that people would choose, 1, 2 or 5 of something, so that
 * there are 100 to 250 of them: as many as a chart can show. What is asked of all
 * time is asked as one window more, so that both come from one pass.
 */
#include "export_html.h"

#include <stdlib.h>

#define WINDOWS_WANTED 250
#define QUESTIONS      5

static etl_status go_on(const etlheap_export_request *request, u32 asked, etl_error *err);
static etl_status ask(html_answers *answers, u32 question, etl_error *err);
static etl_status ask_kinds(html_answers *answers, etl_error *err);
static i64 length_of_windows(const html_answers *answers);
static etl_status ask_rows(html_answers *answers, etl_error *err);
static etl_status follow_whole(const html_answers *answers, u32 key_count, etlheap_windows **out,
                               etl_error *err);
static etl_status follow(const html_answers *answers, const etlheap_windows_options *options,
                         u32 key_count, etlheap_windows **out, etl_error *err);
static etl_status ask_details(html_answers *answers, etl_error *err);
static etl_status ask_symbols(html_answers *answers, etl_error *err);

/* From the largest group to the smallest: the first of them are the keys of each. */
static const etlheap_key keys[] = { ETLHEAP_KEY_KIND, ETLHEAP_KEY_PROCESS, ETLHEAP_KEY_HEAP,
                                    ETLHEAP_KEY_STACK };

etl_status html_answers_open(const etlheap_export_request *request, html_answers *out,
                             etl_error *err)
{
    out->request = request;
    if (etlheap_result_is_summary(request->result))
        return etl_fail_with(err, ETL_ERR_UNSUPPORTED, 0,
                             "an HTML report is made of traces or of one store, not of a summary: "
                             "a summary has no single lifetimes");
    etl_status status = ETL_OK;
    for (u32 question = 0; status == ETL_OK && question < QUESTIONS; question++) {
        status = go_on(request, question, err);
        if (status == ETL_OK)
            status = ask(out, question, err);
    }
    return status;
}

void html_answers_close(html_answers *answers)
{
    etlheap_windows_free(answers->kinds);
    etlheap_windows_free(answers->groups);
    etlheap_windows_free(answers->rows);
    etlheap_table_free(answers->ends);
    for (u32 by = 0; by < ETLHEAP_HISTOGRAM_BY_COUNT; by++)
        etlheap_histogram_free(answers->histograms[by]);
    etlheap_symbol_list_free(answers->symbols);
    etlheap_symbols_close(answers->nowhere);
    *answers = (html_answers){ 0 };
}

/* How far it is, in bytes of the trace. */
static etl_status go_on(const etlheap_export_request *request, u32 asked, etl_error *err)
{
    const u64 bytes = etlheap_result_trace(request->result)->bytes;
    const u64 done = bytes / QUESTIONS * asked;
    if (request->progress == NULL || request->progress(request->progress_user, done, bytes))
        return ETL_OK;
    return etl_fail_with(err, ETL_ERR_CANCELLED, 0, "cancelled");
}

static etl_status ask(html_answers *answers, u32 question, etl_error *err)
{
    switch (question) {
    case 0:
        return ask_kinds(answers, err);
    case 1:
        return follow_whole(answers, 3, &answers->groups, err);
    case 2:
        return ask_rows(answers, err);
    case 3:
        return ask_details(answers, err);
    default:
        return ask_symbols(answers, err);
    }
}

static etl_status ask_kinds(html_answers *answers, etl_error *err)
{
    const etlheap_windows_options options = {
        .size = sizeof options,
        .every_ns = length_of_windows(answers),
    };
    const etl_status status = follow(answers, &options, 1, &answers->kinds, err);
    if (status == ETL_OK)
        answers->window_count = answers->kinds->window_count;
    return status;
}

static i64 length_of_windows(const html_answers *answers)
{
    static const u64 steps[] = { 1, 2, 5 };
    const etlheap_query *const query = answers->request->query;
    const etlheap_trace_info *const trace = etlheap_result_trace(answers->request->result);
    const i64 from_ns = query->from_ns == INT64_MIN ? 0 : query->from_ns;
    const i64 to_ns = query->to_ns == INT64_MAX ? trace->end_ns : query->to_ns;
    const u64 span_ns = to_ns > from_ns ? (u64)to_ns - (u64)from_ns : 0;
    u64 decade_ns = 1;
    u32 step = 0;
    while (span_ns / (decade_ns * steps[step]) >= WINDOWS_WANTED) {
        step = (step + 1) % ETL_COUNT_OF(steps);
        if (step == 0)
            decade_ns *= 10;
    }
    return (i64)(decade_ns * steps[step]);
}

static etl_status ask_rows(html_answers *answers, etl_error *err)
{
    etlheap_symbols *const symbols = answers->request->query->symbols;
    etl_status status = follow_whole(answers, 4, &answers->rows, err);
    if (status == ETL_OK && symbols != NULL)
        status = etlheap_table_name(&answers->rows->table, symbols, NULL, err);
    return status;
}

/* The same windows as those of kinds, and what they span. */
static etl_status follow_whole(const html_answers *answers, u32 key_count, etlheap_windows **out,
                               etl_error *err)
{
    const u32 count = answers->window_count;
    etlheap_time_range *const ranges = calloc((size_t)count + 1, sizeof *ranges);
    if (ranges == NULL)
        return etl_fail_with(err, ETL_ERR_MEMORY, 0, "out of memory");
    memcpy(ranges, answers->kinds->windows, count * sizeof *ranges);
    ranges[count] = (etlheap_time_range){ INT64_MIN, INT64_MAX };
    const etlheap_windows_options options = {
        .size = sizeof options,
        .ranges = ranges,
        .range_count = count + 1,
    };
    const etl_status status = follow(answers, &options, key_count, out, err);
    free(ranges);
    return status;
}

static etl_status follow(const html_answers *answers, const etlheap_windows_options *options,
                         u32 key_count, etlheap_windows **out, etl_error *err)
{
    etlheap_query query = *answers->request->query;
    memcpy(query.group_by, keys, key_count * sizeof *keys);
    query.group_by_count = key_count;
    query.types = 0;
    query.sort = ETLHEAP_MEASURE_PEAK_SIZE;
    query.sort_ascending = false;
    return etlheap_windows_make(answers->request->result, &query, options, out, err);
}

static etl_status ask_details(html_answers *answers, etl_error *err)
{
    const etlheap_result *const result = answers->request->result;
    etlheap_query query = *answers->request->query;
    query.group_by[0] = ETLHEAP_KEY_KIND;
    query.group_by[1] = ETLHEAP_KEY_FREE_TYPE;
    query.group_by_count = 2;
    query.types = 0;
    query.sort = ETLHEAP_MEASURE_OUTSTANDING_SIZE;
    etl_status status = etlheap_aggregate(result, &query, &answers->ends, err);
    query.group_by_count = 1;
    if (status == ETL_OK)
        status = etlheap_find_peaks(result, &query, answers->peaks, err);
    for (u32 by = 0; status == ETL_OK && by < ETLHEAP_HISTOGRAM_BY_COUNT; by++)
        status = etlheap_histogram_make(result, &query, (etlheap_histogram_by)by,
                                        &answers->histograms[by], err);
    return status;
}

/* Without a symbol path no module has symbols, which the list says as well. */
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
