/*
 * json_windows.c - writes the `etlheap-windows-1` document.
 *
 * In: windows, and maybe the largest lasting rise with its stacks. Out: JSON.
 *
 * A window lists the groups that have something in it, in the order of all groups. If growth was
 * asked for there is `growth`: the lasting rise, and the stacks that explain it, measured over the
 * whole rise. They have their own frames, also for frames of the growing group. Invariant: what the
 * trace does not have is absent, what is not known yet is null.
 */
#include "formats/parts/window_rows.h"
#include "formats/writers.h"
#include "json_rows.h"

/* The document, a list, and in the list of windows the rows of each. */
#define BREAK_DEPTH         2
#define BREAK_DEPTH_WINDOWS 4

/* Measures of the rows that explain a growth. */
static const etlheap_measure growth_measures[] = {
    ETLHEAP_MEASURE_COUNT,
    ETLHEAP_MEASURE_SIZE,
    ETLHEAP_MEASURE_IMPACTING_SIZE,
    ETLHEAP_MEASURE_OUTSTANDING_COUNT,
    ETLHEAP_MEASURE_OUTSTANDING_SIZE,
};

static void write_windows(etlheap_json *json, const etlheap_windows_answer *answer);
static void write_mark(etlheap_json *json, const etlheap_windows_answer *answer, u32 window);
static void write_rows(etlheap_json *json, const etlheap_windows *windows, u32 window);
static void write_memory(etlheap_json *json, const etlheap_windows *windows, u32 window);
static void write_commit(etlheap_json *json, const etlheap_memory_sample *sample);
static void write_growth(etlheap_json *json, const etlheap_windows_answer *answer);
static void write_keys(etlheap_json *json, const etlheap_table *table, const etlheap_row *row);

/* The spike of the window, and whose memory it is. */
static void write_spike(etlheap_json *json, const etlheap_windows_answer *answer, u32 window)
{
    if (!answer->spikes)
        return;
    const etlheap_spike *const spike = &answer->spikes->spikes[window];
    const etlheap_table *const groups = answer->spikes->groups;
    etlheap_json_object(json, "spike");
    for (u32 k = 0; k < groups->group_by_count; k++)
        etlheap_json_key(json, etlheap_table_row(groups, spike->row), groups->group_by[k]);
    etlheap_json_i64(json, etlheap_field_key(ETLHEAP_FIELD_AT), spike->at_ns);
    etlheap_json_i64(json, etlheap_field_key(ETLHEAP_FIELD_HEIGHT_SIZE), spike->height_size);
    etlheap_json_i64(json, etlheap_field_key(ETLHEAP_FIELD_PEAK_SIZE), spike->peak_size);
    etlheap_json_object_close(json);
}

etl_status etlheap_write_windows_json(const etlheap_result *result,
                                      const etlheap_windows_answer *answer,
                                      const etlheap_layout *given, etlheap_sink *sink)
{
    const etlheap_windows *const windows = answer->windows;
    const etlheap_table *const table = windows->table;
    const etlheap_table *const whole = answer->spikes ? answer->spikes->groups : table;
    etlheap_json json;
    const etl_status status =
        etlheap_json_document(&json, "etlheap-windows-1", BREAK_DEPTH, given, sink);
    if (status != ETL_OK)
        return status;
    etlheap_json_recording(&json, result);
    etlheap_json_window_open(&json, result, whole->from_ns, whole->to_ns);
    etlheap_json_object_close(&json);
    if (windows->every_ns > 0)
        etlheap_json_i64(&json, "every_ns", windows->every_ns);
    else
        etlheap_json_null(&json, "every_ns");
    etlheap_json_group_by(&json, table);
    etlheap_json_frames(&json, table);
    etlheap_json_stacks(&json, table);
    write_windows(&json, answer);
    if (answer->growth_wanted)
        write_growth(&json, answer);
    etlheap_json_diagnostics(&json, &table->diagnostics);
    etlheap_json_document_end(&json);
    return ETL_OK;
}

/* Writes the windows; stops if nobody reads any more, because there may be a million. */
static void write_windows(etlheap_json *json, const etlheap_windows_answer *answer)
{
    const etlheap_windows *const windows = answer->windows;
    json->break_depth = BREAK_DEPTH_WINDOWS;
    etlheap_json_array(json, "windows");
    for (u32 w = 0; w < etlheap_windows_shown(answer) && etlheap_sink_ok(json->sink); w++) {
        etlheap_json_object(json, NULL);
        etlheap_json_i64(json, etlheap_field_key(ETLHEAP_FIELD_FROM_NS),
                         windows->windows[w].from_ns);
        etlheap_json_i64(json, etlheap_field_key(ETLHEAP_FIELD_TO_NS), windows->windows[w].to_ns);
        write_mark(json, answer, w);
        write_spike(json, answer, w);
        write_memory(json, windows, w);
        write_rows(json, windows, w);
        etlheap_json_object_close(json);
    }
    etlheap_json_array_close(json);
    json->break_depth = BREAK_DEPTH;
}

/* The mark at which the window begins, null if it begins elsewhere; absent if windows have no
 * names. */
static void write_mark(etlheap_json *json, const etlheap_windows_answer *answer, u32 window)
{
    const etlheap_mark *const mark =
        etlheap_windows_mark(answer, answer->windows->windows[window].from_ns);
    if (!answer->marks)
        return;
    etlheap_json_string(json, etlheap_field_key(ETLHEAP_FIELD_MARK), mark ? mark->name : NULL);
    if (mark && mark->number > 1)
        etlheap_json_u64(json, "mark_number", mark->number);
}

static void write_rows(etlheap_json *json, const etlheap_windows *windows, u32 window)
{
    etlheap_value values[ETLHEAP_CELL_COLUMN_COUNT];
    etlheap_json_array(json, "rows");
    for (u32 i = 0; i < windows->table->row_count; i++) {
        etlheap_cell cell;
        if (!etlheap_windows_cell(windows, i, window, &cell))
            continue;
        etlheap_json_object(json, NULL);
        write_keys(json, windows->table, &windows->table->rows[i]);
        etlheap_cell_values(&cell, windows->table->rows[i].kind, values);
        etlheap_json_values(json, &etlheap_cell_columns, values);
        etlheap_json_object_close(json);
    }
    etlheap_json_array_close(json);
}

/* Writes memory of the system. Values that the trace lacks are absent; values not known yet are
 * null. */
static void write_memory(etlheap_json *json, const etlheap_windows *windows, u32 window)
{
    if (windows->memory) {
        const etlheap_memory_sample *const sample = &windows->memory[window];
        if (sample->is_known) {
            etlheap_json_object(json, "memory");
            write_commit(json, sample);
            etlheap_json_u64(json, "available_size", sample->available_bytes);
            etlheap_json_object_close(json);
        } else {
            etlheap_json_null(json, "memory");
        }
    }
    if (windows->process_memory_count == 0)
        return;
    etlheap_json_array(json, "process_memory");
    for (u32 i = 0; i < windows->process_memory_count; i++) {
        const etlheap_process_memory *const process = &windows->process_memory[i];
        const etlheap_memory_sample *const sample = &process->at[window];
        if (!sample->is_known)
            continue;
        etlheap_json_object(json, NULL);
        etlheap_json_process(json, etlheap_field_key(ETLHEAP_FIELD_PROCESS), process->name);
        etlheap_json_u64(json, etlheap_field_key(ETLHEAP_FIELD_PID), process->pid);
        write_commit(json, sample);
        etlheap_json_u64(json, "working_set_size", sample->working_set_bytes);
        etlheap_json_u64(json, "private_working_set_size", sample->private_working_set_bytes);
        etlheap_json_object_close(json);
    }
    etlheap_json_array_close(json);
}

static void write_commit(etlheap_json *json, const etlheap_memory_sample *sample)
{
    etlheap_json_i64(json, "time_ns", sample->time_ns);
    if (sample->has_commit)
        etlheap_json_u64(json, "commit_size", sample->commit_bytes);
    else
        etlheap_json_null(json, "commit_size");
}

/* A row that rises lastingly rises in some window. */
static void write_steepest(etlheap_json *json, const etlheap_windows_answer *answer)
{
    etlheap_steepest rise;
    if (!etlheap_windows_find_steepest(answer->windows, answer->growth->row, &rise))
        return;
    etlheap_json_object(json, "steepest");
    etlheap_json_i64(json, "from_ns", rise.from_ns);
    etlheap_json_i64(json, "to_ns", rise.to_ns);
    etlheap_json_i64(json, "size", rise.size);
    etlheap_json_i64(json, "rate", etlheap_steepest_rate(&rise));
    etlheap_json_object_close(json);
}

/* Rises of other groups, the largest first. Frames are those of the document. */
static void write_others(etlheap_json *json, const etlheap_windows_answer *answer)
{
    const etlheap_table *const table = answer->windows->table;
    etlheap_json_array(json, "others");
    for (u32 i = 1; i <= answer->other_count; i++) {
        const etlheap_growth *const other = &answer->growth[i];
        etlheap_json_object(json, NULL);
        etlheap_json_i64(json, "from_ns", other->from_ns);
        etlheap_json_i64(json, "to_ns", other->to_ns);
        write_keys(json, table, &table->rows[other->row]);
        etlheap_json_i64(json, "before_size", other->before_size);
        etlheap_json_i64(json, "after_size", other->after_size);
        etlheap_json_object_close(json);
    }
    etlheap_json_array_close(json);
}

static void write_growth(etlheap_json *json, const etlheap_windows_answer *answer)
{
    const etlheap_growth *const growth = answer->growth;
    if (!growth) {
        etlheap_json_null(json, "growth");
        return;
    }
    const etlheap_table *const table = answer->windows->table;
    const etlheap_table *const stacks = answer->stacks->table;
    json->break_depth = BREAK_DEPTH + 1;
    etlheap_json_object(json, "growth");
    etlheap_json_i64(json, "from_ns", growth->from_ns);
    etlheap_json_i64(json, "to_ns", growth->to_ns);
    for (u32 k = 0; k < table->group_by_count; k++) {
        if (!etlheap_key_has_frames(table->group_by[k]))
            etlheap_json_key(json, &table->rows[growth->row], table->group_by[k]);
    }
    etlheap_json_i64(json, "before_size", growth->before_size);
    etlheap_json_i64(json, "after_size", growth->after_size);
    write_steepest(json, answer);
    write_others(json, answer);
    etlheap_json_frames(json, stacks);
    etlheap_json_stacks(json, stacks);
    etlheap_json_array(json, "rows");
    for (u32 i = 0; i < stacks->row_count; i++) {
        const etlheap_row *const row = &stacks->rows[i];
        if (!answer->explains[i])
            continue;
        etlheap_json_object(json, NULL);
        write_keys(json, stacks, row);
        for (size_t m = 0; m < ETL_COUNT_OF(growth_measures); m++)
            etlheap_json_i64(json, etlheap_measure_word(growth_measures[m]),
                             row->measures[growth_measures[m]]);
        etlheap_json_object_close(json);
    }
    etlheap_json_array_close(json);
    etlheap_json_object_close(json);
    json->break_depth = BREAK_DEPTH;
}

static void write_keys(etlheap_json *json, const etlheap_table *table, const etlheap_row *row)
{
    for (u32 k = 0; k < table->group_by_count; k++)
        etlheap_json_key(json, row, table->group_by[k]);
}
