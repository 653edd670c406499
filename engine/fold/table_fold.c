/*
 * table_fold.c - a question for a table.
 *
 * Groups come from each source of blocks (feed.h) alike: from blocks and events, which are read
 * with those of other questions (heap_rows.h). A summary has its groups already. Groups are then
 * put in order (table.h).
 */
#include <stdlib.h>

#include "folds.h"
#include "function_rows.h"
#include "heap_rows.h"
#include "row_details.h"
#include "summary_answer.h"
#include "unmatched_rows.h"

/* The rows of an aggregator on their way. */
typedef struct table_rows {
    aggregator *a;
    heap_rows of[FEED_SOURCE_COUNT];
    bool has[FEED_SOURCE_COUNT];
} table_rows;

typedef struct table_fold {
    etlheap_query query;
    aggregator a;
    table_rows rows;
} table_fold;

static etl_status begin_rows(table_rows *rows, aggregator *a, log_pass *pass, etl_error *err)
{
    rows->a = a;
    if (a->query->unmatched) {
        const etl_status is_meant = unmatched_refuse(a->query, err);
        return is_meant == ETL_OK ? unmatched_rows(a, err) : is_meant;
    }
    const bool is_summary = a->result->summary != NULL;
    etl_status status = is_summary ? ETL_OK : feed_number(&pass->feed, a, err);
    if (status == ETL_OK)
        status = aggregate_finish_stacks(a, &pass->feed.rows, err);
    if (status == ETL_OK && is_summary)
        return summary_rows(a) ? ETL_OK : etl_no_memory(err);
    for (u32 i = 0; status == ETL_OK && i < FEED_SOURCE_COUNT; i++) {
        rows->has[i] = log_groups_exist(a, (feed_source)i);
        if (rows->has[i])
            status = heap_rows_begin(&rows->of[i], a, (feed_source)i, pass, err);
    }
    return status;
}

static etl_status walk_rows(table_rows *rows, log_pass *pass, etl_error *err)
{
    etl_status status = ETL_OK;
    u32 first = 0;
    for (u32 i = 0; status == ETL_OK && i < FEED_SOURCE_COUNT; i++) {
        if (rows->has[i])
            status = heap_rows_walk(&rows->of[i], first, pass, err);
        first += rows->of[i].groups.count;
    }
    return status;
}

static etl_status finish_rows(table_rows *rows, etl_error *err)
{
    etl_status status = ETL_OK;
    for (u32 i = 0; status == ETL_OK && i < FEED_SOURCE_COUNT; i++) {
        if (rows->has[i])
            status = heap_rows_finish(&rows->of[i], err);
    }
    if (status == ETL_OK && !function_rows(rows->a))
        status = etl_no_memory(err);
    for (u32 i = 0; status == ETL_OK && i < FEED_SOURCE_COUNT; i++)
        heap_rows_fill_functions(&rows->of[i]);
    if (status == ETL_OK)
        status = aggregate_count(rows->a, err);
    return status == ETL_OK && !row_details_fill(rows->a) ? etl_no_memory(err) : status;
}

static void close_rows(table_rows *rows)
{
    for (u32 i = 0; i < FEED_SOURCE_COUNT; i++)
        heap_rows_close(&rows->of[i]);
}

etl_status aggregate_fill(aggregator *a, etl_error *err)
{
    table_rows rows = { .a = NULL };
    log_pass pass = { 0 };
    etl_status status = begin_rows(&rows, a, &pass, err);
    if (status == ETL_OK)
        status = feed_blocks(&pass.feed, err);
    if (status == ETL_OK)
        status = walk_rows(&rows, &pass, err);
    if (status == ETL_OK)
        status = log_pass_events(&pass, err);
    if (status == ETL_OK)
        status = finish_rows(&rows, err);
    log_pass_close(&pass);
    close_rows(&rows);
    return status;
}

static etl_status begin(void *state, const etlheap_result *result, const etlheap_question *question,
                        log_pass *pass, etl_error *err)
{
    table_fold *const table = state;
    etl_status status = query_read_for(result, question->query, &table->query, err);
    if (status == ETL_OK)
        status = aggregate_open(&table->a, result, &table->query, err);
    return status == ETL_OK ? begin_rows(&table->rows, &table->a, pass, err) : status;
}

static etl_status walk(void *state, log_pass *pass, etl_error *err)
{
    table_fold *const table = state;
    return walk_rows(&table->rows, pass, err);
}

static etl_status answer(void *state, etlheap_answer *out, etl_error *err)
{
    table_fold *const table = state;
    const etl_status status = finish_rows(&table->rows, err);
    if (status != ETL_OK)
        return status;
    close_rows(&table->rows); /* the rows take its place */
    table->rows = (table_rows){ .a = NULL };
    table->a.may_merge = true;
    out->table = aggregate_table(&table->a);
    return out->table == NULL ? etl_no_memory(err) : ETL_OK;
}

static void close_table(void *state)
{
    table_fold *const table = state;
    close_rows(&table->rows);
    aggregate_close(&table->a);
}

const fold fold_table = { sizeof(table_fold), begin, walk, answer, close_table };
