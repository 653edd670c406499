/*
 * group_model.h - random lifetimes, and rows grouped the plain way.
 *
 * The model renders what the keys of a lifetime show as text, searches a list of
 * texts for it, sums, and finds peaks by trying every tick. It knows the frames
 * of a stack because it made the stack; it looks up nothing.
 */
#ifndef TESTS_GROUP_MODEL_H
#define TESTS_GROUP_MODEL_H

#include "tests/support/hand_result.h"

#define MODEL_ROWS      1200u
#define MODEL_PROCESSES 5u
#define MODEL_STACKS    12u
#define MODEL_DEPTH_MAX 4u
#define MODEL_KEY_TEXT  512u
#define MODEL_MARKS     5u
#define MODEL_TICKS     400 /* lifetimes begin in as many ticks from time zero */

/* A stack as the frames it is made of. */
typedef struct model_stack {
    u32 count;
    u32 module[MODEL_DEPTH_MAX]; /* the last is none: a bare address */
    u64 offset[MODEL_DEPTH_MAX];
} model_stack;

/* Random lifetimes and the result that holds them. */
typedef struct model_world {
    etlheap_result *result;
    etlheap_tags *tags; /* for queries by tag */
    model_stack stacks[MODEL_STACKS];
    u32 ids[MODEL_STACKS][MODEL_PROCESSES]; /* raw stack of it in each process */
    lifetime rows[MODEL_ROWS];
    u32 made[MODEL_ROWS]; /* the stack of each, MODEL_STACKS: none */
    i64 marks[MODEL_MARKS];
} model_world;

typedef struct model_row {
    char key[MODEL_KEY_TEXT];
    i64 measures[ETLHEAP_MEASURES_COUNT];
    u32 members[MODEL_ROWS];
    u32 member_count;
} model_row;

typedef struct model {
    model_row rows[MODEL_ROWS * MODEL_DEPTH_MAX]; /* by function, a lifetime has several */
    u32 count;
    i64 totals[ETLHEAP_KIND_COUNT][ETLHEAP_MEASURES_COUNT];
} model;

/* A text that grows at its end. */
typedef struct model_text {
    char *at;
    size_t left;
} model_text;

__attribute__((format(printf, 2, 3))) void model_put(model_text *out, const char *format, ...);
void model_put_frame(model_text *out, const char *module, u64 offset);

model_world *model_world_new(u64 seed);
void model_world_free(model_world *world);

/*
 * Groups the world's lifetimes. Of the query it knows the window in whole ticks,
 * kinds, at_exit_freed, left_behind, one frame to cull, one to require, one to exclude, one
 * module to fold, and all keys.
 */
void model_make(model *m, const model_world *world, const etlheap_query *query);

#endif
