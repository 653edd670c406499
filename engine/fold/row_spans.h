/*
 * row_spans.h - the time that rates, growth and suspects of a row are about.
 *
 *     window of the query          ├──────────────────────────────┤
 *     recorded span of its kind         ├──────────────────────────────┤
 *     life of its process                     ├────────────┤
 *     the row's span                          ├────────────┤
 *
 * Rows that have no process have no life, unless the query selects processes: then it lasts from
 * the first one's start to the last one's end. Rows that have no kind have the spans of all
 * selected kinds. Where no span is known, as in stores of older versions, the window is the row's
 * span.
 */
#ifndef ETLHEAP_ROW_SPANS_H
#define ETLHEAP_ROW_SPANS_H

#include "aggregate.h"

/* Start from {0}. */
typedef struct row_spans {
    const aggregator *a;
    bool by_kind, keeps_lives;
    etlheap_time_range *lives; /* by process of a key; [0]: of rows without one */
    u32 *numbers;              /* by kind and process: number + 1 of the span */
    ETLHEAP_VECTOR(etlheap_time_range) spans;
} row_spans;

/* `keeps_lives`: lives count even if no recorded span is known. False if memory runs out; close it
 * in any case. */
bool row_spans_open(row_spans *out, const aggregator *a, bool keeps_lives);
void row_spans_close(row_spans *spans);

/* The number of the span of rows with this key: an index of `spans`, the same for the same kind and
 * process. False if memory runs out. */
bool row_spans_find(row_spans *spans, const group_key *key, u32 *number);

/* The span of the kinds (a bit each) for sums over rows of all processes. */
etlheap_time_range row_spans_of_kinds(const row_spans *spans, u32 kinds);

/* What rates of rows with this key, or of sums over kinds, are divided by: the length of the span;
 * of a summary, which keeps no spans, the length of all its recordings together. */
i64 row_spans_ns(row_spans *spans, const group_key *key);
i64 row_spans_ns_of_kinds(const row_spans *spans, u32 kinds);

#endif
