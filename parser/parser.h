/*
 * parser.h - front door of the trace reader: what an ETL file says.
 *
 *     etl_open -> etl_buffer_load (per buffer) -> etl_record_next (per record)
 *              -> etl_decode (what the record means)
 *
 * The reader knows no other event than the one in hand: it does not pair, sort,
 * join or convert times. It never prints, exits, reads the environment or
 * starts threads. Format facts and their sources are in layout.h.
 *
 * Threads: an etl_trace does not change after etl_open; any number of threads
 * may load buffers from it at once, each with a scratch of its own.
 * Ownership: views (etl_bytes) borrow from the mapping, which lives as long as
 * the trace, or from the scratch a buffer was loaded into, which is reused by
 * the next load. Each says which.
 */
#ifndef ETL_PARSER_H
#define ETL_PARSER_H

#include "base.h"
#include "diag.h"
#include "hint.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The one place the version is written. */
#define ETLHEAP_VERSION "0.1.0"

/* --- errors ------------------------------------------------------------- */

/* Codes below 10 are the environment's fault, from 10 on the file's. The
 * values are part of the interface and never change. */
typedef enum etl_status {
    ETL_OK = 0,
    ETL_ERR_IO = 1,
    ETL_ERR_MEMORY = 2,
    ETL_ERR_ARGUMENT = 3,
    ETL_ERR_LIMIT = 4,
    ETL_ERR_CANCELLED = 5,
    ETL_ERR_NOT_ETL = 10,
    ETL_ERR_UNSUPPORTED = 11,
    ETL_ERR_CORRUPT = 12
} etl_status;

/* Filled on failure when the caller passes one; never needed for control flow. */
typedef struct etl_error {
    etl_status status;
    etl_hint hint;     /* what would help: see hint.h */
    u64 offset;        /* byte offset in the file the message speaks of, or 0 */
    char message[512]; /* one sentence for people, without file name, options or newline */
} etl_error;

/* Sets *err (may be NULL) from a printf format; returns status for `return`. */
etl_status etl_fail_with(etl_error *err, etl_status status, u64 offset, const char *format, ...)
    ETL_PRINTF(4, 5);

/* The same with a hint, and of no place in a file. */
etl_status etl_fail_hint(etl_error *err, etl_status status, etl_hint hint, const char *format, ...)
    ETL_PRINTF(4, 5);

/* "out of memory" and the like: a short name for a status. */
const char *etl_status_name(etl_status status);

/* --- views -------------------------------------------------------------- */

typedef struct etl_bytes {
    const u8 *at; /* NULL when empty or absent */
    size_t size;  /* in bytes, also for UTF-16 */
} etl_bytes;

/* GUID as it stands in the file: u32, u16, u16 little endian, then 8 bytes. */
typedef struct etl_guid {
    u8 bytes[16];
} etl_guid;

#define ETL_GUID_TEXT_SIZE 37 /* "b3e675d7-2554-4f18-830b-2762732560de" and a NUL */

/* Writes the GUID at `guid` (16 bytes) in lower case without braces. */
void etl_guid_format(const u8 *guid, char out[ETL_GUID_TEXT_SIZE]);

/*
 * Converts UTF-16LE to UTF-8, at most `capacity` bytes including a final NUL
 * (capacity 0: nothing is written). Unpaired surrogates and an odd last byte
 * become U+FFFD. Returns the length needed without the NUL, as snprintf does;
 * the written text is never cut inside a character.
 */
size_t etl_utf16_to_utf8(etl_bytes utf16, char *out, size_t capacity);

/*
 * Makes valid UTF-8 of 8-bit text of unknown code page: valid UTF-8 stays, any
 * other byte is read as Latin-1. Same contract as etl_utf16_to_utf8.
 */
size_t etl_text_to_utf8(etl_bytes text, char *out, size_t capacity);

/* --- session (log-file header) ------------------------------------------ */

typedef enum etl_clock {
    ETL_CLOCK_QPC = 1,         /* ticks of clock_hz */
    ETL_CLOCK_SYSTEM_TIME = 2, /* ticks are FILETIME, 100 ns */
    ETL_CLOCK_CPU_CYCLES = 3   /* ticks of the CPU at its nominal speed */
} etl_clock;

/* One log-file header. FILETIME: 100 ns since 1601-01-01 UTC. */
typedef struct etl_session {
    u64 header_offset;       /* file offset of the header record */
    i64 header_ticks;        /* time of the header record: time zero */
    i64 start_time_filetime; /* wall time at header_ticks */
    i64 end_time_filetime;   /* 0: the session was not closed */
    i64 boot_time_filetime;  /* approximate, never used for conversion */
    u64 perf_frequency_hz;   /* as stated, may be 0 */
    u64 clock_hz;            /* ticks per second after guards, never 0 */
    etl_clock clock;
    u32 buffer_size_bytes; /* nominal, uncompressed */
    u32 os_build;
    u32 cpu_count;     /* 1 when buffers are not per processor */
    u32 pointer_bytes; /* 4 or 8: of the system that wrote the header */
    u32 events_lost;
    u32 buffers_lost;
    u32 buffers_written; /* as stated; 0 when not closed */
    u32 log_file_mode;
    u32 timer_resolution; /* 100 ns units */
    u32 maximum_file_size;
    u32 cpu_mhz;
    u8 os_major, os_minor, layout_major, layout_minor;
    bool cpu_known;       /* false: one stream for all CPUs, events have cpu -1 */
    etl_bytes name_utf16; /* session name; borrowed from the mapping */
    etl_bytes log_file_name_utf16;
} etl_session;

/* Nanoseconds since the session's header record, rounded down; saturates. */
i64 etl_time_ns(const etl_session *session, i64 ticks);

/* The smallest tick whose etl_time_ns is >= ns: a half-open window in
 * nanoseconds selects the same events as the half-open window in ticks. */
i64 etl_time_ticks(const etl_session *session, i64 ns);

/* --- trace --------------------------------------------------------------- */

typedef struct etl_trace etl_trace;

/* Calls fn(context, i) once for each i below task_count, by as many threads as it likes, and
 * returns when all have returned. */
typedef void etl_run_tasks_fn(void *user, u32 task_count, void (*fn)(void *context, u32 task),
                              void *context);

/*
 * Waits until the first `wanted` bytes of a file that is still being written are there, or all
 * of them if it has fewer; *arrived is how many there are. For `wanted` above its size it also
 * waits until the writer has finished. An error is the writer's: the bytes will not come.
 */
typedef etl_status etl_arrival_fn(void *user, u64 wanted, u64 *arrived, etl_error *err);

typedef struct etl_open_options {
    size_t size;                 /* sizeof(etl_open_options) */
    bool no_mmap;                /* read the file into memory instead of mapping it */
    bool no_resync;              /* stop at the first invalid buffer header */
    u32 buffer_bytes_max;        /* accepted buffer size; 0: 16 MiB + 64 KiB */
    etl_run_tasks_fn *run_tasks; /* threads that read headers side by side; NULL: none. What
                                    is found does not depend on it */
    void *run_user;              /* for run_tasks */
    bool in_steps;               /* the caller goes on with etl_index_more() if it has to */
    etl_arrival_fn *arrival;     /* the file has its size, but not yet all its bytes; needs
                                    in_steps. NULL: it is complete */
    void *arrival_user;          /* for arrival; valid until the trace is indexed or closed */
} etl_open_options;

/*
 * Maps the file, reads the log-file header(s) and indexes all buffers. Names of files,
 * here and everywhere, are in UTF-8 on Windows, where they may be longer than MAX_PATH
 * and have / or \ in them. options may be NULL. On success *out is owned by the caller (etl_close).
 * ETL_ERR_IO: cannot be opened or read, or is a directory. ETL_ERR_NOT_ETL: it
 * is not an ETL file (message says what it looks like: empty, zip, text, ...).
 * ETL_ERR_UNSUPPORTED: an ETL of a kind we do not read, named. ETL_ERR_CORRUPT: its
 * log-file header is cut off. ETL_ERR_MEMORY.
 * A file that shrinks while mapped raises SIGBUS, on Windows one whose disk or network
 * fails EXCEPTION_IN_PAGE_ERROR (the program's cli/system/bus_guard.h makes errors of them);
 * no_mmap avoids that.
 */
etl_status etl_open(const char *path, const etl_open_options *options, etl_trace **out,
                    etl_error *err);

/* The same over bytes the caller keeps alive and unchanged until etl_close. */
etl_status etl_open_memory(etl_bytes file, const etl_open_options *options, etl_trace **out,
                           etl_error *err);

void etl_close(etl_trace *trace); /* NULL is allowed */

/*
 * With in_steps, etl_open indexes only the beginning of a file that is still being written, or
 * that is large and mostly not in the page cache, so that the caller can read ahead and begin
 * to work while the rest comes. Until etl_is_indexed(), the trace has the buffers found so
 * far, and its sessions and diagnostics are those of this part. Whoever needs all calls
 * etl_index_rest() first.
 */
bool etl_is_indexed(const etl_trace *trace);

/*
 * Indexes up to the buffer that reaches `offset`, which is below etl_file_size() or not; does
 * nothing if it is indexed as far. It asks the system to read nothing ahead. No other thread
 * may use the trace meanwhile, and pointers to its buffers and sessions become invalid.
 * ETL_ERR_MEMORY, ETL_ERR_LIMIT (2^32 buffers), and the error of `arrival`; no step can be
 * taken after an error.
 */
etl_status etl_index_more(etl_trace *trace, u64 offset, etl_error *err);

/* Indexes everything, and reads ahead as etl_open does. */
etl_status etl_index_rest(etl_trace *trace, etl_error *err);

/* How far the index reaches: all buffers before this offset are known. */
u64 etl_indexed_bytes(const etl_trace *trace);

/* Whether its bytes are still arriving: there is nothing to read ahead. */
bool etl_is_arriving(const etl_trace *trace);

/*
 * While a trace is not indexed: the earliest first record among the last buffers of the file,
 * which were written when the session stopped, whatever their age. INT64_MAX: not known.
 */
i64 etl_tail_ticks(const etl_trace *trace);

/*
 * Does a file begin like a trace? For those who would have to unpack or to fetch it
 * first. `start` is what the file begins with, ETL_START_BYTES of it or all. Whatever
 * this refuses, etl_open refuses, with the same message: ETL_ERR_NOT_ETL,
 * ETL_ERR_UNSUPPORTED, ETL_ERR_CORRUPT.
 */
#define ETL_START_BYTES ((size_t)72 + 65536) /* a buffer's header, and its first record */
etl_status etl_check_start(etl_bytes start, etl_error *err);

u64 etl_file_size(const etl_trace *trace);

/* Log-file headers in file order. There is at least one; index 0 is the
 * anchor. NULL for an index from etl_session_count() on. Owned by the trace. */
u32 etl_session_count(const etl_trace *trace);
const etl_session *etl_session_of(const etl_trace *trace, u32 index);

/* What indexing found (truncation, gaps, skipped bytes, header losses). */
const etl_diag_counts *etl_trace_diagnostics(const etl_trace *trace);

/*
 * Gives back the memory of bytes that have been read from a mapped file: what is asked
 * for again is mapped again. What lies beyond the file does not count; whole pages go. Any thread,
 * also while others read.
 */
void etl_trace_release(const etl_trace *trace, u64 offset, u64 size_bytes);

/*
 * Asks the system to read bytes of a mapped file that will be wanted soon, and does not wait
 * for them unless very many are under way. Bytes that are in memory cost next to nothing.
 * True if something was asked for. Any thread, also while others read.
 */
bool etl_trace_fetch(const etl_trace *trace, u64 offset, u64 size_bytes);

/* Whether the file was written to since it was opened, other than at its end: what
 * was read may be mixed from before and after (ETL_DIAG_file_changed). To be asked
 * when all is read. Any thread. */
bool etl_trace_changed(const etl_trace *trace);

/* --- buffers -------------------------------------------------------------- */

typedef struct etl_buffer_info {
    u64 offset;      /* of the buffer header in the file */
    u32 stored_size; /* bytes in the file, header included */
    u32 valid_size;  /* valid bytes when uncompressed, header included */
    i64 sequence;    /* order of the buffers of one CPU */
    u16 flags;       /* ETL_BUFFER_* of layout.h */
    u16 type;
    u16 cpu;         /* processor index of its events, < 2048 */
    u16 session;     /* index of the log-file header it belongs to */
    i64 first_ticks; /* as etl_buffer_first_ticks; ETL_TICKS_UNKNOWN: to be asked there */
} etl_buffer_info;

#define ETL_TICKS_UNKNOWN INT64_MIN

/* NULL for an index from etl_buffer_count() on. */
u32 etl_buffer_count(const etl_trace *trace);
const etl_buffer_info *etl_buffer_info_of(const etl_trace *trace, u32 index);

/* Memory for one decompressed buffer; one per thread. Start from {0}. */
typedef struct etl_scratch {
    u8 *bytes;
    size_t capacity;
} etl_scratch;

void etl_scratch_free(etl_scratch *scratch);

/* A loaded buffer: a position in its records. Copying one copies the position. */
typedef struct etl_buffer {
    const u8 *base; /* of the buffer as if uncompressed: records start at base + 72 */
    u32 at;         /* offset of the next record from base */
    u32 end;        /* valid end from base */
    i32 cpu;        /* of every record in it, -1 unknown */
    u32 session;
    u64 file_offset;
    i64 ticks_previous;    /* time of the last record with one; records without inherit it */
    etl_diag_counts *diag; /* counts of what this buffer shows; the caller's, not NULL */
} etl_buffer;

/*
 * Makes buffer `index` readable, decompressing into *scratch when needed.
 * Damage is not an error: what can be read is, the rest is counted in *diag.
 * Buffers without records (markers, unknown types) load as empty. The result
 * borrows from the trace and the scratch. Errors: ETL_ERR_MEMORY, and ETL_ERR_ARGUMENT
 * for an index from etl_buffer_count() on.
 */
etl_status etl_buffer_load(const etl_trace *trace, u32 index, etl_scratch *scratch,
                           etl_diag_counts *diag, etl_buffer *out);

/*
 * The time of the first record of a buffer that has one, cheaply (a compressed
 * buffer is decoded only as far as needed). False when it has none, and when there is
 * no such buffer.
 */
bool etl_buffer_first_ticks(const etl_trace *trace, u32 index, i64 *ticks);

/* --- records -------------------------------------------------------------- */

/* X(enumerator, name in output) */
#define ETL_HEADER_KINDS(X)                                                                        \
    X(OTHER, "other")                                                                              \
    X(SYSTEM32, "system32")                                                                        \
    X(SYSTEM64, "system64")                                                                        \
    X(COMPACT32, "compact32")                                                                      \
    X(COMPACT64, "compact64")                                                                      \
    X(PERFINFO32, "perfinfo32")                                                                    \
    X(PERFINFO64, "perfinfo64")                                                                    \
    X(FULL32, "full32")                                                                            \
    X(FULL64, "full64")                                                                            \
    X(INSTANCE32, "instance32")                                                                    \
    X(INSTANCE64, "instance64")                                                                    \
    X(EVENT32, "event32")                                                                          \
    X(EVENT64, "event64")                                                                          \
    X(ERROR, "error")                                                                              \
    X(MESSAGE, "message")

typedef enum etl_header_kind {
#define ETL_HEADER_ENUM(name, text) ETL_HEADER_##name,
    ETL_HEADER_KINDS(ETL_HEADER_ENUM)
#undef ETL_HEADER_ENUM
        ETL_HEADER_KIND_COUNT
} etl_header_kind;

const char *etl_header_kind_name(etl_header_kind kind); /* "other" for what is none */

#define ETL_NO_ID UINT32_MAX /* a tid or pid that the record does not carry */

/* One record. Views borrow from the loaded buffer. */
typedef struct etl_record {
    i64 ticks; /* raw clock; inherited when the record has none */
    u32 tid;   /* ETL_NO_ID when the header has none */
    u32 pid;
    u16 hook;    /* group << 8 | type; valid when has_hook */
    u16 version; /* of the payload layout, flag bits removed */
    u16 id;      /* event id (EVENT), message number (MESSAGE) */
    u8 opcode;   /* also the low byte of hook */
    u8 level;
    u8 header;        /* etl_header_kind */
    u8 pointer_bytes; /* of the payload: 4 or 8, from the record, never the file */
    bool has_hook;    /* system, compact and perfinfo headers */
    bool has_time;
    i32 cpu;            /* -1 unknown */
    u32 offset;         /* of the record from the start of its buffer */
    u32 size;           /* header + items + payload, without padding */
    const u8 *provider; /* 16 bytes: provider or class GUID, message GUID; NULL when none */
    etl_bytes payload;
    etl_bytes items; /* extended items of an EVENT record; see etl_item_next */
} etl_record;

/*
 * Steps to the next record. False at the end of the buffer, which is also where
 * a damaged record header leaves off (counted in buffer->diag).
 */
bool etl_record_next(etl_buffer *buffer, etl_record *out);

/* An extended item of an EVENT record (stack, related activity, schema, ...). */
typedef struct etl_item {
    u16 type; /* ETL_ITEM_* of layout.h */
    etl_bytes data;
} etl_item;

/* Steps through record->items: start with a copy of it. False at the end. */
bool etl_item_next(etl_bytes *items, etl_item *out);

/* The stack of an event in an extended item: frames as etl_frame_at reads them, innermost
 * first, or the key of a stack that another record defines. */
typedef struct etl_item_stack {
    u64 match_id; /* not 0: another record has the rest of the stack */
    u64 key;
    const u8 *frames;
    u32 frame_count;
    u32 frame_bytes; /* 4 or 8; independent of the record's pointer size */
    bool is_key;
} etl_item_stack;

/* False for items that are no stacks, and for stacks without a match id. */
bool etl_item_stack_of(const etl_item *item, etl_item_stack *out);

/*
 * The hook id by which a record is decoded: its own, or for a classic record
 * (full header) of a kernel class GUID the hook of the same group and type.
 * False when there is none.
 */
bool etl_record_hook(const etl_record *record, u16 *hook);

/* True for records a merge injected with the time of another event (ImageID,
 * event metadata, SysConfigEx, WinSAT): never targets of a stack walk. */
bool etl_record_is_injected(const etl_record *record);

/* --- events: see events.h -------------------------------------------------- */

#include "events.h"

/* --- events that describe themselves: see described.h ------------------------ */

#include "described.h"

/* Declared once more for those who include events.h by itself, which includes this. */
typedef struct etl_event etl_event;

#include "custom_events.h"

/*
 * Decodes what we understand of a record. False, with out->kind ETL_EVENT_NONE,
 * if etlheap does not decode it, or if it is too short (event_truncated is counted).
 * Views in *out borrow from the record. diag may not be NULL.
 */
bool etl_decode(const etl_record *record, etl_event *out, etl_diag_counts *diag);

/* The kind that a record decodes to, without a look at its payload; ETL_EVENT_NONE if etl_decode
 * does not know it. */
etl_event_kind etl_record_kind(const etl_record *record);

/* "Heap/Alloc" for any hook or provider record we can name, decoded or not;
 * NULL otherwise. */
const char *etl_record_name(const etl_record *record);
const char *etl_hook_name(u16 hook);

/* "Microsoft-Windows-Kernel-Memory" for the GUID (16 bytes) of a provider or class that
 * we know; NULL otherwise. */
const char *etl_provider_name(const u8 *guid);

#ifdef __cplusplus
}
#endif

#endif
