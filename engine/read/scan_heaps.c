/*
 * scan_heaps.c - see scan_heaps.h. In: decoded events. Out: notes for the history of sizes
 * (heap_sizes.h), and memory events for extents.
 */
#include "scan_heaps.h"

bool scan_count_heap_event(scanner *s)
{
    const memory_event other = {
        .ticks = s->ticks, .op = OP_COUNT_HEAP, .pid = s->record->pid, .tid = s->record->tid
    };
    return scan_append_event(s->out, &other);
}

bool scan_heap_note(scanner *s, const etl_event *event)
{
    heap_note note;
    if (!heap_note_of(event, s->record->pid, &note))
        return true;
    note.ticks = s->ticks;
    note.stream = s->out->stream;
    return ETLHEAP_PUSH(&s->out->heap_notes, note);
}

bool scan_heap_sizes(scanner *s, const etl_event *event)
{
    return scan_heap_note(s, event) && scan_count_heap_event(s);
}

bool scan_heap_extent(scanner *s, const etl_event *event)
{
    const etl_heap_extent *const extent = &event->as.heap_extent;
    const memory_event row = { .op = event->kind == ETL_EVENT_HEAP_EXPAND ? OP_EXPAND : OP_CONTRACT,
                               .address = extent->address,
                               .size = extent->size_bytes,
                               .heap = extent->heap_handle,
                               .pid = s->record->pid,
                               .tid = s->record->tid };
    return scan_heap_note(s, event) && scan_push_event(s, row);
}
