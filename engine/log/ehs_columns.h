/*
 * ehs_columns.h - the tables and columns of a store (.ehs).
 *
 * The id of a column is in the file and never changes its meaning: kind << 16 | table << 8 |
 * number. New columns get new ids, and a reader skips ids that it does not know. A missing column
 * was not recorded:
 *
 *     every column of a table    the table has no rows
 *     an optional column         questions that need it are refused (EHS_WANT_OPTIONAL)
 *     any other column           the file is damaged
 */
#ifndef ETLHEAP_EHS_COLUMNS_H
#define ETLHEAP_EHS_COLUMNS_H

#include "ehs_codec.h"

/* The number of values in one block of a column; text has up to EHS_COLUMN_BYTES_MAX bytes. */
#define EHS_PART_ROWS 65536u

static_assert(EHS_PART_ROWS * sizeof(u64) <= EHS_COLUMN_BYTES_MAX, "a part is one block");

/*
 * X(enumerator, number, "name"): kinds of memory, which never mix.
 *
 *     HEAP             tables 1 to 6
 *     RANGE, EXTENT    rows of life; their kind is its number
 *     RESERVE          rows of life, one per reservation, or part of one
 *     CUSTOM           rows of life; a block that is freed in parts has one per part
 *     HANDLE, POOL,    rows of life
 *     MAPPED, SECTION
 *
 * Tables 1 to 6 of a kind have the columns of those for heap blocks: 0x060104 is for pool blocks
 * what heap.origin, 0x0104, is for heap blocks (ehs_kind_column).
 */
#define EHS_KINDS(X)                                                                               \
    X(HEAP, 0, "heap")                                                                             \
    X(RANGE, 1, "virtualalloc")                                                                    \
    X(EXTENT, 2, "extent")                                                                         \
    X(RESERVE, 3, "reserve")                                                                       \
    X(CUSTOM, 4, "custom")                                                                         \
    X(HANDLE, 5, "handle")                                                                         \
    X(POOL, 6, "pool")                                                                             \
    X(MAPPED, 7, "mapped")                                                                         \
    X(SECTION, 8, "section")

#define EHS_KINDS_END 16u /* kinds are below it */

typedef enum ehs_kind {
#define EHS_KIND_ENUM(name, number, word) EHS_KIND_##name = (number),
    EHS_KINDS(EHS_KIND_ENUM)
#undef EHS_KIND_ENUM
} ehs_kind;

/*
 * X(enumerator, id, "table.column", layout, transform, value bytes)
 *
 *     heap         events in time order, in parts of EHS_PART_ROWS. is_end tells ends from
 *                  allocations. Columns origin to is_realloc have a row per allocation, back to
 *                  freer_thread one per end. freer is a row of table freer, 0: none; freer_thread
 *                  is the thread that ended the block. address, thread, freer and freer_thread are
 *                  optional.
 *     segment      one row per part of heap
 *     checkpoint   one row per set of blocks that are open before a segment; its rows are in
 *                  parts of open
 *     origin       row n - 1 is the meaning of n in heap.origin and open.origin: the stack, the
 *                  owner, and the thread of blocks without one
 *     origin_sum   row n - 1 has the numbers and bytes of all blocks of origin n, by how they
 *                  ended
 *     owner        row n - 1 is owner n: a heap, as long as its process has the same modules
 *     heap_handle  row n - 1 is heap n: a handle in a process
 *     freer        row n - 1 is freer n: the stack that freed, and the owner of the memory
 *     life         lifetimes of other kinds than heap. Stacks and processes may have been written
 *                  before they were final: ref has the meaning of a stack number, and its thread;
 *                  row n - 1 of instance is process n. Numbers in neither table are final. Rows of
 *                  unknown kinds are skipped.
 *     unmatched    frees of heap blocks whose allocation was not recorded, in time order; those of
 *                  other kinds are rows of life (EHS_LIFE_UNMATCHED)
 *     mark         marks in time order; process is planned
 *     string       all text, each string with a NUL; columns of text hold the number of a string,
 *                  from 1, or 0 for the empty one
 *     place        (build, offset) whose function the store itself names, ascending; its calls are
 *                  the next rows of call, innermost first
 *     build        a module, and the result of looking for its symbols
 *     anonymised   one row, if names are keyed words
 *     trace        one row
 *     frame        distinct addresses
 *     stack        stacks as differences, see ehs_stacks.h
 *     foreign      stacks with addresses of another process than the memory's owner, and a moment
 *                  at which they are to be looked up; their ids are the last ones
 */
#define EHS_COLUMNS(X)                                                                             \
    X(HEAP_IS_END, 0x0101, "heap.is_end", BITS, NONE, 1)                                           \
    X(HEAP_IS_LATER, 0x0102, "heap.is_later", BITS, NONE, 1)                                       \
    X(HEAP_TICKS, 0x0103, "heap.ticks", PLANES, DELTA, 8)                                          \
    X(HEAP_ORIGIN, 0x0104, "heap.origin", PACKED, NONE, 4)                                         \
    X(HEAP_SIZE, 0x0105, "heap.size", PACKED, NONE, 8)                                             \
    X(HEAP_ADDRESS, 0x0106, "heap.address", PLANES, NONE, 8)                                       \
    X(HEAP_THREAD, 0x0107, "heap.thread", PLANES, NONE, 4)                                         \
    X(HEAP_IS_REALLOC, 0x0108, "heap.is_realloc", BITS, NONE, 1)                                   \
    X(HEAP_BACK, 0x0109, "heap.back", PACKED, NONE, 4)                                             \
    X(HEAP_HOW, 0x010A, "heap.how", PLANES, NONE, 1)                                               \
    X(HEAP_FREER, 0x010B, "heap.freer", PACKED, NONE, 4)                                           \
    X(HEAP_FREER_THREAD, 0x010C, "heap.freer_thread", PLANES, NONE, 4)                             \
    X(SEGMENT_FIRST_TICKS, 0x0201, "segment.first_ticks", PLANES, DELTA, 8)                        \
    X(SEGMENT_LAST_TICKS, 0x0202, "segment.last_ticks", PLANES, DELTA, 8)                          \
    X(SEGMENT_EVENTS, 0x0203, "segment.events", PLANES, NONE, 4)                                   \
    X(SEGMENT_ALLOCS, 0x0204, "segment.allocs", PLANES, NONE, 4)                                   \
    X(SEGMENT_SIZE_MIN, 0x0205, "segment.size_min", PLANES, NONE, 8)                               \
    X(SEGMENT_SIZE_MAX, 0x0206, "segment.size_max", PLANES, NONE, 8)                               \
    X(CHECKPOINT_SEGMENT, 0x0301, "checkpoint.segment", PLANES, NONE, 4)                           \
    X(CHECKPOINT_FIRST_PART, 0x0302, "checkpoint.first_part", PLANES, NONE, 4)                     \
    X(CHECKPOINT_ROWS, 0x0303, "checkpoint.rows", PLANES, NONE, 8)                                 \
    X(OPEN_ORDINAL, 0x0401, "open.ordinal", PACKED, DELTA, 4)                                      \
    X(OPEN_ORIGIN, 0x0402, "open.origin", PACKED, NONE, 4)                                         \
    X(OPEN_SIZE, 0x0403, "open.size", PACKED, NONE, 8)                                             \
    X(OPEN_TICKS, 0x0404, "open.ticks", PLANES, DELTA, 8)                                          \
    X(OPEN_ADDRESS, 0x0405, "open.address", PLANES, NONE, 8)                                       \
    X(OPEN_THREAD, 0x0406, "open.thread", PLANES, NONE, 4)                                         \
    X(OPEN_IS_REALLOC, 0x0407, "open.is_realloc", BITS, NONE, 1)                                   \
    X(ORIGIN_STACK, 0x0501, "origin.stack", PACKED, NONE, 4)                                       \
    X(ORIGIN_OWNER, 0x0502, "origin.owner", PLANES, NONE, 4)                                       \
    X(ORIGIN_THREAD, 0x0503, "origin.thread", PLANES, NONE, 4)                                     \
    X(ORIGIN_FREED_COUNT, 0x0511, "origin_sum.freed_count", PLANES, NONE, 8)                       \
    X(ORIGIN_FREED_SIZE, 0x0512, "origin_sum.freed_size", PLANES, NONE, 8)                         \
    X(ORIGIN_FREED_REALLOCS, 0x0513, "origin_sum.freed_realloc_count", PLANES, NONE, 8)            \
    X(ORIGIN_EXITED_COUNT, 0x0514, "origin_sum.exited_count", PLANES, NONE, 8)                     \
    X(ORIGIN_EXITED_SIZE, 0x0515, "origin_sum.exited_size", PLANES, NONE, 8)                       \
    X(ORIGIN_EXITED_REALLOCS, 0x0516, "origin_sum.exited_realloc_count", PLANES, NONE, 8)          \
    X(ORIGIN_IN_USE_COUNT, 0x0517, "origin_sum.in_use_count", PLANES, NONE, 8)                     \
    X(ORIGIN_IN_USE_SIZE, 0x0518, "origin_sum.in_use_size", PLANES, NONE, 8)                       \
    X(ORIGIN_IN_USE_REALLOCS, 0x0519, "origin_sum.in_use_realloc_count", PLANES, NONE, 8)          \
    X(FREER_STACK, 0x0521, "freer.stack", PACKED, NONE, 4)                                         \
    X(FREER_OWNER, 0x0522, "freer.owner", PLANES, NONE, 4)                                         \
    X(OWNER_HEAP, 0x0601, "owner.heap", PLANES, NONE, 4)                                           \
    X(OWNER_EPOCH, 0x0602, "owner.epoch", PLANES, NONE, 4)                                         \
    X(OWNER_FIRST_TICKS, 0x0603, "owner.first_ticks", PLANES, NONE, 8)                             \
    X(HEAP_HANDLE_VALUE, 0x0611, "heap_handle.value", PLANES, NONE, 8)                             \
    X(HEAP_HANDLE_PROCESS, 0x0612, "heap_handle.process", PLANES, NONE, 4)                         \
    X(LIFE_ALLOC_TICKS, 0x0701, "life.alloc_ticks", PLANES, NONE, 8)                               \
    X(LIFE_FREE_TICKS, 0x0702, "life.free_ticks", PLANES, NONE, 8)                                 \
    X(LIFE_ADDRESS, 0x0703, "life.address", PLANES, NONE, 8)                                       \
    X(LIFE_SIZE, 0x0704, "life.size", PLANES, NONE, 8)                                             \
    X(LIFE_HEAP, 0x0705, "life.heap", PLANES, NONE, 8)                                             \
    X(LIFE_PROCESS, 0x0706, "life.process", PLANES, NONE, 4)                                       \
    X(LIFE_STACK, 0x0707, "life.stack", PACKED, NONE, 4)                                           \
    X(LIFE_THREAD, 0x0708, "life.thread", PLANES, NONE, 4)                                         \
    X(LIFE_KIND, 0x0709, "life.kind", PLANES, NONE, 1)                                             \
    X(LIFE_FREE_TYPE, 0x070A, "life.free_type", PLANES, NONE, 1)                                   \
    X(LIFE_IS_REALLOC, 0x070B, "life.is_realloc", BITS, NONE, 1)                                   \
    X(LIFE_FREE_STACK, 0x070C, "life.free_stack", PACKED, NONE, 4)                                 \
    X(LIFE_FREE_THREAD, 0x070D, "life.free_thread", PLANES, NONE, 4)                               \
    X(FRAME_ADDRESS, 0x0801, "frame.address", PACKED, DELTA, 8)                                    \
    X(STACK_ID, 0x0901, "stack.id", PLANES, NONE, 4)                                               \
    X(STACK_SHARED, 0x0902, "stack.shared", PLANES, NONE, 4)                                       \
    X(STACK_OWN, 0x0903, "stack.own", PLANES, NONE, 4)                                             \
    X(STACK_FRAME, 0x0A01, "stack.frame", PACKED, NONE, 4)                                         \
    X(REF_NUMBER, 0x0B01, "ref.number", PACKED, DELTA, 4)                                          \
    X(REF_STACK, 0x0B02, "ref.stack", PLANES, NONE, 4)                                             \
    X(REF_THREAD, 0x0B03, "ref.thread", PLANES, NONE, 4)                                           \
    X(INSTANCE_PROCESS, 0x0C01, "instance.process", PLANES, NONE, 4)                               \
    X(FOREIGN_STACK, 0x0D01, "foreign.stack", PLANES, DELTA, 4)                                    \
    X(FOREIGN_PROCESS, 0x0D02, "foreign.process", PLANES, NONE, 4)                                 \
    X(FOREIGN_TICKS, 0x0D03, "foreign.ticks", PLANES, NONE, 8)                                     \
    X(UNMATCHED_TICKS, 0x0E01, "unmatched.ticks", PLANES, DELTA, 8)                                \
    X(UNMATCHED_FREER, 0x0E02, "unmatched.freer", PACKED, NONE, 4)                                 \
    X(UNMATCHED_ADDRESS, 0x0E03, "unmatched.address", PLANES, NONE, 8)                             \
    X(UNMATCHED_THREAD, 0x0E04, "unmatched.thread", PLANES, NONE, 4)                               \
    X(UNMATCHED_HEAP, 0x0E05, "unmatched.heap", PLANES, NONE, 4)                                   \
    X(MARK_TICKS, 0x0F01, "mark.ticks", PLANES, DELTA, 8)                                          \
    X(MARK_NAME, 0x0F02, "mark.name", PLANES, NONE, 4)                                             \
    X(MARK_PROCESS, 0x0F03, "mark.process", PLANES, NONE, 4)                                       \
    X(MARK_IS_END, 0x0F04, "mark.is_end", BITS, NONE, 1)                                           \
    X(RECORDED_KIND, 0x0F11, "recorded.kind", PLANES, NONE, 4)                                     \
    X(RECORDED_FROM, 0x0F12, "recorded.from_ns", PLANES, NONE, 8)                                  \
    X(RECORDED_TO, 0x0F13, "recorded.to_ns", PLANES, NONE, 8)                                      \
    X(PART_FROM, 0x0F21, "part.from_ns", PLANES, NONE, 8)                                          \
    X(PART_TO, 0x0F22, "part.to_ns", PLANES, NONE, 8)                                              \
    X(PART_NUMBERS, 0x0F23, "part.lanes", PLANES, NONE, 4)                                         \
    X(PART_WORD, 0x0F31, "part_word.text", PLANES, NONE, 4)                                        \
    X(PART_PROCESS, 0x0F41, "part_process.process", PLANES, NONE, 4)                               \
    X(STRING_TEXT, 0x1001, "string.text", PLANES, NONE, 1)                                         \
    X(PROCESS_PID, 0x1101, "process.pid", PLANES, NONE, 4)                                         \
    X(PROCESS_PARENT, 0x1102, "process.parent_pid", PLANES, NONE, 4)                               \
    X(PROCESS_NAME, 0x1103, "process.name", PLANES, NONE, 4)                                       \
    X(PROCESS_COMMAND, 0x1104, "process.command_line", PLANES, NONE, 4)                            \
    X(PROCESS_START, 0x1105, "process.start_ticks", PLANES, NONE, 8)                               \
    X(PROCESS_END, 0x1106, "process.end_ticks", PLANES, NONE, 8)                                   \
    X(PROCESS_POINTER_BITS, 0x1107, "process.pointer_bits", PLANES, NONE, 4)                       \
    X(PROCESS_HEAP_EVENTS, 0x1108, "process.heap_events", PLANES, NONE, 8)                         \
    X(PROCESS_VIRTUAL_EVENTS, 0x1109, "process.virtualalloc_events", PLANES, NONE, 8)              \
    X(PROCESS_UNPAIRED_HEAP, 0x110A, "process.free_without_alloc_heap", PLANES, NONE, 8)           \
    X(PROCESS_UNPAIRED_VIRTUAL, 0x110B, "process.free_without_alloc_virtual", PLANES, NONE, 8)     \
    X(PROCESS_UNPAIRED_EXTENT, 0x110C, "process.free_without_alloc_extent", PLANES, NONE, 8)       \
    X(MODULE_PID, 0x1201, "module.pid", PLANES, NONE, 4)                                           \
    X(MODULE_BASE, 0x1202, "module.base", PLANES, NONE, 8)                                         \
    X(MODULE_SIZE, 0x1203, "module.size", PLANES, NONE, 8)                                         \
    X(MODULE_PATH, 0x1204, "module.path", PLANES, NONE, 4)                                         \
    X(MODULE_NAME, 0x1205, "module.name", PLANES, NONE, 4)                                         \
    X(MODULE_STAMP, 0x1206, "module.time_date_stamp", PLANES, NONE, 4)                             \
    X(MODULE_CHECKSUM, 0x1207, "module.checksum", PLANES, NONE, 4)                                 \
    X(MODULE_HAS_RSDS, 0x1208, "module.has_rsds", BITS, NONE, 1)                                   \
    X(MODULE_GUID_LOW, 0x1209, "module.guid_low", PLANES, NONE, 8)                                 \
    X(MODULE_GUID_HIGH, 0x120A, "module.guid_high", PLANES, NONE, 8)                               \
    X(MODULE_AGE, 0x120B, "module.age", PLANES, NONE, 4)                                           \
    X(MODULE_PDB_NAME, 0x120C, "module.pdb_name", PLANES, NONE, 4)                                 \
    X(MODULE_LOAD, 0x120D, "module.load_ticks", PLANES, NONE, 8)                                   \
    X(MODULE_UNLOAD, 0x120E, "module.unload_ticks", PLANES, NONE, 8)                               \
    X(MODULE_PROCESS, 0x120F, "module.process", PLANES, NONE, 4)                                   \
    X(VOLUME_NT_PATH, 0x1301, "volume.nt_path", PLANES, NONE, 4)                                   \
    X(VOLUME_DOS_PATH, 0x1302, "volume.dos_path", PLANES, NONE, 4)                                 \
    X(HOOK_ID, 0x1401, "hook.id", PLANES, NONE, 4)                                                 \
    X(HOOK_COUNT, 0x1402, "hook.count", PLANES, NONE, 8)                                           \
    X(HOOK_BYTES, 0x1403, "hook.bytes", PLANES, NONE, 8)                                           \
    X(PROVIDER_GUID_LOW, 0x1501, "provider.guid_low", PLANES, NONE, 8)                             \
    X(PROVIDER_GUID_HIGH, 0x1502, "provider.guid_high", PLANES, NONE, 8)                           \
    X(PROVIDER_IS_MESSAGE, 0x1503, "provider.is_message", BITS, NONE, 1)                           \
    X(PROVIDER_COUNT, 0x1504, "provider.count", PLANES, NONE, 8)                                   \
    X(PROVIDER_BYTES, 0x1505, "provider.bytes", PLANES, NONE, 8)                                   \
    X(DIAGNOSTIC_NAME, 0x1601, "diagnostic.name", PLANES, NONE, 4)                                 \
    X(DIAGNOSTIC_COUNT, 0x1602, "diagnostic.count", PLANES, NONE, 8)                               \
    X(INVENTORY_DIAGNOSTIC_NAME, 0x1611, "inventory_diagnostic.name", PLANES, NONE, 4)             \
    X(INVENTORY_DIAGNOSTIC_COUNT, 0x1612, "inventory_diagnostic.count", PLANES, NONE, 8)           \
    X(FILE_NAME, 0x1701, "file.name", PLANES, NONE, 4)                                             \
    X(FILE_ID_LOW, 0x1702, "file.id_low", PLANES, NONE, 8)                                         \
    X(FILE_ID_HIGH, 0x1703, "file.id_high", PLANES, NONE, 8)                                       \
    X(TRACE_SESSION, 0x1801, "trace.session", PLANES, NONE, 4)                                     \
    X(TRACE_COMPUTER, 0x1802, "trace.computer", PLANES, NONE, 4)                                   \
    X(TRACE_CLOCK, 0x1803, "trace.clock", PLANES, NONE, 4)                                         \
    X(TRACE_CLOCK_HZ, 0x1804, "trace.clock_hz", PLANES, NONE, 8)                                   \
    X(TRACE_OS_BUILD, 0x1805, "trace.os_build", PLANES, NONE, 4)                                   \
    X(TRACE_POINTER_BITS, 0x1806, "trace.pointer_bits", PLANES, NONE, 4)                           \
    X(TRACE_CPUS, 0x1807, "trace.cpus", PLANES, NONE, 4)                                           \
    X(TRACE_START, 0x1808, "trace.start_filetime", PLANES, NONE, 8)                                \
    X(TRACE_DURATION, 0x1809, "trace.duration_ns", PLANES, NONE, 8)                                \
    X(TRACE_END, 0x180A, "trace.end_ns", PLANES, NONE, 8)                                          \
    X(TRACE_BUFFERS, 0x180B, "trace.buffers", PLANES, NONE, 8)                                     \
    X(TRACE_EVENTS, 0x180C, "trace.events", PLANES, NONE, 8)                                       \
    X(TRACE_EVENTS_LOST, 0x180D, "trace.events_lost", PLANES, NONE, 8)                             \
    X(TRACE_BUFFERS_LOST, 0x180E, "trace.buffers_lost", PLANES, NONE, 8)                           \
    X(TRACE_BYTES, 0x180F, "trace.bytes", PLANES, NONE, 8)                                         \
    X(TRACE_ZERO_TICKS, 0x1810, "trace.zero_ticks", PLANES, NONE, 8)                               \
    X(TRACE_FIRST_TICKS, 0x1811, "trace.first_ticks", PLANES, NONE, 8)                             \
    X(TRACE_LAST_TICKS, 0x1812, "trace.last_ticks", PLANES, NONE, 8)                               \
    X(TRACE_STACK_RECORDS, 0x1813, "trace.stack_records", PLANES, NONE, 8)                         \
    X(TRACE_STACKS_MATCHED, 0x1814, "trace.stacks_matched", PLANES, NONE, 8)                       \
    X(TRACE_STACKS_UNMATCHED, 0x1815, "trace.stacks_unmatched", PLANES, NONE, 8)                   \
    X(TRACE_KEYS_REFERENCED, 0x1816, "trace.keys_referenced", PLANES, NONE, 8)                     \
    X(TRACE_KEYS_RESOLVED, 0x1817, "trace.keys_resolved", PLANES, NONE, 8)                         \
    X(TRACE_CAN, 0x1818, "trace.can", PLANES, NONE, 4)                                             \
    X(HEAP_SIZE_PROCESS, 0x1901, "heap_size.process", PLANES, NONE, 4)                             \
    X(HEAP_SIZE_HANDLE, 0x1902, "heap_size.handle", PLANES, NONE, 8)                               \
    X(HEAP_SIZE_TICKS, 0x1903, "heap_size.ticks", PLANES, NONE, 8)                                 \
    X(HEAP_SIZE_COMMITTED, 0x1904, "heap_size.committed", PLANES, NONE, 8)                         \
    X(HEAP_SIZE_RESERVED, 0x1905, "heap_size.reserved", PLANES, NONE, 8)                           \
    X(HEAP_SIZE_DECOMMITTED, 0x1906, "heap_size.decommitted", PLANES, NONE, 8)                     \
    X(MEMORY_PROCESS, 0x1A01, "memory.process", PLANES, NONE, 4)                                   \
    X(MEMORY_TICKS, 0x1A02, "memory.ticks", PLANES, NONE, 8)                                       \
    X(MEMORY_COMMIT, 0x1A03, "memory.commit", PLANES, NONE, 8)                                     \
    X(MEMORY_AVAILABLE, 0x1A04, "memory.available", PLANES, NONE, 8)                               \
    X(MEMORY_WORKING_SET, 0x1A05, "memory.working_set", PLANES, NONE, 8)                           \
    X(MEMORY_PRIVATE, 0x1A06, "memory.private_working_set", PLANES, NONE, 8)                       \
    X(EVENT_GUID_LOW, 0x1B01, "event.guid_low", PLANES, NONE, 8)                                   \
    X(EVENT_GUID_HIGH, 0x1B02, "event.guid_high", PLANES, NONE, 8)                                 \
    X(EVENT_IS_CLASS, 0x1B03, "event.is_class", BITS, NONE, 1)                                     \
    X(EVENT_ID, 0x1B04, "event.id", PLANES, NONE, 4)                                               \
    X(EVENT_OPCODE, 0x1B05, "event.opcode", PLANES, NONE, 4)                                       \
    X(EVENT_VERSION, 0x1B06, "event.version", PLANES, NONE, 4)                                     \
    X(EVENT_PROVIDER_NAME, 0x1B07, "event.provider_name", PLANES, NONE, 4)                         \
    X(EVENT_NAME, 0x1B08, "event.name", PLANES, NONE, 4)                                           \
    X(EVENT_COUNT, 0x1B09, "event.count", PLANES, NONE, 8)                                         \
    X(EVENT_BYTES, 0x1B0A, "event.bytes", PLANES, NONE, 8)                                         \
    X(THREAD_NAME_PID, 0x1C01, "thread_name.pid", PLANES, NONE, 4)                                 \
    X(THREAD_NAME_TID, 0x1C02, "thread_name.tid", PLANES, NONE, 4)                                 \
    X(THREAD_NAME_TICKS, 0x1C03, "thread_name.ticks", PLANES, NONE, 8)                             \
    X(THREAD_NAME_TEXT, 0x1C04, "thread_name.name", PLANES, NONE, 4)                               \
    X(PROCESS_MORE_ID, 0x1D01, "process_more.process", PLANES, NONE, 4)                            \
    X(PROCESS_MORE_PACKAGE, 0x1D02, "process_more.package", PLANES, NONE, 4)                       \
    X(PROCESS_MORE_SERVICES, 0x1D03, "process_more.services", PLANES, NONE, 4)                     \
    X(LOGGED_NAME_HEAP, 0x1D11, "logged_name.heap", PLANES, DELTA, 8)                              \
    X(LOGGED_NAME_TEXT, 0x1D12, "logged_name.name", PLANES, NONE, 4)                               \
    X(CUSTOM_PROCESS, 0x1E01, "custom.process", PLANES, NONE, 4)                                   \
    X(CUSTOM_EVENTS, 0x1E02, "custom.events", PLANES, NONE, 8)                                     \
    X(CUSTOM_UNPAIRED, 0x1E03, "custom.free_without_alloc", PLANES, NONE, 8)                       \
    X(KIND_PROCESS, 0x1E11, "kind.process", PLANES, NONE, 4)                                       \
    X(KIND_NUMBER, 0x1E12, "kind.lane", PLANES, NONE, 4)                                           \
    X(KIND_EVENTS, 0x1E13, "kind.events", PLANES, NONE, 8)                                         \
    X(KIND_UNPAIRED, 0x1E14, "kind.free_without_alloc", PLANES, NONE, 8)                           \
    X(METHOD_PID, 0x1F01, "method.pid", PLANES, NONE, 4)                                           \
    X(METHOD_PROCESS, 0x1F02, "method.process", PLANES, NONE, 4)                                   \
    X(METHOD_START, 0x1F03, "method.start", PLANES, NONE, 8)                                       \
    X(METHOD_SIZE, 0x1F04, "method.size", PLANES, NONE, 4)                                         \
    X(METHOD_LOAD, 0x1F05, "method.load", PLANES, NONE, 8)                                         \
    X(METHOD_FILE, 0x1F06, "method.file", PLANES, NONE, 4)                                         \
    X(METHOD_FUNCTION, 0x1F07, "method.function", PLANES, NONE, 4)                                 \
    X(PLACE_BUILD, 0x1F11, "place.build", PACKED, DELTA, 4)                                        \
    X(PLACE_OFFSET, 0x1F12, "place.offset", PLANES, NONE, 4)                                       \
    X(PLACE_DISPLACEMENT, 0x1F13, "place.displacement", PLANES, NONE, 4)                           \
    X(PLACE_QUALITY, 0x1F14, "place.quality", PLANES, NONE, 4)                                     \
    X(PLACE_TYPE, 0x1F15, "place.type", PLANES, NONE, 4)                                           \
    X(PLACE_CALLS, 0x1F16, "place.calls", PLANES, NONE, 4)                                         \
    X(CALL_FUNCTION, 0x1F21, "call.function", PLANES, NONE, 4)                                     \
    X(CALL_FILE, 0x1F22, "call.file", PLANES, NONE, 4)                                             \
    X(CALL_LINE, 0x1F23, "call.line", PLANES, NONE, 4)                                             \
    X(BUILD_MODULE, 0x1F31, "build.module", PLANES, NONE, 4)                                       \
    X(BUILD_STATE, 0x1F32, "build.state", PLANES, NONE, 4)                                         \
    X(ANONYMISED_SCHEME, 0x1F41, "anonymised.scheme", PLANES, NONE, 4)                             \
    X(ANONYMISED_KEY, 0x1F42, "anonymised.key_check", PLANES, NONE, 8)                             \
    X(SUMMARY_EVERY, 0x2001, "summary.every_ns", PLANES, NONE, 8)                                  \
    X(SOURCE_ID_LOW, 0x2101, "source.id_low", PLANES, NONE, 8)                                     \
    X(SOURCE_ID_HIGH, 0x2102, "source.id_high", PLANES, NONE, 8)                                   \
    X(SOURCE_FILES, 0x2103, "source.files", PLANES, NONE, 4)                                       \
    X(SOURCE_SESSION, 0x2104, "source.session", PLANES, NONE, 4)                                   \
    X(SOURCE_COMPUTER, 0x2105, "source.computer", PLANES, NONE, 4)                                 \
    X(SOURCE_CLOCK, 0x2106, "source.clock", PLANES, NONE, 4)                                       \
    X(SOURCE_CLOCK_HZ, 0x2107, "source.clock_hz", PLANES, NONE, 8)                                 \
    X(SOURCE_OS_BUILD, 0x2108, "source.os_build", PLANES, NONE, 4)                                 \
    X(SOURCE_POINTER_BITS, 0x2109, "source.pointer_bits", PLANES, NONE, 4)                         \
    X(SOURCE_CPUS, 0x210A, "source.cpus", PLANES, NONE, 4)                                         \
    X(SOURCE_START, 0x210B, "source.start_filetime", PLANES, NONE, 8)                              \
    X(SOURCE_DURATION, 0x210C, "source.duration_ns", PLANES, NONE, 8)                              \
    X(SOURCE_END, 0x210D, "source.end_ns", PLANES, NONE, 8)                                        \
    X(SOURCE_FROM, 0x210E, "source.from_ns", PLANES, NONE, 8)                                      \
    X(SOURCE_BUFFERS, 0x210F, "source.buffers", PLANES, NONE, 8)                                   \
    X(SOURCE_EVENTS, 0x2110, "source.events", PLANES, NONE, 8)                                     \
    X(SOURCE_EVENTS_LOST, 0x2111, "source.events_lost", PLANES, NONE, 8)                           \
    X(SOURCE_BUFFERS_LOST, 0x2112, "source.buffers_lost", PLANES, NONE, 8)                         \
    X(SOURCE_BYTES, 0x2113, "source.bytes", PLANES, NONE, 8)                                       \
    X(SOURCE_STACK_RECORDS, 0x2114, "source.stack_records", PLANES, NONE, 8)                       \
    X(SOURCE_STACKS_MATCHED, 0x2115, "source.stacks_matched", PLANES, NONE, 8)                     \
    X(SOURCE_STACKS_UNMATCHED, 0x2116, "source.stacks_unmatched", PLANES, NONE, 8)                 \
    X(SOURCE_KEYS_REFERENCED, 0x2117, "source.keys_referenced", PLANES, NONE, 8)                   \
    X(SOURCE_KEYS_RESOLVED, 0x2118, "source.keys_resolved", PLANES, NONE, 8)                       \
    X(SOURCE_CAN, 0x2119, "source.can", PLANES, NONE, 4)                                           \
    X(SOURCE_FILE_NAME, 0x2201, "source_file.name", PLANES, NONE, 4)                               \
    X(SOURCE_FILE_ID_LOW, 0x2202, "source_file.id_low", PLANES, NONE, 8)                           \
    X(SOURCE_FILE_ID_HIGH, 0x2203, "source_file.id_high", PLANES, NONE, 8)                         \
    X(SOURCE_DIAGNOSTIC_SOURCE, 0x2301, "source_diagnostic.source", PLANES, NONE, 4)               \
    X(SOURCE_DIAGNOSTIC_NAME, 0x2302, "source_diagnostic.name", PLANES, NONE, 4)                   \
    X(SOURCE_DIAGNOSTIC_COUNT, 0x2303, "source_diagnostic.count", PLANES, NONE, 8)                 \
    X(SOURCE_DIAGNOSTIC_INVENTORY, 0x2304, "source_diagnostic.inventory_count", PLANES, NONE, 8)   \
    X(ENTRY_PROCESS, 0x2401, "entry.process", PLANES, NONE, 4)                                     \
    X(ENTRY_STACK, 0x2402, "entry.stack", PLANES, NONE, 4)                                         \
    X(ENTRY_KIND, 0x2403, "entry.kind", PLANES, NONE, 4)                                           \
    X(ENTRY_TRACES, 0x2404, "entry.traces", PLANES, NONE, 8)                                       \
    X(ENTRY_FIRST, 0x2405, "entry.first_filetime", PLANES, NONE, 8)                                \
    X(ENTRY_LAST, 0x2406, "entry.last_filetime", PLANES, NONE, 8)                                  \
    X(ENTRY_LEAKED_PEAK_COUNT, 0x2407, "entry.leaked_peak_count", PLANES, NONE, 8)                 \
    X(ENTRY_LEAKED_PEAK_SIZE, 0x2408, "entry.leaked_peak_size", PLANES, NONE, 8)                   \
    X(ENTRY_FREED_PEAK_COUNT, 0x2409, "entry.freed_peak_count", PLANES, NONE, 8)                   \
    X(ENTRY_FREED_PEAK_SIZE, 0x240A, "entry.freed_peak_size", PLANES, NONE, 8)                     \
    X(SUM_ENTRY, 0x2501, "sum.entry", PACKED, DELTA, 4)                                            \
    X(SUM_PART, 0x2502, "sum.part", PLANES, NONE, 4)                                               \
    X(SUM_COUNT, 0x2503, "sum.count", PLANES, NONE, 8)                                             \
    X(SUM_SIZE, 0x2504, "sum.size", PLANES, NONE, 8)                                               \
    X(SUM_REALLOC_COUNT, 0x2505, "sum.realloc_count", PLANES, NONE, 8)                             \
    X(SUM_PEAK_COUNT, 0x2506, "sum.peak_count", PLANES, NONE, 8)                                   \
    X(SUM_PEAK_SIZE, 0x2507, "sum.peak_size", PLANES, NONE, 8)                                     \
    X(CELL_ENTRY, 0x2601, "cell.entry", PACKED, DELTA, 4)                                          \
    X(CELL_WINDOW, 0x2602, "cell.window", PLANES, NONE, 8)                                         \
    X(CELL_WINDOWS, 0x2603, "cell.windows", PLANES, NONE, 8)                                       \
    X(CELL_AIFO_COUNT, 0x2604, "cell.aifo_count", PLANES, NONE, 8)                                 \
    X(CELL_AIFO_SIZE, 0x2605, "cell.aifo_size", PLANES, NONE, 8)                                   \
    X(CELL_AIFI_COUNT, 0x2606, "cell.aifi_count", PLANES, NONE, 8)                                 \
    X(CELL_AIFI_SIZE, 0x2607, "cell.aifi_size", PLANES, NONE, 8)                                   \
    X(CELL_AOFI_COUNT, 0x2608, "cell.aofi_count", PLANES, NONE, 8)                                 \
    X(CELL_AOFI_SIZE, 0x2609, "cell.aofi_size", PLANES, NONE, 8)                                   \
    X(CELL_AOFO_COUNT, 0x260A, "cell.aofo_count", PLANES, NONE, 8)                                 \
    X(CELL_AOFO_SIZE, 0x260B, "cell.aofo_size", PLANES, NONE, 8)                                   \
    X(CELL_PEAK_COUNT, 0x260C, "cell.peak_count", PLANES, NONE, 8)                                 \
    X(CELL_PEAK_SIZE, 0x260D, "cell.peak_size", PLANES, NONE, 8)

typedef enum ehs_column {
#define EHS_COLUMN_ENUM(name, id, text, layout, transform, bytes) EHS_##name = (id),
    EHS_COLUMNS(EHS_COLUMN_ENUM)
#undef EHS_COLUMN_ENUM
} ehs_column;

typedef struct ehs_column_info {
    u32 id;
    const char *name;
    ehs_format format;
} ehs_column_info;

/* The id of a column in a kind: that of the column of heap blocks, with the number of the kind. */
static inline u32 ehs_kind_column(ehs_kind kind, ehs_column column)
{
    return (u32)kind << 16 | (u32)column;
}

/* The row of a column; NULL for an unknown id. */
const ehs_column_info *ehs_column_find(u32 id);

#endif
