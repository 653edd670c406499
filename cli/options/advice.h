/*
 * advice.h - advice to users, in terms of command-line options.
 *
 * The libraries name no options: their errors, diagnostics and texts have hints (parser/hint.h).
 * This table maps each hint to the option that helps.
 */
#ifndef CLI_ADVICE_H
#define CLI_ADVICE_H

#include "formats/formats.h"

/* The text to append to the library's sentence, with punctuation; "" for none. An etl_hint_fn. */
const char *cli_advice(etl_hint hint);

/* Makes the sentence of an error with its advice. */
#define CLI_ERROR_SIZE 800
void cli_error_text(const etl_error *err, char out[CLI_ERROR_SIZE]);

/* True if more memory would help. */
bool cli_advice_is_memory(etl_hint hint);

#endif
