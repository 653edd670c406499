/* recorded.c - clips windows to what was recorded; see etlheap_recorded.h. */
#include "result.h"

#define LACKED_MAX_NS    INT64_C(1000000)
#define LACKED_MAX_SHARE 100

static etlheap_time_range cut(etlheap_time_range window, i64 from_ns, i64 to_ns)
{
    etlheap_time_range out = window;
    if (from_ns > out.from_ns)
        out.from_ns = from_ns < window.to_ns ? from_ns : window.to_ns;
    if (to_ns < out.to_ns)
        out.to_ns = to_ns;
    if (out.to_ns < out.from_ns)
        out.to_ns = out.from_ns;
    return out;
}

u32 etlheap_result_kinds(const etlheap_result *result)
{
    return result->abilities.kinds;
}

etlheap_time_range etlheap_recorded_part(const etlheap_trace_info *trace, u32 kinds,
                                         etlheap_time_range window)
{
    const u32 wanted = kinds == 0 ? ETLHEAP_KINDS_DEFAULT : kinds;
    i64 from_ns = INT64_MAX, to_ns = INT64_MIN;
    for (u32 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++) {
        const etlheap_recorded *const recorded = &trace->recorded[kind];
        if ((wanted >> kind & 1) == 0 || !recorded->is_known)
            continue;
        from_ns = recorded->from_ns < from_ns ? recorded->from_ns : from_ns;
        to_ns = recorded->to_ns > to_ns ? recorded->to_ns : to_ns;
    }
    return from_ns > to_ns ? window : cut(window, from_ns, to_ns);
}

bool etlheap_recorded_lacks(etlheap_time_range part, etlheap_time_range window)
{
    const u64 whole = window.to_ns > window.from_ns ? (u64)window.to_ns - (u64)window.from_ns : 0;
    const u64 left = part.to_ns > part.from_ns ? (u64)part.to_ns - (u64)part.from_ns : 0;
    const u64 lacked = whole > left ? whole - left : 0;
    return lacked > LACKED_MAX_NS || lacked > whole / LACKED_MAX_SHARE;
}

bool etlheap_recorded_is_ring(const etlheap_result *result)
{
    return result->diag.of[ETL_DIAG_buffers_overwritten] > 0;
}
