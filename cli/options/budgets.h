/* budgets.h - reads the budgets in the options of a check. */
#ifndef CLI_BUDGETS_H
#define CLI_BUDGETS_H

#include "options.h"

/* Start from {0}. */
typedef struct cli_budgets {
    etlheap_budget *at;
    u32 count;
    char **names; /* of the budgets */
    u32 name_count;
} cli_budgets;

/*
 * Reads the limits: --max-outstanding and all others of etlheap_limit_at. Free *out
 * in any case. ETL_ERR_ARGUMENT (also if no option sets a limit, or if options about the baseline
 * contradict each other), ETL_ERR_MEMORY.
 */
etl_status cli_budgets_parse(const cli_options *options, cli_budgets *out, etl_error *err);

void cli_budgets_free(cli_budgets *budgets);

#endif
