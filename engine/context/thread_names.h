/*
 * thread_names.h - what threads are called.
 *
 * Windows logs a name when a thread gets one (SetThreadDescription), and newer builds with
 * every record of a thread. An id belongs to several threads one after the other, and
 * a thread may be renamed; of each process and id the last name counts.
 */
#ifndef ETLHEAP_THREAD_NAMES_H
#define ETLHEAP_THREAD_NAMES_H

#include "engine/core/intern.h"
#include "parser/parser.h"

/* A name as a record says it; its text is the task's. */
typedef struct thread_note {
    i64 ticks;
    u32 pid, tid;
    etl_bytes name; /* UTF-16 */
} thread_note;

typedef ETLHEAP_VECTOR(thread_note) thread_notes;

typedef struct thread_name {
    u32 pid, tid;
    i64 ticks; /* of the name */
    const char *name;
} thread_name;

/* In order of tid and pid after thread_names_sort. Starts from {0}. */
typedef struct thread_names {
    ETLHEAP_VECTOR(thread_name) list;
    etlheap_index index;
} thread_names;

/* Keeps the later name of the thread; its text goes to `strings`. False without memory. */
bool thread_names_add(thread_names *names, const thread_note *note, etlheap_strings *strings);

/* Afterwards names can be found, and none is to be added. */
void thread_names_sort(thread_names *names);

/* Is the row before another one in the list? */
bool thread_name_precedes(const thread_name *a, const thread_name *b);

/* The name of a thread of the process. A pid of ETL_NO_ID, or one without such a thread,
 * leaves the latest name of the id. NULL: none. */
const char *thread_names_find(const thread_names *names, u32 pid, u32 tid);

/* The same, as a place in the list; the count: none. */
size_t thread_names_place(const thread_names *names, u32 pid, u32 tid);

void thread_names_free(thread_names *names);

#endif
