/*
 * mark_list.h - moments with a name, as they are collected.
 *
 *     records ──▶ mark_note ──▶ mark_list: the earliest ETLHEAP_MARKS_MAX ──▶ etlheap_marks
 *
 * The order is by (ticks, stream, place in the stream), so that neither slices nor threads show.
 * More marks than are kept may come in any order: the list holds up to twice as many, then drops
 * the later half. What cannot be among the earliest any more is not even interned.
 */
#ifndef ETLHEAP_MARK_LIST_H
#define ETLHEAP_MARK_LIST_H

#include "engine/core/intern.h"
#include "engine/etlheap_marks.h"

/* A mark as a record says it; its name is the task's, valid UTF-8. */
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
    u64 order; /* of arrival: places in one stream */
    u32 name;  /* in the strings */
    bool is_end, is_cut;
} mark_row;

/* Starts from {0}. */
typedef struct mark_list {
    ETLHEAP_VECTOR(mark_row) rows;
    ETLHEAP_VECTOR(etlheap_mark) made; /* by mark_list_settle */
    etlheap_marks marks;               /* of `made` */
    u64 arrived;
    i64 until_ticks; /* with is_full: what is later is left out */
    bool is_full;
} mark_list;

/*
 * A note of a name in whatever text, which is copied to the arena: of UTF-16, or 8-bit text. Bytes
 * beyond ETLHEAP_MARK_NAME_MAX are cut off; the empty name becomes "unnamed". False without memory.
 */
bool mark_note_name(mark_note *note, etl_text name, etlheap_arena *arena);

/* Adds the note of a PerfInfo/Mark at a place. False without memory. */
bool mark_notes_add(mark_notes *notes, const mark_note *where, const etl_event *event,
                    etlheap_arena *arena);

/* Notes of one stream come in its order. Names go to the strings. False without memory. */
bool mark_list_add(mark_list *list, const mark_note *note, etlheap_strings *strings);

/* Makes list->marks of what was added. False without memory. */
bool mark_list_settle(mark_list *list, const etlheap_strings *strings, const etl_session *clock);

/* The second half of that: times and numbers, of what stands in list->made. */
bool mark_list_number(mark_list *list, const etl_session *clock);

/* The generation of a moment: how many marks are at or before it. *latest is where the search
 * begins, for moments that come in order; 0 at first. */
static inline u32 mark_generation(const etlheap_marks *marks, i64 ticks, u32 *latest)
{
    const u32 at = *latest;
    if (at <= marks->count && (at == 0 || marks->at[at - 1].ticks <= ticks) &&
        (at == marks->count || ticks < marks->at[at].ticks))
        return at;
    u32 low = 0, high = marks->count;
    while (low < high) {
        const u32 middle = low + (high - low) / 2;
        if (marks->at[middle].ticks <= ticks)
            low = middle + 1;
        else
            high = middle;
    }
    *latest = low;
    return low;
}

void mark_list_free(mark_list *list);

#endif
