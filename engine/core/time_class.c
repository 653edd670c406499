/* time_class.c - classes of lifetimes in steps of 1, 2 and 5; see time_class.h. */
#include "time_class.h"

static const u64 powers[] = {
    UINT64_C(1),
    UINT64_C(10),
    UINT64_C(100),
    UINT64_C(1000),
    UINT64_C(10000),
    UINT64_C(100000),
    UINT64_C(1000000),
    UINT64_C(10000000),
    UINT64_C(100000000),
    UINT64_C(1000000000),
    UINT64_C(10000000000),
    UINT64_C(100000000000),
    UINT64_C(1000000000000),
    UINT64_C(10000000000000),
    UINT64_C(100000000000000),
    UINT64_C(1000000000000000),
    UINT64_C(10000000000000000),
    UINT64_C(100000000000000000),
    UINT64_C(1000000000000000000),
};

static_assert(TIME_CLASSES == 1 + 3 * ETL_COUNT_OF(powers), "three classes for each power");

/* The largest power of ten that is not above a value: its number of bits times log10(2), and one
 * less where that is too much. */
static u32 power_of(u64 ns)
{
    const u32 bits = 64 - (u32)__builtin_clzll(ns);
    const u32 most = (u32)ETL_COUNT_OF(powers) - 1, guess = bits * 1233 >> 12;
    return guess > most ? most : guess - (ns < powers[guess]);
}

u32 time_class_of(u64 ns)
{
    if (ns == 0)
        return 0;
    const u32 power = power_of(ns);
    return 1 + 3 * power + (ns >= 2 * powers[power]) + (ns >= 5 * powers[power]);
}

u64 time_class_first(u32 number)
{
    static const u32 steps[] = { 1, 2, 5 };
    return number == 0 ? 0 : steps[(number - 1) % 3] * powers[(number - 1) / 3];
}

u64 time_class_end(u32 number)
{
    return number == TIME_CLASSES - 1 ? UINT64_MAX : time_class_first(number + 1);
}
