/*
 * event_log.c - see event_log.h. Writes parts from the journal's chunks and folds them.
 *
 * The engine as it is notes each event in a chunk of 8-byte entries. The design writes parts
 * in their place; here they are made from the chunks afterwards, so what is measured includes
 * one pass over the events that the design does not have.
 */
#include "event_log.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "bench.h"
#include "engine/fold/replay_step.h"

#define AHEAD 16u /* rows whose sums are fetched before their turn */

unsigned long long log_thread_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (unsigned long long)now.tv_sec * 1000000000 + (unsigned long long)now.tv_nsec;
}

_Noreturn void log_give_up(const char *sentence)
{
    fprintf(stderr, "bench_log: %s\n", sentence);
    exit(1);
}

log_part log_part_open(u32 rows_max)
{
    const u32 places = rows_max == 0 ? 1 : rows_max;
    log_part part = { .words = malloc(places * 2 * sizeof *part.words) };
    if (part.words == NULL)
        abort();
    part.sizes = part.words + places;
    return part;
}

/* --- writing -------------------------------------------------------------------- */

/* A run of a chunk's entries, which becomes the part of this number. */
typedef struct log_piece {
    const journal_entry *entries;
    u32 count;
} log_piece;

/* How an end was found does not survive the journal, only that it was late. */
#define LOG_LATE ((u32)1 << LOG_HOW_SHIFT)

typedef struct log_work {
    event_log *log;
    ETLHEAP_VECTOR(log_piece) pieces;
    size_t first_part;
    atomic_uint next;
} log_work;

/* An entry without an event stays as a row without an origin, because ranks count it. A realloc
 * found out late is such a row too and counted aside: sums do not ask when it was found. */
static void write_part(log_piece piece, log_part *part, log_lane *lane)
{
    u32 origin_max = 0;
    for (u32 i = 0; i < piece.count; i++) {
        const journal_entry entry = piece.entries[i];
        const journal_kind kind = journal_kind_of(entry);
        const u32 origin = journal_slot_of(entry);
        const u32 later = (entry & JOURNAL_NEW_TICK) != 0 ? LOG_LATER : 0;
        if (kind >= JOURNAL_BIG_ALLOC || (kind != JOURNAL_NONE && (entry & JOURNAL_INSIDE) == 0))
            log_give_up("blocks of 2 GiB and windows are not part of the spike");
        if (kind == JOURNAL_MARK && !ETLHEAP_PUSH(&lane->late_reallocs, origin))
            abort();
        const bool is_event = kind != JOURNAL_NONE && kind != JOURNAL_MARK;
        const u32 how = kind == JOURNAL_LATE_FREE ? LOG_LATE : 0;
        part->words[i] = later | (is_event ? origin | (kind == JOURNAL_ALLOC ? 0 : LOG_END) | how |
                                                 ((entry & JOURNAL_REALLOC) != 0 ? LOG_REALLOC : 0)
                                           : 0);
        part->sizes[i] = is_event ? journal_size_of(entry) : 0;
        origin_max = origin > origin_max ? origin : origin_max;
    }
    part->rows = piece.count;
    part->origin_max = origin_max;
}

static void fit_sums(log_lane *lane, u32 origin_max)
{
    const size_t count = lane->sums.count;
    if (origin_max < count)
        return;
    const size_t more = origin_max + (size_t)1 - count;
    if (!ETLHEAP_RESERVE(&lane->sums, more))
        abort();
    memset(lane->sums.at + count, 0, more * sizeof *lane->sums.at);
    lane->sums.count += more;
}

/* The live fold: sums per origin, while the part is still in the cache. */
static void fold_sums(const log_part *part, log_lane *lane)
{
    fit_sums(lane, part->origin_max);
    origin_sums *const sums = lane->sums.at;
    for (u32 i = 0; i < part->rows; i++) {
        if (part->rows - i > AHEAD)
            __builtin_prefetch(&sums[part->words[i + AHEAD] & LOG_ORIGIN_MASK], 1);
        const u32 word = part->words[i];
        const u32 end = (word & LOG_END) != 0;
        origin_sums *const origin = &sums[word & LOG_ORIGIN_MASK];
        origin->size[end] += part->sizes[i];
        origin->count[end]++;
        origin->reallocs[end] += (word & LOG_REALLOC) != 0;
    }
}

static void run_lane(void *context, u32 task)
{
    log_work *const work = context;
    event_log *const log = work->log;
    for (;;) {
        const u32 number = atomic_fetch_add(&work->next, 1);
        if (number >= work->pieces.count)
            return;
        log_part *const part = &log->parts.at[work->first_part + number];
        unsigned long long begin = log_thread_ns();
        write_part(work->pieces.at[number], part, &log->lanes[task]);
        atomic_fetch_add(&log->write_ns, log_thread_ns() - begin);
        if (log->keeps_parts)
            continue;
        begin = log_thread_ns();
        fold_sums(part, &log->lanes[task]);
        atomic_fetch_add(&log->fold_ns, log_thread_ns() - begin);
        free(part->words);
        part->words = part->sizes = NULL;
    }
}

static void cut_chunk(log_work *work, const journal_chunk *chunk)
{
    u32 rank = chunk->first_rank;
    for (u32 at = 0; at < chunk->count; at += LOG_PART_ROWS) {
        const u32 left = chunk->count - at;
        const log_piece piece = { chunk->entries + at,
                                  left < LOG_PART_ROWS ? left : LOG_PART_ROWS };
        log_part part = log_part_open(piece.count);
        part.first_rank = rank;
        for (u32 i = 0; i < piece.count; i++)
            rank += journal_kind_of(piece.entries[i]) < JOURNAL_LATE_FREE;
        if (!ETLHEAP_PUSH(&work->pieces, piece) || !ETLHEAP_PUSH(&work->log->parts, part))
            abort();
        work->log->bytes += (u64)piece.count * 2 * sizeof(u32);
    }
}

void event_log_take(event_log *log, event_journal *journal)
{
    log_work work = { .log = log, .first_part = log->parts.count };
    if (log->lanes == NULL)
        log->lanes = bench_allocate(log->jobs, sizeof *log->lanes);
    for (size_t c = log->taken; c < journal->closed; c++)
        cut_chunk(&work, &journal->chunks.at[c]);
    etlheap_crew_run(log->crew, log->jobs, run_lane, &work);
    for (size_t p = work.first_part; p < log->parts.count; p++)
        log->rows += log->parts.at[p].rows;
    for (; log->taken < journal->closed; log->taken++) {
        journal_chunk *const chunk = &journal->chunks.at[log->taken];
        journal->resident_bytes -= (u64)chunk->count * sizeof *chunk->entries;
        free(chunk->entries);
        chunk->entries = NULL;
        chunk->count = 0;
    }
    ETLHEAP_VECTOR_FREE(&work.pieces);
}

/* --- folding curves --------------------------------------------------------------- */

/* The log as replay_walk.c asks for it. */
typedef struct log_source {
    const event_log *log;
    atomic_ullong *fold_ns;
} log_source;

static u64 part_events(const void *user, u32 part)
{
    const log_source *const source = user;
    return source->log->parts.at[part].rows;
}

static bool part_starts_tick(const void *user, u32 number)
{
    const log_source *const source = user;
    const log_part *const part = &source->log->parts.at[number];
    return part->rows > 0 && (part->words[0] & LOG_LATER) != 0;
}

/* Rows by type need the curve of what comes and goes alone, others that of everything. */
__attribute__((always_inline)) static inline void fold_row(replay_walker *w, u32 word, i64 size,
                                                           bool outstanding, const bool by_type)
{
    const u32 origin = word & LOG_ORIGIN_MASK;
    const u32 number = origin == 0 ? GROUP_NONE : w->walk->slot_groups[origin];
    if (number == GROUP_NONE || (u64)size < w->walk->size_min_bytes ||
        (u64)size > w->walk->size_max_bytes)
        return;
    hot_group *const hot = &w->hot[number];
    pass_time(hot, w->time, true);
    if ((word & LOG_END) != 0) {
        curve_move(&hot->curve, -size, -1);
        add_sums(&hot->aifi, size, (word & LOG_REALLOC) != 0);
        return;
    }
    type_sums *const rest = &w->cold[number].types[ETLHEAP_TYPE_AIFO];
    if (!by_type || !outstanding)
        curve_move(&hot->curve, size, 1);
    if (outstanding)
        add_sums(rest, size, false);
    if ((word & LOG_REALLOC) != 0)
        rest->realloc_count++;
}

/* Ranks are those of event_log.survivors. */
static inline u32 has_rank(u32 word, const bool is_store)
{
    const bool is_end = (word & LOG_END) != 0;
    return is_store ? !is_end : !is_end || (word >> LOG_HOW_SHIFT) == 0;
}

__attribute__((always_inline)) static inline void fold_rows(replay_walker *w,
                                                            const log_source *from,
                                                            const log_part *part,
                                                            const bool by_type, const bool is_store)
{
    const u8 *const survivors = from->log->survivors;
    u32 rank = part->first_rank;
    for (u32 i = 0; i < part->rows; i++) {
        const u32 word = part->words[i];
        if (part->rows - i > AHEAD)
            replay_fetch(w, part->words[i + AHEAD] & LOG_ORIGIN_MASK, false);
        w->time += (word & LOG_LATER) != 0;
        fold_row(w, word, part->sizes[i], (survivors[rank >> 3] >> (rank & 7) & 1) != 0, by_type);
        rank += has_rank(word, is_store);
    }
}

/* By any thread: the clock is added up for all of them. */
static etl_status walk_part(const void *user, u32 number, replay_walker *w)
{
    const log_source *const source = user;
    const log_part *const part = &source->log->parts.at[number];
    const unsigned long long begin = log_thread_ns();
    if (source->log->is_store)
        fold_rows(w, source, part, w->walk->by_type, true);
    else
        fold_rows(w, source, part, w->walk->by_type, false);
    w->time += part->ends_later;
    atomic_fetch_add(source->fold_ns, log_thread_ns() - begin);
    return ETL_OK;
}

static void add_late_reallocs(const event_log *log, const replay_walk *walk, live_group *groups)
{
    for (u32 lane = 0; log->lanes != NULL && lane < log->jobs; lane++) {
        const log_lane *const own = &log->lanes[lane];
        for (size_t i = 0; i < own->late_reallocs.count; i++) {
            const u32 group = walk->slot_groups[own->late_reallocs.at[i]];
            if (group != GROUP_NONE)
                groups[group].types[ETLHEAP_TYPE_AIFO].realloc_count++;
        }
    }
}

etl_status event_log_fold_curves(event_log *log, const replay_walk *walk, live_group **out)
{
    const log_source user = { log, &log->fold_ns };
    const replay_source source = { .part_count = (u32)log->parts.count,
                                   .part_events = part_events,
                                   .part_starts_tick = part_starts_tick,
                                   .walk_part = walk_part,
                                   .user = &user };
    const etl_status status = replay_walk_run_real(walk, &source, out);
    if (status != ETL_OK)
        return status;
    add_late_reallocs(log, walk, *out);
    for (u32 g = 0; g < walk->group_count; g++) {
        live_group *const group = &(*out)[g];
        group->types[ETLHEAP_TYPE_AIFO].realloc_count -=
            group->types[ETLHEAP_TYPE_AIFI].realloc_count;
    }
    return ETL_OK;
}

/* --- sums ------------------------------------------------------------------------- */

static void add_origin(live_group *group, const origin_sums *from)
{
    const type_sums ended = { from->count[1], from->size[1], from->reallocs[1] };
    const type_sums outstanding = { (i64)from->count[0] - from->count[1],
                                    from->size[0] - from->size[1],
                                    (i64)from->reallocs[0] - from->reallocs[1] };
    tally_add_sums(&group->types[ETLHEAP_TYPE_AIFI], &ended);
    tally_add_sums(&group->types[ETLHEAP_TYPE_AIFO], &outstanding);
}

/* A lane has ends of blocks whose allocations another lane counted. */
etl_status event_log_join_sums(const event_log *log, const replay_walk *walk, live_group **out)
{
    live_group *const groups = bench_allocate(walk->group_count + (size_t)1, sizeof *groups);
    for (u32 lane = 0; log->lanes != NULL && lane < log->jobs; lane++) {
        const log_lane *const own = &log->lanes[lane];
        for (u32 origin = 1; origin < own->sums.count && origin <= walk->slot_count; origin++) {
            if (walk->slot_groups[origin] != GROUP_NONE)
                add_origin(&groups[walk->slot_groups[origin]], &own->sums.at[origin]);
        }
    }
    add_late_reallocs(log, walk, groups);
    *out = groups;
    return ETL_OK;
}

void event_log_free(event_log *log)
{
    for (size_t p = 0; p < log->parts.count; p++)
        free(log->parts.at[p].words);
    for (u32 lane = 0; log->lanes != NULL && lane < log->jobs; lane++) {
        ETLHEAP_VECTOR_FREE(&log->lanes[lane].sums);
        ETLHEAP_VECTOR_FREE(&log->lanes[lane].late_reallocs);
    }
    free(log->lanes);
    ETLHEAP_VECTOR_FREE(&log->parts);
    *log = (event_log){ 0 };
}
