/* summary_file.h - reads and writes summaries as stores (.ehs). */
#ifndef ETLHEAP_SUMMARY_FILE_H
#define ETLHEAP_SUMMARY_FILE_H

#include "engine/log/ehs_table.h"
#include "summary.h"

/* Writes a finished summary to a file. ETL_ERR_IO, ETL_ERR_MEMORY. */
etl_status summary_save(const etlheap_result *result, const etlheap_store_options *options);

/* Fills a zeroed result from a summary's file; with facts_only, without its entries. The caller
 * frees the result in any case. ETL_ERR_CORRUPT, ETL_ERR_MEMORY, ETL_ERR_LIMIT. */
etl_status summary_load(ehs_loader *loader, bool facts_only, etlheap_result *result);

#endif
