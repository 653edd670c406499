/*
 * scan_mapped.c - makes rows from events of views.
 *
 * In: decoded events. Out: memory events of kind MAPPED. A view belongs to the process in the
 * payload; the thread that mapped it, and its stack, may be of another process. Its origin is the
 * file. Which file its key names at that time is known when all events of the slice are, so the
 * key is replaced then (context/file_names.h).
 */
#include "scan_mapped.h"

static memory_op op_of(etl_event_kind kind)
{
    switch (kind) {
    case ETL_EVENT_MAP_FILE:
        return OP_MAP;
    case ETL_EVENT_UNMAP_FILE:
        return OP_UNMAP;
    case ETL_EVENT_MAP_FILE_DCSTART:
        return OP_MAPPED_AT_START;
    default:
        return OP_MAPPED_AT_END;
    }
}

/* The process of a view. A record that goetw quotes has 0, for a view of an image. The idle process
 * has no views, so it is the one that is running. */
static u32 owner_of(const scanner *s, const etl_file_view *view)
{
    return view->process_id != 0 || s->record->pid == ETL_NO_ID ? view->process_id : s->record->pid;
}

bool scan_view(scanner *s, const etl_event *event)
{
    const etl_file_view *const view = &event->as.file_view;
    return scan_push_event(s, (memory_event){ .op = (u8)op_of(event->kind),
                                              .address = view->view_base,
                                              .size = view->view_size_bytes,
                                              .heap = view->file_object,
                                              .pid = owner_of(s, view),
                                              .tid = s->record->tid });
}

bool scan_name_views(scan_output *tasks, u32 task_count, file_names *files)
{
    bool ok = true;
    for (u32 i = 0; i < task_count; i++) {
        const bool has_views = (tasks[i].kinds >> ETLHEAP_KIND_MAPPED & 1) != 0;
        for (size_t k = 0; ok && has_views && k < tasks[i].events.count; k++) {
            memory_event *const event = &tasks[i].events.at[k];
            if (op_kind(event->op) == ETLHEAP_KIND_MAPPED)
                ok = file_names_number(files, event->heap, event->ticks, &event->heap);
        }
    }
    return ok;
}
