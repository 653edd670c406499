/* select_rank.h - finds the value at a rank of the sorted order, without sorting. */
#ifndef ETLHEAP_SELECT_RANK_H
#define ETLHEAP_SELECT_RANK_H

#include "parser/base.h"

/* Moves the value with the given rank in sorted order to that position, smaller or equal values
 * before it and larger or equal ones after it (Hoare), and returns it. */
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
