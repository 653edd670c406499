/*
 * hand_records.c - records put together by hand, one field per statement.
 */
#include "hand_records.h"

const u8 hand_guid[ETL_GUID_BYTES] = { 0x10, 0x21, 0x32, 0x43, 0x54, 0x65, 0x76, 0x87,
                                       0x98, 0xa9, 0xba, 0xcb, 0xdc, 0xed, 0xfe, 0x0f };

static void put_ids_and_time(hand_bytes *records, u64 ticks);

void hand_end_record(hand_bytes *records, size_t start, size_t size_at)
{
    hand_set_u16(records, start + size_at, (unsigned)(records->size - start));
    hand_align(records, ETL_RECORD_ALIGNMENT);
}

void hand_prefix(hand_bytes *records, unsigned word0, unsigned type, unsigned marker,
                 unsigned word4, unsigned word6)
{
    hand_u16(records, word0);
    hand_u8(records, type);
    hand_u8(records, marker);
    hand_u16(records, word4);
    hand_u16(records, word6);
}

static void put_ids_and_time(hand_bytes *records, u64 ticks)
{
    hand_u32(records, HAND_TID);
    hand_u32(records, HAND_PID);
    hand_u64(records, ticks);
}

void hand_hook(hand_bytes *records, unsigned type, unsigned version_word, u64 ticks,
               const char *payload)
{
    const size_t start = records->size;
    hand_prefix(records, version_word, type, ETL_MARKER_EVENT, 0, 0x1021);
    if (type == ETL_TYPE_PERFINFO32 || type == ETL_TYPE_PERFINFO64)
        hand_u64(records, ticks);
    else
        put_ids_and_time(records, ticks);
    if (type == ETL_TYPE_SYSTEM32 || type == ETL_TYPE_SYSTEM64)
        hand_u64(records, 0xeeeeeeeeeeeeeeee); /* processor times */
    hand_put(records, payload, strlen(payload));
    hand_end_record(records, start, 4);
}

void hand_full(hand_bytes *records, unsigned type, size_t header_bytes, const char *payload)
{
    const size_t start = records->size;
    hand_prefix(records, 0, type, ETL_MARKER_EVENT, 0x0721, 0x0903);
    put_ids_and_time(records, HAND_TICKS);
    hand_put(records, hand_guid, sizeof hand_guid);
    hand_fill(records, 0xee, header_bytes - 40);
    hand_put(records, payload, strlen(payload));
    hand_end_record(records, start, 0);
}

void hand_event_header(hand_bytes *records, unsigned type, unsigned flags)
{
    hand_prefix(records, 0, type, ETL_MARKER_EVENT, flags, 0xeeee);
    put_ids_and_time(records, HAND_TICKS);
    hand_put(records, hand_guid, sizeof hand_guid);
    hand_u16(records, 0xabcd); /* id */
    hand_u8(records, 3);       /* version */
    hand_u8(records, 0xee);
    hand_u8(records, 4);  /* level */
    hand_u8(records, 36); /* opcode */
    hand_fill(records, 0xee, 2 + 8 + 8 + 16);
}

void hand_event(hand_bytes *records, unsigned type, const char *payload)
{
    const size_t start = records->size;
    hand_event_header(records, type, 0);
    hand_put(records, payload, strlen(payload));
    hand_end_record(records, start, 0);
}

void hand_item(hand_bytes *records, unsigned size, unsigned type, unsigned linkage,
               unsigned data_size, const char *data)
{
    hand_u16(records, size);
    hand_u16(records, type);
    hand_u16(records, linkage);
    hand_u16(records, data_size);
    hand_put(records, data, strlen(data));
    hand_align(records, 8);
}

void hand_message(hand_bytes *records, unsigned flags, const void *parts, size_t parts_size)
{
    const size_t start = records->size;
    hand_prefix(records, 0, 0, ETL_MARKER_MESSAGE, 0x0102, flags);
    hand_put(records, parts, parts_size);
    hand_end_record(records, start, 0);
}

etl_buffer hand_open_records(const hand_bytes *records, hand_guarded *memory, etl_diag_counts *diag)
{
    *memory = hand_guard(ETL_BUFFER_HEADER_BYTES + records->size, HAND_AT_END);
    if (records->size > 0)
        memcpy(memory->at + ETL_BUFFER_HEADER_BYTES, records->at, records->size);
    memset(diag, 0, sizeof *diag);
    return (etl_buffer){
        .base = memory->at,
        .at = ETL_BUFFER_HEADER_BYTES,
        .end = (u32)memory->size,
        .cpu = 5,
        .ticks_previous = 77,
        .diag = diag,
    };
}
