/*
 * histogram.c - spreads sizes over classes of powers of two, or lifetimes over steps of 1, 2 and 5.
 *
 * In: blocks of a feed. Out: for each kind, or kind and process, the buckets from the first to the
 * last that has something.
 *
 * A bucket is a class of size_class.h or time_class.h; one more is open-ended. A group keeps the
 * buckets from its first to its last one only: most processes of a trace have blocks of few sizes,
 * and there may be many processes. Blocks are spread by all threads: each task has its own buckets,
 * which are added up at the end (join_tasks). This is the smallest example of a fold over blocks.
 * Invariant: buckets hold sums only, so the order of tasks does not matter.
 */
#include <stdlib.h>

#include "engine/core/rounding.h"
#include "engine/core/size_class.h"
#include "engine/core/time_class.h"
#include "engine/core/type_rule.h"
#include "engine/core/workers.h"
#include "engine/query/needs.h"
#include "block_selection.h"
#include "folds.h"

#define OPEN_BUCKET UINT32_MAX

typedef struct bucket_sums {
    i64 count, size, outstanding_count, outstanding_size;
    i64 rounding, lfh_rounding;
} bucket_sums;

typedef struct bucket_group {
    u32 kind, process; /* process 0: all */
    u32 first, count;  /* buckets in `sums` */
    bucket_sums *sums;
    bucket_sums open;
} bucket_group;

/* A histogram, and the memory that it points to. */
typedef struct owned_histogram {
    etlheap_histogram histogram;
    ETLHEAP_VECTOR(etlheap_bucket) buckets;
} owned_histogram;

/* Where blocks of a group of origins count. */
typedef struct bucket_place {
    u32 group;    /* of a task */
    u32 rounding; /* process whose heaps round the sizes up; 0 for other memory than heaps */
} bucket_place;

typedef struct histogram_maker {
    aggregator a;
    etlheap_query query; /* grouped by process: how large their pointers are differs */
    etlheap_histogram_by by;
    bool by_process;
    ETLHEAP_VECTOR(bucket_group) groups;
    u32 *group_of; /* by kind and process: + 1 */
    origin_groups origins;
    bucket_place *places; /* by group of origins */
    u32 group_count; /* of each task: groups of origins, or kinds if processes are not kept apart */
    struct spread_task *tasks;
    u32 task_count;
} histogram_maker;

/* The state of a task. */
typedef struct spread_task {
    const histogram_maker *maker;
    bucket_group *groups;
    u8 padding[SHARD_PADDING];
} spread_task;

static etl_status want_blocks(histogram_maker *maker, block_feed *feed, etl_error *err);
static etl_status spread(void *state, const lifetimes_batch *batch, etl_error *err);
static owned_histogram *publish(const histogram_maker *maker);
static bool publish_group(const histogram_maker *maker, const bucket_group *group,
                          owned_histogram *out);

const char *etlheap_histogram_word(etlheap_histogram_by by)
{
    static const char *const words[ETLHEAP_HISTOGRAM_BY_COUNT] = { "size", "lifetime" };
    return (u32)by < ETLHEAP_HISTOGRAM_BY_COUNT ? words[by] : "";
}

static etl_status begin(void *state, const etlheap_result *result, const etlheap_question *question,
                        log_pass *pass, etl_error *err)
{
    histogram_maker *const maker = state;
    maker->by = question->by;
    etl_status status = query_read_for(result, question->query, &maker->query, err);
    if (status == ETL_OK && (u32)maker->by >= ETLHEAP_HISTOGRAM_BY_COUNT)
        status = etl_fail_with(err, ETL_ERR_ARGUMENT, 0, "unknown kind of histogram");
    if (status != ETL_OK)
        return status;
    maker->by_process = query_groups_by(&maker->query, ETLHEAP_KEY_PROCESS);
    maker->query.group_by[0] = ETLHEAP_KEY_PROCESS;
    maker->query.group_by_count = 1;
    etlheap_query_drop_measures(&maker->query);
    maker->query.sort = ETLHEAP_MEASURE_SIZE;
    status = result_answers(result, RESULT_NEED_EACH, err);
    if (status == ETL_OK)
        status = aggregate_prepare(&maker->a, result, &maker->query, err);
    if (status == ETL_OK)
        status = feed_groups(&pass->feed, &maker->a, &maker->origins, err);
    return status == ETL_OK ? want_blocks(maker, &pass->feed, err) : status;
}

/* The buckets of a kind and process (0 for all processes); NULL without memory. */
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

/* A bucket of the group; NULL without memory. */
static bucket_sums *bucket_of(bucket_group *group, u32 bucket)
{
    const u32 end = group->first + group->count;
    if (bucket == OPEN_BUCKET)
        return &group->open;
    if (bucket - group->first < group->count)
        return &group->sums[bucket - group->first];
    const u32 first = group->count == 0 || bucket < group->first ? bucket : group->first;
    const u32 count = (group->count == 0 || bucket >= end ? bucket + 1 : end) - first;
    bucket_sums *const sums = calloc(count, sizeof *sums);
    if (sums == NULL)
        return NULL;
    if (group->count > 0)
        memcpy(sums + (group->first - first), group->sums, group->count * sizeof *sums);
    free(group->sums);
    group->sums = sums;
    group->first = first;
    group->count = count;
    return &sums[bucket - first];
}

static void add_sums(bucket_sums *to, const bucket_sums *from)
{
    to->count += from->count;
    to->size = etl_sat_add_i64(to->size, from->size);
    to->outstanding_count += from->outstanding_count;
    to->outstanding_size = etl_sat_add_i64(to->outstanding_size, from->outstanding_size);
    to->rounding = etl_sat_add_i64(to->rounding, from->rounding);
    to->lfh_rounding = etl_sat_add_i64(to->lfh_rounding, from->lfh_rounding);
}

/* Adds the bytes by which a heap rounds up a block of the process. */
static void add_rounding(const histogram_maker *maker, u32 process, u64 size_bytes,
                         bucket_sums *sums)
{
    const etlheap_result *const result = maker->a.result;
    const u32 bits = process == 0 ? 0 : result->processes.at[process - 1].pointer_bits;
    const u64 granularity = rounding_granularity(bits == 0 ? result->info.pointer_bits : bits);
    const i64 rounding = (i64)rounding_to(size_bytes, granularity);
    const i64 lfh_rounding = (i64)rounding_in_lfh(size_bytes, granularity);
    sums->rounding = etl_sat_add_i64(sums->rounding, rounding);
    sums->lfh_rounding = etl_sat_add_i64(sums->lfh_rounding, lfh_rounding);
}

/* `process` is that of a heap block, 0 for other kinds of memory. False if memory runs out. */
static bool add_one(const histogram_maker *maker, bucket_group *group, const query_row *row,
                    u64 size_bytes, u32 process)
{
    const i64 size = (i64)etl_min_u64(size_bytes, INT64_MAX);
    u32 bucket = size_class_of(size_bytes);
    if (maker->by == ETLHEAP_HISTOGRAM_LIFETIME) {
        i64 ns;
        const bool has_ends = query_lifetime_ns(&maker->a.plan, row, &ns);
        bucket = has_ends && ns < INT64_MAX ? time_class_of((u64)ns) : OPEN_BUCKET;
    }
    bucket_sums *const sums = bucket_of(group, bucket);
    if (sums == NULL)
        return false;
    sums->count++;
    sums->size = etl_sat_add_i64(sums->size, size);
    if (!type_is_outstanding(row->type))
        return true;
    sums->outstanding_count++;
    sums->outstanding_size = etl_sat_add_i64(sums->outstanding_size, size);
    if (process != 0 && maker->by == ETLHEAP_HISTOGRAM_SIZE)
        add_rounding(maker, process, size_bytes, sums);
    return true;
}

static bool place_groups(histogram_maker *maker)
{
    const u32 count = (u32)maker->origins.keys.count;
    maker->places = malloc(((size_t)count + 1) * sizeof *maker->places);
    maker->group_count = maker->by_process ? count : ETLHEAP_KIND_COUNT;
    for (u32 i = 0; maker->places != NULL && i < count; i++) {
        const group_key *const key = &maker->origins.keys.at[i];
        maker->places[i] =
            (bucket_place){ .group = maker->by_process ? i : key->kind,
                            .rounding = key->kind == ETLHEAP_KIND_HEAP ? key->process : 0 };
    }
    return maker->places != NULL;
}

static etl_status want_blocks(histogram_maker *maker, block_feed *feed, etl_error *err)
{
    const size_t processes = maker->a.result->processes.count;
    const u32 count = feed_tasks(&maker->query);
    bool ok = place_groups(maker);
    maker->group_of = calloc((processes + 1) * ETLHEAP_KIND_COUNT, sizeof *maker->group_of);
    maker->tasks = calloc(count, sizeof *maker->tasks);
    maker->task_count = count;
    ok = ok && maker->group_of != NULL && maker->tasks != NULL;
    for (u32 i = 0; ok && i < count; i++) {
        maker->tasks[i] =
            (spread_task){ .maker = maker,
                           .groups = calloc((size_t)maker->group_count + 1, sizeof(bucket_group)) };
        ok = maker->tasks[i].groups != NULL;
    }
    const block_want want = { .plan = &maker->a.plan,
                              .step = spread,
                              .states = { maker->tasks, sizeof *maker->tasks },
                              .of_origin = maker->origins.of_origin };
    return ok && ETLHEAP_PUSH(&feed->wants, want) ? ETL_OK : etl_no_memory(err);
}

/* Adds the buckets of a task's group up. */
static bool join_group(bucket_group *to, const bucket_group *from)
{
    for (u32 i = 0; i < from->count; i++) {
        bucket_sums *const sums = bucket_of(to, from->first + i);
        if (sums == NULL)
            return false;
        add_sums(sums, &from->sums[i]);
    }
    add_sums(&to->open, &from->open);
    return true;
}

static bool join_tasks(histogram_maker *maker)
{
    const origin_groups *const origins = &maker->origins;
    bool ok = true;
    for (u32 g = 0; ok && g < maker->group_count; g++) {
        const u32 kind = maker->by_process ? origins->keys.at[g].kind : g;
        const u32 process = maker->by_process ? origins->keys.at[g].process : 0;
        bucket_group *const group = group_of(maker, kind, process);
        ok = group != NULL;
        for (u32 i = 0; ok && i < maker->task_count; i++)
            ok = join_group(group, &maker->tasks[i].groups[g]);
    }
    return ok;
}

static etl_status spread(void *state, const lifetimes_batch *batch, etl_error *err)
{
    spread_task *const task = state;
    const histogram_maker *const maker = task->maker;
    const u32 *const of_origin = maker->origins.of_origin;
    bool ok = true;
    for (u32 i = 0; ok && i < batch->count; i++) {
        const u32 group = of_origin[batch->origin[i]];
        query_row row;
        lifetimes_fetch_origin(batch, i, of_origin);
        if (group == GROUP_NONE)
            continue;
        const bucket_place place = maker->places[group];
        if (block_selected(&maker->a.plan, batch, i, &row))
            ok = add_one(maker, &task->groups[place.group], &row, batch->size[i], place.rounding);
    }
    return ok ? ETL_OK : etl_no_memory(err);
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
    for (u32 i = 0; i <= group->count; i++) {
        const bool is_open = i == group->count;
        const bucket_sums *const sums = is_open ? &group->open : &group->sums[i];
        const u32 b = group->first + i;
        if (is_open && sums->count == 0)
            continue;
        etlheap_bucket bucket = { .kind = (u8)group->kind,
                                  .is_open = is_open,
                                  .count = sums->count,
                                  .size_bytes = sums->size,
                                  .outstanding_count = sums->outstanding_count,
                                  .outstanding_size_bytes = sums->outstanding_size,
                                  .rounding_size_bytes = sums->rounding,
                                  .lfh_rounding_size_bytes = sums->lfh_rounding };
        if (!bucket.is_open) {
            const bool by_size = maker->by == ETLHEAP_HISTOGRAM_SIZE;
            bucket.from = by_size ? size_class_first(b) : time_class_first(b);
            bucket.to = by_size ? size_class_end(b) : time_class_end(b);
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

static etl_status answer(void *state, etlheap_answer *out, etl_error *err)
{
    histogram_maker *const maker = state;
    const owned_histogram *const made = join_tasks(maker) ? publish(maker) : NULL;
    out->histogram = made == NULL ? NULL : &made->histogram;
    return made == NULL ? etl_no_memory(err) : ETL_OK;
}

static void drop_groups(bucket_group *groups, size_t count)
{
    for (size_t i = 0; groups != NULL && i < count; i++)
        free(groups[i].sums);
    free(groups);
}

static void close_maker(void *state)
{
    histogram_maker *const maker = state;
    for (u32 i = 0; maker->tasks != NULL && i < maker->task_count; i++)
        drop_groups(maker->tasks[i].groups, maker->group_count);
    free(maker->tasks);
    free(maker->places);
    origin_groups_close(&maker->origins);
    aggregate_close(&maker->a);
    free(maker->group_of);
    drop_groups(maker->groups.at, maker->groups.count);
}

const fold fold_histogram = { sizeof(histogram_maker), begin, NULL, answer, close_maker };

void etlheap_histogram_free(const etlheap_histogram *histogram)
{
    if (histogram == NULL)
        return;
    owned_histogram *const owned = (owned_histogram *)(uintptr_t)histogram;
    ETLHEAP_VECTOR_FREE(&owned->buckets);
    free(owned);
}
