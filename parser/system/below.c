/* below.c - see below.h. */
#include "below.h"

static bool is_name(const char *at, size_t size, const char *name)
{
    return strlen(name) == size && memcmp(at, name, size) == 0;
}

u32 etl_below_names(const char *path, char out[ETL_BELOW_BYTES_MAX])
{
    size_t starts[ETL_BELOW_NAMES_MAX];
    size_t used = 0;
    u32 count = 0;
    while (*path != '\0') {
        const size_t size = strcspn(path, "/\\");
        const char *const name = path;
        path += size + (path[size] != '\0');
        if (size == 0 || is_name(name, size, "."))
            continue;
        if (is_name(name, size, "..")) {
            if (count == 0)
                return 0;
            used = starts[--count];
            continue;
        }
        if (count == ETL_BELOW_NAMES_MAX || size >= ETL_BELOW_BYTES_MAX - used)
            return 0;
        starts[count++] = used;
        memcpy(out + used, name, size);
        out[used + size] = '\0';
        used += size + 1;
    }
    return count;
}
