/*
 * meminfo.h - committed memory of the system and its processes over time.
 *
 * MemInfo records describe the system, MemInfoWS records each process, about twice a second if the
 * session enables them (docs/format/events.md, 7). A run collects them as notes; at the end they
 * become rows in time order. They count pages, whose size another record states.
 */
#ifndef ETLHEAP_MEMINFO_H
#define ETLHEAP_MEMINFO_H

#include "engine/core/arena.h"
#include "parser/parser.h"

struct trace_context;

/* The values of a record, in pages. */
typedef struct memory_note {
    i64 ticks;
    u64 commit, available, working_set, private_working_set;
    u32 pid; /* ETL_NO_ID: the system */
} memory_note;

typedef ETLHEAP_VECTOR(memory_note) memory_notes;

/* Appends the values of the event, if it is one of these. False if memory runs out. */
bool meminfo_note(memory_notes *out, const etl_event *event, i64 ticks);

/* The values in bytes. */
typedef struct memory_row {
    i64 ticks;
    u64 commit_bytes; /* 0 for the system if the record is older */
    u64 available_bytes;
    u64 working_set_bytes;
    u64 private_working_set_bytes;
    u32 process; /* final id; 0: the system */
} memory_row;

/* Ordered by process and time; one row per moment. */
typedef ETLHEAP_VECTOR(memory_row) memory_rows;

/* Makes the rows from the notes of a run. process_ids has the final ids by the run's ids. False if
 * memory runs out. */
bool meminfo_build(memory_rows *out, const memory_notes *notes, const struct trace_context *context,
                   const u32 *process_ids);

/* True if row a comes before row b in a list. */
bool meminfo_precedes(const memory_row *a, const memory_row *b);

/* The rows of a process; sets *count. NULL if it has none. */
const memory_row *meminfo_of(const memory_rows *rows, u32 process, size_t *count);

/* The last of these rows before a moment; NULL: none. */
const memory_row *meminfo_before(const memory_row *rows, size_t count, i64 ticks);

#endif
