/*
 * parquet_thrift.c - writes structures in Thrift's compact protocol; parquet_thrift.h has the
 * layout.
 *
 * In: fields and members, one call each. Out: bytes appended to thrift->out, which also notes if
 * memory runs out.
 *
 * Invariants: fields are written in ascending order of their ids, because ids are delta-encoded
 * when the step is at most 15. Callers close each structure that they open, and write as many
 * members as the list's count says; the file cannot be read otherwise.
 */
#include "parquet_thrift.h"

#include "protobuf.h"

#define STEP_MAX        15 /* largest id step in a field's header byte */
#define SHORT_COUNT_MAX 14 /* largest count in a list's header byte */

static void begin_field(parquet_thrift *thrift, u32 field, parquet_thrift_type type);
static void put_byte(parquet_thrift *thrift, u32 byte);
static void put_signed(parquet_thrift *thrift, i64 value);
static void put_bytes(parquet_thrift *thrift, const char *bytes, size_t size);

void parquet_thrift_open(parquet_thrift *thrift)
{
    assert(thrift->depth < PARQUET_THRIFT_DEPTH_MAX);
    thrift->last[thrift->depth++] = 0;
}

void parquet_thrift_close(parquet_thrift *thrift)
{
    assert(thrift->depth > 0);
    put_byte(thrift, 0);
    thrift->depth--;
}

void parquet_thrift_i32(parquet_thrift *thrift, u32 field, i64 value)
{
    assert(value >= INT32_MIN && value <= INT32_MAX);
    begin_field(thrift, field, PARQUET_THRIFT_I32);
    put_signed(thrift, value);
}

void parquet_thrift_i64(parquet_thrift *thrift, u32 field, i64 value)
{
    begin_field(thrift, field, PARQUET_THRIFT_I64);
    put_signed(thrift, value);
}

void parquet_thrift_byte(parquet_thrift *thrift, u32 field, u8 value)
{
    begin_field(thrift, field, PARQUET_THRIFT_BYTE);
    put_byte(thrift, value);
}

void parquet_thrift_bool(parquet_thrift *thrift, u32 field, bool value)
{
    begin_field(thrift, field, value ? PARQUET_THRIFT_TRUE : PARQUET_THRIFT_FALSE);
}

void parquet_thrift_bytes(parquet_thrift *thrift, u32 field, const char *bytes, size_t size)
{
    begin_field(thrift, field, PARQUET_THRIFT_BYTES);
    put_bytes(thrift, bytes, size);
}

void parquet_thrift_string(parquet_thrift *thrift, u32 field, const char *text)
{
    parquet_thrift_bytes(thrift, field, text, strlen(text));
}

void parquet_thrift_struct(parquet_thrift *thrift, u32 field)
{
    begin_field(thrift, field, PARQUET_THRIFT_STRUCT);
    parquet_thrift_open(thrift);
}

void parquet_thrift_list(parquet_thrift *thrift, u32 field, parquet_thrift_type type, u64 count)
{
    begin_field(thrift, field, PARQUET_THRIFT_LIST);
    put_byte(thrift, (u32)etl_min_u64(count, SHORT_COUNT_MAX + 1) << 4 | (u32)type);
    if (count > SHORT_COUNT_MAX)
        etlheap_protobuf_varint(thrift->out, count);
}

void parquet_thrift_member_i32(parquet_thrift *thrift, i64 value)
{
    put_signed(thrift, value);
}

void parquet_thrift_member_string(parquet_thrift *thrift, const char *text)
{
    put_bytes(thrift, text, strlen(text));
}

static void begin_field(parquet_thrift *thrift, u32 field, parquet_thrift_type type)
{
    assert(thrift->depth > 0);
    u32 *const last = &thrift->last[thrift->depth - 1];
    assert(field > *last);
    const u32 step = field - *last;
    if (step <= STEP_MAX) {
        put_byte(thrift, step << 4 | (u32)type);
    } else {
        put_byte(thrift, (u32)type);
        put_signed(thrift, (i64)field);
    }
    *last = field;
}

static void put_byte(parquet_thrift *thrift, u32 byte)
{
    const char c = (char)byte;
    etlheap_text_add(thrift->out, &c, 1);
}

static void put_signed(parquet_thrift *thrift, i64 value)
{
    const u64 sign = value < 0 ? UINT64_MAX : 0;
    etlheap_protobuf_varint(thrift->out, (u64)value << 1 ^ sign);
}

static void put_bytes(parquet_thrift *thrift, const char *bytes, size_t size)
{
    etlheap_protobuf_varint(thrift->out, size);
    if (size > 0)
        etlheap_text_add(thrift->out, bytes, size);
}
