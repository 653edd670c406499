/*
 * mark_list.h - collects marks.
 *
 *     records ──▶ mark_note ──▶ mark_list: the earliest ETLHEAP_MARKS_MAX ──▶ etlheap_marks
 *
 * Marks are ordered by (ticks, stream, place in the stream), so the result does not depend on
 * slices or threads. Marks may come in any order. The list holds up to twice the maximum, then
 * drops the later half. Names of marks that can no longer be among the earliest are not even
 * interned.
 */
#ifndef ETLHEAP_MARK_LIST_H
#define ETLHEAP_MARK_LIST_H

#include "engine/core/intern.h"
#include "engine/etlheap_marks.h"

/* A mark in a record. The task owns its name, which is valid UTF-8. */
typedef struct mark_note {
    i64 ticks;
    u64 stream;
    etl_bytes name;
    bool is_end;
    bool is_cut; /* the name was longer */
} mark_note;

typedef ETLHEAP_VECTOR(mark_note) mark_notes;

typedef struct mark_row {
    i64 ticks;
    u64 stream;
    u64 order; /* order of arrival, for marks of one stream */
    u32 name;  /* in the strings */
    bool is_end, is_cut;
} mark_row;

/* Starts from {0}. */
typedef struct mark_list {
    ETLHEAP_VECTOR(mark_row) rows;
    ETLHEAP_VECTOR(etlheap_mark) made; /* by mark_list_make */
    etlheap_marks marks;               /* of `made` */
    u64 arrived;
    i64 until_ticks; /* with is_full: later marks are left out */
    bool is_full;
} mark_list;

/* Sets the name of a note from UTF-16 or 8-bit text, copied to the arena. Cuts it after
 * ETLHEAP_MARK_NAME_MAX bytes; an empty name becomes "unnamed". False if memory runs out. */
bool mark_note_name(mark_note *note, etl_text name, etlheap_arena *arena);

/* Adds the note of a PerfInfo/Mark record. False if memory runs out. */
bool mark_notes_add(mark_notes *notes, const mark_note *where, const etl_event *event,
                    etlheap_arena *arena);

/* Adds a note. Notes of a stream must come in its order. Adds names to `strings`. False if memory
 * runs out. */
bool mark_list_add(mark_list *list, const mark_note *note, etlheap_strings *strings);

/* Makes list->marks from the notes. False if memory runs out. */
bool mark_list_make(mark_list *list, const etlheap_strings *strings, const etl_session *clock);

/* The second half of mark_list_make: sets times and numbers of list->made. */
bool mark_list_number(mark_list *list, const etl_session *clock);

/* The generation of a moment: the number of marks at or before it. The search starts at *latest, 0
 * at first, which makes it fast for moments in order. */
static inline u32 mark_generation(const etlheap_marks *marks, i64 ticks, u32 *latest)
{
    const u32 at = *latest;
    if (at <= marks->count && (at == 0 || marks->at[at - 1].ticks <= ticks) &&
        (at == marks->count || ticks < marks->at[at].ticks))
        return at;
    u32 low;
    ETL_BISECT(low, 0, marks->count, marks->at[low].ticks <= ticks);
    *latest = low;
    return low;
}

void mark_list_free(mark_list *list);

#endif
