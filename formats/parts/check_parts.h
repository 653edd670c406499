/*
 * check_parts.h - what the reports of a check have in common: the words for
 * budgets, subjects and failures, and which memory a verdict is about.
 */
#ifndef ETLHEAP_CHECK_PARTS_H
#define ETLHEAP_CHECK_PARTS_H

#include "formats/io/text_buffer.h"

/* "outstanding size per process", "growth of outstanding count per stack", "outstanding size per
 * mark" */
void etlheap_check_add_budget(etlheap_text *text, const etlheap_budget *budget);

/* The option that sets such a budget, without dashes: "max-growth-count". */
const char *etlheap_check_option(const etlheap_budget *budget);

/* "10.0 MiB", "64 allocations", "64.0 KiB + 5 %" */
void etlheap_check_add_limit(etlheap_text *text, const etlheap_budget *budget);

/* What a budget measures: "640 KiB" or "160 allocations", "+" before growth. */
void etlheap_check_add_value(etlheap_text *text, const etlheap_budget *budget, i64 value);

/* "heap app.exe (4321) 0x1f0000", "heap app.exe (4321) app.exe!grow  leak.cpp:42, called by
 * app.exe!run  main.cpp:7", "heap total", "heap load#2". Stacks have as many callers as tell them apart from
 * the others listed; with_ids false leaves out callers, lines and what else differs from run
 * to run. */
void etlheap_check_add_subject(etlheap_text *text, const etlheap_gate_budget *budget,
                               const etlheap_gate_subject *subject, bool with_ids);

/* The same without the stack. */
void etlheap_check_add_owner(etlheap_text *text, const etlheap_gate_subject *subject,
                             bool with_ids);

/* "app.exe!grow, called by app.exe!run", "code without a recorded stack"; with the callers that
 * tell the stack apart from the others listed. */
void etlheap_check_add_site(etlheap_text *text, const etlheap_table *table,
                            const etlheap_gate_stack *stack);

/* "640 KiB in 160 allocations exceed the limit of 128 KiB by 512 KiB"; growth says
 * from what to what. For subjects that did not exceed it, what there is. */
void etlheap_check_add_finding(etlheap_text *text, const etlheap_gate_budget *budget,
                               const etlheap_gate_subject *subject);

/* "320 KiB in 80 allocations"; growth: "+64.0 KiB: 320 KiB in 80 allocations". */
void etlheap_check_add_share(etlheap_text *text, const etlheap_budget *budget,
                             const etlheap_gate_stack *stack);

/* Frames of a stack: members of table->frames, innermost first. */
etlheap_indices etlheap_check_frames(const etlheap_table *table, u32 stack);

/* The verdict in a word: that of the outcome, or "accepted". */
const char *etlheap_check_verdict_word(const etlheap_check *check);

/* Was what exceeds its limit accepted with this run? Then it is no failure. */
bool etlheap_check_is_accepted(const etlheap_check *check);

/* Subjects that fail, of all budgets, and whether one of them does by its growth; none if they
 * were accepted. */
u32 etlheap_check_failures(const etlheap_check *check, bool *grew);

/* What came of it, in a sentence: "2 of 3 limits are exceeded". */
void etlheap_check_add_verdict(etlheap_text *text, const etlheap_check *check);

/* Why nothing could be measured, and which processes have memory events, of which so
 * many are named: "no process with memory events matches 'x.exe'; processes with memory
 * events: app.exe (4321: heap, extent)". */
void etlheap_check_add_absence(etlheap_text *text, const etlheap_gate *gate, u32 processes_max);

/* What became of the baseline, and why; "" when nothing was asked for. */
void etlheap_check_add_ratchet(etlheap_text *text, const etlheap_check *check);

const char *etlheap_ratchet_word(etlheap_ratchet ratchet);

#endif
