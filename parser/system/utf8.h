/* utf8.h - writes a code point as UTF-8. Private to the parser. */
#ifndef ETL_UTF8_H
#define ETL_UTF8_H

#include "parser/base.h"

#define ETL_UTF8_BYTES_MAX 4u

/* Writes a code point up to U+10FFFF; returns the number of bytes. Source: RFC 3629, section 3. */
static inline size_t etl_utf8_encode(u32 code_point, u8 bytes[ETL_UTF8_BYTES_MAX])
{
    if (code_point < 0x80) {
        bytes[0] = (u8)code_point;
        return 1;
    }
    const size_t size = code_point < 0x800 ? 2 : code_point < 0x10000 ? 3 : 4;
    for (size_t i = size - 1; i > 0; i--) {
        bytes[i] = (u8)(0x80 | (code_point & 0x3f));
        code_point >>= 6;
    }
    const u32 lead_mark = 0xf00u >> size; /* 110, 1110 or 11110 in the low byte */
    bytes[0] = (u8)((lead_mark & 0xff) | code_point);
    return size;
}

#endif
