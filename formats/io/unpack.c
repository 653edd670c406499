/*
 * unpack.c - unpacks packed traces and stores into temporary files.
 *
 * In: a file whose first bytes name its packing (zip, gzip, zstd), or a pipe. Out: members, each a
 * temporary file with a name to show.
 *
 *     first bytes ──▶ packing ──▶ unpack_zip, unpack_gzip, unpack_zstd
 *                                  └──▶ begin_file, write, end_file (unpack_files.c)
 *
 * The readers map files, so packed or piped input becomes files first. Invariant: every file that
 * was begun is in the list of members, so that closing it removes the file, whatever went wrong.
 */
#include "unpack_beside.h"

#include <stdlib.h>

#include "parser/sized.h"
#include "parser/system/files.h"

static etl_status (*const unpackers[])(unpacking *job, const char *path, etl_error *err) = {
    [UNPACK_ZIP] = unpack_zip,
    [UNPACK_GZIP] = unpack_gzip,
    [UNPACK_ZSTD] = unpack_zstd,
};

static etl_status open_job(const etlheap_unpack_options *options, etlheap_unpack_options *own,
                           unpacking *job, etl_error *err);
static etl_status close_job(unpacking *job, etl_status status, etlheap_unpacked **out);

bool etlheap_is_packed(const char *path)
{
    return unpack_packing_of_file(path) != UNPACK_NONE;
}

static u64 size_of(const char *path)
{
    etl_path_kind kind;
    u64 size_bytes = 0;
    const int file = etl_file_open(path);
    if (file >= 0) {
        (void)etl_file_examine(file, &kind, &size_bytes);
        (void)etl_file_close(file);
    }
    return size_bytes;
}

etl_status etlheap_unpack(const char *path, const etlheap_unpack_options *options,
                          etlheap_unpacked **out, etl_error *err)
{
    etlheap_unpack_options own;
    unpacking job;
    *out = NULL;
    const unpack_packing packing = unpack_packing_of_file(path);
    if (packing == UNPACK_NONE)
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0, "it is not packed");
    etl_status status = open_job(options, &own, &job, err);
    job.limit_bytes = unpack_limit_of(size_of(path), own.unpacked_bytes_max);
    if (status == ETL_OK)
        status = unpackers[packing](&job, path, err);
    return close_job(&job, status, out);
}

etl_status etlheap_spool(int descriptor, const etlheap_unpack_options *options,
                         etlheap_unpacked **out, etl_error *err)
{
    etlheap_unpack_options own;
    unpacking job;
    *out = NULL;
    etl_status status = open_job(options, &own, &job, err);
    job.limit_bytes = own.unpacked_bytes_max > 0 ? own.unpacked_bytes_max : UINT64_MAX;
    if (status == ETL_OK)
        status = unpack_descriptor(&job, descriptor, err);
    return close_job(&job, status, out);
}

/* Opens a job, which must be closed in every case. */
static etl_status open_job(const etlheap_unpack_options *options, etlheap_unpack_options *own,
                           unpacking *job, etl_error *err)
{
    *own = (etlheap_unpack_options){ .size = sizeof *own };
    *job = (unpacking){ .options = own };
    const etl_status status =
        etl_read_sized(options, "etlheap_unpack_options", own, sizeof *own, err);
    if (status != ETL_OK)
        return status;
    job->folder = own->folder ? own->folder : etl_temporary_default;
    job->buffer = malloc(UNPACK_BYTES);
    job->out = calloc(1, sizeof *job->out);
    if (!job->buffer || !job->out)
        return unpack_no_memory(err);
    for (u32 i = 0; i < UNPACK_MEMBERS_MAX; i++)
        job->out->members[i].file = job->out->members[i].lock = -1;
    unpack_remove_leftovers(job->folder);
    return ETL_OK;
}

etl_status unpack_open_job(const etlheap_unpack_options *options, const char *path,
                           etlheap_unpack_options *own, unpacking *job, etl_error *err)
{
    const etl_status status = open_job(options, own, job, err);
    job->limit_bytes = unpack_limit_of(size_of(path), own->unpacked_bytes_max);
    return status;
}

void unpack_end_job(unpacking *job)
{
    (void)close_job(job, ETL_ERR_CANCELLED, NULL);
}

static etl_status close_job(unpacking *job, etl_status status, etlheap_unpacked **out)
{
    free(job->buffer);
    if (status == ETL_OK)
        *out = job->out;
    else
        etlheap_unpacked_close(job->out);
    return status;
}

u32 etlheap_unpacked_count(const etlheap_unpacked *unpacked)
{
    return unpacked->count;
}

etlheap_unpacked_member etlheap_unpacked_member_of(const etlheap_unpacked *unpacked, u32 index)
{
    if (index >= unpacked->count)
        return (etlheap_unpacked_member){ .name = NULL };
    return (etlheap_unpacked_member){ unpacked->members[index].name,
                                      unpacked->members[index].path };
}

bool etlheap_unpacked_is_arriving(const etlheap_unpacked *unpacked)
{
    return unpacked->beside != NULL;
}

etl_status etlheap_unpacked_arrival(void *unpacked, u64 wanted, u64 *arrived, etl_error *err)
{
    etlheap_unpacked *const from = unpacked;
    return unpack_beside_await(from->beside, wanted, arrived, err);
}

void etlheap_unpacked_hide(etlheap_unpacked *unpacked)
{
    for (u32 i = 0; i < unpacked->count; i++) {
        if (unpacked->members[i].path)
            (void)etl_file_remove(unpacked->members[i].path);
        free(unpacked->members[i].path);
        unpacked->members[i].path = NULL;
        if (unpacked->members[i].lock >= 0)
            (void)etl_file_close(unpacked->members[i].lock);
        unpacked->members[i].lock = -1;
    }
}

void etlheap_unpacked_close(etlheap_unpacked *unpacked)
{
    if (!unpacked)
        return;
    unpack_beside_close(unpacked->beside);
    for (u32 i = 0; i < unpacked->count; i++) {
        unpacked_member *const member = &unpacked->members[i];
        if (member->path)
            etl_temporary_remove(member->file, member->path);
        else if (member->file >= 0)
            (void)etl_file_close(member->file);
        if (member->lock >= 0)
            (void)etl_file_close(member->lock);
        free(member->path);
        free(member->name);
    }
    free(unpacked);
}
