/* scan_mapped.h - views of files in the scan. */
#ifndef ETLHEAP_SCAN_MAPPED_H
#define ETLHEAP_SCAN_MAPPED_H

#include "scan_inside.h"

/* Handles MapFile, UnmapFile or a row of their rundowns. False if memory runs out. */
bool scan_view(scanner *s, const etl_event *event);

#endif
