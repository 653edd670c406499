/*
 * protobuf.c - writes fields of a protocol buffers message into text that grows. Values that are 0
 * or empty are left out, as a reader takes missing fields for that.
 */
#include "protobuf.h"

#define WIRE_VARINT 0u
#define WIRE_BYTES  2u
#define VARINT_MAX  10

void etlheap_protobuf_number(etlheap_text *message, u32 field, u64 value)
{
    if (value != 0)
        etlheap_protobuf_present(message, field, value);
}

void etlheap_protobuf_present(etlheap_text *message, u32 field, u64 value)
{
    etlheap_protobuf_varint(message, (u64)field << 3 | WIRE_VARINT);
    etlheap_protobuf_varint(message, value);
}

void etlheap_protobuf_bytes(etlheap_text *message, u32 field, etl_bytes value)
{
    etlheap_protobuf_head(message, field, value.size);
    if (value.size > 0)
        etlheap_text_add(message, (const char *)value.at, value.size);
}

void etlheap_protobuf_head(etlheap_text *message, u32 field, u64 size_bytes)
{
    etlheap_protobuf_varint(message, (u64)field << 3 | WIRE_BYTES);
    etlheap_protobuf_varint(message, size_bytes);
}

void etlheap_protobuf_varint(etlheap_text *list, u64 value)
{
    u8 bytes[VARINT_MAX];
    size_t size = 0;
    for (; value >= 0x80; value >>= 7)
        bytes[size++] = (u8)(value | 0x80);
    bytes[size++] = (u8)value;
    etlheap_text_add(list, (const char *)bytes, size);
}
