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

/*
 * The blocks that a window concerns, as words by their ordinals; those that were freed before
 * the window and have no checkpoint after them are 0.
 */
typedef struct archive_walk {
    const ehs_archive *archive;
    archive_moment from, to;
    const window_pass *windows; /* many windows in place of one, ... */
    archive_moment *moments;    /* ... and where their bounds are */
    bool exit_frees;
    u32 first_segment;        /* where walking begins */
    ehs_open_rows open;       /* blocks open there, by a checkpoint */
    const block_words *words; /* the walk's own, or those of groups of blocks */
    block_words own_words;
    u8 *survivors; /* by ordinal; NULL: words are not the walk's own */
    u64 ordinals;  /* words that the window has */
    u32 jobs;
} archive_walk;

/* What is walked: the aggregator's window, or the windows of a pass. All of it is borrowed. */
typedef struct archive_question {
    const aggregator *a;
    const window_pass *windows; /* NULL: one window */
    const block_words *words;   /* of groups of blocks; NULL: slots are groups */
} archive_question;

/* CORRUPT, MEMORY, LIMIT; to be closed in any case. */
etl_status archive_walk_open(archive_walk *out, const archive_question *question, etl_error *err);
void archive_walk_close(archive_walk *walk);

/* The time of a tick, by its number in a segment of the walk that begins with a part (see
 * replay_moment); INT64_MIN: before the first event. CORRUPT, MEMORY. */
etl_status archive_walk_ticks(const archive_walk *walk, u32 first_part, u64 time, i64 *ticks,
                              etl_error *err);

/* The walk as a source; it is borrowed. */
replay_source archive_source(const archive_walk *walk);

#endif
