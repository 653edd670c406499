/*
 * demangle_inside.h - shared by the readers of names that are not Microsoft's.
 *
 * Each reader writes the text while it reads. Three limits keep hostile names cheap: the depth of
 * nesting, the size of the output, and the number of steps, because a reference back makes a reader
 * read a part again.
 */
#ifndef ETL_DEMANGLE_INSIDE_H
#define ETL_DEMANGLE_INSIDE_H

#include "parser/base.h"
#include "parser/undecorate.h"

#define DEM_DEPTH_MAX 64
#define DEM_STEPS_MAX 16384

typedef struct dem_reader {
    const char *in;
    size_t size, at;
    char *out;
    size_t capacity, length; /* without the NUL, for which there is room */
    u32 depth, steps;
    u32 is_muted; /* > 0: what is read is not written */
    bool is_failed;
} dem_reader;

static inline char dem_peek(const dem_reader *r)
{
    return r->at < r->size ? r->in[r->at] : '\0';
}

static inline bool dem_take(dem_reader *r, char wanted)
{
    const bool is_there = dem_peek(r) == wanted && r->at < r->size;
    r->at += is_there;
    return is_there;
}

static inline bool dem_begins(const dem_reader *r, const char *word)
{
    const size_t size = strlen(word);
    return r->size - r->at >= size && memcmp(r->in + r->at, word, size) == 0;
}

static inline bool dem_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline void dem_put_bytes(dem_reader *r, const char *text, size_t size)
{
    if (r->is_muted > 0 || r->is_failed)
        return;
    if (size >= r->capacity - r->length) {
        r->is_failed = true;
        return;
    }
    memmove(r->out + r->length, text, size);
    r->length += size;
}

static inline void dem_put(dem_reader *r, const char *text)
{
    dem_put_bytes(r, text, strlen(text));
}

void dem_put_number(dem_reader *r, u64 value);

/* A decimal number; fails the reader if there is none, or if it is larger than the name. */
size_t dem_number(dem_reader *r);

/* Begins a rule; false, and the reader fails, if a limit is reached. dem_leave ends it. */
static inline bool dem_enter(dem_reader *r)
{
    if (++r->depth > DEM_DEPTH_MAX || ++r->steps > DEM_STEPS_MAX)
        r->is_failed = true;
    return !r->is_failed;
}

static inline void dem_leave(dem_reader *r)
{
    r->depth--;
}

/* Each reads one name from its beginning; is_failed says whether it could. */
void dem_read_rust(dem_reader *r);        /* _R, version 0 */
bool dem_read_rust_legacy(dem_reader *r); /* _ZN...17h<hash>E; false, nothing read: it is C++ */
void dem_read_itanium(dem_reader *r);     /* _Z */
void dem_read_d(dem_reader *r);           /* _D */

#endif
