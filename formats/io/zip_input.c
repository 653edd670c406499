/*
 * zip_input.c - unpacks traces from zip files, as PerfView makes them (app.etl.zip).
 *
 * In: a zip file, which is not trusted; members *.etl but not ._*, unencrypted, and limits of count
 * and size. Out: a temporary file in the folder for each member, listed in job->out; progress.
 *
 *     directory ──▶ members that are traces ──▶ first bytes of each (check_start)
 *               ──▶ sizes checked against free space ──▶ bytes
 *
 * The trace reader memory-maps files, so members are extracted into files; a single one may be read
 * meanwhile (unpack_beside.h). A few kilobytes can unpack to
 * gigabytes, so a member that is too short or does not begin like a trace is refused after its
 * first bytes. Invariants: one bad member refuses the whole zip. Sizes in the directory are checked
 * before the first byte is written, and a member that is longer than stated is refused.
 */
#include "unpack_beside.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <strings.h>
#include <zip.h>

#include "parser/system/files.h"

/* The members, with their numbers in the archive. */
typedef struct listing {
    etlheap_unpacked *out;
    zip_uint64_t indices[UNPACK_MEMBERS_MAX];
} listing;

/* The archive, and the member that is being copied. */
typedef struct zip_reader {
    zip_t *archive;
    listing list;
    u32 at; /* into the list */
    zip_file_t *file;
    u64 left; /* of the member, by the size that is stated */
} zip_reader;

static etl_status check_archive(const unpacking *job, zip_t *archive, listing *list,
                                etl_error *err);
static etl_status copy_members(unpacking *job, zip_reader *reader, etl_error *err);
static etl_status list_members(zip_t *archive, listing *list, etl_error *err);
static etl_status fail_without_trace(zip_t *archive, etl_error *err);
static bool is_trace_name(const char *name);
static etl_status check_member(const zip_stat_t *stat, etl_error *err);
static etl_status check_start(const unpacking *job, zip_t *archive, const listing *list, u32 at,
                              etl_error *err);
static etl_status check_room(const unpacking *job, etl_error *err);
static etl_status begin_member(unpacking *job, zip_reader *reader, etl_error *err);
static etl_status copy_piece(unpacking *job, void *state, bool *more, etl_error *err);
static void close_reader(void *state);
static etl_status member_error(zip_error_t *error, const unpacked_member *member, etl_error *err);

etl_status unpack_zip(unpacking *job, const char *path, etl_error *err)
{
    zip_reader *const reader = calloc(1, sizeof *reader);
    if (!reader)
        return unpack_no_memory(err);
    reader->list.out = job->out;
    etl_status status = unpack_open_zip(path, &reader->archive, err);
    if (status == ETL_OK)
        status = check_archive(job, reader->archive, &reader->list, err);
    if (status == ETL_OK)
        return copy_members(job, reader, err);
    close_reader(reader);
    return status;
}

static etl_status check_archive(const unpacking *job, zip_t *archive, listing *list, etl_error *err)
{
    etl_status status = list_members(archive, list, err);
    for (u32 i = 0; status == ETL_OK && i < list->out->count; i++)
        status = check_start(job, archive, list, i, err);
    return status == ETL_OK ? check_room(job, err) : status;
}

/* Copies all members, or begins to copy the only one. Closes the reader, or hands it over. */
static etl_status copy_members(unpacking *job, zip_reader *reader, etl_error *err)
{
    const unpack_source source = { copy_piece, close_reader, reader };
    etlheap_unpacked *const out = job->out;
    for (u32 i = 0; i < out->count; i++)
        job->total_bytes += out->members[i].size_bytes;
    etl_status status = begin_member(job, reader, err);
    if (status == ETL_OK && out->count == 1 && job->options->beside &&
        unpack_beside_open(job, &source))
        return ETL_OK;
    for (bool more = true; status == ETL_OK && more;) {
        status = copy_piece(job, reader, &more, err);
        if (status == ETL_OK)
            status = unpack_tell(job, err);
    }
    close_reader(reader);
    return status;
}

static void close_reader(void *state)
{
    zip_reader *const reader = state;
    if (reader->file)
        zip_fclose(reader->file);
    if (reader->archive)
        zip_discard(reader->archive);
    free(reader);
}

/* Opens the archive as a stream: libzip's own way of opening conflicts with temporary files on
 * Windows. Read-only, because libzip would rewrite the file on close. */
etl_status unpack_open_zip(const char *path, struct zip **out, etl_error *err)
{
    FILE *const file = etl_file_stream(path);
    zip_error_t error;
    *out = NULL;
    if (!file)
        return etl_fail_with(err, ETL_ERR_IO, 0, "cannot open the zip: %s", strerror(errno));
    zip_error_init(&error);
    zip_source_t *const source = zip_source_filep_create(file, 0, -1, &error);
    if (source)
        *out = zip_open_from_source(source, ZIP_RDONLY, &error);
    else
        (void)fclose(file);
    if (source && !*out)
        zip_source_free(source); /* and closes the file */
    const int code = zip_error_code_zip(&error);
    const etl_status status =
        code == ZIP_ER_MEMORY
            ? ETL_ERR_MEMORY
            : (code == ZIP_ER_OPEN || code == ZIP_ER_READ ? ETL_ERR_IO : ETL_ERR_CORRUPT);
    if (!*out)
        etl_fail_with(err, status, 0, "cannot open the zip: %s; copy or download it again",
                      zip_error_strerror(&error));
    zip_error_fini(&error);
    return *out ? ETL_OK : status;
}

/* Lists the members from the directory, and refuses whatever the directory alone shows to be
 * wrong. */
static etl_status list_members(zip_t *archive, listing *list, etl_error *err)
{
    etlheap_unpacked *const out = list->out;
    const zip_int64_t count = zip_get_num_entries(archive, 0);
    for (zip_int64_t i = 0; i < count; i++) {
        zip_stat_t stat;
        zip_stat_init(&stat);
        if (zip_stat_index(archive, (zip_uint64_t)i, 0, &stat) != 0 || !is_trace_name(stat.name))
            continue;
        if (out->count == UNPACK_MEMBERS_MAX)
            return etl_fail_with(err, ETL_ERR_LIMIT, 0,
                                 "the zip holds more than %d .etl files: unpack those of one "
                                 "recording and name them",
                                 UNPACK_MEMBERS_MAX);
        const etl_status status = check_member(&stat, err);
        if (status != ETL_OK)
            return status;
        unpacked_member *const member = &out->members[out->count];
        member->name = strdup(stat.name);
        member->size_bytes = stat.size;
        if (!member->name)
            return unpack_no_memory(err);
        list->indices[out->count++] = (zip_uint64_t)i;
    }
    return out->count == 0 ? fail_without_trace(archive, err) : ETL_OK;
}

bool unpack_has_suffix(const char *name, const char *suffix)
{
    const size_t size = name ? strlen(name) : 0, suffix_size = strlen(suffix);
    return size > suffix_size && strcasecmp(name + size - suffix_size, suffix) == 0;
}

/* "app.etl", but not "._app.etl": macOS stores extended attributes under such names. */
static bool is_trace_name(const char *name)
{
    if (!unpack_has_suffix(name, ".etl"))
        return false;
    const char *const slash = strrchr(name, '/');
    return strncmp(slash ? slash + 1 : name, "._", 2) != 0;
}

/* What people put into a zip in place of traces, as build servers do with files that are packed
 * already. */
static const struct {
    const char *suffix, *kind;
} relatives[] = {
    { ".etl.zip", "a packed trace" },
    { ".etl.gz", "a packed trace" },
    { ".etl.zst", "a packed trace" },
    { ".diagsession", "a packed trace" },
    { ".ehs", "a store" },
    { ".ehs.gz", "a packed store" },
    { ".ehs.zst", "a packed store" },
    { ".etlx", "a trace that PerfView converted" },
    { ".txt", "maybe a UMDH log" },
    { ".log", "maybe a UMDH log" },
    { ".zip", "another archive" },
    { ".gz", "another archive" },
    { ".7z", "another archive" },
    { ".cab", "another archive" },
};

/* Names the first member of the kind that comes first in the list. */
static etl_status fail_without_trace(zip_t *archive, etl_error *err)
{
    const zip_int64_t count = zip_get_num_entries(archive, 0);
    for (size_t k = 0; k < ETL_COUNT_OF(relatives); k++) {
        for (zip_int64_t i = 0; i < count; i++) {
            const char *const name = zip_get_name(archive, (zip_uint64_t)i, 0);
            if (unpack_has_suffix(name, relatives[k].suffix))
                return etl_fail_with(err, ETL_ERR_NOT_ETL, 0,
                                     "the zip holds no .etl file, but '%.80s', %s: unpack the zip "
                                     "first, and open that file",
                                     name, relatives[k].kind);
        }
    }
    return etl_fail_with(err, ETL_ERR_NOT_ETL, 0, "the zip holds no .etl file");
}

/* Checks what the directory says about a member, before any of it is read. */
static etl_status check_member(const zip_stat_t *stat, etl_error *err)
{
    if (!(stat->valid & ZIP_STAT_SIZE))
        return etl_fail_with(err, ETL_ERR_CORRUPT, 0, "the zip does not state the size of %.80s",
                             stat->name);
    if ((stat->valid & ZIP_STAT_COMP_METHOD) && stat->comp_method == ZIP_CM_DEFLATE64)
        return etl_fail_with(err, ETL_ERR_UNSUPPORTED, 0,
                             "%.80s in the zip is packed with Deflate64, as Windows Explorer packs "
                             "files over 2 GB: unpack it with Explorer or 7-Zip, and open the .etl "
                             "file",
                             stat->name);
    if ((stat->valid & ZIP_STAT_ENCRYPTION_METHOD) && stat->encryption_method != ZIP_EM_NONE)
        return etl_fail_with(err, ETL_ERR_UNSUPPORTED, 0,
                             "%.80s in the zip is encrypted: unpack it and name the .etl file",
                             stat->name);
    return ETL_OK;
}

/* Reads `size` bytes into the buffer, or up to the end of the member. Returns -1 on failure; `file`
 * then holds the error. */
static i64 read_member(const unpacking *job, zip_file_t *file, size_t size)
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

static etl_status check_start(const unpacking *job, zip_t *archive, const listing *list, u32 at,
                              etl_error *err)
{
    static_assert(ETL_START_BYTES <= UNPACK_BYTES, "the buffer holds what is looked at");
    const unpacked_member *const member = &list->out->members[at];
    zip_file_t *const file = zip_fopen_index(archive, list->indices[at], 0);
    if (!file)
        return member_error(zip_get_error(archive), member, err);
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

/* Refuses a zip that states more bytes than there is room for, and states both figures. A disk-full
 * error would come later and say less. */
static etl_status check_room(const unpacking *job, etl_error *err)
{
    const etlheap_unpacked *const out = job->out;
    u64 need = 0;
    for (u32 i = 0; i < out->count; i++) {
        const unpacked_member *const member = &out->members[i];
        if (job->options->member_bytes_max > 0 &&
            member->size_bytes > job->options->member_bytes_max)
            return etl_fail_with(err, ETL_ERR_LIMIT, 0,
                                 "%.80s in the zip is said to have %" PRIu64
                                 " bytes, more than the limit of %" PRIu64,
                                 member->name, member->size_bytes, job->options->member_bytes_max);
        need = etl_sat_add_u64(need, member->size_bytes);
    }
    const etl_status status = unpack_check_limit(job, need, err);
    return status == ETL_OK ? unpack_check_room(job, need, err) : status;
}

static etl_status begin_member(unpacking *job, zip_reader *reader, etl_error *err)
{
    unpacked_member *const member = &job->out->members[reader->at];
    const etl_status status = unpack_begin_file(job, member, err);
    if (status != ETL_OK)
        return status;
    reader->left = member->size_bytes;
    reader->file = zip_fopen_index(reader->archive, reader->list.indices[reader->at], 0);
    return reader->file ? ETL_OK : member_error(zip_get_error(reader->archive), member, err);
}

static etl_status end_member(unpacking *job, zip_reader *reader, bool *more, etl_error *err)
{
    zip_fclose(reader->file);
    reader->file = NULL;
    const etl_status status = unpack_end_file(job, &job->out->members[reader->at++], err);
    *more = reader->at < job->out->count;
    return status == ETL_OK && *more ? begin_member(job, reader, err) : status;
}

/* Copies a piece of the current member. After the stated size it makes one extra read: it detects
 * excess data and makes libzip verify the checksum. */
static etl_status copy_piece(unpacking *job, void *state, bool *more, etl_error *err)
{
    zip_reader *const reader = state;
    const unpacked_member *const member = &job->out->members[reader->at];
    const i64 got = read_member(job, reader->file, UNPACK_BYTES);
    *more = true;
    if (got < 0)
        return member_error(zip_file_get_error(reader->file), member, err);
    if ((u64)got > reader->left || (got == 0 && reader->left > 0))
        return etl_fail_with(err, ETL_ERR_CORRUPT, 0,
                             "%.80s in the zip is %s than the %" PRIu64
                             " bytes that its directory states",
                             member->name, got > 0 ? "longer" : "shorter", member->size_bytes);
    if (got == 0)
        return end_member(job, reader, more, err);
    const etl_status status = unpack_write(job, member, (size_t)got, err);
    reader->left -= (u64)got;
    job->done_bytes += (u64)got;
    return status;
}

/* What to do about methods of compression that this libzip does not know. */
static const char *advice_of(int code)
{
    return code == ZIP_ER_COMPNOTSUPP ? ": unpack it with 7-Zip, and open the .etl file" : "";
}

/* Reports the error of a member: maps libzip's code to a status and quotes its text. */
static etl_status member_error(zip_error_t *error, const unpacked_member *member, etl_error *err)
{
    const int code = zip_error_code_zip(error);
    etl_status status = ETL_ERR_CORRUPT;
    if (code == ZIP_ER_MEMORY)
        status = ETL_ERR_MEMORY;
    else if (code == ZIP_ER_READ || code == ZIP_ER_SEEK)
        status = ETL_ERR_IO;
    else if (code == ZIP_ER_COMPNOTSUPP || code == ZIP_ER_ENCRNOTSUPP || code == ZIP_ER_NOPASSWD)
        status = ETL_ERR_UNSUPPORTED;
    return etl_fail_with(err, status, 0, "cannot unpack %.80s from the zip: %.80s%s", member->name,
                         zip_error_strerror(error), advice_of(code));
}
