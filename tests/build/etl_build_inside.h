/*
 * etl_build_inside.h - what the builder's own files share. Not for tests.
 *
 *   etl_build_memory.c  etl_build_system.c  etl_build_stacks.c      payloads
 *                 └──────────────┬───────────────┘
 *                     etl_build_records.c                           headers
 *                                │  one record in b->record
 *                     etl_build_order.c                             time order
 *                                │
 *   etl_build_break.c ─▶ etl_build_buffers.c ◀─ etl_build_session.c   buffers, header
 *                                │
 *                     etl_build_output.c                            memory or file
 */
#ifndef TESTS_ETL_BUILD_INSIDE_H
#define TESTS_ETL_BUILD_INSIDE_H

#include "etl_build.h"
#include "lz77_encode.h"

#include <stdio.h>

#define BUILD_BUFFER_HEADER_BYTES 72u
#define BUILD_RECORD_BYTES_MAX    65535u
#define BUILD_CPU_MAX             2048u
#define BUILD_BREAK_MAX           64u

/* --- composing one record --------------------------------------------------- */

/* A writer over b->record. Writing past the end fails the builder, once. */
typedef struct build_put {
    u32 at; /* next byte */
    u8 pointer_bytes;
    bool overflow;
} build_put;

/* --- waiting records ---------------------------------------------------------- */

typedef enum build_wait_kind {
    BUILD_WAIT_RECORD, /* bytes to place as they are */
    BUILD_WAIT_STACK,  /* half a stack: becomes inline or a key when its time comes */
    BUILD_WAIT_LOSE    /* lose the CPU's buffer */
} build_wait_kind;

/* Half of a stack walk, followed by its frames when it waits. */
typedef struct build_half {
    i64 event_ticks;
    u32 pid;
    u32 tid;
    u32 count;
    bool is_user;
    bool keyed;
} build_half;

typedef struct build_waiting {
    i64 ticks;
    u64 order; /* of the call: equal times keep the order of calls */
    u32 cpu;
    u32 size; /* bytes at `bytes` */
    build_wait_kind kind;
    u8 *bytes; /* owned */
} build_waiting;

/* --- buffers --------------------------------------------------------------------- */

typedef struct build_buffer {
    u8 *bytes; /* of the nominal size, header included; NULL until first used */
    u32 used;  /* 0: not begun */
    u32 records;
    i64 sequence;
    i64 last_ticks;
} build_buffer;

/* A cached stack, as the kernel keeps them: a key is the address of its slot. */
typedef struct build_key_slot {
    u64 *frames; /* owned */
    u32 count;
    u32 capacity;
    bool in_use;
    i64 last_use_ticks;
} build_key_slot;

typedef struct build_break {
    etl_build_field field;
    u64 index;
    u64 value;
    bool done;
} build_break;

/* The session in hand: its options without zeros, and its header buffer. */
typedef struct build_session {
    etl_build_options options;
    u8 *header; /* image of the valid part of the header buffer */
    u32 header_used;
    u32 header_saved;    /* valid part when the session began */
    u32 header_capacity; /* its size in the file */
    u32 header_records;
    u64 header_offset;   /* in the file */
    u64 header_record;   /* index of the log-file header among all records */
    u32 header_buffer;   /* index of the header buffer among all buffers */
    u32 index;           /* of the session */
    u32 buffers_written; /* header buffer included */
    i64 sequence_next;
    u32 events_lost;
    u32 buffers_lost;
    u32 ring_next;     /* data buffers written so far, for circular files */
    u32 *ring_records; /* records per place of a circular file */
    i64 flush_next;
} build_session;

struct etl_build {
    build_session session;
    char error[160];
    bool finished;

    u8 record[BUILD_RECORD_BYTES_MAX + 16];
    build_put put;

    build_waiting *waiting; /* a binary heap by (ticks, order) */
    size_t waiting_count;
    size_t waiting_capacity;
    u64 order_next;

    build_buffer buffers[BUILD_CPU_MAX];
    u32 buffer_index; /* buffers given a place in the file, headers included */
    u32 buffer_count; /* buffers in the file */
    u64 record_index; /* records placed, for breaking them by index */
    u64 record_count; /* records in the file */
    i64 now_ticks;    /* latest record placed */
    i64 last_ticks;   /* latest record that reached the file */

    build_key_slot *slots;
    u64 *frames; /* room for joining two halves or reading waiting ones */
    u32 frames_capacity;

    lz77_encoder *encoder;
    u8 *packed; /* room for one compressed buffer */

    FILE *file; /* NULL: in memory */
    u8 *data;
    size_t data_size;
    size_t data_capacity;
    u64 file_size;

    build_break breaks[BUILD_BREAK_MAX];
    u32 break_count;
};

/* --- etl_build.c --------------------------------------------------------------- */

/* Remembers the first error. */
void build_fail(etl_build *b, const char *format, ...) __attribute__((format(printf, 2, 3)));

static inline bool build_ok(const etl_build *b)
{
    return b->error[0] == '\0' && !b->finished;
}

/* realloc or abort: a test machine without memory has nothing to tell. */
void *build_realloc(void *old, size_t size);

/* --- etl_build_records.c --------------------------------------------------------- */

void build_put_u8(etl_build *b, u8 value);
void build_put_u16(etl_build *b, u16 value);
void build_put_u32(etl_build *b, u32 value);
void build_put_u64(etl_build *b, u64 value);
void build_put_pointer(etl_build *b, u64 value);
void build_put_bytes(etl_build *b, const void *bytes, size_t size);
void build_put_zeros(etl_build *b, size_t size);
void build_put_text8(etl_build *b, const char *text);             /* NULL is empty; with NUL */
void build_put_text16(etl_build *b, const char *text);            /* the same, UTF-16 */
void build_put_name16(etl_build *b, const char *text, u32 units); /* fixed field, NULs after */

/* Begins a record of a hook in b->record: header by `at`, else `header`. */
void build_begin(etl_build *b, const etl_build_at *at, u16 hook, etl_build_header header,
                 u8 version);
/* Begins a classic record of a class GUID. */
void build_begin_classic(etl_build *b, const etl_build_at *at, const etl_build_classic *event);
/* Completes its size and sends it on its way. */
void build_end(etl_build *b, const etl_build_at *at);

/* The layout version of a record: what `at` asks for, else the newest. */
u8 build_version(const etl_build_at *at, u8 newest);

/* --- etl_build_order.c -------------------------------------------------------------- */

/* Places b->record at once or lets it wait, as the order asks. */
void build_order_record(etl_build *b, i64 ticks, u32 cpu, u32 size);
void build_order_half(etl_build *b, i64 ticks, u32 cpu, const build_half *half, const u64 *frames);
void build_order_lose(etl_build *b, i64 ticks, u32 cpu);
/* Places what waits for times up to and including `ticks`. */
void build_order_drain(etl_build *b, i64 ticks);
void build_order_free(etl_build *b);

/* --- etl_build_stacks.c --------------------------------------------------------------- */

/* Places half a stack now: composes the record(s) in b->record. */
void build_stack_place(etl_build *b, i64 ticks, u32 cpu, const build_half *half, const u64 *frames);
/* Defines the keys that are still cached, as a session does when it stops. */
void build_stack_rundown(etl_build *b);
void build_stack_free(etl_build *b);

/* --- etl_build_buffers.c ------------------------------------------------------------------ */

void build_place(etl_build *b, i64 ticks, u32 cpu, const u8 *record, u32 size);
void build_lose(etl_build *b, u32 cpu);
void build_flush_all(etl_build *b);
void build_buffers_free(etl_build *b);
/* Fills the 72 bytes of a header. */
typedef struct build_header_fields {
    u32 size;
    u32 saved_offset;
    u32 current_offset;
    u32 offset;
    i64 timestamp;
    i64 sequence;
    u32 cpu;
    u16 logger_id;
    u16 flags;
    u16 type;
} build_header_fields;
void build_buffer_header(u8 *at, const build_header_fields *fields);

/* --- etl_build_session.c ------------------------------------------------------------------- */

/* Begins a session at the end of the file: checks options, writes its header. */
void build_session_begin(etl_build *b, const etl_build_options *options);
/* Flushes everything and completes its header. */
void build_session_end(etl_build *b);

/* --- etl_build_output.c ---------------------------------------------------------------------- */

void build_output_open(etl_build *b, const char *path);
void build_output_append(etl_build *b, const u8 *bytes, size_t size);
void build_output_fill(etl_build *b, u8 byte, u64 size);
void build_output_rewrite(etl_build *b, u64 offset, const u8 *bytes, size_t size);
void build_output_resize(etl_build *b, u64 size);
void build_output_close(etl_build *b);

/* --- etl_build_break.c ------------------------------------------------------------------------ */

/* Breaks fields of a buffer image about to be written, which may get shorter.
 * True: the buffer is to be left out of the file. */
bool build_break_buffer(etl_build *b, u64 index, u8 *bytes, u32 *size);
/* Breaks fields of a record about to be placed, which may get shorter. */
void build_break_record(etl_build *b, u64 index, u8 *bytes, u32 *size);
/* Breaks fields of a log-file header payload. */
void build_break_session(etl_build *b, u8 *payload);
/* Breaks the finished file; then fails if any break found nothing. */
void build_break_file(etl_build *b);

#endif
