/*
 * hand_bytes.h - bytes put together by hand, field by field.
 *
 * For tests of the lowest layers, which must not depend on the writer of whole
 * traces. hand_guarded() gives the bytes back in memory that ends at, or begins
 * behind, a page that cannot be touched: reading one byte too far is a crash
 * even without a sanitizer.
 */
#ifndef TESTS_HAND_BYTES_H
#define TESTS_HAND_BYTES_H

#include <stdlib.h>

#include "parser/base.h"
#include "parser/parser.h"

#define HAND_BYTES_MAX ((size_t)1 << 22)

/* Owned by the test: start from {0}, end with hand_free(). */
typedef struct hand_bytes {
    u8 *at;
    size_t size;
} hand_bytes;

static inline void hand_free(hand_bytes *hand)
{
    free(hand->at);
    *hand = (hand_bytes){ NULL, 0 };
}

static inline void hand_fill(hand_bytes *hand, u8 value, size_t count)
{
    if (!hand->at)
        hand->at = malloc(HAND_BYTES_MAX);
    if (!hand->at || count > HAND_BYTES_MAX - hand->size)
        abort(); /* the test is wrong, not the tested code */
    memset(hand->at + hand->size, value, count);
    hand->size += count;
}

static inline void hand_put(hand_bytes *hand, const void *bytes, size_t count)
{
    hand_fill(hand, 0, count);
    if (count > 0)
        memcpy(hand->at + hand->size - count, bytes, count);
}

static inline void hand_u8(hand_bytes *hand, unsigned value)
{
    const u8 field = (u8)value;
    hand_put(hand, &field, sizeof field);
}

static inline void hand_u16(hand_bytes *hand, unsigned value)
{
    const u16 field = (u16)value;
    hand_put(hand, &field, sizeof field);
}

static inline void hand_u32(hand_bytes *hand, u32 value)
{
    hand_put(hand, &value, sizeof value);
}

static inline void hand_u64(hand_bytes *hand, u64 value)
{
    hand_put(hand, &value, sizeof value);
}

static inline void hand_align(hand_bytes *hand, size_t alignment)
{
    hand_fill(hand, 0xee, (alignment - hand->size % alignment) % alignment);
}

/* Overwrites a field that is there already. */
static inline void hand_set_u16(hand_bytes *hand, size_t offset, unsigned value)
{
    const u16 field = (u16)value;
    memcpy(hand->at + offset, &field, sizeof field);
}

static inline void hand_set_u32(hand_bytes *hand, size_t offset, u32 value)
{
    memcpy(hand->at + offset, &value, sizeof value);
}

static inline void hand_set_u64(hand_bytes *hand, size_t offset, u64 value)
{
    memcpy(hand->at + offset, &value, sizeof value);
}

static inline etl_bytes hand_view(const hand_bytes *hand)
{
    return (etl_bytes){ hand->at, hand->size };
}

/* Bytes that end before a page that cannot be touched, or begin behind one. */
typedef struct hand_guarded {
    u8 *at;
    size_t size;
    void *pages;
    size_t pages_size;
} hand_guarded;

typedef enum hand_edge { HAND_AT_END, HAND_AT_START } hand_edge;

/* `size` writable bytes; ends the test program when there is no memory. */
hand_guarded hand_guard(size_t size, hand_edge edge);

/* The same with a copy of the bytes in it. */
hand_guarded hand_guard_bytes(etl_bytes bytes, hand_edge edge);

void hand_unguard(hand_guarded *guarded);

/* The inverse of etl_mix_u64: a key for any hash. */
static inline u64 hand_unmix(u64 hash)
{
    const u64 inverse = 0xcfee444d8b59a89bu;
    hash ^= hash >> 32;
    hash *= inverse;
    hash ^= hash >> 32;
    hash *= inverse;
    return hash ^ hash >> 32;
}

/* xorshift64*: the same numbers on every machine. */
static inline u32 hand_random(u64 *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return (u32)(*state * 0x2545f4914f6cdd1dull >> 32);
}

#endif
