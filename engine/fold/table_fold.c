/*
 * table_fold.c - a question for a table.
 *
 * Rows of ranges, extents and what else is in memory are added up at once; rows of heap blocks
 * come from the events, which are read with those of other questions (heap_rows.h). Groups are
 * then put in order (table.h).
 */
#include <stdlib.h>

#include "churn_rows.h"
#include "folds.h"
#include "growth.h"
#include "heap_rows.h"
#include "row_details.h"
#include "unmatched_rows.h"

/* The rows of an aggregator on their way. */
typedef struct table_rows {
    aggregator *a;
    heap_rows heap;
    bool has_heap; /* rows of heap blocks are those of events */
} table_rows;

typedef struct table_fold {
    etlheap_query query;
    aggregator a;
    table_rows rows;
} table_fold;

static etl_status no_memory(etl_error *err)
{
    return etl_fail_with(err, ETL_ERR_MEMORY, 0, "out of memory");
}

static bool compute_peaks(aggregator *a, peak_rows *rows)
{
    const u32 count = (u32)a->groups.count;
    peak *const peaks = calloc((size_t)count + 1, sizeof *peaks);
    const bool ok = peaks != NULL && peaks_compute(rows->at, rows->count, count, a->plan.from_ticks,
                                                   a->plan.to_ticks, a->query->jobs, peaks);
    for (u32 i = 0; ok && i < count; i++) {
        aggregate_measures(a, i)[ETLHEAP_MEASURE_PEAK_SIZE] = peaks[i].size;
        aggregate_measures(a, i)[ETLHEAP_MEASURE_PEAK_COUNT] = peaks[i].count;
    }
    free(peaks);
    return ok;
}

/* Rows of what is in memory. */
static etl_status fill_from_memory(aggregator *a, etl_error *err)
{
    peak_rows steps = { 0 };
    const etl_status status = aggregate_settle(a, err);
    if (status != ETL_OK)
        return status;
    const bool is_summary = a->result->summary != NULL;       /* whose rows have their peaks */
    const bool has_peaks = is_summary || a->query->sums_only; /* or none are wanted */
    const bool ok = aggregate_rows(a, &steps) && (has_peaks || compute_peaks(a, &steps)) &&
                    (!a->query->growth || growth_fill(a, steps.at, steps.count)) &&
                    (!a->query->churn || churn_fill(a));
    ETLHEAP_VECTOR_FREE(&steps);
    return ok ? ETL_OK : no_memory(err);
}

static etl_status begin_rows(table_rows *rows, aggregator *a, log_pass *pass, etl_error *err)
{
    rows->a = a;
    if (a->query->unmatched) {
        const etl_status is_meant = unmatched_refuse(a->query, err);
        return is_meant == ETL_OK ? unmatched_rows(a, err) : is_meant;
    }
    rows->has_heap = a->result->summary == NULL && etlheap_result_is_for_questions(a->result);
    const etl_status status = fill_from_memory(a, err);
    return status == ETL_OK && rows->has_heap ? heap_rows_begin(&rows->heap, a, pass, err) : status;
}

static etl_status walk_rows(table_rows *rows, log_pass *pass, etl_error *err)
{
    return rows->has_heap ? heap_rows_walk(&rows->heap, pass, err) : ETL_OK;
}

static etl_status finish_rows(table_rows *rows, etl_error *err)
{
    const etl_status status = rows->has_heap ? heap_rows_finish(&rows->heap, err) : ETL_OK;
    return status == ETL_OK && !row_details_fill(rows->a) ? no_memory(err) : status;
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
    heap_rows_close(&rows.heap);
    return status;
}

static etl_status begin(void *state, const etlheap_result *result, const etlheap_question *question,
                        log_pass *pass, etl_error *err)
{
    table_fold *const table = state;
    etl_status status = query_read(question->query, &table->query, err);
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
    heap_rows_close(&table->rows.heap); /* the rows take its place */
    table->rows = (table_rows){ .a = NULL };
    table->a.may_merge = true;
    out->table = aggregate_table(&table->a);
    return out->table == NULL ? no_memory(err) : ETL_OK;
}

static void close_table(void *state)
{
    table_fold *const table = state;
    heap_rows_close(&table->rows.heap);
    aggregate_close(&table->a);
}

const fold fold_table = { sizeof(table_fold), begin, walk, answer, close_table };
