/*
 * json_rows.c - writes what documents with rows share: frames, stacks, the keys of a row and its
 * measures.
 *
 * In: a table. Out: parts of a JSON document. Invariant: keys are those of
 * engine/etlheap_columns.h, in every document.
 */
#include "json_rows.h"

#include "formats/parts/field_units.h"
#include "formats/writers.h"

static void write_index(etlheap_json *json, const char *key, u32 index);

void etlheap_json_frames(etlheap_json *json, const etlheap_table *table)
{
    etlheap_json_array(json, "frames");
    for (u32 i = 0; i < table->frame_count; i++)
        etlheap_json_frame(json, &table->frames[i]);
    etlheap_json_array_close(json);
}

/* Writes a frame. That a frame is inlined or a guess is stated only if so. */
void etlheap_json_frame(etlheap_json *json, const etlheap_frame *frame)
{
    etlheap_json_object(json, NULL);
    etlheap_json_string(json, "module", frame->module);
    if (frame->module && frame->offset != ETLHEAP_NO_ADDRESS)
        etlheap_json_hex(json, "offset", frame->offset, 1);
    else
        etlheap_json_null(json, "offset");
    if (frame->address != ETLHEAP_NO_ADDRESS)
        etlheap_json_hex(json, "address", frame->address, 1);
    else
        etlheap_json_null(json, "address");
    etlheap_json_string(json, "symbol", frame->symbol);
    etlheap_json_string(json, "file", frame->file);
    if (frame->line != 0)
        etlheap_json_u64(json, "line", frame->line);
    else
        etlheap_json_null(json, "line");
    if (frame->is_inlined)
        etlheap_json_bool(json, "inline", true);
    if (frame->is_nearest) {
        etlheap_json_bool(json, "nearest", true);
        etlheap_json_hex(json, "displacement", frame->displacement, 1);
    }
    etlheap_json_object_close(json);
}

void etlheap_json_stacks(etlheap_json *json, const etlheap_table *table)
{
    etlheap_json_array(json, "stacks");
    for (u32 i = 0; i < table->stack_count; i++) {
        etlheap_json_array(json, NULL);
        for (u32 at = table->stack_starts[i]; at < table->stack_starts[i + 1]; at++)
            etlheap_json_u64(json, NULL, table->frame_indices[at]);
        etlheap_json_array_close(json);
    }
    etlheap_json_array_close(json);
}

static void write_heap(etlheap_json *json, const char *key, u64 handle, const char *name)
{
    if (name != NULL)
        etlheap_json_string(json, key, name);
    else
        etlheap_json_heap(json, key, handle);
}

void etlheap_json_value(etlheap_json *json, etlheap_field field, const etlheap_value *value)
{
    const char *const key = etlheap_field_key(field);
    switch (value->form) {
    case ETLHEAP_VALUE_UNKNOWN:
        etlheap_json_null(json, key);
        return;
    case ETLHEAP_VALUE_NUMBER:
    case ETLHEAP_VALUE_TIME:
        etlheap_json_i64(json, key, (i64)value->number);
        return;
    case ETLHEAP_VALUE_COUNT:
        etlheap_json_u64(json, key, value->number);
        return;
    case ETLHEAP_VALUE_ADDRESS:
        etlheap_json_hex(json, key, value->number, 1);
        return;
    case ETLHEAP_VALUE_HEAP:
        write_heap(json, key, value->number, value->text);
        return;
    case ETLHEAP_VALUE_TRUTH:
        etlheap_json_bool(json, key, value->number != 0);
        return;
    case ETLHEAP_VALUE_TEXT:
        etlheap_json_string(json, key, value->text);
        return;
    case ETLHEAP_VALUE_PROCESS:
        etlheap_json_process(json, key, value->text);
        return;
    }
}

void etlheap_json_values(etlheap_json *json, const etlheap_field_list *columns,
                         const etlheap_value *values)
{
    for (u32 i = 0; i < columns->count; i++) {
        const u32 c = etlheap_column_at(columns, i);
        etlheap_json_value(json, columns->fields[c], &values[c]);
    }
}

/* Writes the mark that begins the generation; null before the first one. */
static void write_mark(etlheap_json *json, etlheap_field field, const etlheap_row *row)
{
    etlheap_json_string(json, etlheap_field_key(field), row->mark);
    if (row->mark_number > 1)
        etlheap_json_u64(json, "mark_number", row->mark_number);
}

void etlheap_json_key(etlheap_json *json, const etlheap_row *row, etlheap_key key)
{
    const char *const word = etlheap_key_word(key);
    const etlheap_key_value value = etlheap_row_value(row, key);
    switch (value.form) {
    case ETLHEAP_FORM_PROCESS:
        etlheap_json_process(json, word, value.text);
        write_index(json, etlheap_field_key(etlheap_key_detail(key)), row->pid);
        break;
    case ETLHEAP_FORM_HEAP:
        if (value.is_known)
            write_heap(json, word, value.number, value.text);
        else
            etlheap_json_null(json, word);
        break;
    case ETLHEAP_FORM_TYPE:
        etlheap_json_string(json, word, value.text);
        if (etlheap_key_detail(key) != ETLHEAP_FIELDS_COUNT)
            etlheap_json_string(json, etlheap_field_key(etlheap_key_detail(key)),
                                etlheap_impacting_type_name((etlheap_type)row->type));
        break;
    case ETLHEAP_FORM_STACK:
    case ETLHEAP_FORM_FRAME:
        write_index(json, word, (u32)value.number);
        break;
    case ETLHEAP_FORM_THREAD:
        write_index(json, word, (u32)value.number);
        if (value.text != NULL)
            etlheap_json_string(json, "thread_name", value.text);
        break;
    case ETLHEAP_FORM_SIZE:
        etlheap_json_u64(json, word, value.number);
        break;
    case ETLHEAP_FORM_GENERATION:
        etlheap_json_u64(json, word, value.number);
        write_mark(json, etlheap_key_detail(key), row);
        break;
    case ETLHEAP_FORM_KIND:
    case ETLHEAP_FORM_NAME:
    case ETLHEAP_FORM_TYPE_NAME:
        /* The key with a thread's id, which is never 0, has written its name already. */
        if (key != ETLHEAP_KEY_THREAD_NAME || row->thread == 0 || !value.is_known)
            etlheap_json_string(json, word, value.text);
        if (etlheap_key_detail(key) != ETLHEAP_FIELDS_COUNT)
            etlheap_json_string(json, etlheap_field_key(etlheap_key_detail(key)), value.detail);
        break;
    }
}

void etlheap_json_measures(etlheap_json *json, const report_columns *columns,
                           const etlheap_row *row)
{
    for (u32 i = 0; i < columns->count; i++) {
        const u8 m = columns->at[i];
        const char *const word = etlheap_measure_word((etlheap_measure)m);
        etlheap_json_known(json, word, etlheap_shown_measure(row->kind, m, row->measures[m]));
    }
    if (columns->has_marks && row->grows_most)
        etlheap_json_bool(json, etlheap_field_key(ETLHEAP_FIELD_GROWS_MOST), true);
}

/* Writes a site in one line, so that it needs no list of frames. Columns of Parquet have the same
 * names. */
static void write_site(etlheap_json *json, const etlheap_frame *frame)
{
    const bool has_line = frame != NULL && frame->line != 0;
    etlheap_json_string(json, etlheap_field_key(ETLHEAP_FIELD_MODULE),
                        frame != NULL ? frame->module : NULL);
    etlheap_json_string(json, etlheap_field_key(ETLHEAP_FIELD_FUNCTION),
                        frame != NULL ? frame->symbol : NULL);
    etlheap_json_string(json, etlheap_field_key(ETLHEAP_FIELD_FILE), has_line ? frame->file : NULL);
    if (has_line)
        etlheap_json_u64(json, etlheap_field_key(ETLHEAP_FIELD_LINE), frame->line);
    else
        etlheap_json_null(json, etlheap_field_key(ETLHEAP_FIELD_LINE));
}

void etlheap_json_stack_texts(etlheap_json *json, const etlheap_table *table,
                              const etlheap_row *row, etlheap_frame_texts *texts)
{
    const char *const word = etlheap_key_word(etlheap_stack_key(table));
    const etlheap_indices frames = etlheap_row_frames(table, row);
    if (row->stack == ETLHEAP_NO_INDEX) {
        etlheap_json_null(json, word);
        write_site(json, NULL);
        return;
    }
    etlheap_json_array(json, word);
    for (u32 i = 0; i < frames.count; i++) {
        const etl_bytes frame = etlheap_frame_texts_of(texts, table, frames.at[i]);
        etlheap_json_string_bytes(json, NULL, (const char *)frame.at, frame.size);
    }
    etlheap_json_array_close(json);
    write_site(json, frames.count > 0 ? &table->frames[frames.at[0]] : NULL);
}

void etlheap_json_free_keys(etlheap_json *json, const etlheap_table *table, const etlheap_row *row,
                            etlheap_key key, etlheap_frame_texts *texts)
{
    const char *const word = etlheap_key_word(key);
    const etlheap_key_value value = etlheap_row_value(row, key);
    const u32 site = (u32)value.number;
    const bool is_stack = value.form == ETLHEAP_FORM_STACK;
    const etlheap_indices frames =
        is_stack ? etlheap_stack_members(table, site) : (etlheap_indices){ &site, 1 };
    if (!value.is_known) {
        etlheap_json_null(json, word);
        return;
    }
    if (is_stack)
        etlheap_json_array(json, word);
    for (u32 i = 0; i < frames.count; i++) {
        const etl_bytes frame = etlheap_frame_texts_of(texts, table, frames.at[i]);
        etlheap_json_string_bytes(json, is_stack ? NULL : word, (const char *)frame.at, frame.size);
    }
    if (is_stack)
        etlheap_json_array_close(json);
}

/* Indices and thread ids alike: all bits set means none. */
static void write_index(etlheap_json *json, const char *key, u32 index)
{
    static_assert(ETLHEAP_NO_INDEX == UINT32_MAX && ETL_NO_ID == UINT32_MAX, "one value for none");
    if (index == UINT32_MAX)
        etlheap_json_null(json, key);
    else
        etlheap_json_u64(json, key, index);
}

/* Writes the window. Kinds may have their own moments, which are written with the totals. */
void etlheap_json_window(etlheap_json *json, const etlheap_result *result,
                         const etlheap_table *table)
{
    i64 at_ns = 0;
    etlheap_json_window_open(json, result, table->from_ns, table->to_ns);
    if (etlheap_table_moment(table, &at_ns))
        etlheap_json_i64(json, "at_ns", at_ns);
    if (table->at_end && json->peak_of)
        etlheap_json_string(json, "peak_of", json->peak_of);
    etlheap_json_object_close(json);
}

void etlheap_json_group_by(etlheap_json *json, const etlheap_table *table)
{
    etlheap_json_array(json, "group_by");
    for (u32 i = 0; i < table->group_by_count; i++)
        etlheap_json_string(json, NULL, etlheap_key_word(table->group_by[i]));
    etlheap_json_array_close(json);
}
