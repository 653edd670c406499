/*
 * replay_walk.h - the walk over the events of a journal or a store: sums and peaks per group,
 * cells of many windows (windows_cells.h), or the moment of a peak.
 *
 * One walk serves any number of jobs. A part is read once, and each job steps through what was
 * read with groups of its own.
 */
#ifndef ETLHEAP_REPLAY_WALK_H
#define ETLHEAP_REPLAY_WALK_H

#include "engine/log/tally.h"
#include "slot_groups.h"
#include "windows_cells.h"

/* A running sum with its maximum; a value counts once time moves on. */
typedef struct curve {
    i64 size, count;
    i64 peak_size, peak_count;
} curve;

/*
 * One group but for its type. Rows by type need the curve of AIFI alone: AIFO
 * only grows, AOFO stands still and AOFI only falls. Other rows need the curve of
 * everything.
 */
typedef struct live_group {
    curve curve;
    type_sums types[ETLHEAP_TYPE_COUNT];
} live_group;

/* A group during a walk. Blocks that are allocated and freed in the window touch this cache line
 * alone; these lines are contiguous, and the rest of a group is in its cold_group. */
typedef struct hot_group {
    u64 time; /* number of the tick of the latest step; 0: none yet */
    curve curve;
    type_sums aifi;
} hot_group;

typedef struct cold_group {
    type_sums types[ETLHEAP_TYPE_COUNT]; /* without AIFI */
} cold_group;

static_assert(sizeof(hot_group) == 64, "one cache line");

typedef struct replay_walker replay_walker;

/* What is walked, in segments: runs of parts (chunks of a journal, segments of a
 * store), which can be walked apart from each other. */
typedef struct replay_source {
    u32 part_count;
    u64 (*part_events)(const void *user, u32 part);
    /* Is nothing of the part's first tick in the part before? */
    bool (*part_starts_tick)(const void *user, u32 part);
    /* Walks a part with the walker of each job; by any thread. ETL_ERR_IO, CORRUPT, MEMORY. */
    etl_status (*walk_part)(const void *user, u32 part, replay_walker *walkers);
    const void *user;
} replay_source;

typedef struct replay_walk {
    const u8 *survivors;    /* a bit by rank: in use when the window ends */
    const u32 *slot_groups; /* by slot number */
    u32 slot_count, group_count;
    u64 size_min_bytes, size_max_bytes;
    bool by_type;               /* rows by type */
    bool curves_only;           /* sums are known, and what survives is not asked */
    const window_pass *windows; /* cells of these are wanted in place of sums */
    bool finds_moment;          /* of the only group, with curves_only */
} replay_walk;

/* A segment being walked, by one task for one job. */
struct replay_walker {
    const replay_walk *walk;
    hot_group *hot;
    cold_group *cold;
    window_hot *window_hot; /* with windows, in place of these two */
    window_cell_list cells;
    u32 interval;   /* at hand */
    u64 time;       /* number of the tick at hand */
    u64 peak_time;  /* of the only group, if its moment is wanted: number of the peak's tick ... */
    i64 peak_count; /* ... and how many blocks it had then */
    etl_status status;
    u8 padding[SHARD_PADDING];
};

/* When the most bytes were outstanding: a tick of a segment, by its number there. */
typedef struct replay_moment {
    i64 size, count; /* 0: nothing ever is */
    u32 first_part;  /* of the segment */
    u64 time;        /* the first tick of a segment that has an event is 1, or 2: time moved on */
} replay_moment;

/* A walk and what it leaves, by what the walk asks. */
typedef struct replay_job {
    replay_walk walk;
    window_cell_list cells; /* with windows: appended, of each group in the order of time */
    replay_moment moment;   /* with finds_moment: the first moment of the peak */
    live_group *groups;     /* else: the groups at the end of the window; free(groups) */
} replay_job;

/* Does all jobs in one walk, by `threads`; what they leave is the caller's in any case.
 * ETL_ERR_MEMORY, or what the source failed with. */
etl_status replay_jobs_run(replay_job *const *jobs, u32 count, u32 threads,
                           const replay_source *source);

/* A journal as a source for so many jobs; ETL_ERR_IO when it cannot be read back. */
typedef struct journal_source {
    const event_journal *journal;
    u32 jobs;
} journal_source;

/* The source is borrowed. */
replay_source replay_journal_source(const journal_source *source);

#endif
