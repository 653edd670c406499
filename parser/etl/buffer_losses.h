/* buffer_losses.h - what is missing in a file (private to the parser). */
#ifndef ETL_BUFFER_LOSSES_H
#define ETL_BUFFER_LOSSES_H

#include "buffer_index.h"

/* Counts what an index of all buffers lacks, and sets what sessions say about it.
 * ETL_ERR_MEMORY. */
etl_status etl_buffer_losses_count(etl_buffer_index *index);

#endif
