/*
 * digit_sort.h - sorts many rows by a number.
 *
 * Numbers are sorted digit by digit, from the lowest, in time proportional to their count. Digits
 * that are the same in all rows, which are most, are skipped. Rows with equal numbers are usually
 * few; these are compared.
 */
#ifndef ETLHEAP_DIGIT_SORT_H
#define ETLHEAP_DIGIT_SORT_H

#include "parser/base.h"

typedef struct digit_row {
    u64 low;
    u32 high;
    u32 id;
} digit_row;

/* Returns < 0, 0 or > 0 if row `a` comes before, with or after row `b`. */
typedef int digit_compare_fn(const void *owner, u32 a, u32 b);

/*
 * Sorts by (high, low), then by compare(owner, id, id). Without compare, or if it returns 0, rows
 * keep their order. `rows` and `scratch` have room for `count` rows each; returns the one that
 * holds the result.
 */
digit_row *digit_sort(digit_row *rows, digit_row *scratch, size_t count, digit_compare_fn *compare,
                      const void *owner);

#endif
