/* scan_handle.h - events of handles in the scan. */
#ifndef ETLHEAP_SCAN_HANDLE_H
#define ETLHEAP_SCAN_HANDLE_H

#include "scan_inside.h"

/* Handles a create, a close, a duplicate or a row of a rundown. False if memory runs out. */
bool scan_handle(scanner *s, const etl_event *event);

#endif
