/* memory_count.c - counts the memory that a question holds. */
#include "memory_count.h"

etl_status memory_hold(memory_count *count, u64 *own, u64 bytes, etl_error *err)
{
    const u64 before = *own;
    if (count == NULL || bytes == before)
        return ETL_OK;
    *own = bytes;
    const u64 held = __atomic_add_fetch(&count->held_bytes, bytes - before, __ATOMIC_RELAXED);
    if (count->limit_bytes == 0 || bytes < before || held <= count->limit_bytes)
        return ETL_OK;
    return etl_fail_hint(err, ETL_ERR_LIMIT, ETL_HINT_NARROWER_WINDOW,
                         "this needs %llu MiB of memory, more than allowed",
                         (unsigned long long)(held / ETL_MIB + 1));
}
