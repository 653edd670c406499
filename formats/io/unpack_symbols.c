/*
 * unpack_symbols.c - unpacks the PDBs that a package of a trace brings along.
 *
 * In: a zip as PerfView or Visual Studio makes it, and which names are wanted. Out: a temporary
 * folder for the symbol path:
 *
 *     symbols/app.pdb/520D.../app.pdb  ──▶  etlheap-symbols-Ab12cD/1/app.pdb
 *     a.etl.NGENPDB/x.ni.pdb/.../...   ──▶                        /2/x.ni.pdb
 *                                                                /lock
 *
 * Only the last component of a member's name is used, so no name leads out of the folder. The
 * folders below one of the symbol path are searched by name, and a PDB is used only if its contents
 * belong to the module, so the numbers say nothing. Invariants: all that is in the folder is listed
 * counted in the handle, or has a name that removing it knows; the lock tells other runs that the
 * folder is in use.
 */
#include "unpack.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <zip.h>

#include "parser/system/files.h"

#define PATH_SIZE 4096

struct etlheap_unpacked_symbols {
    char folder[PATH_SIZE];
    int lock;
    u32 count;
};

/* The last component of a member's name, if it is that of a PDB and can be a file of any system;
 * else NULL. */
static const char *pdb_name(const char *member)
{
    const char *name = member;
    for (const char *at = member; *at != '\0'; at++) {
        if (*at == '/' || *at == '\\')
            name = at + 1;
    }
    const size_t size = strlen(name);
    if (size <= 4 || size > 200 || !unpack_has_suffix(name, ".pdb") ||
        strpbrk(name, ":*?\"<>|") != NULL)
        return NULL;
    for (size_t i = 0; i < size; i++) {
        if ((u8)name[i] < ' ')
            return NULL;
    }
    return name;
}

static etl_status make_folder(const unpacking *job, etlheap_unpacked_symbols *out, etl_error *err)
{
    char path[PATH_SIZE + 8];
    const int size =
        snprintf(out->folder, sizeof out->folder, "%s/etlheap-symbols-XXXXXX", job->folder);
    if (size < 0 || (size_t)size >= sizeof out->folder || !etl_folder_make_temporary(out->folder)) {
        out->folder[0] = '\0';
        return unpack_folder_error(job, err);
    }
    snprintf(path, sizeof path, "%s/lock", out->folder);
    const int file = etl_file_create_new(path);
    if (file < 0)
        return unpack_folder_error(job, err);
    /* Without locks, as on Windows, a file that is open cannot be removed. */
    out->lock = etl_file_lock(file);
    if (out->lock >= 0)
        (void)etl_file_close(file);
    else
        out->lock = file;
    return ETL_OK;
}

/* Copies a member. One that cannot be unpacked, or is longer than stated, is an error. */
static etl_status copy_member(unpacking *job, zip_file_t *from, int to, u64 size_bytes,
                              etl_error *err)
{
    for (u64 left = size_bytes;;) {
        const zip_int64_t got = zip_fread(from, job->buffer, UNPACK_BYTES);
        if (got < 0 || (u64)got > left || (got == 0 && left > 0))
            return etl_fail_with(err, ETL_ERR_CORRUPT, 0, "a PDB in it is damaged");
        if (got == 0)
            return ETL_OK;
        job->written_bytes += (u64)got;
        job->done_bytes += (u64)got;
        left -= (u64)got;
        etl_status status = unpack_check_limit(job, job->written_bytes, err);
        if (status == ETL_OK && !etl_file_write(to, job->buffer, (size_t)got))
            status = unpack_folder_error(job, err);
        if (status == ETL_OK)
            status = unpack_tell(job, err);
        if (status != ETL_OK)
            return status;
    }
}

static etl_status add_member(unpacking *job, zip_t *archive, const zip_stat_t *stat,
                             const char *name, etlheap_unpacked_symbols *out, etl_error *err)
{
    char path[PATH_SIZE + 256];
    etl_status status = out->folder[0] == '\0' ? make_folder(job, out, err) : ETL_OK;
    if (status != ETL_OK)
        return status;
    snprintf(path, sizeof path, "%s/%" PRIu32, out->folder, ++out->count);
    if (!etl_folder_make(path))
        return unpack_folder_error(job, err);
    snprintf(path, sizeof path, "%s/%" PRIu32 "/%s", out->folder, out->count, name);
    const int to = etl_file_create_new(path);
    if (to < 0)
        return unpack_folder_error(job, err);
    zip_file_t *const from = zip_fopen_index(archive, stat->index, 0);
    status = from ? copy_member(job, from, to, stat->size, err)
                  : etl_fail_with(err, ETL_ERR_UNSUPPORTED, 0, "a PDB in it cannot be unpacked");
    if (from)
        zip_fclose(from);
    if (!etl_file_close(to) && status == ETL_OK)
        status = unpack_folder_error(job, err);
    return status;
}

static bool is_wanted(zip_t *archive, u64 index, const etlheap_symbols_wanted *wanted,
                      zip_stat_t *stat, const char **name)
{
    zip_stat_init(stat);
    if (zip_stat_index(archive, index, 0, stat) != 0 || !(stat->valid & ZIP_STAT_SIZE) ||
        !(stat->valid & ZIP_STAT_INDEX))
        return false;
    *name = pdb_name(stat->name);
    return *name && wanted->is_wanted(wanted->user, *name);
}

/* Both passes see the same members: the first adds up their sizes. */
static etl_status copy_members(unpacking *job, zip_t *archive, const etlheap_symbols_wanted *wanted,
                               etlheap_unpacked_symbols *out, etl_error *err)
{
    const zip_int64_t count = zip_get_num_entries(archive, 0);
    zip_stat_t stat;
    const char *name;
    for (zip_int64_t i = 0; i < count; i++) {
        if (is_wanted(archive, (zip_uint64_t)i, wanted, &stat, &name))
            job->total_bytes = etl_sat_add_u64(job->total_bytes, stat.size);
    }
    etl_status status = unpack_check_limit(job, job->total_bytes, err);
    if (status == ETL_OK && job->total_bytes > 0)
        status = unpack_check_room(job, job->total_bytes, err);
    for (zip_int64_t i = 0; status == ETL_OK && i < count && out->count < UNPACK_PDBS_MAX; i++) {
        if (is_wanted(archive, (zip_uint64_t)i, wanted, &stat, &name))
            status = add_member(job, archive, &stat, name, out, err);
    }
    return status;
}

etl_status etlheap_unpack_symbols(const char *path, const etlheap_unpack_options *options,
                                  const etlheap_symbols_wanted *wanted,
                                  etlheap_unpacked_symbols **out, etl_error *err)
{
    etlheap_unpack_options own;
    unpacking job;
    zip_t *archive = NULL;
    *out = NULL;
    if (unpack_packing_of_file(path) != UNPACK_ZIP)
        return ETL_OK;
    etlheap_unpacked_symbols *const made = calloc(1, sizeof *made);
    etl_status status = unpack_open_job(options, path, &own, &job, err);
    if (!made && status == ETL_OK)
        status = unpack_no_memory(err);
    if (made)
        made->lock = -1;
    if (status == ETL_OK)
        status = unpack_open_zip(path, &archive, err);
    if (status == ETL_OK)
        status = copy_members(&job, archive, wanted, made, err);
    if (archive)
        zip_discard(archive);
    unpack_end_job(&job);
    if (status == ETL_OK && made->count > 0)
        *out = made;
    else
        etlheap_unpacked_symbols_close(made);
    return status;
}

const char *etlheap_unpacked_symbols_folder(const etlheap_unpacked_symbols *symbols)
{
    return symbols->folder;
}

void etlheap_unpacked_symbols_close(etlheap_unpacked_symbols *symbols)
{
    if (!symbols)
        return;
    if (symbols->lock >= 0)
        (void)etl_file_close(symbols->lock);
    if (symbols->folder[0] != '\0')
        unpack_remove_symbols(symbols->folder);
    free(symbols);
}
