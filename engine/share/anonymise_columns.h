/*
 * anonymise_columns.h - what becomes of each column of a store that is anonymised.
 *
 * Every column of ehs_columns.h has a row here: the file does not compile without it, and a store
 * with a column that neither list has is refused. So no text gets into an anonymised store because
 * nobody thought of it.
 *
 *     NUMBER               kept: sizes, times, counts, addresses, ids of processes and threads
 *     REMOVED              0, and no text
 *     DROPPED              the table has no rows
 *     HEAP                 kept, but the name of a custom allocator or a pool tag is replaced
 *     ID                   replaced by a keyed number: it tells only whether two are equal
 *     PUBLIC               kept if etlheap itself has the word; else removed
 *     LOGGED               kept if it is a type of objects of Windows itself; else replaced by a
 *                          keyed word
 *     PROCESS to SERVICES  text, replaced by a keyed word
 *     MODULE, PROVIDER,    tables whose columns depend on each other, see anonymise_tables.c
 *     EVENT, METHOD
 *     STRINGS              the texts: written anew, with words only
 *     NAMES                written for functions; a store to be anonymised has none
 *     SUMMARY              of summaries, which are refused
 */
#ifndef ETLHEAP_ANONYMISE_COLUMNS_H
#define ETLHEAP_ANONYMISE_COLUMNS_H

#include "engine/log/ehs_columns.h"

typedef enum anonymise_rule {
    ANONYMISE_UNKNOWN,
    ANONYMISE_NUMBER,
    ANONYMISE_REMOVED,
    ANONYMISE_DROPPED,
    ANONYMISE_HEAP,
    ANONYMISE_ID,
    ANONYMISE_PUBLIC,
    ANONYMISE_LOGGED,
    ANONYMISE_PROCESS,
    ANONYMISE_PATH,
    ANONYMISE_THREAD,
    ANONYMISE_MARK,
    ANONYMISE_SESSION,
    ANONYMISE_COMPUTER,
    ANONYMISE_PACKAGE,
    ANONYMISE_FILE,
    ANONYMISE_SERVICES,
    ANONYMISE_MODULE,
    ANONYMISE_PROVIDER,
    ANONYMISE_EVENT,
    ANONYMISE_METHOD,
    ANONYMISE_STRINGS,
    ANONYMISE_NAMES,
    ANONYMISE_SUMMARY
} anonymise_rule;

/* X(column, rule) */
#define ANONYMISE_COLUMNS(X)                                                                       \
    X(HEAP_IS_END, NUMBER)                                                                         \
    X(HEAP_IS_LATER, NUMBER)                                                                       \
    X(HEAP_TICKS, NUMBER)                                                                          \
    X(HEAP_ORIGIN, NUMBER)                                                                         \
    X(HEAP_SIZE, NUMBER)                                                                           \
    X(HEAP_ADDRESS, NUMBER)                                                                        \
    X(HEAP_THREAD, NUMBER)                                                                         \
    X(HEAP_IS_REALLOC, NUMBER)                                                                     \
    X(HEAP_BACK, NUMBER)                                                                           \
    X(HEAP_HOW, NUMBER)                                                                            \
    X(HEAP_FREER, NUMBER)                                                                          \
    X(HEAP_FREER_THREAD, NUMBER)                                                                   \
    X(SEGMENT_FIRST_TICKS, NUMBER)                                                                 \
    X(SEGMENT_LAST_TICKS, NUMBER)                                                                  \
    X(SEGMENT_EVENTS, NUMBER)                                                                      \
    X(SEGMENT_ALLOCS, NUMBER)                                                                      \
    X(SEGMENT_SIZE_MIN, NUMBER)                                                                    \
    X(SEGMENT_SIZE_MAX, NUMBER)                                                                    \
    X(CHECKPOINT_SEGMENT, NUMBER)                                                                  \
    X(CHECKPOINT_FIRST_PART, NUMBER)                                                               \
    X(CHECKPOINT_ROWS, NUMBER)                                                                     \
    X(OPEN_ORDINAL, NUMBER)                                                                        \
    X(OPEN_ORIGIN, NUMBER)                                                                         \
    X(OPEN_SIZE, NUMBER)                                                                           \
    X(OPEN_TICKS, NUMBER)                                                                          \
    X(OPEN_ADDRESS, NUMBER)                                                                        \
    X(OPEN_THREAD, NUMBER)                                                                         \
    X(OPEN_IS_REALLOC, NUMBER)                                                                     \
    X(ORIGIN_STACK, NUMBER)                                                                        \
    X(ORIGIN_OWNER, NUMBER)                                                                        \
    X(ORIGIN_THREAD, NUMBER)                                                                       \
    X(ORIGIN_FREED_COUNT, NUMBER)                                                                  \
    X(ORIGIN_FREED_SIZE, NUMBER)                                                                   \
    X(ORIGIN_FREED_REALLOCS, NUMBER)                                                               \
    X(ORIGIN_EXITED_COUNT, NUMBER)                                                                 \
    X(ORIGIN_EXITED_SIZE, NUMBER)                                                                  \
    X(ORIGIN_EXITED_REALLOCS, NUMBER)                                                              \
    X(ORIGIN_IN_USE_COUNT, NUMBER)                                                                 \
    X(ORIGIN_IN_USE_SIZE, NUMBER)                                                                  \
    X(ORIGIN_IN_USE_REALLOCS, NUMBER)                                                              \
    X(FREER_STACK, NUMBER)                                                                         \
    X(FREER_OWNER, NUMBER)                                                                         \
    X(OWNER_HEAP, NUMBER)                                                                          \
    X(OWNER_EPOCH, NUMBER)                                                                         \
    X(OWNER_FIRST_TICKS, NUMBER)                                                                   \
    X(HEAP_HANDLE_VALUE, HEAP)                                                                     \
    X(HEAP_HANDLE_PROCESS, NUMBER)                                                                 \
    X(LIFE_ALLOC_TICKS, NUMBER)                                                                    \
    X(LIFE_FREE_TICKS, NUMBER)                                                                     \
    X(LIFE_ADDRESS, NUMBER)                                                                        \
    X(LIFE_SIZE, NUMBER)                                                                           \
    X(LIFE_HEAP, HEAP)                                                                             \
    X(LIFE_PROCESS, NUMBER)                                                                        \
    X(LIFE_STACK, NUMBER)                                                                          \
    X(LIFE_THREAD, NUMBER)                                                                         \
    X(LIFE_KIND, NUMBER)                                                                           \
    X(LIFE_FREE_TYPE, NUMBER)                                                                      \
    X(LIFE_IS_REALLOC, NUMBER)                                                                     \
    X(LIFE_FREE_STACK, NUMBER)                                                                     \
    X(LIFE_FREE_THREAD, NUMBER)                                                                    \
    X(FRAME_ADDRESS, NUMBER)                                                                       \
    X(STACK_ID, NUMBER)                                                                            \
    X(STACK_SHARED, NUMBER)                                                                        \
    X(STACK_OWN, NUMBER)                                                                           \
    X(STACK_FRAME, NUMBER)                                                                         \
    X(REF_NUMBER, NUMBER)                                                                          \
    X(REF_STACK, NUMBER)                                                                           \
    X(REF_THREAD, NUMBER)                                                                          \
    X(INSTANCE_PROCESS, NUMBER)                                                                    \
    X(FOREIGN_STACK, NUMBER)                                                                       \
    X(FOREIGN_PROCESS, NUMBER)                                                                     \
    X(FOREIGN_TICKS, NUMBER)                                                                       \
    X(UNMATCHED_TICKS, NUMBER)                                                                     \
    X(UNMATCHED_FREER, NUMBER)                                                                     \
    X(UNMATCHED_ADDRESS, NUMBER)                                                                   \
    X(UNMATCHED_THREAD, NUMBER)                                                                    \
    X(UNMATCHED_HEAP, NUMBER)                                                                      \
    X(MARK_TICKS, NUMBER)                                                                          \
    X(MARK_NAME, MARK)                                                                             \
    X(MARK_PROCESS, NUMBER)                                                                        \
    X(MARK_IS_END, NUMBER)                                                                         \
    X(RECORDED_KIND, NUMBER)                                                                       \
    X(RECORDED_FROM, NUMBER)                                                                       \
    X(RECORDED_TO, NUMBER)                                                                         \
    X(PART_FROM, NUMBER)                                                                           \
    X(PART_TO, NUMBER)                                                                             \
    X(PART_NUMBERS, NUMBER)                                                                        \
    X(PART_WORD, PROCESS)                                                                          \
    X(PART_PROCESS, NUMBER)                                                                        \
    X(STRING_TEXT, STRINGS)                                                                        \
    X(PROCESS_PID, NUMBER)                                                                         \
    X(PROCESS_PARENT, NUMBER)                                                                      \
    X(PROCESS_NAME, PROCESS)                                                                       \
    X(PROCESS_COMMAND, REMOVED)                                                                    \
    X(PROCESS_START, NUMBER)                                                                       \
    X(PROCESS_END, NUMBER)                                                                         \
    X(PROCESS_POINTER_BITS, NUMBER)                                                                \
    X(PROCESS_HEAP_EVENTS, NUMBER)                                                                 \
    X(PROCESS_VIRTUAL_EVENTS, NUMBER)                                                              \
    X(PROCESS_UNPAIRED_HEAP, NUMBER)                                                               \
    X(PROCESS_UNPAIRED_VIRTUAL, NUMBER)                                                            \
    X(PROCESS_UNPAIRED_EXTENT, NUMBER)                                                             \
    X(MODULE_PID, NUMBER)                                                                          \
    X(MODULE_BASE, NUMBER)                                                                         \
    X(MODULE_SIZE, NUMBER)                                                                         \
    X(MODULE_PATH, PATH)                                                                           \
    X(MODULE_NAME, MODULE)                                                                         \
    X(MODULE_STAMP, MODULE)                                                                        \
    X(MODULE_CHECKSUM, REMOVED)                                                                    \
    X(MODULE_HAS_RSDS, MODULE)                                                                     \
    X(MODULE_GUID_LOW, MODULE)                                                                     \
    X(MODULE_GUID_HIGH, MODULE)                                                                    \
    X(MODULE_AGE, MODULE)                                                                          \
    X(MODULE_PDB_NAME, REMOVED)                                                                    \
    X(MODULE_LOAD, NUMBER)                                                                         \
    X(MODULE_UNLOAD, NUMBER)                                                                       \
    X(MODULE_PROCESS, NUMBER)                                                                      \
    X(VOLUME_NT_PATH, DROPPED)                                                                     \
    X(VOLUME_DOS_PATH, DROPPED)                                                                    \
    X(HOOK_ID, NUMBER)                                                                             \
    X(HOOK_COUNT, NUMBER)                                                                          \
    X(HOOK_BYTES, NUMBER)                                                                          \
    X(PROVIDER_GUID_LOW, PROVIDER)                                                                 \
    X(PROVIDER_GUID_HIGH, PROVIDER)                                                                \
    X(PROVIDER_IS_MESSAGE, PROVIDER)                                                               \
    X(PROVIDER_COUNT, PROVIDER)                                                                    \
    X(PROVIDER_BYTES, PROVIDER)                                                                    \
    X(DIAGNOSTIC_NAME, PUBLIC)                                                                     \
    X(DIAGNOSTIC_COUNT, NUMBER)                                                                    \
    X(INVENTORY_DIAGNOSTIC_NAME, PUBLIC)                                                           \
    X(INVENTORY_DIAGNOSTIC_COUNT, NUMBER)                                                          \
    X(FILE_NAME, FILE)                                                                             \
    X(FILE_ID_LOW, ID)                                                                             \
    X(FILE_ID_HIGH, ID)                                                                            \
    X(TRACE_SESSION, SESSION)                                                                      \
    X(TRACE_COMPUTER, COMPUTER)                                                                    \
    X(TRACE_CLOCK, PUBLIC)                                                                         \
    X(TRACE_CLOCK_HZ, NUMBER)                                                                      \
    X(TRACE_OS_BUILD, NUMBER)                                                                      \
    X(TRACE_POINTER_BITS, NUMBER)                                                                  \
    X(TRACE_CPUS, NUMBER)                                                                          \
    X(TRACE_START, NUMBER)                                                                         \
    X(TRACE_DURATION, NUMBER)                                                                      \
    X(TRACE_END, NUMBER)                                                                           \
    X(TRACE_BUFFERS, NUMBER)                                                                       \
    X(TRACE_EVENTS, NUMBER)                                                                        \
    X(TRACE_EVENTS_LOST, NUMBER)                                                                   \
    X(TRACE_BUFFERS_LOST, NUMBER)                                                                  \
    X(TRACE_BYTES, NUMBER)                                                                         \
    X(TRACE_ZERO_TICKS, NUMBER)                                                                    \
    X(TRACE_FIRST_TICKS, NUMBER)                                                                   \
    X(TRACE_LAST_TICKS, NUMBER)                                                                    \
    X(TRACE_STACK_RECORDS, NUMBER)                                                                 \
    X(TRACE_STACKS_MATCHED, NUMBER)                                                                \
    X(TRACE_STACKS_UNMATCHED, NUMBER)                                                              \
    X(TRACE_KEYS_REFERENCED, NUMBER)                                                               \
    X(TRACE_KEYS_RESOLVED, NUMBER)                                                                 \
    X(TRACE_CAN, NUMBER)                                                                           \
    X(HEAP_SIZE_PROCESS, NUMBER)                                                                   \
    X(HEAP_SIZE_HANDLE, HEAP)                                                                      \
    X(HEAP_SIZE_TICKS, NUMBER)                                                                     \
    X(HEAP_SIZE_COMMITTED, NUMBER)                                                                 \
    X(HEAP_SIZE_RESERVED, NUMBER)                                                                  \
    X(HEAP_SIZE_DECOMMITTED, NUMBER)                                                               \
    X(MEMORY_PROCESS, NUMBER)                                                                      \
    X(MEMORY_TICKS, NUMBER)                                                                        \
    X(MEMORY_COMMIT, NUMBER)                                                                       \
    X(MEMORY_AVAILABLE, NUMBER)                                                                    \
    X(MEMORY_WORKING_SET, NUMBER)                                                                  \
    X(MEMORY_PRIVATE, NUMBER)                                                                      \
    X(EVENT_GUID_LOW, EVENT)                                                                       \
    X(EVENT_GUID_HIGH, EVENT)                                                                      \
    X(EVENT_IS_CLASS, EVENT)                                                                       \
    X(EVENT_ID, EVENT)                                                                             \
    X(EVENT_OPCODE, EVENT)                                                                         \
    X(EVENT_VERSION, EVENT)                                                                        \
    X(EVENT_PROVIDER_NAME, EVENT)                                                                  \
    X(EVENT_NAME, EVENT)                                                                           \
    X(EVENT_COUNT, EVENT)                                                                          \
    X(EVENT_BYTES, EVENT)                                                                          \
    X(THREAD_NAME_PID, NUMBER)                                                                     \
    X(THREAD_NAME_TID, NUMBER)                                                                     \
    X(THREAD_NAME_TICKS, NUMBER)                                                                   \
    X(THREAD_NAME_TEXT, THREAD)                                                                    \
    X(PROCESS_MORE_ID, NUMBER)                                                                     \
    X(PROCESS_MORE_PACKAGE, PACKAGE)                                                               \
    X(PROCESS_MORE_SERVICES, SERVICES)                                                             \
    X(LOGGED_NAME_HEAP, NUMBER)                                                                    \
    X(LOGGED_NAME_TEXT, LOGGED)                                                                    \
    X(CUSTOM_PROCESS, NUMBER)                                                                      \
    X(CUSTOM_EVENTS, NUMBER)                                                                       \
    X(CUSTOM_UNPAIRED, NUMBER)                                                                     \
    X(KIND_PROCESS, NUMBER)                                                                        \
    X(KIND_NUMBER, NUMBER)                                                                         \
    X(KIND_EVENTS, NUMBER)                                                                         \
    X(KIND_UNPAIRED, NUMBER)                                                                       \
    X(METHOD_PID, NUMBER)                                                                          \
    X(METHOD_PROCESS, NUMBER)                                                                      \
    X(METHOD_START, NUMBER)                                                                        \
    X(METHOD_SIZE, NUMBER)                                                                         \
    X(METHOD_LOAD, NUMBER)                                                                         \
    X(METHOD_FILE, METHOD)                                                                         \
    X(METHOD_FUNCTION, METHOD)                                                                     \
    X(PLACE_BUILD, NAMES)                                                                          \
    X(PLACE_OFFSET, NAMES)                                                                         \
    X(PLACE_DISPLACEMENT, NAMES)                                                                   \
    X(PLACE_QUALITY, NAMES)                                                                        \
    X(PLACE_TYPE, NAMES)                                                                           \
    X(PLACE_CALLS, NAMES)                                                                          \
    X(CALL_FUNCTION, NAMES)                                                                        \
    X(CALL_FILE, NAMES)                                                                            \
    X(CALL_LINE, NAMES)                                                                            \
    X(BUILD_MODULE, NAMES)                                                                         \
    X(BUILD_STATE, NAMES)                                                                          \
    X(ANONYMISED_SCHEME, NAMES)                                                                    \
    X(ANONYMISED_KEY, NAMES)                                                                       \
    X(SUMMARY_EVERY, SUMMARY)                                                                      \
    X(SOURCE_ID_LOW, SUMMARY)                                                                      \
    X(SOURCE_ID_HIGH, SUMMARY)                                                                     \
    X(SOURCE_FILES, SUMMARY)                                                                       \
    X(SOURCE_SESSION, SUMMARY)                                                                     \
    X(SOURCE_COMPUTER, SUMMARY)                                                                    \
    X(SOURCE_CLOCK, SUMMARY)                                                                       \
    X(SOURCE_CLOCK_HZ, SUMMARY)                                                                    \
    X(SOURCE_OS_BUILD, SUMMARY)                                                                    \
    X(SOURCE_POINTER_BITS, SUMMARY)                                                                \
    X(SOURCE_CPUS, SUMMARY)                                                                        \
    X(SOURCE_START, SUMMARY)                                                                       \
    X(SOURCE_DURATION, SUMMARY)                                                                    \
    X(SOURCE_END, SUMMARY)                                                                         \
    X(SOURCE_FROM, SUMMARY)                                                                        \
    X(SOURCE_BUFFERS, SUMMARY)                                                                     \
    X(SOURCE_EVENTS, SUMMARY)                                                                      \
    X(SOURCE_EVENTS_LOST, SUMMARY)                                                                 \
    X(SOURCE_BUFFERS_LOST, SUMMARY)                                                                \
    X(SOURCE_BYTES, SUMMARY)                                                                       \
    X(SOURCE_STACK_RECORDS, SUMMARY)                                                               \
    X(SOURCE_STACKS_MATCHED, SUMMARY)                                                              \
    X(SOURCE_STACKS_UNMATCHED, SUMMARY)                                                            \
    X(SOURCE_KEYS_REFERENCED, SUMMARY)                                                             \
    X(SOURCE_KEYS_RESOLVED, SUMMARY)                                                               \
    X(SOURCE_CAN, SUMMARY)                                                                         \
    X(SOURCE_FILE_NAME, SUMMARY)                                                                   \
    X(SOURCE_FILE_ID_LOW, SUMMARY)                                                                 \
    X(SOURCE_FILE_ID_HIGH, SUMMARY)                                                                \
    X(SOURCE_DIAGNOSTIC_SOURCE, SUMMARY)                                                           \
    X(SOURCE_DIAGNOSTIC_NAME, SUMMARY)                                                             \
    X(SOURCE_DIAGNOSTIC_COUNT, SUMMARY)                                                            \
    X(SOURCE_DIAGNOSTIC_INVENTORY, SUMMARY)                                                        \
    X(ENTRY_PROCESS, SUMMARY)                                                                      \
    X(ENTRY_STACK, SUMMARY)                                                                        \
    X(ENTRY_KIND, SUMMARY)                                                                         \
    X(ENTRY_TRACES, SUMMARY)                                                                       \
    X(ENTRY_FIRST, SUMMARY)                                                                        \
    X(ENTRY_LAST, SUMMARY)                                                                         \
    X(ENTRY_LEAKED_PEAK_COUNT, SUMMARY)                                                            \
    X(ENTRY_LEAKED_PEAK_SIZE, SUMMARY)                                                             \
    X(ENTRY_FREED_PEAK_COUNT, SUMMARY)                                                             \
    X(ENTRY_FREED_PEAK_SIZE, SUMMARY)                                                              \
    X(SUM_ENTRY, SUMMARY)                                                                          \
    X(SUM_PART, SUMMARY)                                                                           \
    X(SUM_COUNT, SUMMARY)                                                                          \
    X(SUM_SIZE, SUMMARY)                                                                           \
    X(SUM_REALLOC_COUNT, SUMMARY)                                                                  \
    X(SUM_PEAK_COUNT, SUMMARY)                                                                     \
    X(SUM_PEAK_SIZE, SUMMARY)                                                                      \
    X(CELL_ENTRY, SUMMARY)                                                                         \
    X(CELL_WINDOW, SUMMARY)                                                                        \
    X(CELL_WINDOWS, SUMMARY)                                                                       \
    X(CELL_AIFO_COUNT, SUMMARY)                                                                    \
    X(CELL_AIFO_SIZE, SUMMARY)                                                                     \
    X(CELL_AIFI_COUNT, SUMMARY)                                                                    \
    X(CELL_AIFI_SIZE, SUMMARY)                                                                     \
    X(CELL_AOFI_COUNT, SUMMARY)                                                                    \
    X(CELL_AOFI_SIZE, SUMMARY)                                                                     \
    X(CELL_AOFO_COUNT, SUMMARY)                                                                    \
    X(CELL_AOFO_SIZE, SUMMARY)                                                                     \
    X(CELL_PEAK_COUNT, SUMMARY)                                                                    \
    X(CELL_PEAK_SIZE, SUMMARY)

/* The rule of a column; ANONYMISE_UNKNOWN for an unknown id. */
anonymise_rule anonymise_rule_of(u32 column);

#endif
