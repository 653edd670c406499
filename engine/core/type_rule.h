/*
 * type_rule.h - which type a lifetime has in a window, and what a type counts for.
 *
 * WPA's four types say on which side of a window's ends [from, to) a block was allocated
 * and freed. All that sums, lists or replays lifetimes asks here, and nowhere else are the
 * types told apart. What is still allocated at the end of the trace has the time
 * ETLHEAP_TICKS_NEVER as its free, what was there before the trace ETLHEAP_TICKS_BEFORE as
 * its allocation: both compare like any other time.
 *
 * Source: WPA's help on the columns "Type" and "Impacting Size".
 */
#ifndef ETLHEAP_TYPE_RULE_H
#define ETLHEAP_TYPE_RULE_H

#include "engine/engine.h"

#include "parser/base.h"

#define TYPES_OUTSTANDING (1u << ETLHEAP_TYPE_AIFO | 1u << ETLHEAP_TYPE_AOFO)
#define TYPES_ALLOCATED   (1u << ETLHEAP_TYPE_AIFO | 1u << ETLHEAP_TYPE_AIFI) /* inside */

/* Is any of the lifetime within the window? */
static inline bool type_touches(i64 alloc_ticks, i64 free_ticks, i64 from_ticks, i64 to_ticks)
{
    return alloc_ticks < to_ticks && free_ticks >= from_ticks;
}

/* Of a lifetime that touches the window. */
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

/* Is it there when the window ends? */
static inline bool type_is_outstanding(etlheap_type type)
{
    return (TYPES_OUTSTANDING >> type & 1) != 0;
}

/* Was it allocated inside the window? */
static inline bool type_is_allocated(etlheap_type type)
{
    return (TYPES_ALLOCATED >> type & 1) != 0;
}

/* By how much such bytes change what is there from one end of the window to the other. */
static inline i64 type_impact(etlheap_type type, i64 size_bytes)
{
    return type == ETLHEAP_TYPE_AIFO ? size_bytes : type == ETLHEAP_TYPE_AOFI ? -size_bytes : 0;
}

/* Lifetimes of a type, at least 0 each; sizes stop at INT64_MAX. */
typedef struct type_sums {
    i64 count, size, realloc_count;
} type_sums;

/* Adds what lifetimes of a type count for to the measures of a row; not peaks, which sums
 * do not tell. */
static inline void type_add_measures(i64 measures[ETLHEAP_MEASURES_COUNT], etlheap_type type,
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
