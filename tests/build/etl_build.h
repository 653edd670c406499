/*
 * etl_build.h - writes valid ETL files from a few calls, and breaks one field
 * of them on request. Unit tests, golden tests, fuzz seeds, benches and the
 * demo get their traces here.
 *
 *     etl_build *b = etl_build_new(&(etl_build_options){ .cpus = 2 });
 *     const etl_build_at at = { .ticks = 1000500, .cpu = 1, .pid = 42, .tid = 7 };
 *     etl_build_heap_alloc(b, at, 0x1f0000, 0x2000, 24);
 *     etl_build_stack_walk(b, at, &(etl_build_stack){ .user = frames, .user_count = 5 });
 *     if (!etl_build_finish(b)) ...            // etl_build_error(b) says why
 *     const u8 *bytes = etl_build_data(b, &size);
 *     etl_build_free(b);
 *
 * The builder is written from the format's description and shares no code with
 * the reader, so that a misreading in one shows as a difference.
 *
 * Records lie in per-CPU buffers in time order; a buffer is written to the file
 * when the next record does not fit, and all others at the end, so an idle
 * CPU's buffer may come later in the file by the whole length of the trace.
 * Sequence numbers follow the order in which buffers were begun. The same calls
 * write the same bytes.
 *
 * Errors stick: after the first one every call does nothing and
 * etl_build_finish() returns false. Nothing here is safe to share between
 * threads. Pointers passed in are borrowed for the call only. Text is UTF-8
 * limited to ASCII and is widened to UTF-16 where the format wants it.
 */
#ifndef TESTS_ETL_BUILD_H
#define TESTS_ETL_BUILD_H

#include "parser/base.h"

typedef struct etl_build etl_build;

/* --- session ------------------------------------------------------------- */

/* How calls become records in time order. */
typedef enum etl_build_order {
    /* Calls may come in any order: all records wait in memory until the end. */
    ETL_BUILD_SORTED,
    /* Calls come in time order; only stack walks, which are written a delay after
     * their event, wait. For large files. */
    ETL_BUILD_STREAMING,
    /* Records are placed exactly as called, delays give times but no order.
     * The fastest way, and the way to write a buffer whose times run backwards. */
    ETL_BUILD_AS_CALLED
} etl_build_order;

/* Zero means the default in brackets everywhere. */
typedef struct etl_build_options {
    const char *path;          /* stream to this file [keep the bytes in memory] */
    u32 cpus;                  /* [4], at most 2048 */
    u32 buffer_bytes;          /* nominal size, header included [65536] */
    u32 pointer_bytes;         /* of the traced system, 4 or 8 [8] */
    u32 clock;                 /* 1 QPC, 2 system time, 3 CPU cycles [1] */
    u64 clock_hz;              /* [10,000,000]; clock 3: whole MHz; clock 2: always 10 MHz */
    i64 start_ticks;           /* time zero [1,000,000; clock 2: start_filetime] */
    i64 start_filetime;        /* wall time at start_ticks [2020-07-29 00:07 UTC] */
    u32 os_build;              /* [26100] */
    u32 log_file_mode;         /* [0x1; compressed 0x04010001] flags below are or'ed in */
    const char *session_name;  /* ["etl_build"] */
    const char *log_file_name; /* ["etl_build.etl"] */
    bool compress;             /* XPRESS LZ77 buffers and a short header buffer, as merges write */
    bool keyed_stacks;         /* stack walks of four or more frames become keys */
    u32 stack_key_slots;       /* size of the key cache, small means much reuse [256] */
    u64 stack_key_base;        /* lowest key, of each file another [0xFFFFA80003200010] */
    bool one_stream;           /* no per-processor buffering: CPUs are unknown */
    bool virtual_alloc_without_tid; /* VirtualAlloc and VirtualFree as PERFINFO records */
    bool header_records;            /* more records in the header buffer, as kernel sessions have */
    bool unclosed;                  /* crashed session: no end time, last buffers missing */
    etl_build_order order;          /* [ETL_BUILD_SORTED] */
    i64 flush_interval_ticks;       /* force all buffers out this often [only when full] */
    u32 ring_buffers;               /* circular file of this many data buffers [no limit] */
    i64 first_sequence;             /* of the first data buffer [1] */
    u32 events_lost;                /* added to what etl_build_lose_buffer counts */
    u32 buffers_lost;
} etl_build_options;

/* A builder, to be given to etl_build_free(). options may be NULL. Never NULL:
 * a bad option is an error like any other, no memory aborts. */
etl_build *etl_build_new(const etl_build_options *options);
void etl_build_free(etl_build *b); /* NULL is allowed */

/*
 * Ends the session in hand and begins another one in the same file, as append
 * mode does: a second header buffer, sequence numbers from its own start.
 * `path` and `order` of the new options are ignored.
 */
void etl_build_append_session(etl_build *b, const etl_build_options *options);

/* Writes what is left, completes the log-file header(s), closes the file. */
bool etl_build_finish(etl_build *b);

/* etl_build_finish() and, for a builder in memory, writes the bytes to `path`. */
bool etl_build_finish_to(etl_build *b, const char *path);

/* The finished file of a builder in memory; valid until etl_build_free(). */
const u8 *etl_build_data(const etl_build *b, size_t *size);

/* One sentence about the first error, or NULL. */
const char *etl_build_error(const etl_build *b);

/* Known at any time; after finishing they hold for the file. Records include
 * the log-file header(s) and are those that reached the file. */
u64 etl_build_record_count(const etl_build *b);
u32 etl_build_buffer_count(const etl_build *b);
i64 etl_build_last_ticks(const etl_build *b); /* latest record in the file */
i64 etl_build_start_ticks(const etl_build *b);
u64 etl_build_clock_hz(const etl_build *b);
u32 etl_build_pointer_bytes(const etl_build *b);

/* start_ticks plus that many nanoseconds, rounded down. */
i64 etl_build_ticks_at(const etl_build *b, u64 ns);

/*
 * Loses the buffer the CPU is filling, as a session does when the disk is too
 * slow: its records vanish, its sequence number is missing, and the log-file
 * header reports one buffer and that many events. In ETL_BUILD_SORTED order the
 * records that are earlier than `ticks` are placed first.
 */
void etl_build_lose_buffer(etl_build *b, i64 ticks, u32 cpu);

/* --- when and who ---------------------------------------------------------- */

/* Header kind of a record. The default of each event is what Windows writes. */
typedef enum etl_build_header {
    ETL_BUILD_HEADER_DEFAULT,
    ETL_BUILD_HEADER_SYSTEM,   /* 32 bytes: tid, pid, CPU times */
    ETL_BUILD_HEADER_COMPACT,  /* 24 bytes: tid, pid */
    ETL_BUILD_HEADER_PERFINFO, /* 16 bytes: neither */
    ETL_BUILD_HEADER_FULL,     /* 48 bytes: classic, class GUID of the hook's group */
    ETL_BUILD_HEADER_INSTANCE  /* 72 bytes: classic with instance ids */
} etl_build_header;

/* A version to write in place of the event's usual one; 0 is one too. */
#define ETL_BUILD_VERSION(n) ((u16)(0x100u | (n)))

/* Time, place and freer of a record. pid and tid are those of the header. */
typedef struct etl_build_at {
    i64 ticks;
    u32 cpu;
    u32 pid;
    u32 tid;
    u8 pointer_bytes; /* of this record's payload, 4 for a WOW64 process [options'] */
    u8 header;        /* etl_build_header */
    u16 version;      /* ETL_BUILD_VERSION(n) [the newest layout we know] */
} etl_build_at;

/* --- any record -------------------------------------------------------------- */

/* The 16 bytes of "b3e675d7-2554-4f18-830b-2762732560de" as a file has them. */
void etl_build_guid(const char *text, u8 out[16]);

/* A record with a hook id (or, with a full header, the hook's class GUID). */
void etl_build_hook(etl_build *b, etl_build_at at, u16 hook, const void *payload, size_t size);

/* The same with the counters a version word can announce: one PEBS index, then
 * up to seven performance counters, between header and payload. */
typedef struct etl_build_counters {
    bool pebs;
    u8 count;      /* 0 to 7 */
    u64 values[8]; /* the PEBS index first when there is one */
    const void *payload;
    size_t payload_size;
} etl_build_counters;

void etl_build_hook_counters(etl_build *b, etl_build_at at, u16 hook,
                             const etl_build_counters *counters);

/* A classic record (full header, or instance when `at` says so) of any class. */
typedef struct etl_build_classic {
    u8 guid[16];
    u8 opcode;
    u8 level;
    u16 version;
    const void *payload;
    size_t payload_size;
} etl_build_classic;

void etl_build_classic_event(etl_build *b, etl_build_at at, const etl_build_classic *event);

/* An extended item of an EVENT record, as it lies on disk without its header. */
typedef struct etl_build_item {
    u16 type; /* 1 related activity, 5/6 stack of 4/8-byte frames, 0x12 stack key, ... */
    const void *data;
    size_t size;
} etl_build_item;

typedef struct etl_build_manifest {
    u8 provider[16];
    u16 id;
    u8 version, channel, level, opcode;
    u16 task;
    u64 keyword;
    const etl_build_item *items;
    u32 item_count;
    const void *payload;
    size_t payload_size;
} etl_build_manifest;

/* A manifest event (80-byte header) with its extended items. */
void etl_build_event(etl_build *b, etl_build_at at, const etl_build_manifest *event);

/* A WPP message; `parts` are the option flags of the format and decide which of
 * sequence, GUID (or component), time and tid/pid are written. */
typedef struct etl_build_wpp {
    u16 number;
    u16 parts;
    u32 sequence;
    u8 guid[16];
    const void *payload;
    size_t payload_size;
} etl_build_wpp;

void etl_build_message(etl_build *b, etl_build_at at, const etl_build_wpp *message);

/* Exactly these bytes as a record; at.ticks and at.cpu say where it lies. The
 * bytes may be anything, padding to 8 is added. */
void etl_build_raw(etl_build *b, etl_build_at at, const void *record, size_t size);

/* --- heap ---------------------------------------------------------------------- */

void etl_build_heap_create(etl_build *b, etl_build_at at, u64 heap);
void etl_build_heap_alloc(etl_build *b, etl_build_at at, u64 heap, u64 address, u64 size);
void etl_build_heap_free(etl_build *b, etl_build_at at, u64 heap, u64 address);
void etl_build_heap_destroy(etl_build *b, etl_build_at at, u64 heap);

typedef struct etl_build_realloc {
    u64 new_address;
    u64 old_address; /* equal to new_address, or 0: in place */
    u64 new_size;
    u64 old_size;
} etl_build_realloc;

/* The ReAlloc record alone; a moving realloc is Alloc, Free, ReAlloc. */
void etl_build_heap_realloc(etl_build *b, etl_build_at at, u64 heap,
                            const etl_build_realloc *change);

/* What a record says of the whole heap. */
typedef struct etl_build_heap_sizes {
    u64 committed;
    u64 reserved;
} etl_build_heap_sizes;

/* What Create says: [0x2000 committed, 0x100000 reserved]. */
void etl_build_heap_create_of(etl_build *b, etl_build_at at, u64 heap, etl_build_heap_sizes sizes);

/* Memory committed to the heap, or taken from it. */
void etl_build_heap_expand(etl_build *b, etl_build_at at, u64 heap, u64 address, u64 size);
void etl_build_heap_contract(etl_build *b, etl_build_at at, u64 heap, u64 address, u64 size);

/* The same (0x25, 0x2A), with what the heap then has in all. */
typedef struct etl_build_heap_extent {
    u64 heap;
    u64 address;
    u64 size;
    etl_build_heap_sizes sizes;
} etl_build_heap_extent;

void etl_build_heap_resize(etl_build *b, etl_build_at at, u8 type,
                           const etl_build_heap_extent *extent);

/* Totals of a heap; the owner is in the payload. */
void etl_build_heap_snapshot(etl_build *b, etl_build_at at, u64 heap, u32 owner_pid,
                             u64 committed_bytes);

/* Heap/Lock (0x2B) ... Heap/SubsegmentReuseThreshold (0x3A) and the snapshot
 * variants 0x27-0x29: the handle, then zeros to the length the type has. */
void etl_build_heap_other(etl_build *b, etl_build_at at, u8 type, u64 heap);

typedef struct etl_build_range {
    u64 address;
    u64 size;
} etl_build_range;

/* Heap ranges: rundown of a process (at.pid is the owner in the payload), and
 * one range made (0x65), reserved (0x66), released (0x67) or gone (0x68). */
void etl_build_heap_range_rundown(etl_build *b, etl_build_at at, u64 heap,
                                  const etl_build_range *ranges, u32 count);
void etl_build_heap_range(etl_build *b, etl_build_at at, u8 type, u64 heap, etl_build_range range);

/* --- virtual memory ------------------------------------------------------------ */

#define ETL_BUILD_COMMIT      0x1000u
#define ETL_BUILD_RESERVE     0x2000u
#define ETL_BUILD_DECOMMIT    0x4000u
#define ETL_BUILD_RELEASE     0x8000u
#define ETL_BUILD_RESET       0x80000u
#define ETL_BUILD_LARGE_PAGES 0x20000000u

/* The process owning the addresses is at.pid. */
void etl_build_virtual_alloc(etl_build *b, etl_build_at at, u64 base, u64 size, u32 flags);
void etl_build_virtual_free(etl_build *b, etl_build_at at, u64 base, u64 size, u32 flags);

/* Every field at will; hook 0x0262, 0x0263, or the rundowns 0x0280 and 0x0281. */
typedef struct etl_build_virtual_spec {
    u16 hook;
    u64 base;
    u64 size;
    u32 flags;
    u32 owner_pid;
    u64 commit_bytes; /* rundowns only */
} etl_build_virtual_spec;

void etl_build_virtual(etl_build *b, etl_build_at at, const etl_build_virtual_spec *spec);

/* Page counts as the system lists them: 22 in the first layout, more since. */
void etl_build_meminfo(etl_build *b, etl_build_at at, const u64 *values, u32 count);

typedef struct etl_build_working_set {
    u32 pid;
    u64 working_set_pages;
    u64 commit_pages;
    u64 virtual_pages;
    u64 private_pages;
} etl_build_working_set;

void etl_build_meminfo_ws(etl_build *b, etl_build_at at, const etl_build_working_set *rows,
                          u32 count);

/* --- processes, threads, images -------------------------------------------------- */

/* Type bytes shared by process, thread and image records. */
#define ETL_BUILD_START   1u  /* image: load */
#define ETL_BUILD_END     2u  /* image: unload */
#define ETL_BUILD_DCSTART 3u  /* rundown when the session starts */
#define ETL_BUILD_DCEND   4u  /* rundown when it stops */
#define ETL_BUILD_DEFUNCT 39u /* process only */

typedef struct etl_build_process_spec {
    u32 pid;
    u32 parent_pid;
    u32 session_id;
    i32 exit_status;
    bool wow64;
    bool no_sid;              /* the user SID block is its short, empty form */
    const char *name;         /* "app.exe" */
    const char *command_line; /* NULL: empty */
} etl_build_process_spec;

/* Versions 0 to 4 (5 for DEFUNCT). */
void etl_build_process(etl_build *b, etl_build_at at, u8 type, const etl_build_process_spec *spec);
void etl_build_process_terminate(etl_build *b, etl_build_at at, u32 pid);

typedef struct etl_build_thread_spec {
    u32 pid;
    u32 tid;
    u64 start_address;
    const char *name; /* NULL: the older layout without a name */
} etl_build_thread_spec;

/* Versions 0 to 4. */
void etl_build_thread(etl_build *b, etl_build_at at, u8 type, const etl_build_thread_spec *spec);
void etl_build_thread_name(etl_build *b, etl_build_at at, const etl_build_thread_spec *spec);

typedef struct etl_build_image_spec {
    u32 pid; /* 0: kernel image */
    u64 base;
    u64 size;
    u32 checksum;
    u32 time_date_stamp;
    const char *path; /* NT path, "\\Device\\HarddiskVolume3\\app.exe" */
} etl_build_image_spec;

/* Versions 0 to 3. Loads are hook 0x030A, or with a full header the image class. */
void etl_build_image(etl_build *b, etl_build_at at, u8 type, const etl_build_image_spec *spec);
void etl_build_kernel_base(etl_build *b, etl_build_at at, u64 base);

typedef struct etl_build_pdb_spec {
    u8 guid[16];
    u32 age;
    const char *name; /* "app.pdb"; NULL: the image has no debug record */
    bool il;          /* a managed PDB (type 0x25) beside the native one */
} etl_build_pdb_spec;

/*
 * What a merge injects before an image record, with exactly its time: file
 * version, image id, and the PDB's identity. pdb may be NULL (image id alone).
 */
void etl_build_image_id(etl_build *b, etl_build_at at, const etl_build_image_spec *image,
                        const etl_build_pdb_spec *pdb);

/* --- .NET ---------------------------------------------------------------------------- */

#define ETL_BUILD_METHOD_LOAD     143u /* of rundowns: at the start */
#define ETL_BUILD_METHOD_UNLOAD   144u /* of rundowns: at the end */
#define ETL_BUILD_ASSEMBLY_LOAD   152u
#define ETL_BUILD_ASSEMBLY_DCSTOP 154u /* of rundowns */

typedef struct etl_build_method_spec {
    u64 module_id;
    u64 start;
    u32 size;
    u64 rejit_id;
    const char *name_space, *name;
} etl_build_method_spec;

/* Of the process at.pid. */
void etl_build_method(etl_build *b, etl_build_at at, u16 id, bool is_rundown,
                      const etl_build_method_spec *spec);
void etl_build_assembly(etl_build *b, etl_build_at at, u16 id, bool is_rundown, u64 module_id,
                        const char *il_path);

/* --- the system -------------------------------------------------------------------- */

typedef struct etl_build_cpu_spec {
    u32 mhz;
    u32 memory_mib;
    const char *computer_name;
    const char *domain_name; /* NULL: empty */
} etl_build_cpu_spec;

void etl_build_config_cpu(etl_build *b, etl_build_at at, const etl_build_cpu_spec *spec);

/* Manufacturer, product, BIOS date and BIOS version, in this order. */
void etl_build_config_platform(etl_build *b, etl_build_at at, const char *const texts[4]);

/* version: major, minor, build, revision. */
void etl_build_device_family(etl_build *b, etl_build_at at, const u16 version[4]);

/* Injected by merges: build lab and product, system directories, volumes. */
void etl_build_build_info(etl_build *b, etl_build_at at, const char *lab, const char *product);
void etl_build_system_paths(etl_build *b, etl_build_at at, const char *system, const char *windows);
void etl_build_volume(etl_build *b, etl_build_at at, const char *nt_path, const char *dos_path);

/* 32 event, 33 buffer, 34 file lost by a real-time session. */
void etl_build_lost_event(etl_build *b, etl_build_at at, u8 type);
void etl_build_mark(etl_build *b, etl_build_at at, const char *text);

/* --- stacks -------------------------------------------------------------------------- */

typedef enum etl_build_stack_form {
    ETL_BUILD_STACK_DEFAULT, /* keyed when the options say so and a half has 4 or more frames */
    ETL_BUILD_STACK_INLINE,  /* each half is a 0x1820 record of its own */
    ETL_BUILD_STACK_MIXED,   /* one 0x1820 record, kernel frames then user frames */
    ETL_BUILD_STACK_KEYED
} etl_build_stack_form;

/*
 * The stack of one event. Frames are innermost first. The user half is written
 * after the kernel half, possibly much later and on another CPU. A half without
 * frames is not written. A user half stands for all kernel halves of the thread
 * that wait for one, so several events share it when only the last has frames.
 */
typedef struct etl_build_stack {
    const u64 *kernel;
    u32 kernel_count;
    const u64 *user;
    u32 user_count;
    u8 form;               /* etl_build_stack_form */
    bool user_cpu_differs; /* the user half is written on user_cpu */
    u32 user_cpu;
    i64 delay_ticks;      /* first half after the event [13] */
    i64 user_delay_ticks; /* user half after the event, when there are two [delay + 106] */
} etl_build_stack;

/* `at` is the event's: its time, thread and CPU are what the records refer to. */
void etl_build_stack_walk(etl_build *b, etl_build_at at, const etl_build_stack *stack);

/* One record each, nothing automatic; `at` is the stack record's own. The pid
 * and tid in the payload are at.pid and at.tid. Frames have 8 bytes, or 4 with
 * at.pointer_bytes == 4. hook: 0x1825 kernel or 0x1826 user; 0x1822, 0x1823 or
 * 0x1824 for a definition. */
void etl_build_stack_inline(etl_build *b, etl_build_at at, i64 event_ticks, const u64 *frames,
                            u32 count);
void etl_build_stack_key(etl_build *b, etl_build_at at, u16 hook, i64 event_ticks, u64 key);
void etl_build_stack_definition(etl_build *b, etl_build_at at, u16 hook, u64 key,
                                const etl_build_stack *frames);

/* --- breaking one field ------------------------------------------------------------- */

/*
 * X(name, scope): what `index` counts. BUFFER: buffers in file order, the first
 * header buffer is 0. RECORD: records in the order in which they were placed
 * into buffers, the first log-file header is 0. SESSION: log-file headers.
 * FILE: ignored.
 */
#define ETL_BUILD_BREAKS(X)                                                                        \
    X(BUFFER_SIZE, BUFFER)                                                                         \
    X(BUFFER_SAVED_OFFSET, BUFFER)                                                                 \
    X(BUFFER_CURRENT_OFFSET, BUFFER)                                                               \
    X(BUFFER_REFERENCE_COUNT, BUFFER)                                                              \
    X(BUFFER_TIMESTAMP, BUFFER)                                                                    \
    X(BUFFER_SEQUENCE, BUFFER)                                                                     \
    X(BUFFER_CPU, BUFFER)                                                                          \
    X(BUFFER_LOGGER_ID, BUFFER)                                                                    \
    X(BUFFER_STATE, BUFFER)                                                                        \
    X(BUFFER_OFFSET, BUFFER)                                                                       \
    X(BUFFER_FLAGS, BUFFER)                                                                        \
    X(BUFFER_TYPE, BUFFER)                                                                         \
    X(BUFFER_BYTE, BUFFER)     /* value ETL_BUILD_BYTE(offset in the file's buffer, byte) */       \
    X(COMPRESSED_BYTE, BUFFER) /* value ETL_BUILD_BYTE(offset in the compressed stream, byte) */   \
    X(COMPRESSED_CUT, BUFFER)  /* shortens the stream, and BufferSize with it, by value bytes */   \
    X(BUFFER_DROP, BUFFER)     /* leaves it out: only its sequence number tells */                 \
    X(RECORD_SIZE, RECORD)                                                                         \
    X(RECORD_TYPE, RECORD)    /* the header type byte */                                           \
    X(RECORD_MARKER, RECORD)  /* the marker's flag byte, 0xC0 */                                   \
    X(RECORD_HOOK, RECORD)    /* system, compact and perfinfo headers */                           \
    X(RECORD_VERSION, RECORD) /* the same */                                                       \
    X(RECORD_TICKS, RECORD)   /* all but messages */                                               \
    X(RECORD_BYTE, RECORD)    /* value ETL_BUILD_BYTE(offset in the record, byte) */               \
    X(RECORD_CUT, RECORD)     /* shortens the record, size field too, by value bytes */            \
    X(SESSION_BUFFER_SIZE, SESSION)                                                                \
    X(SESSION_CPU_COUNT, SESSION)                                                                  \
    X(SESSION_END_TIME, SESSION)                                                                   \
    X(SESSION_LOG_FILE_MODE, SESSION)                                                              \
    X(SESSION_BUFFERS_WRITTEN, SESSION)                                                            \
    X(SESSION_POINTER_SIZE, SESSION)                                                               \
    X(SESSION_EVENTS_LOST, SESSION)                                                                \
    X(SESSION_CPU_MHZ, SESSION)                                                                    \
    X(SESSION_FREQUENCY, SESSION)                                                                  \
    X(SESSION_START_TIME, SESSION)                                                                 \
    X(SESSION_CLOCK, SESSION)                                                                      \
    X(SESSION_BUFFERS_LOST, SESSION)                                                               \
    X(FILE_CUT, FILE)     /* removes value bytes at the end */                                     \
    X(FILE_ZEROS, FILE)   /* appends value zero bytes */                                           \
    X(FILE_GARBAGE, FILE) /* appends value bytes 0xA5 */

typedef enum etl_build_field {
#define ETL_BUILD_BREAK_ENUM(name, scope) ETL_BREAK_##name,
    ETL_BUILD_BREAKS(ETL_BUILD_BREAK_ENUM)
#undef ETL_BUILD_BREAK_ENUM
        ETL_BREAK_COUNT
} etl_build_field;

#define ETL_BUILD_BYTE(offset, byte) ((u64)(offset) << 8 | (u8)(byte))

/*
 * Replaces one field, everything else stays as it would be. To be called before
 * the buffer or record is written; simplest right after etl_build_new(). Up to
 * 64 of them. One that found nothing to break makes etl_build_finish() fail, so
 * a test cannot pass for the wrong reason.
 */
void etl_build_break(etl_build *b, etl_build_field field, u64 index, u64 value);

/* "RECORD_SIZE", for tools that break fields by name. */
const char *etl_build_field_name(etl_build_field field);

#endif
