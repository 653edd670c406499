/* question.c - see question.h. */
#include "question.h"

#include "analysis.h"
#include "messages.h"
#include "outputs.h"

int cli_question_open(const cli_options *options, const cli_inputs *inputs, cli_guard *guard,
                      cli_question *out, etlheap_sink **sink)
{
    etl_error err = { .status = ETL_OK };
    etl_status status = cli_query_build(options, inputs->start_filetime, &out->query, &err);
    if (status == ETL_OK)
        status = cli_symbols_check(options, &err);
    if (status != ETL_OK) {
        cli_complain(NULL, err.message);
        return cli_exit_of(status);
    }
    return cli_output_open(options, guard, sink);
}

etl_status cli_question_ask(const cli_options *options, const cli_inputs *inputs,
                            const cli_guard *guard, bool always, cli_question *question,
                            etl_error *err)
{
    etlheap_query *const query = &question->query.query;
    etl_status status = cli_analyze(options, inputs, guard, query, &question->result, err);
    if (status == ETL_OK)
        status =
            cli_symbols_open(options, guard, question->result, always, &question->symbols, err);
    query->symbols = question->symbols.symbols;
    return status;
}

void cli_question_close(cli_question *question)
{
    cli_symbols_close(&question->symbols);
    etlheap_result_free(question->result);
    cli_query_free(&question->query);
}
