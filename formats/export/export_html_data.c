/*
 * export_html_data.c - writes the cells of an HTML page: `etlheap-cells-1`, which the page works
 * the sums of any of its windows out of (formats/html/view_cells.js).
 *
 * In: the answers of the engine (export_html_ask.c) and the chosen rows. Out: JSON:
 *
 *     window    its ends, and the edges of the windows in it
 *     kinds     cells                                     one for each kind of memory
 *     groups    keys, totals, cells, what is left out     process and heap
 *     rows      numbers of each stack of a group
 *     stacks    numbers of frames; frames of strings (export_html_choice.h)
 *     blocks    single blocks of rows (export_html_blocks.h)
 *     threads   numbers: group, thread + 1 or 0, type, count, size
 *     memory    null, or commit and available memory of the system by window
 *     process_memory  the same of processes that are shown: commit, working set
 *     thread_names  {pid, thread, name} for those that have one; some come more than once
 *
 * Amounts are of four types, in the order AIFO, AIFI, AOFI, AOFO, over the whole range. Cells
 * (export_html_code.h) describe single windows. A row whose cells exceed the budget has none; if
 * the user selects a window, it is included only in its group. Invariant: totals of groups include
 * rows that are not shown. Numbers of a row, which the page's script reads in this order:
 *
 *     group, stack + 1 or 0
 *     bits: 0 to 3 types that it has, 4 cells follow, 5 something is there at the start
 *     peak size
 *     count and size at the start             with bit 5
 *     count and size of each type             with bits 0 to 3
 *     how many windows have news, and those   with bit 4
 */
#include "formats/parts/layout_read.h"
#include "export_html_blocks.h"

#include "formats/json/json_rows.h"
#include "export_html_code.h"

#include <stdlib.h>

#define HTML_ROW_BYTES   1480000 /* frames, stacks, rows and their cells */
#define HTML_GROUP_BYTES 150000
#define HTML_THREADS_MAX 2000 /* sums of one type */
#define HTML_MEMORY_MAX  64   /* processes with curves */

#define ROW_HAS_CELLS (1u << ETLHEAP_TYPE_COUNT)
#define ROW_HAS_START (2u << ETLHEAP_TYPE_COUNT)

typedef struct writer {
    const html_answers *answers;
    const html_choice *choice;
    etlheap_json json;
    etlheap_text scratch, cells;
} writer;

/* The sums of the rows that are not shown, for a group or a kind. */
typedef struct remainder {
    u32 count;
    i64 counts[ETLHEAP_TYPE_COUNT], sizes[ETLHEAP_TYPE_COUNT];
} remainder;

static void write_window(writer *w);
static void write_kinds(writer *w);
static void write_kind(writer *w, u32 row);
static bool write_groups(writer *w);
static remainder *sum_hidden_rows(const writer *w);
static void write_group(writer *w, u32 row, const remainder *hidden, u64 *budget);
static void write_hidden_groups(writer *w);
static etlheap_cell whole_of(const writer *w, const etlheap_windows *windows, u32 row);
static void add_remainder(remainder *sum, const etlheap_cell *cell);
static void write_remainder(writer *w, const char *key, const remainder *sum);
static void write_amounts(writer *w, const char *key, const i64 *counts, const i64 *sizes);
static void write_start(writer *w, const etlheap_windows *windows, u32 row);
static void write_cells(writer *w, const etlheap_windows *windows, u32 row, u64 *budget);
static void write_frames(writer *w);
static void write_strings(writer *w, const char *key, const export_numbers *strings);
static void write_rows(writer *w);
static bool write_blocks(writer *w, const html_blocks *blocks);
static void write_threads(writer *w);
static void write_memory(writer *w);
static void add_row(writer *w, u32 index, u64 *budget);
static void write_label(writer *w, const char *key, const char *text);

bool html_write_cells(const html_answers *answers, const html_choice *choice,
                      const html_blocks *blocks, etlheap_sink *sink)
{
    writer w = { answers, choice, etlheap_json_begin(sink, 2), { 0 }, { 0 } };
    etlheap_json *const json = &w.json;
    json->hint = answers->request->hint;
    etlheap_json_object(json, NULL);
    etlheap_json_string(json, "schema", "etlheap-cells-1");
    etlheap_json_recording(json, answers->request->result);
    write_window(&w);
    write_kinds(&w);
    bool ok = write_groups(&w);
    write_hidden_groups(&w);
    write_frames(&w);
    write_rows(&w);
    ok = write_blocks(&w, blocks) && ok;
    write_threads(&w);
    write_memory(&w);
    etlheap_json_diagnostics(json, &answers->rows->table->diagnostics);
    etlheap_json_object_close(json);
    etlheap_json_end(json);
    const bool failed = w.scratch.failed || w.cells.failed;
    etlheap_text_free(&w.scratch);
    etlheap_text_free(&w.cells);
    return ok && !failed;
}

static void write_window(writer *w)
{
    const etlheap_windows *const kinds = w->answers->kinds;
    const etlheap_query *const query = w->answers->request->query;
    etlheap_json_object(&w->json, "window");
    etlheap_json_i64(&w->json, "from_ns", kinds->table->from_ns);
    etlheap_json_i64(&w->json, "to_ns", kinds->table->to_ns);
    etlheap_json_i64(&w->json, "every_ns", kinds->every_ns);
    etlheap_json_string(&w->json, "at_exit", query->at_exit_freed ? "freed" : "leaked");
    etlheap_json_bool(&w->json, "is_whole",
                      query->from_ns == INT64_MIN && query->to_ns == INT64_MAX);
    etlheap_json_bool(&w->json, "is_moment", !w->answers->has_times);
    etlheap_json_array(&w->json, "edges_ns");
    for (u32 i = 0; i < w->answers->window_count; i++)
        etlheap_json_i64(&w->json, NULL, kinds->windows[i].from_ns);
    etlheap_json_i64(&w->json, NULL, kinds->table->to_ns);
    etlheap_json_array_close(&w->json);
    etlheap_json_object_close(&w->json);
}

static void write_kinds(writer *w)
{
    etlheap_json_array(&w->json, "kinds");
    for (u32 i = 0; i < w->answers->kinds->table->row_count; i++)
        write_kind(w, i);
    etlheap_json_array_close(&w->json);
}

static void write_kind(writer *w, u32 row)
{
    const etlheap_windows *const kinds = w->answers->kinds;
    const u8 kind = kinds->table->rows[row].kind;
    u64 budget = HTML_GROUP_BYTES;
    etlheap_json_object(&w->json, NULL);
    etlheap_json_string(&w->json, "kind", etlheap_kind_name((etlheap_kind)kind));
    etlheap_json_u64(&w->json, "free_without_alloc",
                     w->answers->threads->totals[kind].free_without_alloc);
    write_start(w, kinds, row);
    write_cells(w, kinds, row, &budget);
    etlheap_json_object_close(&w->json);
}

/* Writes the groups; false without memory. */
static bool write_groups(writer *w)
{
    remainder *const hidden = sum_hidden_rows(w);
    u64 budget = HTML_GROUP_BYTES;
    etlheap_json_array(&w->json, "groups");
    for (u32 i = 0; hidden != NULL && i < w->choice->group_count; i++)
        write_group(w, i, &hidden[i], &budget);
    etlheap_json_array_close(&w->json);
    free(hidden);
    return hidden != NULL;
}

/* By group. */
static remainder *sum_hidden_rows(const writer *w)
{
    const etlheap_windows *const rows = w->answers->rows;
    remainder *const hidden =
        calloc((size_t)w->answers->groups->table->row_count + 1, sizeof *hidden);
    for (u32 i = w->choice->row_count; hidden != NULL && i < rows->table->row_count; i++) {
        const etlheap_cell cell = whole_of(w, rows, i);
        add_remainder(&hidden[w->choice->group_of[i]], &cell);
    }
    return hidden;
}

static void write_group(writer *w, u32 row, const remainder *hidden, u64 *budget)
{
    const etlheap_windows *const groups = w->answers->groups;
    const etlheap_row *const group = &groups->table->rows[row];
    const etlheap_cell whole = whole_of(w, groups, row);
    etlheap_json_object(&w->json, NULL);
    etlheap_json_key(&w->json, group, ETLHEAP_KEY_KIND);
    if (etlheap_process_is_named(group->process))
        write_label(w, "process", group->process);
    else
        etlheap_json_null(&w->json, "process");
    if (group->pid != ETL_NO_ID)
        etlheap_json_u64(&w->json, "pid", group->pid);
    else
        etlheap_json_null(&w->json, "pid");
    etlheap_json_key(&w->json, group, ETLHEAP_KEY_HEAP);
    write_amounts(w, "types", whole.count, whole.size);
    etlheap_json_i64(&w->json, "peak_count", whole.peak_count);
    etlheap_json_i64(&w->json, "peak_size", whole.peak_size);
    write_remainder(w, "hidden", hidden);
    write_start(w, groups, row);
    write_cells(w, groups, row, budget);
    etlheap_json_object_close(&w->json);
}

static void write_hidden_groups(writer *w)
{
    const etlheap_windows *const groups = w->answers->groups;
    remainder hidden[ETLHEAP_KIND_COUNT] = { { 0 } };
    for (u32 i = w->choice->group_count; i < groups->table->row_count; i++) {
        const etlheap_cell cell = whole_of(w, groups, i);
        add_remainder(&hidden[groups->table->rows[i].kind], &cell);
    }
    etlheap_json_object(&w->json, "hidden_groups");
    for (int kind = 0; kind < ETLHEAP_KIND_COUNT; kind++)
        write_remainder(w, etlheap_kind_name((etlheap_kind)kind), &hidden[kind]);
    etlheap_json_object_close(&w->json);
}

/* The extra last window of groups and rows covers the whole range. */
static etlheap_cell whole_of(const writer *w, const etlheap_windows *windows, u32 row)
{
    etlheap_cell cell;
    etlheap_windows_cell(windows, row, w->answers->window_count, &cell);
    return cell;
}

static void add_remainder(remainder *sum, const etlheap_cell *cell)
{
    sum->count++;
    for (int type = 0; type < ETLHEAP_TYPE_COUNT; type++) {
        sum->counts[type] = etl_sat_add_i64(sum->counts[type], cell->count[type]);
        sum->sizes[type] = etl_sat_add_i64(sum->sizes[type], cell->size[type]);
    }
}

static void write_remainder(writer *w, const char *key, const remainder *sum)
{
    if (sum->count == 0)
        return;
    etlheap_json_object(&w->json, key);
    etlheap_json_u64(&w->json, "rows", sum->count);
    write_amounts(w, "types", sum->counts, sum->sizes);
    etlheap_json_object_close(&w->json);
}

/* Count and size of each type, one after the other. */
static void write_amounts(writer *w, const char *key, const i64 *counts, const i64 *sizes)
{
    etlheap_json_array(&w->json, key);
    for (int type = 0; type < ETLHEAP_TYPE_COUNT; type++) {
        etlheap_json_i64(&w->json, NULL, counts[type]);
        etlheap_json_i64(&w->json, NULL, sizes[type]);
    }
    etlheap_json_array_close(&w->json);
}

static void write_start(writer *w, const etlheap_windows *windows, u32 row)
{
    const html_amount start = html_start_of(windows, row);
    etlheap_json_i64(&w->json, "start_count", start.count);
    etlheap_json_i64(&w->json, "start_size", start.size);
}

/* Null when the budget has no room for them. */
static void write_cells(writer *w, const etlheap_windows *windows, u32 row, u64 *budget)
{
    etlheap_text_clear(&w->cells);
    const u32 news =
        html_code_add_cells(&w->cells, windows, row, w->answers->window_count, SIZE_MAX);
    const bool fits = w->cells.size <= *budget;
    etlheap_json_u64(&w->json, "news", news);
    etlheap_json_string(&w->json, "cells", fits ? etlheap_text_of(&w->cells) : NULL);
    *budget -= fits ? w->cells.size : 0;
}

static void write_frames(writer *w)
{
    const html_choice *const choice = w->choice;
    write_strings(w, "modules", &choice->modules);
    write_strings(w, "names", &choice->names);
    write_strings(w, "files", &choice->files);
    etlheap_json_u64(&w->json, "names_cut", choice->names_cut);
    etlheap_json_u64(&w->json, "frame_count", choice->frame_count);
    etlheap_json_string(&w->json, "frames", etlheap_text_of(&choice->frames));
    etlheap_json_u64(&w->json, "stack_count", choice->stack_count);
    etlheap_json_string(&w->json, "stacks", etlheap_text_of(&choice->stacks));
}

static void write_strings(writer *w, const char *key, const export_numbers *strings)
{
    etlheap_json_array(&w->json, key);
    for (u32 i = 0; i < strings->count; i++) {
        const etl_bytes string = export_number_key(strings, i);
        etlheap_json_string_bytes(&w->json, NULL, (const char *)string.at, string.size);
    }
    etlheap_json_array_close(&w->json);
}

/* Writes rows. Cells of the rows with the largest peaks come first; if those of one row do not fit,
 * smaller ones may. */
static void write_rows(writer *w)
{
    u64 budget = HTML_ROW_BYTES - etl_min_u64(html_choice_bytes(w->choice), HTML_ROW_BYTES);
    u32 count = 0;
    etlheap_text_clear(&w->scratch);
    for (u32 i = 0; i < w->choice->row_count; i++) {
        if (w->choice->group_of[i] >= w->choice->group_count)
            continue;
        add_row(w, i, &budget);
        count++;
    }
    etlheap_json_u64(&w->json, "row_count", count);
    etlheap_json_string(&w->json, "rows", etlheap_text_of(&w->scratch));
}

/* See the top of the file. */
static void add_row(writer *w, u32 index, u64 *budget)
{
    const etlheap_row *const row = &w->answers->rows->table->rows[index];
    const etlheap_cell whole = whole_of(w, w->answers->rows, index);
    const html_amount start = html_start_of(w->answers->rows, index);
    etlheap_text_clear(&w->cells);
    const u32 news =
        html_code_add_cells(&w->cells, w->answers->rows, index, w->answers->window_count, *budget);
    const bool fits = w->cells.size <= *budget;
    u32 bits = (fits ? ROW_HAS_CELLS : 0) | (start.count > 0 ? ROW_HAS_START : 0);
    for (u32 type = 0; type < ETLHEAP_TYPE_COUNT; type++)
        bits |= whole.count[type] > 0 ? 1u << type : 0;
    html_code_add(&w->scratch, w->choice->group_of[index]);
    html_code_add(&w->scratch,
                  row->stack == ETLHEAP_NO_INDEX ? 0 : w->choice->stack_number[row->stack]);
    html_code_add(&w->scratch, bits);
    html_code_add_signed(&w->scratch, whole.peak_size);
    if (bits & ROW_HAS_START) {
        html_code_add_signed(&w->scratch, start.count);
        html_code_add_signed(&w->scratch, start.size);
    }
    for (u32 type = 0; type < ETLHEAP_TYPE_COUNT; type++) {
        if ((bits >> type & 1) == 0)
            continue;
        html_code_add_signed(&w->scratch, whole.count[type]);
        html_code_add_signed(&w->scratch, whole.size[type]);
    }
    if (fits) {
        html_code_add(&w->scratch, news);
        etlheap_text_add(&w->scratch, etlheap_text_of(&w->cells), w->cells.size);
        *budget -= w->cells.size;
    }
}

static bool write_blocks(writer *w, const html_blocks *blocks)
{
    const html_choice *const choice = w->choice;
    u32 *const page_rows = calloc((size_t)choice->row_count + 1, sizeof *page_rows);
    u32 next = 0;
    if (page_rows == NULL)
        return false;
    for (u32 i = 0; i < choice->row_count; i++) {
        page_rows[i] = next;
        next += choice->group_of[i] < choice->group_count;
    }
    etlheap_text_clear(&w->scratch);
    html_blocks_add(blocks, page_rows, &w->scratch);
    free(page_rows);
    etlheap_json_string(&w->json, "blocks", etlheap_text_of(&w->scratch));
    etlheap_json_string(&w->json, "block_advice",
                        etlheap_hint_words(w->json.hint, ETL_HINT_ALL_BLOCKS));
    etlheap_json_array(&w->json, "free_types");
    for (int type = 0; type < ETLHEAP_FREE_TYPE_COUNT; type++)
        etlheap_json_string(&w->json, NULL, etlheap_free_type_name((etlheap_free_type)type));
    etlheap_json_array_close(&w->json);
    return true;
}

/* Writes names of threads. A thread has a row for each heap and type, which need not be neighbours,
 * so names may repeat. */
static void write_thread_names(writer *w, const etlheap_table *threads, u32 count)
{
    const etlheap_row *before = NULL;
    etlheap_json_array(&w->json, "thread_names");
    for (u32 i = 0; i < count; i++) {
        const etlheap_row *const row = &threads->rows[i];
        const bool is_same =
            before != NULL && before->thread == row->thread && before->pid == row->pid;
        if (row->thread_name == NULL || is_same)
            continue;
        before = row;
        etlheap_json_object(&w->json, NULL);
        etlheap_json_u64(&w->json, "pid", row->pid);
        etlheap_json_u64(&w->json, "thread", row->thread);
        etlheap_json_string(&w->json, "name", row->thread_name);
        etlheap_json_object_close(&w->json);
    }
    etlheap_json_array_close(&w->json);
}

/* Writes threads. If rows are cut off, the page takes the rest from the group's types. */
static void write_threads(writer *w)
{
    const etlheap_windows *const groups = w->answers->groups;
    const etlheap_table *const threads = w->answers->threads;
    const u32 most = (u32)etl_min_u64(threads->row_count, HTML_THREADS_MAX);
    u32 *const group_of = calloc((size_t)most + 1, sizeof *group_of);
    bool ok = group_of != NULL && html_find_groups(groups->table, threads, most, group_of);
    etlheap_text_clear(&w->scratch);
    for (u32 i = 0; ok && i < most; i++) {
        const etlheap_row *const row = &threads->rows[i];
        if (group_of[i] >= w->choice->group_count)
            continue;
        html_code_add(&w->scratch, group_of[i]);
        html_code_add(&w->scratch, row->thread == ETL_NO_ID ? 0 : (u64)row->thread + 1);
        html_code_add(&w->scratch, row->type);
        html_code_add_signed(&w->scratch, row->measures[ETLHEAP_MEASURE_COUNT]);
        html_code_add_signed(&w->scratch, row->measures[ETLHEAP_MEASURE_SIZE]);
    }
    free(group_of);
    w->scratch.failed |= !ok;
    etlheap_json_string(&w->json, "threads", etlheap_text_of(&w->scratch));
    write_thread_names(w, threads, most);
    etlheap_json_string(&w->json, "thread_advice",
                        etlheap_hint_words(w->json.hint, ETL_HINT_ONE_THREAD));
}

typedef enum memory_part { MEMORY_COMMIT, MEMORY_AVAILABLE, MEMORY_WORKING_SET } memory_part;

/* Writes a number for the end of each window; null if it is unknown. */
static void write_curve(writer *w, const char *key, const etlheap_memory_sample *samples,
                        memory_part part)
{
    etlheap_json_array(&w->json, key);
    for (u32 i = 0; i < w->answers->window_count; i++) {
        const etlheap_memory_sample *const sample = &samples[i];
        const u64 bytes = part == MEMORY_COMMIT      ? sample->commit_bytes
                          : part == MEMORY_AVAILABLE ? sample->available_bytes
                                                     : sample->working_set_bytes;
        if (sample->is_known && (part != MEMORY_COMMIT || sample->has_commit))
            etlheap_json_u64(&w->json, NULL, bytes);
        else
            etlheap_json_null(&w->json, NULL);
    }
    etlheap_json_array_close(&w->json);
}

/* Does a group of the page belong to the process? Other processes cannot be shown. Groups of the
 * page are at most HTML_GROUPS_MAX, but a trace may have a hundred thousand processes. */
static bool is_shown(const writer *w, const etlheap_process_memory *process)
{
    const etlheap_table *const table = w->answers->groups->table;
    for (u32 i = 0; i < w->choice->group_count; i++) {
        if (table->rows[i].pid == process->pid &&
            strcmp(table->rows[i].process, process->name) == 0)
            return true;
    }
    return false;
}

/* Writes the values of MemInfo records; null and empty without them. */
static void write_memory(writer *w)
{
    const etlheap_windows *const kinds = w->answers->kinds;
    u32 written = 0;
    if (kinds->memory == NULL) {
        etlheap_json_null(&w->json, "memory");
    } else {
        etlheap_json_object(&w->json, "memory");
        write_curve(w, "commit_size", kinds->memory, MEMORY_COMMIT);
        write_curve(w, "available_size", kinds->memory, MEMORY_AVAILABLE);
        etlheap_json_object_close(&w->json);
    }
    etlheap_json_array(&w->json, "process_memory");
    for (u32 i = 0; i < kinds->process_memory_count && written < HTML_MEMORY_MAX; i++) {
        const etlheap_process_memory *const process = &kinds->process_memory[i];
        if (!is_shown(w, process))
            continue;
        written++;
        etlheap_json_object(&w->json, NULL);
        etlheap_json_string(&w->json, "process", process->name);
        etlheap_json_u64(&w->json, "pid", process->pid);
        write_curve(w, "commit_size", process->at, MEMORY_COMMIT);
        write_curve(w, "working_set_size", process->at, MEMORY_WORKING_SET);
        etlheap_json_object_close(&w->json);
    }
    etlheap_json_array_close(&w->json);
}

static void write_label(writer *w, const char *key, const char *text)
{
    etlheap_text_clear(&w->scratch);
    html_name_add(&w->scratch, text);
    etlheap_json_string(&w->json, key, etlheap_text_of(&w->scratch));
}
