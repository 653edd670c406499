/*
 * protobuf.h - writes fields of protocol buffers messages.
 *
 * The wire format: a field is a tag (its number, and the type of its value) and the value. Numbers
 * are varints, seven bits per byte, lowest first. Nested messages and lists of numbers are values
 * with a length. Values of 0 and empty values are left out, because readers assume them for missing
 * fields.
 *
 * Source: protobuf.dev, "Encoding".
 */
#ifndef ETLHEAP_PROTOBUF_H
#define ETLHEAP_PROTOBUF_H

#include "formats/io/text_buffer.h"

void etlheap_protobuf_number(etlheap_text *message, u32 field, u64 value);

/* Writes a number even if it is 0, for fields whose readers ask whether they are there. */
void etlheap_protobuf_present(etlheap_text *message, u32 field, u64 value);

/* Writes a value with a length, even if empty, because members of lists must stay. */
void etlheap_protobuf_bytes(etlheap_text *message, u32 field, etl_bytes value);

/* Writes what comes before such a value; the value follows. */
void etlheap_protobuf_head(etlheap_text *message, u32 field, u64 size_bytes);

/* Adds a number to a list, which is then written as one value with a length. */
void etlheap_protobuf_varint(etlheap_text *list, u64 value);

static inline etl_bytes etlheap_protobuf_of(const etlheap_text *message)
{
    return (etl_bytes){ (const u8 *)etlheap_text_of(message), message->size };
}

#endif
