/*
 * undecorate_literal.c - symbols of string literals: ??_C@_0M@LACCCNMM@hello?5world?$AA@
 *
 *     <literal> ::= @_ [01] <size> <hash> @ <character>* @
 *
 * In: the bytes of the symbol. Out: the literal as it would stand in C.
 *
 * 1 is wchar_t, written most significant byte first; 0 is everything else. The size is in bytes,
 * and at most 32 bytes of characters (wchar_t: 32 characters) are given. So the width of the
 * characters of a 0 must be guessed from zero bytes. Invariant: checking and showing are one walk,
 * so a literal that was accepted can always be printed.
 * Source: clang lib/AST/MicrosoftMangle.cpp, mangleStringLiteral.
 */
#include "undecorate_print.h"

enum {
    BYTES_MAX = 128,     /* some compilers wrote more than 32 */
    WHOLE_BYTES_MAX = 32 /* a literal shorter than this is here to its end */
};

typedef struct literal {
    u64 size_left; /* bytes of the literal, its final zero included */
    bool is_wide;
    bool is_truncated;
    unsigned count;
    u8 bytes[BYTES_MAX];
} literal;

static bool read_header(etl_cursor *in, literal *value);
static bool read_wide(etl_cursor *in, literal *value, und_text *out);
static bool read_narrow(etl_cursor *in, literal *value, und_text *out);
static bool read_size(etl_cursor *in, u64 *size);
static bool read_byte(etl_cursor *in, u8 *byte);
static unsigned guess_width(const literal *value);
static void put_character(und_text *out, u32 c);
static void put_hex(und_text *out, u32 c);

/* Checking and showing are one walk, so they cannot disagree. */
bool und_read_literal(etl_cursor *in, und_text *out)
{
    literal value = { 0 };
    if (!read_header(in, &value))
        return false;
    const bool is_read = value.is_wide ? read_wide(in, &value, out) : read_narrow(in, &value, out);
    if (is_read && out != NULL)
        und_put_words(out, value.is_truncated ? "\"..." : "\"");
    return is_read;
}

/* Reads the header. The hash may have any length and is not shown. */
static bool read_header(etl_cursor *in, literal *value)
{
    const u8 *const mark = etl_take(in, 3);
    if (mark == NULL || mark[0] != '@' || mark[1] != '_' || (mark[2] != '0' && mark[2] != '1'))
        return false;
    value->is_wide = mark[2] == '1';
    if (!read_size(in, &value->size_left) || value->size_left < (value->is_wide ? 2 : 1))
        return false;
    const u8 *const end = in->left > 0 ? memchr(in->at, '@', in->left) : NULL;
    if (end == NULL)
        return false;
    etl_skip(in, (size_t)(end - in->at) + 1);
    return in->left > 0;
}

/* The last character is the final zero, unless characters are missing. */
static bool read_wide(etl_cursor *in, literal *value, und_text *out)
{
    value->is_truncated = value->size_left > 64;
    if (out != NULL)
        und_put_words(out, "L\"");
    for (u64 left = value->size_left; in->left > 0; left -= 2) {
        if (in->at[0] == '@') {
            etl_skip(in, 1);
            return true;
        }
        u8 high = 0;
        u8 low = 0;
        if (left == 0 || left % 2 != 0 || !read_byte(in, &high) || !read_byte(in, &low))
            return false;
        if (out != NULL && (left != 2 || value->is_truncated))
            put_character(out, (u32)high << 8 | low);
    }
    return false;
}

/* The width is known only when all bytes have been seen, so they are collected. */
static bool read_narrow(etl_cursor *in, literal *value, und_text *out)
{
    static const char *const quotes[] = { "", "\"", "u\"", "", "U\"" };
    while (in->left > 0 && in->at[0] != '@') {
        if (value->count >= BYTES_MAX || !read_byte(in, &value->bytes[value->count]))
            return false;
        value->count++;
    }
    if (in->left == 0)
        return false;
    etl_skip(in, 1);
    if (out == NULL)
        return true;
    value->is_truncated = value->size_left > value->count;
    const unsigned width = guess_width(value);
    und_put_words(out, quotes[width]);
    const unsigned count = value->count / width;
    for (unsigned i = 0; i < count && (i + 1 < count || value->is_truncated); i++) {
        u32 c = 0;
        for (unsigned k = 0; k < width; k++)
            c |= (u32)value->bytes[i * width + k] << (8 * k);
        put_character(out, c);
    }
    return true;
}

/* Reads the size, a number that must not be negative. */
static bool read_size(etl_cursor *in, u64 *size)
{
    u8 c = etl_u8(in);
    *size = 0;
    if (c >= '0' && c <= '9') {
        *size = (u64)(c - '0') + 1;
        return true;
    }
    for (; c >= 'A' && c <= 'P'; c = etl_u8(in))
        *size = *size << 4 | (u64)(c - 'A');
    return c == '@';
}

/* Reads a byte. Letters, digits, '_' and '$' stand for themselves, as do bytes that are never
 * escaped. */
static bool read_byte(etl_cursor *in, u8 *byte)
{
    static const char punctuation[] = ",/\\:. \n\t'-";
    *byte = etl_u8(in);
    if (*byte != '?')
        return etl_ok(in);
    const u8 code = etl_u8(in);
    if (code == '$') {
        const u8 high = etl_u8(in);
        const u8 low = etl_u8(in);
        if (high < 'A' || high > 'P' || low < 'A' || low > 'P')
            return false;
        *byte = (u8)((unsigned)(high - 'A') << 4 | (unsigned)(low - 'A'));
        return true;
    }
    if (code >= '0' && code <= '9')
        *byte = (u8)punctuation[code - '0'];
    else if ((code >= 'a' && code <= 'z') || (code >= 'A' && code <= 'Z'))
        *byte = (u8)(code | 0x80); /* accented letters of Latin-1 */
    else
        return false;
    return true;
}

/* Zeros at the end of a whole literal tell the width; otherwise, how many there are. */
static unsigned guess_width(const literal *value)
{
    if (value->size_left % 2 != 0)
        return 1;
    unsigned zeros = 0;
    if (value->size_left < WHOLE_BYTES_MAX) {
        while (zeros < value->count && value->bytes[value->count - 1 - zeros] == 0)
            zeros++;
        return zeros >= 4 && value->size_left % 4 == 0 ? 4 : zeros >= 2 ? 2 : 1;
    }
    for (unsigned i = 0; i < value->count; i++)
        zeros += value->bytes[i] == 0;
    if (zeros >= 2 * value->count / 3 && value->size_left % 4 == 0)
        return 4;
    return zeros >= value->count / 3 ? 2 : 1;
}

/* Writes a character as in C. */
static void put_character(und_text *out, u32 c)
{
    static const char escaped[] = "\0'\"\\\a\b\f\n\r\t\v";
    static const char letters[] = "0'\"\\abfnrtv";
    const char *const row = c < 0x80 ? memchr(escaped, (int)c, sizeof escaped - 1) : NULL;
    if (row != NULL) {
        und_put_words(out, "\\");
        und_put(out, &letters[row - escaped], 1);
    } else if (c > 0x1f && c < 0x7f) {
        const char plain = (char)c;
        und_put(out, &plain, 1);
    } else {
        put_hex(out, c);
    }
}

/* As many bytes as are needed, two digits each. */
static void put_hex(und_text *out, u32 c)
{
    static const char digits[] = "0123456789ABCDEF";
    und_put_words(out, "\\x");
    unsigned shift = 32;
    while (shift > 8 && c >> (shift - 8) == 0)
        shift -= 8;
    for (; shift > 0; shift -= 4)
        und_put(out, &digits[c >> (shift - 4) & 15], 1);
}
