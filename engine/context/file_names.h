/*
 * file_names.h - which file a key of the kernel names, and when.
 *
 * Events of views name their file by the address of a kernel object. FileIo events tell its path:
 * when it is created or deleted, or in a rundown, which most sessions write at their end. The
 * kernel uses addresses again, for temporary files within milliseconds. So a key has lives:
 *
 *     FileCreate a   view   FileDelete a   view   FileCreate b           FileRundown b
 *     |-------------- life 0 ------------|----------------- life 1 ----------------->
 *
 * - FileDelete ends a life, and so does FileCreate of another path: the deletion was lost.
 * - A life without a name takes the next one that is told, even after the view (as PerfView does).
 * - A life with two names has none: no time says which of them is meant.
 *
 * A view's number, in place of a heap, has the key and the life in it (file_names_number). Only
 * lives with views are named in the end, because a trace may name a hundred thousand files.
 *
 * Which life a time belongs to follows from events before it, so it does not depend on how a trace
 * is cut into slices. Calls are on one thread, between the scan and the ordering of a slice.
 */
#ifndef ETLHEAP_FILE_NAMES_H
#define ETLHEAP_FILE_NAMES_H

#include "logged_names.h"

#define FILE_LIVES_NAMED 255u /* later lives of a key share a number and have no name */

typedef struct file_life {
    u64 key;
    i64 until_ticks; /* of the deletion; ETLHEAP_TICKS_NEVER */
    u32 name;        /* string; 0: none yet */
    u32 former;      /* the life of the key before, 0: none */
    u32 number;      /* of the key's lives before */
    bool has_two;    /* names */
    bool is_used;    /* by a view */
} file_life;

/* Starts from {0}. */
typedef struct file_names {
    ETLHEAP_VECTOR(file_life) lives; /* at[id - 1] */
    ETLHEAP_VECTOR(u32) latest;      /* the latest life of each key */
    etlheap_index by_key;            /* id is index in `latest` + 1 */
} file_names;

/* Notes the name (a string) that an event of this kind, ETL_EVENT_FILE_*, gives to a key. False if
 * memory runs out. */
bool file_names_tell(file_names *files, etl_event_kind kind, u64 key, u32 name, i64 ticks);

/* Sets *out to the number of the file that the key names at `ticks`. False if memory runs out. */
bool file_names_number(file_names *files, u64 key, i64 ticks, u64 *out);

struct trace_context;
struct system_event;

/* file_names_tell for an event FILE_*. False if memory runs out. */
bool file_names_told(struct trace_context *context, const struct system_event *row);

/* Adds the names of all files with views to the context's logged names, with drive letters where
 * the volume is known. False if memory runs out. */
bool file_names_finish(struct trace_context *context);

void file_names_free(file_names *files);

#endif
