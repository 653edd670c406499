/*
 * text_buffer.h - growing texts, and labels of rows.
 *
 * Running out of memory is sticky (`failed`): writers append without checks and check once at the
 * end.
 */
#ifndef ETLHEAP_TEXT_BUFFER_H
#define ETLHEAP_TEXT_BUFFER_H

#include "formats/formats.h"

#include "parser/base.h"

void etlheap_text_clear(etlheap_text *text);
void etlheap_text_add(etlheap_text *text, const char *bytes, size_t size);
void etlheap_text_add_string(etlheap_text *text, const char *string);
void etlheap_text_add_format(etlheap_text *text, const char *format, ...) ETL_PRINTF(2, 3);

/* Appends text converted to UTF-8. Invalid UTF-16 becomes U+FFFD; bytes that are not UTF-8 are read
 * as Latin-1. */
void etlheap_text_add_utf16(etlheap_text *text, etl_bytes utf16);
void etlheap_text_add_text8(etlheap_text *text, etl_bytes text8);

/* The text; "" when empty. Valid until the next change. */
const char *etlheap_text_of(const etlheap_text *text);

/* True if the frame stands for its module, of which it is all that is known. */
static inline bool etlheap_frame_is_module(const etlheap_frame *frame)
{
    return frame->module && !frame->symbol && frame->offset == ETLHEAP_NO_ADDRESS;
}

/* "app.exe!Leaky::grow", "app.exe+0x1a2b", "app.exe" or "0x7ff612340000". A guess, the nearest
 * symbol, shows as debuggers show it: "app.exe!grow+0x123". */
void etlheap_text_add_frame(etlheap_text *text, const etlheap_frame *frame);

/* Appends a frame for tables, the function first: "Leaky::grow (app.exe)". */
void etlheap_text_add_function(etlheap_text *text, const etlheap_frame *frame);

/* Appends the lines of a frame, which must be known: "leak.cpp:41, 45". */
void etlheap_text_add_lines(etlheap_text *text, const etlheap_frame *frame);

/* Appends the numbers of the lines that are in the frame's own file: "41, 45". */
void etlheap_text_add_line_numbers(etlheap_text *text, const etlheap_frame *frame);

/* Appends " leak.cpp:42" if the line is known, and " [inlined]" for inlined calls. */
void etlheap_text_add_source(etlheap_text *text, const etlheap_frame *frame);

/* Appends the name of a heap: "0x1f0000", "mimalloc". */
void etlheap_text_add_heap(etlheap_text *text, u64 handle);

/* Appends a mark as "load" or "load#2". NULL: nothing. */
void etlheap_text_add_mark(etlheap_text *text, const char *mark, u32 number);

/* True if the values of a key are frames or stacks of the table. */
bool etlheap_key_has_frames(etlheap_key key);

/* The frame of a value, of a stack the innermost one; ETLHEAP_NO_INDEX: none, or not a frame. */
u32 etlheap_key_frame(const etlheap_table *table, const etlheap_key_value *value);

/* Appends the value of a row's key for people: "app.exe (4321)", "0x1f0000", "AIFO". Stacks, frames
 * and sites are shown as their innermost frame. */
void etlheap_text_add_key(etlheap_text *text, const etlheap_table *table, const etlheap_row *row,
                          etlheap_key key);

/* Frames of a stack, innermost first, as indices into table->frames. */
typedef struct etlheap_indices {
    const u32 *at;
    u32 count;
} etlheap_indices;

/* The frames of a stack of the table; none for ETLHEAP_NO_INDEX. */
etlheap_indices etlheap_stack_members(const etlheap_table *table, u32 stack);

/* The frames of a row's stack; none if it has no stack, or the table has none. */
etlheap_indices etlheap_row_frames(const etlheap_table *table, const etlheap_row *row);

/* The key whose stack the rows have: IMPACTING_STACK, or else STACK. */
etlheap_key etlheap_stack_key(const etlheap_table *table);

#endif
