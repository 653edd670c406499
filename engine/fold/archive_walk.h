/*
 * archive_walk.h - the events of a store, on their way through a report's window.
 */
#ifndef ETLHEAP_ARCHIVE_WALK_H
#define ETLHEAP_ARCHIVE_WALK_H

#include "engine/result/archive.h"
#include "aggregate.h"
#include "replay_walk.h"

/* A moment in the file: the first event at or after some time. */
typedef struct archive_moment {
    u32 segment, event; /* may be one behind the last of either */
    u64 allocs;         /* before it, in the file */
} archive_moment;

/* Sizes that do not fit into a word: pairs of ordinal and size, ascending. */
typedef ETLHEAP_VECTOR(u64) archive_sizes;

/*
 * The blocks that a window concerns. A word per block is its entry as in a journal
 * (without kind), by ordinal; those that were freed before the window and have no
 * checkpoint after them are 0.
 */
typedef struct archive_walk {
    const ehs_archive *archive;
    archive_moment from, to;
    const window_pass *windows; /* many windows in place of one, ... */
    archive_moment *moments;    /* ... and where their bounds are */
    bool exit_frees;
    u32 first_segment;  /* where walking begins */
    ehs_open_rows open; /* blocks open there, by a checkpoint */
    journal_entry *words;
    u8 *survivors; /* by ordinal */
    archive_sizes big_sizes;
    u64 ordinals; /* words there are */
    u32 jobs;
} archive_walk;

/* The times are as for journal_open. CORRUPT, MEMORY, LIMIT; to be closed in any
 * case. */
etl_status archive_walk_open(archive_walk *out, const ehs_archive *archive,
                             const aggregator *aggregator, etl_error *err);
void archive_walk_close(archive_walk *walk);

/* The same for the windows of a pass, which is borrowed. */
etl_status archive_walk_open_windows(archive_walk *out, const ehs_archive *archive,
                                     const etlheap_query *query, const window_pass *windows,
                                     etl_error *err);

/* The walk as a source; it is borrowed. */
replay_source archive_source(const archive_walk *walk);

#endif
