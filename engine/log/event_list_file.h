/* event_list_file.h - writes chunks of the event list to disk. */
#ifndef ETLHEAP_EVENT_LIST_FILE_H
#define ETLHEAP_EVENT_LIST_FILE_H

#include "event_list.h"

/* Writes the chunk to the temporary file if the event list takes too much memory, and frees it.
 * ETL_ERR_IO. */
etl_status event_list_spill(event_list *list, event_chunk *chunk);

#endif
