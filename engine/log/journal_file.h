/* journal_file.h - writes chunks of the journal to disk. */
#ifndef ETLHEAP_JOURNAL_FILE_H
#define ETLHEAP_JOURNAL_FILE_H

#include "journal.h"

/* Writes the chunk to the temporary file if the journal takes too much memory, and frees it.
 * ETL_ERR_IO. */
etl_status journal_spill(event_journal *journal, journal_chunk *chunk);

#endif
