/*
 * order_times.h - times of events that go back, on one thread, before a slice is put in order.
 */
#ifndef ETLHEAP_ORDER_TIMES_H
#define ETLHEAP_ORDER_TIMES_H

#include "order.h"

/* Makes the times of each stream ascend from the start of the slice, and sets order->last_ticks.
 * The tasks of a stream follow each other. An event after a record of another kind with a later
 * time may be read only with the next slice. A raised event gets a process for its new time; the
 * old one may have ended. False if memory runs out. */
bool order_raise_times(slice_order *order, scan_output *tasks);

#endif
