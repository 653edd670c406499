/* batch_content.c - by what a file is known again; see etlheap_batch.h. */
#include "engine/engine.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <xxhash.h>

#include "engine/log/ehs_file.h"
#include "parser/system/files.h"

/* Read, not mapped: a file that shrinks meanwhile is then an early end. */
#define CHUNK_BYTES ((size_t)256 << 10)

static etl_status add_chunks(FILE *file, u8 *chunk, XXH3_state_t *hash, u64 *size_bytes,
                             etl_error *err);

etlheap_content_id etlheap_content_of(const void *bytes, size_t size)
{
    const XXH128_hash_t sum = XXH3_128bits(bytes, size);
    return (etlheap_content_id){ sum.high64, sum.low64 };
}

etl_status etlheap_content_of_file(const char *path, etlheap_content_id *out, u64 *size_bytes,
                                   etl_error *err)
{
    FILE *const file = etl_file_stream(path);
    if (file == NULL)
        return etl_fail_with(err, errno == ENOMEM ? ETL_ERR_MEMORY : ETL_ERR_IO, 0,
                             "cannot open: %s", strerror(errno));
    XXH3_state_t *const hash = XXH3_createState();
    u8 *const chunk = malloc(CHUNK_BYTES);
    etl_status status = hash == NULL || chunk == NULL ? etl_no_memory(err) : ETL_OK;
    *size_bytes = 0;
    if (status == ETL_OK) {
        (void)XXH3_128bits_reset(hash);
        status = add_chunks(file, chunk, hash, size_bytes, err);
    }
    if (status == ETL_OK) {
        const XXH128_hash_t sum = XXH3_128bits_digest(hash);
        *out = (etlheap_content_id){ sum.high64, sum.low64 };
    }
    (void)XXH3_freeState(hash);
    free(chunk);
    (void)fclose(file);
    return status;
}

static etl_status add_chunks(FILE *file, u8 *chunk, XXH3_state_t *hash, u64 *size_bytes,
                             etl_error *err)
{
    /* Chunks are large: another copy on their way would be for nothing. */
    (void)setvbuf(file, NULL, _IONBF, 0);
    for (;;) {
        const size_t size = fread(chunk, 1, CHUNK_BYTES, file);
        (void)XXH3_128bits_update(hash, chunk, size);
        *size_bytes += size;
        if (ferror(file))
            return etl_fail_with(err, ETL_ERR_IO, *size_bytes, "cannot read: %s", strerror(errno));
        if (size < CHUNK_BYTES)
            return ETL_OK;
    }
}

u32 etlheap_store_version(void)
{
    return (u32)EHS_MAJOR << 16 | EHS_MINOR;
}
