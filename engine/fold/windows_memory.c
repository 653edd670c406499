/*
 * windows_memory.c - takes the last MemInfo values before the end of each window.
 *
 * In: rows of meminfo.c and the windows. Out: samples of the system and of processes. Invariant: a
 * window without a value in it is unknown, not 0.
 */
#include "windows_memory.h"

#include <stdlib.h>

#define SAMPLES_MAX ((size_t)1 << 22)

static etl_status count_processes(windows_memory *out, const query_plan *query,
                                  const windows_plan *plan, etl_error *err);
static void fill(const query_plan *query, const windows_plan *plan, u32 process,
                 etlheap_memory_sample *out);

etl_status windows_memory_open(windows_memory *out, const query_plan *query,
                               const windows_plan *plan, etl_error *err)
{
    *out = (windows_memory){ .process_count = 0 };
    const size_t windows = plan->windows.count;
    size_t rows;
    if (meminfo_of(&query->result->memory, 0, &rows) != NULL) {
        out->system = calloc(windows, sizeof *out->system);
        if (out->system == NULL)
            return etl_no_memory(err);
        fill(query, plan, 0, out->system);
    }
    const etl_status status = count_processes(out, query, plan, err);
    for (u32 i = 0; status == ETL_OK && i < out->process_count; i++) {
        etlheap_process_memory *const row = &out->processes[i];
        const etlheap_process_info *const info = etlheap_process_of(query->result, row->process);
        row->name = info->name;
        row->pid = info->pid;
        row->at = out->samples + i * windows;
        fill(query, plan, row->process.v, out->samples + i * windows);
    }
    return status;
}

void windows_memory_close(windows_memory *memory)
{
    free(memory->system);
    free(memory->processes);
    free(memory->samples);
    *memory = (windows_memory){ .process_count = 0 };
}

/* Lists the processes and makes room for their samples. */
static etl_status count_processes(windows_memory *out, const query_plan *query,
                                  const windows_plan *plan, etl_error *err)
{
    const u32 count = etlheap_process_count(query->result);
    const size_t windows = plan->windows.count;
    out->processes = calloc(count + (size_t)1, sizeof *out->processes);
    if (out->processes == NULL)
        return etl_no_memory(err);
    for (u32 process = 1; process <= count; process++) {
        size_t rows;
        if (query->process_selected[process] &&
            meminfo_of(&query->result->memory, process, &rows) != NULL)
            out->processes[out->process_count++].process.v = process;
    }
    if (out->process_count > SAMPLES_MAX / windows)
        return etl_fail_with(err, ETL_ERR_LIMIT, 0,
                             "%zu windows are too many to show the memory of %u processes in: "
                             "choose longer windows or fewer processes",
                             windows, out->process_count);
    out->samples = calloc(out->process_count * windows + 1, sizeof *out->samples);
    return out->samples == NULL ? etl_no_memory(err) : ETL_OK;
}

/* Process 0 is the system, which does not end. */
static void fill(const query_plan *query, const windows_plan *plan, u32 process,
                 etlheap_memory_sample *out)
{
    const etlheap_result *const result = query->result;
    const i64 end_ticks = process == 0
                              ? ETLHEAP_TICKS_NEVER
                              : etlheap_process_of(result, (etlheap_process){ process })->end_ticks;
    size_t count;
    const memory_row *const rows = meminfo_of(&result->memory, process, &count);
    for (size_t w = 0; w < plan->windows.count; w++) {
        const i64 to_ticks = plan->spans.at[w].to_ticks;
        const memory_row *const row = meminfo_before(rows, count, to_ticks);
        if (row == NULL || end_ticks < to_ticks)
            continue;
        out[w] =
            (etlheap_memory_sample){ .is_known = true,
                                     .has_commit = process != 0 || row->commit_bytes > 0,
                                     .time_ns = etlheap_time_ns(result, row->ticks),
                                     .commit_bytes = row->commit_bytes,
                                     .available_bytes = row->available_bytes,
                                     .working_set_bytes = row->working_set_bytes,
                                     .private_working_set_bytes = row->private_working_set_bytes };
    }
}
