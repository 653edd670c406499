/*
 * advice.h - what users can do, in the words of the command line.
 *
 * The libraries name no option: their errors, diagnostics and texts have hints
 * (parser/hint.h). Here each hint gets the option that helps, in one table.
 */
#ifndef CLI_ADVICE_H
#define CLI_ADVICE_H

#include "formats/formats.h"

/* What follows the library's sentence, with its punctuation; "" for none. An etl_hint_fn. */
const char *cli_advice(etl_hint hint);

/* Of an error: its sentence and the advice. */
#define CLI_ERROR_SIZE 672
void cli_error_text(const etl_error *err, char out[CLI_ERROR_SIZE]);

/* Does more memory help? */
bool cli_advice_is_memory(etl_hint hint);

#endif
