/*
 * steps.h - the beginnings and ends of lifetimes, in the order of time.
 *
 * What replays lifetimes in memory goes through these: a step for the allocation of each
 * row and one for its free, sorted. Steps of one time come in the order in which they were
 * added.
 */
#ifndef ETLHEAP_STEPS_H
#define ETLHEAP_STEPS_H

#include "engine/core/arena.h"
#include "engine/core/digit_sort.h"

/* Used again for one group of lifetimes after the other. */
typedef struct step_list {
    ETLHEAP_VECTOR(digit_row) rows;
    ETLHEAP_VECTOR(digit_row) scratch;
} step_list;

static inline void steps_clear(step_list *list)
{
    list->rows.count = 0;
}

/* `row` is below 2^31. False without memory. */
static inline bool steps_add(step_list *list, i64 ticks, u32 row, bool is_end)
{
    const digit_row step = { .low = (u64)ticks ^ (u64)1 << 63, .id = row << 1 | is_end };
    return ETLHEAP_PUSH(&list->rows, step);
}

static inline i64 step_ticks(const digit_row *step)
{
    return (i64)(step->low ^ (u64)1 << 63);
}

static inline u32 step_row(const digit_row *step)
{
    return step->id >> 1;
}

static inline bool step_is_end(const digit_row *step)
{
    return (step->id & 1) != 0;
}

/* All steps in order, as many as rows.count; valid until the next one is added. NULL
 * without memory. Rows were added in ascending order. */
const digit_row *steps_sort(step_list *list);

void steps_free(step_list *list);

#endif
