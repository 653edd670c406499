/*
 * order_times.c - raises times that go back, so that the events of a stream are in order of time.
 *
 * In: a slice's events by task, as scanned. Out: the same with ascending times, processes in the
 * context for the raised ones, and the time of the last event.
 *
 * What happened in earlier slices is final, so no event is earlier than the slice. Invariant:
 * every event has a process that lives at its time. Otherwise it would open a block that has ended
 * already, and nothing looks for those of a process that ended long ago.
 */
#include "order_times.h"

/* Raises the time of an event. Its process may have ended by then. */
static bool raise_time(const slice_order *order, memory_event *event, i64 ticks)
{
    event->ticks = ticks;
    return context_ensure(order->context, event->pid, ticks, ticks);
}

bool order_raise_times(slice_order *order, scan_output *tasks)
{
    i64 latest = order->from_ticks;
    bool ok = true;
    order->last_ticks = order->from_ticks;
    for (u32 i = 0; i < order->task_count; i++) {
        if (i == 0 || tasks[i].stream != tasks[i - 1].stream)
            latest = order->from_ticks;
        const size_t count = tasks[i].events.count;
        if (count == 0)
            continue;
        memory_event *const events = tasks[i].events.at;
        i64 before = latest; /* as recorded */
        for (size_t k = 0; k < count && (tasks[i].is_unsorted || events[k].ticks < latest); k++) {
            const i64 recorded = events[k].ticks;
            order->steps_back += recorded < before;
            if (recorded < latest)
                ok = raise_time(order, &events[k], latest) && ok;
            before = recorded;
            latest = events[k].ticks;
        }
        latest = events[count - 1].ticks;
        order->last_ticks = latest > order->last_ticks ? latest : order->last_ticks;
    }
    return ok;
}
