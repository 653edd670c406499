/*
 * export_speedscope.c - writes profiles for speedscope: one for each kind and process.
 *
 * In: rows with stacks. Out: a JSON file of sampled profiles in bytes: stacks, outermost frame
 * first, and a weight for each.
 *
 * Kinds must not be added up, and people look at one process at a time. So each pair is a profile
 * of its own, to be chosen in the viewer; the one with the most bytes of the first kind is shown
 * first. Invariant: frames are shared by all profiles and come first in the file, in the order of
 * the table.
 * Source: the viewer's file-format-schema.json.
 */
#include "formats/json/json.h"
#include "formats/parts/allocation_rows.h"
#include "export_samples.h"
#include "export_writers.h"

#include <stdlib.h>

static const etlheap_key keys[] = { ETLHEAP_KEY_KIND, ETLHEAP_KEY_PROCESS, ETLHEAP_KEY_STACK };

/* A row with its profile: after sorting, rows of a profile are neighbours. */
typedef struct profile_row {
    const etlheap_row *row;
    u32 index; /* in the table, whose order stays within a profile */
} profile_row;

/* Rows of one profile. */
typedef struct profile {
    const profile_row *rows;
    u32 count;
    i64 size;
} profile;

static u32 choose_rows(const export_samples *samples, profile_row *rows);
static int compare_rows(const void *a, const void *b);
static profile next_profile(const export_samples *samples, const profile_row *rows, u32 count);
static void write_document(const export_samples *samples, const profile_row *rows, u32 count,
                           etlheap_text *scratch, etlheap_sink *sink);
static void write_frames(etlheap_json *json, const etlheap_table *table, etlheap_text *scratch);
static void write_profile(etlheap_json *json, const export_samples *samples, const profile *part,
                          etlheap_text *scratch);
static void write_stack(etlheap_json *json, const etlheap_table *table, const etlheap_row *row);

etl_status etlheap_export_speedscope(const etlheap_export_request *request, etlheap_sink *sink,
                                     etl_error *err)
{
    export_samples samples;
    etlheap_text scratch = { 0 };
    const etl_status status = export_samples_open(request, keys, ETL_COUNT_OF(keys), &samples, err);
    if (status != ETL_OK)
        return status;
    profile_row *const rows = malloc(((size_t)samples.table->row_count + 1) * sizeof *rows);
    bool failed = rows == NULL;
    if (!failed) {
        const u32 count = choose_rows(&samples, rows);
        write_document(&samples, rows, count, &scratch, sink);
        failed = scratch.failed;
    }
    free(rows);
    etlheap_text_free(&scratch);
    export_samples_close(&samples);
    return failed ? etl_no_memory(err) : ETL_OK;
}

static u32 choose_rows(const export_samples *samples, profile_row *rows)
{
    u32 count = 0;
    for (u32 i = 0; i < samples->table->row_count; i++) {
        const etlheap_row *const row = &samples->table->rows[i];
        if (export_size(samples, row) > 0)
            rows[count++] = (profile_row){ row, i };
    }
    qsort(rows, count, sizeof *rows, compare_rows);
    return count;
}

static int compare_rows(const void *a, const void *b)
{
    const profile_row *const x = a;
    const profile_row *const y = b;
    if (x->row->kind != y->row->kind)
        return x->row->kind < y->row->kind ? -1 : 1;
    if (x->row->pid != y->row->pid)
        return x->row->pid < y->row->pid ? -1 : 1;
    const int by_name = strcmp(x->row->process, y->row->process);
    if (by_name != 0)
        return by_name;
    return (x->index > y->index) - (x->index < y->index);
}

static profile next_profile(const export_samples *samples, const profile_row *rows, u32 count)
{
    const etlheap_row *const first = rows[0].row;
    profile part = { .rows = rows };
    for (; part.count < count; part.count++) {
        const etlheap_row *const row = rows[part.count].row;
        if (row->kind != first->kind || row->pid != first->pid ||
            strcmp(row->process, first->process) != 0)
            break;
        part.size = etl_sat_add_i64(part.size, export_size(samples, row));
    }
    return part;
}

/* Writes the document. The active profile must be known before profiles are written; another pass
 * over the rows costs less than keeping them. */
static void write_document(const export_samples *samples, const profile_row *rows, u32 count,
                           etlheap_text *scratch, etlheap_sink *sink)
{
    etlheap_json json = etlheap_json_begin(sink, 2);
    u32 active = 0;
    i64 largest = -1;
    u32 number = 0;
    for (u32 at = 0; at < count && rows[at].row->kind == rows[0].row->kind; number++) {
        const profile part = next_profile(samples, rows + at, count - at);
        if (part.size > largest) {
            largest = part.size;
            active = number;
        }
        at += part.count;
    }
    etlheap_json_object(&json, NULL);
    etlheap_json_string(&json, "$schema", "https://www.speedscope.app/file-format-schema.json");
    etlheap_json_string(&json, "exporter", "etlheap " ETLHEAP_VERSION);
    etlheap_json_u64(&json, "activeProfileIndex", active);
    etlheap_json_object(&json, "shared");
    write_frames(&json, samples->table, scratch);
    etlheap_json_object_close(&json);
    etlheap_json_array(&json, "profiles");
    for (u32 at = 0; at < count && etlheap_sink_ok(sink);) {
        const profile part = next_profile(samples, rows + at, count - at);
        write_profile(&json, samples, &part, scratch);
        at += part.count;
    }
    if (count == 0)
        write_profile(&json, samples, &(profile){ 0 }, scratch);
    etlheap_json_array_close(&json);
    etlheap_json_object_close(&json);
    etlheap_json_end(&json);
}

/* Writes the table's frames, and one more for rows without a stack. */
static void write_frames(etlheap_json *json, const etlheap_table *table, etlheap_text *scratch)
{
    etlheap_json_array(json, "frames");
    for (u32 i = 0; i < table->frame_count; i++) {
        const etlheap_frame *const frame = &table->frames[i];
        etlheap_text_clear(scratch);
        etlheap_text_add_frame(scratch, frame);
        etlheap_json_object(json, NULL);
        etlheap_json_string(json, "name", etlheap_text_of(scratch));
        if (frame->file)
            etlheap_json_string(json, "file", frame->file);
        if (frame->line != 0)
            etlheap_json_u64(json, "line", frame->line);
        etlheap_json_object_close(json);
    }
    etlheap_json_object(json, NULL);
    etlheap_json_string(json, "name", EXPORT_NO_STACK);
    etlheap_json_object_close(json);
    etlheap_json_array_close(json);
}

/* Writes a profile; an empty one if there are no rows, because the viewer must show something. */
static void write_profile(etlheap_json *json, const export_samples *samples, const profile *part,
                          etlheap_text *scratch)
{
    etlheap_text_clear(scratch);
    if (part->count > 0) {
        const etlheap_row *const first = part->rows[0].row;
        etlheap_text_add_key(scratch, samples->table, first, ETLHEAP_KEY_PROCESS);
        etlheap_text_add_string(scratch, ": ");
        etlheap_text_add_key(scratch, samples->table, first, ETLHEAP_KEY_KIND);
    } else {
        etlheap_text_add_string(scratch, "nothing");
    }
    etlheap_json_object(json, NULL);
    etlheap_json_string(json, "type", "sampled");
    etlheap_json_string(json, "name", etlheap_text_of(scratch));
    const bool is_counted =
        part->count > 0 && etlheap_kinds_are_counted(1u << part->rows[0].row->kind);
    etlheap_json_string(json, "unit", is_counted ? "none" : "bytes");
    etlheap_json_i64(json, "startValue", 0);
    etlheap_json_i64(json, "endValue", part->size);
    etlheap_json_array(json, "samples");
    for (u32 i = 0; i < part->count; i++)
        write_stack(json, samples->table, part->rows[i].row);
    etlheap_json_array_close(json);
    etlheap_json_array(json, "weights");
    for (u32 i = 0; i < part->count; i++)
        etlheap_json_i64(json, NULL, export_size(samples, part->rows[i].row));
    etlheap_json_array_close(json);
    etlheap_json_object_close(json);
}

static void write_stack(etlheap_json *json, const etlheap_table *table, const etlheap_row *row)
{
    const etlheap_indices frames = etlheap_row_frames(table, row);
    etlheap_json_array(json, NULL);
    for (u32 i = frames.count; i > 0; i--)
        etlheap_json_u64(json, NULL, frames.at[i - 1]);
    if (frames.count == 0)
        etlheap_json_u64(json, NULL, table->frame_count);
    etlheap_json_array_close(json);
}
