/*
 * event_list_check.h - what tests of the event list need: slices whose times are given,
 * notes by hand, and the whole event list read back.
 *
 * A block of origin n is noted by shard n % HEAP_SHARDS. Every failure ends the test.
 */
#ifndef TESTS_EVENT_LIST_CHECK_H
#define TESTS_EVENT_LIST_CHECK_H

#include "engine/log/event_list.h"
#include "engine_check.h"

#define ENTRY_LATE          ENTRY_NO_RANK
#define EVENT_LIST_PATIENCE (250 * CHECK_MS)
#define ENTRY_BIG           ((u64)ENTRY_SIZE_BIG)

/* An entry as it is read: kinds of three words are told as the plain ones. */
typedef struct told {
    u32 time; /* how many ticks began up to it, in the event list */
    entry_kind kind;
    u32 origin;
    u64 size;
    u32 rank; /* of ALLOC, REALLOC and NONE */
    bool is_inside, is_realloc, is_late;
    u64 index; /* of its first word in the event list */
} told;

typedef struct event_list_check {
    engine_check check;
    event_list event_list;
    ETLHEAP_VECTOR(told) told;
} event_list_check;

/* For cmocka: *state is an event_list_check, its event list open for all times. */
int event_list_check_open(void **state);
int event_list_check_close(void **state);

/* Opens the event list once more, for a window. */
void event_list_check_window(event_list_check *f, i64 from_ticks, i64 to_ticks);

/* A slice with events at these times, as ordering leaves it. */
void event_list_check_begin(event_list_check *f, const i64 *ticks, u32 count);

#define EVENT_LIST_BEGIN(f, ...)                                                                   \
    do {                                                                                           \
        const i64 event_ticks[] = { __VA_ARGS__ };                                                 \
        event_list_check_begin(f, event_ticks, ETL_COUNT_OF(event_ticks));                         \
    } while (0)

void event_list_check_end(event_list_check *f, i64 end_ticks);

/* A block opened by the event of this rank in the slice. */
typedef struct noted_event {
    i64 ticks;
    u32 rank;
} noted_event;

entry_block event_list_check_alloc(event_list_check *f, noted_event at, u32 origin, u64 size);
void event_list_check_free(event_list_check *f, const entry_block *noted, i64 ticks, u32 rank);
void event_list_check_realloc(event_list_check *f, const entry_block *noted, i64 ticks, u32 rank);

/* The entries of the event list, which is closed first unless it was; f->told. */
const told *event_list_check_read(event_list_check *f);

/* Is the entry the one expected? `time` counts ticks of the event list from 1. */
void event_list_check_told(const told *row, u32 time, entry_kind kind, u32 origin, u64 size);

bool event_list_check_survives(const event_list_check *f, u32 rank);

#endif
