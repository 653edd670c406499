/*
 * parser.h - front door of the trace reader: what an ETL file says.
 *
 *     etl_open          file -> trace, with an index of its buffers
 *     etl_buffer_load   one buffer of the trace, decompressed
 *     etl_record_next   the records in the buffer, one after the other
 *     etl_decode        what a record means: one of the events in events.h
 *
 * engine/engine.h builds on this header. Use it directly to read records, without pairing
 * allocations with frees. This header includes diag.h, hint.h, events.h, described.h and
 * custom_events.h.
 *
 * Functions whose comment begins with [stable] keep their meaning; the others are experimental
 * (docs/c_api.md).
 *
 * The reader handles one record at a time: it does not pair, sort, join or convert times. It does
 * not print, exit, read the environment or start threads.
 *
 * Threads: an etl_trace does not change after etl_open. Any number of threads may load buffers from
 * it at the same time, each with its own scratch. All other functions may be called from any
 * thread.
 *
 * Ownership: the caller owns what a function returns through `out`. Views (etl_bytes) point into
 * the mapped file, which stays mapped until etl_close, or into the scratch that the buffer was
 * loaded into, which the next load reuses. Each function says which.
 */
#ifndef ETL_PARSER_H
#define ETL_PARSER_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "diag.h"
#include "hint.h"

#ifdef __cplusplus
extern "C" {
#endif

static_assert(sizeof(void *) == 8, "a 64-bit host is required: traces are mapped whole");
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "a little-endian host is required");

/* Marks functions that take a printf format. MinGW has two kinds of formats. */
#if defined(__MINGW32__) && !defined(__clang__)
#define ETL_PRINTF(format_index, first)                                                            \
    __attribute__((__format__(__gnu_printf__, format_index, first)))
#else
#define ETL_PRINTF(format_index, first) __attribute__((__format__(__printf__, format_index, first)))
#endif

/* The version of etlheap. Other files take it from here. */
#define ETLHEAP_VERSION "0.1.0"

/* --- errors ------------------------------------------------------------- */

/* Codes below 10 are faults of the environment or the caller, codes from 10 on are faults of the
 * file. The values are part of the interface and never change. */
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

/* Details of a failure. The last parameter of functions that can fail; may be NULL. Valid only
 * after a failure. Use the returned status for control flow. */
typedef struct etl_error {
    etl_status status;
    etl_hint hint;     /* what would help (hint.h) */
    uint64_t offset;   /* byte offset in the file that the message is about, or 0 */
    char message[640]; /* one sentence for people, without file name, options or newline */
} etl_error;

/* Fills *err (may be NULL) from a printf format. Returns `status`. */
etl_status etl_fail_with(etl_error *err, etl_status status, uint64_t offset, const char *format,
                         ...) ETL_PRINTF(4, 5);

/* The error that memory ran out: ETL_ERR_MEMORY. err may be NULL. */
etl_status etl_no_memory(etl_error *err);

/* Like etl_fail_with, with a hint and without an offset. */
etl_status etl_fail_hint(etl_error *err, etl_status status, etl_hint hint, const char *format, ...)
    ETL_PRINTF(4, 5);

/* [stable] For programs that cannot include this header: the size of an etl_error, which need not
 * be initialised, and its message. */
size_t etl_error_size(void);
const char *etl_error_message(const etl_error *err);

/* [stable] A short description of a status, such as "out of memory". Static text. */
const char *etl_status_name(etl_status status);

/* --- views -------------------------------------------------------------- */

/* A view of bytes owned by something else. */
typedef struct etl_bytes {
    const uint8_t *at; /* NULL if empty or absent */
    size_t size;       /* in bytes, also for UTF-16 */
} etl_bytes;

/* A GUID as stored in the file: uint32_t, uint16_t, uint16_t little endian, then 8 bytes. */
typedef struct etl_guid {
    uint8_t bytes[16];
} etl_guid;

#define ETL_GUID_TEXT_SIZE 37 /* "b3e675d7-2554-4f18-830b-2762732560de" and a NUL */

/* Writes the 16 bytes at `guid` as text in lower case, without braces. */
void etl_guid_format(const uint8_t *guid, char out[ETL_GUID_TEXT_SIZE]);

/*
 * Converts UTF-16LE to UTF-8. Writes at most `capacity` bytes including a NUL, never part of a
 * character (capacity 0: nothing). Unpaired surrogates and an odd last byte become U+FFFD. Returns
 * the length of the whole text without the NUL, as snprintf does.
 */
size_t etl_utf16_to_utf8(etl_bytes utf16, char *out, size_t capacity);

/* Converts 8-bit text of unknown code page to UTF-8: valid UTF-8 is copied, any other byte is read
 * as Latin-1. Capacity and result as for etl_utf16_to_utf8. */
size_t etl_text_to_utf8(etl_bytes text, char *out, size_t capacity);

/* --- session (log-file header) ------------------------------------------ */

typedef enum etl_clock {
    ETL_CLOCK_QPC = 1,         /* ticks of the performance counter, clock_hz per second */
    ETL_CLOCK_SYSTEM_TIME = 2, /* ticks are FILETIME, in 100 ns */
    ETL_CLOCK_CPU_CYCLES = 3   /* ticks are CPU cycles at nominal speed */
} etl_clock;

/* One log-file header: what the session recorded about itself. FILETIME counts 100 ns since
 * 1601-01-01 UTC. */
typedef struct etl_session {
    uint64_t header_offset;      /* file offset of the header record */
    int64_t header_ticks;        /* time of the header record: time zero */
    int64_t start_time_filetime; /* wall time at header_ticks */
    int64_t end_time_filetime;   /* 0: the session was not closed */
    int64_t boot_time_filetime;  /* approximate, not used for conversions */
    uint64_t perf_frequency_hz;  /* as the file states it; may be 0 */
    uint64_t clock_hz;           /* ticks per second; checked, never 0 */
    etl_clock clock;
    uint32_t buffer_size_bytes; /* nominal size, uncompressed */
    uint32_t os_build;
    uint32_t cpu_count;     /* 1 if buffers are not per processor */
    uint32_t pointer_bytes; /* 4 or 8, of the system that wrote the header */
    uint32_t events_lost;
    uint32_t buffers_lost;
    uint32_t buffers_written; /* as the file states it; 0 if the session was not closed */
    uint32_t log_file_mode;
    uint32_t timer_resolution; /* in units of 100 ns */
    uint32_t maximum_file_size;
    uint32_t cpu_mhz;
    uint8_t os_major, os_minor, layout_major, layout_minor;
    bool cpu_known; /* false: one stream for all CPUs, events have cpu -1 */
    /* Known when the whole file is indexed. If older buffers are missing at the start, because they
     * were overwritten or lie in an earlier file: their number, as far as sequence numbers tell,
     * and the sequence from which on no buffer is missing so. */
    uint64_t buffers_overwritten;
    int64_t kept_sequence;
    int64_t last_sequence; /* of its buffers; likewise known when all are indexed */
    etl_bytes name_utf16;  /* session name; borrowed from the trace */
    etl_bytes log_file_name_utf16;
} etl_session;

/* [stable] Converts ticks to nanoseconds since the session's header record, rounded down, within
 * the range of int64_t. */
int64_t etl_time_ns(const etl_session *session, int64_t ticks);

/* [stable] The smallest tick at or after `ns`: its etl_time_ns is >= ns. A half-open window in
 * nanoseconds and the converted window in ticks therefore select the same events. */
int64_t etl_time_ticks(const etl_session *session, int64_t ns);

/* --- trace --------------------------------------------------------------- */

typedef struct etl_trace etl_trace;

/* Calls fn(context, i) once for each i below task_count, on any number of threads, and returns when
 * all calls have returned. etlheap_run_tasks (engine/etlheap_libraries.h) is one. */
typedef void etl_run_tasks_fn(void *user, uint32_t task_count,
                              void (*fn)(void *context, uint32_t task), void *context);

/*
 * Waits until the first `wanted` bytes of a file that is still being written are there, or all
 * of them if it has fewer; *arrived is how many there are. For `wanted` above its size it also
 * waits until the writer has finished. An error is the writer's: the bytes will not come.
 */
typedef etl_status etl_arrival_fn(void *user, uint64_t wanted, uint64_t *arrived, etl_error *err);

/* Options of etl_open. Start from {0} with `size` set. */
typedef struct etl_open_options {
    size_t size;               /* sizeof(etl_open_options) */
    bool no_mmap;              /* read the file into memory instead of mapping it */
    bool no_resync;            /* stop at the first invalid buffer header */
    uint32_t buffer_bytes_max; /* accepted buffer size; 0: 16 MiB + 64 KiB */
    /* Runs tasks on threads, to read buffer headers in parallel; NULL: no threads. The result does
     * not depend on it. */
    etl_run_tasks_fn *run_tasks;
    void *run_user;          /* for run_tasks */
    bool in_steps;           /* the caller goes on with etl_index_more() if it has to */
    etl_arrival_fn *arrival; /* the file has its size, but not yet all its bytes; needs
                                    in_steps. NULL: it is complete */
    void *arrival_user;      /* for arrival; valid until the trace is indexed or closed */
} etl_open_options;

/*
 * [stable] Opens a trace: maps the file, reads its log-file headers and indexes all buffers. File
 * names, here and in all other functions, are UTF-8 on Windows; they may be longer than MAX_PATH
 * and use / or \. options may be NULL. On success the caller owns *out (etl_close).
 *
 *     ETL_ERR_IO           the file cannot be opened or read, or is a directory
 *     ETL_ERR_NOT_ETL      not an ETL file; the message says what it looks like (zip, text, ...)
 *     ETL_ERR_UNSUPPORTED  an ETL file of a kind that cannot be read; the message names the kind
 *     ETL_ERR_CORRUPT      the log-file header is cut off
 *     ETL_ERR_ARGUMENT     invalid options
 *     ETL_ERR_MEMORY
 *
 * If a mapped file shrinks, reading it raises SIGBUS; on Windows, a failing disk or network raises
 * EXCEPTION_IN_PAGE_ERROR. Set no_mmap to avoid that.
 */
etl_status etl_open(const char *path, const etl_open_options *options, etl_trace **out,
                    etl_error *err);

/* Opens a trace in memory. The bytes must stay alive and unchanged until etl_close. Errors as for
 * etl_open, except ETL_ERR_IO. */
etl_status etl_open_memory(etl_bytes file, const etl_open_options *options, etl_trace **out,
                           etl_error *err);

/* [stable] NULL is allowed. */
void etl_close(etl_trace *trace);

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
etl_status etl_index_more(etl_trace *trace, uint64_t offset, etl_error *err);

/* Indexes everything, and reads ahead as etl_open does. */
etl_status etl_index_rest(etl_trace *trace, etl_error *err);

/* How far the index reaches: all buffers before this offset are known. */
uint64_t etl_indexed_bytes(const etl_trace *trace);

/* Whether its bytes are still arriving: there is nothing to read ahead. */
bool etl_is_arriving(const etl_trace *trace);

/*
 * While a trace is not indexed: the earliest first record among the last buffers of the file,
 * which were written when the session stopped, whatever their age. INT64_MAX: not known.
 */
int64_t etl_tail_ticks(const etl_trace *trace);

/*
 * Checks whether a file begins like a trace, before it is unpacked or fetched. `start` is its first
 * ETL_START_BYTES bytes, or the whole file if it is shorter. What this refuses, etl_open also
 * refuses, with the same message: ETL_ERR_NOT_ETL, ETL_ERR_UNSUPPORTED, ETL_ERR_CORRUPT.
 */
#define ETL_START_BYTES ((size_t)72 + 65536) /* a buffer header and the first record */
etl_status etl_check_start(etl_bytes start, etl_error *err);

/* The size of the file in bytes. */
uint64_t etl_file_size(const etl_trace *trace);

/* Log-file headers in file order, at least one. Times count from the header at index 0. NULL for an
 * index beyond the count. Owned by the trace. */
uint32_t etl_session_count(const etl_trace *trace);
const etl_session *etl_session_of(const etl_trace *trace, uint32_t index);

/* Problems found by indexing: truncation, gaps, skipped bytes, lost events. Owned by the trace. */
const etl_diag_counts *etl_trace_diagnostics(const etl_trace *trace);

/*
 * Releases the memory of bytes that were read from a mapped file. They are read from the file again
 * when they are needed. Bytes beyond the end of the file are ignored. Affects whole pages. Any
 * thread, even while others read.
 */
void etl_trace_release(const etl_trace *trace, uint64_t offset, uint64_t size_bytes);

/*
 * Asks the system to read bytes of a mapped file ahead. Does not wait for them, unless very many
 * reads are pending, and costs almost nothing for bytes already in memory. True if something was
 * requested. Any thread, even while others read.
 */
bool etl_trace_fetch(const etl_trace *trace, uint64_t offset, uint64_t size_bytes);

/* True if the whole file is in memory, by a few hundred of its pages: there is nothing to read
 * ahead. False if the system does not tell. Any thread. */
bool etl_trace_is_warm(const etl_trace *trace);

/* True if the file was written to after it was opened, other than at its end; if it was arriving
 * (etl_arrival_fn), after it was complete. What was read may then mix old and new data
 * (ETL_DIAG_file_changed). Call it after reading. Any thread. */
bool etl_trace_changed(const etl_trace *trace);

/* --- buffers -------------------------------------------------------------- */

/* One row of the index of buffers. */
typedef struct etl_buffer_info {
    uint64_t offset;      /* file offset of the buffer header */
    uint32_t stored_size; /* bytes in the file, header included */
    uint32_t valid_size;  /* valid bytes after decompression, header included */
    int64_t sequence;     /* orders the buffers of one CPU */
    uint16_t flags;       /* ETL_BUFFER_* in etl/layout.h */
    uint16_t type;
    uint16_t cpu;        /* processor of its events */
    uint16_t session;    /* index of the log-file header it belongs to */
    int64_t first_ticks; /* as etl_buffer_first_ticks returns; ETL_TICKS_UNKNOWN: call that */
} etl_buffer_info;

#define ETL_TICKS_UNKNOWN INT64_MIN

/* [stable] Buffers in file order. NULL for an index beyond the count. Owned by the trace. */
uint32_t etl_buffer_count(const etl_trace *trace);
const etl_buffer_info *etl_buffer_info_of(const etl_trace *trace, uint32_t index);

/* Memory for one decompressed buffer. Each thread needs its own. Start from {0}; free it with
 * etl_scratch_free after the last use of what was loaded into it. */
typedef struct etl_scratch {
    uint8_t *bytes;
    size_t capacity;
} etl_scratch;

/* [stable] Frees the memory and resets it to {0}. */
void etl_scratch_free(etl_scratch *scratch);

/* A loaded buffer, and the position of the next record in it. A copy keeps its own position. */
typedef struct etl_buffer {
    const uint8_t *base; /* the buffer, decompressed; records start at base + 72 */
    uint32_t at;         /* offset of the next record from base */
    uint32_t end;        /* end of the valid bytes, from base */
    int32_t cpu;         /* of all its records; -1: unknown */
    uint32_t session;
    uint64_t file_offset;
    int64_t ticks_previous; /* time of the last record with one; the others inherit it */
    etl_diag_counts *diag;  /* where damage in this buffer is counted; the caller's, not NULL */
} etl_buffer;

/*
 * [stable] Loads buffer `index`, decompressing it into *scratch if needed. Damage is not an error:
 * everything readable is loaded, the rest is counted in *diag. Buffers without records (markers,
 * unknown types) load as empty. *out borrows from the trace and the scratch until the scratch is
 * used again. ETL_ERR_MEMORY, ETL_ERR_ARGUMENT (no such index).
 */
etl_status etl_buffer_load(const etl_trace *trace, uint32_t index, etl_scratch *scratch,
                           etl_diag_counts *diag, etl_buffer *out);

/* Finds the time of the first record that has one. A compressed buffer is decompressed only as far
 * as needed. False if no record has a time, or the buffer does not exist. */
bool etl_buffer_first_ticks(const etl_trace *trace, uint32_t index, int64_t *ticks);

/* The time at which a buffer was flushed, in its session's clock; all its events are earlier. False
 * if the file does not state it: for header buffers, and in merged files, where it is the wall time
 * of the merge. */
bool etl_buffer_flush_ticks(const etl_trace *trace, uint32_t index, int64_t *ticks);

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

const char *etl_header_kind_name(etl_header_kind kind); /* "other" for a number out of range */

#define ETL_NO_ID UINT32_MAX /* a thread or process id that the record does not have */

/* One record. Its views borrow from the loaded buffer. */
typedef struct etl_record {
    int64_t ticks; /* raw clock; inherited if the record has no time */
    uint32_t tid;  /* ETL_NO_ID if the header has none */
    uint32_t pid;
    uint16_t hook;    /* group << 8 | type; valid if has_hook */
    uint16_t version; /* version of the payload layout, without flag bits */
    uint16_t id;      /* event id (EVENT), message number (MESSAGE) */
    uint8_t opcode;   /* also the low byte of hook */
    uint8_t level;
    uint8_t header;        /* etl_header_kind */
    uint8_t pointer_bytes; /* 4 or 8, as the record itself states, not the file */
    bool has_hook;         /* system, compact and perfinfo headers */
    bool has_time;
    int32_t cpu;             /* -1 unknown */
    uint32_t offset;         /* offset of the record from the start of its buffer */
    uint32_t size;           /* header + items + payload, without padding */
    const uint8_t *provider; /* 16 bytes: GUID of the provider, class or message; NULL: none */
    etl_bytes payload;
    etl_bytes items; /* extended items of an EVENT record (etl_item_next) */
} etl_record;

/* [stable] Reads the next record. False at the end of the buffer, or at a damaged record header
 * (counted in buffer->diag). */
bool etl_record_next(etl_buffer *buffer, etl_record *out);

/* An extended item of an EVENT record: a stack, a related activity, a schema, ... Borrows from the
 * record. */
typedef struct etl_item {
    uint16_t type; /* ETL_ITEM_* in etl/layout.h */
    etl_bytes data;
} etl_item;

/* Reads the next item. Start with a copy of record->items, which is advanced. False at the end. */
bool etl_item_next(etl_bytes *items, etl_item *out);

/* The stack in an extended item: frames for etl_frame_at, innermost first, or the key of a stack
 * that another record defines. */
typedef struct etl_item_stack {
    uint64_t match_id; /* 0: complete; else another record with this id has the rest */
    uint64_t key;
    const uint8_t *frames;
    uint32_t frame_count;
    uint32_t frame_bytes; /* 4 or 8; may differ from the record's pointer size */
    bool is_key;
} etl_item_stack;

/* Reads the stack in an item. False if the item is not a stack, or is too short. */
bool etl_item_stack_of(const etl_item *item, etl_item_stack *out);

/* The hook id that decides how a record is decoded: its own, or for a classic record (full header)
 * with a kernel class GUID the hook of the same group and type. False if it has none. */
bool etl_record_hook(const etl_record *record, uint16_t *hook);

/* True for records that a merge added with the time of another event (ImageID, event metadata,
 * SysConfigEx, WinSAT). Stack walks never refer to them. */
bool etl_record_is_injected(const etl_record *record);

/* --- events: see events.h -------------------------------------------------- */

#include "events.h"

/* --- events that describe themselves: see described.h ------------------------ */

#include "described.h"

/* Repeated for programs that include events.h first, which includes this header. */
typedef struct etl_event etl_event;

#include "custom_events.h"

/*
 * [stable] Decodes a record. False, with out->kind ETL_EVENT_NONE, if etlheap has no decoder for
 * it, or if it is too short (counted as event_truncated). Views in *out borrow from the record.
 * diag must not be NULL. Any thread.
 */
bool etl_decode(const etl_record *record, etl_event *out, etl_diag_counts *diag);

/* Frame i of a stack event or definition. i must be less than frame_count. */
static inline uint64_t etl_frame_at(const uint8_t *frames, uint32_t frame_bytes, uint32_t i)
{
    uint64_t address = 0; /* of a little-endian host, so 4 bytes fill the lower half */
    if (frame_bytes == 4)
        memcpy(&address, frames + (size_t)i * 4, 4);
    else
        memcpy(&address, frames + (size_t)i * 8, 8);
    return address;
}

/* [stable] The name of a record or hook, such as "Heap/Alloc", decoded or not. NULL if unknown.
 * Static. */
const char *etl_record_name(const etl_record *record);
const char *etl_hook_name(uint16_t hook);

/* The name of a provider or class, such as "Microsoft-Windows-Kernel-Memory", by its GUID (16
 * bytes). NULL if unknown. Static text. */
const char *etl_provider_name(const uint8_t *guid);

#ifdef __cplusplus
}
#endif

#endif
