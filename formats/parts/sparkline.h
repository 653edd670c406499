/*
 * sparkline.h - a curve as one line of characters of eight heights.
 */
#ifndef ETLHEAP_SPARKLINE_H
#define ETLHEAP_SPARKLINE_H

#include "formats/formats.h"

#include "parser/base.h"

typedef struct etlheap_sparkline {
    u32 columns;     /* largest number of columns; 0: no limit */
    bool ascii;      /* ASCII characters, else Unicode block elements */
    i64 largest;     /* value of the highest character; 0: the largest value */
    bool from_least; /* the lowest character is the least value, in place of 0 */
} etlheap_sparkline;

/*
 * Appends one character per value. The lowest one stands only for 0 and less, or the least value.
 * If there are more values than columns, each character shows the largest of a run of values, so
 * that no spike is lost.
 */
void etlheap_sparkline_add(etlheap_text *text, const i64 *values, u32 count,
                           const etlheap_sparkline *how);

/* The largest of the values, at least 0. */
i64 etlheap_sparkline_largest(const i64 *values, u32 count);

#endif
