/* unpacked.c - see unpacked.h. */
#include "unpacked.h"

#include "cli/system/host.h"
#include "cli/system/terminal.h"

#include <stdlib.h>

#include "parser/system/files.h"

bool cli_is_unpacked(const char *path)
{
    return cli_is_stdin(path) || etlheap_is_packed(path);
}

/* `path` NULL: standard input. */
static etl_status unpack(const cli_options *options, const char *path, const cli_guard *guard,
                         bool beside, cli_unpacked **out, etl_error *err)
{
    cli_unpacked *const unpacked = calloc(1, sizeof *unpacked);
    *out = NULL;
    if (!unpacked)
        return etl_fail_with(err, ETL_ERR_MEMORY, 0, "out of memory");
    unpacked->progress = cli_progress_begin(options, path ? "unpacking" : "copying", guard);
    const etlheap_unpack_options wanted = {
        .size = sizeof wanted,
        .folder = cli_temporary_folder(),
        .progress = cli_progress_update,
        .progress_user = &unpacked->progress,
        .beside = beside,
        .unpacked_bytes_max = options->unpack_limit_bytes,
    };
    const etl_status status = path ? etlheap_unpack(path, &wanted, &unpacked->files, err)
                                   : etlheap_spool(ETL_STDIN, &wanted, &unpacked->files, err);
    if (status != ETL_OK || !etlheap_unpacked_is_arriving(unpacked->files))
        cli_progress_end(&unpacked->progress);
    if (status == ETL_OK)
        *out = unpacked;
    else
        free(unpacked);
    return status;
}

etl_status cli_unpack(const cli_options *options, const char *path, const cli_guard *guard,
                      bool beside, cli_unpacked **out, etl_error *err)
{
    return unpack(options, path, guard, beside, out, err);
}

etl_status cli_unpack_stdin(const cli_options *options, const cli_guard *guard, cli_unpacked **out,
                            etl_error *err)
{
    return unpack(options, NULL, guard, false, out, err);
}

/* The bar goes with the last byte, and before a message. */
etl_status cli_unpacked_arrival(void *unpacked, u64 wanted, u64 *arrived, etl_error *err)
{
    cli_unpacked *const from = unpacked;
    const etl_status status = etlheap_unpacked_arrival(from->files, wanted, arrived, err);
    if (status != ETL_OK || wanted == UINT64_MAX)
        cli_progress_end(&from->progress);
    return status;
}

void cli_unpacked_close(cli_unpacked *unpacked)
{
    if (!unpacked)
        return;
    cli_progress_end(&unpacked->progress);
    etlheap_unpacked_close(unpacked->files);
    free(unpacked);
}
