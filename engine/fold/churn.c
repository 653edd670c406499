/*
 * churn.c - counts temporary blocks: those freed before their thread allocates again. churn.h has
 * the rule with an example.
 *
 * In: the allocations of a window in the order of their numbers, each with its thread and the
 * number of allocations before its free (`end`). Out: churn_sums of each group.
 *
 *     ring of a thread, its latest ten blocks     b1 b2 ... b9 b10
 *     the thread allocates block number n         b10 is temporary            if its end <= n
 *                                                 b1 is freed "within 10"     if its end <= n
 *                                                 b1 leaves the ring, the new block enters
 *
 * Tasks see runs of consecutive numbers. A run keeps the numbers of the first ten allocations of
 * each thread (`heads`) and the last ten blocks (`ring`). Joining two runs feeds the heads of the
 * later one to the rings of the earlier one. Invariant: runs are joined in the order of their
 * numbers, because a head may decide only blocks that were allocated before it.
 */
#include "churn.h"

#include <stdlib.h>

static void free_threads(churn_threads *threads)
{
    ETLHEAP_VECTOR_FREE(&threads->list);
    etlheap_index_free(&threads->index);
}

static bool same_thread(const void *owner, u32 id, const void *key)
{
    const churn_threads *const threads = owner;
    const u64 *const wanted = key;
    return threads->list.at[id - 1].id == *wanted;
}

/* Threads take turns, so those that allocated recently are tried first. Ids of threads are
 * multiples of four. */
static inline u32 *recent_of(churn_threads *threads, u64 id)
{
    return &threads->recent[(id >> 2 ^ id >> 32) % CHURN_RECENT];
}

/* Finds or adds a thread; NULL without memory. */
static churn_thread *thread_of(churn_threads *threads, u64 id)
{
    u32 *const recent = recent_of(threads, id);
    if (*recent != 0 && threads->list.at[*recent - 1].id == id)
        return &threads->list.at[*recent - 1];
    const u64 hash = etlheap_hash_u64(id);
    u32 number = etlheap_index_find(&threads->index, hash, same_thread, threads, &id);
    if (number == 0) {
        if (!ETLHEAP_PUSH(&threads->list, (churn_thread){ .id = id }) ||
            !etlheap_index_add(&threads->index, hash, (u32)threads->list.count))
            return NULL;
        number = (u32)threads->list.count;
    }
    *recent = number;
    return &threads->list.at[number - 1];
}

static bool fit_sums(churn_list *sums, u32 count)
{
    if (count <= sums->count)
        return true;
    const size_t more = count - sums->count;
    if (!ETLHEAP_RESERVE(sums, more))
        return false;
    memset(sums->at + sums->count, 0, more * sizeof *sums->at);
    sums->count = count;
    return true;
}

/* --- one thread ----------------------------------------------------------------------- */

/* The index of the thread's latest block in the ring. */
static inline u32 last_of(const churn_thread *thread)
{
    return (thread->at == 0 ? CHURN_NEAR : thread->at) - 1;
}

/* The thread allocates: its last block was temporary if it had been freed by then. */
static inline void decide_last(const churn_list *sums, const churn_thread *thread, u32 number)
{
    const churn_pending *const last = &thread->ring[last_of(thread)];
    if (thread->count > 0 && last->group != 0 && last->end <= number) {
        sums->at[last->group - 1].count++;
        sums->at[last->group - 1].size = etl_sat_add_i64(sums->at[last->group - 1].size,
                                                         (i64)etl_min_u64(last->size, INT64_MAX));
    }
}

/* The thread allocates: the block that leaves the ring counts if it had been freed by then. */
static inline void decide_oldest(const churn_list *sums, const churn_thread *thread, u32 number)
{
    const churn_pending *const oldest = &thread->ring[thread->at];
    if (thread->count == CHURN_NEAR && oldest->group != 0 && oldest->end <= number)
        sums->at[oldest->group - 1].near_count++;
}

static inline void push(churn_thread *thread, const churn_pending *pending)
{
    thread->ring[thread->at] = *pending;
    thread->at = thread->at + 1 == CHURN_NEAR ? 0 : thread->at + 1;
    thread->count += thread->count < CHURN_NEAR;
}

/* --- one task ------------------------------------------------------------------------- */

bool churn_note(churn_track *track, const churn_block *block)
{
    if ((track->runs.count == 0 || block->number != track->next) &&
        !ETLHEAP_PUSH(&track->runs, (churn_run){ .first = block->number }))
        return false;
    track->next = block->number + (u64)1;
    churn_thread *const thread =
        thread_of(&track->runs.at[track->runs.count - 1].threads, block->thread);
    if (thread == NULL || !fit_sums(&track->sums, block->group))
        return false;
    decide_last(&track->sums, thread, block->number);
    decide_oldest(&track->sums, thread, block->number);
    if (thread->count < CHURN_NEAR)
        thread->heads[thread->count] = block->number;
    const bool ends = block->end != CHURN_NO_END;
    push(thread, &(churn_pending){ block->end, ends ? block->group : 0, block->size });
    if (block->is_fast && ends && block->group != 0)
        track->sums.at[block->group - 1].fast_count++;
    return true;
}

void churn_track_free(churn_track *track)
{
    for (size_t i = 0; i < track->runs.count; i++)
        free_threads(&track->runs.at[i].threads);
    ETLHEAP_VECTOR_FREE(&track->runs);
    ETLHEAP_VECTOR_FREE(&track->sums);
}

/* --- all tasks ------------------------------------------------------------------------ */

static void add_sums(churn_sums *to, const churn_sums *from)
{
    to->count += from->count;
    to->size = etl_sat_add_i64(to->size, from->size);
    to->near_count += from->near_count;
    to->fast_count += from->fast_count;
}

static void renumber(churn_run *run, const u32 *groups)
{
    for (size_t i = 0; i < run->threads.list.count; i++) {
        churn_pending *const ring = run->threads.list.at[i].ring;
        for (u32 k = 0; k < CHURN_NEAR; k++)
            ring[k].group = ring[k].group == 0 ? 0 : groups[ring[k].group - 1] + 1;
    }
}

bool churn_join_take(churn_join *join, churn_track *track, const u32 *groups, u32 group_count)
{
    assert(track->sums.count <= group_count);
    for (u32 i = 0; i < track->sums.count && i < group_count; i++) {
        if (!fit_sums(&join->sums, groups[i] + 1))
            return false;
        add_sums(&join->sums.at[groups[i]], &track->sums.at[i]);
    }
    if (!ETLHEAP_RESERVE(&join->runs, track->runs.count))
        return false;
    for (size_t i = 0; i < track->runs.count; i++) {
        renumber(&track->runs.at[i], groups);
        join->runs.at[join->runs.count++] = track->runs.at[i];
    }
    track->runs.count = 0;
    return true;
}

static int by_first(const void *a, const void *b)
{
    const churn_run *const x = a, *const y = b;
    return (x->first > y->first) - (x->first < y->first);
}

/*
 * Appends the next run of a thread. The heads of that run decide the blocks before it. If it has
 * ten blocks or more, only its own ring is still undecided afterwards.
 */
static void continue_thread(const churn_list *sums, churn_thread *to, const churn_thread *run)
{
    static const churn_pending none = { .end = CHURN_NO_END };
    const bool is_full = run->count == CHURN_NEAR;
    decide_last(sums, to, run->heads[0]);
    for (u32 i = 0; i < run->count; i++) {
        decide_oldest(sums, to, run->heads[i]);
        push(to, is_full ? &none : &run->ring[i]);
    }
    if (is_full) {
        memcpy(to->ring, run->ring, sizeof to->ring);
        to->at = run->at;
    }
}

/* The thread never allocates again, so all blocks of its ring that were freed count. */
static void decide_rest(const churn_list *sums, const churn_thread *thread)
{
    decide_last(sums, thread, CHURN_NO_END);
    for (u32 i = 0; i < thread->count; i++) {
        if (thread->ring[i].group != 0)
            sums->at[thread->ring[i].group - 1].near_count++;
    }
}

bool churn_join_finish(churn_join *join, u32 group_count)
{
    churn_threads all = { .recent = { 0 } };
    bool ok = fit_sums(&join->sums, group_count);
    if (join->runs.count > 0)
        qsort(join->runs.at, join->runs.count, sizeof *join->runs.at, by_first);
    for (size_t i = 0; ok && i < join->runs.count; i++) {
        churn_threads *const run = &join->runs.at[i].threads;
        for (size_t k = 0; ok && k < run->list.count; k++) {
            churn_thread *const thread = thread_of(&all, run->list.at[k].id);
            ok = thread != NULL;
            if (ok)
                continue_thread(&join->sums, thread, &run->list.at[k]);
        }
        free_threads(run);
    }
    for (size_t i = 0; ok && i < all.list.count; i++)
        decide_rest(&join->sums, &all.list.at[i]);
    free_threads(&all);
    return ok;
}

void churn_join_free(churn_join *join)
{
    for (size_t i = 0; i < join->runs.count; i++)
        free_threads(&join->runs.at[i].threads);
    ETLHEAP_VECTOR_FREE(&join->runs);
    ETLHEAP_VECTOR_FREE(&join->sums);
}
