/* continued.c - finds sessions that go on in another file; see continued.h. */
#include "continued.h"

#define MODE_NEWFILE 0x00000008u

/* Does b begin where a ended? Buffers are numbered on, or from 1 again. */
static bool goes_on(const etl_session *a, const etl_session *b)
{
    const etl_bytes x = a->name_utf16, y = b->name_utf16;
    return (a->log_file_mode & b->log_file_mode & MODE_NEWFILE) != 0 && a->clock == b->clock &&
           x.size == y.size && (x.size == 0 || memcmp(x.at, y.at, x.size) == 0) &&
           a->header_ticks < b->header_ticks &&
           (b->kept_sequence == a->last_sequence + 1 || b->buffers_overwritten == 0);
}

static const etl_session *last_session(const etl_trace *trace)
{
    return etl_session_of(trace, etl_session_count(trace) - 1);
}

u32 continued_from(etl_trace *const *traces, u32 trace_count, u32 index)
{
    const etl_session *const session = etl_session_of(traces[index], 0);
    u32 from = CONTINUED_FROM_NONE;
    for (u32 i = 0; i < trace_count; i++) {
        const etl_session *const before = last_session(traces[i]);
        if (i == index || !goes_on(before, session))
            continue;
        if (from == CONTINUED_FROM_NONE ||
            before->header_ticks < last_session(traces[from])->header_ticks)
            from = i;
    }
    return from;
}

void continued_correct(etl_trace *const *traces, u32 trace_count, etl_diag_counts *diag)
{
    for (u32 i = 0; i < trace_count; i++) {
        const u64 elsewhere = etl_session_of(traces[i], 0)->buffers_overwritten;
        if (elsewhere > 0 && continued_from(traces, trace_count, i) != CONTINUED_FROM_NONE)
            diag->of[ETL_DIAG_buffers_overwritten] -=
                etl_min_u64(elsewhere, diag->of[ETL_DIAG_buffers_overwritten]);
    }
}
