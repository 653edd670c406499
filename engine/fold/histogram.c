/*
 * histogram.c - sizes and lifetimes spread over powers of two.
 *
 * Each kind, or kind and process, has a bucket for each class (size_class.h) and an open one.
 * What is in memory is spread by one thread, blocks of a log by all of them: each task has
 * buckets of its own. What is handed out are those from the first to the last that has
 * something.
 */
#include <stdlib.h>

#include "engine/core/size_class.h"
#include "engine/core/type_rule.h"
#include "engine/core/workers.h"
#include "aggregate.h"
#include "lifetimes_source.h"
#include "slot_groups.h"

#define BUCKETS     SIZE_CLASSES
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
    aggregator a;
    etlheap_query query; /* grouped by process, or not at all */
    etlheap_histogram_by by;
    bool by_process;
    ETLHEAP_VECTOR(bucket_group) groups;
    u32 *group_of; /* by kind and process: + 1 */
} histogram_maker;

/* What a task spreads blocks over: buckets by group of slots. */
typedef struct spread_task {
    const histogram_maker *maker;
    const slot_groups *slots;
    bucket_group *groups;
    u8 padding[SHARD_PADDING];
} spread_task;

static etl_status fill(histogram_maker *maker, etl_error *err);
static bool add_row(void *user, const selected_row *selected);
static etl_status add_log(histogram_maker *maker, etl_error *err);
static etl_status spread(void *state, const lifetimes_batch *batch, etl_error *err);
static owned_histogram *publish(const histogram_maker *maker);
static bool publish_group(const histogram_maker *maker, const bucket_group *group,
                          owned_histogram *out);

const char *etlheap_histogram_word(etlheap_histogram_by by)
{
    static const char *const words[ETLHEAP_HISTOGRAM_BY_COUNT] = { "size", "lifetime" };
    return (u32)by < ETLHEAP_HISTOGRAM_BY_COUNT ? words[by] : "";
}

static etl_status no_memory(etl_error *err)
{
    return etl_fail_with(err, ETL_ERR_MEMORY, 0, "out of memory");
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
    maker.query.group_by[0] = ETLHEAP_KEY_PROCESS;
    maker.query.group_by_count = maker.by_process ? 1 : 0;
    maker.query.lifetime_ranks = maker.query.growth = false;
    maker.query.sort = ETLHEAP_MEASURE_SIZE;
    status = result_answers(result, RESULT_ASK_EACH, err);
    if (status == ETL_OK)
        status = aggregate_prepare(&maker.a, result, &maker.query, err);
    if (status == ETL_OK)
        status = fill(&maker, err);
    if (status == ETL_OK) {
        owned_histogram *const made = publish(&maker);
        if (made != NULL)
            *out = &made->histogram;
        else
            status = no_memory(err);
    }
    aggregate_close(&maker.a);
    free(maker.group_of);
    ETLHEAP_VECTOR_FREE(&maker.groups);
    return status;
}

static etl_status fill(histogram_maker *maker, etl_error *err)
{
    const size_t processes = maker->a.result->processes.count;
    maker->group_of = calloc((processes + 1) * ETLHEAP_KIND_COUNT, sizeof *maker->group_of);
    etl_status status = maker->group_of == NULL ? no_memory(err) : ETL_OK;
    if (status == ETL_OK)
        status = aggregate_settle(&maker->a, err);
    if (status == ETL_OK && !aggregate_visit(&maker->a, add_row, maker))
        status = no_memory(err);
    if (status == ETL_OK && maker->a.result->mode == RESULT_STORE)
        status = add_log(maker, err);
    return status;
}

/* The buckets of a kind and process, 0 for all of them; NULL without memory. */
static bucket_group *group_of(histogram_maker *maker, u32 kind, u32 process)
{
    u32 *const number = &maker->group_of[(size_t)process * ETLHEAP_KIND_COUNT + kind];
    if (*number == 0) {
        if (!ETLHEAP_PUSH(&maker->groups, (bucket_group){ .kind = kind, .process = process }))
            return NULL;
        *number = (u32)maker->groups.count;
    }
    return &maker->groups.at[*number - 1];
}

static void add_sums(bucket_sums *to, const bucket_sums *from)
{
    to->count += from->count;
    to->size = etl_sat_add_i64(to->size, from->size);
    to->outstanding_count += from->outstanding_count;
    to->outstanding_size = etl_sat_add_i64(to->outstanding_size, from->outstanding_size);
}

static void add_one(const histogram_maker *maker, bucket_group *group, const query_row *row,
                    u64 size_bytes)
{
    const i64 size = (i64)etl_min_u64(size_bytes, INT64_MAX);
    const bool stays = type_is_outstanding(row->type);
    u32 bucket = size_class_of(size_bytes);
    if (maker->by == ETLHEAP_HISTOGRAM_LIFETIME) {
        i64 ns;
        const bool has_ends = query_lifetime_ns(&maker->a.plan, row, &ns);
        bucket = has_ends && ns < INT64_MAX ? size_class_of((u64)ns) : OPEN_BUCKET;
    }
    add_sums(&group->sums[bucket], &(bucket_sums){ 1, size, stays, stays ? size : 0 });
}

/* A lifetime in memory. */
static bool add_row(void *user, const selected_row *selected)
{
    histogram_maker *const maker = user;
    const etlheap_segment *const segment = selected->segment;
    bucket_group *const group = group_of(maker, segment->kind[selected->at], selected->key.process);
    if (group != NULL)
        add_one(maker, group, &selected->row, segment->size_bytes[selected->at]);
    return group != NULL;
}

/* Sums of the tasks become those of all. */
static etl_status join_tasks(histogram_maker *maker, const slot_groups *slots,
                             const spread_task *tasks, u32 count, etl_error *err)
{
    for (u32 k = 0; k < slots->keys.count; k++) {
        bucket_group *const group = group_of(maker, ETLHEAP_KIND_HEAP, slots->keys.at[k].process);
        if (group == NULL)
            return no_memory(err);
        for (u32 i = 0; i < count; i++) {
            for (u32 b = 0; b <= OPEN_BUCKET; b++)
                add_sums(&group->sums[b], &tasks[i].groups[k].sums[b]);
        }
    }
    return ETL_OK;
}

static etl_status spread_blocks(histogram_maker *maker, const slot_groups *slots,
                                lifetimes_source *source, etl_error *err)
{
    const u32 count = source->wanted.jobs;
    spread_task *const tasks = calloc(count, sizeof *tasks);
    void **const states = calloc(count, sizeof *states);
    bool ok = tasks != NULL && states != NULL;
    for (u32 i = 0; ok && i < count; i++) {
        tasks[i] = (spread_task){ .maker = maker,
                                  .slots = slots,
                                  .groups = calloc(slots->keys.count + 1, sizeof(bucket_group)) };
        states[i] = &tasks[i];
        ok = tasks[i].groups != NULL;
    }
    etl_status status =
        ok ? lifetimes_source_fold(source, count, spread, states, err) : no_memory(err);
    if (status == ETL_OK)
        status = join_tasks(maker, slots, tasks, count, err);
    for (u32 i = 0; tasks != NULL && i < count; i++)
        free(tasks[i].groups);
    free(states);
    free(tasks);
    return status;
}

static etl_status add_log(histogram_maker *maker, etl_error *err)
{
    aggregator *const a = &maker->a;
    lifetimes_source source;
    slot_groups slots;
    etl_status status = lifetimes_source_open_for(&source, &a->plan, err);
    if (!slot_groups_open(&slots, a) && status == ETL_OK)
        status = no_memory(err);
    if (status == ETL_OK)
        status = spread_blocks(maker, &slots, &source, err);
    slot_groups_close(&slots);
    lifetimes_source_close(&source);
    return status;
}

static etl_status spread(void *state, const lifetimes_batch *batch, etl_error *err)
{
    spread_task *const task = state;
    const query_plan *const plan = &task->maker->a.plan;
    (void)err;
    for (u32 i = 0; i < batch->count; i++) {
        const u32 group = task->slots->of_slot[batch->slot[i]];
        query_row row;
        if (group == GROUP_NONE)
            continue;
        const query_block block = lifetimes_batch_block(plan->result->archive, batch, i);
        if (query_select_block(plan, ETLHEAP_KIND_HEAP, &block, &row))
            add_one(task->maker, &task->groups[group], &row, block.size_bytes);
    }
    return ETL_OK;
}

static owned_histogram *publish(const histogram_maker *maker)
{
    owned_histogram *const out = calloc(1, sizeof *out);
    const size_t processes = maker->a.result->processes.count;
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
                &maker->a.result->processes.at[group->process - 1];
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
