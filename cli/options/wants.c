/* wants.c - see wants.h. */
#include "wants.h"

bool cli_wants_transient(const cli_options *options)
{
    return options->impacting == 1u << CLI_IMPACTING_TRANSIENT;
}

bool cli_sorts_by_rates(const cli_options *options)
{
    return options->sort >= ETLHEAP_MEASURE_ALLOC_COUNT &&
           options->sort <= ETLHEAP_MEASURE_TEMPORARY_1MS_COUNT;
}

bool cli_wants_rates(const cli_options *options)
{
    return options->churn || cli_sorts_by_rates(options);
}

bool cli_wants_lifetimes(const cli_options *options)
{
    return options->lifetimes || etlheap_diff_compares_lifetimes(options->sort);
}

bool cli_has_address(const cli_options *options)
{
    return options->address_first > 0 || options->address_last < UINT64_MAX;
}

u32 cli_top_limit(const cli_options *options)
{
    return options->top == CLI_TOP_ALL ? 0 : options->top;
}
