/*
 * journal_check.h - what tests of the journal need: slices whose times are given,
 * notes by hand, and the whole journal read back.
 *
 * A block of origin n is noted by shard n % HEAP_SHARDS. Every failure ends the test.
 */
#ifndef TESTS_JOURNAL_CHECK_H
#define TESTS_JOURNAL_CHECK_H

#include "engine/log/journal.h"
#include "engine_check.h"

#define JOURNAL_LATE     JOURNAL_NO_RANK
#define JOURNAL_PATIENCE (250 * CHECK_MS)
#define JOURNAL_BIG      ((u64)JOURNAL_SIZE_BIG)

/* An entry as it is read: kinds of three words are told as the plain ones. */
typedef struct told {
    u32 time; /* how many ticks began up to it, in the journal */
    journal_kind kind;
    u32 origin;
    u64 size;
    u32 rank; /* of ALLOC, MARK and NONE */
    bool is_inside, is_realloc, is_late;
    u64 index; /* of its first word in the journal */
} told;

typedef struct journal_check {
    engine_check check;
    event_journal journal;
    ETLHEAP_VECTOR(told) told;
} journal_check;

/* For cmocka: *state is a journal_check, its journal open for all times. */
int journal_check_open(void **state);
int journal_check_close(void **state);

/* Opens the journal once more, for a window. */
void journal_check_window(journal_check *f, i64 from_ticks, i64 to_ticks);

/* A slice with events at these times, as ordering leaves it. */
void journal_check_begin(journal_check *f, const i64 *ticks, u32 count);

#define JOURNAL_BEGIN(f, ...)                                                                      \
    do {                                                                                           \
        const i64 event_ticks[] = { __VA_ARGS__ };                                                 \
        journal_check_begin(f, event_ticks, ETL_COUNT_OF(event_ticks));                            \
    } while (0)

void journal_check_end(journal_check *f, i64 end_ticks);

/* A block opened by the event of this rank in the slice. */
typedef struct noted_event {
    i64 ticks;
    u32 rank;
} noted_event;

journal_block journal_check_alloc(journal_check *f, noted_event at, u32 origin, u64 size);
void journal_check_free(journal_check *f, const journal_block *noted, i64 ticks, u32 rank);
void journal_check_realloc(journal_check *f, const journal_block *noted, i64 ticks, u32 rank);

/* The entries of the journal, which is closed first unless it was; f->told. */
const told *journal_check_read(journal_check *f);

/* Is the entry the one expected? `time` counts ticks of the journal from 1. */
void journal_check_told(const told *row, u32 time, journal_kind kind, u32 origin, u64 size);

bool journal_check_survives(const journal_check *f, u32 rank);

#endif
