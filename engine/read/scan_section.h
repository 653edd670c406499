/* scan_section.h - sections of the page file in the scan. */
#ifndef ETLHEAP_SCAN_SECTION_H
#define ETLHEAP_SCAN_SECTION_H

#include "scan_inside.h"

/* Handles the creation, the deletion or a listing of a section. False if memory runs out. */
bool scan_section(scanner *s, const etl_event *event);

#endif
