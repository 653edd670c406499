/*
 * digit_sort.h - rows in the order of their numbers, for many of them.
 *
 * Numbers are sorted digit by digit from the lowest, in time that grows with their
 * count alone; digits that all rows have alike, which are most, are left out. Rows
 * with equal numbers are few in most cases, and compared.
 */
#ifndef ETLHEAP_DIGIT_SORT_H
#define ETLHEAP_DIGIT_SORT_H

#include "parser/base.h"

typedef struct digit_row {
    u64 low;
    u32 high;
    u32 id;
} digit_row;

/* < 0, 0, > 0 as the row `a` comes before, is the same as or comes after `b`. */
typedef int digit_compare_fn(const void *owner, u32 a, u32 b);

/*
 * Sorts by (high, low), then by compare(owner, id, id); without one, and where it
 * gives 0, rows stay in the order they are in. `rows` and `scratch` have room for
 * `count` each; returns which of them the result is in.
 */
digit_row *digit_sort(digit_row *rows, digit_row *scratch, size_t count, digit_compare_fn *compare,
                      const void *owner);

#endif
