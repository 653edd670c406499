/* naming.h - looks up the names of all functions of an input. */
#ifndef CLI_NAMING_H
#define CLI_NAMING_H

#include "engine/engine.h"

#include "parser/base.h"

/* Names all frames of all stacks, so that whoever asks the symbols after that waits for nothing.
 * `cancel` as in etlheap_query. Errors as for etlheap_aggregate and etlheap_table_name. */
etl_status cli_name_all(const etlheap_result *result, etlheap_symbols *symbols, u32 jobs,
                        const u32 *cancel, etl_error *err);

#endif
