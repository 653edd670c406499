/* archive.c - a store for answers: whether a file is one, its readers, and its end. */
#include "archive.h"

#include <stdlib.h>

bool etlheap_is_store(etl_bytes file)
{
    return ehs_is_store(file);
}

bool etlheap_is_full_store(etl_bytes file)
{
    return ehs_is_full_store(file);
}

bool etlheap_is_whole_store(etl_bytes file)
{
    return ehs_is_whole_store(file);
}

etl_status archive_read(const ehs_archive *archive, u32 wanted, const u32 *cancel, log_reader *out,
                        etl_error *err)
{
    const bool ok = log_reader_open(out, &archive->reader, &archive->segments, wanted, cancel);
    return ok ? ETL_OK : etl_no_memory(err);
}

u32 archive_segment_at(const ehs_archive *archive, i64 ticks)
{
    u32 low;
    ETL_BISECT(low, 0, (u32)archive->segments.count, archive->segments.at[low].last_ticks < ticks);
    return low;
}

void archive_free(ehs_archive *archive)
{
    if (archive == NULL)
        return;
    kept_sums_close(archive->kept);
    ETLHEAP_VECTOR_FREE(&archive->segments);
    ETLHEAP_VECTOR_FREE(&archive->checkpoints);
    ehs_origins_free(&archive->origins);
    ehs_reader_close(&archive->reader);
    etl_map_close(&archive->map);
    free(archive);
}
