/*
 * utf16.c - converts text of a trace to UTF-8, takes strings out of payloads, formats GUIDs.
 *
 * In: UTF-16 or bytes in an unknown code page, maybe invalid. Out: UTF-8 in a buffer of the caller,
 * and the length that all of it needs.
 *
 *     decode one code point ──▶ writer: counts all bytes, stores whole characters while they fit
 *
 * So a caller can ask for the length first, or use a fixed buffer. Invariant: what is written ends
 * with a NUL, is a prefix of the text, and was never cut inside a character.
 */
#include "parser/cursor.h"
#include "parser/parser.h"
#include "utf8.h"

#define REPLACEMENT_CHARACTER 0xfffdu

typedef struct text_writer {
    char *out;
    size_t capacity; /* with the NUL; 0 writes nothing */
    size_t written;
    size_t needed;
    bool is_full;
} text_writer;

static u32 take_utf16(etl_cursor *c);
static u32 take_text(etl_cursor *c);
static bool take_continuation(etl_cursor *c, u32 *code_point);
static void write_code_point(text_writer *writer, u32 code_point);
static size_t finish(text_writer *writer);

size_t etl_utf16_to_utf8(etl_bytes utf16, char *out, size_t capacity)
{
    text_writer writer = { out, capacity, 0, 0, false };
    etl_cursor c = etl_cursor_of(utf16);
    while (c.left > 0)
        write_code_point(&writer, take_utf16(&c));
    return finish(&writer);
}

size_t etl_text_to_utf8(etl_bytes text, char *out, size_t capacity)
{
    text_writer writer = { out, capacity, 0, 0, false };
    etl_cursor c = etl_cursor_of(text);
    while (c.left > 0)
        write_code_point(&writer, take_text(&c));
    return finish(&writer);
}

void etl_guid_format(const u8 *guid, char out[ETL_GUID_TEXT_SIZE])
{
    static const char digits[] = "0123456789abcdef";
    /* The first three parts are little-endian numbers, the rest is bytes. */
    static const u8 order[16] = { 3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15 };
    for (size_t i = 0; i < ETL_COUNT_OF(order); i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            *out++ = '-';
        *out++ = digits[guid[order[i]] >> 4];
        *out++ = digits[guid[order[i]] & 15];
    }
    *out = '\0';
}

etl_bytes etl_string8(etl_cursor *c)
{
    if (c->left == 0)
        return etl_rest(c);
    const u8 *const nul = memchr(c->at, 0, c->left);
    if (nul == NULL)
        return etl_rest(c);
    const etl_bytes text = etl_view(c, (size_t)(nul - c->at));
    etl_skip(c, 1);
    return text;
}

/* Takes a string. An odd byte behind the last unit is left in the cursor. */
etl_bytes etl_string16(etl_cursor *c)
{
    const size_t unit_bytes = c->left & ~(size_t)1;
    for (size_t size = 0; size < unit_bytes; size += 2) {
        if (c->at[size] != 0 || c->at[size + 1] != 0)
            continue;
        const etl_bytes text = etl_view(c, size);
        etl_skip(c, 2);
        return text;
    }
    return etl_view(c, unit_bytes);
}

static u32 take_utf16(etl_cursor *c)
{
    if (c->left < 2) {
        etl_skip(c, 1);
        return REPLACEMENT_CHARACTER;
    }
    const u32 unit = etl_u16(c);
    if ((unit & 0xf800) != 0xd800)
        return unit;
    if ((unit & 0x0400) != 0 || c->left < 2)
        return REPLACEMENT_CHARACTER;
    etl_cursor ahead = *c;
    const u32 low = etl_u16(&ahead);
    if ((low & 0xfc00) != 0xdc00)
        return REPLACEMENT_CHARACTER;
    *c = ahead;
    return 0x10000 + ((unit & 0x3ff) << 10) + (low & 0x3ff);
}

/*
 * Takes a character. A byte that does not begin a valid UTF-8 sequence is taken as Latin-1 by
 * itself: the next byte may be valid again. Overlong forms, surrogates and values above U+10FFFF
 * are not valid.
 */
static u32 take_text(etl_cursor *c)
{
    static const u32 least[4] = { 0, 0x80, 0x800, 0x10000 };
    const u32 lead = etl_u8(c);
    if (lead < 0xc2 || lead > 0xf4)
        return lead;
    const unsigned following = lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;
    u32 code_point = lead & (0x3fu >> following);
    etl_cursor ahead = *c;
    for (unsigned i = 0; i < following; i++) {
        if (!take_continuation(&ahead, &code_point))
            return lead;
    }
    if (code_point < least[following] || code_point > 0x10ffff || (code_point & ~0x7ffu) == 0xd800)
        return lead;
    *c = ahead;
    return code_point;
}

static bool take_continuation(etl_cursor *c, u32 *code_point)
{
    const u8 byte = etl_u8(c);
    if (!etl_ok(c) || (byte & 0xc0) != 0x80)
        return false;
    *code_point = *code_point << 6 | (byte & 0x3fu);
    return true;
}

static void write_code_point(text_writer *writer, u32 code_point)
{
    u8 bytes[ETL_UTF8_BYTES_MAX];
    const size_t size = etl_utf8_encode(code_point, bytes);
    writer->needed += size;
    if (writer->is_full || size >= writer->capacity - writer->written) {
        writer->is_full = true;
        return;
    }
    memcpy(writer->out + writer->written, bytes, size);
    writer->written += size;
}

static size_t finish(text_writer *writer)
{
    if (writer->capacity > 0)
        writer->out[writer->written] = '\0';
    return writer->needed;
}
