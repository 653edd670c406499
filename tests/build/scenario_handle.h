/*
 * scenario_handle.h - events of handles, and a trace of them with known numbers.
 *
 * "handle-leak", 5 s. The names of types come at the end.
 *
 *     worker.exe 700  leaks HANDLE_LEAK_COUNT handles to type Event with one stack, and
 *                     HANDLE_KEY_COUNT to type Key with another. HANDLE_FILE_COUNT to type File are
 *                     closed, by another thread. One handle each has a type with two names, and one
 *                     with none. Three to type Event are from before the trace
 *     client.exe 800  gets HANDLE_COPY_COUNT handles to type Section from worker.exe, of which it
 *                     closes two. Four to type File are from before the trace; it closes one
 *     short.exe 900   opens 8 to type Event, closes 3 and ends; the next process with the id opens
 *                     two with the same values and closes one
 *     System 4        has one handle of the kernel to type Key, of two that worker.exe opened
 *
 * HANDLE_UNKNOWN_CLOSES handles that worker.exe closes were never opened. The rundown at the end
 * lists a handle of client.exe to type File that nothing else tells of, and lacks one that
 * worker.exe leaks.
 */
#ifndef TESTS_SCENARIO_HANDLE_H
#define TESTS_SCENARIO_HANDLE_H

#include "scenario.h"

#define HANDLE_LEAK_COUNT     60u
#define HANDLE_KEY_COUNT      6u
#define HANDLE_FILE_COUNT     40u
#define HANDLE_COPY_COUNT     5u
#define HANDLE_UNKNOWN_CLOSES 2u

typedef struct handle_spec {
    u32 handle;
    u16 type;
    const char *name; /* NULL: none */
} handle_spec;

/* Writes a create or close; a duplicate, with the source's process if it is not 0; a name of a
 * type; a row of a rundown. */
void build_handle(etl_build *b, etl_build_at at, u16 hook, const handle_spec *handle);
void build_handle_copy(etl_build *b, etl_build_at at, const handle_spec *handle, u32 target_pid,
                       u32 source_pid);
void build_object_type(etl_build *b, etl_build_at at, u16 hook, u16 type, const char *name);
void build_handle_row(etl_build *b, etl_build_at at, u16 hook, const handle_spec *handle, u32 pid);

void scenario_handle_leak(const scenario_run *run, etl_build *b);

#endif
