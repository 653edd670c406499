/*
 * archive_walk.h - the events of a store, on their way through a report's window.
 */
#ifndef ETLHEAP_ARCHIVE_WALK_H
#define ETLHEAP_ARCHIVE_WALK_H

#include "engine/result/archive.h"
#include "aggregate.h"
#include "block_words.h"
#include "replay_walk.h"

/* A moment in the file: the first event at or after some time. */
typedef struct archive_moment {
    u32 segment, event; /* may be one behind the last of either */
    u64 allocs;         /* before it, in the file */
} archive_moment;

/* Is an event at or behind a moment? */
static inline bool archive_moment_is_reached(const archive_moment *moment, u32 segment, u32 event)
{
    return moment->segment < segment || (moment->segment == segment && moment->event <= event);
}

/* How many of a batch's events lie before a moment. */
static inline u32 archive_events_before(const archive_moment *moment, const log_batch *batch)
{
    if (batch->segment != moment->segment)
        return batch->segment < moment->segment ? batch->count : 0;
    const u32 left = moment->event > batch->first ? moment->event - batch->first : 0;
    return left < batch->count ? left : batch->count;
}

/* In a word: opened by a realloc, found out later. */
#define ARCHIVE_WORD_MARKED JOURNAL_NEW_TICK

/* What one job wants walked: the aggregator's window, or the windows of a pass. All of it is
 * borrowed. */
typedef struct archive_question {
    const aggregator *a;
    const window_pass *windows; /* NULL: one window */
    const block_words *words;   /* of groups of blocks; NULL: slots are groups */
    bool asks_survivors;        /* what is outstanding as the window ends */
} archive_question;

/* Where the window of a job lies. */
typedef struct archive_span {
    archive_moment from, to;
    archive_moment *bounds; /* of its windows; NULL: one window */
    u32 bound_count;
} archive_span;

/*
 * The blocks that the jobs' windows concern, as words by their ordinals; those that were freed
 * before all windows and have no checkpoint after them are 0.
 */
typedef struct archive_walk {
    const ehs_archive *archive;
    archive_span *spans; /* by job */
    u32 span_count;
    archive_moment to; /* the last of theirs */
    bool exit_frees;
    u32 first_segment;        /* where walking begins */
    ehs_open_rows open;       /* blocks open there, by a checkpoint */
    const block_words *words; /* the walk's own, or those of groups of blocks */
    block_words own_words;
    u8 *survivors; /* at `to`, by ordinal; NULL: words are not the walk's own */
    u64 ordinals;  /* words that the windows have */
    u32 threads;
} archive_walk;

/* Can the jobs of two questions share a walk? Both agree on words and on exits, and if one asks
 * what survives, no window of the other ends later. */
bool archive_walk_shares(const archive_question *a, const archive_question *b);

/* A walk for jobs that can share one, two by two. CORRUPT, MEMORY, LIMIT; to be closed in any
 * case. */
etl_status archive_walk_open(archive_walk *out, const archive_question *questions, u32 count,
                             etl_error *err);
void archive_walk_close(archive_walk *walk);

/* The time of a tick, by its number in a segment of the walk that begins with a part (see
 * replay_moment); INT64_MIN: before the first event. CORRUPT, MEMORY. */
etl_status archive_walk_ticks(const archive_walk *walk, u32 first_part, u64 time, i64 *ticks,
                              etl_error *err);

/* The walk as a source, for as many jobs in the same order; it is borrowed. */
replay_source archive_source(const archive_walk *walk);

#endif
