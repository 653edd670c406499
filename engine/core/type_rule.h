/*
 * type_rule.h - the type of a lifetime in a window, and what a type counts for.
 *
 * WPA's four types say on which side of a window's ends [from, to) a block was allocated and freed.
 * All code that adds up, lists or replays lifetimes uses these functions; types are decided nowhere
 * else.
 *
 * A block that is never freed has the free time ETLHEAP_TICKS_NEVER, one allocated before the trace
 * has the allocation time ETLHEAP_TICKS_BEFORE. Both compare like any other time.
 *
 * Source: WPA's help on the columns "Type" and "Impacting Size".
 */
#ifndef ETLHEAP_TYPE_RULE_H
#define ETLHEAP_TYPE_RULE_H

#include "engine/engine.h"

#include "parser/base.h"

#define TYPES_OUTSTANDING (1u << ETLHEAP_TYPE_AIFO | 1u << ETLHEAP_TYPE_AOFO)
#define TYPES_ALLOCATED   (1u << ETLHEAP_TYPE_AIFO | 1u << ETLHEAP_TYPE_AIFI) /* allocated inside */

/* True if part of the lifetime is within the window. */
static inline bool type_touches(i64 alloc_ticks, i64 free_ticks, i64 from_ticks, i64 to_ticks)
{
    return alloc_ticks < to_ticks && free_ticks >= from_ticks;
}

/* The type of a lifetime that touches the window. */
static inline etlheap_type type_by_ends(bool is_allocated_inside, bool is_freed_inside)
{
    static const u8 types[2][2] = { { ETLHEAP_TYPE_AOFO, ETLHEAP_TYPE_AOFI },
                                    { ETLHEAP_TYPE_AIFO, ETLHEAP_TYPE_AIFI } };
    return (etlheap_type)types[is_allocated_inside][is_freed_inside];
}

static inline etlheap_type type_in_window(i64 alloc_ticks, i64 free_ticks, i64 from_ticks,
                                          i64 to_ticks)
{
    return type_by_ends(alloc_ticks >= from_ticks, free_ticks < to_ticks);
}

/* True if the block is outstanding at the end of the window. */
static inline bool type_is_outstanding(etlheap_type type)
{
    return (TYPES_OUTSTANDING >> type & 1) != 0;
}

/* True if the block was allocated inside the window. */
static inline bool type_is_allocated(etlheap_type type)
{
    return (TYPES_ALLOCATED >> type & 1) != 0;
}

/* The change in outstanding size between the ends of the window that `size_bytes` of this type
 * cause. */
static inline i64 type_impact(etlheap_type type, i64 size_bytes)
{
    return type == ETLHEAP_TYPE_AIFO ? size_bytes : type == ETLHEAP_TYPE_AOFI ? -size_bytes : 0;
}

/* Sums over the lifetimes of a type. Sizes are at most INT64_MAX. */
typedef struct type_sums {
    i64 count, size, realloc_count;
} type_sums;

/* Adds the lifetimes of a type to the measures of a row, of which there are `measure_count`: at
 * least those up to the peaks, which are not changed, because sums do not determine them. */
static inline void type_add_measures(i64 *measures, u32 measure_count, etlheap_type type,
                                     const type_sums *sums)
{
    const i64 count = sums->count, size = sums->size;
    const bool outstanding = type_is_outstanding(type);
    i64 *const m = measures;
    m[ETLHEAP_MEASURE_COUNT] = etl_sat_add_i64(m[ETLHEAP_MEASURE_COUNT], count);
    m[ETLHEAP_MEASURE_SIZE] = etl_sat_add_i64(m[ETLHEAP_MEASURE_SIZE], size);
    m[ETLHEAP_MEASURE_IMPACTING_SIZE] =
        etl_sat_add_i64(m[ETLHEAP_MEASURE_IMPACTING_SIZE], type_impact(type, size));
    m[ETLHEAP_MEASURE_OUTSTANDING_COUNT] =
        etl_sat_add_i64(m[ETLHEAP_MEASURE_OUTSTANDING_COUNT], outstanding ? count : 0);
    m[ETLHEAP_MEASURE_OUTSTANDING_SIZE] =
        etl_sat_add_i64(m[ETLHEAP_MEASURE_OUTSTANDING_SIZE], outstanding ? size : 0);
    m[ETLHEAP_MEASURE_REALLOC_COUNT] =
        etl_sat_add_i64(m[ETLHEAP_MEASURE_REALLOC_COUNT], sums->realloc_count);
    if (measure_count <= ETLHEAP_MEASURE_FREED_SIZE)
        return;
    if (type_is_allocated(type)) {
        m[ETLHEAP_MEASURE_ALLOC_COUNT] = etl_sat_add_i64(m[ETLHEAP_MEASURE_ALLOC_COUNT], count);
        m[ETLHEAP_MEASURE_ALLOC_SIZE] = etl_sat_add_i64(m[ETLHEAP_MEASURE_ALLOC_SIZE], size);
    }
    if (!outstanding) {
        m[ETLHEAP_MEASURE_FREED_COUNT] = etl_sat_add_i64(m[ETLHEAP_MEASURE_FREED_COUNT], count);
        m[ETLHEAP_MEASURE_FREED_SIZE] = etl_sat_add_i64(m[ETLHEAP_MEASURE_FREED_SIZE], size);
    }
}

#endif
