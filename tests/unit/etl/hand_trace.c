/*
 * hand_trace.c - small traces put together by hand.
 */
#include "hand_trace.h"

static void put_text16(hand_bytes *bytes, const char *text);

void hand_put_buffer(hand_bytes *file, const hand_buffer *facts, const hand_bytes *records)
{
    const size_t start = file->size;
    const u32 size = ETL_BUFFER_HEADER_BYTES + (u32)(records ? records->size : 0);
    const u32 in_file = facts->fill_to == 0 ? HAND_BUFFER_BYTES : facts->fill_to;
    hand_u32(file, facts->size != 0 ? facts->size : in_file > size ? in_file : size);
    hand_u32(file, 0xeeeeeeee);         /* SavedOffset */
    hand_u32(file, 0xeeeeeeee);         /* CurrentOffset */
    hand_u32(file, 0);                  /* ReferenceCount */
    hand_u64(file, 0xeeeeeeeeeeeeeeee); /* TimeStamp */
    hand_u64(file, (u64)facts->sequence);
    hand_u64(file, 0xeeeeeeeeeeeeeeee); /* a pointer */
    hand_u16(file, facts->processor);
    hand_u16(file, 0xeeee); /* LoggerId */
    hand_u32(file, facts->state);
    hand_u32(file, facts->valid != 0 ? facts->valid : size);
    hand_u16(file, facts->flags);
    hand_u16(file, facts->type);
    hand_fill(file, 0xee, 16);
    if (records)
        hand_put(file, records->at, records->size);
    if (file->size - start < in_file)
        hand_fill(file, 0xff, in_file - (file->size - start));
}

hand_log_header hand_header(void)
{
    return (hand_log_header){
        .version = 2,
        .ticks = 1000,
        .buffer_size = HAND_BUFFER_BYTES,
        .os_major = 10,
        .cpus = 4,
        .end_time = 132404548306236167,
        .pointer_bytes = 8,
        .perf_frequency = 10000000,
        .start_time = 132404548206236167,
        .clock = ETL_CLOCK_TYPE_QPC,
        .name = "session",
        .file_name = "file.etl",
    };
}

void hand_log_record(hand_bytes *records, const hand_log_header *facts)
{
    const size_t start = records->size;
    hand_prefix(records, facts->version, facts->is_32 ? ETL_TYPE_SYSTEM32 : ETL_TYPE_SYSTEM64,
                ETL_MARKER_EVENT, 0, ETL_HOOK_LOG_FILE_HEADER);
    hand_u64(records, 0xeeeeeeeeeeeeeeee); /* thread and process */
    hand_u64(records, (u64)facts->ticks);
    hand_u64(records, 0xeeeeeeeeeeeeeeee); /* processor times */
    hand_u32(records, facts->buffer_size);
    hand_u8(records, facts->os_major);
    hand_u8(records, 1); /* minor version */
    hand_u8(records, 2); /* layout 2.5 */
    hand_u8(records, 5);
    hand_u32(records, 19041); /* build */
    hand_u32(records, facts->cpus);
    hand_u64(records, facts->end_time);
    hand_u32(records, 156250); /* timer resolution */
    hand_u32(records, 100);    /* maximum file size */
    hand_u32(records, facts->mode);
    hand_u32(records, facts->buffers_written);
    hand_u32(records, 1); /* start buffers */
    hand_u32(records, facts->pointer_bytes);
    hand_u32(records, facts->events_lost);
    hand_u32(records, facts->cpu_mhz);
    hand_fill(records, 0xee, facts->is_32 ? 8 : 16);
    hand_fill(records, 0xee, ETL_TIME_ZONE_BYTES + 4);
    hand_u64(records, 132404540000000000); /* boot time */
    hand_u64(records, facts->perf_frequency);
    hand_u64(records, facts->start_time);
    hand_u32(records, facts->clock);
    hand_u32(records, facts->buffers_lost);
    put_text16(records, facts->name);
    if (facts->file_name)
        put_text16(records, facts->file_name);
    hand_end_record(records, start, 4);
}

static void put_text16(hand_bytes *bytes, const char *text)
{
    for (; *text; text++)
        hand_u16(bytes, (u8)*text);
    hand_u16(bytes, 0);
}

void hand_header_buffer(hand_bytes *file, const hand_log_header *facts, u32 state)
{
    hand_bytes records = { 0 };
    hand_log_record(&records, facts);
    const hand_buffer buffer = { .type = ETL_BUFFER_TYPE_HEADER,
                                 .flags = ETL_BUFFER_FLUSH_MARKER,
                                 .state = state };
    hand_put_buffer(file, &buffer, &records);
    hand_free(&records);
}

void hand_data_buffer(hand_bytes *file, u16 processor, i64 sequence, u64 ticks)
{
    hand_bytes records = { 0 };
    hand_hook(&records, ETL_TYPE_SYSTEM64, 2, ticks, "payload");
    const hand_buffer buffer = { .flags = ETL_BUFFER_PROC_INDEX,
                                 .processor = processor,
                                 .sequence = sequence };
    hand_put_buffer(file, &buffer, &records);
    hand_free(&records);
}
