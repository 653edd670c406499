/*
 * thread_names.h - names of threads.
 *
 * Windows logs a name when a thread gets one (SetThreadDescription), and newer builds log it with
 * every record of a thread. Several threads have the same id one after the other, and a thread may
 * be renamed; for each process and id the last name counts.
 */
#ifndef ETLHEAP_THREAD_NAMES_H
#define ETLHEAP_THREAD_NAMES_H

#include "engine/core/intern.h"
#include "parser/parser.h"

/* A name in a record. The task owns its text. */
typedef struct thread_note {
    i64 ticks;
    u32 pid, tid;
    etl_bytes name; /* UTF-16 */
} thread_note;

typedef ETLHEAP_VECTOR(thread_note) thread_notes;

typedef struct thread_name {
    u32 pid, tid;
    i64 ticks; /* time of the name */
    const char *name;
} thread_name;

/* Names of threads; ordered by tid and pid after thread_names_sort. Starts from {0}. */
typedef struct thread_names {
    ETLHEAP_VECTOR(thread_name) list;
    etlheap_index index;
} thread_names;

/* Adds a name, and keeps the later one of each thread. Its text goes to `strings`. False if memory
 * runs out. */
bool thread_names_add(thread_names *names, const thread_note *note, etlheap_strings *strings);

/* Sorts the names, so that they can be found. After that no name may be added. */
void thread_names_sort(thread_names *names);

/* True if row a comes before row b in the list. */
bool thread_name_precedes(const thread_name *a, const thread_name *b);

/* The name of a thread of the process; NULL: none. If pid is ETL_NO_ID, or has no such thread: the
 * latest name of the id. */
const char *thread_names_find(const thread_names *names, u32 pid, u32 tid);

/* The index of the name in the list; the count: none. */
size_t thread_names_place(const thread_names *names, u32 pid, u32 tid);

void thread_names_free(thread_names *names);

#endif
