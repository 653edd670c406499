/*
 * display.c - makes text from files fit for a terminal, and measures its width.
 *
 * In: bytes of names, which may hold anything. Out: printable UTF-8 of known width.
 *
 *     etlheap_glyph_at    one character: its bytes, its columns (0, 1 or 2), whether it is shown
 *     everything else     a loop over glyphs
 *
 * Invariant: no control character, and none that reorders text, reaches a terminal: names in a
 * trace may contain escape sequences. Widths are an estimate by coarse blocks, good enough to align
 * names.
 */
#include "display.h"

#include "formats/io/text_buffer.h"
#include "formats/io/units.h"
#include "short_names.h"

typedef struct character_range {
    u32 first, last;
} character_range;

/*
 * Characters two columns wide, in coarse blocks: an estimate is enough to align
 * names, and an exact table would be larger than this file.
 * Source: Unicode Standard Annex 11 (East Asian Width), classes W and F.
 */
static const character_range wide[] = {
    { 0x1100, 0x115F },   { 0x2E80, 0x303E },   { 0x3041, 0xA4CF },   { 0xAC00, 0xD7A3 },
    { 0xF900, 0xFAFF },   { 0xFE30, 0xFE6F },   { 0xFF01, 0xFF60 },   { 0xFFE0, 0xFFE6 },
    { 0x1F300, 0x1F64F }, { 0x1F900, 0x1F9FF }, { 0x20000, 0x3FFFD },
};

/* Combining marks of the common scripts, joiners. */
static const character_range combining[] = {
    { 0x0300, 0x036F }, { 0x1AB0, 0x1AFF }, { 0x1DC0, 0x1DFF }, { 0x200B, 0x200D },
    { 0x20D0, 0x20FF }, { 0xFE00, 0xFE0F }, { 0xFE20, 0xFE2F },
};

/* Controls: C0 and C1, DEL, line separators, and marks that change the order of text. */
static const character_range hidden[] = {
    { 0x00, 0x1F },     { 0x7F, 0x9F },     { 0x200E, 0x200F },
    { 0x2028, 0x202E }, { 0x2066, 0x2069 }, { 0xFEFF, 0xFEFF },
};

static const char replacement[] = "\xEF\xBF\xBD"; /* U+FFFD */

static u32 decode(const char *text, size_t length);
static bool is_in(u32 character, const character_range *ranges, size_t count);

etlheap_glyph etlheap_glyph_at(const char *text, size_t size)
{
    const size_t length = etlheap_units_utf8_length(text, size);
    if (length == 0)
        return (etlheap_glyph){ .size = 1, .columns = 1 };
    const u32 character = decode(text, length);
    etlheap_glyph glyph = { .size = length, .columns = 1, .shown = true };
    if (is_in(character, hidden, ETL_COUNT_OF(hidden)))
        glyph.shown = false;
    else if (is_in(character, wide, ETL_COUNT_OF(wide)))
        glyph.columns = 2;
    else if (is_in(character, combining, ETL_COUNT_OF(combining)))
        glyph.columns = 0;
    return glyph;
}

/* The number of printable ASCII bytes in front, as nearly all are: each is shown in one column. */
static size_t plain_bytes(const char *text, size_t size)
{
    size_t count = 0;
    while (count < size && (u8)text[count] >= 0x20 && (u8)text[count] < 0x7F)
        count++;
    return count;
}

/* Text is copied in runs between the characters that are replaced. */
void etlheap_display_add(etlheap_text *to, const char *text)
{
    const size_t size = strlen(text);
    size_t run = 0;
    size_t at = plain_bytes(text, size);
    while (at < size) {
        const etlheap_glyph glyph = etlheap_glyph_at(text + at, size - at);
        if (!glyph.shown) {
            etlheap_text_add(to, text + run, at - run);
            etlheap_text_add_string(to, replacement);
            run = at + glyph.size;
        }
        at += glyph.size;
        at += plain_bytes(text + at, size - at);
    }
    etlheap_text_add(to, text + run, size - run);
}

void etlheap_sink_printable(etlheap_sink *sink, const char *text, size_t size)
{
    size_t run = 0;
    size_t at = plain_bytes(text, size);
    while (at < size) {
        const etlheap_glyph glyph = etlheap_glyph_at(text + at, size - at);
        if (!glyph.shown) {
            etlheap_sink_write(sink, text + run, at - run);
            etlheap_sink_text(sink, replacement);
            run = at + glyph.size;
        }
        at += glyph.size;
        at += plain_bytes(text + at, size - at);
    }
    etlheap_sink_write(sink, text + run, size - run);
}

u32 etlheap_display_width(const char *text, size_t size)
{
    u32 columns = 0;
    size_t at = 0;
    while (at < size) {
        const etlheap_glyph glyph = etlheap_glyph_at(text + at, size - at);
        columns += glyph.columns;
        at += glyph.size;
    }
    return columns;
}

size_t etlheap_display_fit(const char *text, size_t size, u32 columns)
{
    u32 used = 0;
    size_t at = 0;
    while (at < size) {
        const etlheap_glyph glyph = etlheap_glyph_at(text + at, size - at);
        used += glyph.columns;
        if (used > columns)
            break;
        at += glyph.size;
    }
    return at;
}

void etlheap_display_wrap(etlheap_sink *sink, const char *words, u32 column, u32 indent, u32 width)
{
    bool first = true;
    while (*words != '\0') {
        const size_t size = etlheap_display_word_size(words, strlen(words));
        const u32 columns = etlheap_display_width(words, size);
        if (!first && width > 0 && column + 1 + columns > width) {
            etlheap_sink_text(sink, "\n");
            etlheap_sink_fill(sink, ' ', indent);
            column = indent;
        } else if (!first) {
            etlheap_sink_text(sink, " ");
            column++;
        }
        etlheap_sink_printable(sink, words, size);
        column += columns;
        words += size;
        words += strspn(words, " ");
        first = false;
    }
    etlheap_sink_text(sink, "\n");
}

/* The code point of a valid character of 1 to 4 bytes. */
static u32 decode(const char *text, size_t length)
{
    static const u8 masks[] = { 0x7F, 0x1F, 0x0F, 0x07 };
    u32 character = (u8)text[0] & masks[length - 1];
    for (size_t i = 1; i < length; i++)
        character = character << 6 | ((u8)text[i] & 0x3F);
    return character;
}

/* Linear: the tables have a dozen rows, and most text is ASCII. */
static bool is_in(u32 character, const character_range *ranges, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (character >= ranges[i].first && character <= ranges[i].last)
            return true;
    }
    return false;
}
