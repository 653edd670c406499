/*
 * buffer_peek.c - reads the beginnings of buffers from the file instead of the mapping.
 * buffer_peek.h says why. Invariant: bytes read and bytes mapped are the same file; a failed read
 * falls back to the mapping.
 */
#include "buffer_peek.h"

#include "index_begins.h"
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
        peek->latest = 1 - peek->latest;
        etl_peek_read(peek->descriptor, file.size, offset, &peek->begins[peek->latest]);
        found = find(peek, offset);
    }
    if (!found)
        return (etl_bytes){ file.at + offset, file.size - (size_t)offset };
    return (etl_bytes){ found->bytes, found->size };
}

void etl_peek_read(int descriptor, u64 file_bytes, u64 offset, etl_peeked *out)
{
    const size_t wanted = (size_t)etl_min_u64(ETL_PEEK_BYTES, file_bytes - offset);
    const i64 got = etl_file_read_at(descriptor, offset, out->bytes, wanted);
    out->offset = offset;
    out->size = got == (i64)wanted ? wanted : 0;
}

static const etl_peeked *find(const etl_peek *peek, u64 offset)
{
    for (u32 i = 0; i < ETL_COUNT_OF(peek->begins); i++) {
        if (peek->begins[i].offset == offset && peek->begins[i].size > 0)
            return &peek->begins[i];
    }
    return peek->ahead == NULL ? NULL : etl_index_begins_find(peek->ahead, offset);
}
