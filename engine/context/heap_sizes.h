/*
 * heap_sizes.h - what heaps have committed and reserved, over time.
 *
 * Creating, expanding and contracting a heap, snapshots and heap ranges leave
 * records that tell sizes of the whole heap (docs/format/events.md, 1). A run notes
 * them as they are met; at the end they become the history of each heap: rows in
 * order of time that say what is known from then on. A destroyed heap has nothing.
 *
 * Heap records tell both sizes themselves. Ranges are a second source of what is
 * reserved, piece by piece; it counts for heaps of which no heap record tells it.
 */
#ifndef ETLHEAP_HEAP_SIZES_H
#define ETLHEAP_HEAP_SIZES_H

#include "engine/core/arena.h"

#define HEAP_SIZE_UNKNOWN UINT64_MAX

struct trace_context;

/* What a record says of a heap. */
typedef enum heap_note_kind {
    HEAP_NOTE_CREATED,      /* a new heap, perhaps with its sizes */
    HEAP_NOTE_SIZES,        /* both, of the whole heap */
    HEAP_NOTE_DESTROYED,    /* nothing is left */
    HEAP_NOTE_RANGES,       /* all ranges together have this size */
    HEAP_NOTE_RANGE_ADDED,  /* a range of this size */
    HEAP_NOTE_RANGE_REMOVED /* the same */
} heap_note_kind;

typedef struct heap_note {
    i64 ticks;
    u64 stream;
    u64 handle;
    u64 committed, reserved; /* HEAP_SIZE_UNKNOWN: not told; ranges: reserved */
    u32 pid;
    u8 kind; /* heap_note_kind */
} heap_note;

typedef ETLHEAP_VECTOR(heap_note) heap_notes;

/* The note that an event leaves; `pid` is the header's. False: none. */
bool heap_note_of(const etl_event *event, u32 pid, heap_note *out);

/* From `ticks` on, until the next row of the same heap. */
typedef struct heap_size {
    u64 handle;
    i64 ticks;
    u64 committed, reserved; /* HEAP_SIZE_UNKNOWN */
    u32 process;             /* final id */
} heap_size;

/* By process, handle, then time; of one moment the last word only. */
typedef ETLHEAP_VECTOR(heap_size) heap_size_list;

/*
 * Makes the histories from the notes of a run, which are in the order in which
 * they were met within each stream; process_ids are final ids by the run's ids.
 * *recreated counts the heaps that took over the handle of a destroyed one. False
 * without memory.
 */
bool heap_sizes_build(heap_size_list *out, const heap_notes *notes,
                      const struct trace_context *context, const u32 *process_ids, u64 *recreated);

/* Is the row before another one of a list? */
bool heap_size_precedes(const heap_size *a, const heap_size *b);

#endif
