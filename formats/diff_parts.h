/*
 * diff_parts.h - what the writers of diffs have in common.
 */
#ifndef ETLHEAP_DIFF_PARTS_H
#define ETLHEAP_DIFF_PARTS_H

#include "text_buffer.h"

/* Measures that both sides have, in the order of their list; returns how many. */
u32 etlheap_diff_measures(const etlheap_diff *diff, etlheap_measure out[ETLHEAP_MEASURES_COUNT]);

/*
 * What to know before believing the numbers: a sentence into *text if hint `index`
 * applies, and its name. Indices go from 0 to below etlheap_diff_hint_count.
 */
u32 etlheap_diff_hint_count(void);
bool etlheap_diff_hint(const etlheap_diff_answer *answer, u32 index, etlheap_text *text,
                       const char **name);

#endif
