/*
 * archive_walk.h - prepares a walk over the events of a store, through the windows of jobs.
 *
 *     ordinal    number of an allocation in the file
 *     origin     owner and call stack of a block, as one number
 *     group      blocks that are summed together: those of some origins, or chosen one by one
 *     word       size and origin of a block, or size and group (block_words.h); 0: does not count
 */
#ifndef ETLHEAP_ARCHIVE_WALK_H
#define ETLHEAP_ARCHIVE_WALK_H

#include "engine/result/archive.h"
#include "aggregate.h"
#include "archive_places.h"
#include "block_words.h"
#include "replay_walk.h"

/* Flag in a word: opened by a realloc, learned from a later event. */
#define ARCHIVE_WORD_REALLOC ENTRY_NEW_TICK

/* What one job asks: one window, the aggregator's, or those of a pass. Everything is borrowed. */
typedef struct archive_demand {
    const aggregator *a;
    const window_pass *windows; /* NULL: one window */
    const block_words *words;   /* words of groups of blocks; NULL: origins are groups */
    bool asks_survivors;        /* needs the blocks outstanding at the end of the window */
    bool asks_reallocs;         /* ... or only which were opened by a realloc, unless an event of
                                 * the window says so */
} archive_demand;

/* The position of a job's window in the file. */
typedef struct archive_span {
    archive_place from, to;
    archive_place *bounds; /* bounds of its windows; NULL: one window */
    u32 bound_count;
} archive_span;

/* The blocks in the jobs' windows, as words by their ordinals. In own words, blocks freed before
 * the checkpoint that the walk starts at have the word 0, and their survivor bit means nothing. */
typedef struct archive_walk {
    const ehs_archive *archive;
    archive_span *spans; /* one per job */
    u32 span_count;
    archive_place to; /* the end of the last one */
    bool exit_frees;
    bool asks_survivors;      /* of some job */
    bool asks_reallocs;       /* of some job, if none asks survivors */
    u32 first_segment;        /* where the walk begins */
    ehs_open_rows open;       /* blocks open there, from a checkpoint */
    const block_words *words; /* owned by the walk, or those of groups of blocks */
    block_words own_words;
    u8 *survivors; /* outstanding at `to`, by ordinal; NULL: no job asks, or words are given */
    u64 ordinals;  /* number of words */
    u32 threads;
    const u32 *cancel;    /* NULL: nobody cancels */
    memory_count *memory; /* of the first question */
    u64 held_bytes;       /* of own words, and of bitmaps */
} archive_walk;

/* The bounds of a question's window, as for event_list_open. */
void archive_window_of(const aggregator *a, i64 *from_ticks, i64 *to_ticks);

/* True if the jobs of two questions can share a walk: they agree on words and on exits, and if one
 * needs survivors, no window of the other ends later. */
bool archive_walk_shares(const archive_demand *a, const archive_demand *b);

/* Opens a walk for jobs that can all share a walk, pairwise. Close it even on failure.
 * ETL_ERR_CORRUPT, ETL_ERR_MEMORY, ETL_ERR_LIMIT. */
etl_status archive_walk_open(archive_walk *out, const archive_demand *demands, u32 count,
                             etl_error *err);
void archive_walk_close(archive_walk *walk);

/* The time of a tick, given its number in a section of the walk that begins with a part (see
 * replay_peak); INT64_MIN: before the first event. ETL_ERR_CORRUPT, ETL_ERR_MEMORY. */
etl_status archive_walk_ticks(const archive_walk *walk, u32 first_part, u64 time, i64 *ticks,
                              etl_error *err);

/* Makes a source for the same jobs in the same order. The walk is borrowed. */
replay_source archive_source(const archive_walk *walk);

#endif
