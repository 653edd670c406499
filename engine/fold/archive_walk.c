/*
 * archive_walk.c - prepares a walk over the events of a store, for jobs that need time order;
 * archive_steps.c steps through it. The terms are in archive_walk.h.
 *
 * In: the windows of the jobs, the segments that they touch, and the checkpoint before them. Out:
 * spans (windows as positions), words and survivors by ordinal, and times of ticks.
 *
 * A free names its block only by how many allocations ago it was made. So events are read twice:
 *
 *     1st reading    allocations leave a word each, frees a bit; a word without a bit survives
 *     2nd reading    events in order; a free finds size and origin in its block's word
 *
 * If no job asks which blocks survive, the 1st reading has only the columns of allocations. Given
 * words need no 1st reading. The walk starts at a checkpoint, whose open blocks count as
 * allocated before everything else. Invariant: each word is written by one task only, the one that
 * reads its allocation, and each task has a private bitmap of all ordinals. So tasks run in
 * parallel without locks, and all is complete before any event is stepped.
 */
#include <stdlib.h>

#include "archive_walk.h"
#include "engine/core/workers.h"

/* The results of one task of the first reading, for a run of segments. */
typedef struct reading {
    u32 first, end; /* segments */
    u8 *freed;      /* by ordinal */
    block_sizes big_sizes;
    ETLHEAP_VECTOR(u64) reallocs; /* ordinals */
    task_end outcome;
} reading;

typedef struct first_pass {
    archive_walk *walk;
    reading *readings;
} first_pass;

static etl_status find_spans(archive_walk *walk, const archive_demand *demands, etl_error *err);
static etl_status load_checkpoint(archive_walk *walk, etl_error *err);
static void take_hull(archive_walk *walk);
static etl_status open_words(archive_walk *walk, etl_error *err);
static etl_status read_window(archive_walk *walk, etl_error *err);
static void read_segments(void *context, u32 task);
static void read_blocks(void *context, u32 task);
static etl_status take_results(archive_walk *walk, reading *readings, u32 count, etl_error *err);
static etl_status read_late_reallocs(archive_walk *walk, etl_error *err);

static etl_status damaged_times(etl_error *err)
{
    return etl_fail_with(err, ETL_ERR_CORRUPT, 0, "the store has events after its end");
}

void archive_window_of(const aggregator *a, i64 *from_ticks, i64 *to_ticks)
{
    const etlheap_query *const query = a->query;
    const bool is_open = query->to_ns == INT64_MAX && query->kind_to_ticks == NULL;
    *from_ticks = query->from_ns == INT64_MIN ? INT64_MIN : a->plan.from_ticks;
    *to_ticks = is_open ? INT64_MAX : a->plan.kind_to_ticks[ETLHEAP_KIND_HEAP];
    *to_ticks = *to_ticks < *from_ticks ? *from_ticks : *to_ticks;
}

static void bounds_of(const archive_demand *demand, i64 *from_ticks, i64 *to_ticks)
{
    const window_pass *const windows = demand->windows;
    if (windows == NULL) {
        archive_window_of(demand->a, from_ticks, to_ticks);
        return;
    }
    *from_ticks = windows->bounds.at[0];
    *to_ticks = windows->bounds.at[windows->bounds.count - 1];
    *to_ticks = *to_ticks < *from_ticks ? *from_ticks : *to_ticks;
}

bool archive_walk_shares(const archive_demand *a, const archive_demand *b)
{
    i64 a_from, a_to, b_from, b_to;
    bounds_of(a, &a_from, &a_to);
    bounds_of(b, &b_from, &b_to);
    const etlheap_query *const one = a->a->query, *const other = b->a->query;
    return a->words == b->words && one->at_exit_freed == other->at_exit_freed &&
           one->cancel == other->cancel && (!a->asks_survivors || a_to >= b_to) &&
           (!b->asks_survivors || b_to >= a_to);
}

/* The first question with the same window, or the same windows. */
static u32 first_alike(const archive_demand *demands, u32 number)
{
    i64 from, to, own_from, own_to;
    u32 at = 0;
    bounds_of(&demands[number], &own_from, &own_to);
    for (; at < number; at++) {
        const window_pass *const a = demands[at].windows, *const b = demands[number].windows;
        bounds_of(&demands[at], &from, &to);
        const bool same_windows = a == NULL || b == NULL
                                      ? a == b
                                      : a->bounds.count == b->bounds.count &&
                                            memcmp(a->bounds.at, b->bounds.at,
                                                   a->bounds.count * sizeof *a->bounds.at) == 0;
        if (same_windows && from == own_from && to == own_to)
            break;
    }
    return at;
}

static etl_status copy_span(const archive_span *from, archive_span *to, etl_error *err)
{
    const size_t bytes = from->bound_count * sizeof *from->bounds;
    *to = *from;
    to->bounds = NULL;
    if (from->bounds == NULL)
        return ETL_OK;
    to->bounds = malloc(bytes);
    if (to->bounds == NULL)
        return etl_no_memory(err);
    memcpy(to->bounds, from->bounds, bytes);
    return ETL_OK;
}

static bool asks_survivors(const archive_demand *demands, u32 count)
{
    bool asks = false;
    for (u32 i = 0; i < count; i++)
        asks |= demands[i].asks_survivors;
    return asks;
}

etl_status archive_walk_open(archive_walk *out, const archive_demand *demands, u32 count,
                             etl_error *err)
{
    const etlheap_query *const query = demands[0].a->query;
    *out = (archive_walk){ .archive = demands[0].a->result->archive,
                           .spans = calloc(count, sizeof *out->spans),
                           .words = demands[0].words,
                           .cancel = query->cancel,
                           .memory = demands[0].a->plan.memory,
                           .exit_frees = query->at_exit_freed,
                           .asks_survivors = asks_survivors(demands, count),
                           .asks_reallocs = demands[0].asks_reallocs,
                           .threads = etlheap_workers_jobs(query->jobs) };
    if (out->spans == NULL)
        return etl_no_memory(err);
    out->span_count = count;
    etl_status status = find_spans(out, demands, err);
    if (status != ETL_OK)
        return status;
    take_hull(out);
    if (out->words != NULL)
        return out->ordinals <= out->words->count ? load_checkpoint(out, err) : damaged_times(err);
    out->words = &out->own_words;
    status = open_words(out, err);
    return status == ETL_OK ? read_window(out, err) : status;
}

void archive_walk_close(archive_walk *walk)
{
    (void)memory_hold(walk->memory, &walk->held_bytes, 0, NULL);
    ehs_open_rows_free(&walk->open);
    for (u32 i = 0; i < walk->span_count; i++)
        free(walk->spans[i].bounds);
    free(walk->spans);
    free(walk->own_words.at);
    free(walk->survivors);
    ETLHEAP_VECTOR_FREE(&walk->own_words.big_sizes);
}

/* Sets the window that contains all spans. */
static void take_hull(archive_walk *walk)
{
    walk->to = walk->spans[0].to;
    walk->first_segment = walk->spans[0].from.segment;
    for (u32 i = 1; i < walk->span_count; i++) {
        const archive_span *const span = &walk->spans[i];
        if (archive_place_is_reached(&walk->to, span->to.segment, span->to.event))
            walk->to = span->to;
        if (span->from.segment < walk->first_segment)
            walk->first_segment = span->from.segment;
    }
    walk->ordinals = walk->to.allocs;
}

/* Lists the times of a question's window, or windows, to be found. */
static bool list_span(const archive_demand *demand, archive_span *out, place_list *places)
{
    const window_pass *const windows = demand->windows;
    i64 from_ticks, to_ticks;
    bounds_of(demand, &from_ticks, &to_ticks);
    out->bound_count = windows == NULL ? 0 : (u32)windows->bounds.count;
    if (windows != NULL) {
        out->bounds = calloc(out->bound_count, sizeof *out->bounds);
        if (out->bounds == NULL)
            return false;
    }
    bool ok = ETLHEAP_PUSH(places, (place_wanted){ from_ticks, &out->from }) &&
              ETLHEAP_PUSH(places, (place_wanted){ to_ticks, &out->to });
    for (u32 i = 0; ok && i < out->bound_count; i++)
        ok = ETLHEAP_PUSH(places, (place_wanted){ windows->bounds.at[i], &out->bounds[i] });
    return ok;
}

/* Questions with the same windows find them once. */
static etl_status find_spans(archive_walk *walk, const archive_demand *demands, etl_error *err)
{
    place_list places = { 0 };
    bool ok = true;
    for (u32 i = 0; ok && i < walk->span_count; i++)
        ok = first_alike(demands, i) < i || list_span(&demands[i], &walk->spans[i], &places);
    etl_status status =
        ok ? archive_find_places(walk->archive, &places, walk->threads, walk->cancel, err)
           : etl_no_memory(err);
    for (u32 i = 0; status == ETL_OK && i < walk->span_count; i++) {
        const u32 same = first_alike(demands, i);
        if (same < i)
            status = copy_span(&walk->spans[same], &walk->spans[i], err);
    }
    ETLHEAP_VECTOR_FREE(&places);
    return status;
}

/* One bitmap for all, and one for each task that reads. */
static etl_status open_words(archive_walk *walk, etl_error *err)
{
    const u64 bit_bytes = walk->asks_survivors ? walk->ordinals / 8 + 1 : 0;
    const u64 bitmaps = 1 + etl_min_u64(walk->threads, archive_source(walk).part_count);
    const u64 bytes = walk->ordinals * sizeof *walk->own_words.at + bit_bytes * bitmaps;
    const etl_status status = memory_hold(walk->memory, &walk->held_bytes, bytes, err);
    if (status != ETL_OK)
        return status;
    walk->own_words.at =
        etlheap_workers_calloc(walk->threads, walk->ordinals + 1, sizeof *walk->own_words.at);
    walk->survivors = walk->asks_survivors ? calloc(bit_bytes, 1) : NULL;
    const bool ok = walk->own_words.at != NULL && (!walk->asks_survivors || walk->survivors);
    return ok ? ETL_OK : etl_no_memory(err);
}

/* Makes the word of a block; false if the origin does not exist. */
static bool make_word(const archive_walk *walk, u64 ordinal, u32 origin, u64 size, bool is_realloc)
{
    if (origin == 0 || origin > walk->archive->origins.origins.count)
        return false;
    walk->words->at[ordinal] = block_word(origin, size, is_realloc);
    return true;
}

/* Loads the blocks that are open where the walk begins. */
static etl_status load_checkpoint(archive_walk *walk, etl_error *err)
{
    const ehs_archive *const archive = walk->archive;
    const ehs_checkpoint *const row =
        ehs_checkpoint_before(&archive->checkpoints, walk->first_segment);
    const u32 wanted = walk->first_segment;
    walk->first_segment = 0;
    if (row == NULL || row->segment > wanted)
        return ETL_OK;
    ehs_loader loader = { .reader = &archive->reader, .bytes_left = UINT64_MAX, .err = err };
    const etl_status status = ehs_checkpoint_load(
        &loader, row, EHS_WANT_ORIGIN | EHS_WANT_SIZE | EHS_WANT_IS_REALLOC, &walk->open);
    ehs_loader_free(&loader);
    walk->first_segment = row->segment;
    for (size_t i = 0; status == ETL_OK && i < walk->open.count; i++) {
        const u32 ordinal = walk->open.ordinal[i];
        const u64 size = walk->open.size[i];
        if (ordinal >= walk->ordinals)
            return etl_fail_with(err, ETL_ERR_CORRUPT, 0,
                                 "a checkpoint names something that does not exist");
        if (walk->words != &walk->own_words)
            continue;
        if (!make_word(walk, ordinal, walk->open.origin[i], size, walk->open.is_realloc[i]))
            return etl_fail_with(err, ETL_ERR_CORRUPT, 0,
                                 "a checkpoint names something that does not exist");
        if (!block_sizes_note(&walk->own_words.big_sizes, ordinal, size))
            return etl_no_memory(err);
    }
    return status;
}

/* Reads the window, with one task for each thread and equally many segments for each task. Each
 * task has a private bitmap, if it is needed. */
static etl_status read_window(archive_walk *walk, etl_error *err)
{
    etl_status status = load_checkpoint(walk, err);
    if (status != ETL_OK)
        return status;
    const u32 parts = archive_source(walk).part_count;
    const u32 count = (u32)etl_max_u64(1, etl_min_u64(walk->threads, parts));
    first_pass pass = { walk, calloc(count, sizeof *pass.readings) };
    bool ok = pass.readings != NULL;
    for (u32 i = 0; ok && i < count; i++) {
        reading *const own = &pass.readings[i];
        own->first = walk->first_segment + (u32)((u64)parts * i / count);
        own->end = walk->first_segment + (u32)((u64)parts * (i + 1) / count);
        own->freed = walk->asks_survivors ? calloc(walk->ordinals / 8 + 1, 1) : NULL;
        ok = own->freed != NULL || !walk->asks_survivors;
    }
    if (ok) {
        etlheap_workers_run(count, count, walk->asks_survivors ? read_segments : read_blocks,
                            &pass);
        status = take_results(walk, pass.readings, count, err);
    }
    if (status == ETL_OK && ok && (walk->asks_survivors || walk->asks_reallocs))
        status = read_late_reallocs(walk, err);
    for (u32 i = 0; pass.readings != NULL && i < count; i++) {
        free(pass.readings[i].freed);
        ETLHEAP_VECTOR_FREE(&pass.readings[i].big_sizes);
        ETLHEAP_VECTOR_FREE(&pass.readings[i].reallocs);
    }
    free(pass.readings);
    return ok ? status : etl_no_memory(err);
}

static bool counts_as_end(const archive_walk *walk, u8 how)
{
    return how != ETLHEAP_FREE_PROCESS_EXIT || walk->exit_frees;
}

static etl_status read_events(const archive_walk *walk, const log_batch *batch, reading *own)
{
    const log_batch b = *batch; /* a local copy, because stores below could alias *batch */
    const u32 count = archive_events_before(&walk->to, batch);
    const u64 ordinals = walk->ordinals;
    for (u32 i = 0; i < count; i++) {
        const u32 ordinal = b.ordinal[i], row = b.row[i];
        if (ordinal >= ordinals)
            return ETL_ERR_CORRUPT;
        if (log_opens(&b, i)) {
            if (!make_word(walk, ordinal, b.origin[row], b.size[row], b.is_realloc[row]))
                return ETL_ERR_CORRUPT;
            if (!block_sizes_note(&own->big_sizes, ordinal, b.size[row]))
                return ETL_ERR_MEMORY;
        } else if (b.how[row] == EHS_HOW_REALLOC) {
            if (!ETLHEAP_PUSH(&own->reallocs, ordinal))
                return ETL_ERR_MEMORY;
        } else if (counts_as_end(walk, b.how[row])) {
            own->freed[ordinal >> 3] |= (u8)(1u << (ordinal & 7));
        }
    }
    return ETL_OK;
}

/* Says which segment is damaged, if one is. */
static void name_damage(reading *own, u32 segment)
{
    if (own->outcome.status == ETL_ERR_CORRUPT)
        etl_fail_with(&own->outcome.err, ETL_ERR_CORRUPT, 0,
                      "segment %u names something that does not exist", segment);
}

static void read_segments(void *context, u32 task)
{
    const first_pass *const pass = context;
    const archive_walk *const walk = pass->walk;
    reading *const own = &pass->readings[task];
    const u32 wanted =
        EHS_WANT_ORIGIN | EHS_WANT_SIZE | EHS_WANT_IS_REALLOC | EHS_WANT_BACK | EHS_WANT_HOW;
    log_reader reader;
    const log_batch *batch = NULL;
    own->outcome.status =
        archive_read(walk->archive, wanted, walk->cancel, &reader, &own->outcome.err);
    log_reader_seek(&reader, own->first, own->end);
    if (own->outcome.status == ETL_OK)
        own->outcome.status = log_next(&reader, &batch, &own->outcome.err);
    while (own->outcome.status == ETL_OK && batch != NULL) {
        own->outcome.status = read_events(walk, batch, own);
        name_damage(own, batch->segment);
        if (own->outcome.status == ETL_OK)
            own->outcome.status = log_next(&reader, &batch, &own->outcome.err);
    }
    log_reader_close(&reader);
}

/* Makes the words of the blocks that a segment opens, as far as the walk goes. */
static etl_status make_words(const archive_walk *walk, const log_blocks *blocks, reading *own)
{
    const log_blocks b = *blocks; /* a local copy, because stores below could alias *blocks */
    for (u32 row = 0; row < b.count && b.first_ordinal + row < walk->ordinals; row++) {
        const u64 ordinal = b.first_ordinal + row;
        const bool is_realloc = walk->asks_reallocs && b.is_realloc[row];
        if (!make_word(walk, ordinal, b.origin[row], b.size[row], is_realloc))
            return ETL_ERR_CORRUPT;
        if (!block_sizes_note(&own->big_sizes, ordinal, b.size[row]))
            return ETL_ERR_MEMORY;
    }
    return ETL_OK;
}

static void read_blocks(void *context, u32 task)
{
    const first_pass *const pass = context;
    const archive_walk *const walk = pass->walk;
    reading *const own = &pass->readings[task];
    const log_blocks *blocks = NULL;
    log_reader reader;
    const u32 wanted =
        EHS_WANT_ORIGIN | EHS_WANT_SIZE | (walk->asks_reallocs ? (u32)EHS_WANT_IS_REALLOC : 0);
    own->outcome.status =
        archive_read(walk->archive, wanted, walk->cancel, &reader, &own->outcome.err);
    log_reader_seek(&reader, own->first, own->end);
    if (own->outcome.status == ETL_OK)
        own->outcome.status = log_next_blocks(&reader, &blocks, &own->outcome.err);
    while (own->outcome.status == ETL_OK && blocks != NULL) {
        own->outcome.status = make_words(walk, blocks, own);
        name_damage(own, blocks->segment);
        if (own->outcome.status == ETL_OK)
            own->outcome.status = log_next_blocks(&reader, &blocks, &own->outcome.err);
    }
    log_reader_close(&reader);
}

/*
 * Marks blocks that turn out, after the window's end, to have been opened by a realloc: the record
 * that says so is the last of three in a row. Blocks of the window are marked by the segment that
 * the window ends in and the next one.
 */
static etl_status read_late_reallocs(archive_walk *walk, etl_error *err)
{
    const u64 behind = (u64)walk->to.segment + 2;
    const u32 end = (u32)etl_min_u64(behind, walk->archive->segments.count);
    log_reader reader;
    const log_batch *batch = NULL;
    etl_status status =
        archive_read(walk->archive, EHS_WANT_BACK | EHS_WANT_HOW, walk->cancel, &reader, err);
    log_reader_seek(&reader, walk->to.segment, end);
    if (status == ETL_OK)
        status = log_next(&reader, &batch, err);
    while (status == ETL_OK && batch != NULL) {
        const u32 first =
            batch->segment == walk->to.segment ? archive_events_before(&walk->to, batch) : 0;
        for (u32 i = first; i < batch->count; i++) {
            const u32 ordinal = batch->ordinal[i];
            if (!log_opens(batch, i) && batch->how[batch->row[i]] == EHS_HOW_REALLOC &&
                ordinal < walk->ordinals && walk->words->at[ordinal] != 0)
                walk->words->at[ordinal] |= ENTRY_IS_REALLOC;
        }
        status = log_next(&reader, &batch, err);
    }
    log_reader_close(&reader);
    return status;
}

/* Takes over the results of the tasks and reports the first failure. */
static etl_status take_results(archive_walk *walk, reading *readings, u32 count, etl_error *err)
{
    const u64 bytes = walk->asks_survivors ? walk->ordinals / 8 + 1 : 0;
    const etl_status status = task_ends_first(&readings->outcome, sizeof *readings, count, err);
    if (status != ETL_OK)
        return status == ETL_ERR_MEMORY ? etl_no_memory(err) : status;
    for (u32 t = 0; t < count; t++) {
        reading *const own = &readings[t];
        for (u64 i = 0; i < bytes; i++)
            walk->survivors[i] |= own->freed[i];
        for (size_t i = 0; i < own->reallocs.count; i++)
            walk->words->at[own->reallocs.at[i]] |= ARCHIVE_WORD_REALLOC;
        if (!block_sizes_append(&walk->own_words.big_sizes, &own->big_sizes))
            return etl_no_memory(err);
    }
    for (u64 i = 0; i < bytes; i++)
        walk->survivors[i] = (u8)~walk->survivors[i];
    return ETL_OK;
}

etl_status archive_walk_ticks(const archive_walk *walk, u32 first_part, u64 time, i64 *ticks,
                              etl_error *err)
{
    const u32 end = (u32)walk->archive->segments.count;
    const log_batch *batch = NULL;
    log_reader reader;
    u64 at = 1;
    etl_status status =
        archive_read(walk->archive, EHS_WANT_LATER | EHS_WANT_TICKS, walk->cancel, &reader, err);
    *ticks = INT64_MIN;
    log_reader_seek(&reader, walk->first_segment + first_part, end);
    if (status == ETL_OK)
        status = log_next(&reader, &batch, err);
    while (status == ETL_OK && batch != NULL && at <= time) {
        for (u32 i = 0; i < batch->count && at <= time; i++) {
            at += (batch->kind[i] & EHS_EVENT_LATER) != 0;
            *ticks = at == time ? batch->ticks[i] : *ticks;
        }
        status = log_next(&reader, &batch, err);
    }
    log_reader_close(&reader);
    return status;
}
