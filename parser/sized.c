/*
 * sized.c - see sized.h.
 */
#include "sized.h"

static bool is_zero(const u8 *at, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (at[i] != 0)
            return false;
    }
    return true;
}

etl_status etl_read_sized(const void *given, const char *name, void *own, size_t own_size,
                          etl_error *err)
{
    size_t size;
    assert(own_size >= ETL_SIZED_MIN && own_size <= ETL_SIZED_MAX);
    if (!given)
        return ETL_OK;
    memcpy(&size, given, sizeof size);
    if (size < ETL_SIZED_MIN || size > ETL_SIZED_MAX)
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                             "%s.size is %llu: set it to the size of the structure, %llu", name,
                             (unsigned long long)size, (unsigned long long)own_size);
    if (size > own_size && !is_zero((const u8 *)given + own_size, size - own_size))
        return etl_fail_with(err, ETL_ERR_UNSUPPORTED, 0,
                             "%s has fields that this version of the library does not know: "
                             "leave them 0, or use the library that the program was compiled for",
                             name);
    memcpy(own, given, size < own_size ? size : own_size);
    memcpy(own, &own_size, sizeof own_size);
    return ETL_OK;
}

void etl_init_sized(void *out, size_t size, const void *own, size_t own_size)
{
    if (size < ETL_SIZED_MIN || size > ETL_SIZED_MAX)
        return;
    memset(out, 0, size);
    memcpy(out, own, size < own_size ? size : own_size);
    memcpy(out, &size, sizeof size);
}

etl_status etl_read_sized_at(const void *given, u32 at, const char *name, void *own,
                             size_t own_size, etl_error *err)
{
    size_t size;
    memcpy(&size, given, sizeof size);
    if (size < ETL_SIZED_MIN || size > ETL_SIZED_MAX)
        return etl_read_sized(given, name, own, own_size, err); /* which says why not */
    return etl_read_sized((const u8 *)given + at * size, name, own, own_size, err);
}
