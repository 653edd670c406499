/*
 * unpack.c - unpacks packed traces and stores into temporary files.
 *
 * In: a file whose first bytes name its packing (zip, gzip, zstd), or a pipe. Out: members, each a
 * temporary file with a name to show.
 *
 *     first bytes ──▶ row of the table of packings ──▶ unpack_zip, unpack_gzip, unpack_zstd
 *                                                        └──▶ begin_file, write, end_file (here)
 *
 * The readers map files, so packed or piped input becomes files first. Progress, cancelling and
 * errors of the folder are handled here for all packings. Invariant: every file that was begun is
 * in the list of members, so that closing it removes the file, whatever went wrong.
 */
#include "unpack_beside.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "parser/sized.h"
#include "parser/system/files.h"

#define SIGNATURE_BYTES      4
#define PATH_BYTES           4096
#define LEFTOVER_AGE_SECONDS 60

/* A packing, recognised by the first bytes of its files. */
typedef struct packing {
    u8 signature[SIGNATURE_BYTES];
    size_t signature_bytes;
    u8 any; /* bits of the first byte that may be anything */
    etl_status (*unpack)(unpacking *job, const char *path, etl_error *err);
} packing;

static const packing packings[] = {
    { { 'P', 'K', 3, 4 }, 4, 0, unpack_zip }, /* a member */
    { { 'P', 'K', 5, 6 }, 4, 0, unpack_zip }, /* the directory of an empty one */
    { { 0x1F, 0x8B }, 2, 0, unpack_gzip },
    { { 0x28, 0xB5, 0x2F, 0xFD }, 4, 0, unpack_zstd },
    { { 0x50, 0x2A, 0x4D, 0x18 }, 4, 0x0F, unpack_zstd }, /* a frame to skip: pzstd */
};

static const packing *packing_of(const char *path);
static const packing *packing_named_by(etl_bytes start);
static bool begins_like(etl_bytes start, const packing *known);
static etl_status open_job(const etlheap_unpack_options *options, etlheap_unpack_options *own,
                           unpacking *job, etl_error *err);
static etl_status close_job(unpacking *job, etl_status status, etlheap_unpacked **out);
static etl_status folder_error(const unpacking *job, etl_error *err);

bool etlheap_is_packed(const char *path)
{
    return packing_of(path) != NULL;
}

static const packing *packing_of(const char *path)
{
    u8 start[SIGNATURE_BYTES];
    return packing_named_by((etl_bytes){ start, etl_file_start(path, start, sizeof start) });
}

static const packing *packing_named_by(etl_bytes start)
{
    for (size_t i = 0; i < ETL_COUNT_OF(packings); i++) {
        const packing *const known = &packings[i];
        if (begins_like(start, known))
            return known;
    }
    return NULL;
}

static bool begins_like(etl_bytes start, const packing *known)
{
    const size_t size = known->signature_bytes;
    return start.size >= size && (start.at[0] & (u8)~known->any) == known->signature[0] &&
           memcmp(start.at + 1, known->signature + 1, size - 1) == 0;
}

bool unpack_begins_packed(etl_bytes start)
{
    return packing_named_by(start) != NULL;
}

bool unpack_is_zip(const char *path)
{
    const packing *const known = packing_of(path);
    return known && known->unpack == unpack_zip;
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
    const packing *const known = packing_of(path);
    if (!known)
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0, "it is not packed");
    etl_status status = open_job(options, &own, &job, err);
    job.limit_bytes = unpack_limit_of(size_of(path), own.unpacked_bytes_max);
    if (status == ETL_OK)
        status = known->unpack(&job, path, err);
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

/* --- the files --------------------------------------------------------------------- */

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
    return folder_error(job, err);
}

etl_status unpack_write(unpacking *job, const unpacked_member *member, size_t size, etl_error *err)
{
    job->written_bytes += size;
    const etl_status status = unpack_check_limit(job, job->written_bytes, err);
    if (status != ETL_OK)
        return status;
    return etl_file_write(member->file, job->buffer, size) ? ETL_OK : folder_error(job, err);
}

etl_status unpack_end_file(unpacking *job, unpacked_member *member, etl_error *err)
{
    return etl_temporary_settle(&member->file) ? ETL_OK : folder_error(job, err);
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
        return etl_fail_with(err, ETL_ERR_IO, 0, "cannot unpack into %.80s: %s; set TMPDIR",
                             job->folder, strerror(errno));
    /* Blocks, rounded up: what fits exactly is allowed. */
    if (need / block + (need % block != 0) > blocks)
        return etl_fail_with(err, ETL_ERR_IO, 0,
                             "unpacking needs %" PRIu64 " bytes in %.80s, which has %" PRIu64
                             "; set TMPDIR to a larger folder",
                             need, job->folder, blocks * block);
    return ETL_OK;
}

/* Is it a name of unpack_begin_file, "etlheap-" and six letters or digits, or one of a folder of
 * symbols? */
static bool is_our_name(const char *name, const char *start)
{
    const size_t size = strlen(start);
    bool ours = strncmp(name, start, size) == 0 && strlen(name) == size + 6;
    for (const char *at = name + size; ours && *at != '\0'; at++)
        ours = isalnum((unsigned char)*at) != 0;
    return ours;
}

/* A file that was just made may not be locked yet, so new files are left alone. */
void unpack_remove_leftovers(const char *folder)
{
    char path[PATH_BYTES];
    etl_listing *const listing = etl_listing_open(folder);
    if (!listing)
        return;
    for (const char *name; (name = etl_listing_next(listing)) != NULL;) {
        const int size = snprintf(path, sizeof path, "%s/%s", folder, name);
        if (size <= 0 || (size_t)size >= sizeof path)
            continue;
        if (is_our_name(name, "etlheap-"))
            (void)etl_file_remove_abandoned(path, LEFTOVER_AGE_SECONDS);
        else if (is_our_name(name, "etlheap-symbols-"))
            unpack_remove_leftover_symbols(path, LEFTOVER_AGE_SECONDS);
    }
    etl_listing_close(listing);
}

static etl_status folder_error(const unpacking *job, etl_error *err)
{
    return etl_fail_with(err, ETL_ERR_IO, 0, "cannot unpack into %.80s: %s; set TMPDIR",
                         job->folder, strerror(errno));
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
