/*
 * layout.h - the container and the record headers on disk.
 *
 * Every fact that the reader relies on is here, with its source. The payloads of
 * events are in layout_events.h. All integers are little endian, nothing is
 * aligned, GUIDs are u32, u16, u16 little endian and then 8 raw bytes, and
 * strings are UTF-16LE.
 *
 * Sources, by the short names used below:
 *   phnt  phnt/include/ntwmi.h of System Informer
 *   SDK   evntrace.h, evntcons.h, wmistr.h of the Windows SDK
 *   GC    Geoff Chappell's pages on ntwmi.h, evntrace.h and evntcons.h
 *   XCA   [MS-XCA] Xpress Compression Algorithm
 *   seen  read from real files: 29 with 724 buffers and 304,888 records
 */
#ifndef ETL_LAYOUT_H
#define ETL_LAYOUT_H

#include "parser/base.h"

/*
 * A file is a sequence of buffers, with nothing before, between or after them.
 * The next one begins BufferSize bytes after this one, an odd number in compressed
 * files. WMI_BUFFER_HEADER, the same for 32-bit and 64-bit systems since Vista:
 *
 *   +0x00  u32  BufferSize       bytes of this buffer in the file, header included
 *   +0x04  u32  SavedOffset      stale in header buffers; not read
 *   +0x08  u32  CurrentOffset    position of the writer; not read
 *   +0x0c  i32  ReferenceCount   0 in every file seen
 *   +0x10  i64  TimeStamp        when it was flushed: in the session's clock, in merged files the
 *                                wall time of the merge, in header buffers 0
 *   +0x18  i64  SequenceNumber   order in which buffers were begun
 *   +0x20  u64  (kernel pointer or garbage; not read)
 *   +0x28  u16  ProcessorIndex   with ETL_BUFFER_PROC_INDEX, else a u8 and an alignment
 *   +0x2a  u16  LoggerId         0 in merged files; not read
 *   +0x2c  u32  State            in header buffers the compression format (low byte)
 *   +0x30  u32  Offset           valid bytes with the header, before compression
 *   +0x34  u16  BufferFlag
 *   +0x36  u16  BufferType
 *   +0x38  16 bytes              (pointers, or the clock of a REFTIME buffer; not read)
 *
 * Source: phnt, GC; seen in all files. Seen, too: the valid end is Offset and not one
 * of its neighbours, because SavedOffset is stale in header buffers that were appended to.
 */
#define ETL_BUFFER_HEADER_BYTES 72u

/* BufferFlag. Source: phnt, GC; FLUSH_MARKER, PROC_INDEX and COMPRESSED seen. */
#define ETL_BUFFER_FLUSH_MARKER     0x0001u /* last buffer of a flush */
#define ETL_BUFFER_EVENTS_LOST      0x0002u /* not set in some files that lost events */
#define ETL_BUFFER_BUFFER_LOST      0x0004u
#define ETL_BUFFER_RTBACKUP_CORRUPT 0x0008u
#define ETL_BUFFER_RTBACKUP         0x0010u
#define ETL_BUFFER_PROC_INDEX       0x0020u /* 16-bit processor index (Windows 8 and later) */
#define ETL_BUFFER_COMPRESSED       0x0040u /* everything after the header is one XPRESS stream */
#define ETL_BUFFER_FLAGS_KNOWN      0x007fu

/* BufferType. Source: phnt; only GENERIC and HEADER seen. */
#define ETL_BUFFER_TYPE_GENERIC      0u
#define ETL_BUFFER_TYPE_RUNDOWN      1u
#define ETL_BUFFER_TYPE_CTX_SWAP     2u
#define ETL_BUFFER_TYPE_REFTIME      3u /* a clock reference in the header, no records */
#define ETL_BUFFER_TYPE_HEADER       4u /* begins with a log-file header */
#define ETL_BUFFER_TYPE_BATCHED      5u
#define ETL_BUFFER_TYPE_EMPTY_MARKER 6u
#define ETL_BUFFER_TYPE_DBG_INFO     7u
#define ETL_BUFFER_TYPE_COUNT        8u

/* The largest number of processors in Windows. Source: phnt. */
#define ETL_CPU_COUNT_MAX  2048u
#define ETL_CPU_INDEX_MASK 0x07ffu

/*
 * Compression format: the low byte of State in the header buffer holds a
 * COMPRESSION_FORMAT of ntifs.h. Source: another reader ("snail"); seen 3 in
 * all compressed files, but also in plain ones where it is the flush state, and
 * 0 in plain files of another writer. So only 2 and 4 are trusted without a check.
 */
#define ETL_COMPRESSION_LZNT1       2u
#define ETL_COMPRESSION_XPRESS      3u
#define ETL_COMPRESSION_XPRESS_HUFF 4u

/* Buffers are 16 MiB at most since Windows 8 (phnt); the rest is headroom. */
#define ETL_BUFFER_BYTES_MAX_DEFAULT ((u32)(16 * ETL_MIB + 64 * ETL_KIB))

/* Merges make new buffers of 64 KiB, whatever size the header states (seen). */
#define ETL_BUFFER_VALID_MAX_LEAST ((u32)(64 * ETL_KIB))

/*
 * Records begin at +72, each at a multiple of 8, and never span buffers. The
 * first 8 bytes of all kinds:
 *
 *   +0  u16  size, or version word (hook kinds: SYSTEM, COMPACT, PERFINFO)
 *   +2  u8   header type, ETL_TYPE_*
 *   +3  u8   marker: 0xc0, or 0x90 for a WPP message
 *   +4  u16  size of the hook kinds
 *   +6  u16  hook id of the hook kinds: group << 8 | type
 *
 * The size counts header, extended items and payload but not the padding to the
 * next multiple of 8, which is not zeroed. After the last record, the next 4
 * bytes are all ones or zero. Source: phnt, GC; seen in all files.
 */
#define ETL_RECORD_ALIGNMENT    8u
#define ETL_RECORD_PREFIX_BYTES 8u
#define ETL_RECORD_PADDING      0xffffffffu

#define ETL_MARKER_TRACE   0x80u /* set in every record */
#define ETL_MARKER_EVENT   0xc0u /* both bits: the type byte tells the kind */
#define ETL_MARKER_MESSAGE 0x90u

/* Header types. Source: phnt, GC. Seen: 1, 2, 10, 17, 18, 19, 20. */
#define ETL_TYPE_SYSTEM32   0x01u
#define ETL_TYPE_SYSTEM64   0x02u
#define ETL_TYPE_COMPACT32  0x03u
#define ETL_TYPE_COMPACT64  0x04u
#define ETL_TYPE_FULL32     0x0au
#define ETL_TYPE_INSTANCE32 0x0bu
#define ETL_TYPE_ERROR      0x0du
#define ETL_TYPE_PERFINFO32 0x10u
#define ETL_TYPE_PERFINFO64 0x11u
#define ETL_TYPE_EVENT32    0x12u
#define ETL_TYPE_EVENT64    0x13u
#define ETL_TYPE_FULL64     0x14u
#define ETL_TYPE_INSTANCE64 0x15u
#define ETL_TYPE_LIMIT      0x16u

/*
 * SYSTEM    +8 u32 tid, +0c u32 pid, +10 i64 time, +18 u32 kernel, +1c u32 user
 * COMPACT   +8 u32 tid, +0c u32 pid, +10 i64 time
 * PERFINFO  +8 i64 time
 * FULL      +4 u8 opcode, +5 u8 level, +6 u16 version, +8 u32 tid, +0c u32 pid,
 *           +10 i64 time, +18 GUID class, +28 u32 kernel, +2c u32 user
 * INSTANCE  as FULL, then +30 u32 id, +34 u32 parent id, +38 GUID parent; before
 *           Windows 5.2 it ended at 56 and had a handle in place of the GUID
 * EVENT     +4 u16 flags, +6 u16 property, +8 u32 tid, +0c u32 pid, +10 i64 time,
 *           +18 GUID provider, +28 u16 id, +2a u8 version, +2b u8 channel,
 *           +2c u8 level, +2d u8 opcode, +2e u16 task, +30 u64 keyword,
 *           +38 u32 kernel, +3c u32 user, +40 GUID activity
 * ERROR     shaped as EVENT
 *
 * Source: phnt, SDK, GC; SYSTEM, PERFINFO, FULL and EVENT seen.
 */
#define ETL_SYSTEM_BYTES       32u
#define ETL_COMPACT_BYTES      24u
#define ETL_PERFINFO_BYTES     16u
#define ETL_FULL_BYTES         48u
#define ETL_INSTANCE_BYTES     72u
#define ETL_INSTANCE_OLD_BYTES 56u
#define ETL_EVENT_BYTES        80u
#define ETL_GUID_BYTES         16u

/*
 * The version word of the hook kinds: the low byte is the version of the
 * payload, the high byte announces extra u64 words between header and payload
 * (one PEBS index, up to 7 PMC counters). Source: GC, phnt; not seen.
 */
#define ETL_VERSION_MASK      0x00ffu
#define ETL_VERSION_PEBS      0x8000u
#define ETL_VERSION_PMC_COUNT 0x0700u
#define ETL_VERSION_PMC_SHIFT 8u
#define ETL_VERSION_EXTRA     (ETL_VERSION_PEBS | ETL_VERSION_PMC_COUNT)
#define ETL_EXTRA_WORD_BYTES  8u

/* EVENT flags: the only bit that has a meaning on disk. Seen: 0 and 1. */
#define ETL_EVENT_EXTENDED 0x0001u

/*
 * Extended items follow the EVENT header when ETL_EVENT_EXTENDED is set:
 *
 *   +0  u16  item size with these 8 bytes, a multiple of 8: the step to the next
 *   +2  u16  type
 *   +4  u16  bit 0: another item follows
 *   +6  u16  size of the data without padding
 *   +8       data
 *
 * Source: seen in 1,859 events; the SDK describes another form, which the
 * Windows reader makes of it.
 */
#define ETL_ITEM_HEADER_BYTES 8u
#define ETL_ITEM_MORE         0x0001u

/* Types. Source: SDK evntcons.h; 1, 6, 0xb and 0xc seen. */
#define ETL_ITEM_RELATED_ACTIVITY  0x01u /* GUID */
#define ETL_ITEM_SID               0x02u
#define ETL_ITEM_TS_ID             0x03u /* u32 terminal session */
#define ETL_ITEM_INSTANCE          0x04u
#define ETL_ITEM_STACK32           0x05u /* u64 match id, u32 addresses */
#define ETL_ITEM_STACK64           0x06u /* u64 match id, u64 addresses; also on EVENT32 */
#define ETL_ITEM_PEBS_INDEX        0x07u
#define ETL_ITEM_PMC_COUNTERS      0x08u
#define ETL_ITEM_PSM_KEY           0x09u
#define ETL_ITEM_EVENT_KEY         0x0au
#define ETL_ITEM_SCHEMA_TL         0x0bu /* TraceLogging description of the event */
#define ETL_ITEM_PROVIDER_TRAITS   0x0cu
#define ETL_ITEM_PROCESS_START_KEY 0x0du
#define ETL_ITEM_CONTROL_GUID      0x0eu
#define ETL_ITEM_QPC_DELTA         0x0fu
#define ETL_ITEM_CONTAINER_ID      0x10u
#define ETL_ITEM_STACK_KEY32       0x11u /* u64 match id, u32 key, u32 padding */
#define ETL_ITEM_STACK_KEY64       0x12u /* u64 match id, u64 key */

/*
 * MESSAGE (WPP): u16 size, u8 0, u8 0x90, u16 message number, u16 flags, then
 * the announced parts, packed, in the order of this list. If both are
 * announced, the component id wins over the GUID. Source: SDK (TRACE_MESSAGE_*), GC; seen
 * 16 records with flags 0x00aa.
 */
#define ETL_MESSAGE_SEQUENCE  0x0001u /* u32 */
#define ETL_MESSAGE_COMPONENT 0x0004u /* u32 */
#define ETL_MESSAGE_GUID      0x0002u
#define ETL_MESSAGE_TIME      0x0008u /* i64, rarely aligned */
#define ETL_MESSAGE_IDS       0x0020u /* u32 tid, u32 pid */
#define ETL_MESSAGE_POINTER32 0x0040u
#define ETL_MESSAGE_POINTER64 0x0080u

/*
 * The log-file header is the payload of the first record of a HEADER buffer, a
 * SYSTEM record with hook 0x0000. Its header type, not PointerSize, decides which
 * of the two layouts it has:
 *
 *   +0x00  u32  BufferSize in bytes      +0x28  u32  StartBuffers
 *   +0x04  u8   MajorVersion             +0x2c  u32  PointerSize
 *   +0x05  u8   MinorVersion             +0x30  u32  EventsLost
 *   +0x06  u8   SubVersion  (layout)     +0x34  u32  CpuSpeedInMHz
 *   +0x07  u8   SubMinorVersion          +0x38  ptr  LoggerName  (an enum, no name)
 *   +0x08  u32  ProviderVersion (build)         ptr  LogFileName (likewise)
 *   +0x0c  u32  NumberOfProcessors              172  TIME_ZONE_INFORMATION
 *   +0x10  u64  EndTime                         4    padding
 *   +0x18  u32  TimerResolution                 u64  BootTime
 *   +0x1c  u32  MaximumFileSize                 u64  PerfFreq
 *   +0x20  u32  LogFileMode                     u64  StartTime
 *   +0x24  u32  BuffersWritten                  u32  ReservedFlags (clock type)
 *                                               u32  BuffersLost
 *
 * Two strings with NULs follow: the session's name and the file's. Source: SDK
 * TRACE_LOGFILE_HEADER, GC; seen in all files, both layouts.
 */
#define ETL_HOOK_LOG_FILE_HEADER 0x0000u
#define ETL_LOG_HEADER32_BYTES   0x110u
#define ETL_LOG_HEADER64_BYTES   0x118u
#define ETL_TIME_ZONE_BYTES      172u

/* The version word of the header record: 2 since Vista, 1 before. Source: GC. */
#define ETL_LOG_HEADER_VERSION 2u
#define ETL_OS_MAJOR_MIN       6u

/* ReservedFlags. Source: GC; 1 and 2 seen. */
#define ETL_CLOCK_TYPE_QPC         1u
#define ETL_CLOCK_TYPE_SYSTEM_TIME 2u
#define ETL_CLOCK_TYPE_CPU_CYCLES  3u

/* BuffersWritten is the number of buffers in the file, the header's included:
 * observed in all 27 closed samples, among them two circular files that had not
 * wrapped. 0 if the session was not closed. */

/* LogFileMode. Source: SDK; the others do not matter to a reader. */
#define ETL_MODE_CIRCULAR                   0x2u
#define ETL_MODE_BUFFERING                  0x400u   /* a ring in memory, written on demand */
#define ETL_MODE_RELOG                      0x10000u /* merged or written again by a tool */
#define ETL_MODE_NO_PER_PROCESSOR_BUFFERING 0x10000000u

#endif
