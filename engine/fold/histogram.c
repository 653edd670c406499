/*
 * histogram.c - sizes and lifetimes spread over powers of two.
 *
 * Each kind, or kind and process, has 65 buckets and an open one; they are made
 * when the first row comes. What is handed out are those from the first to the
 * last that has something.
 */
#include <stdlib.h>

#include "engine/core/type_rule.h"
#include "aggregate.h"

#define BUCKETS     65 /* 0, then one for each bit */
#define OPEN_BUCKET BUCKETS

typedef struct bucket_sums {
    i64 count, size, outstanding_count, outstanding_size;
} bucket_sums;

typedef struct bucket_group {
    u32 kind, process; /* process 0: all */
    bucket_sums sums[BUCKETS + 1];
} bucket_group;

/* A histogram and the memory behind it. */
typedef struct owned_histogram {
    etlheap_histogram histogram;
    ETLHEAP_VECTOR(etlheap_bucket) buckets;
} owned_histogram;

typedef struct histogram_maker {
    aggregator names; /* for which processes are the same */
    etlheap_query query;
    etlheap_histogram_by by;
    bool by_process;
    ETLHEAP_VECTOR(bucket_group) groups;
    u32 *group_of; /* by kind and process: + 1 */
} histogram_maker;

static etl_status fill(histogram_maker *maker, etl_error *err);
static bool add_row(histogram_maker *maker, const etlheap_lifetime *row);
static owned_histogram *publish(const histogram_maker *maker);
static bool publish_group(const histogram_maker *maker, const bucket_group *group,
                          owned_histogram *out);

const char *etlheap_histogram_word(etlheap_histogram_by by)
{
    static const char *const words[ETLHEAP_HISTOGRAM_BY_COUNT] = { "size", "lifetime" };
    return (u32)by < ETLHEAP_HISTOGRAM_BY_COUNT ? words[by] : "";
}

etl_status etlheap_histogram_make(const etlheap_result *result, const etlheap_query *query,
                                  etlheap_histogram_by by, const etlheap_histogram **out,
                                  etl_error *err)
{
    histogram_maker maker = { .by = by };
    *out = NULL;
    etl_status status = query_read(query, &maker.query, err);
    if (status == ETL_OK && (u32)by >= ETLHEAP_HISTOGRAM_BY_COUNT)
        status = etl_fail_with(err, ETL_ERR_ARGUMENT, 0, "there is no such histogram");
    if (status != ETL_OK)
        return status;
    maker.by_process = query_groups_by(&maker.query, ETLHEAP_KEY_PROCESS);
    maker.names.result = result;
    maker.group_of =
        calloc(((size_t)result->processes.count + 1) * ETLHEAP_KIND_COUNT, sizeof *maker.group_of);
    const bool ok = maker.group_of != NULL && aggregate_same_names(&maker.names);
    status = ok ? fill(&maker, err) : ETL_ERR_MEMORY;
    if (status == ETL_OK) {
        owned_histogram *const made = publish(&maker);
        if (made != NULL)
            *out = &made->histogram;
        status = made == NULL ? ETL_ERR_MEMORY : ETL_OK;
    }
    free(maker.names.same_name);
    free(maker.group_of);
    ETLHEAP_VECTOR_FREE(&maker.groups);
    return status == ETL_ERR_MEMORY ? etl_fail_with(err, status, 0, "out of memory") : status;
}

static etl_status fill(histogram_maker *maker, etl_error *err)
{
    etlheap_lifetimes *walk = NULL;
    etlheap_lifetime row;
    etl_status status =
        etlheap_lifetimes_open(maker->names.result, &maker->query, NULL, &walk, err);
    while (status == ETL_OK && etlheap_lifetimes_next(walk, &row)) {
        if (!add_row(maker, &row))
            status = ETL_ERR_MEMORY;
    }
    if (status == ETL_OK)
        status = etlheap_lifetimes_status(walk, err);
    etlheap_lifetimes_close(walk);
    return status;
}

/* The number of its highest bit + 1; 0 for 0. */
static u32 bucket_of(u64 value)
{
    return value == 0 ? 0 : 64 - (u32)__builtin_clzll(value);
}

static bool add_row(histogram_maker *maker, const etlheap_lifetime *row)
{
    const u32 process = maker->by_process ? maker->names.same_name[row->process.v] : 0;
    u32 *const number = &maker->group_of[(size_t)process * ETLHEAP_KIND_COUNT + row->kind];
    if (*number == 0) {
        if (!ETLHEAP_PUSH(&maker->groups, (bucket_group){ .kind = row->kind, .process = process }))
            return false;
        *number = (u32)maker->groups.count;
    }
    u32 bucket = bucket_of(row->size_bytes);
    if (maker->by == ETLHEAP_HISTOGRAM_LIFETIME)
        bucket = row->lifetime_ns == INT64_MAX ? OPEN_BUCKET : bucket_of((u64)row->lifetime_ns);
    bucket_sums *const sums = &maker->groups.at[*number - 1].sums[bucket];
    const i64 size = row->size_bytes > INT64_MAX ? INT64_MAX : (i64)row->size_bytes;
    sums->count++;
    sums->size = etl_sat_add_i64(sums->size, size);
    if (type_is_outstanding(row->type)) {
        sums->outstanding_count++;
        sums->outstanding_size = etl_sat_add_i64(sums->outstanding_size, size);
    }
    return true;
}

static owned_histogram *publish(const histogram_maker *maker)
{
    owned_histogram *const out = calloc(1, sizeof *out);
    const size_t processes = maker->names.result->processes.count;
    bool ok = out != NULL;
    for (u32 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++) {
        for (size_t process = 0; process <= processes; process++) {
            const u32 number = maker->group_of[process * ETLHEAP_KIND_COUNT + kind];
            if (number != 0)
                ok = ok && publish_group(maker, &maker->groups.at[number - 1], out);
        }
    }
    if (!ok) {
        if (out != NULL)
            etlheap_histogram_free(&out->histogram);
        return NULL;
    }
    out->histogram = (etlheap_histogram){ .by = maker->by,
                                          .by_process = maker->by_process,
                                          .buckets = out->buckets.at,
                                          .bucket_count = (u32)out->buckets.count };
    return out;
}

static bool publish_group(const histogram_maker *maker, const bucket_group *group,
                          owned_histogram *out)
{
    u32 first = 0, end = BUCKETS;
    while (first < BUCKETS && group->sums[first].count == 0)
        first++;
    while (end > first && group->sums[end - 1].count == 0)
        end--;
    for (u32 b = first; b <= OPEN_BUCKET; b++) {
        const bucket_sums *const sums = &group->sums[b];
        if (b >= end && (b < OPEN_BUCKET || sums->count == 0))
            continue;
        etlheap_bucket bucket = { .kind = (u8)group->kind,
                                  .is_open = b == OPEN_BUCKET,
                                  .count = sums->count,
                                  .size_bytes = sums->size,
                                  .outstanding_count = sums->outstanding_count,
                                  .outstanding_size_bytes = sums->outstanding_size };
        if (!bucket.is_open) {
            bucket.from = b == 0 ? 0 : (u64)1 << (b - 1);
            bucket.to = b == BUCKETS - 1 ? UINT64_MAX : (u64)1 << b;
        }
        if (group->process != 0) {
            const etlheap_process_info *const info =
                &maker->names.result->processes.at[group->process - 1];
            bucket.process = info->name;
            bucket.pid = info->pid;
        }
        if (!ETLHEAP_PUSH(&out->buckets, bucket))
            return false;
    }
    return true;
}

void etlheap_histogram_free(const etlheap_histogram *histogram)
{
    if (histogram == NULL)
        return;
    owned_histogram *const owned = (owned_histogram *)(uintptr_t)histogram;
    ETLHEAP_VECTOR_FREE(&owned->buckets);
    free(owned);
}
