/* map_options.c - see map_options.h. */
#include "map_options.h"

/* A map is no table: it has neither rows to group nor a window. */
etl_status cli_check_map(const cli_options *options, etl_error *err)
{
    const struct {
        const char *word;
        bool given;
    } others[] = {
        { "--histogram", options->histogram != 0 },
        { "--tree", options->tree != ETLHEAP_TREE_NONE },
        { "--growth", options->growth },
        { "--suspects", options->suspects },
        { "--churn", options->churn },
        { "--pairs", options->pairs },
        { "--unmatched", options->unmatched },
        { "--type", options->types != 0 },
        { "--impacting", options->impacting != 0 },
        { "--group-by", options->group_by_count > 0 },
        { "--from", options->from.given },
    };
    const u64 unit = options->map_unit;
    if (!options->map && unit != 0)
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0, "--map-unit needs --map");
    for (size_t i = 0; options->map && i < ETL_COUNT_OF(others); i++) {
        if (others[i].given)
            return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                                 "--map and %s cannot be combined: a map is of one moment, and has "
                                 "no rows",
                                 others[i].word);
    }
    if (options->map && !cli_format_of(options)->write_map)
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0, "--format %s cannot be combined with --map",
                             cli_format_of(options)->name);
    if (unit != 0 && ((unit & (unit - 1)) != 0 || unit < 4096 || unit > (u64)1 << 40))
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                             "--map-unit is a power of two from 4K to 1T, such as 64K or 1M");
    return ETL_OK;
}
