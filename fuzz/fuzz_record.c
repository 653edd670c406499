/*
 * fuzz_record.c - any bytes as the records of a buffer: every record lies behind the
 * one before it and inside, and so do its payload and its extended items.
 */
#include "fuzz.h"
#include "parser/etl/layout.h"
#include "parser/parser.h"

static void check_inside(etl_bytes part, const u8 *data, size_t size)
{
    if (part.size > 0 &&
        (part.at < data || part.at > data + size || part.size > (size_t)(data + size - part.at)))
        __builtin_trap();
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
    etl_diag_counts diag = { 0 };
    if (size < ETL_BUFFER_HEADER_BYTES || size > UINT32_MAX)
        return 0;
    etl_buffer buffer = {
        .base = data, .at = ETL_BUFFER_HEADER_BYTES, .end = (u32)size, .cpu = -1, .diag = &diag
    };
    etl_record record;
    u32 at = buffer.at;
    while (etl_record_next(&buffer, &record)) {
        if (buffer.at <= at || record.offset < at || record.size > buffer.end - record.offset)
            __builtin_trap();
        at = buffer.at;
        check_inside(record.payload, data, size);
        check_inside(record.items, data, size);
        etl_bytes items = record.items;
        etl_item item;
        while (etl_item_next(&items, &item)) {
            etl_item_stack stack = { .frame_count = 0 };
            check_inside(item.data, data, size);
            if (etl_item_stack_of(&item, &stack) && !stack.is_key)
                check_inside(
                    (etl_bytes){ stack.frames, (size_t)stack.frame_count * stack.frame_bytes },
                    data, size);
        }
        etl_event event;
        if (!etl_decode(&record, &event, &diag))
            (void)etl_custom_decode(NULL, 0, &record, &event, &diag);
    }
    return 0;
}
