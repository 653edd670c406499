/*
 * windows.h - what the engine's other parts ask of windows.
 */
#ifndef ETLHEAP_WINDOWS_INSIDE_H
#define ETLHEAP_WINDOWS_INSIDE_H

#include "engine.h"

/* The first window from this one on in which something happens to the row; the number
 * of windows when there is none. Those before it are all alike. The windows must
 * follow each other without gaps, and be of no summary. */
u32 windows_next_news(const etlheap_windows *windows, u32 row, u32 window);

#endif
