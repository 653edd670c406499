/*
 * space_sweep.h - sweeps the regions of a process from end to end: runs, amounts, pins.
 *
 * A region is swept unit by unit, but parts in which nothing changes are a single step. So the
 * terabytes that a program may reserve cost nothing.
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

/* The output of the sweeps of all processes. */
typedef struct space_output {
    ETLHEAP_VECTOR(etlheap_map_region) regions;
    ETLHEAP_VECTOR(etlheap_map_run) runs;
    ETLHEAP_VECTOR(etlheap_map_heap) heaps;
    ETLHEAP_VECTOR(space_pin) pins;
} space_output;

/* Appends the runs, regions and pins of a process, and sets all of *out except its name and pid.
 * Pins get the number `process`. Modules of regions are left NULL. False if memory runs out. */
bool space_sweep(space_output *to, const space_process *from, const space_regions *regions,
                 u32 process, etlheap_map_process *out);

#endif
