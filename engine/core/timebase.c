/*
 * timebase.c - brings the clocks of several log-file headers to one. timebase.h says when two are
 * the same clock.
 *
 * In: the sessions of all traces. Out: a map for each, from its ticks to those of the base clock.
 * Invariant: if clocks are of one boot, ticks map exactly, which stack walks need; a mismatch is
 * counted, not hidden.
 */
#include "timebase.h"

#include <stdlib.h>

#define EARLY_NS               ((i64)60 * 1000 * 1000 * 1000)
#define SAME_BOOT_TOLERANCE_NS ((i64)2 * 1000 * 1000 * 1000)

static i64 wall_difference_ns(const etl_session *from, const etl_session *base);

tick_map tick_map_make(const etl_session *from, const etl_session *base)
{
    tick_map map = { from, base, false };
    if (from == base) {
        map.identity = true;
    } else if (from->clock == base->clock && from->clock_hz == base->clock_hz) {
        const i64 by_ticks = etl_time_ns(base, from->header_ticks);
        const i64 by_wall = wall_difference_ns(from, base);
        const i64 error = etl_sat_add_i64(by_ticks, -by_wall);
        map.identity = error >= -SAME_BOOT_TOLERANCE_NS && error <= SAME_BOOT_TOLERANCE_NS;
    }
    return map;
}

/* FILETIME is below 2^63 and the difference fits; its product with 100 may not. */
static i64 wall_difference_ns(const etl_session *from, const etl_session *base)
{
    i64 difference;
    if (__builtin_sub_overflow(from->start_time_filetime, base->start_time_filetime, &difference))
        return INT64_MAX / 2;
    i64 ns;
    if (__builtin_mul_overflow(difference, (i64)100, &ns))
        return difference > 0 ? INT64_MAX / 2 : -(INT64_MAX / 2);
    return ns > INT64_MAX / 2 ? INT64_MAX / 2 : ns < -(INT64_MAX / 2) ? -(INT64_MAX / 2) : ns;
}

i64 tick_map_convert(const tick_map *map, i64 ticks)
{
    const i64 own_ns = etl_time_ns(map->from, ticks);
    return etl_time_ticks(map->base,
                          etl_sat_add_i64(own_ns, wall_difference_ns(map->from, map->base)));
}

bool timebase_open(timebase *out, etl_trace *const *traces, u32 trace_count)
{
    *out = (timebase){ .base = etl_session_of(traces[0], 0) };
    u32 total = 0;
    for (u32 i = 0; i < trace_count; i++)
        total += etl_session_count(traces[i]);
    out->first = calloc(trace_count, sizeof *out->first);
    out->maps = calloc(total, sizeof *out->maps);
    if (out->first == NULL || out->maps == NULL) {
        timebase_close(out);
        return false;
    }
    for (u32 i = 0; i < trace_count; i++) {
        out->first[i] = out->map_count;
        for (u32 k = 0; k < etl_session_count(traces[i]); k++) {
            const tick_map map = tick_map_make(etl_session_of(traces[i], k), out->base);
            out->mismatch |= !map.identity;
            out->maps[out->map_count++] = map;
        }
    }
    return true;
}

void timebase_close(timebase *base)
{
    free(base->maps);
    free(base->first);
    *base = (timebase){ 0 };
}

i64 timebase_earliest(const timebase *base)
{
    i64 first_ticks = base->base->header_ticks;
    for (u32 i = 0; i < base->map_count; i++) {
        const tick_map *const map = &base->maps[i];
        const i64 ticks = tick_map_apply(map, map->from->header_ticks);
        first_ticks = ticks < first_ticks ? ticks : first_ticks;
    }
    return etl_sat_add_i64(first_ticks, -timebase_span(base, EARLY_NS));
}

i64 timebase_span(const timebase *base, i64 ns)
{
    etl_session clock = *base->base;
    clock.header_ticks = 0; /* or a span would be cut at the last of all times */
    const i64 span = etl_time_ticks(&clock, ns);
    return span < 1 ? 1 : span;
}

i64 timebase_end_ns(const etl_session *session, i64 ticks)
{
    const i64 next_ns = etl_time_ns(session, etl_sat_add_i64(ticks, 1));
    const i64 least_ns = etl_sat_add_i64(etl_time_ns(session, ticks), 1);
    return next_ns > least_ns ? next_ns : least_ns;
}
