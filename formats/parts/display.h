/*
 * display.h - text from files, made fit for a terminal.
 *
 * Names in a trace may hold anything, also the escape sequences that move a
 * cursor or retitle a window. What is shown is printable text only, and its
 * width is known.
 */
#ifndef ETLHEAP_DISPLAY_H
#define ETLHEAP_DISPLAY_H

#include "formats/formats.h"

/* A character of display text: its bytes and the columns it takes. */
typedef struct etlheap_glyph {
    size_t size; /* bytes, at least 1 */
    u32 columns; /* 0 (combining), 1 or 2 (wide) */
    bool shown;  /* false: no valid UTF-8, or a control character */
} etlheap_glyph;

/* The first character of text; size > 0. */
etlheap_glyph etlheap_glyph_at(const char *text, size_t size);

/* Appends text with all that may not be shown replaced by U+FFFD. */
void etlheap_display_add(etlheap_text *to, const char *text);

/* Columns that display text takes. */
u32 etlheap_display_width(const char *text, size_t size);

/* Bytes of the longest beginning that takes at most `columns`. */
size_t etlheap_display_fit(const char *text, size_t size, u32 columns);

/*
 * Writes words as printable text in lines of at most `width` columns (0: one line), the
 * lines after the first indented by `indent`; `column` is where the first begins. A name with
 * the arguments of its templates is one word.
 */
void etlheap_display_wrap(etlheap_sink *sink, const char *words, u32 column, u32 indent, u32 width);

#endif
