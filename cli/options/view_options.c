/*
 * view_options.c - options that show something else than rows of memory, and what they exclude.
 */
#include "view_options.h"

/* A map is not a table: it has neither rows to group nor a window. */
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
                                 "--map and %s cannot be combined: a map shows one moment and has "
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

/* Can blocks of one stack differ in the key? */
static bool divides_blocks(etlheap_key key)
{
    return key == ETLHEAP_KEY_TYPE || key == ETLHEAP_KEY_FREE_TYPE || key == ETLHEAP_KEY_THREAD ||
           key == ETLHEAP_KEY_THREAD_NAME || key == ETLHEAP_KEY_SIZE_CLASS ||
           key == ETLHEAP_KEY_GENERATION || etlheap_key_is_of_free(key);
}

/* A suspect is found by all that its blocks do, in an order of its own. */
etl_status cli_check_suspects(const cli_options *options, etl_error *err)
{
    const char *excluded = NULL;
    if (!options->suspects)
        return ETL_OK;
    if (!cli_format_of(options)->write_suspects)
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                             "--format %s cannot be combined with --suspects",
                             cli_format_of(options)->name);
    excluded = options->types != 0                      ? "--type"
               : options->impacting != 0                ? "--impacting"
               : options->at_peak || options->at.given  ? "--at"
               : options->tree != ETLHEAP_TREE_NONE     ? "--tree"
               : options->histogram != 0                ? "--histogram"
               : options->sort_given || options->growth ? "--sort and --growth"
               : options->churn                         ? "--churn"
               : options->pairs                         ? "--pairs"
                                                        : NULL;
    if (excluded)
        return etl_fail_with(
            err, ETL_ERR_ARGUMENT, 0,
            "--suspects judges everything in the window and has its own order; leave out %s",
            excluded);
    for (u32 i = 0; i < options->group_by_count; i++) {
        if (divides_blocks(options->group_by[i]))
            return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                                 "--suspects compares the blocks of one stack or site with each "
                                 "other; leave out --group-by %s",
                                 etlheap_key_word(options->group_by[i]));
    }
    return ETL_OK;
}

/* Lifetimes are not amounts: they do not add up over stacks, and are the same in any window. */
etl_status cli_check_lifetimes(const cli_options *options, etl_error *err)
{
    const etlheap_format *const format = cli_format_of(options);
    if (!cli_wants_lifetimes(options))
        return ETL_OK;
    if (options->per_second)
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                             "--lifetimes and --per-second cannot be combined: lifetimes do not "
                             "grow with the window");
    if (options->churn)
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                             "--lifetimes and --churn cannot be combined: ask twice");
    if (format->adds_up)
        return etl_fail_with(
            err, ETL_ERR_ARGUMENT, 0,
            "--format %s cannot be combined with --lifetimes: lifetimes do not add "
            "up over stacks; use --format html",
            format->name);
    return ETL_OK;
}

etl_status cli_check_unmatched(const cli_options *options, etl_error *err)
{
    const bool others = options->pairs || options->tree != ETLHEAP_TREE_NONE ||
                        options->histogram != 0 || options->at_peak || options->at.given ||
                        options->suspects || options->growth || options->churn;
    if (options->unmatched && others)
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                             "--unmatched cannot be combined with --pairs, --tree, --histogram, "
                             "--suspects, --growth, --churn or --at: it only counts frees");
    return ETL_OK;
}
