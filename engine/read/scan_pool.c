/*
 * scan_pool.c - makes rows from events of the kernel's pools.
 *
 * In: decoded events. Out: memory events of kind POOL. Pool belongs to the system, but its rows are
 * those of the process that asked for it: the one that was running, as the event's header says.
 * If the header names none, the stack does when all is read (foreign_asker). Until then, and for
 * blocks of rundowns, it is the process System. A free may be of any process.
 */
#include "scan_pool.h"

#include "engine/context/pool_heap.h"

#define VISTA_MAJOR 6u

typedef struct pool_op {
    memory_op op;
    bool is_session, is_rundown;
} pool_op;

static pool_op op_of(etl_event_kind kind)
{
    switch (kind) {
    case ETL_EVENT_POOL_ALLOC:
        return (pool_op){ OP_POOL_ALLOC, false, false };
    case ETL_EVENT_POOL_ALLOC_SESSION:
        return (pool_op){ OP_POOL_ALLOC, true, false };
    case ETL_EVENT_POOL_FREE:
        return (pool_op){ OP_POOL_FREE, false, false };
    case ETL_EVENT_POOL_FREE_SESSION:
        return (pool_op){ OP_POOL_FREE, true, false };
    case ETL_EVENT_POOL_DCSTART:
        return (pool_op){ OP_POOL_AT_START, false, true };
    case ETL_EVENT_POOL_SESSION_DCSTART:
        return (pool_op){ OP_POOL_AT_START, true, true };
    case ETL_EVENT_POOL_DCEND:
        return (pool_op){ OP_POOL_AT_END, false, true };
    default:
        return (pool_op){ OP_POOL_AT_END, true, true };
    }
}

/* Did the numbers of the events have other meanings? */
static bool is_before_vista(const scanner *s)
{
    const u64 stream = s->out->stream;
    const etl_session *const session =
        etl_session_of(s->input->traces[plan_trace(stream)], plan_session(stream));
    return session->os_major > 0 && session->os_major < VISTA_MAJOR;
}

/* Rundowns do not say of which session a block is. */
static bool push_block(scanner *s, const pool_op *what, const etl_pool_block *block)
{
    const u32 session = !what->is_session  ? KEY_SESSION_SYSTEM
                        : what->is_rundown ? KEY_SESSION_UNKNOWN
                                           : key_session_of(block->session_id);
    return scan_push_event(s,
                           (memory_event){ .op = (u8)what->op,
                                           .address = block->entry,
                                           .size = block->size_bytes,
                                           .heap = pool_heap(block->tag, block->pool_type, session),
                                           .pid = what->is_rundown ? SYSTEM_PID : scan_running(s),
                                           .tid = s->record->tid });
}

bool scan_pool(scanner *s, const etl_event *event)
{
    const pool_op what = op_of(event->kind);
    const u32 count = what.is_rundown ? etl_pool_block_count(s->record) : 0;
    if (is_before_vista(s))
        return true;
    if (!what.is_rundown)
        return push_block(s, &what, &event->as.pool_block);
    etl_diag_add(&s->out->diag, ETL_DIAG_pool_rundown_unknown, count == 0);
    etl_pool_block block;
    bool ok = true;
    for (u32 i = 0; ok && i < count && etl_pool_block_at(s->record, i, &block); i++)
        ok = push_block(s, &what, &block);
    return ok;
}
