/*
 * window_sums.c - sums of a window without the order of its events; see window_sums.h.
 *
 * In: the words of the blocks that the window touches (archive_walk.h), and its events. Out: count,
 * size and reallocs by place and type.
 *
 * A block is counted as outstanding when it is allocated, and its end moves it:
 *
 *     allocated        before the window       in the window
 *                            AOFO                   AIFO
 *     freed in it             └──▶ AOFI              └──▶ AIFI
 *     freed before it         └──▶ nothing
 *
 * An end takes from one sum what its allocation gave to it, so it does not matter which of both is
 * counted first, nor by which task. Tasks take segments as they come and count in cells of their
 * own. Cells wrap around, because a task may meet only the ends of some blocks; the sum over all
 * tasks does not. Invariant: window_sums_fit has made sure that no sum is too large for a cell.
 */
#include "window_sums.h"

#include <stdlib.h>

#include "archive_walk.h"
#include "engine/core/machine.h"
#include "engine/core/workers.h"
#include "engine/query/needs.h"

#define SPAN 128u /* blocks whose words, and then cells, are fetched at once */

/* Flags in a word: a realloc, or how the block ended. The kind of an entry is not used in words. */
#define WORD_FREED  ((event_entry)1) /* in the window */
#define WORD_BEFORE ((event_entry)2) /* before the window */

/* One cache line. */
typedef struct place_cells {
    tally_cell of[ETLHEAP_TYPE_COUNT];
} place_cells;

static_assert(sizeof(place_cells) == 64, "one cache line");

/* All that the tasks share. */
typedef struct sums_work {
    archive_walk walk;
    event_entry *words; /* of the walk; a block's end marks its word */
    const u32 *of_origin;
    u32 places;
    u64 size_min_bytes, size_max_bytes; /* of the blocks that count ... */
    bool has_sizes;                     /* ... if not all do */
    u32 next;                           /* segment that nobody has, from the first on */
    u32 end;                            /* behind the last one */
    struct sums_task *tasks;
    u32 task_count;
    u64 held_bytes; /* of their cells */
} sums_work;

typedef struct sums_task {
    sums_work *work;
    place_cells *cells;
    log_reader reader;
    ETLHEAP_VECTOR(u32) reallocs; /* blocks that turned out to be opened by one */
    task_end outcome;
    u8 padding[SHARD_PADDING];
} sums_task;

bool window_sums_fit(const aggregator *a)
{
    const ehs_archive *const archive = a->result->archive;
    u64 bytes = 0;
    if (!a->query->sums_only || !query_fits_typed_sums(a->query) ||
        query_needs(a->query, NEEDS_TIMES))
        return false;
    for (size_t i = 0; i < archive->segments.count; i++) {
        const ehs_segment_info *const info = &archive->segments.at[i];
        const u64 most = info->size_max > INT64_MAX / EHS_PART_ROWS ? INT64_MAX : info->size_max;
        if (__builtin_mul_overflow(most, info->allocs, &bytes) && info->allocs > 0)
            return false;
    }
    return bytes <= INT64_MAX;
}

/* --- cells ----------------------------------------------------------------------------- */

static inline bool is_inside(const sums_work *work, u64 ordinal)
{
    return ordinal >= work->walk.spans[0].from.allocs;
}

/* The word of a block, which another task may be marking. What tasks read of it does not change. */
static inline event_entry word_of(const sums_work *work, u64 ordinal)
{
    return __atomic_load_n(&work->words[ordinal], __ATOMIC_RELAXED);
}

static inline u64 whole_size_of(const sums_work *work, event_entry word, u64 ordinal)
{
    const u32 size = entry_size_of(word);
    return size != ENTRY_SIZE_BIG ? size : block_words_big_size(&work->walk.own_words, ordinal);
}

/* The size of a block, at most INT64_MAX, as everywhere in sums. */
static inline u64 size_of(const sums_work *work, event_entry word, u64 ordinal)
{
    return etl_min_u64(whole_size_of(work, word, ordinal), INT64_MAX);
}

/* GROUP_NONE: the block does not count. */
static inline u32 place_of(const sums_work *work, u64 ordinal)
{
    const event_entry word = word_of(work, ordinal);
    const u32 place = work->of_origin[entry_origin_of(word)];
    const u64 size = work->has_sizes ? whole_size_of(work, word, ordinal) : 0;
    return size < work->size_min_bytes || size > work->size_max_bytes ? GROUP_NONE : place;
}

/* Blocks that are counted together: their words are fetched first, then their cells. */
typedef struct block_span {
    u64 ordinal[SPAN];
    u32 place[SPAN];
    u32 count;
} block_span;

static void fetch_cells(const sums_task *own, block_span *span)
{
    const sums_work *const work = own->work;
    for (u32 i = 0; i < span->count; i++) {
        const u32 place = place_of(work, span->ordinal[i]);
        span->place[i] = place;
        if (place != GROUP_NONE)
            __builtin_prefetch(&own->cells[place], 1);
    }
}

/* Adds blocks, which are outstanding until their ends are met. */
static void add_blocks(sums_task *own, block_span *span)
{
    const sums_work *const work = own->work;
    fetch_cells(own, span);
    for (u32 i = 0; i < span->count; i++) {
        const u64 ordinal = span->ordinal[i];
        if (span->place[i] == GROUP_NONE)
            continue;
        const event_entry word = word_of(work, ordinal);
        const etlheap_type type = type_by_ends(is_inside(work, ordinal), false);
        tally_cell *const cell = &own->cells[span->place[i]].of[type];
        cell->size += size_of(work, word, ordinal);
        cell->count++;
        cell->realloc_count += (word & ENTRY_IS_REALLOC) != 0;
    }
    span->count = 0;
}

/* Moves a block that ends from one type to another. */
static inline void end_block(const sums_task *own, u64 ordinal, u32 place, bool in_window)
{
    const sums_work *const work = own->work;
    const event_entry word = word_of(work, ordinal);
    const bool inside = is_inside(work, ordinal);
    const u64 size = size_of(work, word, ordinal);
    const u32 realloc_count = (word & ENTRY_IS_REALLOC) != 0;
    tally_cell *const from = &own->cells[place].of[type_by_ends(inside, false)];
    tally_cell *const to = &own->cells[place].of[type_by_ends(inside, true)];
    from->size -= size;
    from->count--;
    from->realloc_count -= realloc_count;
    __atomic_store_n(&work->words[ordinal], word | (in_window ? WORD_FREED : WORD_BEFORE),
                     __ATOMIC_RELAXED);
    if (!in_window)
        return;
    to->size += size;
    to->count++;
    to->realloc_count += realloc_count;
}

static void end_blocks(sums_task *own, block_span *span, bool in_window)
{
    fetch_cells(own, span);
    for (u32 i = 0; i < span->count; i++) {
        if (span->place[i] != GROUP_NONE)
            end_block(own, span->ordinal[i], span->place[i], in_window);
    }
    span->count = 0;
}

/* --- events ---------------------------------------------------------------------------- */

/* Counts some of the ends of a batch, which all lie on one side of the window's start. */
static bool add_ends(sums_task *own, const log_ends *ends, u32 first, u32 end, bool in_window)
{
    const sums_work *const work = own->work;
    const bool exit_frees = work->walk.exit_frees;
    block_span span;
    span.count = 0;
    for (u32 i = first; i < end; i++) {
        const u8 how = ends->how[i];
        if (how == EHS_HOW_REALLOC && !ETLHEAP_PUSH(&own->reallocs, ends->ordinal[i]))
            return false;
        if (how == EHS_HOW_REALLOC || (how == ETLHEAP_FREE_PROCESS_EXIT && !exit_frees))
            continue;
        __builtin_prefetch(&work->words[ends->ordinal[i]], 1);
        span.ordinal[span.count++] = ends->ordinal[i];
        if (span.count == SPAN)
            end_blocks(own, &span, in_window);
    }
    end_blocks(own, &span, in_window);
    return true;
}

static void add_allocations(sums_task *own, u32 segment)
{
    const archive_walk *const walk = &own->work->walk;
    const ehs_segment_info *const info = &walk->archive->segments.at[segment];
    const u64 end = etl_min_u64(info->first_ordinal + info->allocs, walk->ordinals);
    block_span span;
    span.count = 0;
    for (u64 ordinal = info->first_ordinal; ordinal < end; ordinal++) {
        span.ordinal[span.count++] = ordinal;
        if (span.count == SPAN || ordinal + 1 == end)
            add_blocks(own, &span);
    }
}

static etl_status add_segment(sums_task *own, u32 segment)
{
    const archive_span *const span = &own->work->walk.spans[0];
    const log_ends *ends = NULL;
    add_allocations(own, segment);
    log_reader_seek(&own->reader, segment, segment + 1);
    etl_status status = log_next_ends(&own->reader, &ends, &own->outcome.err);
    while (status == ETL_OK && ends != NULL) {
        const u32 end = log_ends_before(ends, archive_events_before(&span->to, &ends->batch));
        const u32 early = log_ends_before(ends, archive_events_before(&span->from, &ends->batch));
        const bool ok =
            add_ends(own, ends, 0, early, false) && add_ends(own, ends, early, end, true);
        status = ok ? log_next_ends(&own->reader, &ends, &own->outcome.err)
                    : etl_no_memory(&own->outcome.err);
    }
    return status;
}

static void add_open_blocks(sums_task *own, u32 number)
{
    const sums_work *const work = own->work;
    const ehs_open_rows *const open = &work->walk.open;
    block_span span;
    span.count = 0;
    for (size_t i = number; i < open->count; i += work->task_count) {
        span.ordinal[span.count++] = open->ordinal[i];
        if (span.count == SPAN || i + work->task_count >= open->count)
            add_blocks(own, &span);
    }
}

static void add_segments(void *context, u32 number)
{
    sums_work *const work = context;
    sums_task *const own = &work->tasks[number];
    add_open_blocks(own, number);
    for (;;) {
        const u32 segment = __atomic_fetch_add(&work->next, 1, __ATOMIC_RELAXED);
        if (segment >= work->end || own->outcome.status != ETL_OK)
            return;
        own->outcome.status = add_segment(own, segment);
    }
}

/* --- reallocs ---------------------------------------------------------------------------- */

/* Counts a block as opened by a realloc, if that is not known of it. All ends have been met. */
static void mark_realloc(sums_task *own, u64 ordinal)
{
    sums_work *const work = own->work;
    const event_entry word = work->words[ordinal];
    const u32 place = place_of(work, ordinal);
    if ((word & (ENTRY_IS_REALLOC | WORD_BEFORE)) != 0 || place == GROUP_NONE)
        return;
    const etlheap_type type = type_by_ends(is_inside(work, ordinal), (word & WORD_FREED) != 0);
    own->cells[place].of[type].realloc_count++;
    work->words[ordinal] |= ENTRY_IS_REALLOC;
}

static void mark_reallocs(const sums_work *work)
{
    for (u32 t = 0; t < work->task_count; t++) {
        sums_task *const own = &work->tasks[t];
        for (size_t i = 0; i < own->reallocs.count; i++)
            mark_realloc(own, own->reallocs.at[i]);
    }
}

/* --- all together ------------------------------------------------------------------------ */

/* Opens one task for each thread, but no more than there are segments. */
static etl_status open_tasks(sums_work *work, etl_error *err)
{
    const archive_walk *const walk = &work->walk;
    const u32 parts = archive_source(walk).part_count;
    work->next = walk->first_segment;
    work->end = walk->first_segment + parts;
    work->task_count = (u32)etl_max_u64(1, etl_min_u64(walk->threads, parts));
    const u64 bytes = work->task_count * (u64)work->places * sizeof(place_cells);
    etl_status status = memory_hold(walk->memory, &work->held_bytes, bytes, err);
    if (status != ETL_OK)
        return status;
    work->tasks = calloc(work->task_count, sizeof *work->tasks);
    for (u32 i = 0; work->tasks != NULL && status == ETL_OK && i < work->task_count; i++) {
        sums_task *const own = &work->tasks[i];
        own->work = work;
        own->cells = machine_alloc_aligned(sizeof *own->cells,
                                           (work->places + (size_t)1) * sizeof *own->cells);
        if (own->cells == NULL)
            return etl_no_memory(err);
        memset(own->cells, 0, work->places * sizeof *own->cells);
        status = archive_read(walk->archive, EHS_WANT_BACK | EHS_WANT_HOW, walk->cancel,
                              &own->reader, err);
    }
    return work->tasks == NULL ? etl_no_memory(err) : status;
}

static void close_work(sums_work *work)
{
    for (u32 i = 0; work->tasks != NULL && i < work->task_count; i++) {
        machine_free_aligned(work->tasks[i].cells);
        log_reader_close(&work->tasks[i].reader);
        ETLHEAP_VECTOR_FREE(&work->tasks[i].reallocs);
    }
    (void)memory_hold(work->walk.memory, &work->held_bytes, 0, NULL);
    free(work->tasks);
    archive_walk_close(&work->walk);
}

/* The sum of all tasks. It is too large only if more blocks end than there are. */
static etl_status add_cells(const sums_work *work, u32 place, type_sums *out, etl_error *err)
{
    const u64 most = work->walk.ordinals + work->walk.open.count;
    for (u32 type = 0; type < ETLHEAP_TYPE_COUNT; type++) {
        tally_cell sum = { 0 };
        for (u32 t = 0; t < work->task_count; t++) {
            const tally_cell *const cell = &work->tasks[t].cells[place].of[type];
            sum.size += cell->size;
            sum.count += cell->count;
            sum.realloc_count += cell->realloc_count;
        }
        if (sum.count > most || sum.size > INT64_MAX)
            return etl_fail_with(err, ETL_ERR_CORRUPT, 0, "the store ends a block twice");
        out[type] = (type_sums){ sum.count, (i64)sum.size, sum.realloc_count };
    }
    return ETL_OK;
}

static etl_status make_sums(const sums_work *work, type_sums **out, etl_error *err)
{
    etl_status status = ETL_OK;
    *out = calloc(work->places + (size_t)1, ETLHEAP_TYPE_COUNT * sizeof **out);
    if (*out == NULL)
        return etl_no_memory(err);
    for (u32 place = 0; status == ETL_OK && place < work->places; place++)
        status = add_cells(work, place, *out + (size_t)place * ETLHEAP_TYPE_COUNT, err);
    return status;
}

etl_status window_sums_make(const aggregator *a, const u32 *of_origin, u32 places, type_sums **out,
                            etl_error *err)
{
    const archive_demand demand = { .a = a, .asks_reallocs = true };
    const etlheap_query *const query = a->query;
    sums_work work = { .of_origin = of_origin,
                       .places = places,
                       .size_min_bytes = query->size_min_bytes,
                       .size_max_bytes = query->size_max_bytes,
                       .has_sizes = query_needs(query, NEEDS_SIZES) };
    *out = NULL;
    etl_status status = archive_walk_open(&work.walk, &demand, 1, err);
    work.words = work.walk.own_words.at;
    if (status == ETL_OK)
        status = open_tasks(&work, err);
    if (status == ETL_OK) {
        etlheap_workers_run(work.task_count, work.task_count, add_segments, &work);
        status = task_ends_first(&work.tasks->outcome, sizeof *work.tasks, work.task_count, err);
    }
    if (status == ETL_OK) {
        mark_reallocs(&work);
        status = make_sums(&work, out, err);
    }
    if (status != ETL_OK) {
        free(*out);
        *out = NULL;
    }
    close_work(&work);
    return status;
}

/* Each origin is a place of its own; no block has origin 0. */
static etl_status make_by_origin(const aggregator *a, type_sums **out, etl_error *err)
{
    const u32 places = (u32)a->result->archive->origins.origins.count + 1;
    u32 *const identity = malloc(places * sizeof *identity);
    *out = NULL;
    if (identity == NULL)
        return etl_no_memory(err);
    identity[0] = GROUP_NONE;
    for (u32 origin = 1; origin < places; origin++)
        identity[origin] = origin;
    const etl_status status = window_sums_make(a, identity, places, out, err);
    free(identity);
    return status;
}

etl_status window_sums_take(const aggregator *a, kept_sums *kept, kept_use *out, etl_error *err)
{
    const etlheap_query *const query = a->query;
    kept_window window = { .size_min_bytes = query->size_min_bytes,
                           .size_max_bytes = query->size_max_bytes,
                           .exit_frees = query->at_exit_freed };
    type_sums *made = NULL;
    archive_window_of(a, &window.from_ticks, &window.to_ticks);
    etl_status status = kept_sums_take(kept, &window, query->cancel, out, err);
    if (status != ETL_OK || out->sums != NULL)
        return status;
    status = make_by_origin(a, &made, err);
    kept_sums_put(kept, out, made);
    return status;
}
