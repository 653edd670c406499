/*
 * unpack.h - temporary files of what is unpacked (private to formats).
 *
 * Whatever the packing is, unpacking makes members: each a temporary file, begun, written
 * piece by piece and ended here, so that progress, the limit and what goes wrong with the
 * folder are told in one way.
 */
#ifndef ETLHEAP_UNPACK_H
#define ETLHEAP_UNPACK_H

#include "formats/formats.h"

#define UNPACK_MEMBERS_MAX 64 /* files of one recording; PerfView packs at most four */
#define UNPACK_BYTES       (256 * 1024)

typedef struct unpacked_member {
    char *name; /* NULL: what is packed has no names within */
    char *path;
    int file; /* -1: it is settled */
    u64 size_bytes;
} unpacked_member;

struct etlheap_unpacked {
    u32 count;
    unpacked_member members[UNPACK_MEMBERS_MAX];
};

typedef struct unpacking {
    const etlheap_unpack_options *options;
    const char *folder;
    u8 *buffer; /* UNPACK_BYTES, for whoever unpacks */
    u64 done_bytes, total_bytes;
    etlheap_unpacked *out;
} unpacking;

/* Its path is remembered at once, so that closing `out` removes it after any failure. */
etl_status unpack_begin_file(unpacking *job, unpacked_member *member, etl_error *err);
etl_status unpack_write(unpacking *job, const unpacked_member *member, size_t size, etl_error *err);
etl_status unpack_end_file(unpacking *job, unpacked_member *member, etl_error *err);

/* Tells that done_bytes changed; ETL_ERR_CANCELLED. */
etl_status unpack_tell(const unpacking *job, etl_error *err);

/* ETL_ERR_MEMORY, in words. */
etl_status unpack_no_memory(etl_error *err);

/* Whether a file that begins like this can be unpacked. */
bool unpack_begins_packed(etl_bytes start);

/* Fills job->out from what is packed. */
etl_status unpack_zip(unpacking *job, const char *path, etl_error *err);
etl_status unpack_gzip(unpacking *job, const char *path, etl_error *err);
etl_status unpack_zstd(unpacking *job, const char *path, etl_error *err);

/* Copies what comes from the descriptor, up to its end. */
etl_status unpack_descriptor(unpacking *job, int descriptor, etl_error *err);

#endif
