/* volumes.c - drive letters of paths; see volumes.h. */
#include "volumes.h"

#include "parser/system/name_fold.h"

#include <stdlib.h>

/* The length of the volume in the path, a whole number of components; 0 if the path is on another
 * volume. */
static size_t volume_size(const char *path, const char *volume)
{
    const size_t size = etl_name_begins(path, volume);
    if (size == 0)
        return 0;
    return path[size - 1] == '\\' || path[size] == '\\' || path[size] == '\0' ? size : 0;
}

/* The volume whose NT path is the longest prefix of the path, and the size of that; NULL:
 * none. */
static const volume_row *volume_of(const trace_context *context, const char *path, size_t *skip)
{
    const volume_row *best = NULL;
    *skip = 0;
    for (size_t i = 0; i < context->volumes.count; i++) {
        const size_t size = volume_size(
            path, etlheap_strings_get(&context->strings, context->volumes.at[i].nt_path));
        if (size > *skip) {
            best = &context->volumes.at[i];
            *skip = size;
        }
    }
    return best;
}

bool volumes_told(trace_context *context, const system_event *row)
{
    const etl_volume_mapping *const event = &row->event.as.volume_mapping;
    volume_row volume;
    return etlheap_strings_add_utf16(&context->strings, event->nt_path, &volume.nt_path) &&
           etlheap_strings_add_utf16(&context->strings, event->dos_path, &volume.dos_path) &&
           ETLHEAP_PUSH(&context->volumes, volume);
}

bool volumes_path(trace_context *context, const char *path, const char **out)
{
    size_t skip;
    const volume_row *const volume = volume_of(context, path, &skip);
    *out = path;
    if (volume == NULL)
        return true;
    const char *const dos = etlheap_strings_get(&context->strings, volume->dos_path);
    const size_t size = strlen(dos) + strlen(path + skip);
    char *const joined = malloc(size + 1);
    u32 id;
    if (joined == NULL)
        return false;
    memcpy(joined, dos, strlen(dos));
    memcpy(joined + strlen(dos), path + skip, strlen(path + skip) + 1);
    const bool added = etlheap_strings_add(&context->strings, joined, size, &id);
    free(joined);
    if (added)
        *out = etlheap_strings_get(&context->strings, id);
    return added;
}
