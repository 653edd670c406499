/*
 * block_groups.c - groups single blocks and adds them up. block_groups.h says which questions need
 * that.
 *
 * In: batches of blocks with their ends (lifetimes_source.h). Out: groups with sums, and in the
 * word of each block the number of its group, for walks over the events.
 *
 *     block ──select──▶ group of its origin + traits (type, thread, ...) ──▶ sums of the task
 *                                                                     └──▶ word of the block
 *
 * A group is several accesses away from a block: group of the origin, place, group, its lifetimes.
 * With many groups each of them misses the cache. So blocks take these steps in phases, some at a
 * time: what a phase needs, the phase before has fetched.
 *
 * Each task has its own list of groups with sums. When a task meets a group for the first time, it
 * gets the number in the common list under a lock; after that tasks do not meet. Invariant: numbers
 * of groups depend on threads, so nothing that is shown may depend on them; tables are ordered by
 * what rows say.
 */
#include "block_groups.h"

#include <stdlib.h>

#include "engine/core/intern.h"
#include "engine/core/size_class.h"
#include "engine/core/type_rule.h"
#include "engine/core/workers.h"
#include "engine/query/keys.h"
#include "engine/query/needs.h"
#include "block_selection.h"
#include "churn_blocks.h"
#include "churn_rows.h"
#include "log_pass.h"

#define SPAN       64u               /* blocks of a block_span */
#define GROUPS_MAX ORIGIN_NUMBER_MAX /* as many as a word has room for */
#define WAYS_MAX   256u       /* places for the groups that a group of origins is divided into */
#define PLACES_MAX (1u << 16) /* of all groups of origins, if each has more than one ... */
#define STACKS_MAX (1u << 18) /* ... and if they are divided by stacks */

/* The data that all tasks share. */
typedef struct grouping {
    block_groups *out;
    aggregator *a;
    u64 wanted_traits[BLOCK_TRAITS_WORDS]; /* a mask of block_traits */
    bool asks_frees, by_thread_name, by_generation, by_impact;
    bool churns;
    churn_view churn; /* if it is wanted */
    etlheap_index index;
    etlheap_lock *lock;
    struct group_task *tasks;
    u32 task_count;
    u32 ways; /* places in `latest` for each group of origins: a power of two */
} grouping;

typedef struct group_task {
    grouping *shared;
    block_group_list groups;
    etlheap_index index;
    u32 *latest;    /* by group of origins and way: the group of this list met last, + 1 */
    u32 generation; /* of the block met last */
    block_sizes big_sizes;
    lifetime_list lifetimes;
    churn_track churn;
    timed_rows churn_rows;
    u64 held_bytes;
    u8 padding[SHARD_PADDING];
} group_task;

static etl_status step(void *state, const lifetimes_batch *batch, etl_error *err);
static bool open_tasks(grouping *g);
static void close_work(grouping *g);

static void wanted_traits(const etlheap_query *query, u64 out[BLOCK_TRAITS_WORDS])
{
    const block_traits mask = {
        .thread = query_reads(query, KEY_READS(THREAD)) ? UINT32_MAX : 0,
        .generation = query_reads(query, KEY_READS(GENERATION)) ? 0x1FFFF : 0,
        .size_class = query_reads(query, KEY_READS(SIZE)) ? UINT8_MAX : 0,
        .freer = query_needs(query, NEEDS_FREE_STACKS) ? UINT32_MAX : 0,
        .free_thread = query_reads(query, KEY_READS(FREE_THREAD)) ? UINT32_MAX : 0,
        .thread_name = query_reads(query, KEY_READS(THREAD_NAME)) ? UINT32_MAX : 0,
        .impact = query_reads(query, KEY_READS(IMPACT)) ? UINT32_MAX : 0,
        .type = query_reads(query, KEY_READS(TYPE)) ? 7 : 0,
        .free_type = query_reads(query, KEY_READS(FREE_TYPE)) ? 7 : 0,
    };
    static_assert(ETLHEAP_MARKS_MAX <= 0x1FFFF && SIZE_CLASSES <= UINT8_MAX, "traits have room");
    block_traits_pack(&mask, out);
}

/* The number of rows, or of blocks up to the last segment of the window. */
static u64 count_words(const query_plan *plan, const feed_rows *rows)
{
    if (rows != NULL)
        return feed_rows_count(rows);
    const ehs_archive *const archive = plan->result->archive;
    const u32 end = lifetimes_source_end(archive, plan->kind_to_ticks[ETLHEAP_KIND_HEAP]);
    const ehs_segment_info *const last = end == 0 ? NULL : &archive->segments.at[end - 1];
    return last == NULL ? 0 : last->first_ordinal + last->allocs;
}

static etl_status open_words(block_words *words, const query_plan *plan, const feed_rows *rows,
                             etl_error *err)
{
    u64 own = 0;
    words->count = count_words(plan, rows);
    const etl_status status =
        memory_hold(plan->memory, &own, words->count * sizeof *words->at, err);
    if (status != ETL_OK)
        return status;
    words->at =
        etlheap_workers_calloc(feed_tasks(plan->query), words->count + 1, sizeof *words->at);
    return words->at == NULL ? etl_no_memory(err) : ETL_OK;
}

etl_status block_groups_begin(block_groups *out, aggregator *a, const block_groups_wanted *wanted,
                              log_pass *pass, etl_error *err)
{
    grouping *const g = calloc(1, sizeof *g);
    *out = (block_groups){ .origins = wanted->origins, .frees = wanted->frees, .work = g };
    if (g == NULL)
        return etl_no_memory(err);
    *g = (grouping){ .out = out,
                     .a = a,
                     .asks_frees = query_needs(a->query, NEEDS_FREES),
                     .by_thread_name = query_reads(a->query, KEY_READS(THREAD_NAME)),
                     .by_generation = query_reads(a->query, KEY_READS(GENERATION)),
                     .by_impact = query_reads(a->query, KEY_READS(IMPACT)),
                     .churns = wanted->churns,
                     .lock = etlheap_lock_open(),
                     .task_count = feed_tasks(a->query) };
    wanted_traits(a->query, g->wanted_traits);
    if (g->lock == NULL || !open_tasks(g) ||
        (wanted->churns && !churn_view_open(&g->churn, a, wanted->origins)))
        return etl_no_memory(err);
    const feed_rows *const rows = wanted->origins->rows;
    const block_want want = { .plan = &a->plan,
                              .step = step,
                              .states = { g->tasks, sizeof *g->tasks },
                              .churns = wanted->churns,
                              .of_origin = rows == NULL ? NULL : wanted->origins->of_origin };
    if (wanted->origins->keys.count == 0)
        return ETL_OK; /* nothing is selected */
    const etl_status status =
        wanted->walks_events ? open_words(&out->words, &a->plan, rows, err) : ETL_OK;
    return status == ETL_OK && !ETLHEAP_PUSH(&pass->feed.wants, want) ? etl_no_memory(err) : status;
}

void block_groups_close(block_groups *groups)
{
    close_work(groups->work);
    groups->work = NULL;
    ETLHEAP_VECTOR_FREE(&groups->groups);
    ETLHEAP_VECTOR_FREE(&groups->words.big_sizes);
    churn_join_free(&groups->churn);
    free(groups->words.at);
    groups->words.at = NULL;
}

static void free_task(group_task *task)
{
    ETLHEAP_VECTOR_FREE(&task->groups);
    ETLHEAP_VECTOR_FREE(&task->big_sizes);
    lifetime_list_free(&task->lifetimes);
    churn_track_free(&task->churn);
    ETLHEAP_VECTOR_FREE(&task->churn_rows);
    etlheap_index_free(&task->index);
    free(task->latest);
}

/* Few groups of origins, as without stacks, are divided into many groups each, by threads for
 * example. Then each gets several places, so that groups that alternate keep theirs, and very many
 * if it is divided by stacks. */
static u32 choose_ways(const aggregator *a, size_t key_count)
{
    const bool by_stack = query_needs(a->query, NEEDS_FREE_STACKS);
    const size_t most = by_stack ? 2 * a->result->stacks.list.count : WAYS_MAX;
    const u32 places = by_stack ? STACKS_MAX : PLACES_MAX;
    u32 ways = 1;
    while (ways < most && 2 * ways * (key_count + 1) <= places)
        ways *= 2;
    return ways;
}

/* What a task holds, and the common list for the groups that it found. */
static etl_status count_task(group_task *task, etl_error *err)
{
    const grouping *const g = task->shared;
    const size_t key_count = g->out->origins->keys.count;
    const u64 bytes = (key_count + 1) * g->ways * sizeof *task->latest +
                      task->groups.capacity * sizeof *task->groups.at +
                      etlheap_index_bytes(&task->index) +
                      task->big_sizes.capacity * sizeof *task->big_sizes.at +
                      lifetime_list_bytes(&task->lifetimes) + churn_track_bytes(&task->churn) +
                      task->churn_rows.capacity * sizeof *task->churn_rows.at;
    return memory_hold(g->a->plan.memory, &task->held_bytes, bytes, err);
}

static bool open_tasks(grouping *g)
{
    const size_t key_count = g->out->origins->keys.count;
    g->tasks = calloc(g->task_count, sizeof *g->tasks);
    g->ways = choose_ways(g->a, key_count);
    bool ok = g->tasks != NULL;
    for (u32 i = 0; ok && i < g->task_count; i++) {
        g->tasks[i].shared = g;
        g->tasks[i].latest = calloc((key_count + 1) * g->ways, sizeof *g->tasks[i].latest);
        ok = g->tasks[i].latest != NULL;
    }
    return ok;
}

static void close_work(grouping *g)
{
    if (g == NULL)
        return;
    for (u32 i = 0; g->tasks != NULL && i < g->task_count; i++)
        free_task(&g->tasks[i]);
    free(g->tasks);
    churn_view_close(&g->churn);
    etlheap_index_free(&g->index);
    etlheap_lock_close(g->lock);
    free(g);
}

static void add_sums(block_group *to, const block_group *from)
{
    for (u32 type = 0; type < ETLHEAP_TYPE_COUNT; type++)
        block_sums_add(&to->types[type], &from->types[type]);
    to->freed_by_other += from->freed_by_other;
    block_group_add_times(to, from->first_ticks, from->last_ticks);
}

static bool join_churn(grouping *g, group_task *task)
{
    const u32 count = (u32)task->groups.count;
    if (!g->churns)
        return true;
    u32 *const numbers = malloc(((size_t)count + 1) * sizeof *numbers);
    for (u32 i = 0; numbers != NULL && i < count; i++)
        numbers[i] = task->groups.at[i].number;
    const bool ok =
        numbers != NULL && churn_join_take(&g->out->churn, &task->churn, numbers, count);
    free(numbers);
    return ok;
}

static bool join_task(grouping *g, group_task *task, u32 first_group)
{
    for (size_t i = 0; i < task->groups.count; i++) {
        const block_group *const group = &task->groups.at[i];
        add_sums(&g->out->groups.at[group->number], group);
    }
    return block_sizes_append(&g->out->words.big_sizes, &task->big_sizes) &&
           lifetime_lists_take(&g->a->lifetimes, &task->lifetimes, first_group) &&
           join_churn(g, task);
}

static bool finish_churn(grouping *g, timed_rows *rows)
{
    churn_join *const churn = &g->out->churn;
    return !g->churns || (churn_join_finish(churn, (u32)g->out->groups.count) &&
                          churn_rows_finish(rows, churn->sums.at));
}

etl_status block_groups_finish(block_groups *groups, u32 first_group, etl_error *err)
{
    grouping *const g = groups->work;
    timed_rows rows = { 0 };
    bool ok = true;
    for (u32 i = 0; ok && i < g->task_count; i++) {
        ok = join_task(g, &g->tasks[i], first_group) &&
             churn_rows_append(&rows, &g->tasks[i].churn_rows);
        free_task(&g->tasks[i]);
        g->tasks[i] = (group_task){ .shared = NULL };
    }
    if (ok)
        block_sizes_sort(&groups->words.big_sizes);
    ok = ok && finish_churn(g, &rows);
    ETLHEAP_VECTOR_FREE(&rows);
    close_work(g);
    groups->work = NULL;
    return ok ? ETL_OK : etl_no_memory(err);
}

/* --- groups ------------------------------------------------------------------------- */

static bool same_group(const void *owner, u32 id, const void *key)
{
    const block_group_list *const list = owner;
    const block_group *const a = &list->at[id - 1], *const b = key;
    return memcmp(a->traits, b->traits, sizeof a->traits) == 0 &&
           a->origin_group == b->origin_group;
}

static u64 hash_of(const block_group *group)
{
    u64 hash = etlheap_hash_u64(group->origin_group);
    for (u32 i = 0; i < BLOCK_TRAITS_WORDS; i++)
        hash = etlheap_hash_u64(group->traits[i] ^ hash);
    return hash;
}

/* The number of the group in the common list; a new one if no task has met the group yet. */
static etl_status number_group(grouping *g, block_group *fresh, u64 hash)
{
    block_group_list *const all = &g->out->groups;
    etl_status status = ETL_OK;
    etlheap_lock_take(g->lock);
    const u32 id = etlheap_index_find(&g->index, hash, same_group, all, fresh);
    fresh->number = id != 0 ? id - 1 : (u32)all->count;
    if (id == 0 && all->count >= GROUPS_MAX)
        status = ETL_ERR_LIMIT;
    else if (id == 0 &&
             (!ETLHEAP_PUSH(all, *fresh) || !etlheap_index_add(&g->index, hash, (u32)all->count)))
        status = ETL_ERR_MEMORY;
    etlheap_lock_give(g->lock);
    return status;
}

static inline u32 *latest_of(const group_task *task, u32 origin_group, const u64 *traits)
{
    static const u64 factors[BLOCK_TRAITS_WORDS] = { 0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F,
                                                     0x165667B19E3779F9 };
    const u32 ways = task->shared->ways;
    u64 mixed = 0;
    for (u32 i = 0; i < BLOCK_TRAITS_WORDS; i++)
        mixed += traits[i] * factors[i];
    return &task->latest[(size_t)origin_group * ways + (mixed >> 32 & (ways - 1))];
}

/* Finds the group in the task's list. It is nearly always the group that the last block of the same
 * origins and way was in. `*id` is its number in the list + 1. */
static etl_status find_group(group_task *task, u32 origin_group, const u64 *traits, u32 *latest,
                             u32 *id)
{
    const size_t bytes = BLOCK_TRAITS_WORDS * sizeof *traits;
    *id = *latest;
    if (*id != 0 && memcmp(task->groups.at[*id - 1].traits, traits, bytes) == 0)
        return ETL_OK;
    block_group fresh = { .origin_group = origin_group,
                          .first_ticks = INT64_MAX,
                          .last_ticks = ETLHEAP_TICKS_BEFORE };
    memcpy(fresh.traits, traits, bytes);
    const u64 hash = hash_of(&fresh);
    *id = etlheap_index_find(&task->index, hash, same_group, &task->groups, &fresh);
    if (*id == 0) {
        const etl_status status = number_group(task->shared, &fresh, hash);
        if (status != ETL_OK)
            return status;
        if (!ETLHEAP_PUSH(&task->groups, fresh) ||
            !etlheap_index_add(&task->index, hash, (u32)task->groups.count))
            return ETL_ERR_MEMORY;
        *id = (u32)task->groups.count;
    }
    *latest = *id;
    return ETL_OK;
}

/* --- blocks ------------------------------------------------------------------------- */

/* A block on its way through the phases. */
typedef struct span_block {
    query_block block;
    query_row row; /* as the query sees it; only if it is selected */
    u64 traits[BLOCK_TRAITS_WORDS];
    u32 origin_group; /* GROUP_NONE: not selected */
    u32 group;        /* in the task's list, + 1; 0: not selected */
    u32 *latest;      /* its place in the task's `latest` */
} span_block;

/* Blocks of a batch that take each phase together. */
typedef struct block_span {
    const lifetimes_batch *batch;
    u32 first, count; /* in the batch */
    span_block blocks[SPAN];
} block_span;

static bool put_word(group_task *task, u64 ordinal, const span_block *own, u32 number,
                     bool is_realloc)
{
    const block_words *const words = &task->shared->out->words;
    const u64 size = own->block.size_bytes;
    if (words->at == NULL)
        return true;
    words->at[ordinal] = block_word(number + 1, size, is_realloc) |
                         (type_is_outstanding(own->row.type) ? BLOCK_WORD_STAYS : 0);
    return block_sizes_note(&task->big_sizes, ordinal, size);
}

static u32 name_group(const grouping *g, const lifetimes_batch *batch, u32 at, u32 thread)
{
    const u32 process = lifetimes_batch_process(g->a->result->archive, batch, at);
    return aggregate_thread_name(g->a, process, thread);
}

/* The generation of a block. Blocks come in order of allocation, so it is mostly that of the one
 * before. */
static u32 generation_of(group_task *task, const query_row *row)
{
    const etlheap_marks *const marks = &task->shared->a->result->marks.marks;
    return mark_generation(marks, row->alloc_ticks, &task->generation);
}

/* The stack that changed the outstanding size of the window. Stacks of allocations and of frees are
 * numbered alike, so what a stack allocates and frees is in one group. */
static u32 impact_of(const grouping *g, const lifetimes_batch *batch, u32 at, const query_row *row)
{
    return row->type == ETLHEAP_TYPE_AOFI ? g->out->frees->stack_of_freer[batch->freer[at]]
                                          : g->out->origins->stack_of_origin[batch->origin[at]];
}

/* Fills the traits that the query groups blocks by. */
static void fill_traits(group_task *task, const lifetimes_batch *batch, u32 at,
                        const query_block *block, const query_row *row, u64 *out)
{
    const grouping *const g = task->shared;
    const bool is_freed = g->asks_frees && query_is_freed(row);
    const block_traits traits = {
        .thread = block->thread,
        .generation = g->by_generation ? generation_of(task, row) : 0,
        .size_class = (u8)size_class_of(block->size_bytes),
        .type = g->a->plan.row_types[row->type],
        .free_type = block->free_type,
        .freer = is_freed ? g->out->frees->of_freer[batch->freer[at]] : 0,
        .free_thread = is_freed && batch->free_thread != NULL ? batch->free_thread[at] : ETL_NO_ID,
        .thread_name = g->by_thread_name ? name_group(g, batch, at, block->thread) : 0,
        .impact = g->by_impact ? impact_of(g, batch, at, row) : 0,
    };
    block_traits_pack(&traits, out);
    for (u32 i = 0; i < BLOCK_TRAITS_WORDS; i++)
        out[i] &= g->wanted_traits[i];
}

/* First phase: which blocks are selected, and by what they are grouped. */
static void select_blocks(group_task *task, block_span *span)
{
    const grouping *const g = task->shared;
    const lifetimes_batch *const batch = span->batch;
    const u32 *const of_origin = g->out->origins->of_origin;
    for (u32 i = 0; i < span->count; i++) {
        span_block *const own = &span->blocks[i];
        const u32 at = span->first + i;
        lifetimes_fetch_origin(batch, at, of_origin);
        if (g->by_impact)
            lifetimes_fetch_origin(batch, at, g->out->origins->stack_of_origin);
        if (g->churn.processes != NULL)
            lifetimes_fetch_origin(batch, at, g->churn.processes);
        own->block = lifetimes_batch_block(g->a->result->archive, batch, at);
        own->origin_group = of_origin[batch->origin[at]];
        own->group = 0;
        if (own->origin_group == GROUP_NONE)
            continue;
        if (!block_selected(&g->a->plan, batch, at, &own->row)) {
            own->origin_group = GROUP_NONE;
            continue;
        }
        fill_traits(task, batch, at, &own->block, &own->row, own->traits);
        own->latest = latest_of(task, own->origin_group, own->traits);
        __builtin_prefetch(own->latest, 1);
    }
}

/* Second phase: fetches the groups that the blocks are most likely in. Always inlined, because
 * compilers drop a function that only prefetches. */
__attribute__((always_inline)) static inline void fetch_groups(const group_task *task,
                                                               const block_span *span)
{
    for (u32 i = 0; i < span->count; i++) {
        const span_block *const own = &span->blocks[i];
        if (own->origin_group == GROUP_NONE || *own->latest == 0)
            continue;
        const u8 *const group = (const u8 *)&task->groups.at[*own->latest - 1];
        __builtin_prefetch(group, 1);
        __builtin_prefetch(group + offsetof(block_group, types[ETLHEAP_TYPE_AIFI + 1]) - 1, 1);
    }
}

/* Third phase: adds the blocks to their groups. */
static etl_status add_blocks(group_task *task, block_span *span)
{
    const grouping *const g = task->shared;
    const lifetimes_batch *const batch = span->batch;
    for (u32 i = 0; i < span->count; i++) {
        span_block *const own = &span->blocks[i];
        const u32 at = span->first + i;
        if (own->origin_group == GROUP_NONE)
            continue;
        const etl_status status =
            find_group(task, own->origin_group, own->traits, own->latest, &own->group);
        if (status != ETL_OK)
            return status;
        block_group *const group = &task->groups.at[own->group - 1];
        const block_sums sums = { (i64)etl_min_u64(own->block.size_bytes, INT64_MAX), 1,
                                  (batch->is_realloc[at] | batch->is_marked[at]) != 0 };
        block_sums_add(&group->types[own->row.type], &sums);
        if (g->a->query->alloc_times)
            block_group_add_times(group, own->row.alloc_ticks, own->row.alloc_ticks);
        if (g->a->query->freed_by_other)
            group->freed_by_other +=
                query_is_freed_by_other(&own->row, own->block.thread, batch->free_thread[at]);
        lifetime_list_fetch(&task->lifetimes, group->number);
        churn_fetch(&task->churn, own->group);
    }
    return ETL_OK;
}

/* Fourth phase: fetches the places of the blocks' lifetimes. */
__attribute__((always_inline)) static inline void fetch_lifetimes(const group_task *task,
                                                                  const block_span *span)
{
    const grouping *const g = task->shared;
    for (u32 i = 0; g->a->query->lifetime_ranks && i < span->count; i++) {
        const u32 group = span->blocks[i].group;
        if (group != 0)
            lifetime_list_fetch_place(&task->lifetimes, task->groups.at[group - 1].number);
    }
}

static bool note_churn(group_task *task, const lifetimes_batch *batch, u32 at,
                       const span_block *own)
{
    const grouping *const g = task->shared;
    if (batch->process == NULL)
        return churn_note_row(&g->churn, &task->churn, batch, at, &own->block, own->group,
                              &own->row);
    const u32 group = own->group == 0 ? 0 : task->groups.at[own->group - 1].number + 1;
    return churn_rows_note(&g->churn, &task->churn_rows, batch, at, group, &own->row);
}

/* Last phase: what is kept of single blocks. */
static bool note_blocks(group_task *task, const block_span *span)
{
    const grouping *const g = task->shared;
    const lifetimes_batch *const batch = span->batch;
    bool ok = true;
    for (u32 i = 0; ok && i < span->count; i++) {
        const span_block *const own = &span->blocks[i];
        const u32 at = span->first + i;
        i64 ns;
        if (own->group != 0) {
            const u32 number = task->groups.at[own->group - 1].number;
            const bool is_realloc = (batch->is_realloc[at] | batch->is_marked[at]) != 0;
            ok = put_word(task, lifetimes_batch_ordinal(batch, at), own, number, is_realloc);
            if (ok && query_counts_lifetime(&g->a->plan, &own->row, &ns))
                ok = lifetime_list_add(&task->lifetimes, number, ns);
        }
        if (ok && g->churns)
            ok = note_churn(task, batch, at, own);
    }
    return ok;
}

static etl_status step(void *state, const lifetimes_batch *batch, etl_error *err)
{
    group_task *const task = state;
    block_span span; /* the blocks are not cleared for each batch */
    span.batch = batch;
    const etl_status has_room = count_task(task, err);
    if (has_room != ETL_OK)
        return has_room;
    for (span.first = 0; span.first < batch->count; span.first += SPAN) {
        span.count = (u32)etl_min_u64(batch->count - span.first, SPAN);
        select_blocks(task, &span);
        fetch_groups(task, &span);
        const etl_status status = add_blocks(task, &span);
        if (status == ETL_ERR_LIMIT)
            return etl_fail_with(err, status, 0, "more groups than can be numbered");
        if (status != ETL_OK)
            return etl_no_memory(err);
        fetch_lifetimes(task, &span);
        if (!note_blocks(task, &span))
            return etl_no_memory(err);
    }
    return ETL_OK;
}

group_key block_groups_key(const block_groups *groups, u32 number)
{
    const block_group *const group = &groups->groups.at[number];
    group_key key = groups->origins->keys.at[group->origin_group];
    const block_traits traits = block_traits_unpack(group->traits);
    key.thread = traits.thread;
    key.generation = traits.generation;
    key.type = traits.type;
    key.free_type = traits.free_type;
    key.size_class = traits.size_class;
    key.thread_name = traits.thread_name;
    key.free_thread = traits.free_thread;
    if (groups->origins->stack_of_origin != NULL)
        key.stack = traits.impact;
    if (groups->frees->keys.count == 0)
        return key;
    const free_key *const freer = &groups->frees->keys.at[traits.freer];
    key.free_stack = freer->stack;
    key.free_frame = freer->frame;
    key.free_module = freer->module;
    return key;
}
