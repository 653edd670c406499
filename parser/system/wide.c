/*
 * wide.c - see wide.h.
 */
#include "wide.h"

static u32 take_code_point(const u8 **at);

size_t etl_utf8_to_wide(const char *text, u16 *out, size_t capacity, bool *valid)
{
    const u8 *at = (const u8 *)text;
    size_t needed = 0;
    *valid = true;
    while (*at != 0) {
        const u32 code_point = take_code_point(&at);
        const bool is_pair = code_point >= 0x10000;
        if (code_point == 0) {
            *valid = false;
            needed = 0;
            break;
        }
        if (needed + is_pair + 1 < capacity && is_pair) {
            out[needed] = (u16)(0xd800 + ((code_point - 0x10000) >> 10));
            out[needed + 1] = (u16)(0xdc00 + ((code_point - 0x10000) & 0x3ff));
        } else if (needed + 1 < capacity && !is_pair) {
            out[needed] = (u16)code_point;
        }
        needed += is_pair ? 2 : 1;
    }
    if (capacity > 0)
        out[needed < capacity ? needed : capacity - 1] = 0;
    return needed;
}

/* 0 when the next bytes are no character; *at is behind it. The NUL ends every
 * character that is cut, because it is no continuation. */
static u32 take_code_point(const u8 **at)
{
    static const u32 least_of_size[] = { 0, 0, 0x80, 0x800, 0x10000 };
    const u8 first = *(*at)++;
    if (first < 0x80)
        return first;
    const u32 size = first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
    if (size == 0)
        return 0;
    u32 code_point = first & (0xffu >> (size + 1));
    for (u32 i = 1; i < size; i++) {
        if ((**at & 0xc0) != 0x80)
            return 0;
        code_point = code_point << 6 | (*(*at)++ & 0x3fu);
    }
    const bool is_surrogate = code_point >= 0xd800 && code_point < 0xe000;
    return code_point < least_of_size[size] || is_surrogate || code_point > 0x10ffff ? 0
                                                                                     : code_point;
}

const char *etl_wide_prefix(const u16 *full, size_t *skip)
{
    const bool is_share = full[0] == '\\' && full[1] == '\\';
    *skip = 0;
    if (is_share && (full[2] == '?' || full[2] == '.') && full[3] == '\\')
        return "";
    if (!is_share)
        return "\\\\?\\";
    *skip = 1;
    return "\\\\?\\UNC";
}
