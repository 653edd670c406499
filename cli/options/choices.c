/*
 * choices.c - which words of an option a command takes: one rule for help, completion, man pages,
 * messages and refusals.
 */
#include "choices.h"

#include "output_format.h"

const char *cli_value_choice(cli_value value, u32 index)
{
    static const char *const at_exit[] = { "leaked", "freed" };
    static const char *const impacting[CLI_IMPACTING_COUNT] = { "transient", "impacting",
                                                                "persistent" };
    static const char *const progress[] = { "auto", "always", "never" };
    static const char *const tree[] = { "callees", "callers" };
    switch (value) {
    case CLI_VALUE_KINDS:
        return index < ETLHEAP_KIND_COUNT ? etlheap_kind_name((etlheap_kind)index) : NULL;
    case CLI_VALUE_TYPES:
        return index < ETLHEAP_TYPE_COUNT ? etlheap_type_name((etlheap_type)index) : NULL;
    case CLI_VALUE_IMPACTING:
        return index < CLI_IMPACTING_COUNT ? impacting[index] : NULL;
    case CLI_VALUE_HISTOGRAM:
        return index < ETLHEAP_HISTOGRAM_BY_COUNT
                   ? etlheap_histogram_word((etlheap_histogram_by)index)
                   : NULL;
    case CLI_VALUE_KEYS:
        return index < ETLHEAP_KEY_COUNT ? etlheap_key_word((etlheap_key)index) : NULL;
    case CLI_VALUE_SORT:
    case CLI_VALUE_COLUMNS:
        return index < ETLHEAP_MEASURES_COUNT ? etlheap_measure_word((etlheap_measure)index) : NULL;
    case CLI_VALUE_LIFETIME_SORT:
        return index < ETLHEAP_LIFETIME_COLUMN_COUNT
                   ? etlheap_lifetime_column_word((etlheap_lifetime_column)index)
                   : NULL;
    case CLI_VALUE_FORMAT:
        return index < etlheap_format_count() ? etlheap_format_at(index)->name : NULL;
    case CLI_VALUE_EXPORTER:
        return index < etlheap_exporter_count() ? etlheap_exporter_at(index)->name : NULL;
    case CLI_VALUE_METRIC:
        return index < ETLHEAP_METRIC_COUNT ? etlheap_metric_word((etlheap_metric)index) : NULL;
    case CLI_VALUE_AT_EXIT:
        return index < ETL_COUNT_OF(at_exit) ? at_exit[index] : NULL;
    case CLI_VALUE_SCOPE:
        return index < ETLHEAP_SCOPE_COUNT ? etlheap_scope_word((etlheap_scope)index) : NULL;
    case CLI_VALUE_PROGRESS:
        return index < ETL_COUNT_OF(progress) ? progress[index] : NULL;
    case CLI_VALUE_LINK:
        return index + 1 < ETLHEAP_SOURCE_LINK_COUNT
                   ? etlheap_source_link_word((etlheap_source_link)(index + 1))
                   : NULL;
    case CLI_VALUE_TREE:
        return index < ETL_COUNT_OF(tree) ? tree[index] : NULL;
    default:
        return NULL;
    }
}

bool cli_choice_fits(cli_value value, u32 index, u32 command_bit)
{
    const bool is_compared = (command_bit & (CLI_DIFF | CLI_TREND)) != 0;
    switch (value) {
    case CLI_VALUE_FORMAT:
        return cli_format_fits(etlheap_format_at(index), command_bit);
    case CLI_VALUE_KEYS:
        if (command_bit == CLI_WINDOWS)
            return etlheap_windows_group_by((etlheap_key)index);
        return !is_compared || etlheap_diff_compares_key((etlheap_key)index);
    case CLI_VALUE_SORT:
        if (command_bit == CLI_WINDOWS)
            return etlheap_windows_sort_by((etlheap_measure)index);
        if (command_bit == CLI_DIFF && etlheap_diff_compares_lifetimes((etlheap_measure)index))
            return true;
        /* Only heaps have an overhead, and heaps of two runs are not compared. */
        return !is_compared || (index != ETLHEAP_MEASURE_OVERHEAD_SIZE &&
                                etlheap_diff_compares((etlheap_measure)index));
    default:
        return true;
    }
}

/* Does the help text lack its list of choices? Formats are listed with their summaries, and columns
 * are those of --sort. */
bool cli_option_lacks_choices(const cli_option *option)
{
    const cli_value value = (cli_value)option->value;
    if (value == CLI_VALUE_FORMAT || value == CLI_VALUE_EXPORTER || value == CLI_VALUE_COLUMNS)
        return false;
    for (u32 i = 0; cli_value_choice(value, i); i++) {
        const char *const word = cli_value_choice(value, i);
        if (!strstr(option->help, word) && !strstr(option->placeholder, word))
            return true;
    }
    return false;
}
