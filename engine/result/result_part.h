/* result_part.h - saves and loads the part of a recording that a store has; see etlheap_part.h. */
#ifndef ETLHEAP_RESULT_PART_H
#define ETLHEAP_RESULT_PART_H

#include "engine/log/ehs_table.h"
#include "result.h"

/* Completes what follows from the lists of words and processes. Call it when they have changed. */
void result_part_complete(result_part *part);

/* True if the process is one of the part's. */
bool result_part_has(const result_part *part, u32 process);

/* Encodes the part; nothing for a whole recording. False if memory runs out. */
bool result_part_save(ehs_saver *saver, const result_part *part);

/* Loads the part of a file with this many processes. ETL_ERR_CORRUPT, ETL_ERR_MEMORY,
 * ETL_ERR_LIMIT, ETL_ERR_UNSUPPORTED. */
etl_status result_part_load(ehs_loader *loader, u32 process_count, result_part *part);

#endif
