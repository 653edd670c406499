/* scan_pool.h - events of the kernel's pools in the scan. */
#ifndef ETLHEAP_SCAN_POOL_H
#define ETLHEAP_SCAN_POOL_H

#include "scan_inside.h"

/* Handles an allocation, a free or a rundown. False if memory runs out. */
bool scan_pool(scanner *s, const etl_event *event);

#endif
