/*
 * budgets.h - the budgets that a check's options set.
 */
#ifndef CLI_BUDGETS_H
#define CLI_BUDGETS_H

#include "options.h"

/* Start from {0}. */
typedef struct cli_budgets {
    etlheap_budget *at;
    u32 count;
} cli_budgets;

/*
 * Reads --max-outstanding, --max-outstanding-count, --max-growth and
 * --max-growth-count. *out is to be freed in every case. Errors: ARGUMENT, also when
 * there is no budget or the options for the baseline contradict each other; MEMORY.
 */
etl_status cli_budgets_parse(const cli_options *options, cli_budgets *out, etl_error *err);

void cli_budgets_free(cli_budgets *budgets);

#endif
