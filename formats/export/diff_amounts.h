/* diff_amounts.h - amounts of both sides of a row, for pictures. */
#ifndef ETLHEAP_DIFF_AMOUNTS_H
#define ETLHEAP_DIFF_AMOUNTS_H

#include "formats/formats.h"

#include "parser/base.h"

typedef struct diff_amounts {
    i64 base, now;
} diff_amounts;

/* The amount as drawn, at least 0: impacting sizes may be negative, but a frame cannot be drawn
 * with a negative width. */
static inline i64 diff_drawn(const etlheap_diff *diff, i64 amount, i64 ns)
{
    const i64 value = diff->per_second ? etlheap_diff_rate(amount, ns) / 1000 : amount;
    return value > 0 ? value : 0;
}

static inline diff_amounts diff_amounts_of(const etlheap_diff *diff, u32 row)
{
    const etlheap_change *const change = &diff->changes[row];
    return (diff_amounts){ diff_drawn(diff, change->base[diff->measure], change->base_ns),
                           diff_drawn(diff, change->now[diff->measure], change->new_ns) };
}

#endif
