/*
 * window_cuts.c - finds the window of a moment before the end of the recording is known.
 *
 * In: a list of moments, or an anchor and a period. Out: the piece [from, to) that contains a time.
 */
#include "window_cuts.h"

#include <stdlib.h>

void window_cuts_free(window_cuts *cuts)
{
    free(cuts->cuts);
    *cuts = (window_cuts){ .session = NULL };
}

static cuts_piece piece_of_multiples(const window_cuts *cuts, i64 ticks)
{
    const i64 every = cuts->every_ns;
    /* Windows end at the largest time or before: none begins there, and what ends there
     * has the ticks behind it, too. */
    const i64 told_ns = etl_time_ns(cuts->session, ticks);
    const i64 at_ns = told_ns == INT64_MAX ? INT64_MAX - 1 : told_ns;
    i64 distance, start, end;
    if (__builtin_sub_overflow(at_ns, cuts->anchor_ns, &distance))
        return (cuts_piece){ INT64_MIN, INT64_MAX };
    const i64 past = distance % every;
    const i64 since = past >= 0 ? past : past + every;
    const bool has_start = !__builtin_sub_overflow(at_ns, since, &start);
    const bool has_end = !__builtin_add_overflow(at_ns, every - since, &end) && end < INT64_MAX;
    return (cuts_piece){ has_start ? etl_time_ticks(cuts->session, start) : INT64_MIN,
                         has_end ? etl_time_ticks(cuts->session, end) : INT64_MAX };
}

static cuts_piece piece_of_cuts(const window_cuts *cuts, i64 ticks)
{
    u32 low;
    ETL_BISECT(low, 0, cuts->cut_count, cuts->cuts[low] <= ticks);
    return (cuts_piece){ low == 0 ? INT64_MIN : cuts->cuts[low - 1],
                         low == cuts->cut_count ? INT64_MAX : cuts->cuts[low] };
}

cuts_piece window_cuts_piece(const window_cuts *cuts, i64 ticks)
{
    if (ticks < cuts->from_ticks)
        return (cuts_piece){ INT64_MIN, cuts->from_ticks };
    if (ticks >= cuts->to_ticks)
        return (cuts_piece){ cuts->to_ticks, INT64_MAX };
    cuts_piece piece =
        cuts->every_ns > 0 ? piece_of_multiples(cuts, ticks) : piece_of_cuts(cuts, ticks);
    if (piece.from_ticks < cuts->from_ticks)
        piece.from_ticks = cuts->from_ticks;
    if (piece.to_ticks > cuts->to_ticks)
        piece.to_ticks = cuts->to_ticks;
    return piece;
}
