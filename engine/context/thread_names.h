/*
 * thread_names.h - names of threads.
 *
 * Windows logs a name when a thread gets one (SetThreadDescription), and newer builds log it with
 * every record of a thread. Several threads have the same id one after the other, and a thread may
 * be renamed; for each process and id the last name counts. Windows gives thread ids and process
 * ids to others when they are free, so a name belongs to one process's thread, and to no thread of
 * another process that has the id earlier or later.
 */
#ifndef ETLHEAP_THREAD_NAMES_H
#define ETLHEAP_THREAD_NAMES_H

#include "engine/core/intern.h"
#include "engine/engine.h"

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
    u32 process; /* etlheap_process; 0: no process with this id is known */
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

/* Finds the process of each name. Processes are ordered by pid and start. */
void thread_names_own(thread_names *names, const etlheap_process_info *processes, size_t count);

/* True if row a comes before row b in the list. */
bool thread_name_precedes(const thread_name *a, const thread_name *b);

/* Index of the first name of a thread with this id, or of one with a larger id; the count: none. */
size_t thread_names_first(const thread_names *names, u32 tid);

/* The index of the name of the thread of this etlheap_process; the count: it has no name. */
size_t thread_names_place(const thread_names *names, u32 process, u32 tid);

void thread_names_free(thread_names *names);

#endif
