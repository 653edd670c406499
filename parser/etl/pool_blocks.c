/* pool_blocks.c - the blocks that a rundown of the kernel's pools lists; see layout_pool.h. */
#include "parser/cursor.h"
#include "parser/parser.h"

static size_t block_bytes(const etl_record *record)
{
    return 8 + 2 * (record->pointer_bytes == 4 ? 4u : 8u);
}

u32 etl_pool_block_count(const etl_record *record)
{
    const size_t bytes = block_bytes(record);
    return record->payload.size % bytes == 0 ? (u32)(record->payload.size / bytes) : 0;
}

bool etl_pool_block_at(const etl_record *record, u32 index, etl_pool_block *out)
{
    const unsigned width = record->pointer_bytes == 4 ? 4 : 8;
    etl_cursor c = etl_cursor_of(record->payload);
    if (index >= etl_pool_block_count(record))
        return false;
    etl_skip(&c, (size_t)index * block_bytes(record));
    if (!etl_need(&c, block_bytes(record)))
        return false;
    *out = (etl_pool_block){ .pool_type = etl_u32(&c) };
    out->tag = etl_u32(&c);
    out->size_bytes = etl_pointer(&c, width);
    out->entry = etl_pointer(&c, width);
    return true;
}
