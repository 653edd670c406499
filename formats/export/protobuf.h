/*
 * protobuf.h - fields of a protocol buffers message, put into text that grows.
 *
 * The wire format: a field is a tag, its number and how its value is written, and
 * then the value. Numbers are varints, seven bits a byte, lowest first. Messages in
 * messages, and numbers one after the other, are values with a length. What is 0 or
 * empty is what a reader takes a missing field for, and is left out.
 * Source: protobuf.dev, "Encoding".
 */
#ifndef ETLHEAP_PROTOBUF_H
#define ETLHEAP_PROTOBUF_H

#include "formats/io/text_buffer.h"

void etlheap_protobuf_number(etlheap_text *message, u32 field, u64 value);

/* A value with a length, also of none: members of lists stay even if they are empty. */
void etlheap_protobuf_bytes(etlheap_text *message, u32 field, etl_bytes value);

/* What stands before such a value, which follows. */
void etlheap_protobuf_head(etlheap_text *message, u32 field, u64 size_bytes);

/* Numbers of a list, to be put in as one value with a length. */
void etlheap_protobuf_varint(etlheap_text *list, u64 value);

static inline etl_bytes etlheap_protobuf_of(const etlheap_text *message)
{
    return (etl_bytes){ (const u8 *)etlheap_text_of(message), message->size };
}

#endif
