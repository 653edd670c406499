/*
 * select_rank.h - one value out of its place in sorted order, without sorting the others.
 */
#ifndef ETLHEAP_SELECT_RANK_H
#define ETLHEAP_SELECT_RANK_H

#include "parser/base.h"

/* Puts the value that would be at `rank` in sorted order there, none larger before it, none
 * smaller behind (Hoare), and returns it. */
static inline i64 select_rank(i64 *values, u32 count, u32 rank)
{
    u32 low = 0, high = count - 1;
    while (low < high) {
        const i64 pivot = values[low + (high - low) / 2];
        u32 left = low, right = high;
        for (;;) {
            while (values[left] < pivot)
                left++;
            while (values[right] > pivot)
                right--;
            if (left >= right)
                break;
            const i64 swap = values[left];
            values[left++] = values[right];
            values[right--] = swap;
        }
        if (rank <= right)
            high = right;
        else
            low = right + 1;
    }
    return values[rank];
}

#endif
