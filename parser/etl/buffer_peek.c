/* buffer_peek.c - see buffer_peek.h. */
#include "buffer_peek.h"

#include "parser/system/files.h"

static const etl_peeked *find(const etl_peek *peek, u64 offset);

/* A file that cannot be read there is looked at through its mapping, as all the rest
 * of it will be. */
etl_bytes etl_peek_at(etl_peek *peek, u64 offset)
{
    const etl_bytes file = peek->file;
    if (offset >= file.size)
        return (etl_bytes){ NULL, 0 };
    const etl_peeked *found = find(peek, offset);
    if (!found && peek->descriptor >= 0) {
        const size_t wanted = (size_t)etl_min_u64(ETL_PEEK_BYTES, file.size - offset);
        peek->latest = 1 - peek->latest;
        etl_peeked *const fresh = &peek->begins[peek->latest];
        const i64 got = etl_file_read_at(peek->descriptor, offset, fresh->bytes, wanted);
        fresh->offset = offset;
        fresh->size = got == (i64)wanted ? wanted : 0;
        found = find(peek, offset);
    }
    if (!found)
        return (etl_bytes){ file.at + offset, file.size - (size_t)offset };
    return (etl_bytes){ found->bytes, found->size };
}

static const etl_peeked *find(const etl_peek *peek, u64 offset)
{
    for (u32 i = 0; i < ETL_COUNT_OF(peek->begins); i++) {
        if (peek->begins[i].offset == offset && peek->begins[i].size > 0)
            return &peek->begins[i];
    }
    return NULL;
}
