/*
 * shell_words.h - words of suggested commands, quoted for the shell that reads them.
 *
 * Names come from traces, and users paste commands, so a shell must take each word as it is: bash,
 * dash and zsh, also interactive ones, or cmd and PowerShell.
 */
#ifndef ETLHEAP_SHELL_WORDS_H
#define ETLHEAP_SHELL_WORDS_H

#include "formats/io/text_buffer.h"

typedef enum etlheap_shell { ETLHEAP_SHELL_POSIX, ETLHEAP_SHELL_WINDOWS } etlheap_shell;

/* The shells of the system that the program runs on. */
etlheap_shell etlheap_shell_here(void);

/* "posix" or "windows". */
const char *etlheap_shell_name(etlheap_shell shell);

/* Appends a word as it is. */
void etlheap_shell_add(etlheap_text *text, etlheap_shell shell, const char *word);

/*
 * Appends a name for an option in which ? is a wildcard. Characters that are not shown as they are
 * become ?, and so do those for which the shells of Windows have no common quotes, and those in
 * `separators`, which divide values of the option.
 */
void etlheap_shell_add_name(etlheap_text *text, etlheap_shell shell, const char *name,
                            const char *separators);

#endif
