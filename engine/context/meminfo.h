/*
 * meminfo.h - what the system and its processes have committed, over time.
 *
 * MemInfo records tell of the system, MemInfoWS records of each process, about
 * twice a second when the session asks for them (docs/format/events.md, 7). A run notes
 * them as they are met; at the end they become rows in order of time. They count
 * pages, whose size another record tells.
 */
#ifndef ETLHEAP_MEMINFO_H
#define ETLHEAP_MEMINFO_H

#include "engine/core/arena.h"
#include "parser/parser.h"

struct trace_context;

/* What a record says, in pages. */
typedef struct memory_note {
    i64 ticks;
    u64 commit, available, working_set, private_working_set;
    u32 pid; /* ETL_NO_ID: the system */
} memory_note;

typedef ETLHEAP_VECTOR(memory_note) memory_notes;

/* Appends what the event says, if it is one of these. False without memory. */
bool meminfo_note(memory_notes *out, const etl_event *event, i64 ticks);

/* The same in bytes. */
typedef struct memory_row {
    i64 ticks;
    u64 commit_bytes; /* of the system 0: older records do not tell it */
    u64 available_bytes;
    u64 working_set_bytes;
    u64 private_working_set_bytes;
    u32 process; /* final id; 0: the system */
} memory_row;

/* By process, then time; one for each moment. */
typedef ETLHEAP_VECTOR(memory_row) memory_rows;

/* Makes the rows from the notes of a run; process_ids are final ids by the run's
 * ids. False without memory. */
bool meminfo_build(memory_rows *out, const memory_notes *notes, const struct trace_context *context,
                   const u32 *process_ids);

/* Is the row before another one of a list? */
bool meminfo_precedes(const memory_row *a, const memory_row *b);

/* Rows of a process, *count of them; NULL when it has none. */
const memory_row *meminfo_of(const memory_rows *rows, u32 process, size_t *count);

/* The last of some rows before a moment; NULL: there is none. */
const memory_row *meminfo_before(const memory_row *rows, size_t count, i64 ticks);

#endif
