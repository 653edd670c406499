/* scan_heaps.h - events of whole heaps: their sizes, and their extents. Part of the scan. */
#ifndef ETLHEAP_SCAN_HEAPS_H
#define ETLHEAP_SCAN_HEAPS_H

#include "scan_inside.h"

/* Notes what the event says about the sizes of its heap. False if memory runs out, as for the
 * others. */
bool scan_heap_note(scanner *s, const etl_event *event);

/* The same, for events that belong to no block or extent, but count as events of heaps. */
bool scan_heap_sizes(scanner *s, const etl_event *event);
bool scan_heap_extent(scanner *s, const etl_event *event);

/* Counts an event of a heap that is not about one block or extent. */
bool scan_count_heap_event(scanner *s);

#endif
