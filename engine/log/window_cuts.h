/*
 * window_cuts.h - the windows of a run, before its end is known.
 *
 * An event list for several windows records for each free whether its block was allocated in the
 * same window. So a run must know the windows before windows_plan.h can plan them: either a list of
 * moments, or one moment and a period.
 */
#ifndef ETLHEAP_WINDOW_CUTS_H
#define ETLHEAP_WINDOW_CUTS_H

#include "engine/engine.h"

#include "parser/base.h"

typedef struct window_cuts {
    const etl_session *session; /* clock of the ticks; NULL: no windows */
    i64 from_ticks, to_ticks;   /* also cuts; INT64_MIN and INT64_MAX: open */
    i64 anchor_ns, every_ns;    /* cuts at multiples of every_ns from the anchor; 0: none */
    i64 *cuts;                  /* ticks, ascending; owned */
    u32 cut_count;
} window_cuts;

/* The time between two adjacent cuts. */
typedef struct cuts_piece {
    i64 from_ticks, to_ticks;
} cuts_piece;

void window_cuts_free(window_cuts *cuts);

/* The piece that contains a moment. */
cuts_piece window_cuts_piece(const window_cuts *cuts, i64 ticks);

#endif
