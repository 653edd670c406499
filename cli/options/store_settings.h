/*
 * store_settings.h - one number for the options that change what a store holds.
 */
#ifndef CLI_STORE_SETTINGS_H
#define CLI_STORE_SETTINGS_H

#include "options.h"

/*
 * Hashes the options of `store` that have no CLI_SAME_STORE, with their values and with the content
 * of files that values name by "@". The order of different options does not count, nor where they
 * stand. Two command lines that mean the same may differ if they spell a value differently: a store
 * is then made again without need. Errors: ETL_ERR_IO if such a file cannot be read.
 */
etl_status cli_store_settings(const cli_options *options, etlheap_content_id *out, etl_error *err);

#endif
