/*
 * timebase.h - one clock for several log-file headers.
 *
 * Two headers have the same raw clock if clock type and frequency agree, and the wall times they
 * state differ as much as their ticks do, within two seconds. They are then of one boot, and ticks
 * compare exactly, which stack walks need. Otherwise ticks are converted through wall time,
 * accurate to milliseconds.
 *
 * Source: docs/format/container.md, 6; the two seconds allow for corrections of the wall clock
 * between the two moments.
 */
#ifndef ETLHEAP_TIMEBASE_H
#define ETLHEAP_TIMEBASE_H

#include "parser/base.h"
#include "parser/parser.h"

typedef struct tick_map {
    const etl_session *from;
    const etl_session *base;
    bool identity;
} tick_map;

tick_map tick_map_make(const etl_session *from, const etl_session *base);

i64 tick_map_convert(const tick_map *map, i64 ticks);

/* INT64_MAX stands for "never", so a record at that time is moved one tick earlier; otherwise no
 * window could contain it. */
static inline i64 tick_map_apply(const tick_map *map, i64 ticks)
{
    const i64 mapped = map->identity ? ticks : tick_map_convert(map, ticks);
    return mapped - (mapped == INT64_MAX);
}

/* Maps from the clocks of all sessions of several traces to the first session of the first
 * trace. */
typedef struct timebase {
    const etl_session *base;
    tick_map *maps; /* by first[trace] + session */
    u32 *first;     /* one per trace */
    u32 map_count;
    bool mismatch; /* true if some map is not the identity */
} timebase;

bool timebase_open(timebase *out, etl_trace *const *traces, u32 trace_count);
void timebase_close(timebase *base);

static inline const tick_map *timebase_map(const timebase *base, u32 trace, u32 session)
{
    return &base->maps[base->first[trace] + session];
}

/* The first of ascending ticks, from index `low` on, that is at or after a moment; `end`: none. */
static inline u32 ticks_at_or_after(const i64 *ticks, u32 low, u32 end, i64 moment)
{
    while (low < end) {
        const u32 middle = low + (end - low) / 2;
        if (ticks[middle] < moment)
            low = middle + 1;
        else
            end = middle;
    }
    return low;
}

/* The earliest possible time of a record, in the base clock: a minute before the first log-file
 * header. Corrections and joins of clocks are smaller than that. */
i64 timebase_earliest(const timebase *base);

/* The first nanosecond after a tick. With a clock faster than 1 GHz, the next tick may be in the
 * same nanosecond. */
i64 timebase_end_ns(const etl_session *session, i64 ticks);

/* Ticks of the base clock in `ns` nanoseconds, at least 1. */
i64 timebase_span(const timebase *base, i64 ns);

#endif
