/*
 * digit_sort.c - sorts many rows by a 64-bit number: one pass for each byte that differs, lowest
 * first.
 *
 * In: rows with a number, and scratch of the same size. Out: the rows in order. Each pass is
 * stable, so after the last one all bytes count. Rows with equal numbers are then sorted by a
 * comparison.
 */
#include "digit_sort.h"

#include <assert.h>
#include <string.h>

#define DIGIT_BITS   11u
#define DIGIT_VALUES (1u << DIGIT_BITS)
#define LOW_DIGITS   ((64 + DIGIT_BITS - 1) / DIGIT_BITS)
#define HIGH_DIGITS  ((32 + DIGIT_BITS - 1) / DIGIT_BITS)

static void sort_by_digit(const digit_row *from, digit_row *to, size_t count, u32 digit);
static void sort_alike(digit_row *rows, digit_row *scratch, size_t count, digit_compare_fn *compare,
                       const void *owner);

static u32 digit_of(const digit_row *row, u32 digit)
{
    const u64 value = digit < LOW_DIGITS ? row->low >> digit * DIGIT_BITS
                                         : row->high >> (digit - LOW_DIGITS) * DIGIT_BITS;
    return (u32)value & (DIGIT_VALUES - 1);
}

digit_row *digit_sort(digit_row *rows, digit_row *scratch, size_t count, digit_compare_fn *compare,
                      const void *owner)
{
    digit_row varying = { 0 }; /* the bits that some row has otherwise than the first */
    digit_row *from = rows, *to = scratch;
    assert(count < UINT32_MAX);
    for (size_t i = 0; i < count; i++) {
        varying.low |= rows[i].low ^ rows[0].low;
        varying.high |= rows[i].high ^ rows[0].high;
    }
    for (u32 digit = 0; digit < LOW_DIGITS + HIGH_DIGITS; digit++) {
        if (digit_of(&varying, digit) == 0)
            continue;
        sort_by_digit(from, to, count, digit);
        digit_row *const swap = from;
        from = to;
        to = swap;
    }
    for (size_t first = 0, end; compare != NULL && first < count; first = end) {
        end = first + 1;
        while (end < count && from[end].high == from[first].high &&
               from[end].low == from[first].low)
            end++;
        if (end - first > 1)
            sort_alike(from + first, to, end - first, compare, owner);
    }
    return from;
}

/* Stably. */
static void sort_by_digit(const digit_row *from, digit_row *to, size_t count, u32 digit)
{
    u32 places[DIGIT_VALUES] = { 0 };
    u32 place = 0;
    for (size_t i = 0; i < count; i++)
        places[digit_of(&from[i], digit)]++;
    for (u32 value = 0; value < DIGIT_VALUES; value++) {
        const u32 here = places[value];
        places[value] = place;
        place += here;
    }
    for (size_t i = 0; i < count; i++)
        to[places[digit_of(&from[i], digit)]++] = from[i];
}

/* Merge sort: qsort has no room for the owner, and globals are not to be written. */
static void sort_alike(digit_row *rows, digit_row *scratch, size_t count, digit_compare_fn *compare,
                       const void *owner)
{
    digit_row *from = rows, *to = scratch;
    for (size_t width = 1; width < count; width *= 2) {
        for (size_t start = 0; start < count; start += 2 * width) {
            const size_t middle = (size_t)etl_min_u64(start + width, count);
            const size_t end = (size_t)etl_min_u64(start + 2 * width, count);
            size_t left = start, right = middle;
            for (size_t at = start; at < end; at++) {
                const bool take_left =
                    right >= end ||
                    (left < middle && compare(owner, from[left].id, from[right].id) <= 0);
                to[at] = take_left ? from[left++] : from[right++];
            }
        }
        digit_row *const swap = from;
        from = to;
        to = swap;
    }
    if (from != rows)
        memcpy(rows, from, count * sizeof *rows);
}
