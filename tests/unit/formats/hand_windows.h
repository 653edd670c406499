/*
 * hand_windows.h - time windows of a few lifetimes made by hand, for writers.
 *
 * The windows can be worked out on paper. The trace takes 6 ms:
 *
 *     ms                    0     1     2     3     4     5     6
 *     heap app.exe    4 KiB       ├──────────────────────────────  a
 *                    1000 B       ├─────────┤                      b
 *                     500 B                   ├─┤                  b
 *     heap quiet.exe  100 B ─────────────────────────────────────  none
 *     va   app.exe    1 MiB             ├────────────────────────  a
 */
#ifndef TESTS_HAND_WINDOWS_H
#define TESTS_HAND_WINDOWS_H

#include "formats/formats.h"

#include "parser/base.h"

#define HAND_MS_NS   INT64_C(1000000)
#define HAND_EXPLAIN 8 /* rows that may explain a growth */

typedef struct hand_windows {
    etlheap_result *result;
    etlheap_query query; /* kind and process, the largest peak first */
    etlheap_windows *windows;
    etlheap_growth growth;
    etlheap_windows *stacks;
    bool explains[HAND_EXPLAIN];
    etlheap_windows_answer answer;
    etlheap_layout layout;
} hand_windows;

/* For cmocka: *state is a hand_windows without windows. */
int hand_windows_set_up(void **state);
int hand_windows_tear_down(void **state);

/* Each makes the windows and the answer anew, or ends the test. */
void hand_windows_make(hand_windows *w, const etlheap_windows_options *options);
void hand_windows_every(hand_windows *w, i64 every_ns);
void hand_windows_growth(hand_windows *w);

/* Gives three windows what MemInfo records say. */
void hand_windows_memory(hand_windows *w);

#endif
