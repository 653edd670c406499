/*
 * cursor.h - the only way to read bytes of a file.
 *
 * A cursor is the unread rest of a byte range. Reading past the end empties it and marks it as
 * failed. Every later read fails too and returns 0, so a decoder reads all its fields and calls
 * etl_ok() once at the end:
 *
 *     etl_need(&c, 16);                 // one check, lets the compiler drop the others
 *     const u64 base = etl_u64(&c);     // one read per statement, never two:
 *     const u64 size = etl_u64(&c);     // C leaves the order inside one open
 *     return etl_ok(&c);
 *
 * It is {at, left} rather than {at, end}, because then compilers can prove after etl_need() that
 * later checks succeed. A failed cursor has at == NULL.
 */
#ifndef ETL_CURSOR_H
#define ETL_CURSOR_H

#include "base.h"
#include "parser.h"

typedef struct etl_cursor {
    const u8 *at;
    size_t left;
} etl_cursor;

static inline etl_cursor etl_cursor_of(etl_bytes bytes)
{
    static const u8 nothing[1];
    return (etl_cursor){ bytes.at ? bytes.at : nothing, bytes.at ? bytes.size : 0 };
}

static inline bool etl_ok(const etl_cursor *c)
{
    return c->at != NULL;
}

static inline void etl_fail(etl_cursor *c)
{
    *c = (etl_cursor){ NULL, 0 };
}

/* Fails the cursor unless it has n more bytes. */
static inline bool etl_need(etl_cursor *c, size_t n)
{
    if (n > c->left) {
        etl_fail(c);
        return false;
    }
    return true;
}

/* Takes the next n bytes; NULL if there are fewer. The only function that moves a cursor. */
static inline const u8 *etl_take(etl_cursor *c, size_t n)
{
    if (n > c->left) {
        etl_fail(c);
        return NULL;
    }
    const u8 *const p = c->at;
    if (n > 0) {
        c->at += n;
        c->left -= n;
    }
    return p;
}

static inline void etl_skip(etl_cursor *c, size_t n)
{
    (void)etl_take(c, n);
}

static inline u8 etl_u8(etl_cursor *c)
{
    const u8 *const p = etl_take(c, 1);
    return p ? *p : 0;
}

static inline u16 etl_u16(etl_cursor *c)
{
    const u8 *const p = etl_take(c, 2);
    return p ? etl_load_u16(p) : 0;
}

static inline u32 etl_u32(etl_cursor *c)
{
    const u8 *const p = etl_take(c, 4);
    return p ? etl_load_u32(p) : 0;
}

static inline u64 etl_u64(etl_cursor *c)
{
    const u8 *const p = etl_take(c, 8);
    return p ? etl_load_u64(p) : 0;
}

/* A pointer-sized field of the *traced* system: width is 4 or 8. */
static inline u64 etl_pointer(etl_cursor *c, unsigned width)
{
    return width == 4 ? etl_u32(c) : etl_u64(c);
}

/* A view of the next n bytes; {NULL, 0} if there are fewer. */
static inline etl_bytes etl_view(etl_cursor *c, size_t n)
{
    const u8 *const p = etl_take(c, n);
    return (etl_bytes){ p, p ? n : 0 };
}

/* A view of all bytes that are left. */
static inline etl_bytes etl_rest(etl_cursor *c)
{
    return etl_view(c, c->left);
}

/*
 * A string that ends at its NUL or at the end of the range, because ETW writers sometimes leave out
 * final NULs. The NUL is consumed, but not part of the view. UTF-16 units are two bytes; an odd
 * last byte stays.
 */
etl_bytes etl_string8(etl_cursor *c);
etl_bytes etl_string16(etl_cursor *c);

#endif
