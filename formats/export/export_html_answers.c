/*
 * export_html_answers.c - writes one document of an HTML page: the answer to a question, named and
 * cut to its rows, by the writer of the command's JSON.
 *
 * In: an inquiry: a question, the engine's answer to it, and a sink. Out: JSON as the command
 * prints it. Invariant: whatever is left out of an answer shows in the options of the inquiry.
 */
#include "export_html_documents.h"

#include "formats/writers.h"

#include <inttypes.h>
#include <stdio.h>

static etl_status name_table(const html_inquiry *inquiry, etlheap_table *table, etl_error *err)
{
    etlheap_symbols *const symbols = inquiry->query.symbols;
    return symbols ? etlheap_table_name(table, symbols, NULL, err) : ETL_OK;
}

static etl_status cut_and_name(html_inquiry *inquiry, etlheap_table *table, etl_error *err)
{
    etl_status status = ETL_OK;
    if (inquiry->top > 0 && table->row_count > inquiry->top) {
        inquiry->is_cut = true;
        status = etlheap_table_keep_top(table, inquiry->top, err);
    }
    return status == ETL_OK ? name_table(inquiry, table, err) : status;
}

etl_status html_answer_report(html_inquiry *inquiry, etl_error *err)
{
    const etlheap_answer *const answer = &inquiry->answer;
    const etl_status status = cut_and_name(inquiry, answer->table, err);
    return status == ETL_OK
               ? etlheap_write_report_json(inquiry->answers->request->result, answer->table,
                                           &inquiry->layout, inquiry->sink)
               : status;
}

etl_status html_answer_histogram(html_inquiry *inquiry, etl_error *err)
{
    const etlheap_result *const result = inquiry->answers->request->result;
    etlheap_answer rows;
    const etlheap_question question = { .size = sizeof question, .query = &inquiry->query };
    etl_status status = etlheap_ask(result, &question, 1, &rows, err);
    if (status != ETL_OK)
        return status;
    status = cut_and_name(inquiry, rows.table, err);
    if (status == ETL_OK)
        status = etlheap_write_histogram_json(result, rows.table, inquiry->answer.histogram,
                                              &inquiry->layout, inquiry->sink);
    etlheap_answers_free(&rows, 1);
    return status;
}

etl_status html_answer_suspects(html_inquiry *inquiry, etl_error *err)
{
    etlheap_suspects *const suspects = inquiry->answer.suspects;
    const etl_status status = cut_and_name(inquiry, suspects->table, err);
    return status == ETL_OK ? etlheap_write_suspects_json(inquiry->answers->request->result,
                                                          suspects, &inquiry->layout, inquiry->sink)
                            : status;
}

static etl_status write_map(html_inquiry *inquiry, etlheap_map *map, etl_error *err)
{
    const etl_status status = name_table(inquiry, map->table, err);
    return status == ETL_OK ? etlheap_write_map_json(inquiry->answers->request->result, map,
                                                     &inquiry->layout, inquiry->sink)
                            : status;
}

/* Chooses the processes with the most memory; false if there are no more than a page has, or if
 * one of them has no number to name it by. */
static bool choose_processes(html_inquiry *inquiry, const etlheap_map *map)
{
    if (map->process_count <= HTML_MAPS_MAX)
        return false;
    for (u32 i = 0; i < HTML_MAPS_MAX; i++) {
        if (map->processes[i].pid == ETL_NO_ID)
            return false;
        snprintf(inquiry->processes[i].text, sizeof inquiry->processes[i].text, "%" PRIu32,
                 map->processes[i].pid);
    }
    inquiry->process_count = HTML_MAPS_MAX;
    return true;
}

/* The map of many processes is asked again, for the largest of them: a trace may have a hundred
 * thousand. */
etl_status html_answer_map(html_inquiry *inquiry, etl_error *err)
{
    static const etlheap_map_options options = { .size = sizeof options };
    if (!choose_processes(inquiry, inquiry->answer.map))
        return write_map(inquiry, inquiry->answer.map, err);
    const char *words[HTML_MAPS_MAX];
    etlheap_query query = inquiry->query;
    for (u32 i = 0; i < inquiry->process_count; i++)
        words[i] = inquiry->processes[i].text;
    query.processes = words;
    query.process_count = inquiry->process_count;
    etlheap_answer answer;
    const etlheap_question question = {
        .size = sizeof question, .kind = ETLHEAP_ASK_MAP, .query = &query, .map = &options
    };
    etl_status status = etlheap_ask(inquiry->answers->request->result, &question, 1, &answer, err);
    if (status != ETL_OK)
        return status;
    inquiry->is_cut = true;
    status = write_map(inquiry, answer.map, err);
    etlheap_answers_free(&answer, 1);
    return status;
}

etl_status html_answer_spikes(html_inquiry *inquiry, etl_error *err)
{
    const etlheap_result *const result = inquiry->answers->request->result;
    const etlheap_spikes_options options = { .size = sizeof options, .count_max = inquiry->top };
    etlheap_spikes *spikes = NULL;
    etl_status status = etlheap_spikes_make(result, &inquiry->query, &options, &spikes, err);
    if (status == ETL_OK && inquiry->query.symbols)
        status = etlheap_spikes_name(spikes, inquiry->query.symbols, err);
    if (status == ETL_OK) {
        inquiry->is_cut = spikes->left_out_count > 0;
        status = etlheap_write_spikes_json(result, spikes, &inquiry->layout, inquiry->sink);
    }
    etlheap_spikes_free(spikes);
    return status;
}

etl_status html_answer_symbols(html_inquiry *inquiry, etl_error *err)
{
    const etlheap_symbol_list *list = NULL;
    etlheap_query query = inquiry->query;
    query.symbols = html_symbols_of(inquiry->answers);
    /* The command lists modules of all blocks, whatever their stacks, threads and lifetimes. */
    query.require_frame_count = query.exclude_frame_count = query.fold_module_count = 0;
    query.thread_count = query.thread_name_count = 0;
    query.lifetime_min_ns = 0;
    query.lifetime_max_ns = INT64_MAX;
    inquiry->layout.excluded_count = 0;
    etl_status status = etlheap_symbols_list(&query, &list, err);
    if (status == ETL_OK)
        status = etlheap_write_symbols_json(inquiry->answers->request->result, list,
                                            &inquiry->layout, inquiry->sink);
    etlheap_symbol_list_free(list);
    return status;
}

etl_status html_answer_info(html_inquiry *inquiry, etl_error *err)
{
    (void)err;
    return etlheap_write_info_json(inquiry->answers->request->result, &inquiry->layout,
                                   inquiry->sink);
}
