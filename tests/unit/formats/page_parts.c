/*
 * page_parts.c - see page_parts.h. Written apart from the packer: base64 bit by bit, and zlib's
 * own inflate.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "page_parts.h"

#include "parser/base.h"

#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>

#define PART_BYTES_MAX 8000000u

static size_t decode(const char *at, u8 *out)
{
    static const char alphabet[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t size = 0;
    for (u32 bits = 0, count = 0; *at != '"' && *at != '='; at++) {
        bits = bits << 6 | (u32)(strchr(alphabet, *at) - alphabet);
        count += 6;
        if (count >= 8) {
            count -= 8;
            out[size++] = (u8)(bits >> count);
        }
    }
    return size;
}

char *page_part(const char **at, const char *key)
{
    char start[64];
    snprintf(start, sizeof start, "\"%s\": \"", key);
    const char *const found = strstr(*at, start);
    if (found == NULL)
        return NULL;
    *at = found + strlen(start);
    const size_t length = strcspn(*at, "\"");
    u8 *const packed = calloc(1, length + 1);
    char *const text = calloc(1, PART_BYTES_MAX + 1);
    assert_true(packed != NULL && text != NULL);
    z_stream stream = { .next_in = packed,
                        .avail_in = (uInt)decode(*at, packed),
                        .next_out = (Bytef *)text,
                        .avail_out = PART_BYTES_MAX };
    assert_int_equal(inflateInit2(&stream, -15), Z_OK);
    assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
    (void)inflateEnd(&stream);
    free(packed);
    *at += length;
    return text;
}
