/*
 * export_samples.c - asks the engine for samples: a stack and a value, by a metric.
 *
 * In: a request with a metric (outstanding, allocated, peak). Out: a table, and size and count of
 * each row. Invariant: what a metric means is defined here only, so all profiles agree.
 */
#include "export_samples.h"

/* How a metric is asked for: of which types, and what of their rows counts. An event list
 * has sums of single types only where rows are by type. */
typedef struct metric_row {
    u32 types; /* bit per etlheap_type; 0: all, and rows are of all */
    etlheap_measure size, count;
} metric_row;

#define TYPE(name) (1u << ETLHEAP_TYPE_##name)

static const metric_row metrics[ETLHEAP_METRIC_COUNT] = {
    [ETLHEAP_METRIC_OUTSTANDING] = { 0, ETLHEAP_MEASURE_OUTSTANDING_SIZE,
                                     ETLHEAP_MEASURE_OUTSTANDING_COUNT },
    [ETLHEAP_METRIC_TOTAL] = { TYPE(AIFO) | TYPE(AIFI), ETLHEAP_MEASURE_SIZE,
                               ETLHEAP_MEASURE_COUNT },
    [ETLHEAP_METRIC_TRANSIENT] = { TYPE(AIFI), ETLHEAP_MEASURE_SIZE, ETLHEAP_MEASURE_COUNT },
    [ETLHEAP_METRIC_PEAK] = { 0, ETLHEAP_MEASURE_OUTSTANDING_SIZE,
                              ETLHEAP_MEASURE_OUTSTANDING_COUNT },
};

static etl_status set_moment(const etlheap_export_request *request, etlheap_query *query,
                             i64 moments[ETLHEAP_KIND_CAPACITY], etl_error *err);
static etl_status ask(const etlheap_result *result, const etlheap_query *query, etlheap_table **out,
                      etl_error *err);

etl_status export_samples_open(const etlheap_export_request *request, const etlheap_key *keys,
                               u32 key_count, export_samples *out, etl_error *err)
{
    const metric_row *const row = &metrics[request->metric];
    i64 moments[ETLHEAP_KIND_CAPACITY];
    etlheap_query query = *request->query;
    *out = (export_samples){ .size = row->size, .count = row->count };
    assert(key_count < ETLHEAP_GROUP_BY_MAX);
    memcpy(query.group_by, keys, key_count * sizeof *keys);
    query.group_by_count = key_count;
    if (row->types != 0)
        query.group_by[query.group_by_count++] = ETLHEAP_KEY_TYPE;
    query.types = row->types;
    query.sort = row->size;
    query.sort_ascending = false;
    const etl_status status = set_moment(request, &query, moments, err);
    return status == ETL_OK ? ask(request->result, &query, &out->table, err) : status;
}

/* A row each: where samples are sums of all types, single ones are those that are in
 * use at the moment. */
etl_status export_samples_select(const etlheap_export_request *request, etlheap_query *out,
                                 i64 moments[ETLHEAP_KIND_CAPACITY], etl_error *err)
{
    *out = *request->query;
    out->types = metrics[request->metric].types;
    out->at_end = out->types == 0;
    return set_moment(request, out, moments, err);
}

etl_status export_table_open(const etlheap_export_request *request, const etlheap_key *keys,
                             u32 key_count, etlheap_table **out, etl_error *err)
{
    etlheap_query query = *request->query;
    assert(key_count <= ETLHEAP_GROUP_BY_MAX);
    memcpy(query.group_by, keys, key_count * sizeof *keys);
    query.group_by_count = key_count;
    query.sort = ETLHEAP_MEASURE_OUTSTANDING_SIZE;
    query.sort_ascending = false;
    return ask(request->result, &query, out, err);
}

void export_samples_close(export_samples *samples)
{
    etlheap_table_free(samples->table);
    samples->table = NULL;
}

i64 export_window_length(const etlheap_export_request *request, u32 windows_max)
{
    static const u64 steps[] = { 1, 2, 5 };
    const etlheap_query *const query = request->query;
    const etlheap_trace_info *const trace = etlheap_result_trace(request->result);
    const i64 from_ns = query->from_ns == INT64_MIN ? 0 : query->from_ns;
    const i64 to_ns = query->to_ns == INT64_MAX ? trace->end_ns : query->to_ns;
    const u64 span_ns = (u64)etl_span_i64(from_ns, to_ns);
    u64 decade_ns = 1;
    u32 step = 0;
    while (span_ns / (decade_ns * steps[step]) >= windows_max) {
        step = (step + 1) % ETL_COUNT_OF(steps);
        if (step == 0)
            decade_ns *= 10;
    }
    return (i64)(decade_ns * steps[step]);
}

/* Of the peak; other metrics have none. The query borrows the moments. */
static etl_status set_moment(const etlheap_export_request *request, etlheap_query *query,
                             i64 moments[ETLHEAP_KIND_CAPACITY], etl_error *err)
{
    etlheap_peak_moment peaks[ETLHEAP_KIND_CAPACITY];
    if (request->metric != ETLHEAP_METRIC_PEAK)
        return ETL_OK;
    const etl_status status = etlheap_find_peaks(request->result, request->query, peaks, err);
    if (status != ETL_OK)
        return status;
    for (u32 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++)
        moments[kind] = peaks[kind].found ? peaks[kind].to_ticks : INT64_MIN;
    query->kind_to_ticks = moments;
    query->at_end = true;
    return ETL_OK;
}

static etl_status ask(const etlheap_result *result, const etlheap_query *query, etlheap_table **out,
                      etl_error *err)
{
    *out = NULL;
    etl_status status = etlheap_aggregate(result, query, out, err);
    if (status == ETL_OK && query->symbols != NULL)
        status = etlheap_table_name(*out, query->symbols, NULL, err);
    if (status != ETL_OK) {
        etlheap_table_free(*out);
        *out = NULL;
    }
    return status;
}
