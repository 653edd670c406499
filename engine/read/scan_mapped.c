/*
 * scan_mapped.c - makes rows from events of views.
 *
 * In: decoded events. Out: memory events of kind MAPPED. A view belongs to the process in the
 * payload; the thread that mapped it, and its stack, may be of another process. Its origin is the
 * file, as a number whose name other events tell (context/logged_names.h).
 */
#include "scan_mapped.h"

#include "engine/context/logged_names.h"

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

bool scan_view(scanner *s, const etl_event *event)
{
    const etl_file_view *const view = &event->as.file_view;
    const u32 number = etlheap_kind_at(ETLHEAP_KIND_MAPPED)->lane;
    return scan_push_event(s, (memory_event){ .op = (u8)op_of(event->kind),
                                              .address = view->view_base,
                                              .size = view->view_size_bytes,
                                              .heap = logged_heap(number, view->file_object),
                                              .pid = view->process_id,
                                              .tid = s->record->tid });
}
