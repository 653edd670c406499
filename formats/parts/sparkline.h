/*
 * sparkline.h - a curve as one line of characters of eight heights.
 */
#ifndef ETLHEAP_SPARKLINE_H
#define ETLHEAP_SPARKLINE_H

#include "formats/formats.h"

typedef struct etlheap_sparkline {
    u32 columns; /* at most so many; 0: not limited */
    bool ascii;  /* characters that any terminal has, else block elements of Unicode */
    i64 largest; /* what the highest stands for; 0: the largest value */
} etlheap_sparkline;

/*
 * Appends one character a value. The lowest stands for 0 and less alone. A curve of
 * more values than columns shows runs of them as their largest, so that no spike is
 * lost.
 */
void etlheap_sparkline_add(etlheap_text *text, const i64 *values, u32 count,
                           const etlheap_sparkline *how);

/* The largest of values, 0 when all are below. */
i64 etlheap_sparkline_largest(const i64 *values, u32 count);

#endif
