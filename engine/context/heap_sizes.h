/*
 * heap_sizes.h - committed and reserved sizes of heaps over time.
 *
 * Creating, expanding and contracting a heap, snapshots and heap ranges write records with the
 * sizes of the whole heap (docs/format/events.md, 1). Commits and decommits of pages state how the
 * committed size changes between such records. A run collects all of them as notes. At the end they
 * become the history of each heap: rows in time order that say what is known from then on. A
 * destroyed heap has no sizes.
 *
 * Heap records state both sizes. Ranges are a second source of the reserved size, piece by piece;
 * it is used for heaps for which no heap record states it. What a record states replaces what the
 * commits before it add up to; a difference is counted.
 */
#ifndef ETLHEAP_HEAP_SIZES_H
#define ETLHEAP_HEAP_SIZES_H

#include "engine/core/arena.h"

#define HEAP_SIZE_UNKNOWN UINT64_MAX

struct trace_context;

/* What a record says about a heap. */
typedef enum heap_note_kind {
    HEAP_NOTE_CREATED,       /* a new heap, perhaps with its sizes */
    HEAP_NOTE_SIZES,         /* both sizes of the whole heap */
    HEAP_NOTE_DESTROYED,     /* the heap has no sizes any more */
    HEAP_NOTE_RANGES,        /* total size of all ranges */
    HEAP_NOTE_RANGE_ADDED,   /* a range of this size */
    HEAP_NOTE_RANGE_REMOVED, /* a range of this size was removed */
    HEAP_NOTE_EXPANDED,      /* both sizes, after these pages were committed */
    HEAP_NOTE_CONTRACTED,    /* both sizes, after these pages were decommitted */
    HEAP_NOTE_COMMITTED,     /* only these pages were committed */
    HEAP_NOTE_DECOMMITTED    /* only these pages were decommitted */
} heap_note_kind;

typedef struct heap_note {
    i64 ticks;
    u64 stream;
    u64 handle;
    u64 committed, reserved; /* HEAP_SIZE_UNKNOWN: not stated; ranges: in reserved */
    u64 address, bytes;      /* of the pages; 0: none */
    u32 pid;
    u8 kind; /* heap_note_kind */
} heap_note;

typedef ETLHEAP_VECTOR(heap_note) heap_notes;

/* Makes the note for an event; `pid` is that of the record header. False: the event has none. */
bool heap_note_of(const etl_event *event, u32 pid, heap_note *out);

/* The sizes from `ticks` on, until the next row of the same heap. */
typedef struct heap_size {
    u64 handle;
    i64 ticks;
    u64 committed, reserved; /* HEAP_SIZE_UNKNOWN */
    u64 decommitted;         /* all bytes so far; HEAP_SIZE_UNKNOWN only in older stores */
    u32 process;             /* final id */
} heap_size;

/* Ordered by process, handle and time; only the last row of each moment. */
typedef ETLHEAP_VECTOR(heap_size) heap_size_list;

/* What was odd in the notes. */
typedef struct heap_sizes_odd {
    u64 recreated; /* heaps that got the handle of a destroyed one */
    u64 differing; /* records that state another committed size than the commits add up to */
} heap_sizes_odd;

/*
 * Makes the histories from the notes of a run, which are in the order of each stream. process_ids
 * has the final ids by the run's ids. False if memory runs out.
 */
bool heap_sizes_build(heap_size_list *out, const heap_notes *notes,
                      const struct trace_context *context, const u32 *process_ids,
                      heap_sizes_odd *odd);

/* True if any row states a size of a heap. */
bool heap_sizes_are_known(const heap_size_list *list);

/* The row of a heap that counts just before `to_ticks`; NULL: nothing was known then. */
const heap_size *heap_sizes_at(const heap_size_list *list, u32 process, u64 handle, i64 to_ticks);

/* Reserved minus committed bytes; HEAP_SIZE_UNKNOWN if either is unknown. */
u64 heap_size_uncommitted(const heap_size *size);

/* True if row a comes before row b in a list. */
bool heap_size_precedes(const heap_size *a, const heap_size *b);

#endif
