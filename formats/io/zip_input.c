/*
 * zip_input.c - traces in zip files, as PerfView packs them (app.etl.zip).
 *
 * The reader maps traces, so members are extracted to temporary files. What a
 * zip says about itself is not trusted: the sizes in its directory are checked
 * against the room in the folder before the first byte is written, and a member
 * that goes on past its stated size is refused. Before all that each member is looked
 * at: a few kilobytes can unpack to gigabytes, and one that does not begin like a trace
 * is refused after its first bytes.
 */
#include "formats/formats.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <zip.h>

#include "parser/system/files.h"
#include "parser/sized.h"

#define MEMBERS_MAX     64 /* files of one recording; PerfView packs at most four */
#define COPY_BYTES      (256 * 1024)
#define SIGNATURE_BYTES 4

typedef struct zip_member {
    char *name;
    char *path;
    int file; /* -1: it is settled */
    zip_uint64_t index;
    u64 size_bytes;
} zip_member;

struct etlheap_zip {
    u32 count;
    zip_member members[MEMBERS_MAX];
};

typedef struct extraction {
    zip_t *archive;
    const etlheap_zip_options *options;
    const char *folder;
    u8 *buffer; /* COPY_BYTES */
    u64 done_bytes, total_bytes;
} extraction;

static etl_status open_archive(const char *path, zip_t **out, etl_error *err);
static etl_status list_members(zip_t *archive, etlheap_zip *zip, etl_error *err);
static bool is_trace_name(const char *name);
static etl_status check_member(const zip_stat_t *stat, etl_error *err);
static etl_status check_start(const extraction *job, const zip_member *member, etl_error *err);
static etl_status check_room(const extraction *job, const etlheap_zip *zip, etl_error *err);
static etl_status extract_member(extraction *job, zip_member *member, etl_error *err);
static etl_status copy_member(extraction *job, const zip_member *member, int descriptor,
                              etl_error *err);
static etl_status copy_bytes(extraction *job, zip_file_t *file, const zip_member *member,
                             int descriptor, etl_error *err);
static etl_status member_error(zip_error_t *error, const zip_member *member, etl_error *err);

bool etlheap_zip_recognise(const char *path)
{
    /* Of a member, or of the directory of an empty zip. */
    static const u8 member[SIGNATURE_BYTES] = { 'P', 'K', 3, 4 };
    static const u8 empty[SIGNATURE_BYTES] = { 'P', 'K', 5, 6 };
    u8 start[SIGNATURE_BYTES] = { 0 };
    const int descriptor = etl_file_open(path);
    if (descriptor < 0)
        return false;
    const bool whole = etl_file_read(descriptor, start, sizeof start) == (i64)sizeof start;
    (void)etl_file_close(descriptor);
    return whole &&
           (memcmp(start, member, sizeof start) == 0 || memcmp(start, empty, sizeof start) == 0);
}

etl_status etlheap_zip_extract(const char *path, const etlheap_zip_options *options,
                               etlheap_zip **out, etl_error *err)
{
    etlheap_zip_options own = { .size = sizeof own };
    extraction job = { .options = &own };
    *out = NULL;
    etl_status status = etl_read_sized(options, "etlheap_zip_options", &own, sizeof own, err);
    if (status != ETL_OK)
        return status;
    etlheap_zip *const zip = calloc(1, sizeof *zip);
    job.folder = own.folder ? own.folder : etl_temporary_default;
    job.buffer = malloc(COPY_BYTES);
    status = ETL_ERR_MEMORY;
    if (zip && job.buffer)
        status = open_archive(path, &job.archive, err);
    else
        etl_fail_with(err, ETL_ERR_MEMORY, 0, "out of memory to unpack the zip");
    if (status == ETL_OK)
        status = list_members(job.archive, zip, err);
    for (u32 i = 0; status == ETL_OK && i < zip->count; i++)
        status = check_start(&job, &zip->members[i], err);
    if (status == ETL_OK)
        status = check_room(&job, zip, err);
    for (u32 i = 0; status == ETL_OK && i < zip->count; i++)
        job.total_bytes += zip->members[i].size_bytes;
    for (u32 i = 0; status == ETL_OK && i < zip->count; i++)
        status = extract_member(&job, &zip->members[i], err);
    if (job.archive)
        zip_discard(job.archive);
    free(job.buffer);
    if (status == ETL_OK)
        *out = zip;
    else
        etlheap_zip_close(zip);
    return status;
}

u32 etlheap_zip_count(const etlheap_zip *zip)
{
    return zip->count;
}

etlheap_zip_member etlheap_zip_member_of(const etlheap_zip *zip, u32 index)
{
    if (index >= zip->count)
        return (etlheap_zip_member){ .name = NULL };
    return (etlheap_zip_member){ zip->members[index].name, zip->members[index].path };
}

void etlheap_zip_close(etlheap_zip *zip)
{
    if (!zip)
        return;
    for (u32 i = 0; i < zip->count; i++) {
        if (zip->members[i].path)
            etl_temporary_remove(zip->members[i].file, zip->members[i].path);
        free(zip->members[i].path);
        free(zip->members[i].name);
    }
    free(zip);
}

/* Read-only: libzip would otherwise want to write the file anew on close. */
static etl_status open_archive(const char *path, zip_t **out, etl_error *err)
{
    int code = ZIP_ER_MEMORY;
    char *const name = etl_path_for_library(path);
    *out = name ? zip_open(name, ZIP_RDONLY, &code) : NULL;
    free(name);
    if (*out)
        return ETL_OK;
    zip_error_t error;
    zip_error_init_with_code(&error, code);
    const etl_status status =
        code == ZIP_ER_MEMORY
            ? ETL_ERR_MEMORY
            : (code == ZIP_ER_OPEN || code == ZIP_ER_READ ? ETL_ERR_IO : ETL_ERR_CORRUPT);
    etl_fail_with(err, status, 0, "cannot open the zip: %s; copy or download it again",
                  zip_error_strerror(&error));
    zip_error_fini(&error);
    return status;
}

/* Only the directory is read here, so all that can be refused by it is. */
static etl_status list_members(zip_t *archive, etlheap_zip *zip, etl_error *err)
{
    const zip_int64_t count = zip_get_num_entries(archive, 0);
    for (zip_int64_t i = 0; i < count; i++) {
        zip_stat_t stat;
        zip_stat_init(&stat);
        if (zip_stat_index(archive, (zip_uint64_t)i, 0, &stat) != 0 || !is_trace_name(stat.name))
            continue;
        if (zip->count == MEMBERS_MAX)
            return etl_fail_with(err, ETL_ERR_LIMIT, 0,
                                 "the zip holds more than %d .etl files: unpack those of one "
                                 "recording and name them",
                                 MEMBERS_MAX);
        const etl_status status = check_member(&stat, err);
        if (status != ETL_OK)
            return status;
        zip_member *const member = &zip->members[zip->count];
        member->name = strdup(stat.name);
        member->index = (zip_uint64_t)i;
        member->size_bytes = stat.size;
        if (!member->name)
            return etl_fail_with(err, ETL_ERR_MEMORY, 0, "out of memory to unpack the zip");
        zip->count++;
    }
    if (zip->count == 0)
        return etl_fail_with(err, ETL_ERR_NOT_ETL, 0, "the zip holds no .etl file");
    return ETL_OK;
}

/* "app.etl", but not "._app.etl": macOS packs a file's attributes like that. */
static bool is_trace_name(const char *name)
{
    static const char suffix[] = ".etl";
    const size_t suffix_size = sizeof suffix - 1;
    const size_t size = name ? strlen(name) : 0;
    if (size <= suffix_size || strcasecmp(name + size - suffix_size, suffix) != 0)
        return false;
    const char *const slash = strrchr(name, '/');
    return strncmp(slash ? slash + 1 : name, "._", 2) != 0;
}

/* What the directory says of a member, before a byte of it is read. */
static etl_status check_member(const zip_stat_t *stat, etl_error *err)
{
    if (!(stat->valid & ZIP_STAT_SIZE))
        return etl_fail_with(err, ETL_ERR_CORRUPT, 0, "the zip does not say how long %.80s is",
                             stat->name);
    if ((stat->valid & ZIP_STAT_ENCRYPTION_METHOD) && stat->encryption_method != ZIP_EM_NONE)
        return etl_fail_with(err, ETL_ERR_UNSUPPORTED, 0,
                             "%.80s in the zip is encrypted: unpack it and name the .etl file",
                             stat->name);
    return ETL_OK;
}

/* As much as the buffer holds, unless the member ends before; -1: see the file's error. */
static i64 read_member(const extraction *job, zip_file_t *file, size_t size)
{
    size_t done = 0;
    while (done < size) {
        const zip_int64_t got = zip_fread(file, job->buffer + done, size - done);
        if (got < 0)
            return -1;
        if (got == 0)
            break;
        done += (size_t)got;
    }
    return (i64)done;
}

static etl_status check_start(const extraction *job, const zip_member *member, etl_error *err)
{
    static_assert(ETL_START_BYTES <= COPY_BYTES, "the buffer holds what is looked at");
    zip_file_t *const file = zip_fopen_index(job->archive, member->index, 0);
    if (!file)
        return member_error(zip_get_error(job->archive), member, err);
    etl_error inner = { .status = ETL_OK };
    const i64 size = read_member(job, file, ETL_START_BYTES);
    etl_status status = ETL_OK;
    if (size < 0)
        status = member_error(zip_file_get_error(file), member, err);
    else if (etl_check_start((etl_bytes){ job->buffer, (size_t)size }, &inner) != ETL_OK)
        status = etl_fail_with(err, inner.status, inner.offset, "%.80s in the zip: %.140s",
                               member->name, inner.message);
    zip_fclose(file);
    return status;
}

/* A zip that claims more than there is room for is refused with both figures:
 * running into a full disk would tell less, and later. */
static etl_status check_room(const extraction *job, const etlheap_zip *zip, etl_error *err)
{
    u64 block, blocks;
    u64 need = 0;
    for (u32 i = 0; i < zip->count; i++) {
        const zip_member *const member = &zip->members[i];
        if (job->options->member_bytes_max > 0 &&
            member->size_bytes > job->options->member_bytes_max)
            return etl_fail_with(err, ETL_ERR_LIMIT, 0,
                                 "%.80s in the zip is said to have %" PRIu64
                                 " bytes, more than the limit of %" PRIu64,
                                 member->name, member->size_bytes, job->options->member_bytes_max);
        need = etl_sat_add_u64(need, member->size_bytes);
    }
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

/* The path is remembered at once, so that closing removes it after any failure. */
static etl_status extract_member(extraction *job, zip_member *member, etl_error *err)
{
    const size_t capacity = strlen(job->folder) + sizeof "/etlheap-XXXXXX";
    char *const path = malloc(capacity);
    if (!path)
        return etl_fail_with(err, ETL_ERR_MEMORY, 0, "out of memory to unpack the zip");
    snprintf(path, capacity, "%s/etlheap-XXXXXX", job->folder);
    member->file = etl_temporary_open(path);
    if (member->file < 0) {
        free(path);
        return etl_fail_with(err, ETL_ERR_IO, 0, "cannot unpack into %.80s: %s; set TMPDIR",
                             job->folder, strerror(errno));
    }
    member->path = path;
    const etl_status status = copy_member(job, member, member->file, err);
    if (!etl_temporary_settle(&member->file) && status == ETL_OK)
        return etl_fail_with(err, ETL_ERR_IO, 0, "cannot unpack into %.80s: %s", job->folder,
                             strerror(errno));
    return status;
}

static etl_status copy_member(extraction *job, const zip_member *member, int descriptor,
                              etl_error *err)
{
    zip_file_t *const file = zip_fopen_index(job->archive, member->index, 0);
    if (!file)
        return member_error(zip_get_error(job->archive), member, err);
    const etl_status status = copy_bytes(job, file, member, descriptor, err);
    zip_fclose(file);
    return status;
}

/* One read past the stated size: a member that goes on is lying, and the read at
 * its end is where libzip checks the sum. */
static etl_status copy_bytes(extraction *job, zip_file_t *file, const zip_member *member,
                             int descriptor, etl_error *err)
{
    u64 left = member->size_bytes;
    for (;;) {
        const i64 got = read_member(job, file, COPY_BYTES);
        if (got < 0)
            return member_error(zip_file_get_error(file), member, err);
        if ((u64)got > left || (got == 0 && left > 0))
            return etl_fail_with(err, ETL_ERR_CORRUPT, 0,
                                 "%.80s in the zip is %s than the %" PRIu64
                                 " bytes its directory says",
                                 member->name, got > 0 ? "longer" : "shorter", member->size_bytes);
        if (got == 0)
            return ETL_OK;
        if (!etl_file_write(descriptor, job->buffer, (size_t)got))
            return etl_fail_with(err, ETL_ERR_IO, 0, "cannot unpack into %.80s: %s; set TMPDIR",
                                 job->folder, strerror(errno));
        left -= (u64)got;
        job->done_bytes += (u64)got;
        if (job->options->progress &&
            !job->options->progress(job->options->progress_user, job->done_bytes, job->total_bytes))
            return etl_fail_with(err, ETL_ERR_CANCELLED, 0, "cancelled");
    }
}

/* libzip's code decides whose fault it is, its text what the user reads. */
static etl_status member_error(zip_error_t *error, const zip_member *member, etl_error *err)
{
    const int code = zip_error_code_zip(error);
    etl_status status = ETL_ERR_CORRUPT;
    if (code == ZIP_ER_MEMORY)
        status = ETL_ERR_MEMORY;
    else if (code == ZIP_ER_READ || code == ZIP_ER_SEEK)
        status = ETL_ERR_IO;
    else if (code == ZIP_ER_COMPNOTSUPP || code == ZIP_ER_ENCRNOTSUPP || code == ZIP_ER_NOPASSWD)
        status = ETL_ERR_UNSUPPORTED;
    return etl_fail_with(err, status, 0, "cannot unpack %.80s from the zip: %.80s", member->name,
                         zip_error_strerror(error));
}
