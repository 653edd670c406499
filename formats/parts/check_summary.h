/* check_summary.h - the first line of a verdict, and what was required. */
#ifndef ETLHEAP_CHECK_SUMMARY_H
#define ETLHEAP_CHECK_SUMMARY_H

#include "check_parts.h"

/* Appends the verdict as a sentence: "2 of 3 limits are exceeded". */
void etlheap_check_add_verdict(etlheap_text *text, const etlheap_check *check);

/* Appends the verdict and what was compared with what: "1 of 2 limits is exceeded: heap and extent
 * of new.etl from 5.000 s to 9.000 s, compared with base.ehs". */
void etlheap_check_add_summary(etlheap_text *text, const etlheap_result *result,
                               const etlheap_check *check);

/* Appends the unmet requirements as a phrase: "required process svc.exe has no memory events";
 * nothing if all are met. */
void etlheap_check_add_unmet(etlheap_text *text, const etlheap_check *check);

/* Appends what is missing, what there is instead, and what to do: "no process with memory events
 * matches 'svc.exe', which is required; processes with memory events: app.exe (8: heap)". */
void etlheap_check_add_requirement(etlheap_text *text, const etlheap_check *check,
                                   const etlheap_gate_requirement *requirement, etl_hint_fn *say);

/* Appends the processes that have memory in the baseline and no events in this run, as a sentence
 * without a full stop; nothing if there are none. */
void etlheap_check_add_missing(etlheap_text *text, const etlheap_gate *gate);

/* The option that makes the requirement, as a word: "require-process". */
const char *etlheap_check_requirement_option(const etlheap_gate_requirement *requirement);

/* True if the verdict fails for the requirement. A baseline that this run became is not missing. */
bool etlheap_check_is_unmet(const etlheap_check *check,
                            const etlheap_gate_requirement *requirement);

#endif
