/*
 * selftest_trace.c - writes the small trace of the self test.
 *
 * In: nothing. Out: the bytes of an ETL file with a known answer: a header buffer, and for each of
 * two processors one buffer of records in time order.
 *
 *     | header buffer | buffer of CPU 0: allocations | buffer of CPU 1: frees |
 *
 * Invariant: the layouts of parser/layout.h and layout_events.h are written down here a second time
 * on purpose, so that a reader that was built wrongly does not agree with itself. Do not include
 * them.
 */
#include "selftest_trace.h"

#define BUFFER_HEADER_BYTES 72u
#define CLOCK_HZ            10000000u
#define START_TICKS         1000000
#define START_FILETIME      132404548206236150 /* 2020-07-29 00:07 UTC */
#define TID                 7u

/* Hooks. */
#define PROCESS_RUNNING 0x0303u
#define IMAGE_LOAD      0x030au
#define HEAP_CREATE     0x1020u
#define HEAP_ALLOC      0x1021u
#define HEAP_FREE       0x1024u
#define VIRTUAL_ALLOC   0x0262u
#define STACK_WALK      0x1820u

#define HEAP    0x1f0000u
#define IMAGE   0x140000000u
#define BLOCK   0x20000000u
#define NOBODYS 0x30000000u /* was allocated before the trace began */
#define RANGE   0x50000000u

/* The buffer that is being filled. */
typedef struct writer {
    u8 *buffer;
    u32 used;   /* of it, header included */
    u32 record; /* where the record in hand begins */
} writer;

static void write_header_buffer(u8 *buffer);
static void write_log_header(writer *w);
static void write_allocating_buffer(u8 *buffer);
static void write_process(writer *w);
static void write_block(writer *w, u32 index);
static void write_freeing_buffer(u8 *buffer);
static void begin_buffer(writer *w, u8 *buffer);
static void end_buffer(writer *w, u16 cpu, i64 sequence, bool is_header);
static void begin_record(writer *w, u16 hook, u16 version, i64 ticks);
static void begin_stack(writer *w, i64 event_ticks);
static void end_record(writer *w);
static void put_u16(writer *w, u16 value);
static void put_u32(writer *w, u32 value);
static void put_u64(writer *w, u64 value);
static void put_zeros(writer *w, u32 size);
static void put_bytes(writer *w, const void *bytes, u32 size);
static void put_utf16(writer *w, const char *text);

void cli_selftest_write(u8 out[CLI_SELFTEST_BYTES])
{
    memset(out, 0xff, CLI_SELFTEST_BYTES);
    write_header_buffer(out);
    write_allocating_buffer(out + CLI_SELFTEST_BUFFER_BYTES);
    write_freeing_buffer(out + (size_t)2 * CLI_SELFTEST_BUFFER_BYTES);
}

static void write_header_buffer(u8 *buffer)
{
    writer w;
    begin_buffer(&w, buffer);
    begin_record(&w, 0, 2, START_TICKS);
    write_log_header(&w);
    end_record(&w);
    end_buffer(&w, 0, 0, true);
}

static void write_log_header(writer *w)
{
    put_u32(w, CLI_SELFTEST_BUFFER_BYTES);
    put_u32(w, 0x0501000a); /* 10.0, layout 1.5 */
    put_u32(w, 26100);
    put_u32(w, 2); /* processors */
    put_u64(w, START_FILETIME + 1000000);
    put_u32(w, 156250); /* timer resolution */
    put_u32(w, 0);
    put_u32(w, 1); /* sequential file */
    put_u32(w, CLI_SELFTEST_BUFFERS);
    put_u32(w, 1);
    put_u32(w, 8); /* bytes of a pointer */
    put_u32(w, 0); /* events lost */
    put_u32(w, 3000);
    put_u64(w, 9);
    put_u64(w, 6);
    put_zeros(w, 172 + 4);                   /* time zone: UTC */
    put_u64(w, START_FILETIME - 1000000000); /* boot */
    put_u64(w, CLOCK_HZ);
    put_u64(w, START_FILETIME);
    put_u32(w, 1); /* the clock is QueryPerformanceCounter */
    put_u32(w, 0); /* buffers lost */
    put_utf16(w, "selftest");
    put_utf16(w, "selftest.etl");
}

static void write_allocating_buffer(u8 *buffer)
{
    writer w;
    begin_buffer(&w, buffer);
    write_process(&w);
    begin_record(&w, HEAP_CREATE, 2, START_TICKS + 30);
    put_u64(&w, HEAP);
    put_u32(&w, 2);
    end_record(&w);
    for (u32 i = 0; i < CLI_SELFTEST_BLOCKS; i++)
        write_block(&w, i);
    end_buffer(&w, 0, 1, false);
}

static void write_process(writer *w)
{
    begin_record(w, PROCESS_RUNNING, 4, START_TICKS + 10);
    put_u64(w, 0xffffe00100000080u);
    put_u32(w, CLI_SELFTEST_PID);
    put_u32(w, 4); /* parent */
    put_u32(w, 1); /* session */
    put_u32(w, 0x103);
    put_u64(w, 0x1ab000);
    put_u32(w, 0);
    put_u32(w, 0); /* no SID */
    put_bytes(w, CLI_SELFTEST_PROGRAM, sizeof CLI_SELFTEST_PROGRAM);
    put_utf16(w, CLI_SELFTEST_PROGRAM);
    put_utf16(w, "");
    put_utf16(w, "");
    end_record(w);

    begin_record(w, IMAGE_LOAD, 2, START_TICKS + 20);
    put_u64(w, IMAGE);
    put_u64(w, 0x10000);
    put_u32(w, CLI_SELFTEST_PID);
    put_u32(w, 0);          /* checksum */
    put_u32(w, 0x5f20c0de); /* time stamp */
    put_u32(w, 0);
    put_u64(w, IMAGE);
    put_zeros(w, 16);
    put_utf16(w, "\\Windows\\" CLI_SELFTEST_PROGRAM);
    end_record(w);
}

/* An allocation and, ten ticks later, its stack, innermost frame first. */
static void write_block(writer *w, u32 index)
{
    const bool kept = index % 4 == 0;
    const i64 ticks = START_TICKS + 1000 + (i64)index * 100;
    begin_record(w, HEAP_ALLOC, 2, ticks);
    put_u64(w, HEAP);
    put_u64(w, kept ? CLI_SELFTEST_KEPT_SIZE : CLI_SELFTEST_FREED_SIZE);
    put_u64(w, BLOCK + (u64)index * 0x2000);
    put_u32(w, 2);
    end_record(w);
    begin_stack(w, ticks);
    if (kept)
        put_u64(w, IMAGE + CLI_SELFTEST_KEPT_OFFSET);
    put_u64(w, IMAGE + 0x2020);
    put_u64(w, IMAGE + 0x3030);
    end_record(w);
}

static void write_freeing_buffer(u8 *buffer)
{
    writer w;
    begin_buffer(&w, buffer);
    for (u32 i = 0; i < CLI_SELFTEST_BLOCKS; i++) {
        if (i % 4 == 0)
            continue;
        begin_record(&w, HEAP_FREE, 2, START_TICKS + 1050 + (i64)i * 100);
        put_u64(&w, HEAP);
        put_u64(&w, BLOCK + (u64)i * 0x2000);
        put_u32(&w, 2);
        end_record(&w);
    }
    begin_record(&w, HEAP_FREE, 2, START_TICKS + 20000);
    put_u64(&w, HEAP);
    put_u64(&w, NOBODYS);
    put_u32(&w, 2);
    end_record(&w);
    begin_record(&w, VIRTUAL_ALLOC, 2, START_TICKS + 30000);
    put_u64(&w, RANGE);
    put_u64(&w, CLI_SELFTEST_COMMITTED);
    put_u32(&w, CLI_SELFTEST_PID);
    put_u32(&w, 0x1000); /* MEM_COMMIT */
    end_record(&w);
    end_buffer(&w, 1, 2, false);
}

static void begin_buffer(writer *w, u8 *buffer)
{
    *w = (writer){ .buffer = buffer, .used = BUFFER_HEADER_BYTES };
}

static void end_buffer(writer *w, u16 cpu, i64 sequence, bool is_header)
{
    const u32 end = w->used;
    memset(w->buffer, 0, BUFFER_HEADER_BYTES);
    w->used = 0;
    put_u32(w, CLI_SELFTEST_BUFFER_BYTES);
    put_u32(w, end);
    put_u32(w, end);
    put_u32(w, 0);
    put_u64(w, START_TICKS);
    put_u64(w, (u64)sequence);
    put_u64(w, 0);
    put_u16(w, cpu);
    put_u16(w, 1);
    put_u32(w, 3);
    put_u32(w, end);
    put_u16(w, is_header || cpu == 1 ? 0x21 : 0x20); /* 16-bit processor index, end of a flush */
    put_u16(w, is_header ? 4 : 0);
}

/* A 64-bit system header. */
static void begin_record(writer *w, u16 hook, u16 version, i64 ticks)
{
    w->record = w->used;
    put_u16(w, version);
    put_u16(w, 0xc002);
    put_u16(w, 0); /* size, when known */
    put_u16(w, hook);
    put_u32(w, TID);
    put_u32(w, CLI_SELFTEST_PID);
    put_u64(w, (u64)ticks);
    put_u64(w, 0); /* processor times */
}

/* Begins a stack record. It has the short header, which names no thread or process. */
static void begin_stack(writer *w, i64 event_ticks)
{
    w->record = w->used;
    put_u16(w, 2);
    put_u16(w, 0xc011);
    put_u16(w, 0);
    put_u16(w, STACK_WALK);
    put_u64(w, (u64)event_ticks + 10);
    put_u64(w, (u64)event_ticks);
    put_u32(w, CLI_SELFTEST_PID);
    put_u32(w, TID);
}

/* The next record begins at a multiple of 8. */
static void end_record(writer *w)
{
    const u16 size = (u16)(w->used - w->record);
    memcpy(w->buffer + w->record + 4, &size, sizeof size);
    w->used = (w->used + 7u) & ~7u;
}

static void put_u16(writer *w, u16 value)
{
    put_bytes(w, &value, sizeof value);
}

static void put_u32(writer *w, u32 value)
{
    put_bytes(w, &value, sizeof value);
}

static void put_u64(writer *w, u64 value)
{
    put_bytes(w, &value, sizeof value);
}

static void put_zeros(writer *w, u32 size)
{
    assert(size <= CLI_SELFTEST_BUFFER_BYTES - w->used);
    memset(w->buffer + w->used, 0, size);
    w->used += size;
}

static void put_bytes(writer *w, const void *bytes, u32 size)
{
    assert(size <= CLI_SELFTEST_BUFFER_BYTES - w->used);
    memcpy(w->buffer + w->used, bytes, size);
    w->used += size;
}

static void put_utf16(writer *w, const char *text)
{
    for (; *text; text++)
        put_u16(w, (u8)*text);
    put_u16(w, 0);
}
