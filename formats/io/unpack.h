/*
 * unpack.h - the temporary files of unpacked members (private to formats).
 *
 * Whatever the packing, unpacking makes members. Each is a temporary file that is begun, written
 * piece by piece and ended here, so progress, the size limit and errors of the folder are handled
 * in one place.
 */
#ifndef ETLHEAP_UNPACK_H
#define ETLHEAP_UNPACK_H

#include "formats/formats.h"

#include "parser/base.h"

#define UNPACK_MEMBERS_MAX 64 /* files of one recording; PerfView packs at most 4 */
#define UNPACK_BYTES       (256 * 1024)

typedef struct unpacked_member {
    char *name; /* NULL: no names in this format */
    char *path;
    int file; /* -1: not begun, or completed */
    int lock; /* tells other runs that the file is in use; -1: none */
    u64 size_bytes;
} unpacked_member;

typedef struct unpack_beside unpack_beside;

struct etlheap_unpacked {
    u32 count;
    unpacked_member members[UNPACK_MEMBERS_MAX];
    unpack_beside *beside; /* unpacks the only member; NULL: all are complete */
};

typedef struct unpacking {
    const etlheap_unpack_options *options;
    const char *folder;
    u8 *buffer; /* UNPACK_BYTES of scratch */
    u64 done_bytes, total_bytes;
    u64 written_bytes, limit_bytes;
    etlheap_unpacked *out;
} unpacking;

/* Unpacks one piece into the members of job->out. *more is whether there may be another. */
typedef etl_status unpack_step_fn(unpacking *job, void *state, bool *more, etl_error *err);

typedef struct unpack_source {
    unpack_step_fn *step;
    void (*close)(void *state); /* once, in the end */
    void *state;
} unpack_source;

/* Begins a member. Its path is stored at once, so that closing `out` removes it after any
 * failure. */
etl_status unpack_begin_file(unpacking *job, unpacked_member *member, etl_error *err);
etl_status unpack_write(unpacking *job, const unpacked_member *member, size_t size, etl_error *err);
etl_status unpack_end_file(unpacking *job, unpacked_member *member, etl_error *err);

/* What a packed file of this size may unpack to. Ten times is more than traces of any kind need,
 * and small files may need more; `wanted` replaces both. */
static inline u64 unpack_limit_of(u64 file_bytes, u64 wanted_bytes)
{
    const u64 least = (u64)64 << 30;
    const u64 most = file_bytes > UINT64_MAX / 10 ? UINT64_MAX : file_bytes * 10;
    return wanted_bytes > 0 ? wanted_bytes : most > least ? most : least;
}

/* ETL_ERR_LIMIT if the files have, or will have, more bytes than the job allows. */
etl_status unpack_check_limit(const unpacking *job, u64 bytes, etl_error *err);

/* ETL_ERR_IO if the folder has no room for so many bytes. */
etl_status unpack_check_room(const unpacking *job, u64 need, etl_error *err);

/* For members that are not traces: opens a job, which must be ended in every case. */
etl_status unpack_open_job(const etlheap_unpack_options *options, const char *path,
                           etlheap_unpack_options *own, unpacking *job, etl_error *err);
void unpack_end_job(unpacking *job);

/* As many folders as the symbol path searches below one. */
#define UNPACK_PDBS_MAX 4096u

/* Removes a folder of symbols that has numbered folders. */
void unpack_remove_symbols(const char *folder);

/* Removes temporary files that killed runs left in the folder. */
void unpack_remove_leftovers(const char *folder);

/* Reports progress after done_bytes changed. ETL_ERR_CANCELLED. */
etl_status unpack_tell(const unpacking *job, etl_error *err);

/* Says that the folder of the job fails, by errno. */
etl_status unpack_folder_error(const unpacking *job, etl_error *err);

/* Fills err with ETL_ERR_MEMORY and its message. */
etl_status unpack_no_memory(etl_error *err);

/* What a file is packed with. */
typedef enum unpack_packing { UNPACK_NONE, UNPACK_ZIP, UNPACK_GZIP, UNPACK_ZSTD } unpack_packing;

/* The packing of a file that begins like this, or of a file. */
unpack_packing unpack_packing_of(etl_bytes start);
unpack_packing unpack_packing_of_file(const char *path);

bool unpack_has_suffix(const char *name, const char *suffix); /* ignoring case */

/* Opens a zip to read; the caller discards it. */
struct zip;
etl_status unpack_open_zip(const char *path, struct zip **out, etl_error *err);

/* Unpacks a file into job->out. */
etl_status unpack_zip(unpacking *job, const char *path, etl_error *err);
etl_status unpack_gzip(unpacking *job, const char *path, etl_error *err);
etl_status unpack_zstd(unpacking *job, const char *path, etl_error *err);

/* Copies all bytes from the descriptor. */
etl_status unpack_descriptor(unpacking *job, int descriptor, etl_error *err);

#endif
