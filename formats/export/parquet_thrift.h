/*
 * parquet_thrift.h - writes structures in Thrift's compact protocol, as headers and footers of
 * Parquet files have them.
 *
 *     structure   its fields, in ascending order of their ids, then a 0 byte
 *     field       one byte, id - last id << 4 | type, for steps of 1 to 15; else the
 *                 type and the id itself as a zigzag varint; then the value
 *     byte        as it is
 *     i32, i64    zigzag varints: 0, -1, 1, -2, ... become 0, 1, 2, 3, ...
 *     bytes       a varint of their size, then the bytes
 *     boolean     encoded in the type; no value follows
 *     list        size << 4 | type of members for up to 14, else 0xF0 | type and a
 *                 varint of the size; then the members without field bytes
 *
 * Source: Apache Thrift, doc/specs/thrift-compact-protocol.md. Read back by DuckDB and hyparquet.
 */
#ifndef PARQUET_THRIFT_H
#define PARQUET_THRIFT_H

#include "formats/io/text_buffer.h"

#define PARQUET_THRIFT_DEPTH_MAX 8

/* Types of fields and members, as in the file. */
typedef enum parquet_thrift_type {
    PARQUET_THRIFT_TRUE = 1,
    PARQUET_THRIFT_FALSE = 2,
    PARQUET_THRIFT_BYTE = 3,
    PARQUET_THRIFT_I32 = 5,
    PARQUET_THRIFT_I64 = 6,
    PARQUET_THRIFT_BYTES = 8,
    PARQUET_THRIFT_LIST = 9,
    PARQUET_THRIFT_STRUCT = 12
} parquet_thrift_type;

typedef struct parquet_thrift {
    etlheap_text *out;                  /* borrowed */
    u32 last[PARQUET_THRIFT_DEPTH_MAX]; /* id of the last field, by open structure */
    u32 depth;
} parquet_thrift;

/* Opens a structure that is not a field: the outermost one, or the next member of a list. Close
 * each structure. */
void parquet_thrift_open(parquet_thrift *thrift);
void parquet_thrift_close(parquet_thrift *thrift);

void parquet_thrift_i32(parquet_thrift *thrift, u32 field, i64 value);
void parquet_thrift_i64(parquet_thrift *thrift, u32 field, i64 value);
void parquet_thrift_byte(parquet_thrift *thrift, u32 field, u8 value);
void parquet_thrift_bool(parquet_thrift *thrift, u32 field, bool value);
void parquet_thrift_bytes(parquet_thrift *thrift, u32 field, const char *bytes, size_t size);
void parquet_thrift_string(parquet_thrift *thrift, u32 field, const char *text);
void parquet_thrift_struct(parquet_thrift *thrift, u32 field); /* close it afterwards */

/* Begins a list. Exactly `count` members follow: structures that are opened and closed, or calls of
 * the two functions below. */
void parquet_thrift_list(parquet_thrift *thrift, u32 field, parquet_thrift_type type, u64 count);
void parquet_thrift_member_i32(parquet_thrift *thrift, i64 value);
void parquet_thrift_member_string(parquet_thrift *thrift, const char *text);

#endif
