/*
 * steps.h - the starts and ends of lifetimes, in time order.
 *
 * Used to replay lifetimes in memory: each row has a step for its allocation and one for its free,
 * sorted by time. Steps at the same time stay in the order in which they were added.
 */
#ifndef ETLHEAP_STEPS_H
#define ETLHEAP_STEPS_H

#include "engine/core/arena.h"
#include "engine/core/digit_sort.h"

/* A list of steps, reused for one group of lifetimes after the other. */
typedef struct step_list {
    ETLHEAP_VECTOR(digit_row) rows;
    ETLHEAP_VECTOR(digit_row) scratch;
} step_list;

static inline void steps_clear(step_list *list)
{
    list->rows.count = 0;
}

#define STEP_ROWS_MAX ((size_t)1 << 31) /* a step has 31 bits for its row */

/* Adds a step of a row. False if memory runs out, or if the row is STEP_ROWS_MAX or more. */
static inline bool steps_add(step_list *list, i64 ticks, size_t row, bool is_end)
{
    const digit_row step = { .low = (u64)ticks ^ (u64)1 << 63, .id = (u32)(row << 1) | is_end };
    return row < STEP_ROWS_MAX && ETLHEAP_PUSH(&list->rows, step);
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

/* Sorts the steps; returns rows.count of them, valid until the next one is added. Rows must have
 * been added in ascending order. NULL if memory runs out. */
const digit_row *steps_sort(step_list *list);

void steps_free(step_list *list);

#endif
