/*
 * symbol_logins.h - takes logins out of symbol paths and sentences before they are shown.
 *
 * A login in the address of a symbol server is a password, a token or a signature:
 *
 *     https://user:password@host/symbols      before the host
 *     https://host/symbols?sig=abc            after ? or #
 *     https://host/F/feed/auth/TOKEN/symbols  a part of the path that looks like a token
 *
 * If it is not clear where a login ends, the whole address is left out.
 */
#ifndef ETLHEAP_SYMBOL_LOGINS_H
#define ETLHEAP_SYMBOL_LOGINS_H

#include "parser/base.h"

/* Writes a symbol path, or a sentence in which one may be cited, without logins, and a NUL. `out`
 * has room for strlen(text) + 1 bytes. True if anything was left out. */
bool symbol_path_without_logins(const char *path, char *out);
bool symbol_sentence_without_logins(const char *sentence, char *out);

#endif
