/*
 * text_buffer.c - text that grows, and the labels of rows.
 *
 * In: bytes, formats, UTF-16, and keys of rows. Out: one NUL-terminated text.
 *
 * etlheap_text_add_key is the one place that says how each key looks, for the outline, the tree,
 * CSV and tables alike. Invariant: running out of memory is sticky (`failed`): writers add text
 * without checks and ask once at the end. After a failure the text is still valid, only incomplete.
 */
#include "text_buffer.h"

#include "units.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define TEXT_FIRST_CAPACITY 256

typedef size_t convert_fn(etl_bytes from, char *out, size_t capacity);

static bool reserve(etlheap_text *text, size_t more);
static void add_converted(etlheap_text *text, etl_bytes bytes, convert_fn *convert);
static void add_thread(etlheap_text *text, const etlheap_key_value *thread);
static void add_size_class(etlheap_text *text, u64 size_bytes);
static void add_generation(etlheap_text *text, const etlheap_row *row);

void etlheap_text_free(etlheap_text *text)
{
    free(text->bytes);
    *text = (etlheap_text){ 0 };
}

void etlheap_text_clear(etlheap_text *text)
{
    text->size = 0;
    if (text->bytes)
        text->bytes[0] = '\0';
}

void etlheap_text_add(etlheap_text *text, const char *bytes, size_t size)
{
    if (!reserve(text, size))
        return;
    memcpy(text->bytes + text->size, bytes, size);
    text->size += size;
    text->bytes[text->size] = '\0';
}

void etlheap_text_add_string(etlheap_text *text, const char *string)
{
    etlheap_text_add(text, string, strlen(string));
}

void etlheap_text_add_format(etlheap_text *text, const char *format, ...)
{
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    const int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    assert(length >= 0);
    if (length > 0 && reserve(text, (size_t)length)) {
        (void)vsnprintf(text->bytes + text->size, (size_t)length + 1, format, again);
        text->size += (size_t)length;
    }
    va_end(again);
}

void etlheap_text_add_utf16(etlheap_text *text, etl_bytes utf16)
{
    add_converted(text, utf16, etl_utf16_to_utf8);
}

void etlheap_text_add_text8(etlheap_text *text, etl_bytes text8)
{
    add_converted(text, text8, etl_text_to_utf8);
}

const char *etlheap_text_of(const etlheap_text *text)
{
    return text->bytes ? text->bytes : "";
}

void etlheap_text_add_frame(etlheap_text *text, const etlheap_frame *frame)
{
    if (!frame->module && frame->address == ETLHEAP_NO_ADDRESS) {
        etlheap_text_add_string(text, "outside of modules");
        return;
    }
    if (!frame->module) {
        etlheap_text_add_format(text, "0x%" PRIx64, frame->address);
        return;
    }
    etlheap_text_add_string(text, frame->module);
    if (etlheap_frame_is_module(frame))
        return;
    if (!frame->symbol) {
        etlheap_text_add_format(text, "+0x%" PRIx64, frame->offset);
        return;
    }
    etlheap_text_add_string(text, "!");
    etlheap_text_add_string(text, frame->symbol);
    if (frame->is_nearest)
        etlheap_text_add_format(text, "+0x%" PRIx64, frame->displacement);
}

void etlheap_text_add_function(etlheap_text *text, const etlheap_frame *frame)
{
    if (!frame->module || !frame->symbol) {
        etlheap_text_add_frame(text, frame);
        return;
    }
    etlheap_text_add_string(text, frame->symbol);
    if (frame->is_nearest)
        etlheap_text_add_format(text, "+0x%" PRIx64, frame->displacement);
    etlheap_text_add_string(text, " (");
    etlheap_text_add_string(text, frame->module);
    etlheap_text_add_string(text, ")");
}

void etlheap_text_add_heap(etlheap_text *text, u64 handle)
{
    char name[ETLHEAP_HEAP_NAME_SIZE];
    etlheap_heap_name(handle, name);
    etlheap_text_add_string(text, name);
}

static void add_file(etlheap_text *text, const char *file)
{
    const char *name = file;
    for (const char *at = file; *at != '\0'; at++) {
        if (*at == '/' || *at == '\\')
            name = at + 1;
    }
    etlheap_text_add_string(text, name);
}

void etlheap_text_add_lines(etlheap_text *text, const etlheap_frame *frame)
{
    const etlheap_source_line one = { frame->file, frame->line };
    const etlheap_source_line *const lines = frame->lines ? frame->lines : &one;
    const u32 count = frame->lines ? frame->line_count : 1;
    for (u32 i = 0; i < count; i++) {
        const bool is_same = i > 0 && strcmp(lines[i].file, lines[i - 1].file) == 0;
        etlheap_text_add_string(text, i > 0 ? ", " : "");
        if (!is_same)
            add_file(text, lines[i].file);
        etlheap_text_add_format(text, is_same ? "%" PRIu32 : ":%" PRIu32, lines[i].line);
    }
}

void etlheap_text_add_line_numbers(etlheap_text *text, const etlheap_frame *frame)
{
    bool any = false;
    if (frame->lines == NULL)
        etlheap_text_add_format(text, "%" PRIu32, frame->line);
    for (u32 i = 0; i < frame->line_count; i++) {
        if (strcmp(frame->lines[i].file, frame->file) != 0)
            continue;
        etlheap_text_add_format(text, any ? ", %" PRIu32 : "%" PRIu32, frame->lines[i].line);
        any = true;
    }
}

void etlheap_text_add_source(etlheap_text *text, const etlheap_frame *frame)
{
    if (frame->line != 0 || frame->lines != NULL) {
        etlheap_text_add_string(text, "  ");
        etlheap_text_add_lines(text, frame);
    }
    if (frame->is_inlined)
        etlheap_text_add_string(text, "  [inlined]");
}

bool etlheap_key_has_frames(etlheap_key key)
{
    const etlheap_key_form form = etlheap_key_form_of(key);
    return form == ETLHEAP_FORM_STACK || form == ETLHEAP_FORM_FRAME;
}

u32 etlheap_key_frame(const etlheap_table *table, const etlheap_key_value *value)
{
    if (value->form == ETLHEAP_FORM_FRAME)
        return table && value->number < table->frame_count ? (u32)value->number : ETLHEAP_NO_INDEX;
    if (value->form != ETLHEAP_FORM_STACK)
        return ETLHEAP_NO_INDEX;
    const etlheap_indices frames = etlheap_stack_members(table, (u32)value->number);
    return frames.count > 0 ? frames.at[0] : ETLHEAP_NO_INDEX;
}

/* Adds a key. This is the only place that says how a key looks. */
void etlheap_text_add_key(etlheap_text *text, const etlheap_table *table, const etlheap_row *row,
                          etlheap_key key)
{
    const etlheap_key_value value = etlheap_row_value(row, key);
    const u32 frame = etlheap_key_frame(table, &value);
    switch (value.form) {
    case ETLHEAP_FORM_PROCESS:
        etlheap_text_add_string(text, value.text);
        if (value.number != ETL_NO_ID)
            etlheap_text_add_format(text, " (%" PRIu64 ")", value.number);
        break;
    case ETLHEAP_FORM_HEAP:
        if (value.text != NULL)
            etlheap_text_add_string(text, value.text);
        else if (value.is_known)
            etlheap_text_add_heap(text, value.number);
        break;
    case ETLHEAP_FORM_STACK:
    case ETLHEAP_FORM_FRAME:
        if (frame != ETLHEAP_NO_INDEX)
            etlheap_text_add_frame(text, &table->frames[frame]);
        else
            etlheap_text_add_string(text, value.missing);
        break;
    case ETLHEAP_FORM_THREAD:
        add_thread(text, &value);
        break;
    case ETLHEAP_FORM_SIZE:
        add_size_class(text, value.number);
        break;
    case ETLHEAP_FORM_GENERATION:
        add_generation(text, row);
        break;
    case ETLHEAP_FORM_KIND:
    case ETLHEAP_FORM_TYPE:
    case ETLHEAP_FORM_NAME:
    case ETLHEAP_FORM_TYPE_NAME:
        etlheap_text_add_string(text, value.is_known ? value.text : value.missing);
        if (value.detail != NULL)
            etlheap_text_add_format(text, " (%s)", value.detail);
        break;
    }
}

void etlheap_text_add_mark(etlheap_text *text, const char *mark, u32 number)
{
    etlheap_text_add_string(text, mark ? mark : "");
    if (number > 1)
        etlheap_text_add_format(text, "#%" PRIu32, number);
}

etlheap_indices etlheap_stack_members(const etlheap_table *table, u32 stack)
{
    if (stack == ETLHEAP_NO_INDEX || stack >= table->stack_count)
        return (etlheap_indices){ NULL, 0 };
    const u32 start = table->stack_starts[stack];
    const u32 end = table->stack_starts[stack + 1];
    return (etlheap_indices){ table->frame_indices + start, end - start };
}

etlheap_key etlheap_stack_key(const etlheap_table *table)
{
    for (u32 k = 0; k < table->group_by_count; k++) {
        if (etlheap_key_is_stack(table->group_by[k]))
            return table->group_by[k];
    }
    return ETLHEAP_KEY_STACK;
}

etlheap_indices etlheap_row_frames(const etlheap_table *table, const etlheap_row *row)
{
    return etlheap_stack_members(table, row->stack);
}

/* Room for `more` bytes and a NUL. */
static bool reserve(etlheap_text *text, size_t more)
{
    if (text->failed)
        return false;
    const size_t left = text->capacity - text->size;
    if (more < left)
        return true;
    size_t capacity = text->capacity ? text->capacity : TEXT_FIRST_CAPACITY;
    while (capacity - text->size <= more && capacity <= SIZE_MAX / 2)
        capacity *= 2;
    char *const bytes = capacity - text->size > more ? realloc(text->bytes, capacity) : NULL;
    if (!bytes) {
        text->failed = true;
        return false;
    }
    text->bytes = bytes;
    text->capacity = capacity;
    return true;
}

/* Asks for the length first: text from a file may be any size. */
static void add_converted(etlheap_text *text, etl_bytes bytes, convert_fn *convert)
{
    const size_t size = convert(bytes, NULL, 0);
    if (!reserve(text, size))
        return;
    convert(bytes, text->bytes + text->size, size + 1);
    text->size += size;
    text->bytes[text->size] = '\0';
}

/* Adds a thread like a process: "Worker (8888)". */
static void add_thread(etlheap_text *text, const etlheap_key_value *thread)
{
    if (!thread->is_known)
        etlheap_text_add_string(text, thread->missing);
    else if (thread->text != NULL)
        etlheap_text_add_format(text, "%s (%" PRIu64 ")", thread->text, thread->number);
    else
        etlheap_text_add_format(text, "%" PRIu64, thread->number);
}

/* Adds a generation by the mark that begins it, in the form that a time option takes, with its
 * number, because names may be long. */
static void add_generation(etlheap_text *text, const etlheap_row *row)
{
    etlheap_text_add_format(text, "%" PRIu32 " ", row->generation);
    if (row->mark != NULL)
        etlheap_text_add_mark(text, row->mark, row->mark_number);
    else
        etlheap_text_add_string(text, "[before the first mark]");
}

/* Adds a size class, which is a power of two. */
static void add_size_class(etlheap_text *text, u64 size_bytes)
{
    char size[ETLHEAP_UNITS_SIZE];
    etlheap_units_size((i64)etl_min_u64(size_bytes, INT64_MAX), size);
    etlheap_text_add_string(text, size);
}
