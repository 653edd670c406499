/*
 * scan_handle.c - makes rows from events of handles.
 *
 * In: decoded events. Out: memory events of kind HANDLE: the address is the handle, the heap the
 * type of its object.
 *
 * A handle belongs to the process in whose table it is: that of the thread which created or closed
 * it, or the target of a duplicate, whose stack is then one of another process. Handles of the
 * kernel are in the table of System, whichever process was running.
 */
#include "scan_handle.h"

#define SYSTEM_PID       4u
#define HANDLE_USER_BITS 3u /* Windows ignores them, so programs may set them */

static bool push_handle(scanner *s, memory_op op, u32 pid, u32 handle, u16 object_type)
{
    const bool is_of_kernel = (handle & ETL_KERNEL_HANDLE) != 0;
    const u32 number = etlheap_kind_at(ETLHEAP_KIND_HANDLE)->lane;
    if (pid == ETL_NO_ID && !is_of_kernel) {
        etl_diag_add(&s->out->diag, ETL_DIAG_handle_process_unknown, 1);
        return true;
    }
    return scan_push_event(s, (memory_event){ .op = (u8)op,
                                              .address = handle & ~HANDLE_USER_BITS,
                                              .size = 1, /* ETLHEAP_KIND_NO_SIZES */
                                              .heap = logged_heap(number, object_type),
                                              .pid = is_of_kernel ? SYSTEM_PID : pid,
                                              .tid = s->record->tid });
}

bool scan_handle(scanner *s, const etl_event *event)
{
    const etl_handle_event *const one = &event->as.handle;
    const etl_handle_duplicate *const copy = &event->as.handle_duplicate;
    switch (event->kind) {
    case ETL_EVENT_HANDLE_CREATE:
        return push_handle(s, OP_HANDLE_CREATE, s->record->pid, one->handle, one->object_type);
    case ETL_EVENT_HANDLE_CLOSE:
        return push_handle(s, OP_HANDLE_CLOSE, s->record->pid, one->handle, one->object_type);
    case ETL_EVENT_HANDLE_DUPLICATE:
        return push_handle(s, OP_HANDLE_CREATE, copy->target_process_id, copy->target_handle,
                           copy->object_type);
    case ETL_EVENT_HANDLE_DCSTART:
        return push_handle(s, OP_HANDLE_AT_START, one->process_id, one->handle, one->object_type);
    default:
        return push_handle(s, OP_HANDLE_AT_END, one->process_id, one->handle, one->object_type);
    }
}
