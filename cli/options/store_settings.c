/* store_settings.c - see store_settings.h. */
#include "store_settings.h"

/* Makes a number for a sequence out of the numbers of its parts. */
static void add_part(etlheap_content_id *sum, etlheap_content_id part)
{
    const etlheap_content_id both[] = { *sum, part };
    *sum = etlheap_content_of(both, sizeof both);
}

static etl_status add_option(const cli_given *given, etlheap_content_id *sum, etl_error *err)
{
    const char *const value = given->value ? given->value : "";
    etlheap_content_id content = { .high = 0 };
    u64 size_bytes;
    add_part(sum, etlheap_content_of(given->option->name, strlen(given->option->name)));
    add_part(sum, etlheap_content_of(value, strlen(value)));
    if (given->option->value != CLI_VALUE_CUSTOM || value[0] != '@')
        return ETL_OK;
    const etl_status status = etlheap_content_of_file(value + 1, &content, &size_bytes, err);
    add_part(sum, content);
    return status;
}

etl_status cli_store_settings(const cli_options *options, etlheap_content_id *out, etl_error *err)
{
    etl_status status = ETL_OK;
    *out = (etlheap_content_id){ .high = 0 };
    for (u32 row = 0; row < cli_option_count(); row++) {
        const cli_option *const option = cli_option_at(row);
        for (u32 i = 0; i < options->given.count && status == ETL_OK; i++) {
            if (options->given.at[i].option == option && !(option->commands & CLI_SAME_STORE))
                status = add_option(&options->given.at[i], out, err);
        }
    }
    return status;
}
