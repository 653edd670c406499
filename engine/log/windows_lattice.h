/*
 * windows_lattice.h - into which windows a run cuts time, before it knows when it
 * ends.
 *
 * A journal that is kept for windows says of each free whether its block was
 * allocated in the same window, so a run must know the windows before the plan of
 * windows_plan.h can be made: some moments are given, or one of them and how often.
 */
#ifndef ETLHEAP_WINDOWS_LATTICE_H
#define ETLHEAP_WINDOWS_LATTICE_H

#include "engine/engine.h"

typedef struct windows_lattice {
    const etl_session *session; /* whose clock it is; NULL: time is not cut */
    i64 from_ticks, to_ticks;   /* cut here too; INT64_MIN and MAX: open */
    i64 anchor_ns, every_ns;    /* a multiple of every_ns from the anchor; 0: not so */
    i64 *cuts;                  /* ticks, ascending; owned */
    u32 cut_count;
} windows_lattice;

/* Time between two neighbouring cuts. */
typedef struct lattice_piece {
    i64 from_ticks, to_ticks;
} lattice_piece;

void windows_lattice_free(windows_lattice *lattice);

/* The piece that a moment lies in. */
lattice_piece windows_lattice_piece(const windows_lattice *lattice, i64 ticks);

#endif
