/*
 * base.h - short integer names, little-endian loads and checked arithmetic.
 *
 * For the code of etlheap alone: programs have short names of their own, so no public header
 * includes this one. Every function is pure and may be called from any thread. Files are little
 * endian, and so is every supported host. File data is not aligned, so read it with the load
 * functions below instead of casting pointers.
 */
#ifndef ETL_BASE_H
#define ETL_BASE_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t i32;
typedef int64_t i64;

#define ETL_COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/*
 * Sets `at` to the first index from `first` on for which `is_before` is false, or to `end`. The
 * condition is about the element at index `at`; once false, it must stay false.
 *
 *     ETL_BISECT(at, 0, count, ticks[at] < wanted);
 */
#define ETL_BISECT(at, first, end, is_before)                                                      \
    do {                                                                                           \
        __typeof__(at) etl_low = (first), etl_high = (end);                                        \
        while (etl_low < etl_high) {                                                               \
            (at) = etl_low + (etl_high - etl_low) / 2;                                             \
            if (is_before)                                                                         \
                etl_low = (at) + 1;                                                                \
            else                                                                                   \
                etl_high = (at);                                                                   \
        }                                                                                          \
        (at) = etl_low;                                                                            \
    } while (0)

#define ETL_KIB ((u64)1 << 10)
#define ETL_MIB ((u64)1 << 20)
#define ETL_GIB ((u64)1 << 30)

static inline u16 etl_load_u16(const u8 *at)
{
    u16 value;
    memcpy(&value, at, sizeof value);
    return value;
}

static inline u32 etl_load_u32(const u8 *at)
{
    u32 value;
    memcpy(&value, at, sizeof value);
    return value;
}

static inline u64 etl_load_u64(const u8 *at)
{
    u64 value;
    memcpy(&value, at, sizeof value);
    return value;
}

/* Checked arithmetic: false, with *out unchanged, if the result does not fit. */
static inline bool etl_add_u64(u64 a, u64 b, u64 *out)
{
    u64 sum;
    if (__builtin_add_overflow(a, b, &sum))
        return false;
    *out = sum;
    return true;
}

static inline bool etl_mul_size(size_t a, size_t b, size_t *out)
{
    size_t product;
    if (__builtin_mul_overflow(a, b, &product))
        return false;
    *out = product;
    return true;
}

/* Adds sizes from files, at most UINT64_MAX: a sum that overflowed would look small. */
static inline u64 etl_sat_add_u64(u64 a, u64 b)
{
    u64 sum;
    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

/* Adds signed sizes, between INT64_MIN and INT64_MAX. */
static inline i64 etl_sat_add_i64(i64 a, i64 b)
{
    i64 sum;
    if (!__builtin_add_overflow(a, b, &sum))
        return sum;
    return b > 0 ? INT64_MAX : INT64_MIN;
}

/* The length of [from, to) in the unit of both: 0 if it is empty, at most INT64_MAX. Times come
 * from files, so a plain difference may overflow. */
static inline i64 etl_span_i64(i64 from, i64 to)
{
    i64 span;
    if (to <= from)
        return 0;
    return __builtin_sub_overflow(to, from, &span) ? INT64_MAX : span;
}

static inline u64 etl_min_u64(u64 a, u64 b)
{
    return a < b ? a : b;
}

static inline u64 etl_max_u64(u64 a, u64 b)
{
    return a > b ? a : b;
}

/* Mixes the bits of a value for a hash: every bit affects every bit of the result, and no two
 * values have the same result. */
static inline u64 etl_mix_u64(u64 value)
{
    value ^= value >> 32;
    value *= 0xd6e8feb86659fd93u;
    value ^= value >> 32;
    value *= 0xd6e8feb86659fd93u;
    value ^= value >> 32;
    return value;
}

/*
 * A seed for hash tables of data from files. It differs from run to run, so that nobody can write a
 * file in which all keys have the same hash. `anchor` is the address of a constant in the program
 * or library, which the system loads at a random address. Output must not depend on such a hash.
 */
static inline u64 etl_hash_seed(const void *anchor)
{
    return (u64)(uintptr_t)anchor * 0x9e3779b97f4a7c15u;
}

#endif
