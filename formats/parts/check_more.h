/*
 * check_more.h - the command that shows more of a failure than a check does.
 *
 * The program provides the command in its hint (parser/hint.h), with placeholders for what only the
 * verdict knows: {files}, {baseline}, {kind}, {process}, {heap}, {frame}, {from}, {to}, {sort}, and
 * {selection}, the options of the check that select and name. A part in brackets is left out if a
 * placeholder in it is empty: "report {files}[ --process {process}]".
 */
#ifndef ETLHEAP_CHECK_MORE_H
#define ETLHEAP_CHECK_MORE_H

#include "export_numbers.h"

/* The commands of one verdict. Start with the first three members set and the last one 0; free
 * `written` with export_numbers_free. */
typedef struct etlheap_check_commands {
    const etlheap_result *result;
    const etlheap_check *check;
    etl_hint_fn *say;
    export_numbers written; /* the commands so far */
} etlheap_check_commands;

/* Appends the command for the largest stack of a failed subject, quoted for a shell; nothing if the
 * program has none, or if the command was written before. */
void etlheap_check_add_more(etlheap_text *text, etlheap_check_commands *commands,
                            const etlheap_gate_budget *budget, const etlheap_gate_subject *subject);

/* Appends that a login was left out of the commands, if there are any and it was. */
void etlheap_check_add_login(etlheap_text *text, const etlheap_check_commands *commands);

/* Appends "heap: app.exe!zmalloc allocates 9.0 MiB of 10.0 MiB for 12 functions that call it", and
 * the program's hint. */
void etlheap_check_add_wrapper(etlheap_text *text, const etlheap_gate_wrapper *wrapper,
                               etl_hint_fn *say);

#endif
