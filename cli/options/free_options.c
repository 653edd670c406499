/* Implements free_options.h. */
#include "free_options.h"

etl_status cli_check_unmatched(const cli_options *options, etl_error *err)
{
    const bool others = options->pairs || options->tree != ETLHEAP_TREE_NONE ||
                        options->histogram != 0 || options->at_peak || options->at.given;
    if (options->unmatched && others)
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                             "--unmatched cannot be combined with --pairs, --tree, --histogram or "
                             "--at: it only counts frees");
    return ETL_OK;
}
