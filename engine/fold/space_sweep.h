/*
 * space_sweep.h - from one end of a process's regions to the other: runs, amounts, pins.
 *
 * A region is walked unit by unit, but for stretches in which nothing changes, which are one
 * step: so the terabytes that a program may reserve cost nothing.
 */
#ifndef ETLHEAP_SPACE_SWEEP_H
#define ETLHEAP_SPACE_SWEEP_H

#include "engine/engine.h"
#include "space_regions.h"

/* A pin and its largest block. */
typedef struct space_pin {
    etlheap_map_pin pin;
    u64 heap;
    space_block largest;
} space_pin;

/* What the sweeps of all processes put out. */
typedef struct space_output {
    ETLHEAP_VECTOR(etlheap_map_region) regions;
    ETLHEAP_VECTOR(etlheap_map_run) runs;
    ETLHEAP_VECTOR(etlheap_map_heap) heaps;
    ETLHEAP_VECTOR(space_pin) pins;
} space_output;

/* Appends what the process has, and fills in all of *out but its name and pid. Pins have the
 * number `process`. Modules of regions are left NULL. False without memory. */
bool space_sweep(space_output *to, const space_process *from, const space_regions *regions,
                 u32 process, etlheap_map_process *out);

#endif
