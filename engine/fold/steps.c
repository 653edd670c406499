/*
 * steps.c - sorts the starts and ends of lifetimes by time. Invariant: the sort is stable; steps at
 * one time stay in the order in which they were added.
 */
#include "steps.h"

#include <stdlib.h>

/* Fewer than these are not worth counting digits, which takes 2048 places each. */
#define DIGITS_MIN 1024u

static int by_time(const void *a, const void *b)
{
    const digit_row *const x = a, *const y = b;
    if (x->low != y->low)
        return x->low < y->low ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

const digit_row *steps_sort(step_list *list)
{
    const size_t count = list->rows.count;
    if (count < DIGITS_MIN) {
        if (count > 1)
            qsort(list->rows.at, count, sizeof *list->rows.at, by_time);
        return list->rows.at;
    }
    list->scratch.count = 0;
    if (count >= UINT32_MAX || !ETLHEAP_RESERVE(&list->scratch, count))
        return NULL;
    return digit_sort(list->rows.at, list->scratch.at, count, NULL, NULL);
}

void steps_free(step_list *list)
{
    ETLHEAP_VECTOR_FREE(&list->rows);
    ETLHEAP_VECTOR_FREE(&list->scratch);
}
