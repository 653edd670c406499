/*
 * raw_stream.h - reads what `heaptrack --raw` recorded: the allocations and frees
 * of one process in the order in which they happened, with addresses.
 *
 *     raw_stream *s = raw_stream_open(stdin);
 *     while (raw_stream_next(s, &event)) ...
 *     if (raw_stream_error(s) != NULL) ...
 *     raw_stream_close(s);
 *
 * The format is lines of hexadecimal numbers, text version 3:
 *
 *     v VERSION 3                          x LENGTH PROGRAM     X COMMAND
 *     m 1 -                                the list of modules begins again
 *     m LENGTH PATH BASE {OFFSET SIZE}     a module and its segments
 *     t ADDRESS PARENT                     a frame; frames are a tree, numbered from 1,
 *                                          and 0 is the outermost frame's parent
 *     + SIZE FRAME ADDRESS    - ADDRESS    allocation, free
 *     c MILLISECONDS                       the time, about every 10 ms
 *
 * heaptrack writes realloc as a free and an allocation, and names no threads.
 * Source: files that heaptrack 1.4 recorded, and what heaptrack_interpret.cpp
 * makes of them.
 */
#ifndef BENCH_RAW_STREAM_H
#define BENCH_RAW_STREAM_H

#include "parser/base.h"

#include <stdio.h>

#define RAW_STREAM_FRAMES_MAX 192u /* as many as a stack record of Windows holds */

typedef struct raw_stream raw_stream;

typedef enum raw_event_kind {
    RAW_EVENT_ALLOC,
    RAW_EVENT_FREE,
    RAW_EVENT_TIME,
    RAW_EVENT_LOAD,
    RAW_EVENT_UNLOAD
} raw_event_kind;

typedef struct raw_event {
    raw_event_kind kind;
    u64 address; /* ALLOC, FREE: of the block */
    u64 size;    /* ALLOC: bytes */
    u32 frame;   /* ALLOC: the innermost frame, 0 for none */
    u32 module;  /* LOAD, UNLOAD: number for raw_stream_module() */
    u64 ms;      /* TIME: since recording began */
} raw_event;

typedef struct raw_module {
    char *path;
    u64 base;
    u64 size; /* bytes from the base to the end of the last segment */
    bool is_loaded;
    bool is_listed; /* in the list being read */
} raw_module;

/* Reads from `file`, which the caller closes later. Never NULL; no memory aborts. */
raw_stream *raw_stream_open(FILE *file);
void raw_stream_close(raw_stream *s);

/* The next event. Returns false at the end and at the first line that makes no sense. */
bool raw_stream_next(raw_stream *s, raw_event *event);

/* One sentence about what is wrong with the file, or NULL. */
const char *raw_stream_error(const raw_stream *s);

/* The traced program's path; empty until the file has named it. */
const char *raw_stream_program(const raw_stream *s);
const raw_module *raw_stream_module(const raw_stream *s, u32 module);

/* Copies the addresses of a stack, innermost first, and returns their number. */
u32 raw_stream_stack(const raw_stream *s, u32 frame, u64 frames[RAW_STREAM_FRAMES_MAX]);

#endif
