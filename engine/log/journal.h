/*
 * journal.h - heap allocations and frees in time order, 8 bytes each.
 *
 * A report needs sums and peaks per group, not lifetimes. Which lifetimes make
 * one row is known only at the end (names, culling, stacks defined late, and
 * whether a block is ever freed), and a peak needs the order of events. So a run
 * for one question keeps the order and the little that sums need, and
 * replay_walk.c walks it at the end. What does not fit into memory goes to a
 * temporary file, written and read from front to end.
 *
 * A slice's events have ranks (order.h), and event n of the slice has entry n of
 * its chunk: the shards fill them in at any order and at the same time. Some ends
 * of blocks are noticed a little later than they happened (a heap destroyed, a
 * process ended, a block displaced); those are kept apart and merged in by time,
 * for which the chunks of the latest few milliseconds are held open.
 *
 * Of a report without peaks there is no more to keep than sums: shards then count
 * blocks as they end (tally.h), and there are no chunks.
 *
 * A journal may be kept for many windows in place of one. INSIDE of a free then
 * means that its allocation lies in the same window as it, and the journal knows
 * which of its words are the first of a window.
 */
#ifndef ETLHEAP_JOURNAL_H
#define ETLHEAP_JOURNAL_H

#include "engine/context/slots.h"
#include "tally.h"
#include "windows_lattice.h"

/*
 * One event, from the lowest bit: kind 3, flags 3, slot 27, size 31. A size that
 * does not fit makes it three words: entry, size, rank; its event's own entry
 * is then empty.
 */
typedef u64 journal_entry;

typedef enum journal_kind {
    JOURNAL_NONE, /* nothing that counts: a free of what is not known, ... */
    JOURNAL_ALLOC,
    JOURNAL_FREE,
    JOURNAL_MARK,      /* a block turns out to be opened by a realloc */
    JOURNAL_LATE_FREE, /* from here on: not at an event's own place */
    JOURNAL_BIG_ALLOC, /* from here on: three words */
    JOURNAL_BIG_FREE,
    JOURNAL_BIG_MARK
} journal_kind;

#define JOURNAL_INSIDE    ((journal_entry)1 << 3) /* its allocation lies in the window */
#define JOURNAL_REALLOC   ((journal_entry)1 << 4) /* its lifetime was opened by a realloc */
#define JOURNAL_NEW_TICK  ((journal_entry)1 << 5) /* later than the entry before it */
#define JOURNAL_SIZE_BITS 31u
#define JOURNAL_SIZE_BIG  (((u32)1 << JOURNAL_SIZE_BITS) - 1)
#define JOURNAL_BIG_WORDS 3u

static_assert(SLOT_NUMBER_MAX < (u32)1 << (64 - JOURNAL_SIZE_BITS - 6), "a slot fits");

static inline journal_kind journal_kind_of(journal_entry entry)
{
    return (journal_kind)(entry & 7);
}

static inline u32 journal_slot_of(journal_entry entry)
{
    return (u32)(entry >> 6) & SLOT_NUMBER_MAX;
}

static inline u32 journal_size_of(journal_entry entry)
{
    return (u32)(entry >> (64 - JOURNAL_SIZE_BITS));
}

/* Ranks end before it. */
#define JOURNAL_NO_RANK UINT32_MAX

/* Of kind NONE in a wide journal: a free whose allocation was not recorded. */
#define JOURNAL_UNMATCHED JOURNAL_INSIDE

/* An entry that is not at the place of an event. */
typedef struct journal_late {
    i64 ticks;
    journal_entry entry;
    u64 size; /* of BIG kinds, and the rank of their event */
    u32 rank; /* of LATE_FREE in a wide journal: of the block */
    u8 how;   /* etlheap_free_type of what is late */
    /* With actors: the event that freed, by its rank in the run + 1, 0: none; its actor and
     * thread, once the slice has ended. */
    u32 freed_by;
    u32 actor, actor_thread;
} journal_late;

/* The block opened by event `block` was marked by event `mark`. */
typedef struct journal_mark {
    u32 mark, block;
} journal_mark;

/* What one shard writes; only its task touches it. */
typedef struct shard_journal {
    /* What was noted at the event's own place; whoever gave the event takes it from
     * here. The places themselves are neighbours of other shards' places, and
     * threads that write to neighbours slow each other down. */
    journal_entry entry;
    u32 partner;                    /* as journal_wide.partners */
    bool is_wide;                   /* sizes are kept apart, so none is too big */
    u32 first_rank;                 /* of the slice */
    i64 from_ticks, to_ticks;       /* the window; of several, the one at hand */
    const windows_lattice *lattice; /* of several windows */
    bool exit_frees;                /* the end of a process frees its blocks */
    bool keeps_events;              /* false: blocks are counted alone */
    slot_tally *tally;              /* counts blocks when they end; NULL: not wanted */
    ETLHEAP_VECTOR(journal_late) late;
    ETLHEAP_VECTOR(journal_mark) marks;
    ETLHEAP_VECTOR(u32) survivors; /* ranks of blocks the window's end finds in use */
    ETLHEAP_VECTOR(u32) unsure;    /* slots of blocks opened without a final stack */
    u8 padding[SHARD_PADDING];
} shard_journal;

/* One block's numbers for the journal. */
typedef struct journal_block {
    i64 alloc_ticks;
    u64 size;
    u32 slot;
    u32 rank;
    bool is_realloc;
} journal_block;

/* Where an event is noted: at its own place, or late. */
typedef struct journal_moment {
    i64 ticks;
    u32 rank; /* in the slice; of what is late that of the event that freed, in the run, or
                 JOURNAL_NO_RANK, which is always late */
    u8 how;   /* etlheap_free_type */
    bool is_late_free;
} journal_moment;

static_assert(sizeof(journal_moment) == 16, "handed on in registers");

static inline bool journal_moment_is_late(journal_moment at)
{
    return at.is_late_free || at.rank == JOURNAL_NO_RANK;
}

/* Notes an allocation. Blocks opened after the window are not noted, nor is what
 * becomes of them. False without memory. */
bool journal_note_alloc(shard_journal *journal, const journal_block *block, u32 rank);

/* Notes its end: freed, or in use for good (at ETLHEAP_TICKS_NEVER). */
bool journal_note_end(shard_journal *journal, const journal_block *block, journal_moment at);

/* The two halves of it, for a block whose slot is not certain: in which bin of the tally it
 * counts, false: in none; and its note. */
bool journal_counts(const shard_journal *journal, const journal_block *block, journal_moment at,
                    u32 *bin);
bool journal_note_uncounted_end(shard_journal *journal, const journal_block *block,
                                journal_moment at);

/* Notes the heap of a free whose allocation was not recorded, in a wide journal. */
static inline void journal_note_unmatched(shard_journal *journal, u32 heap)
{
    journal->entry = JOURNAL_UNMATCHED;
    journal->partner = heap;
}

bool journal_note_realloc(shard_journal *journal, const journal_block *block, journal_moment at);

/*
 * What a report does not need and a store keeps, by rank in the chunk. The first
 * three are of events that may open a block; partners of FREE and MARK: the rank
 * in the run of the block's own event; of UNMATCHED: the number of its heap.
 */
typedef struct journal_wide {
    u64 *addresses, *sizes;
    u32 *threads, *partners;
    u32 *actors; /* number of who ended it, 0: none; NULL: nobody asks. If somebody does, all
                    events of heap shards have their address and thread, too */
} journal_wide;

typedef struct journal_chunk {
    journal_entry *entries; /* NULL: in the file, at file_offset */
    i64 *ticks;             /* while open, of each entry */
    journal_wide wide;      /* all NULL unless the journal is wide */
    u64 file_offset;
    u64 first_index; /* of its first word, in the journal */
    u32 count;       /* words */
    u32 first_rank;
    bool starts_tick; /* nothing of its first tick is in the chunk before */
} journal_chunk;

/* From this word on, words lie in the window that a moment lies in. */
typedef struct journal_crossing {
    u64 index;
    i64 ticks;
} journal_crossing;

/*
 * Takes a complete chunk of a wide journal, and the late entries that belong into
 * it, by time; both are the journal's and gone afterwards, but for arrays of the
 * chunk that are taken over: their pointers are to be NULL then. MEMORY, IO, LIMIT.
 */
typedef etl_status journal_take_fn(void *user, journal_chunk *chunk, const journal_late *late,
                                   size_t late_count);

typedef struct event_journal {
    bool is_kept;
    bool has_actors;       /* of a wide journal, see journal_wide */
    bool is_tallied;       /* sums are kept in place of events */
    type_sums *sums;       /* see tally_sum; of reports and stores, at the run's end */
    journal_take_fn *take; /* not NULL: the journal is wide, and chunks leave */
    void *take_user;
    i64 from_ticks, to_ticks;
    bool exit_frees;
    shard_journal shards[HEAP_SHARDS];
    ETLHEAP_VECTOR(journal_chunk) chunks;
    size_t closed;    /* chunks before are complete */
    i64 closed_ticks; /* of their last word */
    ETLHEAP_VECTOR(journal_late) late;
    u64 next_rank;
    u64 next_index;                             /* words in closed chunks */
    u64 from_index;                             /* first word at or after from_ticks */
    windows_lattice lattice;                    /* its session is NULL: one window */
    ETLHEAP_VECTOR(journal_crossing) crossings; /* of several windows */
    u8 *survivor_bits;                          /* by rank, after journal_close */
    i64 patience_ticks;
    u64 resident_bytes, resident_bytes_max;
    char *spill_folder; /* NULL: keep everything in memory */
    int file;           /* -1: none */
    u64 file_bytes;
} event_journal;

void journal_open(event_journal *journal, const timebase *base, i64 from_ticks, i64 to_ticks,
                  bool exit_frees);

/* Keeps it for the windows of the lattice, which it takes over; before the first
 * slice. */
void journal_cut(event_journal *journal, windows_lattice *lattice);

/* Sums alone will do; before the first slice. The shards' tallies are up to the
 * caller. */
void journal_reduce(event_journal *journal);

/* What it holds in memory; the large parts. */
u64 journal_bytes(const event_journal *journal);
void journal_free(event_journal *journal);
void journal_chunk_free(journal_chunk *chunk);

/* A chunk for the slice's `count` events; its entries and ticks are to be filled
 * before journal_end_slice. Errors: MEMORY, LIMIT (more events than ranks). */
etl_status journal_begin_slice(event_journal *journal, u32 count);

/* Completes the chunks that nothing can come into any more. Errors: MEMORY, IO
 * (the temporary file). */
etl_status journal_end_slice(event_journal *journal, i64 end_ticks);

/* After the last slice and the shards' own end: everything is ready to read. */
etl_status journal_close(event_journal *journal);

/* A chunk's entries, read back if need be; journal_release after use. By any
 * thread. NULL: they cannot be read. */
const journal_entry *journal_map(const event_journal *journal, size_t chunk);
void journal_release(const event_journal *journal, size_t chunk, const journal_entry *entries);

static inline bool journal_survives(const event_journal *journal, u32 rank)
{
    return (journal->survivor_bits[rank >> 3] >> (rank & 7) & 1) != 0;
}

#endif
