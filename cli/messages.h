/* messages.h - messages on stderr, one sentence each. */
#ifndef CLI_MESSAGES_H
#define CLI_MESSAGES_H

#include "cli/options/options.h"

/* Writes "etlheap: SUBJECT: message" and a line end; subject may be NULL. Replaces control
 * characters. */
void cli_complain(const char *subject, const char *message);

/* Writes an error with the option that helps (advice.h). If the cause is --memory, says how much
 * would be enough. */
void cli_complain_error(const char *subject, const etl_error *err);

/* Writes progress in the same form. */
void cli_tell(const char *subject, const char *message);

/* Writes "etlheap: note: ..." about something that is not a failure. */
void cli_note(const char *subject, const char *message);

/* Lets what the calling thread says from here on go to the text, a line each without the program's
 * name; NULL: to stderr. A session answers questions on threads of its own, and a message belongs
 * to the question. */
void cli_messages_to(etlheap_text *text);

/* The exit status for a failed call. */
int cli_exit_of(etl_status status);

/* For --strict: CLI_EXIT_STRICT, after a message, if the input is damaged or lost events; else
 * CLI_EXIT_DONE. */
int cli_exit_of_diagnostics(const cli_options *options, const char *subject,
                            const etl_diag_counts *counts);

/* Writes into `out`, after the words `before`, the first kind of loss or damage: "events_lost (3):
 * ...; and 2 more kinds". False if there is none. */
bool cli_describe_losses(const etl_diag_counts *counts, const char *before, char *out, size_t size);

/* After a list, which does not show losses: without --strict, writes a note. The second is for
 * answers, which are lists if they are CSV. */
int cli_exit_of_list(const cli_options *options, const char *subject,
                     const etl_diag_counts *counts);
int cli_exit_of_answer(const cli_options *options, const char *subject,
                       const etl_diag_counts *counts);

/* Writes notes about lost events and damage. */
void cli_note_losses(const char *subject, const etl_diag_counts *counts);

#endif
