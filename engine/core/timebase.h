/*
 * timebase.h - one clock for several log-file headers.
 *
 * Raw ticks of two headers are the same clock when clock type and frequency
 * agree and the wall times the headers state differ by what their ticks differ,
 * to two seconds: then they are of one boot, and ticks compare exactly, which
 * stack walks need. Otherwise ticks go through wall time, good to milliseconds.
 * Source: docs/format/container.md, 6; the two seconds allow for wall-clock
 * corrections between the two moments.
 */
#ifndef ETLHEAP_TIMEBASE_H
#define ETLHEAP_TIMEBASE_H

#include "parser/parser.h"

typedef struct tick_map {
    const etl_session *from;
    const etl_session *base;
    bool identity;
} tick_map;

tick_map tick_map_make(const etl_session *from, const etl_session *base);

i64 tick_map_convert(const tick_map *map, i64 ticks);

/* The last moment of all is taken for the one before: it stands for "never", and no window
 * could end behind it. */
static inline i64 tick_map_apply(const tick_map *map, i64 ticks)
{
    const i64 mapped = map->identity ? ticks : tick_map_convert(map, ticks);
    return mapped - (mapped == INT64_MAX);
}

/* The maps of all sessions of several traces to the first trace's first. */
typedef struct timebase {
    const etl_session *base;
    tick_map *maps; /* by first[trace] + session */
    u32 *first;     /* one per trace */
    u32 map_count;
    bool mismatch; /* some map is not the identity */
} timebase;

bool timebase_open(timebase *out, etl_trace *const *traces, u32 trace_count);
void timebase_close(timebase *base);

static inline const tick_map *timebase_map(const timebase *base, u32 trace, u32 session)
{
    return &base->maps[base->first[trace] + session];
}

/* No record can be of an earlier moment: a minute before the first of all log-file headers,
 * in the base clock. Clocks are corrected and joined by less. */
i64 timebase_earliest(const timebase *base);

/* Ticks of the base clock in `ns` nanoseconds, at least 1. */
i64 timebase_span(const timebase *base, i64 ns);

#endif
