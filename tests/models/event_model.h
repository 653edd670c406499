/*
 * event_model.h - random heap events, what they do to blocks, and a file of them.
 */
#ifndef ETLHEAP_EVENT_MODEL_H
#define ETLHEAP_EVENT_MODEL_H

#include "engine/log/ehs_open.h"

#define MODEL_EVENTS   200000u
#define MODEL_SEGMENTS ((MODEL_EVENTS + EHS_PART_ROWS - 1) / EHS_PART_ROWS)

/* A block of the model. */
typedef struct model_block {
    i64 ticks;
    u64 size, address;
    u32 origin, thread;
    bool is_realloc, is_open;
} model_block;

/* The event list, one row per event, and what it does to blocks. */
typedef struct model_event {
    i64 ticks;
    bool is_end, is_later;
    u32 block;
    u32 freer, freer_thread; /* of ends */
    u8 how;
} model_event;

typedef struct event_model {
    model_event *events;
    model_block *blocks; /* by ordinal, as they were opened */
    u32 *open;           /* ordinals */
    u32 block_count, open_count;
    u64 random;
} event_model;

typedef struct model_file {
    ehs_bytes bytes;
    ehs_segment_index index;
    ehs_checkpoints checkpoints;
    ehs_open_set open;
    ehs_reader reader;
    ehs_loader loader;
    etlheap_arena arena;
    etl_error err;
} model_file;

void event_model_open(event_model *m);
void event_model_close(event_model *m);

/* Events `first` up to `first + count` as columns; *allocs counts those before. */
void event_model_fill(const event_model *m, u32 first, u32 count, u32 *allocs, ehs_events *out);

/* Writes the events, with a checkpoint before each segment but the first, and closes it. */
void model_file_write(const event_model *m, model_file *file);

/* The sink of a writer: appends to the ehs_bytes that user is. */
bool model_file_keep(void *user, const void *bytes, size_t size);

void model_file_open(model_file *file);
void model_file_close(model_file *file);

#endif
