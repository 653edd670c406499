/*
 * suspects.c - answers the question for suspects: groups of blocks that probably leak.
 *
 * In: blocks of a feed, and sums by origin of the file. Out: rows of suspects with their scores,
 * best first.
 *
 *     blocks of a feed ──▶ sums by group (suspect_sums.h) ──▶ scores ──▶ the rows of suspects
 *
 * A group is what a table's row is (origin_groups.h). Only groups with a block that is never freed
 * can be suspects. Origins of rows say so, and a store says so for each origin before its events
 * are read (ehs_origin_sums), so most blocks need no sums; the rest are read once, by all threads,
 * with sums of their own for each task. What the rows hold is compared with all outstanding memory
 * of their kind, which a table of kinds answers in the same readings. Invariant: if a file has no
 * sums by origin, every origin is a candidate (may_keep).
 */
#include <stdlib.h>

#include "engine/core/workers.h"
#include "block_selection.h"
#include "folds.h"
#include "group_rows.h"
#include "suspect_score.h"

#define GROUPS_PER_TASK 64u
#define ROUND_BLOCKS    32u /* whose sums are fetched at once */
#define MILLION         1000000

__extension__ typedef unsigned __int128 u128;

/* The state of a task: sums by candidate. */
typedef struct suspect_task {
    const struct suspects_maker *maker;
    suspect_sums *sums;
    u8 padding[SHARD_PADDING];
} suspect_task;

/* A block on its way into the sums of its candidate. */
typedef struct found_block {
    u32 candidate;
    suspect_block block;
    suspect_places places;
} found_block;

typedef struct suspects_maker {
    etlheap_query query;
    aggregator a;
    row_spans spans;
    ETLHEAP_VECTOR(suspect_time) times; /* by number of the span */
    ETLHEAP_VECTOR(u32) time_of;        /* by group: the number of its span */
    origin_groups origins;
    u32 *of_origin; /* by origin: its candidate; GROUP_NONE: none of its blocks matters */
    ETLHEAP_VECTOR(suspect_sums) sums; /* by group, which is a candidate */
    suspect_task *tasks;
    u32 task_count;
    u32 *scores;
    u32 kept_count; /* groups with blocks that are never freed */
    etlheap_query kinds;
    void *totals; /* the state of a table of kinds */
} suspects_maker;

/* The answer, and the memory that it points to. */
typedef struct owned_suspects {
    etlheap_suspects suspects;
    etlheap_suspect *rows;
} owned_suspects;

static etl_status read_query(suspects_maker *maker, const etlheap_result *result,
                             const etlheap_question *question, etl_error *err);
static etl_status want_blocks(suspects_maker *maker, block_feed *feed, etl_error *err);
static etl_status step(void *state, const lifetimes_batch *batch, etl_error *err);
static bool join_tasks(suspects_maker *maker);
static bool rate(suspects_maker *maker);

/* Asks for all that is outstanding, by kind. */
static etl_status begin_totals(suspects_maker *maker, const etlheap_result *result, log_pass *pass,
                               etl_error *err)
{
    const etlheap_question question = { .size = sizeof question, .query = &maker->kinds };
    maker->kinds = maker->query;
    maker->kinds.growth = false;
    maker->kinds.group_by[0] = ETLHEAP_KEY_KIND;
    maker->kinds.group_by_count = 1;
    maker->totals = calloc(1, fold_table.state_bytes);
    if (maker->totals == NULL)
        return etl_no_memory(err);
    return fold_table.begin(maker->totals, result, &question, pass, err);
}

static etl_status begin(void *state, const etlheap_result *result, const etlheap_question *question,
                        log_pass *pass, etl_error *err)
{
    suspects_maker *const maker = state;
    etl_status status = result_answers(result, RESULT_NEED_EACH, err);
    if (status == ETL_OK && result->is_snapshot)
        status =
            etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                          "a list of blocks does not say when they were allocated, and suspects "
                          "are told by that; name a trace or a store");
    if (status == ETL_OK)
        status = read_query(maker, result, question, err);
    if (status == ETL_OK)
        status = aggregate_prepare(&maker->a, result, &maker->query, err);
    aggregate_keep_measure(&maker->a, ETLHEAP_MEASURE_STEADINESS);
    if (status == ETL_OK)
        status = feed_groups(&pass->feed, &maker->a, &maker->origins, err);
    if (status == ETL_OK && !row_spans_open(&maker->spans, &maker->a, true))
        status = etl_no_memory(err);
    if (status == ETL_OK)
        status = want_blocks(maker, &pass->feed, err);
    return status == ETL_OK ? begin_totals(maker, result, pass, err) : status;
}

/* Can blocks of one stack differ in the key? Growth refuses types and keys about the free. */
static bool divides_blocks(etlheap_key key)
{
    return key == ETLHEAP_KEY_THREAD || key == ETLHEAP_KEY_THREAD_NAME ||
           key == ETLHEAP_KEY_SIZE_CLASS || key == ETLHEAP_KEY_GENERATION ||
           key == ETLHEAP_KEY_FUNCTION;
}

/* Reads the query. Keys that distinguish blocks of one stack are refused: they would split what
 * must be compared. */
static etl_status read_query(suspects_maker *maker, const etlheap_result *result,
                             const etlheap_question *question, etl_error *err)
{
    static const etlheap_key keys[] = { ETLHEAP_KEY_KIND, ETLHEAP_KEY_PROCESS, ETLHEAP_KEY_STACK };
    etlheap_query *const query = &maker->query;
    const etl_status status = query_read_for(result, question->query, query, err);
    if (status != ETL_OK)
        return status;
    if (question->query == NULL) {
        memcpy(query->group_by, keys, sizeof keys);
        query->group_by_count = (u32)ETL_COUNT_OF(keys);
    }
    for (u32 i = 0; i < query->group_by_count; i++) {
        if (divides_blocks(query->group_by[i]))
            return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                                 "suspects are stacks, or what stacks have in common: not threads, "
                                 "sizes, generations or all functions of stacks");
    }
    query->growth = query->sums_only = true;
    query->lifetime_ranks = query->sort_ascending = false;
    query->sort = ETLHEAP_MEASURE_OUTSTANDING_SIZE;
    query->whole_rows_max = 0;
    return ETL_OK;
}

/* Gives the next group its time. */
static bool push_time(suspects_maker *maker, const group_key *key)
{
    u32 number;
    if (!row_spans_find(&maker->spans, key, &number))
        return false;
    assert(number <= maker->times.count);
    const etlheap_time_range span = maker->spans.spans.at[number];
    const u32 kinds = maker->spans.by_kind ? 1u << key->kind : query_kinds(&maker->query);
    return (number < maker->times.count ||
            ETLHEAP_PUSH(&maker->times, suspect_time_of(&maker->a.plan, span, kinds))) &&
           ETLHEAP_PUSH(&maker->time_of, number);
}

static const suspect_time *time_of(const suspects_maker *maker, size_t group)
{
    return &maker->times.at[maker->time_of.at[group]];
}

/* --- candidates ----------------------------------------------------------------------- */

/* May a block of the origin never be freed? Without sums in the file, any may. */
static bool may_keep_of_origin(const suspects_maker *maker, u32 origin)
{
    const ehs_origins *const origins = &maker->a.result->archive->origins;
    if (origins->sums.count == 0)
        return true;
    const ehs_origin_sums *const sums = &origins->sums.at[origin - 1];
    return sums->of[TALLY_IN_USE].count > 0 ||
           (!maker->query.at_exit_freed && sums->of[TALLY_EXITED].count > 0);
}

/* The same of an origin, or of an origin of rows. */
static bool may_keep(const suspects_maker *maker, u32 number)
{
    const feed_rows *const rows = maker->origins.rows;
    if (number < rows->origins.first)
        return may_keep_of_origin(maker, number);
    const row_origin *const origin = &rows->origins.list.at[number - rows->origins.first];
    return origin->has_outstanding || (!maker->query.at_exit_freed && origin->has_exited);
}

/* Gives each group of origins or origins with such a block a candidate. */
static bool choose_candidates(suspects_maker *maker)
{
    const origin_groups *const origins = &maker->origins;
    const u32 end = origins->rows->origins.first + (u32)origins->rows->origins.list.count;
    bool *const is_candidate = calloc(origins->keys.count + 1, sizeof *is_candidate);
    u32 *const numbers = calloc(origins->keys.count + 1, sizeof *numbers);
    maker->of_origin = malloc((size_t)end * sizeof *maker->of_origin);
    bool ok = is_candidate != NULL && numbers != NULL && maker->of_origin != NULL;
    for (u32 i = 1; ok && i < end; i++) {
        if (origins->of_origin[i] != GROUP_NONE)
            is_candidate[origins->of_origin[i]] |= may_keep(maker, i);
    }
    for (u32 i = 0; ok && i < origins->keys.count; i++) {
        const group_row row = { .key = origins->keys.at[i] };
        numbers[i] = is_candidate[i] ? (u32)maker->a.groups.count : GROUP_NONE;
        ok = !is_candidate[i] || (aggregate_push(&maker->a, &row) && push_time(maker, &row.key));
    }
    aggregate_trim(&maker->a);
    ETLHEAP_TRIM(&maker->times);
    ETLHEAP_TRIM(&maker->time_of);
    for (u32 i = 0; ok && i < end; i++) {
        const u32 group = origins->of_origin[i];
        maker->of_origin[i] = group == GROUP_NONE ? GROUP_NONE : numbers[group];
    }
    free(is_candidate);
    free(numbers);
    return ok;
}

static bool open_tasks(suspects_maker *maker, size_t candidates)
{
    maker->tasks = calloc(maker->task_count, sizeof *maker->tasks);
    bool ok = maker->tasks != NULL;
    for (u32 i = 0; ok && i < maker->task_count; i++) {
        maker->tasks[i] =
            (suspect_task){ .maker = maker, .sums = calloc(candidates, sizeof(suspect_sums)) };
        ok = maker->tasks[i].sums != NULL;
    }
    return ok;
}

static etl_status want_blocks(suspects_maker *maker, block_feed *feed, etl_error *err)
{
    if (!choose_candidates(maker))
        return etl_no_memory(err);
    const size_t candidates = maker->a.groups.count;
    u64 own = 0;
    maker->task_count = feed_tasks(&maker->query);
    const u64 bytes = candidates * sizeof(suspect_sums) * (maker->task_count + (u64)1);
    const etl_status status = memory_hold(maker->a.plan.memory, &own, bytes, err);
    if (status != ETL_OK)
        return status;
    if (candidates == 0)
        return ETL_OK;
    if (!open_tasks(maker, candidates))
        return etl_no_memory(err);
    const block_want want = { .plan = &maker->a.plan,
                              .step = step,
                              .states = { maker->tasks, sizeof *maker->tasks },
                              .more = EHS_WANT_THREAD,
                              .of_origin = maker->of_origin };
    return ETLHEAP_PUSH(&feed->wants, want) ? ETL_OK : etl_no_memory(err);
}

/* --- blocks --------------------------------------------------------------------------- */

/* Finds the block of a candidate, and where it counts; false if it does not. */
static bool find_block(const suspects_maker *maker, const lifetimes_batch *batch, u32 at,
                       found_block *out)
{
    const query_plan *const plan = &maker->a.plan;
    lifetimes_fetch_origin(batch, at, maker->of_origin);
    out->candidate = maker->of_origin[batch->origin[at]];
    if (out->candidate == GROUP_NONE)
        return false;
    suspect_block *const block = &out->block;
    if (!block_selected(plan, batch, at, &block->row))
        return false;
    block->size_bytes = batch->size[at];
    block->thread = lifetimes_batch_thread(plan->result->archive, batch, at);
    out->places = suspect_places_of(plan, time_of(maker, out->candidate), block);
    return true;
}

/* In rounds: the sums of all blocks of a round are fetched before the first of them is added. */
static etl_status step(void *state, const lifetimes_batch *batch, etl_error *err)
{
    suspect_task *const task = state;
    found_block round[ROUND_BLOCKS];
    (void)err;
    for (u32 first = 0; first < batch->count; first += ROUND_BLOCKS) {
        const u32 left = batch->count - first, count = left < ROUND_BLOCKS ? left : ROUND_BLOCKS;
        u32 found = 0;
        for (u32 i = 0; i < count; i++) {
            if (!find_block(task->maker, batch, first + i, &round[found]))
                continue;
            suspect_fetch(&task->sums[round[found].candidate], &round[found].places);
            found++;
        }
        for (u32 i = 0; i < found; i++)
            suspect_add(&task->sums[round[i].candidate], &round[i].block, &round[i].places);
    }
    return ETL_OK;
}

/* --- what comes of it ----------------------------------------------------------------- */

static void free_tasks(suspects_maker *maker)
{
    for (u32 i = 0; maker->tasks != NULL && i < maker->task_count; i++)
        free(maker->tasks[i].sums);
    free(maker->tasks);
    maker->tasks = NULL;
}

static bool join_tasks(suspects_maker *maker)
{
    const size_t candidates = maker->a.groups.count;
    if (!ETLHEAP_RESERVE(&maker->sums, candidates))
        return false;
    for (size_t i = 0; i < candidates; i++) {
        suspect_sums sums = { 0 };
        for (u32 task = 0; task < maker->task_count; task++)
            suspect_join(&sums, &maker->tasks[task].sums[i]);
        (void)ETLHEAP_PUSH(&maker->sums, sums);
    }
    free_tasks(maker);
    return true;
}

static void rate_task(void *context, u32 task)
{
    const suspects_maker *const maker = context;
    const size_t first = (size_t)task * GROUPS_PER_TASK;
    for (size_t i = first; i < maker->sums.count && i - first < GROUPS_PER_TASK; i++)
        maker->scores[i] = suspect_score(&maker->sums.at[i], time_of(maker, i));
}

static void set_measures(const suspects_maker *maker, u8 kind, i64 *measures,
                         const suspect_sums *sums, const suspect_time *time)
{
    i64 sizes[GROWTH_SAMPLES];
    const sample_times times = sample_times_between(&maker->a.plan, time->from_ns, time->to_ns);
    suspect_sizes(sums, sizes);
    growth_scale(kind, sizes);
    growth_set(measures, growth_rate(&times, sizes));
    measures[ETLHEAP_MEASURE_COUNT] = sums->alloc_count;
    measures[ETLHEAP_MEASURE_OUTSTANDING_COUNT] = sums->outstanding_count;
    measures[ETLHEAP_MEASURE_OUTSTANDING_SIZE] = sums->outstanding_size;
}

/* Scores the groups and drops those that are not suspects. */
static bool rate(suspects_maker *maker)
{
    aggregator *const a = &maker->a;
    const size_t count = maker->sums.count;
    size_t left = 0;
    assert(count == a->groups.count);
    maker->scores = calloc(count + 1, sizeof *maker->scores);
    if (maker->scores == NULL)
        return false;
    etlheap_workers_run(feed_tasks(&maker->query), (u32)(count / GROUPS_PER_TASK) + 1, rate_task,
                        maker);
    for (size_t i = 0; i < count; i++) {
        maker->kept_count += maker->sums.at[i].kept_count > 0;
        if (maker->scores[i] < SUSPECT_SCORE_MIN)
            continue;
        group_row row;
        aggregate_row(a, i, &row);
        set_measures(maker, row.key.kind, row.measures, &maker->sums.at[i], time_of(maker, i));
        const i64 growth = row.measures[ETLHEAP_MEASURE_GROWTH_RATE];
        maker->scores[i] = suspect_cap(maker->scores[i], &maker->sums.at[i], growth);
        aggregate_put(a, left, &row);
        maker->sums.at[left] = maker->sums.at[i];
        maker->time_of.at[left] = maker->time_of.at[i];
        maker->scores[left++] = maker->scores[i];
    }
    maker->sums.count = left;
    ETLHEAP_TRIM(&maker->sums); /* nearly all groups were dropped */
    aggregate_cut(a, left);
    return true;
}

/* The blocks were read: the sums, which are large, need not be kept while events are. */
static etl_status walk(void *state, log_pass *pass, etl_error *err)
{
    suspects_maker *const maker = state;
    if (!join_tasks(maker) || !rate(maker))
        return etl_no_memory(err);
    return fold_table.walk(maker->totals, pass, err);
}

/* The part of a kind's memory, in millionths. */
static i64 share_of(const etlheap_total *total, i64 size)
{
    const i64 all = total->measures[ETLHEAP_MEASURE_OUTSTANDING_SIZE];
    if (all <= 0 || size < 0)
        return ETLHEAP_NOT_KNOWN;
    return (i64)(((u128)size * 2 * MILLION + (u128)all) / ((u128)all * 2));
}

static etlheap_suspect suspect_of(const suspects_maker *maker, u32 group)
{
    const suspect_sums *const sums = &maker->sums.at[group];
    const etl_session *const session = maker->a.result->base.base;
    const i64 freed_count = sums->alloc_count - sums->kept_count;
    etlheap_suspect out = { .score = maker->scores[group],
                            .alloc_count = sums->alloc_count,
                            .never_freed_count = sums->kept_count,
                            .never_freed_size = sums->kept_size,
                            .first_ns = etl_time_ns(session, sums->first_ticks),
                            .last_ns = etl_time_ns(session, sums->last_ticks),
                            .typical_lifetime_ns = ETLHEAP_NOT_KNOWN,
                            .thread_count = sums->thread_count,
                            .has_more_threads = sums->has_more_threads };
    out.has_stopped = suspect_has_stopped(sums);
    out.oldest_ns = etl_span_i64(out.first_ns, time_of(maker, group)->to_ns);
    for (u32 i = 0; i < SUSPECT_PARTS; i++)
        out.part_count += sums->kept[i] > 0;
    memcpy(out.threads, sums->threads, sizeof out.threads);
    if (freed_count > 0)
        out.typical_lifetime_ns = suspect_step_middle(suspect_step_at(sums, (freed_count + 1) / 2));
    return out;
}

static owned_suspects *publish(suspects_maker *maker, const etlheap_table *kinds)
{
    aggregator *const a = &maker->a;
    owned_suspects *const out = calloc(1, sizeof *out);
    if (out == NULL)
        return NULL;
    a->ranks = maker->scores;
    out->suspects.group_count = maker->kept_count;
    out->suspects.table = aggregate_table(a);
    out->rows = calloc(a->groups.count + 1, sizeof *out->rows);
    out->suspects.rows = out->rows;
    if (out->suspects.table == NULL || out->rows == NULL) {
        etlheap_suspects_free(&out->suspects);
        return NULL;
    }
    for (u32 i = 0; i < a->groups.count; i++) {
        const etlheap_row *const row = &out->suspects.table->rows[i];
        out->rows[i] = suspect_of(maker, a->order[i]);
        out->rows[i].outstanding_share =
            share_of(&kinds->totals[row->kind], row->measures[ETLHEAP_MEASURE_OUTSTANDING_SIZE]);
    }
    return out;
}

static etl_status answer(void *state, etlheap_answer *out, etl_error *err)
{
    suspects_maker *const maker = state;
    etlheap_answer kinds = { .table = NULL };
    const etl_status status = fold_table.answer(maker->totals, &kinds, err);
    if (status != ETL_OK)
        return status;
    owned_suspects *const made = publish(maker, kinds.table);
    etlheap_table_free(kinds.table);
    out->suspects = made == NULL ? NULL : &made->suspects;
    return made == NULL ? etl_no_memory(err) : ETL_OK;
}

static void close_maker(void *state)
{
    suspects_maker *const maker = state;
    free_tasks(maker);
    if (maker->totals != NULL)
        fold_table.close(maker->totals);
    free(maker->totals);
    free(maker->of_origin);
    row_spans_close(&maker->spans);
    ETLHEAP_VECTOR_FREE(&maker->times);
    ETLHEAP_VECTOR_FREE(&maker->time_of);
    free(maker->scores);
    ETLHEAP_VECTOR_FREE(&maker->sums);
    origin_groups_close(&maker->origins);
    aggregate_close(&maker->a);
}

const fold fold_suspects = { sizeof(suspects_maker), begin, walk, answer, close_maker };

void etlheap_suspects_free(etlheap_suspects *suspects)
{
    if (suspects == NULL)
        return;
    owned_suspects *const owned = (owned_suspects *)suspects;
    etlheap_table_free(owned->suspects.table);
    free(owned->rows);
    free(owned);
}
