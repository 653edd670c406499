/*
 * hand_trace.h - small traces put together by hand: buffers that may lie about
 * themselves, and log-file headers of both layouts.
 */
#ifndef TESTS_HAND_TRACE_H
#define TESTS_HAND_TRACE_H

#include "hand_records.h"

/* The nominal size in hand_header(): as small as buffers get. */
#define HAND_BUFFER_BYTES 1024u

typedef struct hand_buffer {
    u32 size;  /* as stated; 0: that of header and records */
    u32 valid; /* as stated; 0: that of header and records */
    u16 flags;
    u16 type;
    u16 processor;
    u32 state;
    i64 sequence;
    u32 fill_to; /* bytes in the file; 0: HAND_BUFFER_BYTES, 1: no filling */
} hand_buffer;

/* Header, records, and 0xff up to the size in the file. */
void hand_put_buffer(hand_bytes *file, const hand_buffer *facts, const hand_bytes *records);

typedef struct hand_log_header {
    bool is_32; /* the layout with 4-byte pointers */
    unsigned version;
    i64 ticks;
    u32 buffer_size;
    u8 os_major;
    u32 cpus;
    u64 end_time;
    u32 mode;
    u32 pointer_bytes;
    u32 events_lost;
    u32 cpu_mhz;
    u64 perf_frequency;
    u64 start_time;
    u32 clock;
    u32 buffers_lost;
    u32 buffers_written;   /* 0: as if nobody had counted */
    const char *name;      /* plain ASCII */
    const char *file_name; /* NULL: the record ends behind the name */
} hand_log_header;

/* A closed session of Windows 10 on 4 cpus, QPC at 10 MHz, header at tick 1000. */
hand_log_header hand_header(void);

/* The record with the log-file header. */
void hand_log_record(hand_bytes *records, const hand_log_header *facts);

/* The same as a HEADER buffer of its own, with `state` as the compression format. */
void hand_header_buffer(hand_bytes *file, const hand_log_header *facts, u32 state);

/* A data buffer with one SYSTEM64 record at the given time. */
void hand_data_buffer(hand_bytes *file, u16 processor, i64 sequence, u64 ticks);

#endif
