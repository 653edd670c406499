/*
 * lifetimes_spool.c - results that can be walked; see etlheap_lifetimes.h.
 *
 * A large trace is written as a store to a file that has no name, and read back
 * from there: what is in memory while it is analyzed are the blocks in use, and
 * afterwards stacks and facts.
 */
#include <errno.h>
#include <stdlib.h>

#include "engine/core/nameless.h"
#include "engine/result/archive.h"
#include "parser/system/files.h"
#include "lifetimes.h"
#include "parser/sized.h"

static etl_status walk_options(const etlheap_options *options, etlheap_options *own,
                               etl_error *err);
static bool write_all(void *user, const void *bytes, size_t size);

/* Where the store goes, and why it could not. */
typedef struct spool {
    int file;
    int error; /* errno of the first failure */
} spool;

etl_status etlheap_lifetimes_analyze(etl_trace *const *traces, const char *const *names,
                                     u32 trace_count, const etlheap_options *options,
                                     etlheap_result **out, etl_error *err)
{
    etlheap_options own;
    u64 bytes = 0;
    *out = NULL;
    const etl_status status = walk_options(options, &own, err);
    if (status != ETL_OK)
        return status;
    for (u32 i = 0; i < trace_count; i++)
        bytes = etl_sat_add_u64(bytes, etl_file_size(traces[i]));
    if (bytes > ETLHEAP_SPOOL_BYTES && own.temporary_folder != NULL)
        return lifetimes_spool(traces, names, trace_count, &own, false, out, err);
    return etlheap_analyze(traces, names, trace_count, &own, out, err);
}

etl_status etlheap_lifetimes_open_store(const char *path, const etlheap_options *options,
                                        etlheap_result **out, etl_error *err)
{
    etlheap_options own;
    const archive_request request = { .options = &own, .name = path, .stays = true };
    etl_map map;
    *out = NULL;
    etl_status status = walk_options(options, &own, err);
    if (status == ETL_OK)
        status = etl_map_open(path, false, &map, err);
    if (status == ETL_OK)
        status = archive_open(&map, &request, out, err);
    if (status == ETL_OK && (*out)->summary != NULL) {
        etlheap_result_free(*out);
        *out = NULL;
        status = etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                               "a summary keeps no lifetimes; ask the trace or its full store");
    }
    return status;
}

/* What would leave lifetimes out, or somewhere else, does not count. */
static etl_status walk_options(const etlheap_options *options, etlheap_options *own, etl_error *err)
{
    *own = (etlheap_options){ .size = sizeof *own };
    const etl_status status = etl_read_sized(options, "etlheap_options", own, sizeof *own, err);
    own->census_only = false;
    own->report = NULL;
    own->windows = NULL;
    own->store = NULL;
    return status;
}

etl_status lifetimes_spool(etl_trace *const *traces, const char *const *names, u32 trace_count,
                           const etlheap_options *options, bool with_census, etlheap_result **out,
                           etl_error *err)
{
    etlheap_options own;
    spool to = { .file = -1 };
    const etlheap_store_options store = {
        .size = sizeof store, .write = write_all, .user = &to, .is_temporary = !with_census
    };
    etlheap_result *facts = NULL;
    etl_map map = { .memory = NULL };
    *out = NULL;
    etl_status status = walk_options(options, &own, err);
    if (status != ETL_OK)
        return status;
    to.file = nameless_file(own.temporary_folder);
    if (to.file < 0)
        return etl_fail_with(err, ETL_ERR_IO, 0, "no temporary file can be made in %.100s: %s",
                             own.temporary_folder, strerror(errno));
    own.store = &store;
    status = etlheap_analyze(traces, names, trace_count, &own, &facts, err);
    etlheap_result_free(facts);
    if (to.error != 0)
        status =
            etl_fail_with(err, ETL_ERR_IO, 0, "the temporary file in %.100s cannot be written: %s",
                          own.temporary_folder, strerror(to.error));
    if (status == ETL_OK && !etl_file_seek(to.file, 0))
        status = etl_fail_with(err, ETL_ERR_IO, 0, "the temporary file cannot be read back");
    if (status == ETL_OK)
        status = etl_map_descriptor(to.file, false, &map, err);
    own.store = NULL;
    const archive_request request = { .options = &own, .stays = true };
    if (status == ETL_OK)
        status = archive_open(&map, &request, out, err);
    (void)etl_file_close(to.file);
    return status;
}

static bool write_all(void *user, const void *bytes, size_t size)
{
    spool *const to = user;
    const bool is_done = etl_file_write(to->file, bytes, size);
    if (!is_done)
        to->error = errno;
    return is_done;
}
