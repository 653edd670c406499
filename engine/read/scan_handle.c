/*
 * scan_handle.c - makes rows from events of handles.
 *
 * In: decoded events. Out: memory events of kind HANDLE: the address is the handle, the heap the
 * type of its object.
 *
 * A handle belongs to the process in whose table it is: that of the thread which created or closed
 * it, or the target of a duplicate, whose stack is then one of another process. Handles of the
 * kernel are in the table of System, whichever process was running. If the header names no process,
 * the stack record does that the kernel logs right behind the event.
 */
#include "scan_handle.h"

#define HANDLE_USER_BITS 3u /* Windows ignores them, so programs may set them */

typedef struct caller {
    u32 pid, tid; /* ETL_NO_ID unknown */
} caller;

/* The process and thread of the current event. Its stack record has its time. */
static caller find_caller(const scanner *s)
{
    const caller told = { s->record->pid, s->record->tid };
    if (told.pid != ETL_NO_ID)
        return told;
    etl_diag_counts ignored = { { 0 } };
    etl_buffer behind = *s->buffer;
    etl_record next;
    etl_event event = { .kind = ETL_EVENT_NONE };
    behind.diag = &ignored;
    if (!etl_record_next(&behind, &next) || !etl_decode(&next, &event, &ignored))
        return told;
    const etl_stack_event *const stack = &event.as.stack;
    const etl_stack_key_event *const key = &event.as.stack_key;
    if (event.kind == ETL_EVENT_STACK && stack->event_ticks == s->record->ticks)
        return (caller){ stack->process_id, stack->thread_id };
    const bool is_key =
        event.kind == ETL_EVENT_STACK_KEY_KERNEL || event.kind == ETL_EVENT_STACK_KEY_USER;
    return is_key && key->event_ticks == s->record->ticks
               ? (caller){ key->process_id, key->thread_id }
               : told;
}

static bool push_handle(scanner *s, memory_op op, caller owner, u32 handle, u16 object_type)
{
    const bool is_of_kernel = (handle & ETL_KERNEL_HANDLE) != 0;
    const u32 number = etlheap_kind_at(ETLHEAP_KIND_HANDLE)->lane;
    if (owner.pid == ETL_NO_ID && !is_of_kernel) {
        etl_diag_add(&s->out->diag, ETL_DIAG_handle_process_unknown, 1);
        return true;
    }
    return scan_push_event(s, (memory_event){ .op = (u8)op,
                                              .address = handle & ~HANDLE_USER_BITS,
                                              .size = 1, /* ETLHEAP_KIND_NO_SIZES */
                                              .heap = logged_heap(number, object_type),
                                              .pid = is_of_kernel ? SYSTEM_PID : owner.pid,
                                              .tid = owner.tid });
}

/* Rows of rundowns name the owner, and no thread opened or closed what they list. */
static bool push_listed(scanner *s, memory_op op, const etl_handle_event *one)
{
    const caller owner = { one->process_id, s->record->tid };
    return push_handle(s, op, owner, one->handle, one->object_type);
}

bool scan_handle(scanner *s, const etl_event *event)
{
    const etl_handle_event *const one = &event->as.handle;
    const etl_handle_duplicate *const copy = &event->as.handle_duplicate;
    switch (event->kind) {
    case ETL_EVENT_HANDLE_CREATE:
        return push_handle(s, OP_HANDLE_CREATE, find_caller(s), one->handle, one->object_type);
    case ETL_EVENT_HANDLE_CLOSE:
        return push_handle(s, OP_HANDLE_CLOSE, find_caller(s), one->handle, one->object_type);
    case ETL_EVENT_HANDLE_DUPLICATE:
        return push_handle(s, OP_HANDLE_CREATE,
                           (caller){ copy->target_process_id, find_caller(s).tid },
                           copy->target_handle, copy->object_type);
    case ETL_EVENT_HANDLE_DCSTART:
        return push_listed(s, OP_HANDLE_AT_START, one);
    default:
        return push_listed(s, OP_HANDLE_AT_END, one);
    }
}
