/*
 * recorder.h - programs, the sessions that record them, the files that come of it, and what these
 * files can show.
 *
 *     recorder_draw()    a seed ──▶ a setup: clock, sessions, modes, programs
 *     recorder_make()    world: what happened, in its true order          recorder_world.c
 *                        sessions: which events each recorded, with the
 *                        times its clock gave them; files: their bytes    recorder.c
 *     recorder_truth     from what the plain reader finds in the bytes:
 *                        when recording was complete, and what each
 *                        program did                    recorder_truth.c, recorder_sums.c,
 *                                                       recorder_object_sums.c
 *
 * A trace writer makes one session with a header and all its events. A recorder starts sessions
 * hours apart, has clocks that tick every 15.6 ms and are set back, overwrites buffers, and keeps
 * the buffers of idle processors. Its files are appended to, continued in another file, merged, cut
 * off, and copied while they grow. Nothing here knows the engine.
 */
#ifndef TESTS_RECORDER_H
#define TESTS_RECORDER_H

#include "tests/build/etl_build.h"

#define RECORDER_PROGRAMS 3u
#define RECORDER_HEAPS    2u /* of each program */
#define RECORDER_EVENTS   4000u
#define RECORDER_SAMPLES  33u
#define RECORDER_PIECES   4u
#define RECORDER_IMAGES   2u /* of each program: itself, and a DLL that all have */
#define RECORDER_SITES    6u /* the first three in the program, the others in the DLL */
#define RECORDER_NO_STACK RECORDER_SITES
#define RECORDER_NOWHERE  UINT8_MAX
#define RECORDER_SYSTEM   RECORDER_PROGRAMS /* the program that owns what nobody asked for */
#define RECORDER_TAGS     3u                /* of pool blocks; types of objects */

typedef enum recorder_mode {
    RECORDER_FILE,      /* everything, in the order in which buffers are full */
    RECORDER_RING,      /* a circular file */
    RECORDER_BUFFERING, /* a ring in memory, written when it stops */
    RECORDER_APPEND,    /* stopped, started again, and appended to the same file */
    RECORDER_NEWFILE,   /* a new file now and then */
    RECORDER_MODES
} recorder_mode;

typedef enum recorder_merge {
    RECORDER_UNMERGED,
    RECORDER_MERGED,    /* all files in one, as xperf -merge */
    RECORDER_COMPRESSED /* the same, compressed, as wpr -stop */
} recorder_merge;

typedef enum recorder_ending {
    RECORDER_STOPPED, /* as it should be */
    RECORDER_GROWING, /* copied before the session stopped */
    RECORDER_CUT      /* the disk was full: the file ends inside a buffer */
} recorder_ending;

/* How the files are passed on. */
typedef enum recorder_package {
    RECORDER_LOOSE,
    RECORDER_ZIP,        /* one zip, as PerfView and artifacts of builds */
    RECORDER_DIAGSESSION /* as Visual Studio: files in folders, and a description */
} recorder_package;

/* Which of the files are analyzed. */
typedef enum recorder_given {
    RECORDER_ALL,
    RECORDER_KERNEL_ONLY, /* of two sessions */
    RECORDER_HEAP_ONLY,
    RECORDER_LAST_ONLY /* of a session that began new files */
} recorder_given;

typedef struct recorder_setup {
    u64 seed;
    u32 cpus, programs, events;
    u32 idle_cpu; /* works only at first, or ... */
    u32 late_cpu; /* ... only in the last tenth; UINT32_MAX: none */
    i64 idle_from_ns;
    i64 length_ns;         /* of what happens */
    u32 clock;             /* 1 performance counter, 2 system time, 3 cycles */
    u64 clock_hz;          /* ticks per second */
    i64 clock_step_ns;     /* it ticks so often; 0: as fine as its ticks */
    i64 clock_shift_ns;    /* in the middle, the clock is set back (< 0) or forward */
    i64 wall_shift_ns;     /* the wall clock was set by so much before the heap session started */
    i64 sleep_ns;          /* after a third, the computer sleeps so long */
    bool mixes_clocks;     /* the kernel session has the performance counter whatever `clock` is */
    recorder_mode mode;    /* of the heap session */
    u32 ring_buffers;      /* data buffers that a ring holds */
    bool two_files;        /* the kernel session has its own file, which is named first */
    i64 heap_start_ns;     /* the heap session starts so much later than the kernel session */
    i64 heap_stop_ns;      /* and stops then; INT64_MAX: with it */
    u32 heap_programs;     /* bit per program whose heaps are recorded */
    i64 flush_ns;          /* the flush timer; 0: none */
    u32 lost_buffers;      /* of the heap session, somewhere in the middle */
    u32 lost_events;       /* single ones, likewise */
    bool reuses_addresses; /* freed addresses are used again soon */
    bool has_stacks;       /* of allocations */
    bool destroys_heaps;   /* and creates them again */
    recorder_merge merge;
    recorder_ending ending;
    recorder_given given;
    recorder_package package;
    bool has_objects; /* the kernel session records pool blocks, handles and views */
} recorder_setup;

typedef enum recorder_op {
    RECORDER_ALLOC,
    RECORDER_FREE,
    RECORDER_COMMIT,
    RECORDER_RELEASE,
    RECORDER_START,   /* of a program */
    RECORDER_RUNNING, /* the same, as a session says it when it starts */
    RECORDER_STILL,   /* ... and when it stops */
    RECORDER_EXIT,
    RECORDER_LOAD, /* of an image */
    RECORDER_LOADED,
    RECORDER_STILL_LOADED,
    RECORDER_CREATE, /* of a heap */
    RECORDER_DESTROY,
    RECORDER_POOL_ALLOC,
    RECORDER_POOL_FREE,
    RECORDER_POOL_LISTED, /* of blocks and handles, as sessions say when they start ... */
    RECORDER_POOL_STILL,  /* ... and when they stop */
    RECORDER_OPEN,        /* of a handle */
    RECORDER_COPY,        /* the same, by another program */
    RECORDER_SHUT,
    RECORDER_OPEN_LISTED,
    RECORDER_OPEN_STILL,
    RECORDER_MAP, /* of a view, also by another program */
    RECORDER_UNMAP,
    RECORDER_MAPPED,
    RECORDER_STILL_MAPPED,
    RECORDER_OPS
} recorder_op;

/* Something that happened. */
typedef struct recorder_event {
    i64 ns;    /* true time; ascending */
    i64 ticks; /* as its session's clock said */
    u8 op;     /* recorder_op */
    u8 program;
    u8 actor;         /* the program whose thread did it */
    u8 tag;           /* of a pool block; type of a handle's object */
    u8 piece;         /* where it was recorded; RECORDER_NOWHERE */
    u8 site;          /* of an allocation */
    bool is_recorded; /* a session was running, and did not lose it */
    bool is_kept;     /* it is in a file */
    bool has_stack;   /* and so is its stack */
    u32 cpu, tid;
    u64 heap;    /* handle */
    u64 address; /* of the block, range or image */
    u64 size;
} recorder_event;

/* What one session wrote into one file. */
typedef struct recorder_piece {
    i64 start_ns, stop_ns; /* it has the events of [start_ns, stop_ns) */
    u32 file;
    bool is_kernel, is_heap; /* what it records */
    bool goes_on;            /* it is of the session of the piece before, in another file */
    bool is_ring;
    bool is_given; /* its file is analyzed */
    u32 lost_events;
} recorder_piece;

/* When a kind of memory was recorded, in ticks; none: from > to. */
typedef struct recorder_span {
    i64 from_ticks, last_ticks;
} recorder_span;

typedef enum recorder_kind { RECORDER_HEAP, RECORDER_VIRTUALALLOC, RECORDER_KINDS } recorder_kind;

/* What the files say about one kind of memory of a program. */
typedef struct recorder_sums {
    i64 count, outstanding_count, outstanding_size, unknown_frees;
    i64 sure_size; /* outstanding, and allocated inside the recorded span */
    i64 site_count[RECORDER_SITES + 1], site_size[RECORDER_SITES + 1]; /* and outstanding */
} recorder_sums;

/* What is found by a key: blocks of the kernel's pools, handles, and views. */
typedef enum recorder_object {
    RECORDER_POOL,
    RECORDER_HANDLE,
    RECORDER_VIEW,
    RECORDER_OBJECTS
} recorder_object;

/* What the files say about the objects of one kind. */
typedef struct recorder_object_sums {
    i64 count[RECORDER_PROGRAMS + 1];
    i64 outstanding_count[RECORDER_PROGRAMS + 1], outstanding_size[RECORDER_PROGRAMS + 1];
    i64 unknown_frees[RECORDER_PROGRAMS + 1];
    i64 of_tag[RECORDER_TAGS], of_site[RECORDER_SITES + 1]; /* outstanding */
    i64 over, unseen, missing; /* what contradicts: see recorder_object_sums.c */
} recorder_object_sums;

typedef struct recorder {
    recorder_setup setup;
    recorder_event *events;
    u32 count;
    recorder_piece pieces[RECORDER_PIECES];
    u32 piece_count;
    etl_build *files[RECORDER_PIECES]; /* finished; owned until they are taken; NULL: not given */
    u32 file_count;
    i64 zero_ticks; /* time zero: the header of the first file that is given */
    recorder_span spans[RECORDER_KINDS];
    recorder_sums sums[RECORDER_KINDS][RECORDER_PROGRAMS];
    recorder_object_sums objects[RECORDER_OBJECTS];
    bool is_named[RECORDER_PROGRAMS]; /* the files say what the program is called */
    bool is_loaded[RECORDER_PROGRAMS][RECORDER_IMAGES]; /* and which images it has */
    u64 gaps;            /* buffers that are missing between others, and were not overwritten */
    i64 created_over;    /* blocks whose heap was created again before it was destroyed */
    bool is_overwritten; /* buffers are missing before the first one */
    bool is_whole;       /* nothing is missing: no block is unknown, and every free has its block */
    char error[160];     /* the model itself is wrong; or empty */
} recorder;

/* Draws a setup. The same seed, the same setup. */
recorder_setup recorder_draw(u64 seed);

/* One line that says what the setup is. */
void recorder_describe(const recorder_setup *setup, char *out, size_t size);

/* Makes a recording, and its truth. Free it in any case. */
void recorder_make(recorder *out, const recorder_setup *setup);
void recorder_free(recorder *r);

/* Of recorder_make(): what happens, and when sessions start and stop. */
void recorder_live(recorder *r);

/* Of recorder_make(): what the files have, and what they say. */
void recorder_find_kept(recorder *r);
void recorder_find_sums(recorder *r);
void recorder_find_objects(recorder *r);

/* One of several random numbers; and whether chance has it. */
u64 recorder_random(u64 *state);
u32 recorder_below(u64 *state, u32 limit);
bool recorder_chance(u64 *state, u32 percent);

/* Events of the heap session, if that is another one than the kernel session. */
bool recorder_is_of_heap(u8 op);

/* The files that are given do not agree about the clock: order and times across them are those of
 * the wall clock. */
bool recorder_is_mixed(const recorder_setup *setup);

/* Several events may have one time, though they did not happen at once. */
bool recorder_is_coarse(const recorder_setup *setup);

u32 recorder_pid(u32 program); /* of RECORDER_SYSTEM, too */
const char *recorder_tag(u32 tag);
u64 recorder_image(u32 image); /* its base address */
const char *recorder_image_name(u32 program, u32 image);
u32 recorder_site_image(u32 site);
u64 recorder_site_address(u32 site);

/* Nanoseconds since time zero. */
i64 recorder_ns(const recorder *r, i64 ticks);

/* Just after the last event. */
i64 recorder_end_ns(const recorder *r, i64 last_ticks);

/* The part of a window that rates of a program's memory are about: recorded, and while it ran. */
void recorder_part(const recorder *r, recorder_kind kind, u32 program, i64 *from_ns, i64 *to_ns);

/* Bytes per second and steadiness of a program's memory in that part, by their definition. */
void recorder_growth(const recorder *r, recorder_kind kind, u32 program, i64 from_ns, i64 to_ns,
                     i64 *rate, i64 *steadiness);

#endif
