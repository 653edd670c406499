/*
 * unpack_files.c - recognises packings, and writes the temporary files of what is unpacked.
 *
 * In: first bytes of files; pieces of members. Out: files in the folder of a job. Progress,
 * cancelling and errors of the folder are handled here for all packings. Invariant: no file has
 * more bytes than the limit of its job.
 */
#include "unpack.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "parser/system/files.h"

#define SIGNATURE_BYTES 4

/* A packing, recognised by the first bytes of its files. */
static const struct {
    u8 signature[SIGNATURE_BYTES];
    size_t signature_bytes;
    u8 any; /* bits of the first byte that may be anything */
    unpack_packing packing;
} packings[] = {
    { { 'P', 'K', 3, 4 }, 4, 0, UNPACK_ZIP }, /* a member */
    { { 'P', 'K', 5, 6 }, 4, 0, UNPACK_ZIP }, /* the directory of an empty one */
    { { 0x1F, 0x8B }, 2, 0, UNPACK_GZIP },
    { { 0x28, 0xB5, 0x2F, 0xFD }, 4, 0, UNPACK_ZSTD },
    { { 0x50, 0x2A, 0x4D, 0x18 }, 4, 0x0F, UNPACK_ZSTD }, /* a frame to skip: pzstd */
};

unpack_packing unpack_packing_of(etl_bytes start)
{
    for (size_t i = 0; i < ETL_COUNT_OF(packings); i++) {
        const size_t size = packings[i].signature_bytes;
        if (start.size >= size &&
            (start.at[0] & (u8)~packings[i].any) == packings[i].signature[0] &&
            memcmp(start.at + 1, packings[i].signature + 1, size - 1) == 0)
            return packings[i].packing;
    }
    return UNPACK_NONE;
}

unpack_packing unpack_packing_of_file(const char *path)
{
    u8 start[SIGNATURE_BYTES];
    return unpack_packing_of((etl_bytes){ start, etl_file_start(path, start, sizeof start) });
}

etl_status unpack_folder_error(const unpacking *job, etl_error *err)
{
    return etl_fail_with(err, ETL_ERR_IO, 0, "cannot unpack into %.80s: %s; set TMPDIR",
                         job->folder, strerror(errno));
}

etl_status unpack_begin_file(unpacking *job, unpacked_member *member, etl_error *err)
{
    const size_t capacity = strlen(job->folder) + sizeof "/etlheap-XXXXXX";
    char *const path = malloc(capacity);
    if (!path)
        return unpack_no_memory(err);
    snprintf(path, capacity, "%s/etlheap-XXXXXX", job->folder);
    member->file = etl_temporary_open(path);
    if (member->file >= 0) {
        member->path = path;
        member->lock = etl_file_lock(member->file);
        return ETL_OK;
    }
    free(path);
    return unpack_folder_error(job, err);
}

etl_status unpack_write(unpacking *job, const unpacked_member *member, size_t size, etl_error *err)
{
    job->written_bytes += size;
    const etl_status status = unpack_check_limit(job, job->written_bytes, err);
    if (status != ETL_OK)
        return status;
    return etl_file_write(member->file, job->buffer, size) ? ETL_OK : unpack_folder_error(job, err);
}

etl_status unpack_end_file(unpacking *job, unpacked_member *member, etl_error *err)
{
    return etl_temporary_finish(&member->file) ? ETL_OK : unpack_folder_error(job, err);
}

etl_status unpack_check_limit(const unpacking *job, u64 bytes, etl_error *err)
{
    if (bytes <= job->limit_bytes)
        return ETL_OK;
    return etl_fail_hint(err, ETL_ERR_LIMIT, ETL_HINT_UNPACK_LIMIT,
                         "it unpacks to more than the limit of %" PRIu64 " bytes",
                         job->limit_bytes);
}

etl_status unpack_check_room(const unpacking *job, u64 need, etl_error *err)
{
    u64 block, blocks;
    if (!etl_folder_room(job->folder, &block, &blocks))
        return unpack_folder_error(job, err);
    /* Blocks, rounded up: what fits exactly is allowed. */
    if (need / block + (need % block != 0) > blocks)
        return etl_fail_with(err, ETL_ERR_IO, 0,
                             "unpacking needs %" PRIu64 " bytes in %.80s, which has %" PRIu64
                             "; set TMPDIR to a larger folder",
                             need, job->folder, blocks * block);
    return ETL_OK;
}

etl_status unpack_tell(const unpacking *job, etl_error *err)
{
    const etlheap_unpack_options *const options = job->options;
    if (options->progress == NULL ||
        options->progress(options->progress_user, job->done_bytes, job->total_bytes))
        return ETL_OK;
    return etl_fail_with(err, ETL_ERR_CANCELLED, 0, "cancelled");
}

etl_status unpack_no_memory(etl_error *err)
{
    return etl_fail_with(err, ETL_ERR_MEMORY, 0, "out of memory to unpack it");
}
