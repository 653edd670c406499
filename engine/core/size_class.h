/* size_class.h - size classes by powers of two, for sizes and times. */
#ifndef ETLHEAP_SIZE_CLASS_H
#define ETLHEAP_SIZE_CLASS_H

#include "parser/base.h"

#define SIZE_CLASSES 65u /* 0, then one for each bit */

/* 0 for 0, else the position of the highest bit + 1. */
static inline u32 size_class_of(u64 value)
{
    return value == 0 ? 0 : 64 - (u32)__builtin_clzll(value);
}

/* What belongs to a class: from the first to below the end, which of the last is UINT64_MAX. */
static inline u64 size_class_first(u32 number)
{
    return number == 0 ? 0 : (u64)1 << (number - 1);
}

static inline u64 size_class_end(u32 number)
{
    return number == SIZE_CLASSES - 1 ? UINT64_MAX : (u64)1 << number;
}

#endif
