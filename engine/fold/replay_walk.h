/*
 * replay_walk.h - walks the events of an event list or a store: sums and peaks per group, cells of
 * many windows (windows_cells.h), or the moment of a peak.
 *
 * One walk serves any number of jobs. Each part is read once, and each job steps through it with
 * its own groups.
 */
#ifndef ETLHEAP_REPLAY_WALK_H
#define ETLHEAP_REPLAY_WALK_H

#include "engine/log/tally.h"
#include "origin_groups.h"
#include "windows_cells.h"

/* A running sum and its maximum. A value counts when time moves on. */
typedef struct curve {
    i64 size, count;
    i64 peak_size, peak_count;
} curve;

/* A group without its type. Rows by type need only the curve of AIFI, because AIFO only grows, AOFO
 * does not change and AOFI only falls. Other rows need the curve of everything. */
typedef struct live_group {
    curve curve;
    type_sums types[ETLHEAP_TYPE_COUNT];
} live_group;

/* A group during a walk. Blocks that are allocated and freed in the window touch only this cache
 * line. These lines are contiguous; the rest of a group is in its cold_group. */
typedef struct hot_group {
    u64 time; /* number of the last step's tick; 0: none yet */
    curve curve;
    type_sums aifi;
} hot_group;

typedef struct cold_group {
    type_sums types[ETLHEAP_TYPE_COUNT]; /* without AIFI */
} cold_group;

static_assert(sizeof(hot_group) == 64, "one cache line");

typedef struct replay_walker replay_walker;

/* The data to walk, in sections: runs of parts (chunks of an event list, segments of a store) that
 * can be walked independently. */
typedef struct replay_source {
    u32 part_count;
    u64 (*part_events)(const void *user, u32 part);
    /* True if the part before has nothing of this part's first tick. */
    bool (*part_starts_tick)(const void *user, u32 part);
    /* Walks a part with the walker of each job. Any thread. ETL_ERR_IO, ETL_ERR_CORRUPT,
     * ETL_ERR_MEMORY. */
    etl_status (*walk_part)(const void *user, u32 part, replay_walker *walkers);
    const void *user;
} replay_source;

/* Sets of groups. An event of a set is an event of each of its members. */
typedef struct replay_sets {
    const u32 *first;   /* by set, and one more: its first member */
    const u32 *members; /* groups, each once in a set */
    u32 count;
} replay_sets;

typedef struct replay_walk {
    const u8 *survivors;      /* bit by rank: outstanding at the end of the window */
    const u32 *origin_groups; /* by origin number */
    u32 origin_count, group_count;
    u64 size_min_bytes, size_max_bytes;
    const u32 *cancel;          /* NULL: nobody cancels */
    memory_count *memory;       /* NULL: nothing is counted */
    bool by_type;               /* make rows by type: curves are those of AIFI */
    bool curves_only;           /* sums are known; survivors are needed only by type */
    const replay_sets *sets;    /* origin_groups has sets; with curves_only. NULL: it has groups */
    const window_pass *windows; /* make cells of these windows instead of sums */
    bool finds_peak;            /* find the peak of the only group; with curves_only */
} replay_walk;

/* A section being walked, by one task for one job. */
struct replay_walker {
    const replay_walk *walk;
    hot_group *hot;
    cold_group *cold;       /* NULL with curves_only */
    window_hot *window_hot; /* with windows, instead of these two */
    window_old *old;        /* with windows that are runs of intervals: by group, the last kind */
    window_old_list olds;   /* ... and those before */
    window_cell_list cells;
    u32 interval;   /* current interval ... */
    u32 stretch;    /* ... and its stretch */
    u64 time;       /* number of the current tick */
    u64 peak_time;  /* with finds_peak: number of the peak's tick ... */
    i64 peak_count; /* ... and the number of blocks then */
    etl_status status;
    u8 padding[SHARD_PADDING];
};

/* The moment of the peak: a tick of a section, by its number there. */
typedef struct replay_peak {
    i64 size, count; /* 0: never anything outstanding */
    u32 first_part;  /* of the section */
    u64 time;        /* the first tick with an event is 1, or 2 if time moved on */
} replay_peak;

/* A walk and its results. */
typedef struct replay_job {
    replay_walk walk;
    walked_parts cells;  /* with windows: appended, in time order per group */
    window_old_list old; /* with windows that are runs of intervals: in no order */
    replay_peak peak;    /* with finds_peak: first moment of the peak */
    live_group *groups;  /* else: the groups at the end of the window */
    u64 held_bytes;      /* of these, and of walkers while it runs */
} replay_job;

/* Runs all jobs in one walk, with `threads` threads. The caller owns their results in any case.
 * ETL_ERR_MEMORY, ETL_ERR_CANCELLED (by any of them), or the error of the source; only
 * ETL_ERR_LIMIT fills *err. */
etl_status replay_jobs_run(replay_job *const *jobs, u32 count, u32 threads,
                           const replay_source *source, etl_error *err);

/* Frees the results of a job. */
void replay_job_free(replay_job *job);

/* An event list as a source for `jobs` jobs; ETL_ERR_IO if it cannot be read back. */
typedef struct event_list_source {
    const event_list *event_list;
    const window_crossings *crossings; /* of each job with windows */
    u32 jobs;
} event_list_source;

/* The source is borrowed. */
replay_source replay_event_list_source(const event_list_source *source);

#endif
