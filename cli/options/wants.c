/* wants.c - see wants.h. */
#include "wants.h"

bool cli_wants_transient(const cli_options *options)
{
    return options->impacting == 1u << CLI_IMPACTING_TRANSIENT;
}

#define MEASURE(name) ETLHEAP_MEASURE_BIT(name)

static const etlheap_measure_set rates =
    MEASURE(ALLOC_COUNT) | MEASURE(ALLOC_SIZE) | MEASURE(ALLOC_RATE) | MEASURE(ALLOC_BYTES_RATE) |
    MEASURE(FREED_COUNT) | MEASURE(FREED_SIZE) | MEASURE(TEMPORARY_COUNT) |
    MEASURE(TEMPORARY_SIZE) | MEASURE(TEMPORARY_10_COUNT) | MEASURE(TEMPORARY_1MS_COUNT);
static const etlheap_measure_set lifetimes = MEASURE(LIFETIME_MEAN) | MEASURE(LIFETIME_MEDIAN) |
                                             MEASURE(LIFETIME_P90) | MEASURE(LIFETIME_P99);

bool cli_uses(const cli_options *options, etlheap_measure_set measures)
{
    return (((etlheap_measure_set)1 << options->sort | options->columns.added) & measures) != 0;
}

bool cli_sorts_by_rates(const cli_options *options)
{
    return (rates >> options->sort & 1) != 0;
}

bool cli_wants_rates(const cli_options *options)
{
    return options->churn || cli_uses(options, rates);
}

bool cli_wants_lifetimes(const cli_options *options)
{
    return options->lifetimes || cli_uses(options, lifetimes);
}

bool cli_wants_functions(const cli_options *options)
{
    for (u32 i = 0; i < options->group_by_count; i++) {
        if (options->group_by[i] == ETLHEAP_KEY_FUNCTION)
            return true;
    }
    return false;
}

bool cli_has_address(const cli_options *options)
{
    return options->address_first > 0 || options->address_last < UINT64_MAX;
}

u32 cli_top_limit(const cli_options *options)
{
    return options->top == CLI_TOP_ALL ? 0 : options->top;
}

u32 cli_top_reach(const cli_options *options)
{
    const u64 reach = (u64)options->skip + cli_top_limit(options);
    return cli_top_limit(options) == 0 || reach > UINT32_MAX ? 0 : (u32)reach;
}
