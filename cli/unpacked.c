/* unpacked.c - see unpacked.h. */
#include "unpacked.h"

#include "cli/system/host.h"
#include "cli/system/terminal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "parser/system/files.h"

/* `descriptor` is that of a pipe; -1: the path is that of a packed file. */
static etl_status unpack(const cli_options *options, const char *path, int descriptor, bool beside,
                         cli_unpacked *unpacked, etl_error *err)
{
    const etlheap_unpack_options wanted = {
        .size = sizeof wanted,
        .folder = cli_temporary_folder(),
        .progress = cli_progress_update,
        .progress_user = &unpacked->progress,
        .beside = beside,
        .unpacked_bytes_max = options->unpack_limit_bytes,
    };
    const etl_status status = descriptor < 0
                                  ? etlheap_unpack(path, &wanted, &unpacked->files, err)
                                  : etlheap_spool(descriptor, &wanted, &unpacked->files, err);
    if (status != ETL_OK || !etlheap_unpacked_is_arriving(unpacked->files))
        cli_progress_end(&unpacked->progress);
    return status;
}

/* After a failure there is nothing to close. */
static etl_status free_failed(etl_status status, cli_unpacked **out)
{
    if (status != ETL_OK) {
        free(*out);
        *out = NULL;
    }
    return status;
}

static etl_status open_new(const cli_options *options, const char *label, const cli_guard *guard,
                           cli_unpacked **out, etl_error *err)
{
    *out = calloc(1, sizeof **out);
    if (!*out)
        return etl_no_memory(err);
    (*out)->progress = cli_progress_begin(options, label, guard);
    return ETL_OK;
}

etl_status cli_unpack(const cli_options *options, const char *path, const cli_guard *guard,
                      bool beside, cli_unpacked **out, etl_error *err)
{
    etl_status status = open_new(options, "unpacking", guard, out, err);
    if (status == ETL_OK)
        status = unpack(options, path, -1, beside, *out, err);
    if (status == ETL_ERR_ARGUMENT) /* its kind was told by the bytes that it now has not */
        status = etl_fail_with(err, ETL_ERR_IO, 0, "cannot be read again, or has changed");
    return free_failed(status, out);
}

etl_status cli_unpack_pipe(const cli_options *options, const char *path, const cli_guard *guard,
                           cli_unpacked **out, etl_error *err)
{
    const int descriptor = cli_is_stdin(path) ? ETL_STDIN : etl_file_open(path);
    if (descriptor < 0)
        return etl_fail_with(err, ETL_ERR_IO, 0, "cannot be read: %s", strerror(errno));
    etl_status status = open_new(options, "copying", guard, out, err);
    if (status == ETL_OK)
        status = unpack(options, path, descriptor, false, *out, err);
    if (descriptor != ETL_STDIN)
        (void)etl_file_close(descriptor);
    return free_failed(status, out);
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
