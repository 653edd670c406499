/*
 * space_regions.h - the regions of a process, and the cells in each.
 *
 * Images, views of files and reservations are regions as they were recorded. A view of an image is
 * the image. A view in a reservation, which was its placeholder, or which a rundown took for one,
 * takes its place there. Memory outside of all, for which no reservation was recorded, forms
 * regions of its own: committed ranges and blocks with gaps of less than SPACE_JOIN_UNITS units.
 *
 *     reservations   [------------)          [----)
 *     committed         [--)  [---)   [-) [-)
 *     blocks                  x  x     x          x
 *     regions        [------------)   [-----)[----)[)
 */
#ifndef ETLHEAP_SPACE_REGIONS_H
#define ETLHEAP_SPACE_REGIONS_H

#include "space_cells.h"
#include "space_ranges.h"

#define SPACE_JOIN_UNITS 16u

/* The ranges and cells of a process; borrowed. */
typedef struct space_process {
    space_slice of[SPACE_WHAT_COUNT];
    const space_cell *cells; /* sorted */
    u32 cell_count;
    u32 shift; /* the unit is 1 << shift */
} space_process;

typedef struct space_region {
    u64 start, end;
    bool is_known, is_image, is_view;
    u32 module; /* of an image */
    u64 file;   /* of a view */
} space_region;

/* A cell and its region. */
typedef struct space_placed {
    u32 region;
    const space_cell *cell;
} space_placed;

/* Start from {0}. */
typedef struct space_regions {
    space_spans solid; /* committed memory */
    ETLHEAP_VECTOR(space_region) list;
    ETLHEAP_VECTOR(space_placed) placed; /* by region, number and heap */
} space_regions;

/* False if memory runs out; free it in any case. */
bool space_regions_make(space_regions *out, const space_process *process);
void space_regions_free(space_regions *regions);

#endif
