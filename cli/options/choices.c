/*
 * choices.c - which words of an option a command takes: one rule for help, completion, man pages,
 * messages and refusals.
 */
#include "options.h"

bool cli_choice_fits(cli_value value, u32 index, u32 command_bit)
{
    const bool is_compared = (command_bit & (CLI_DIFF | CLI_TREND)) != 0;
    switch (value) {
    case CLI_VALUE_FORMAT:
        return cli_format_fits(etlheap_format_at(index), command_bit);
    case CLI_VALUE_KEYS:
        if (command_bit == CLI_WINDOWS) /* every row has all four types */
            return index != ETLHEAP_KEY_TYPE && index != ETLHEAP_KEY_FREE_TYPE &&
                   index != ETLHEAP_KEY_IMPACTING_STACK;
        return !is_compared || etlheap_diff_compares_key((etlheap_key)index);
    case CLI_VALUE_SORT:
        if (command_bit == CLI_DIFF && etlheap_diff_compares_lifetimes((etlheap_measure)index))
            return true;
        /* Only heaps have an overhead, and heaps of two runs are not compared. */
        return !is_compared || (index != ETLHEAP_MEASURE_OVERHEAD_SIZE &&
                                etlheap_diff_compares((etlheap_measure)index));
    default:
        return true;
    }
}

/* Does the help text lack its list of choices? Formats are listed with their summaries. */
bool cli_option_lacks_choices(const cli_option *option)
{
    const cli_value value = (cli_value)option->value;
    if (value == CLI_VALUE_FORMAT || value == CLI_VALUE_EXPORTER)
        return false;
    for (u32 i = 0; cli_value_choice(value, i); i++) {
        const char *const word = cli_value_choice(value, i);
        if (!strstr(option->help, word) && !strstr(option->placeholder, word))
            return true;
    }
    return false;
}
