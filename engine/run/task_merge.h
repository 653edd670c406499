/*
 * task_merge.h - what the tasks of a slice found, put together.
 *
 * Between the scan and the order of a slice, on one thread: tasks are taken in
 * their order, so nothing depends on which of them was done first.
 */
#ifndef ETLHEAP_TASK_MERGE_H
#define ETLHEAP_TASK_MERGE_H

#include "engine/read/stages.h"
#include "engine/result/result.h"

typedef struct merged_tasks {
    ETLHEAP_VECTOR(key_definition) definitions; /* of the slice, in its order */
    ETLHEAP_VECTOR(system_event) system;        /* of the slice, by time */
    heap_notes heap_notes;                      /* of the whole run, as the next */
    memory_notes memory_notes;
} merged_tasks;

/*
 * Times that no record can have (timebase_earliest) become time zero, before anything is
 * made of them: of memory events, and of the stacks that name their time. They are counted.
 * Left as they are they would be the first moment of the trace, centuries before the
 * next one. Few tasks have any, which the first event says.
 */
void tasks_mend_times(scan_output *tasks, u32 task_count, i64 earliest_ticks,
                      etlheap_result *result);

/* Start from {0}. Stacks, diagnostics and the end of the trace go into the result.
 * False without memory. */
bool tasks_merge(merged_tasks *merged, scan_output *tasks, u32 task_count, etlheap_result *result);

/* Once the context knows the system events: every memory event of the slice gets a
 * process, and the result the time of the first one. False without memory. */
bool tasks_ensure_processes(const scan_output *tasks, u32 task_count, etlheap_result *result);

/* What is late for a process that ended is waited for, so sweeping goes on until a slice ends
 * after that: moves the time on to that of the latest end. */
void tasks_note_ends(const merged_tasks *merged, const trace_context *context, i64 *until_ticks);

void merged_tasks_free(merged_tasks *merged);

#endif
