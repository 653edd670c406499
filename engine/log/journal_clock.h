/*
 * journal_clock.h - the times of a journal's words, kept so that moments can be found later.
 *
 * A journal for windows cuts time while it is written, so a word needs no time once its chunk is
 * closed. The samples of growth are not known by then: they depend on when the trace ends. So a
 * journal may keep a clock, a byte or two for each word.
 */
#ifndef ETLHEAP_JOURNAL_CLOCK_H
#define ETLHEAP_JOURNAL_CLOCK_H

#include "journal.h"

/* Winds the clock of a chunk, from its ticks. False if memory runs out. */
bool journal_clock_wind(event_journal *journal, journal_chunk *chunk);

/* Finds the first word at or after each moment, and appends it, with the moment. The moments must
 * ascend, and the journal must be closed and have a clock. Words before the first moment get a row
 * as well, with INT64_MIN. Any thread. False if memory runs out. */
bool journal_clock_find(const event_journal *journal, const i64 *moments, u32 count,
                        journal_crossings *out);

#endif
