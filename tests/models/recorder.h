/*
 * recorder.h - programs, the sessions that record them, the files that come of it, and what these
 * files can show.
 *
 *     recorder_draw()    a seed ──▶ a setup: clock, sessions, modes, programs
 *     recorder_make()    world: what happened, in its true order
 *                        sessions: which events each recorded, with the times its clock gave them
 *                        files: their bytes
 *     recorder_truth     from what the plain reader finds in the bytes: when recording was complete,
 *                        and what each program did
 *
 * A trace writer makes one session with a header and all its events. A recorder starts sessions
 * hours apart, has clocks that tick every 15.6 ms and are set back, overwrites buffers, and keeps the
 * buffers of idle processors. Nothing here knows the engine.
 */
#ifndef TESTS_RECORDER_H
#define TESTS_RECORDER_H

#include "tests/build/etl_build.h"

#define RECORDER_PROGRAMS 3u
#define RECORDER_EVENTS   1200u
#define RECORDER_SAMPLES  33u

typedef enum recorder_mode {
    RECORDER_FILE,       /* everything, in the order in which buffers are full */
    RECORDER_RING,       /* a circular file */
    RECORDER_BUFFERING,  /* a ring in memory, written when it stops */
    RECORDER_COMPRESSED, /* merged and compressed afterwards */
    RECORDER_MODES
} recorder_mode;

typedef struct recorder_setup {
    u64 seed;
    u32 cpus, programs, events;
    u32 idle_cpu;          /* works only in the first fifth of the time, or ... */
    u32 late_cpu;          /* ... only in the last tenth; UINT32_MAX: none */
    i64 length_ns;         /* of what happens */
    u32 clock;             /* 1 performance counter, 2 system time, 3 cycles */
    i64 clock_step_ns;     /* it ticks so often; 0: as fine as its ticks */
    i64 set_back_ns;       /* the system time is set back by so much, in the middle */
    recorder_mode mode;    /* of the heap session */
    u32 ring_buffers;      /* data buffers that a ring holds */
    bool two_files;        /* the kernel session has its own file, which is named first */
    i64 heap_start_ns;     /* the heap session starts so much later than the kernel session */
    u32 lost_buffers;      /* of the heap session, somewhere in the middle */
    bool reuses_addresses; /* freed addresses are used again soon */
} recorder_setup;

typedef enum recorder_op {
    RECORDER_ALLOC,
    RECORDER_FREE,
    RECORDER_COMMIT,
    RECORDER_RELEASE,
    RECORDER_START,   /* of a program */
    RECORDER_RUNNING, /* the same, as a session says it when it starts */
    RECORDER_EXIT
} recorder_op;

/* Something that happened. */
typedef struct recorder_event {
    i64 ns;    /* true time; ascending */
    i64 ticks; /* as its session's clock said */
    u8 op;     /* recorder_op */
    u8 program, file;
    bool is_recorded; /* a session was running */
    bool is_kept;     /* it is in the file */
    u32 cpu, tid;
    u64 address, size;
} recorder_event;

/* When a kind of memory was recorded, in ticks; none: from > to. */
typedef struct recorder_span {
    i64 from_ticks, last_ticks;
} recorder_span;

typedef enum recorder_kind { RECORDER_HEAP, RECORDER_VIRTUALALLOC, RECORDER_KINDS } recorder_kind;

/* What the files say about one kind of memory of a program. */
typedef struct recorder_sums {
    i64 count, outstanding_count, outstanding_size, unknown_frees;
    i64 sure_size; /* outstanding, and allocated inside the recorded span */
} recorder_sums;

typedef struct recorder {
    recorder_setup setup;
    recorder_event *events;
    u32 count;
    etl_build *files[2]; /* finished; owned until they are taken */
    u32 file_count;
    i64 origin_ticks; /* of the clock when the world begins */
    i64 zero_ticks;   /* time zero: the header of the first file */
    recorder_span spans[RECORDER_KINDS];
    recorder_sums sums[RECORDER_KINDS][RECORDER_PROGRAMS];
    bool is_whole;   /* nothing is missing: no block is unknown, and every free has its block */
    char error[160]; /* the model itself is wrong; or empty */
} recorder;

/* Draws a setup. The same seed, the same setup. */
recorder_setup recorder_draw(u64 seed);

/* The second half of recorder_make(): what the finished files can show. */
void recorder_find_truth(recorder *r);

/* Makes a recording, and its truth. Free it in any case. */
void recorder_make(recorder *out, const recorder_setup *setup);
void recorder_free(recorder *r);

/* One line that says what the setup is. */
void recorder_describe(const recorder_setup *setup, char *out, size_t size);

u32 recorder_pid(u32 program);

/* Nanoseconds since time zero. */
i64 recorder_ns(const recorder *r, i64 ticks);

/* The part of a window that rates of a program's memory are about: recorded, and while it ran. */
void recorder_part(const recorder *r, recorder_kind kind, u32 program, i64 *from_ns, i64 *to_ns);

/* Bytes per second and steadiness of a program's memory in that part, by their definition. */
void recorder_growth(const recorder *r, recorder_kind kind, u32 program, i64 from_ns, i64 to_ns,
                     i64 *rate, i64 *steadiness);

#endif
