/*
 * mark_list.c - collects marks and keeps the earliest ones. mark_list.h draws the way of a mark.
 *
 * In: notes of the scan, in any order. Out: etlheap_marks, in order of time. Invariant: marks are
 * ordered by (ticks, stream, place in the stream), so which ones are kept depends neither on slices
 * nor on threads.
 */
#include "mark_list.h"

#include <stdlib.h>

static const char unnamed[] = "unnamed";

bool mark_note_name(mark_note *note, etl_text name, etlheap_arena *arena)
{
    char text[ETLHEAP_MARK_NAME_MAX + 1];
    const size_t size = name.is_utf16 ? etl_utf16_to_utf8(name.bytes, text, sizeof text)
                                      : etl_text_to_utf8(name.bytes, text, sizeof text);
    note->is_cut = size >= sizeof text;
    const size_t kept = note->is_cut ? strlen(text) : size;
    const etl_bytes view = kept == 0 ? (etl_bytes){ (const u8 *)unnamed, sizeof unnamed - 1 }
                                     : (etl_bytes){ (const u8 *)text, kept };
    return etlheap_arena_copy(arena, view, &note->name);
}

bool mark_notes_add(mark_notes *notes, const mark_note *where, const etl_event *event,
                    etlheap_arena *arena)
{
    mark_note note = *where;
    const etl_text name = { event->as.mark.text, false };
    return mark_note_name(&note, name, arena) && ETLHEAP_PUSH(notes, note);
}

static int by_time(const void *a, const void *b)
{
    const mark_row *const x = a, *const y = b;
    if (x->ticks != y->ticks)
        return x->ticks < y->ticks ? -1 : 1;
    if (x->stream != y->stream)
        return x->stream < y->stream ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

/* Sorts, and keeps the earliest. */
static void cut(mark_list *list)
{
    if (list->rows.count > 0)
        qsort(list->rows.at, list->rows.count, sizeof *list->rows.at, by_time);
    if (list->rows.count < ETLHEAP_MARKS_MAX)
        return;
    const u64 more = list->rows.count - ETLHEAP_MARKS_MAX;
    list->rows.count = ETLHEAP_MARKS_MAX;
    list->is_full = true;
    list->until_ticks = list->rows.at[ETLHEAP_MARKS_MAX - 1].ticks;
    etl_diag_add(&list->marks.diagnostics, ETL_DIAG_marks_left_out, more);
}

bool mark_list_add(mark_list *list, const mark_note *note, etlheap_strings *strings)
{
    mark_row row = { note->ticks, note->stream, list->arrived++, 0, note->is_end, note->is_cut };
    if (list->is_full && note->ticks > list->until_ticks) {
        etl_diag_add(&list->marks.diagnostics, ETL_DIAG_marks_left_out, 1);
        return true;
    }
    if (!etlheap_strings_add(strings, (const char *)note->name.at, note->name.size, &row.name) ||
        !ETLHEAP_PUSH(&list->rows, row))
        return false;
    if (list->rows.count >= 2 * (size_t)ETLHEAP_MARKS_MAX)
        cut(list);
    return true;
}

static int by_name(const void *a, const void *b)
{
    const etlheap_mark *const x = *(const etlheap_mark *const *)a, *const y = *(
                                                                       const etlheap_mark *const *)
                                                                                  b;
    const int order = strcmp(x->name, y->name);
    return order != 0 ? order : (x > y) - (x < y);
}

/* Counts equal names in the order of time. */
bool mark_list_number(mark_list *list, const etl_session *clock)
{
    const size_t count = list->made.count;
    etlheap_mark **const order = malloc((count + 1) * sizeof(etlheap_mark *));
    if (order == NULL)
        return false;
    for (size_t i = 0; i < count; i++) {
        order[i] = &list->made.at[i];
        order[i]->time_ns = etl_time_ns(clock, order[i]->ticks);
    }
    if (count > 0)
        qsort(order, count, sizeof(etlheap_mark *), by_name);
    for (size_t i = 0; i < count; i++) {
        const bool is_same = i > 0 && strcmp(order[i]->name, order[i - 1]->name) == 0;
        order[i]->number = is_same ? order[i - 1]->number + 1 : 1;
    }
    free(order);
    list->marks.at = list->made.at;
    list->marks.count = (u32)count;
    return true;
}

bool mark_list_make(mark_list *list, const etlheap_strings *strings, const etl_session *clock)
{
    cut(list);
    if (!ETLHEAP_RESERVE(&list->made, list->rows.count))
        return false;
    for (size_t i = 0; i < list->rows.count; i++) {
        const mark_row *const row = &list->rows.at[i];
        etl_diag_add(&list->marks.diagnostics, ETL_DIAG_mark_name_cut, row->is_cut);
        list->made.at[i] = (etlheap_mark){ .ticks = row->ticks,
                                           .name = etlheap_strings_get(strings, row->name),
                                           .is_end = row->is_end };
    }
    list->made.count = list->rows.count;
    ETLHEAP_VECTOR_FREE(&list->rows);
    return mark_list_number(list, clock);
}

void mark_list_free(mark_list *list)
{
    ETLHEAP_VECTOR_FREE(&list->rows);
    ETLHEAP_VECTOR_FREE(&list->made);
}

const etlheap_mark *etlheap_marks_find(const etlheap_marks *marks, const char *name, u32 number)
{
    for (u32 i = 0; i < marks->count; i++) {
        if (marks->at[i].number == number && strcmp(marks->at[i].name, name) == 0)
            return &marks->at[i];
    }
    return NULL;
}
