/*
 * compared_run.c - opens and asks one of the recordings that `diff` and `trend` compare.
 *
 * In: an input and the options. Out: a table with all its frames named. Invariant: all runs are
 * asked the same question, and names come before comparison, because names decide which rows are
 * the same.
 */
#include "compared_run.h"

#include "cli/options/choices.h"
#include "cli/options/output_format.h"
#include "cli/options/wants.h"
#include "cli/system/terminal.h"
#include "messages.h"

#include <stdio.h>

static int usage(const char *message)
{
    cli_complain(NULL, message);
    return CLI_EXIT_USAGE;
}

int cli_compared_check(const cli_options *options)
{
    char message[160];
    for (u32 i = 0; i < options->group_by_count; i++) {
        const etlheap_key key = options->group_by[i];
        if (cli_choice_fits(CLI_VALUE_KEYS, (u32)key, options->command_bit))
            continue;
        snprintf(message, sizeof message,
                 etlheap_key_is_of_free(key)
                     ? "--group-by %s cannot be compared: rows of two runs are matched "
                       "by who allocated, not by who freed"
                     : "--group-by %s cannot be compared: its values differ from run "
                       "to run",
                 etlheap_key_word(key));
        return usage(message);
    }
    if (!cli_choice_fits(CLI_VALUE_SORT, (u32)options->sort, options->command_bit)) {
        snprintf(message, sizeof message,
                 "--sort %s cannot be compared: it is not a sum over allocations",
                 etlheap_measure_word(options->sort));
        return usage(message);
    }
    return CLI_EXIT_DONE;
}

u32 cli_compared_rows(const cli_options *options)
{
    const etlheap_format *const format = cli_format_of(options);
    if (format->is_choice)
        return 0;
    return options->top == 0 ? format->rows_max : cli_top_limit(options);
}

etlheap_layout cli_compared_layout(const cli_options *options, const cli_words *asked)
{
    etlheap_layout layout = cli_layout(options);
    if (!cli_format_of(options)->is_choice)
        layout.rows_max = cli_compared_rows(options);
    layout.inputs = (etlheap_typed){ options->inputs.at, options->inputs.count };
    layout.selection = (etlheap_typed){ asked->at, asked->count };
    layout.lacks_login = options->lacks_login;
    return layout;
}

int cli_compared_open(const cli_options *options, u32 index, cli_compared_keys keys,
                      cli_guard *guard, cli_compared_run *out)
{
    const u64 count = options->inputs.count;
    const u64 share = options->memory_bytes / count;
    out->options = *options;
    out->options.inputs = (cli_words){ &options->inputs.at[index], 1 };
    out->options.memory_bytes = share + (options->memory_bytes % count > 0);
    out->options.unpacks_first = index + 1 < count;
    if (options->group_by_count == 0 && options->stack_tags.count == 0) {
        memcpy(out->options.group_by, keys.at, keys.count * sizeof *keys.at);
        out->options.group_by_count = keys.count;
    }
    return cli_inputs_open(&out->options, guard, &out->inputs);
}

int cli_compared_check_window(const cli_compared_run *run)
{
    etl_error err = { .status = ETL_OK };
    i64 from_ns, to_ns;
    const etl_status status = cli_window(&run->options, &run->inputs.clock, &from_ns, &to_ns, &err);
    if (status != ETL_OK)
        cli_complain_error(run->options.inputs.at[0], &err);
    return cli_exit_of(status);
}

etl_status cli_compared_ask(const cli_guard *guard, cli_compared_run *run, etl_error *err)
{
    etl_status status = ETL_OK;
    if (run->request.query.query.size == 0)
        status = cli_query_build(&run->options, &run->inputs.clock, &run->request.query, err);
    /* Peaks do not add up over rows, so none is compared. */
    run->request.query.query.sums_only = true;
    if (status == ETL_OK)
        status = cli_request_ask(&run->options, &run->inputs, guard, false, &run->request, err);
    if (status == ETL_OK)
        status =
            etlheap_aggregate(run->request.result, &run->request.query.query, &run->table, err);
    if (status == ETL_OK)
        status = cli_request_exclude(&run->request, err);
    if (status == ETL_OK && run->request.symbols.symbols)
        status = etlheap_table_name(run->table, run->request.symbols.symbols, NULL, err);
    cli_symbols_done(&run->request.symbols);
    return status;
}

void cli_compared_close(cli_compared_run *run)
{
    etlheap_table_free(run->table);
    cli_request_close(&run->request);
    cli_inputs_close(&run->inputs);
}
