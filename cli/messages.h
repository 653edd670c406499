/*
 * messages.h - what goes to stderr: one sentence each.
 */
#ifndef CLI_MESSAGES_H
#define CLI_MESSAGES_H

#include "cli/options/options.h"

/* "etlheap: SUBJECT: message" and a line end; subject may be NULL. What would
 * control the terminal is replaced. */
void cli_complain(const char *subject, const char *message);

/* The same of an error, with the option that helps (advice.h): one that comes of --memory says
 * what would be enough. */
void cli_complain_error(const char *subject, const etl_error *err);

/* The same for what is no failure: how far the work is. */
void cli_tell(const char *subject, const char *message);

/* "etlheap: note: ..." for what is no failure. */
void cli_note(const char *subject, const char *message);

/* The exit status that a failed call means. */
int cli_exit_of(etl_status status);

/*
 * For --strict: CLI_EXIT_STRICT and a sentence when the input was damaged or lost
 * events, else CLI_EXIT_DONE.
 */
int cli_exit_of_diagnostics(const cli_options *options, const char *subject,
                            const etl_diag_counts *counts);

/* Whether cli_exit_of_diagnostics gives CLI_EXIT_STRICT. Says nothing. */
bool cli_fails_strict(const cli_options *options, const etl_diag_counts *counts);

/* As cli_exit_of_diagnostics, behind a list, which has no room for what was lost or damaged: without
 * --strict it is noted. And behind an answer, which as CSV is a list. */
int cli_exit_of_list(const cli_options *options, const char *subject,
                     const etl_diag_counts *counts);
int cli_exit_of_answer(const cli_options *options, const char *subject,
                       const etl_diag_counts *counts);

/* Notes what was lost or damaged. */
void cli_note_losses(const char *subject, const etl_diag_counts *counts);

#endif
