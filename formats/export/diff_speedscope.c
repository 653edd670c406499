/*
 * diff_speedscope.c - writes a comparison for speedscope.
 *
 * In: a diff with stacks. Out: a JSON file with four profiles for each kind: what grew, what
 * shrank, and both sides.
 *
 * speedscope draws one amount for each stack and has no differential view, so the profiles are
 * chosen in the viewer. Keys above the stack, such as the process, become frames. Invariant: frames
 * come before profiles in the file, so all names get their numbers first (number_all).
 * Source: the viewer's file-format-schema.json.
 */
#include "diff_amounts.h"
#include "export_samples.h"
#include "formats/json/json.h"
#include "formats/parts/allocation_rows.h"
#include "formats/parts/export_numbers.h"
#include "formats/parts/layout_read.h"
#include "formats/parts/text_parts.h"
#include "formats/writers.h"

#include <stdlib.h>

typedef enum profile_side { SIDE_GREW, SIDE_SHRANK, SIDE_BASE, SIDE_NEW, SIDE_COUNT } profile_side;

typedef struct diff_profiles {
    const etlheap_diff *diff;
    etlheap_json json;
    export_numbers names; /* of frames, keys among them */
    u32 *frames;          /* by frame of the table: number of its name */
    etlheap_text text;
} diff_profiles;

static u32 number_text(diff_profiles *p)
{
    u32 number = 0;
    const etl_bytes key = { (const u8 *)etlheap_text_of(&p->text), p->text.size };
    (void)export_number_of(&p->names, key, &number);
    return number;
}

static u32 number_words(diff_profiles *p, const char *words)
{
    etlheap_text_clear(&p->text);
    etlheap_text_add_string(&p->text, words);
    return number_text(p);
}

static u32 number_key(diff_profiles *p, const etlheap_row *row, etlheap_key key)
{
    etlheap_text_clear(&p->text);
    etlheap_text_add_key(&p->text, &p->diff->table, row, key);
    return number_text(p);
}

static bool is_frame(etlheap_key key)
{
    return key != ETLHEAP_KEY_KIND && key != ETLHEAP_KEY_STACK;
}

/* Numbers all names before the first profile is written. */
static void number_all(diff_profiles *p)
{
    const etlheap_table *const table = &p->diff->table;
    for (u32 i = 0; i < table->frame_count; i++) {
        etlheap_text_clear(&p->text);
        etlheap_text_add_frame(&p->text, &table->frames[i]);
        p->frames[i] = number_text(p);
    }
    for (u32 i = 0; i < table->row_count; i++) {
        for (u32 k = 0; k < table->group_by_count; k++) {
            if (is_frame(table->group_by[k]))
                (void)number_key(p, &table->rows[i], table->group_by[k]);
        }
    }
    (void)number_words(p, EXPORT_NO_STACK);
}

static void write_frames(diff_profiles *p)
{
    etlheap_json_object(&p->json, "shared");
    etlheap_json_array(&p->json, "frames");
    for (u32 i = 0; i < p->names.count; i++) {
        const etl_bytes name = export_number_key(&p->names, i);
        etlheap_json_object(&p->json, NULL);
        etlheap_json_string_bytes(&p->json, "name", (const char *)name.at, name.size);
        etlheap_json_object_close(&p->json);
    }
    etlheap_json_array_close(&p->json);
    etlheap_json_object_close(&p->json);
}

/* The kind of a row. Rows do not state it if the diff has only one kind. */
static u32 kind_of(const etlheap_diff *diff, const etlheap_row *row)
{
    u32 kind = row->kind;
    for (u32 k = 0; k < diff->table.group_by_count; k++) {
        if (diff->table.group_by[k] == ETLHEAP_KEY_KIND)
            return kind;
    }
    for (kind = 0; kind + 1 < ETLHEAP_KIND_COUNT && !diff->table.totals[kind].present;)
        kind++;
    return kind;
}

static i64 weight_of(const etlheap_diff *diff, u32 row, u32 kind, profile_side side)
{
    const diff_amounts amounts = diff_amounts_of(diff, row);
    const i64 grown = amounts.now - amounts.base;
    if (kind_of(diff, &diff->table.rows[row]) != kind)
        return 0;
    switch (side) {
    case SIDE_GREW:
        return grown > 0 ? grown : 0;
    case SIDE_SHRANK:
        return grown < 0 ? -grown : 0;
    case SIDE_BASE:
        return amounts.base;
    default:
        return amounts.now;
    }
}

/* Writes the path of a row: keys, then frames from the outermost one. */
static void write_path(diff_profiles *p, const etlheap_row *row)
{
    const etlheap_table *const table = &p->diff->table;
    const etlheap_indices frames = etlheap_row_frames(table, row);
    bool has_stack = false;
    etlheap_json_array(&p->json, NULL);
    for (u32 k = 0; k < table->group_by_count; k++) {
        has_stack |= table->group_by[k] == ETLHEAP_KEY_STACK;
        if (is_frame(table->group_by[k]))
            etlheap_json_u64(&p->json, NULL, number_key(p, row, table->group_by[k]));
    }
    for (u32 i = has_stack ? frames.count : 0; i > 0; i--)
        etlheap_json_u64(&p->json, NULL, p->frames[frames.at[i - 1]]);
    if (has_stack && frames.count == 0)
        etlheap_json_u64(&p->json, NULL, number_words(p, EXPORT_NO_STACK));
    etlheap_json_array_close(&p->json);
}

static void write_profile(diff_profiles *p, u32 kind, profile_side side)
{
    static const char *const words[SIDE_COUNT] = { "grew", "shrank", "base", "new" };
    const etlheap_diff *const diff = p->diff;
    i64 sum = 0;
    for (u32 i = 0; i < diff->table.row_count; i++)
        sum = etl_sat_add_i64(sum, weight_of(diff, i, kind, side));
    etlheap_text_clear(&p->text);
    etlheap_text_add_format(&p->text, "%s: %s", etlheap_kind_name((etlheap_kind)kind), words[side]);
    etlheap_json_object(&p->json, NULL);
    etlheap_json_string(&p->json, "type", "sampled");
    etlheap_json_string(&p->json, "name", etlheap_text_of(&p->text));
    etlheap_json_string(&p->json, "unit",
                        etlheap_measure_style_of(diff->measure).is_size ? "bytes" : "none");
    etlheap_json_i64(&p->json, "startValue", 0);
    etlheap_json_i64(&p->json, "endValue", sum);
    etlheap_json_array(&p->json, "samples");
    for (u32 i = 0; i < diff->table.row_count && etlheap_sink_ok(p->json.sink); i++) {
        if (weight_of(diff, i, kind, side) > 0)
            write_path(p, &diff->table.rows[i]);
    }
    etlheap_json_array_close(&p->json);
    etlheap_json_array(&p->json, "weights");
    for (u32 i = 0; i < diff->table.row_count; i++) {
        const i64 weight = weight_of(diff, i, kind, side);
        if (weight > 0)
            etlheap_json_i64(&p->json, NULL, weight);
    }
    etlheap_json_array_close(&p->json);
    etlheap_json_object_close(&p->json);
}

static void write_document(diff_profiles *p)
{
    bool is_empty = true;
    number_all(p);
    etlheap_json_object(&p->json, NULL);
    etlheap_json_string(&p->json, "$schema", "https://www.speedscope.app/file-format-schema.json");
    etlheap_json_string(&p->json, "exporter", "etlheap " ETLHEAP_VERSION);
    etlheap_json_u64(&p->json, "activeProfileIndex", 0);
    write_frames(p);
    etlheap_json_array(&p->json, "profiles");
    for (u32 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++) {
        if (!p->diff->table.totals[kind].present)
            continue;
        is_empty = false;
        for (u32 side = 0; side < SIDE_COUNT; side++)
            write_profile(p, kind, (profile_side)side);
    }
    if (is_empty) /* the viewer has to show something */
        write_profile(p, ETLHEAP_KIND_HEAP, SIDE_GREW);
    etlheap_json_array_close(&p->json);
    etlheap_json_object_close(&p->json);
    etlheap_json_end(&p->json);
}

etl_status etlheap_write_diff_speedscope(const etlheap_diff_answer *answer,
                                         const etlheap_layout *given, etlheap_sink *sink)
{
    etlheap_layout layout;
    const etl_status layout_status = etlheap_layout_read(given, &layout);
    if (layout_status != ETL_OK)
        return layout_status;
    diff_profiles p = { .diff = answer->diff, .json = etlheap_json_begin(sink, 2) };
    p.frames = calloc((size_t)answer->diff->table.frame_count + 1, sizeof *p.frames);
    bool failed = p.frames == NULL;
    if (!failed)
        write_document(&p);
    failed |= p.names.failed || p.text.failed;
    free(p.frames);
    export_numbers_free(&p.names);
    etlheap_text_free(&p.text);
    return failed ? ETL_ERR_MEMORY : ETL_OK;
}
