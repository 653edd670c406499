/*
 * ehs_facts.h - all that a store keeps of a result besides events.
 *
 * Processes, modules, volumes, counts by hook and provider, diagnostics, the
 * files and the trace's own facts: what `info` prints and what other answers look
 * names up in. Each is a table of ehs_table.h. Diagnostics are kept by name, so
 * that a later version may order them otherwise.
 */
#ifndef ETLHEAP_EHS_FACTS_H
#define ETLHEAP_EHS_FACTS_H

#include "engine/log/ehs_table.h"
#include "result.h"

/* Encodes the facts of a finished result. False without memory. */
bool ehs_facts_save(ehs_saver *saver, const etlheap_result *result);

/*
 * Fills the facts of a zeroed result, whose text is then its own. Processes,
 * modules and names are as they were; the rest of the context, which only a run
 * needs, stays empty. CORRUPT, MEMORY, LIMIT; the result is the caller's to free
 * (etlheap_result_free) in any case.
 */
etl_status ehs_facts_load(ehs_loader *loader, etlheap_result *result);

/* What can be analysed as the bits of column trace.can, and back. */
u32 ehs_abilities_bits(const etlheap_abilities *can);
void ehs_abilities_set(etlheap_abilities *can, u32 bits);

/* Whether times in such a clock can be told. */
bool ehs_is_clock(u64 clock_hz);

#endif
