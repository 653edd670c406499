/* spikes_find.h - finds the spikes of one row of time windows. */
#ifndef ETLHEAP_SPIKES_FIND_H
#define ETLHEAP_SPIKES_FIND_H

#include "engine/engine.h"

#include "engine/core/arena.h"
#include "parser/base.h"

#define SPIKES_PART 10u /* of all windows: what lasts longer is a level */

/* A spike, in windows. */
typedef struct found_spike {
    u32 row;
    u32 first, end; /* windows [first, end) in which something is above the level */
    u32 top;        /* the window with the peak */
    i64 height_size, peak_size;
} found_spike;

typedef ETLHEAP_VECTOR(found_spike) found_spikes;

/* How many windows a level lasts at least. */
u32 spikes_level_windows(const etlheap_windows *windows);

/* Appends the spikes of a row, in the order of time. The windows follow each other without gaps.
 * False without memory. */
bool spikes_find(const etlheap_windows *windows, u32 row, found_spikes *out);

#endif
