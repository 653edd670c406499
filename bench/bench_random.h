/*
 * bench_random.h - the same pseudo-random numbers everywhere.
 *
 * SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number
 * generators", 2014). Integers only, so that every compiler and machine makes
 * the same inputs.
 */
#ifndef BENCH_RANDOM_H
#define BENCH_RANDOM_H

#include "parser/base.h"

typedef struct bench_random {
    u64 state;
} bench_random;

static inline u64 bench_mix(u64 x)
{
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

static inline u64 bench_random_next(bench_random *r)
{
    r->state += 0x9E3779B97F4A7C15u;
    return bench_mix(r->state);
}

/* 0 up to count - 1; count > 0. The bias is below count / 2^32. */
static inline u32 bench_random_below(bench_random *r, u32 count)
{
    return (u32)((bench_random_next(r) >> 32) * count >> 32);
}

/* true in `part` of 256 cases. */
static inline bool bench_random_chance(bench_random *r, u32 part)
{
    return (bench_random_next(r) >> 56) < part;
}

#endif
