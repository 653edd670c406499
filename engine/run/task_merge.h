/*
 * task_merge.h - merges the outputs of a slice's tasks.
 *
 * Runs on one thread, between the scan and the ordering of a slice. Tasks are taken in their order,
 * so the result does not depend on which one finished first.
 */
#ifndef ETLHEAP_TASK_MERGE_H
#define ETLHEAP_TASK_MERGE_H

#include "engine/read/stages.h"
#include "engine/result/result.h"

typedef struct merged_tasks {
    ETLHEAP_VECTOR(key_definition) definitions; /* of the slice, in its order */
    ETLHEAP_VECTOR(system_event) system;        /* of the slice, by time */
    heap_notes heap_notes;                      /* of the whole run, as is the next member */
    memory_notes memory_notes;
} merged_tasks;

/*
 * Sets impossible times (before timebase_earliest) to time zero, in memory events and in the stacks
 * that name them, and counts them. Otherwise they would be the first moment of the trace, centuries
 * before the next. Call it first. The first event of a task shows whether the task has any; few
 * have.
 */
void tasks_mend_times(scan_output *tasks, u32 task_count, i64 earliest_ticks,
                      etlheap_result *result);

/* Start from {0}. Stacks, diagnostics and the end of the trace go into the result. False if memory
 * runs out. */
bool tasks_merge(merged_tasks *merged, scan_output *tasks, u32 task_count, etlheap_result *result);

/* Applies the system events of the slice to the context. Then every memory event has a process,
 * every view the number of its file, and the result the time of the first event. False if memory
 * runs out. */
bool tasks_apply_context(const merged_tasks *merged, scan_output *tasks, u32 task_count,
                         etlheap_result *result);

/* Moves *until_ticks on to when the latest end has taken effect and no more late events of an ended
 * process are waited for. Sweeping continues until a slice ends after that. */
void tasks_note_ends(const merged_tasks *merged, const trace_context *context, i64 *until_ticks);

void merged_tasks_free(merged_tasks *merged);

#endif
