/*
 * workload_inside.h - the tables of a workload, shared by the files that make,
 * write and judge one. Not for tests.
 */
#ifndef TESTS_WORKLOAD_INSIDE_H
#define TESTS_WORKLOAD_INSIDE_H

#include "workload.h"

#define WORKLOAD_KERNEL     WORKLOAD_NONE /* owner of kernel images */
#define WORKLOAD_FRAMES_MAX 128u

/* Which halves of an operation's stack are written, and how. */
#define WORKLOAD_HALF_KERNEL 1u
#define WORKLOAD_HALF_USER   2u
#define WORKLOAD_HALVES      3u

typedef enum workload_op_kind {
    WORKLOAD_HEAP_CREATE,
    WORKLOAD_HEAP_ALLOC,
    WORKLOAD_HEAP_FREE,
    WORKLOAD_HEAP_REALLOC,
    WORKLOAD_HEAP_DESTROY,
    WORKLOAD_HEAP_EXPAND,
    WORKLOAD_HEAP_CONTRACT,
    WORKLOAD_VIRTUAL_ALLOC,
    WORKLOAD_VIRTUAL_FREE,
    WORKLOAD_PROCESS_START,
    WORKLOAD_PROCESS_END,
    WORKLOAD_THREAD_START,
    WORKLOAD_IMAGE_LOAD,
    WORKLOAD_IMAGE_UNLOAD,
    WORKLOAD_NOISE
} workload_op_kind;

/* Records that mean nothing to memory analysis. */
typedef enum workload_noise {
    WORKLOAD_NOISE_SAMPLE,   /* profile sample with a stack of its own, no tid in its header */
    WORKLOAD_NOISE_SWITCH,   /* context switch */
    WORKLOAD_NOISE_MANIFEST, /* manifest event with an extended stack */
    WORKLOAD_NOISE_MARK,
    WORKLOAD_NOISE_COUNT
} workload_noise;

/* One thing that happened; fields a kind does not use are zero. */
typedef struct workload_op {
    i64 ticks;
    u8 kind;   /* workload_op_kind */
    u8 halves; /* of the stack that are written; 0: no stack is recorded */
    u8 form;   /* etl_build_stack_form */
    u8 noise;  /* workload_noise */
    u32 cpu;
    u32 tid;
    u32 process; /* whose memory: index */
    u32 freer;   /* whose thread: index, nearly always the same */
    u32 stack;   /* index, or WORKLOAD_NONE */
    u32 image;   /* index, of image operations */
    u32 flags;   /* of VirtualAlloc and VirtualFree */
    u32 user_cpu;
    i64 user_delay; /* of the user half, 0: the usual */
    u64 heap;
    u64 address;
    u64 size;
    u64 old_address;
    u64 old_size;
} workload_op;

#define WORKLOAD_THREADS_MAX 4u

typedef struct workload_process {
    u32 pid;
    u32 parent_pid;
    char name[40];
    bool wow64;
    bool ran_before; /* at the start of the trace: in the rundown, has no start operation */
    bool ends;       /* has an end operation, is in no rundown at the end */
    u32 tids[WORKLOAD_THREADS_MAX];
    u32 thread_count;
} workload_process;

typedef struct workload_image {
    u32 process; /* WORKLOAD_KERNEL for the kernel's */
    u64 base;
    u64 size;
    char path[112];
    bool loaded_before; /* in the rundowns, has no load operation */
    bool unloads;       /* is in no rundown at the end */
    i64 load_ticks;     /* INT64_MIN when loaded before */
    i64 unload_ticks;   /* INT64_MAX when never */
} workload_image;

/* Frames as recorded; the moment matters because a base may be used again. */
typedef struct workload_stack {
    u32 process;
    i64 ticks;
    u32 kernel_count;
    u32 user_count;
    u64 *frames; /* kernel, then user */
} workload_stack;

struct workload {
    workload_process *processes;
    u32 process_count;
    u32 process_capacity;
    workload_image *images;
    u32 image_count;
    u32 image_capacity;
    workload_stack *stacks;
    u32 stack_count;
    u32 stack_capacity;
    workload_op *ops;
    u32 op_count;
    u32 op_capacity;
    i64 start_ticks;
    u64 clock_hz;
    i64 rundown_ticks; /* of the rundown at the start */
    i64 end_ticks;     /* of the rundown at the end */
    bool end_rundown_only;
    bool narrow; /* a 32-bit system */
};

workload *workload_new(i64 start_ticks, u64 clock_hz);

/* Each appends a copy and returns its index. */
u32 workload_add_process(workload *w, const workload_process *process);
u32 workload_add_image(workload *w, const workload_image *image);
void workload_add_op(workload *w, const workload_op *op);

/* Appends a stack of the process: frames at `frames`, kernel frames first. */
u32 workload_add_stack(workload *w, u32 process, i64 ticks, const u64 *frames, const u32 counts[2]);

/* The images every process has (ntdll, kernel32, ucrtbase), the program itself,
 * and for a first process the kernel. Returns the index of the program's image;
 * `loaded` is INT64_MIN for a process that ran before. */
u32 workload_add_usual_images(workload *w, u32 process, i64 loaded);

/* An image of the process by its lower-case base name, or WORKLOAD_NONE. */
u32 workload_find_image(const workload *w, u32 process, const char *name);

/* Puts the operations in time order; equal times keep their order. */
void workload_sort(workload *w);

/* "ntdll.dll" in lower case. */
void workload_image_name(const workload_image *image, char out[64]);

/* The identity of the image's PDB: its name, "ntdll.pdb", and a GUID that is the same in every
 * trace, so that make_demo_symbols can write the file. The age is WORKLOAD_PDB_AGE. */
#define WORKLOAD_PDB_AGE 1u
void workload_image_pdb(const workload_image *image, char name[64], u8 guid[16]);

/* A small generator: same seed, same numbers. */
static inline u64 workload_random_next(u64 *state)
{
    *state += 0x9E3779B97F4A7C15u;
    u64 z = *state;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

/* Below `limit`, which is not 0. */
static inline u64 workload_random_below(u64 *state, u64 limit)
{
    return workload_random_next(state) % limit;
}

#endif
