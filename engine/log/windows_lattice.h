/*
 * windows_lattice.h - the windows of a run, before its end is known.
 *
 * A journal for several windows records for each free whether its block was allocated in the same
 * window. So a run must know the windows before windows_plan.h can plan them: either a list of
 * moments, or one moment and a period.
 */
#ifndef ETLHEAP_WINDOWS_LATTICE_H
#define ETLHEAP_WINDOWS_LATTICE_H

#include "engine/engine.h"

#include "parser/base.h"

typedef struct windows_lattice {
    const etl_session *session; /* clock of the ticks; NULL: no windows */
    i64 from_ticks, to_ticks;   /* also cuts; INT64_MIN and INT64_MAX: open */
    i64 anchor_ns, every_ns;    /* cuts at multiples of every_ns from the anchor; 0: none */
    i64 *cuts;                  /* ticks, ascending; owned */
    u32 cut_count;
} windows_lattice;

/* The time between two adjacent cuts. */
typedef struct lattice_piece {
    i64 from_ticks, to_ticks;
} lattice_piece;

void windows_lattice_free(windows_lattice *lattice);

/* The piece that contains a moment. */
lattice_piece windows_lattice_piece(const windows_lattice *lattice, i64 ticks);

#endif
