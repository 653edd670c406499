/*
 * windows_lattice.c - finds the window of a moment before the end of the recording is known.
 *
 * In: a list of moments, or an anchor and a period. Out: the piece [from, to) that contains a time.
 */
#include "windows_lattice.h"

#include <stdlib.h>

void windows_lattice_free(windows_lattice *lattice)
{
    free(lattice->cuts);
    *lattice = (windows_lattice){ .session = NULL };
}

static lattice_piece piece_of_multiples(const windows_lattice *lattice, i64 ticks)
{
    const i64 every = lattice->every_ns;
    /* Windows end at the largest time or before: none begins there, and what ends there
     * has the ticks behind it, too. */
    const i64 told_ns = etl_time_ns(lattice->session, ticks);
    const i64 at_ns = told_ns == INT64_MAX ? INT64_MAX - 1 : told_ns;
    i64 distance, start, end;
    if (__builtin_sub_overflow(at_ns, lattice->anchor_ns, &distance))
        return (lattice_piece){ INT64_MIN, INT64_MAX };
    const i64 past = distance % every;
    const i64 since = past >= 0 ? past : past + every;
    const bool has_start = !__builtin_sub_overflow(at_ns, since, &start);
    const bool has_end = !__builtin_add_overflow(at_ns, every - since, &end) && end < INT64_MAX;
    return (lattice_piece){ has_start ? etl_time_ticks(lattice->session, start) : INT64_MIN,
                            has_end ? etl_time_ticks(lattice->session, end) : INT64_MAX };
}

static lattice_piece piece_of_cuts(const windows_lattice *lattice, i64 ticks)
{
    u32 low;
    ETL_BISECT(low, 0, lattice->cut_count, lattice->cuts[low] <= ticks);
    return (lattice_piece){ low == 0 ? INT64_MIN : lattice->cuts[low - 1],
                            low == lattice->cut_count ? INT64_MAX : lattice->cuts[low] };
}

lattice_piece windows_lattice_piece(const windows_lattice *lattice, i64 ticks)
{
    if (ticks < lattice->from_ticks)
        return (lattice_piece){ INT64_MIN, lattice->from_ticks };
    if (ticks >= lattice->to_ticks)
        return (lattice_piece){ lattice->to_ticks, INT64_MAX };
    lattice_piece piece =
        lattice->every_ns > 0 ? piece_of_multiples(lattice, ticks) : piece_of_cuts(lattice, ticks);
    if (piece.from_ticks < lattice->from_ticks)
        piece.from_ticks = lattice->from_ticks;
    if (piece.to_ticks > lattice->to_ticks)
        piece.to_ticks = lattice->to_ticks;
    return piece;
}
