/* choices.h - the words that options can be. */
#ifndef CLI_CHOICES_H
#define CLI_CHOICES_H

#include "options.h"

/* The words that a value, or an element of its list, can be; NULL after the last, and at once for
 * values that are not words. */
const char *cli_value_choice(cli_value value, u32 index);

/* Whether a command takes the word with that index. Words that do not fit are not offered. */
bool cli_choice_fits(cli_value value, u32 index, u32 command_bit);

/* True if --help must list the words of an option because its own text does not. */
bool cli_option_lacks_choices(const cli_option *option);

#endif
