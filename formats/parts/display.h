/*
 * display.h - makes text from files safe for a terminal.
 *
 * Names in a trace may contain anything, even escape sequences that move the cursor or rename the
 * window. Only printable text is shown, and its width is known.
 */
#ifndef ETLHEAP_DISPLAY_H
#define ETLHEAP_DISPLAY_H

#include "formats/formats.h"

#include "parser/base.h"

/* A character: its bytes and the columns it takes. */
typedef struct etlheap_glyph {
    size_t size; /* bytes, at least 1 */
    u32 columns; /* 0 (combining), 1 or 2 (wide) */
    bool shown;  /* false: invalid UTF-8, or a control character */
} etlheap_glyph;

/* The first character of `text`; size must be > 0. */
etlheap_glyph etlheap_glyph_at(const char *text, size_t size);

/* Appends text, with unprintable characters replaced by U+FFFD. */
void etlheap_display_add(etlheap_text *to, const char *text);

/* The number of columns that a text takes. */
u32 etlheap_display_width(const char *text, size_t size);

/* The bytes of the longest prefix that takes at most `columns`. */
size_t etlheap_display_fit(const char *text, size_t size, u32 columns);

/*
 * Writes words as printable text in lines of at most `width` columns (0: one line). The first line
 * begins at `column`, the others are indented by `indent`. A name with its template arguments is
 * one word.
 */
void etlheap_display_wrap(etlheap_sink *sink, const char *words, u32 column, u32 indent, u32 width);

#endif
