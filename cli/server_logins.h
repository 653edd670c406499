/*
 * server_logins.h - --symbol-login HOST=SOURCE: where the login of a symbol server comes from.
 *
 *     HOST=env:NAME         an environment variable: USER:PASSWORD, or a token
 *     HOST=netrc:FILE       a file in the format of .netrc
 *     HOST=command:COMMAND  a command that speaks git's protocol for credentials
 *
 * HOST is a name or a name with a port. A command runs once, when its server is first asked.
 */
#ifndef CLI_SERVER_LOGINS_H
#define CLI_SERVER_LOGINS_H

#include "cli/options/options.h"

/* Checks the words of the option, the variables and the files. ETL_ERR_ARGUMENT (the message says
 * what is wrong, without the login). */
etl_status cli_logins_check(const cli_words *words, etl_error *err);

typedef struct cli_logins cli_logins;

/* The logins of checked words, which are borrowed. NULL if there are none, or no memory is left. */
cli_logins *cli_logins_open(const cli_words *words);
void cli_logins_close(cli_logins *logins); /* NULL is allowed */

/* An etlheap_symbol_login_fn; `user` is a cli_logins. */
void cli_logins_find(void *user, const char *host, etlheap_symbol_login *out);

#endif
