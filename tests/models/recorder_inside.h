/* recorder_inside.h - the world of a recording while it is made; private to recorder_*.c. */
#ifndef TESTS_RECORDER_INSIDE_H
#define TESTS_RECORDER_INSIDE_H

#include "recorder.h"

#define LIVE_MAX         400u
#define LIVE_OBJECTS_MAX 24u /* of each kind, because sessions list them */

/* A block that a program has. */
typedef struct live_block {
    u64 address, size, heap;
    u8 program;
    bool is_range;
} live_block;

/* A pool block or a view, whose key is its address, or a handle, whose key is its value. */
typedef struct live_object {
    u64 key, size;
    u8 program; /* whose handle or view it is */
    u8 tag;
} live_object;

typedef struct world {
    recorder *r;
    u64 random;
    i64 now_ns;
    live_block live[LIVE_MAX];
    u32 live_count;
    u64 next_address;
    u64 freed[8]; /* addresses to use again */
    u32 freed_count;
    live_object objects[RECORDER_OBJECTS][LIVE_OBJECTS_MAX];
    u32 object_count[RECORDER_OBJECTS];
    i64 starts_ns[RECORDER_PROGRAMS], ends_ns[RECORDER_PROGRAMS];
} world;

/* Adds an event, 100 ns after the one before. */
recorder_event *recorder_happen(world *w, recorder_op op, u32 program, u64 address);

bool recorder_runs(const world *w, u32 program);

/* Pool blocks, handles and views: those from before; what a program does with one; what a session
 * lists when it starts, or `at_end`; and what goes with a program that ends. They do nothing if the
 * setup has no objects. */
void recorder_begin_objects(world *w);
void recorder_use_object(world *w, u32 program);
void recorder_list_objects(world *w, bool at_end);
void recorder_forget_objects(world *w, u32 program);

#endif
