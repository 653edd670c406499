/* check_parts.h - shared by the reports of a check: texts for budgets, subjects and failures. */
#ifndef ETLHEAP_CHECK_PARTS_H
#define ETLHEAP_CHECK_PARTS_H

#include "formats/io/text_buffer.h"

/* Appends "outstanding size per process", "growth of outstanding count per stack" or the like. */
void etlheap_check_add_budget(etlheap_text *text, const etlheap_budget *budget);

/* The name of the limit as a word: "max-growth-count". */
const char *etlheap_check_option(const etlheap_budget *budget);

/* Appends "10.0 MiB", "64 allocations" or "64.0 KiB + 5 %". */
void etlheap_check_add_limit(etlheap_text *text, const etlheap_budget *budget);

/* Appends a value of the budget: "640 KiB" or "160 allocations", with "+" for growth. */
void etlheap_check_add_value(etlheap_text *text, const etlheap_budget *budget, i64 value);

/* Appends "heap app.exe (4321) 0x1f0000", "heap app.exe (4321) app.exe!grow leak.cpp:42, called by
 * app.exe!run main.cpp:7", "heap total" or "heap load#2". Stacks have as many callers as tell them
 * apart from the others listed; with_ids false leaves out callers, lines and everything else that
 * differs from run to run. */
void etlheap_check_add_subject(etlheap_text *text, const etlheap_gate_budget *budget,
                               const etlheap_gate_subject *subject, bool with_ids);

/* Appends " ntdll.dll" or " app.exe!grow" if subjects are modules or functions, else nothing. */
void etlheap_check_add_place(etlheap_text *text, const etlheap_gate_budget *budget,
                             const etlheap_gate_subject *subject, bool with_ids);

/* Appends the subject without its stack, module and function. */
void etlheap_check_add_owner(etlheap_text *text, const etlheap_gate_subject *subject,
                             bool with_ids);

/* Appends "app.exe!grow, called by app.exe!run", with the callers that tell the stack apart from
 * the others listed, or "code without a recorded stack". */
void etlheap_check_add_site(etlheap_text *text, const etlheap_table *table,
                            const etlheap_gate_stack *stack);

/* Appends "640 KiB in 160 allocations exceed the limit of 128 KiB by 512 KiB"; for growth, both
 * amounts; for subjects within their limit, the amount. */
void etlheap_check_add_finding(etlheap_text *text, const etlheap_gate_budget *budget,
                               const etlheap_gate_subject *subject);

/* Appends "320 KiB in 80 allocations"; for growth "+64.0 KiB: 320 KiB in 80 allocations". */
void etlheap_check_add_share(etlheap_text *text, const etlheap_budget *budget, u32 kind,
                             const etlheap_gate_stack *stack);

/* The frames of a stack, innermost first, as indices into table->frames. */
etlheap_indices etlheap_check_frames(const etlheap_table *table, u32 stack);

/* The word for the verdict: that of the outcome, or "accepted". */
const char *etlheap_check_verdict_word(const etlheap_check *check);

/* True if amounts over their limits were accepted with this run, so they are not failures. */
bool etlheap_check_is_accepted(const etlheap_check *check);

/* The number of failed subjects of all budgets; sets *grew if one failed by growth. 0 if they were
 * accepted. */
u32 etlheap_check_failures(const etlheap_check *check, bool *grew);

/* Why a limit that needs a baseline was not judged. */
extern const char etlheap_check_no_baseline[];

/* Appends the names of kinds: "heap", "heap and extent"; `last` stands before the last one. */
void etlheap_check_add_kinds(etlheap_text *text, u32 kinds, const char *last);

/* Appends the processes with memory events, up to `most` by name. */
void etlheap_check_add_processes(etlheap_text *text, const etlheap_gate *gate, u32 most);

/* Appends why nothing could be measured, and up to `processes` processes with memory events: "no
 * process with memory events matches 'x.exe'; processes with memory events: app.exe (4321: heap,
 * extent)". */
void etlheap_check_add_absence(etlheap_text *text, const etlheap_gate *gate, u32 processes_max);

/* Appends what happened to the baseline, and why; nothing if no update was requested. */
void etlheap_check_add_ratchet(etlheap_text *text, const etlheap_check *check);

const char *etlheap_ratchet_word(etlheap_ratchet ratchet);

#endif
