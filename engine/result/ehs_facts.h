/*
 * ehs_facts.h - everything in a store besides events.
 *
 * Processes, modules, volumes, counts by hook and provider, diagnostics, files and facts about the
 * trace: what `info` prints, and where other answers look names up. Each is a table of ehs_table.h.
 * Diagnostics are kept by name, so a later version may order them differently.
 */
#ifndef ETLHEAP_EHS_FACTS_H
#define ETLHEAP_EHS_FACTS_H

#include "engine/log/ehs_table.h"
#include "result.h"

/* Encodes the facts of a finished result. False if memory runs out. */
bool ehs_facts_save(ehs_saver *saver, const etlheap_result *result);

/*
 * Fills the facts of a zeroed result, which then owns its texts. Processes, modules and names are
 * restored; the rest of the context, which only a run needs, stays empty. The caller frees the
 * result (etlheap_result_free) in any case. ETL_ERR_CORRUPT, ETL_ERR_MEMORY, ETL_ERR_LIMIT.
 */
etl_status ehs_facts_load(ehs_loader *loader, etlheap_result *result);

/* Converts abilities to the bits of column trace.can, and back. */
u32 ehs_abilities_bits(const etlheap_abilities *can);
void ehs_abilities_set(etlheap_abilities *can, u32 bits);

/* True if times of a clock with this frequency can be converted. */
bool ehs_is_clock(u64 clock_hz);

#endif
