/*
 * lifetimes_source.c - finds the end of each heap block of a log, one chunk of segments at a time.
 * lifetimes_source.h draws the chunks.
 *
 * In: the segments of a log, and the blocks of the checkpoint before the window. Out: arrays with
 * one element for each block of the chunk: when and how it ended and, if asked for, who freed it
 * and how many allocations came before that.
 *
 *     [ blocks of the checkpoint, by ordinal | blocks of the chunk, from first_ordinal on ]
 *       found by binary search                 found by subtraction
 *
 * An end may lie in any later segment. So ends are read in rounds: each thread reads ROUND_SEGMENTS
 * segments, and rounds go on until every block of the chunk has its end or the log is over. Threads
 * write to the arrays without locks, because a block ends only once. Invariant: a damaged file may
 * end a block twice, so the ends found are compared with the blocks that have an end; if the
 * numbers differ, the file is refused.
 */
#include "lifetimes_source.h"

#include <stdlib.h>

#include "engine/core/workers.h"
#include "engine/query/needs.h"

#define ROUND_SEGMENTS 4u /* of each thread */
#define ENDS_SHARE     4u /* of the memory allowed */
#define PIECE_ENDS     (1u << 18)
#define ENDS_AHEAD     24u /* events whose block is looked for soon */

/* One thread's part of a round. No two threads write to the same element unless the file is
 * damaged, which counting finds out. */
typedef struct end_reader {
    log_reader reader;
    u32 first, end; /* segments */
    u64 found;
    task_end outcome;
    u8 padding[SHARD_PADDING];
} end_reader;

/* Data shared by the threads of a round. */
typedef struct end_round {
    lifetimes_source *source;
    u32 first, end;
} end_round;

/* The blocks of the chunk that have an end, counted by all threads. */
typedef struct ends_count {
    const lifetimes_source *source;
    u64 known;
} ends_count;

static etl_status load_checkpoint(lifetimes_source *source, u32 segment, etl_error *err);
static etl_status open_readers(lifetimes_source *source, etl_error *err);
static etl_status fit_ends(lifetimes_source *source, etl_error *err);
static void read_ends(void *context, u32 task);
static bool note_ends(lifetimes_source *source, const log_batch *batch, u64 *found);
static bool find_block(const lifetimes_source *source, u64 ordinal, u64 *at);

u32 lifetimes_source_end(const ehs_archive *archive, i64 to_ticks)
{
    const ehs_segment_index *const segments = &archive->segments;
    const u32 last = archive_segment_at(archive, to_ticks);
    return last < segments->count && segments->at[last].first_ticks < to_ticks ? last + 1 : last;
}

etl_status lifetimes_source_open(lifetimes_source *out, const ehs_archive *archive,
                                 const lifetimes_wanted *wanted, etl_error *err)
{
    *out = (lifetimes_source){ .archive = archive, .wanted = *wanted };
    out->wanted.jobs = etlheap_workers_jobs(wanted->jobs);
    out->end = lifetimes_source_end(archive, wanted->to_ticks);
    etl_status status = open_readers(out, err);
    if (status == ETL_OK)
        status = load_checkpoint(out, archive_segment_at(archive, wanted->from_ticks), err);
    out->end = out->end < out->first ? out->first : out->end;
    return status;
}

lifetimes_wanted lifetimes_wanted_for(const query_plan *plan)
{
    const u64 memory = plan->result->archive->memory_bytes_max / ENDS_SHARE;
    return (lifetimes_wanted){
        .from_ticks = plan->from_ticks,
        .to_ticks = plan->kind_to_ticks[ETLHEAP_KIND_HEAP],
        .size_min_bytes = plan->query->size_min_bytes,
        .size_max_bytes = plan->query->size_max_bytes,
        .ends_max = memory == 0 ? LIFETIMES_ENDS_MAX
                                : etl_min_u64(LIFETIMES_ENDS_MAX, memory / LIFETIMES_END_BYTES),
        .jobs = plan->query->jobs,
        .cancel = plan->query->cancel,
        .memory = plan->memory,
        .more = query_needs(plan->query, NEEDS_THREADS) ? EHS_WANT_THREAD : 0,
        .has_frees = query_needs(plan->query, NEEDS_FREES),
        .has_free_threads = query_needs(plan->query, NEEDS_FREE_THREADS),
    };
}

void lifetimes_source_close(lifetimes_source *source)
{
    (void)memory_hold(source->wanted.memory, &source->held_bytes, 0, NULL);
    ehs_open_rows_free(&source->open);
    for (u32 i = 0; source->readers != NULL && i < source->wanted.jobs; i++)
        log_reader_close(&source->readers[i].reader);
    free(source->readers);
    free(source->end_ticks);
    free(source->end_how);
    free(source->is_marked);
    free(source->end_freer);
    free(source->end_thread);
    free(source->end_allocs);
    *source = (lifetimes_source){ 0 };
}

u64 lifetimes_source_bytes(const lifetimes_source *source)
{
    const u64 row_bytes = 3 * sizeof(u64) + 3 * sizeof(u32) + 1; /* of a checkpoint */
    const u64 free_bytes = (source->wanted.has_frees ? sizeof(u32) : 0) +
                           (source->wanted.has_free_threads ? sizeof(u32) : 0);
    const u64 alloc_bytes = source->wanted.counts_allocs ? sizeof(u32) : 0;
    return source->end_capacity * (LIFETIMES_END_BYTES + free_bytes + alloc_bytes) +
           source->open.capacity * row_bytes;
}

static etl_status open_readers(lifetimes_source *source, etl_error *err)
{
    const u32 jobs = source->wanted.jobs;
    const u32 wanted = EHS_WANT_ENDS | (source->wanted.has_frees ? EHS_WANT_FREER : 0) |
                       (source->wanted.has_free_threads ? EHS_WANT_FREER_THREAD : 0);
    source->readers = calloc(jobs, sizeof *source->readers);
    etl_status status = source->readers == NULL ? etl_no_memory(err) : ETL_OK;
    for (u32 i = 0; status == ETL_OK && i < jobs && i < source->archive->segments.count; i++)
        status = archive_read(source->archive, wanted, source->wanted.cancel,
                              &source->readers[i].reader, err);
    return status;
}

/* Loads the blocks that are open before a segment, from the nearest checkpoint at or before it. */
static etl_status load_checkpoint(lifetimes_source *source, u32 segment, etl_error *err)
{
    const ehs_archive *const archive = source->archive;
    const ehs_checkpoint *const row = ehs_checkpoint_before(&archive->checkpoints, segment);
    if (row == NULL)
        return ETL_OK;
    const u64 memory = archive->memory_bytes_max;
    ehs_loader loader = { .reader = &archive->reader,
                          .bytes_left = memory == 0 ? UINT64_MAX : memory,
                          .err = err };
    etl_status status =
        ehs_checkpoint_load(&loader, row,
                            EHS_WANT_ORIGIN | EHS_WANT_SIZE | EHS_WANT_TICKS | EHS_WANT_ADDRESS |
                                EHS_WANT_THREAD | EHS_WANT_IS_REALLOC,
                            &source->open);
    ehs_loader_free(&loader);
    source->first = row->segment;
    for (size_t i = 0; status == ETL_OK && i < source->open.count; i++) {
        if (source->open.origin[i] == 0 || source->open.origin[i] > archive->origins.origins.count)
            status = etl_fail_with(err, ETL_ERR_CORRUPT, 0,
                                   "a checkpoint names an origin that does not exist");
    }
    return status;
}

/* Takes as many segments as `ends_max` allows, but at least one. */
void lifetimes_source_seek(lifetimes_source *source, u32 first)
{
    const ehs_segment_index *const segments = &source->archive->segments;
    lifetimes_chunk *const chunk = &source->chunk;
    const bool is_at_hand = source->has_ends && chunk->first == first;
    if (is_at_hand)
        return;
    *chunk = (lifetimes_chunk){ .first = first,
                                .end = first,
                                .open_count = first == source->first ? source->open.count : 0 };
    chunk->count = chunk->open_count;
    if (first < segments->count)
        chunk->first_ordinal = segments->at[first].first_ordinal;
    while (chunk->end < source->end &&
           (chunk->end == first ||
            chunk->count + segments->at[chunk->end].allocs <= source->wanted.ends_max))
        chunk->count += segments->at[chunk->end++].allocs;
    source->has_ends = false;
}

bool lifetimes_source_wants(const lifetimes_source *source, u32 segment)
{
    const ehs_segment_info *const info = &source->archive->segments.at[segment];
    return info->allocs > 0 && info->size_max >= source->wanted.size_min_bytes &&
           info->size_min <= source->wanted.size_max_bytes;
}

/* A chunk has millions of ends, so all threads clear and count them, piece by piece. */
static u32 piece_count(const lifetimes_source *source)
{
    return (u32)((source->chunk.count + PIECE_ENDS - 1) / PIECE_ENDS);
}

static u64 piece_end(const lifetimes_source *source, u32 piece)
{
    return etl_min_u64(source->chunk.count, (piece + (u64)1) * PIECE_ENDS);
}

static void forget_piece(void *context, u32 piece)
{
    const lifetimes_source *const source = context;
    const u64 from = piece * (u64)PIECE_ENDS, end = piece_end(source, piece);
    for (u64 i = from; i < end; i++)
        source->end_ticks[i] = ETLHEAP_TICKS_NEVER;
    memset(source->end_how + from, ETLHEAP_FREE_NONE, end - from);
    memset(source->is_marked + from, 0, end - from);
    if (source->wanted.has_frees)
        memset(source->end_freer + from, 0, (end - from) * sizeof *source->end_freer);
    if (source->wanted.has_free_threads)
        memset(source->end_thread + from, 0xFF, (end - from) * sizeof *source->end_thread);
}

static void count_piece(void *context, u32 piece)
{
    ends_count *const count = context;
    const u64 end = piece_end(count->source, piece);
    u64 known = 0;
    for (u64 i = piece * (u64)PIECE_ENDS; i < end; i++)
        known += count->source->end_how[i] != ETLHEAP_FREE_NONE;
    __atomic_fetch_add(&count->known, known, __ATOMIC_RELAXED);
}

/* Makes room for the ends of the current chunk and clears them. */
static etl_status fit_ends(lifetimes_source *source, etl_error *err)
{
    const u64 count = source->chunk.count;
    if (count > source->end_capacity) {
        source->end_capacity = count;
        const etl_status status = memory_hold(source->wanted.memory, &source->held_bytes,
                                              lifetimes_source_bytes(source), err);
        if (status != ETL_OK)
            return status;
        free(source->end_ticks);
        free(source->end_how);
        free(source->is_marked);
        free(source->end_freer);
        free(source->end_thread);
        free(source->end_allocs);
        source->end_freer = source->end_thread = source->end_allocs = NULL;
        source->end_ticks = malloc(count * sizeof *source->end_ticks);
        source->end_how = malloc(count);
        source->is_marked = malloc(count);
        if (source->wanted.counts_allocs)
            source->end_allocs = malloc(count * sizeof *source->end_allocs);
        if (source->wanted.has_frees)
            source->end_freer = malloc(count * sizeof *source->end_freer);
        if (source->wanted.has_free_threads)
            source->end_thread = malloc(count * sizeof *source->end_thread);
    }
    if (count == 0)
        return ETL_OK;
    const bool has_frees = (!source->wanted.has_frees || source->end_freer != NULL) &&
                           (!source->wanted.has_free_threads || source->end_thread != NULL);
    const bool has_allocs = !source->wanted.counts_allocs || source->end_allocs != NULL;
    if (source->end_ticks == NULL || source->end_how == NULL || source->is_marked == NULL ||
        !has_frees || !has_allocs) {
        source->end_capacity = 0;
        return etl_no_memory(err);
    }
    etlheap_workers_run(source->wanted.jobs, piece_count(source), forget_piece, source);
    return ETL_OK;
}

/* Runs one round on all threads and adds the number of ends that they found. */
static etl_status run_round(end_round *round, u64 *found, etl_error *err)
{
    lifetimes_source *const source = round->source;
    const u32 tasks = (round->end - round->first + ROUND_SEGMENTS - 1) / ROUND_SEGMENTS;
    etlheap_workers_run(source->wanted.jobs, tasks, read_ends, round);
    for (u32 i = 0; i < tasks; i++)
        *found += source->readers[i].found;
    return task_ends_first(&source->readers->outcome, sizeof *source->readers, tasks, err);
}

etl_status lifetimes_source_find_ends(lifetimes_source *source, etl_error *err)
{
    const lifetimes_chunk *const chunk = &source->chunk;
    const u32 segments = (u32)source->archive->segments.count;
    const u32 step = ROUND_SEGMENTS * source->wanted.jobs;
    ends_count distinct = { .source = source };
    u64 found = 0;
    if (source->has_ends)
        return ETL_OK;
    etl_status status = fit_ends(source, err);
    for (u32 first = chunk->first; status == ETL_OK && first < segments && found < chunk->count;
         first += step) {
        end_round round = { source, first, segments - first < step ? segments : first + step };
        status = run_round(&round, &found, err);
    }
    if (status == ETL_OK)
        etlheap_workers_run(source->wanted.jobs, piece_count(source), count_piece, &distinct);
    if (status == ETL_OK && distinct.known != found)
        status = etl_fail_with(err, ETL_ERR_CORRUPT, 0, "the store ends a block twice");
    source->has_ends = status == ETL_OK;
    return status;
}

static void read_ends(void *context, u32 task)
{
    const end_round *const round = context;
    end_reader *const own = &round->source->readers[task];
    const u32 first = round->first + task * ROUND_SEGMENTS;
    const u32 end = round->end - first < ROUND_SEGMENTS ? round->end : first + ROUND_SEGMENTS;
    const log_batch *batch = NULL;
    own->found = 0;
    log_reader_seek(&own->reader, first, end);
    own->outcome.status = log_next(&own->reader, &batch, &own->outcome.err);
    while (own->outcome.status == ETL_OK && batch != NULL) {
        if (!note_ends(round->source, batch, &own->found))
            own->outcome.status = etl_fail_with(
                &own->outcome.err, ETL_ERR_CORRUPT, 0,
                "segment %u names a freeing stack that does not exist", batch->segment);
        else
            own->outcome.status = log_next(&own->reader, &batch, &own->outcome.err);
    }
}

/* Notes who ended block `at` of the chunk; false if the file names a freer that does not exist. */
static bool note_freer(lifetimes_source *source, const log_batch *batch, u32 row, u64 at)
{
    const u32 freer = batch->freer[row];
    __atomic_store_n(&source->end_freer[at], freer, __ATOMIC_RELAXED);
    if (source->end_thread != NULL)
        __atomic_store_n(&source->end_thread[at], batch->freer_thread[row], __ATOMIC_RELAXED);
    return freer <= source->archive->origins.freers.count;
}

/* The number of allocations before an end: all of earlier segments, and the events of this segment
 * before it less those that are ends. */
static u32 allocs_before(const lifetimes_source *source, const log_batch *batch, u32 at)
{
    const ehs_segment_info *const info = &source->archive->segments.at[batch->segment];
    return (u32)info->first_ordinal + (batch->first + at - batch->row[at]);
}

/* Prefetches the elements of a block that the chunk opens. Always inlined, because compilers drop a
 * function that only prefetches. */
__attribute__((always_inline)) static inline void fetch_end(const lifetimes_source *source,
                                                            const log_batch *batch, u32 i)
{
    const lifetimes_chunk *const chunk = &source->chunk;
    const u64 at = chunk->open_count + (batch->ordinal[i] - chunk->first_ordinal);
    if (log_opens(batch, i) || at >= chunk->count)
        return;
    __builtin_prefetch(&source->end_ticks[at], 1);
    __builtin_prefetch(&source->end_how[at], 1);
    if (source->end_allocs != NULL)
        __builtin_prefetch(&source->end_allocs[at], 1);
    if (source->end_freer != NULL)
        __builtin_prefetch(&source->end_freer[at], 1);
    if (source->end_thread != NULL)
        __builtin_prefetch(&source->end_thread[at], 1);
}

/* Skips the ends of blocks that the chunk does not open. */
static bool note_ends(lifetimes_source *source, const log_batch *batch, u64 *found)
{
    for (u32 i = 0; i < batch->count; i++) {
        u64 at;
        if (i + ENDS_AHEAD < batch->count)
            fetch_end(source, batch, i + ENDS_AHEAD);
        if (log_opens(batch, i) || !find_block(source, batch->ordinal[i], &at))
            continue;
        const u8 how = batch->how[batch->row[i]];
        if (how == EHS_HOW_REALLOC) {
            __atomic_store_n(&source->is_marked[at], 1, __ATOMIC_RELAXED);
            continue;
        }
        if (source->end_allocs != NULL)
            __atomic_store_n(&source->end_allocs[at], allocs_before(source, batch, i),
                             __ATOMIC_RELAXED);
        const u8 known = how < ETLHEAP_FREE_TYPE_COUNT ? how : (u8)ETLHEAP_FREE_FREE;
        __atomic_store_n(&source->end_how[at], known, __ATOMIC_RELAXED);
        __atomic_store_n(&source->end_ticks[at], batch->ticks[i], __ATOMIC_RELAXED);
        ++*found;
        if (source->wanted.has_frees && !note_freer(source, batch, batch->row[i], at))
            return false;
    }
    return true;
}

/* Finds the element for a block's end; false if the block is not in the chunk. */
static bool find_block(const lifetimes_source *source, u64 ordinal, u64 *at)
{
    const lifetimes_chunk *const chunk = &source->chunk;
    if (ordinal >= chunk->first_ordinal) {
        *at = chunk->open_count + (ordinal - chunk->first_ordinal);
        return *at < chunk->count;
    }
    u64 low;
    ETL_BISECT(low, 0, chunk->open_count, source->open.ordinal[low] < ordinal);
    *at = low;
    return low < chunk->open_count && source->open.ordinal[low] == ordinal;
}
