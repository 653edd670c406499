/*
 * event_list.h - heap allocations and frees in time order, 8 bytes each.
 *
 * A report needs sums and peaks per group, not lifetimes. Which lifetimes make up a row is known
 * only at the end (names, culling, stacks defined late, and whether a block is ever freed), and a
 * peak needs the order of events. So a run for one question keeps the order and the little that
 * sums need, and replay_walk.c walks it at the end. What does not fit into memory goes to a
 * temporary file, which is written and read from front to end.
 *
 * The events of a slice have ranks (order.h), and event n of the slice has entry n of its chunk, so
 * shards can fill entries in any order and in parallel. Some ends of blocks are noticed later than
 * they happened (a heap destroyed, a process ended, a block displaced). These late entries are kept
 * separately and merged in by time, behind all events of their tick. For this, the chunks of the
 * last few milliseconds stay open.
 *
 * A report without peaks needs only sums, so nothing else is kept: shards count blocks as they end
 * (tally.h), and there are no chunks.
 *
 * An event list may be kept for many windows instead of one. INSIDE in a free then means that its
 * allocation lies in the same window, and the event list knows which of its words are the first of
 * a window.
 */
#ifndef ETLHEAP_EVENT_LIST_H
#define ETLHEAP_EVENT_LIST_H

#include "engine/context/origins.h"
#include "tally.h"
#include "window_cuts.h"

/* One event, from the lowest bit: kind 3, flags 3, origin 27, size 31. If the size does not fit,
 * the event takes three late words (entry, size, rank), and its own entry is empty. */
typedef u64 event_entry;

typedef enum entry_kind {
    ENTRY_NONE, /* not counted: a free of an unknown block, ... */
    ENTRY_ALLOC,
    ENTRY_FREE,
    ENTRY_REALLOC,   /* a block turns out to be opened by a realloc */
    ENTRY_LATE_FREE, /* from here on: late entries */
    ENTRY_BIG_ALLOC, /* from here on: three words */
    ENTRY_BIG_FREE,
    ENTRY_BIG_REALLOC
} entry_kind;

#define ENTRY_INSIDE     ((event_entry)1 << 3) /* its allocation lies in the window */
#define ENTRY_IS_REALLOC ((event_entry)1 << 4) /* its lifetime was opened by a realloc */
#define ENTRY_NEW_TICK   ((event_entry)1 << 5) /* later than the entry before it */
#define ENTRY_SIZE_BITS  31u
#define ENTRY_SIZE_BIG   (((u32)1 << ENTRY_SIZE_BITS) - 1)
#define ENTRY_BIG_WORDS  3u

static_assert(ORIGIN_NUMBER_MAX < (u32)1 << (64 - ENTRY_SIZE_BITS - 6), "an origin fits");

static inline entry_kind entry_kind_of(event_entry entry)
{
    return (entry_kind)(entry & 7);
}

static inline u32 entry_origin_of(event_entry entry)
{
    return (u32)(entry >> 6) & ORIGIN_NUMBER_MAX;
}

static inline u32 entry_size_of(event_entry entry)
{
    return (u32)(entry >> (64 - ENTRY_SIZE_BITS));
}

/* No rank; all ranks are smaller. */
#define ENTRY_NO_RANK UINT32_MAX

/* An entry of kind NONE in a wide event list with this flag: a free whose allocation was not
 * recorded. */
#define ENTRY_UNMATCHED ENTRY_INSIDE

/* A late entry, which is not at the place of an event. */
typedef struct late_entry {
    i64 ticks;
    event_entry entry;
    u64 size; /* of BIG kinds, with the rank of their event */
    u32 rank; /* LATE_FREE in a wide event list: rank of the block */
    u8 how;   /* etlheap_free_type of a late free */
    /* With freers: rank in the run + 1 of the event that freed, 0: none; its freer and thread, when
     * the slice has ended. */
    u32 freed_by;
    u32 freer, freer_thread;
} late_entry;

/* The event `rank` shows that a realloc opened the block of event `block`. */
typedef struct realloc_entry {
    u32 rank, block;
} realloc_entry;

/* The output of one shard; only its task may use it. */
typedef struct shard_events {
    /* The entry of the current event, which the caller copies to its place. Shards do not write
     * there themselves, because the places of other shards are neighbours, and threads that write
     * next to each other slow each other down. */
    event_entry entry;
    u32 partner;              /* as in chunk_columns.partners */
    bool is_wide;             /* sizes are stored separately, so none is too big */
    u32 first_rank;           /* of the slice */
    i64 from_ticks, to_ticks; /* the window; of several: the current one */
    const window_cuts *cuts;  /* for several windows */
    bool exit_frees;          /* the end of a process frees its blocks */
    bool keeps_events;        /* false: blocks are only counted */
    origin_tally *tally;      /* counts blocks when they end; NULL: not needed */
    ETLHEAP_VECTOR(late_entry) late;
    ETLHEAP_VECTOR(realloc_entry) reallocs;
    ETLHEAP_VECTOR(u32) survivors; /* ranks of blocks outstanding at the window's end */
    ETLHEAP_VECTOR(u32) unsure;    /* origins of blocks opened without a final stack */
    u8 padding[SHARD_PADDING];
} shard_events;

/* The numbers of a block that an entry needs. */
typedef struct entry_block {
    i64 alloc_ticks;
    u64 size;
    u32 origin;
    u32 rank;
    bool is_realloc;
} entry_block;

/* The place of an entry: at its event, or late. */
typedef struct entry_place {
    i64 ticks;
    /* Rank in the slice. Of a late entry: the rank in the run of the event that freed, or
     * ENTRY_NO_RANK, which is always late. */
    u32 rank;
    u8 how; /* etlheap_free_type */
    bool is_late_free;
} entry_place;

static_assert(sizeof(entry_place) == 16, "handed on in registers");

static inline bool entry_place_is_late(entry_place at)
{
    return at.is_late_free || at.rank == ENTRY_NO_RANK;
}

/* Records an allocation. Blocks opened after the window are not recorded, nor their ends. False if
 * memory runs out. */
bool shard_events_note_alloc(shard_events *events, const entry_block *block, u32 rank);

/* Records the end of a block: freed, or never freed (at ETLHEAP_TICKS_NEVER). */
bool shard_events_note_end(shard_events *events, const entry_block *block, entry_place at);

/* The two halves of shard_events_note_end, for a block with a provisional origin: finds its bin of
 * the tally (false: none), and records the end. */
bool shard_events_counts(const shard_events *events, const entry_block *block, entry_place at,
                         u32 *bin);
bool shard_events_note_uncounted_end(shard_events *events, const entry_block *block,
                                     entry_place at);

/* Records the heap of a free whose allocation was not recorded, in a wide event list. */
static inline void shard_events_note_unmatched(shard_events *events, u32 heap)
{
    events->entry = ENTRY_UNMATCHED;
    events->partner = heap;
}

bool shard_events_note_realloc(shard_events *events, const entry_block *block, entry_place at);

/*
 * Columns that only a store needs, by rank in the chunk. The first three are for events that may
 * open a block; addresses and threads may be NULL. partners: for FREE and REALLOC the rank in the
 * run of the block's own event, for UNMATCHED the number of its heap.
 */
typedef struct chunk_columns {
    u64 *addresses, *sizes;
    u32 *threads, *partners;
    /* The freer that ended the block, 0: none; NULL: not asked for. If it is, all events of heap
     * shards have their address and thread, too. */
    u32 *freers;
} chunk_columns;

typedef struct event_chunk {
    event_entry *entries; /* NULL: in the file at file_offset */
    i64 *ticks;           /* while open, of each entry */
    chunk_columns wide;   /* all NULL unless the event list is wide */
    u64 file_offset;
    u64 first_index; /* index of its first word in the event list */
    u32 count;       /* words */
    u32 first_rank;
    bool starts_tick; /* the chunk before has nothing of its first tick */
    /* In a closed chunk of an event list with a clock: see event_list_clock.h. */
    u8 *clock;
    i64 first_ticks, last_ticks; /* of its words */
} event_chunk;

/* Words from this one on lie in the window that contains a moment. */
typedef struct window_crossing {
    u64 index;
    i64 ticks;
} window_crossing;

typedef ETLHEAP_VECTOR(window_crossing) window_crossings;

/*
 * Receives a complete chunk of a wide event list and the late entries that belong into it by time;
 * one that has the time of an event comes after it. The event list owns both and frees them
 * afterwards, except arrays of the chunk that are taken over: set their pointers to NULL.
 * ETL_ERR_MEMORY, ETL_ERR_IO, ETL_ERR_LIMIT.
 */
typedef etl_status chunk_take_fn(void *user, event_chunk *chunk, const late_entry *late,
                                 size_t late_count);

typedef struct event_list {
    bool is_kept;
    bool has_freers; /* wide event list: see chunk_columns */
    /* Wide event list without freers: these columns are not needed. */
    bool lacks_addresses, lacks_threads;
    bool is_tallied;     /* keeps sums instead of events */
    bool keeps_clock;    /* words can be found by their times; set it first */
    type_sums *sums;     /* see tally_sum; at the end of the run, for reports and stores */
    chunk_take_fn *take; /* not NULL: the event list is wide, and this takes its chunks */
    void *take_user;
    i64 from_ticks, to_ticks;
    bool exit_frees;
    shard_events shards[HEAP_SHARDS];
    ETLHEAP_VECTOR(event_chunk) chunks;
    size_t closed;    /* chunks before this are complete */
    i64 closed_ticks; /* time of their last word, also if they were taken */
    ETLHEAP_VECTOR(late_entry) late;
    u64 next_rank;
    u64 next_index;             /* words in closed chunks */
    u64 from_index;             /* first word at or after from_ticks */
    window_cuts cuts;           /* its session is NULL: one window */
    window_crossings crossings; /* for several windows */
    u8 *survivor_bits;          /* by rank, after event_list_close */
    i64 patience_ticks;
    u64 clock_bytes; /* of all chunks */
    u64 resident_bytes, resident_bytes_max;
    char *spill_folder; /* NULL: keep everything in memory */
    int file;           /* -1: none */
    u64 file_bytes;
} event_list;

void event_list_open(event_list *list, const timebase *base, i64 from_ticks, i64 to_ticks,
                     bool exit_frees);

/* Keeps the event list for the windows of the cuts, which it takes over. Call it before the first
 * slice. */
void event_list_cut(event_list *list, window_cuts *cuts);

/* Keeps only sums. Call it before the first slice. The caller sets the tallies of the shards. */
void event_list_reduce(event_list *list);

/* The bytes held in memory; only large parts. */
u64 event_list_bytes(const event_list *list);
void event_list_free(event_list *list);
void event_chunk_free(event_chunk *chunk);

/* Starts a chunk for the `count` events of a slice. The caller fills its entries and ticks before
 * event_list_end_slice. ETL_ERR_MEMORY, ETL_ERR_LIMIT (more events than ranks). */
etl_status event_list_begin_slice(event_list *list, u32 count);

/* Completes the chunks that can get no more entries: what shards still note is at most a few
 * milliseconds older than `end_ticks`. ETL_ERR_MEMORY, ETL_ERR_IO (the temporary file). */
etl_status event_list_end_slice(event_list *list, i64 end_ticks);

/* Call it after the last slice and the ends of the shards. Then everything can be read. */
etl_status event_list_close(event_list *list);

/* The entries of a chunk, read back if needed. Call event_list_release after use. Any thread. NULL:
 * they cannot be read. */
const event_entry *event_list_map(const event_list *list, size_t chunk);
void event_list_release(const event_list *list, size_t chunk, const event_entry *entries);

static inline bool event_list_survives(const event_list *list, u32 rank)
{
    return (list->survivor_bits[rank >> 3] >> (rank & 7) & 1) != 0;
}

#endif
