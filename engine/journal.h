/*
 * journal.h - heap allocations and frees in time order, 16 bytes each.
 *
 * A report needs sums and peaks per group, not lifetimes. Which lifetimes make
 * one row is known only at the end (names, culling, stacks defined late, and
 * whether a block is ever freed), and a peak needs the order of events. So a run
 * that is asked for a report keeps the order and the little that sums need, and
 * replay.c walks it at the end. It is a quarter of what lifetimes take, and what
 * does not fit goes to a temporary file, written and read from front to end.
 *
 * Each shard notes its events in a list of its own; after every slice the lists
 * are merged by time into a chunk. Some frees are noticed a little later than
 * they happened (a heap destroyed, a process ended, a block displaced), so the
 * latest few milliseconds of the lists are held back until the next slice.
 */
#ifndef ETLHEAP_JOURNAL_H
#define ETLHEAP_JOURNAL_H

#include "stages.h"

#define JOURNAL_FREE     1u  /* the block `seq` is freed; else it is allocated */
#define JOURNAL_INSIDE   2u  /* its allocation lies in the window */
#define JOURNAL_REALLOC  4u  /* its lifetime was opened by a realloc */
#define JOURNAL_MARK     8u  /* neither: it turns out to be opened by a realloc */
#define JOURNAL_NEW_TICK 16u /* later than the entry before it */

#define JOURNAL_OWNER_BITS 22u
#define JOURNAL_OWNER_MAX  (((u32)1 << JOURNAL_OWNER_BITS) - 1)
#define JOURNAL_SIZE_BIG   UINT32_MAX
#define JOURNAL_NO_SEQ     UINT32_MAX /* a block that is not in the journal */

/* owner_flags: owner << 10 | shard << 5 | flags */
typedef struct journal_entry {
    stack_ref stack;
    u32 size; /* JOURNAL_SIZE_BIG: in the shard's list of big sizes */
    u32 owner_flags;
    u32 seq; /* number of the block in its shard */
} journal_entry;

static_assert(sizeof(journal_entry) == 16, "the journal is what grows with the trace");
static_assert(HEAP_SHARDS <= 32, "five bits name the shard");

static inline u32 journal_shard(u32 owner_flags)
{
    return owner_flags >> 5 & 31;
}

static inline u32 journal_owner(u32 owner_flags)
{
    return owner_flags >> 10;
}

/* Whose block: a heap of a process, while its modules stay as they are. */
typedef struct journal_owner_row {
    u64 heap;
    u32 process;
    u32 epoch;
    i64 first_ticks;
} journal_owner_row;

static inline bool journal_same_owner(const journal_owner_row *a, const journal_owner_row *b)
{
    return a->process == b->process && a->heap == b->heap && a->epoch == b->epoch;
}

static inline u64 journal_owner_hash(const journal_owner_row *row)
{
    return etlheap_hash_u64(row->heap ^ (u64)row->process << 40 ^ (u64)row->epoch << 20);
}

typedef struct shard_entry {
    i64 ticks;
    journal_entry entry;
} shard_entry;

typedef struct journal_big {
    u32 seq;
    u64 size;
} journal_big;

/* One shard's list; only its task touches it. */
typedef struct shard_journal {
    bool is_kept; /* false: no journal in this run */
    u32 shard;
    i64 from_ticks, to_ticks; /* the window */
    bool exit_frees;          /* the end of a process frees its blocks */
    ETLHEAP_VECTOR(shard_entry) entries;
    bool is_unsorted;
    u32 next_seq;
    ETLHEAP_VECTOR(journal_owner_row) owners; /* owner n is at[n - 1] */
    etlheap_index owner_index;
    u32 last_owner;
    u32 epoch_process; /* the process of the epoch at hand, 0: none */
    u32 epoch;
    i64 epoch_from_ticks, epoch_until_ticks;
    ETLHEAP_VECTOR(journal_big) big;   /* by seq */
    ETLHEAP_VECTOR(stack_ref) skipped; /* of allocations after the window that may lack a stack */
    ETLHEAP_VECTOR(u32) survivors;     /* seqs of blocks the window's end finds in use */
    u8 *survivor_bits;                 /* the same by seq, after journal_close */
} shard_journal;

/* One block's numbers for the journal. */
typedef struct journal_block {
    i64 alloc_ticks;
    u64 size;
    stack_ref stack;
    u32 owner, seq;
    bool is_realloc;
} journal_block;

/* The owner's number; 0 without memory or beyond JOURNAL_OWNER_MAX. */
u32 journal_owner_of(shard_journal *journal, u32 process, u64 heap, u32 epoch, i64 ticks);

/* Notes an allocation and gives the block its seq. False without memory. */
bool journal_note_alloc(shard_journal *journal, journal_block *block);

/* Notes its end: freed at `ticks`, or in use for good (ETLHEAP_TICKS_NEVER). */
bool journal_note_end(shard_journal *journal, const journal_block *block, i64 ticks);
bool journal_note_realloc(shard_journal *journal, const journal_block *block, i64 ticks);

typedef struct journal_chunk {
    journal_entry *entries; /* NULL: in the file, at file_offset */
    u64 first_index, file_offset;
    u32 count;
} journal_chunk;

typedef struct event_journal {
    bool is_kept;
    i64 from_ticks, to_ticks;
    bool exit_frees;
    shard_journal shards[HEAP_SHARDS];
    ETLHEAP_VECTOR(journal_chunk) chunks;
    u64 count;
    u64 from_index; /* first entry at or after from_ticks */
    i64 patience_ticks;
    u64 resident_bytes, resident_bytes_max;
    char *spill_folder; /* NULL: keep everything in memory */
    int file;           /* -1: none */
    u64 file_bytes;
} event_journal;

void journal_open(event_journal *journal, const timebase *base, i64 from_ticks, i64 to_ticks,
                  bool exit_frees);
void journal_free(event_journal *journal);

/*
 * Moves what the shards noted, up to a little before the slice's end, into a
 * chunk. Errors: MEMORY, IO (the temporary file), LIMIT.
 */
etl_status journal_end_slice(event_journal *journal, i64 end_ticks, u32 jobs);

/* After the last slice and the shards' own end: everything is ready to read. */
etl_status journal_close(event_journal *journal, u32 jobs);

/* A chunk's entries, read back if need be; journal_release after use. By any
 * thread. NULL: they cannot be read. */
const journal_entry *journal_map(const event_journal *journal, size_t chunk);
void journal_release(const event_journal *journal, size_t chunk, const journal_entry *entries);

/* The size of the entry's block. */
u64 journal_size(const event_journal *journal, const journal_entry *entry);

static inline bool journal_survives(const event_journal *journal, const journal_entry *entry)
{
    const shard_journal *const shard = &journal->shards[journal_shard(entry->owner_flags)];
    return (shard->survivor_bits[entry->seq >> 3] >> (entry->seq & 7) & 1) != 0;
}

#endif
