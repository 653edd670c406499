/*
 * context.h - finds the process and heap of an event: processes and heaps over time.
 *
 * Process ids and heap handles are reused, so every look-up takes a time. A process here is one
 * lifetime of an id. Traces may lack starts, ends or all rundowns. Then a process is made from the
 * memory events that name its id (implicit), and takes over the name that a later rundown or start
 * gives. Rules if records are missing or out of step (docs/format/events.md, 4 and 5):
 *
 * - a start within 1 s after the first memory event of an implicit process is the start of that
 *   process: the creator maps the child's memory first;
 * - events up to 2 ms after the end still belong to the ended process, unless the next owner of the
 *   id has started;
 * - a start while the id is in use ends the former owner at that moment;
 * - events that belong to no process by these rules make an implicit process between the owners
 *   before and after them;
 * - a second session repeats a record a moment later, with the same key.
 *
 * The rules depend only on times, never on how far a trace has been read, so owners do not depend
 * on how it is cut into slices. The exception is a record whose time goes back to an earlier slice.
 * What happened in earlier slices is final, so an end, a module or a method of such a record
 * counts from the start of the slice it is read with (context_counts_from).
 *
 * Threads: slices are applied on one thread. Look-ups only read, and may then run on any number of
 * threads.
 */
#ifndef ETLHEAP_CONTEXT_H
#define ETLHEAP_CONTEXT_H

#include "engine/core/timebase.h"
#include "file_names.h"
#include "heap_times.h"
#include "logged_names.h"
#include "stacks.h"

#define SYSTEM_PID 4u /* of the process System */

/* A decoded system event. Its strings are in an arena of the task that read it. */
typedef struct system_event {
    i64 ticks;
    u64 stream;
    u32 order;    /* in the slice */
    u32 pid, tid; /* of the header */
    etl_event event;
} system_event;

typedef struct process_history {
    u32 pid;
    u32 parent_pid;
    u32 previous;                    /* the former owner of the id, 0: none */
    u32 skip, depth;                 /* an owner further back, and the number of owners */
    u32 name, command_line, package; /* strings */
    i64 start_ticks;
    i64 end_ticks;        /* if a record told it: at least trace_context.from_ticks */
    i64 first_seen_ticks; /* first memory event, implicit processes only */
    u64 unique_key;
    u32 pointer_bits;
    bool is_implicit; /* known only from memory events */
    bool was_started; /* its start event is in the trace */
    bool has_destroyed_heaps, has_created_heaps;
} process_history;

typedef struct image_row {
    u32 pid;
    u64 base, size_bytes;
    i64 ticks;      /* at least trace_context.from_ticks */
    i64 told_ticks; /* time of the record */
    u32 order;      /* order of the event among image events */
    u8 kind;        /* ETL_EVENT_IMAGE_LOAD, _UNLOAD, _DCSTART, _DCEND */
    u32 path;       /* string */
    u32 time_date_stamp, checksum;
} image_row;

typedef struct image_identity {
    u32 pid;
    u64 base;
    i64 ticks;
    bool has_rsds, has_stamp;
    etl_guid guid;
    u32 age, pdb_name, time_date_stamp;
} image_identity;

/* The moments at which images of a process id were loaded, unloaded or listed, or at which code
 * compiled just in time replaced other code. */
typedef struct image_changes {
    u32 pid;
    ETLHEAP_VECTOR(i64) ticks;   /* ascending */
    u64 freed_from, freed_until; /* bounds of the methods that were unloaded since the last one */
} image_changes;

/* A .NET method and its code, at one place until another is loaded there. */
typedef struct method_row {
    u64 start, module_id;
    i64 load_ticks, unload_ticks; /* at least trace_context.from_ticks */
    i64 told_ticks;               /* time of the record */
    u32 pid, size_bytes;
    u32 name_space, name; /* strings */
    u32 latest;           /* in the first row of a place: id of the last row */
} method_row;

/* The file that methods refer to by an id. */
typedef struct assembly_row {
    u64 module_id;
    i64 ticks;
    u32 pid;
    u32 path; /* string */
} assembly_row;

/* A time span in which a process's addresses mean the same modules. */
typedef struct image_epoch {
    u32 pid;
    u32 number; /* number of image changes of the pid and the kernel before */
    i64 from_ticks, until_ticks;
} image_epoch;

typedef struct volume_row {
    u32 nt_path, dos_path; /* strings */
} volume_row;

/* A service that ran in a process at some moment. */
typedef struct service_row {
    u32 pid;
    u32 name; /* string */
    i64 ticks;
} service_row;

typedef struct trace_context {
    etlheap_strings strings;
    ETLHEAP_VECTOR(process_history) processes; /* at[id - 1] */
    etlheap_index latest_by_pid;               /* id is index in `latest` + 1 */
    ETLHEAP_VECTOR(u32) latest;                /* process id of the newest owner */
    heap_times created, destroyed;
    ETLHEAP_VECTOR(image_row) images;
    ETLHEAP_VECTOR(image_changes) image_changes;
    etlheap_index changes_by_pid; /* id is index + 1 */
    ETLHEAP_VECTOR(image_identity) identities;
    ETLHEAP_VECTOR(method_row) methods; /* at[id - 1] */
    etlheap_index methods_by_place;     /* the first row of a (pid, start) */
    ETLHEAP_VECTOR(assembly_row) assemblies;
    ETLHEAP_VECTOR(volume_row) volumes;
    ETLHEAP_VECTOR(service_row) services;
    logged_names logged_names;
    file_names files;
    u32 computer;   /* string */
    u32 page_bytes; /* page size from the system configuration; 0: unknown */
    u32 os_pointer_bits;
    i64 from_ticks;         /* set by the caller: latest time of earlier slices */
    i64 after_end_ticks;    /* 2 ms */
    i64 before_start_ticks; /* 1 s */
    etl_diag_counts diag;
} trace_context;

void context_open(trace_context *context, const timebase *base);
void context_close(trace_context *context);

/* The time at which a record of the slice at hand takes effect. */
static inline i64 context_counts_from(const trace_context *context, i64 ticks)
{
    return ticks < context->from_ticks ? context->from_ticks : ticks;
}

/* Applies the system events of a slice, sorted by time. False if memory runs out. */
bool context_apply(trace_context *context, const system_event *events, size_t count);

/* Ensures that an event of `pid` at `ticks` has a process, and sets *until_ticks: later events
 * before it have the same one. False if memory runs out. */
bool context_ensure_until(trace_context *context, u32 pid, i64 ticks, i64 *until_ticks);

/* Like context_ensure_until, for two events. Events between them have a process too, but not a new
 * one if the id changed hands in between. */
bool context_ensure(trace_context *context, u32 pid, i64 first_ticks, i64 last_ticks);

/* The process of `pid` at `ticks`; 0 only if it was never ensured. */
u32 context_process_at(const trace_context *context, u32 pid, i64 ticks);

/* The time at which a block allocated at `alloc_ticks` ends because its heap was destroyed;
 * ETLHEAP_TICKS_NEVER if it was not. */
i64 context_heap_end(const trace_context *context, u32 process, u64 handle, i64 alloc_ticks);

/* True if a heap was created with the handle after `after_ticks` and before `before_ticks`. */
bool context_heap_created(const trace_context *context, u32 process, u64 handle, i64 after_ticks,
                          i64 before_ticks);

/* True if the heap was destroyed before `before_ticks`; sets the last such time, and blocks that
 * were allocated until then are gone. */
bool context_heap_ended(const trace_context *context, u32 process, u64 handle, i64 before_ticks,
                        i64 *last_ticks);

/* The epoch of the pid at `ticks`. Its number and start do not depend on how far the trace has been
 * read; its end is the earliest known so far. */
image_epoch context_image_epoch(const trace_context *context, u32 pid, i64 ticks);

/* --- for methods_told.c ---------------------------------------------------------- */

/* Records that from `ticks` on, addresses of the pid may mean something else. False if memory runs
 * out. */
bool context_add_change(trace_context *context, u32 pid, i64 ticks);

/* The changes of a pid; NULL if memory runs out. */
image_changes *context_changes(trace_context *context, u32 pid);

#endif
