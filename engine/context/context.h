/*
 * context.h - whose memory an event is: processes and heaps over time.
 *
 * Process ids and heap handles are reused, so every look-up takes a time. A
 * process here is one lifetime of an id. Traces may lack starts, ends or all
 * rundowns; then a process is made from the memory events that name its id
 * (implicit) and takes over the name that a later rundown or start gives.
 *
 * Rules where records are missing or out of step (docs/format/events.md, 4 and 5):
 *  - a start within 1 s after the first memory event of an implicit process is
 *    that process's start: the creator maps the child's memory first;
 *  - events up to 2 ms after the end still belong to the ended process, unless
 *    the next owner of the id has started;
 *  - a start while the id is in use ends the former owner at that moment;
 *  - events that by these rules are nobody's make an implicit process between
 *    the owner before and the one after them;
 *  - a second session repeats a record a moment later, with the same key.
 *
 * The rules look at times alone, never at how far a trace has been read, so
 * owners do not depend on how it is cut into slices.
 *
 * Applied slice by slice on one thread; look-ups are read only and may then run
 * on any number of threads.
 */
#ifndef ETLHEAP_CONTEXT_H
#define ETLHEAP_CONTEXT_H

#include "engine/core/timebase.h"
#include "stacks.h"

/* A decoded system event; its strings are copies in an arena of the task that read it. */
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
    u32 previous;                    /* id of the id's former owner, 0: none */
    u32 skip, depth;                 /* id of one further back, and how many there are */
    u32 name, command_line, package; /* strings */
    i64 start_ticks, end_ticks;
    i64 modules_end_ticks; /* of an end that a record told: not before from_ticks then */
    i64 first_seen_ticks;  /* first memory event, implicit processes only */
    u64 unique_key;
    u32 pointer_bits;
    bool is_implicit; /* known from memory events alone */
    bool was_started; /* its start event is in the trace */
    bool has_destroyed_heaps;
} process_history;

/* A moment at which a heap handle of a process was destroyed. */
typedef struct heap_destroyed {
    u32 process;
    u64 handle;
    i64 ticks;
} heap_destroyed;

typedef struct image_row {
    u32 pid;
    u64 base, size_bytes;
    i64 ticks;      /* not before trace_context.from_ticks */
    i64 told_ticks; /* of the record */
    u32 order;      /* of the event among the images */
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

/* The moments at which images of a process id came, went or were told of, or code that was
 * compiled just in time took the place of other code. */
typedef struct image_changes {
    u32 pid;
    ETLHEAP_VECTOR(i64) ticks;   /* ascending */
    u64 freed_from, freed_until; /* around the methods that went since the last of them */
} image_changes;

/* A method of .NET with its code, at one place until another is loaded there. */
typedef struct method_row {
    u64 start, module_id;
    i64 load_ticks, unload_ticks; /* not before trace_context.from_ticks */
    i64 told_ticks;               /* of the record */
    u32 pid, size_bytes;
    u32 name_space, name; /* strings */
    u32 latest;           /* of the first row of a place: the id of the last */
} method_row;

/* The file that methods name by an id. */
typedef struct assembly_row {
    u64 module_id;
    i64 ticks;
    u32 pid;
    u32 path; /* string */
} assembly_row;

/* A stretch of time in which a process's addresses mean the same modules. */
typedef struct image_epoch {
    u32 pid;
    u32 number; /* image changes of the pid and the kernel up to then */
    i64 from_ticks, until_ticks;
} image_epoch;

typedef struct volume_row {
    u32 nt_path, dos_path; /* strings */
} volume_row;

/* A service that ran in a process, at a moment. */
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
    ETLHEAP_VECTOR(heap_destroyed) destroyed;  /* by (process, handle, ticks) */
    ETLHEAP_VECTOR(image_row) images;
    ETLHEAP_VECTOR(image_changes) image_changes;
    etlheap_index changes_by_pid; /* id is index + 1 */
    ETLHEAP_VECTOR(image_identity) identities;
    ETLHEAP_VECTOR(method_row) methods; /* at[id - 1] */
    etlheap_index methods_by_place;     /* the first row of a (pid, start) */
    ETLHEAP_VECTOR(assembly_row) assemblies;
    ETLHEAP_VECTOR(volume_row) volumes;
    ETLHEAP_VECTOR(service_row) services;
    u32 computer;   /* string */
    u32 page_bytes; /* as the system's configuration tells it; 0: it does not */
    u32 os_pointer_bits;
    i64 from_ticks;         /* the caller's: no event of the slices before is later */
    i64 after_end_ticks;    /* 2 ms */
    i64 before_start_ticks; /* 1 s */
    etl_diag_counts diag;
} trace_context;

void context_open(trace_context *context, const timebase *base);
void context_close(trace_context *context);

/* Applies the system events of a slice, sorted by time. False without memory. */
bool context_apply(trace_context *context, const system_event *events, size_t count);

/* Makes sure that there is a process for an event of `pid` at `ticks`, and says
 * up to when the same holds for its later events. False without memory. */
bool context_ensure_until(trace_context *context, u32 pid, i64 ticks, i64 *until_ticks);

/* The same for two events; others between them find a process, but not one made
 * for them when the id changed hands in between. */
bool context_ensure(trace_context *context, u32 pid, i64 first_ticks, i64 last_ticks);

/* The process id of `pid` at `ticks`; 0 only when never ensured. */
u32 context_process_at(const trace_context *context, u32 pid, i64 ticks);

/* When the heap that a block allocated at `alloc_ticks` lives in was destroyed;
 * ETLHEAP_TICKS_NEVER when it was not. */
i64 context_heap_end(const trace_context *context, u32 process, u64 handle, i64 alloc_ticks);

/* Was the heap destroyed before `before_ticks`, and when last? */
bool context_heap_ended(const trace_context *context, u32 process, u64 handle, i64 before_ticks,
                        i64 *last_ticks);

/* The epoch of the pid at `ticks`. Its number and start do not depend on how far
 * the trace has been read; its end is as far as is known. */
image_epoch context_image_epoch(const trace_context *context, u32 pid, i64 ticks);

/* --- for methods_told.c ---------------------------------------------------------- */

/* From then on addresses of the pid may mean something else. False without memory. */
bool context_add_change(trace_context *context, u32 pid, i64 ticks);

/* The changes of a pid; NULL without memory. */
image_changes *context_changes(trace_context *context, u32 pid);

#endif
