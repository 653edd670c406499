/*
 * diag.h - every kind of damage, loss and oddity has a name.
 *
 * Nothing here stops a run. A diagnostic is counted by enum and shown by name
 * with its sentence; reports end with the rows that are not zero, and the program can
 * make a failure of DAMAGE and LOSS. INFO is normal, LOSS happened while
 * recording, DAMAGE is in the file, LIMIT is ours.
 *
 * Adding one is adding one row.
 */
#ifndef ETL_DIAG_H
#define ETL_DIAG_H

#include "base.h"
#include "hint.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum etl_severity {
    ETL_SEVERITY_INFO,
    ETL_SEVERITY_LOSS,
    ETL_SEVERITY_DAMAGE,
    ETL_SEVERITY_LIMIT
} etl_severity;

#define ETL_DIAGNOSTICS(X)                                                                         \
    X(events_lost, LOSS,                                                                           \
      "the session lost events: totals are lower bounds and some frees may be missing; record "    \
      "with more or larger buffers (xperf -BufferSize 1024 -MinBuffers 512, wpr profile Buffers)") \
    X(buffers_lost, LOSS,                                                                          \
      "the session lost whole buffers: totals are lower bounds; record with more buffers or to a " \
      "faster disk")                                                                               \
    X(realtime_lost, LOSS,                                                                         \
      "a real-time session reported lost events, buffers or files; record to a file instead")      \
    X(sequence_gaps, LOSS,                                                                         \
      "buffer sequence numbers have gaps: that many buffers are missing from the file (normal at " \
      "the start of a circular or memory recording)")                                              \
    X(session_not_closed, LOSS,                                                                    \
      "the session was not stopped when the file was copied: its last buffers are missing; stop "  \
      "it (wpr -stop, xperf -stop) before copying")                                                \
    X(file_truncated, DAMAGE,                                                                      \
      "the file ends inside a buffer: that many bytes are missing at least; copy it again")        \
    X(buffers_missing, DAMAGE,                                                                     \
      "the file has fewer buffers than its log-file header counts: it was cut off between two, "   \
      "or some were overwritten; copy it again")                                                   \
    X(file_changed, DAMAGE,                                                                        \
      "files that were written to while they were read: what is told of them may be mixed from "   \
      "before and after; wait until nobody writes to them, or copy them, and run again")           \
    X(buffer_header_invalid, DAMAGE,                                                               \
      "a buffer header fails its checks; its buffer was skipped, or read as far as the header "    \
      "can be believed: totals may lack its events; copy the file again")                          \
    X(bytes_skipped, DAMAGE,                                                                       \
      "bytes of the file that no valid buffer covers: totals lack the events in them; copy the "   \
      "file again")                                                                                \
    X(bytes_unused, INFO, "zero bytes after the last buffer (a preallocated or unfinished file)")  \
    X(buffer_compression_invalid, DAMAGE,                                                          \
      "a compressed buffer does not decode; the records before the damage were used, totals lack " \
      "the rest; copy the file again")                                                             \
    X(buffer_compression_unsupported, LIMIT,                                                       \
      "a buffer is compressed in a format other than XPRESS; it was skipped and totals lack its "  \
      "events; merge the recording again without compression (wpr -stop, xperf -d, without "       \
      "-compress)")                                                                                \
    X(buffer_type_unknown, DAMAGE,                                                                 \
      "a buffer of unknown type was skipped: totals lack its events, if it has any")               \
    X(record_invalid, DAMAGE,                                                                      \
      "a record header fails its checks; the rest of its buffer was skipped and totals lack its "  \
      "events; copy the file again")                                                               \
    X(record_bytes_skipped, DAMAGE,                                                                \
      "bytes after an invalid record that were skipped: so much of the trace is not in the "       \
      "totals")                                                                                    \
    X(record_kind_unknown, INFO, "records of a header kind we do not know were counted only")      \
    X(items_invalid, DAMAGE,                                                                       \
      "extended items of an event overrun it; they were ignored, and with them its stack")         \
    X(event_truncated, DAMAGE,                                                                     \
      "an event is shorter than its layout; it was ignored and totals lack it")                    \
    X(event_version_newer, INFO,                                                                   \
      "events of a newer version than we know were read as the newest one we know; compare a "     \
      "total with WPA's, and look for a newer etlheap")                                            \
    X(description_invalid, DAMAGE,                                                                 \
      "descriptions of an event's fields that contradict themselves; the fields after that are "   \
      "shown in hexadecimal, and no totals depend on them")                                        \
    X(description_mismatch, INFO,                                                                  \
      "events that are shorter than the description of their fields; the fields that are missing " \
      "were left out")                                                                             \
    X(descriptions_limited, LIMIT,                                                                 \
      "descriptions of events beyond the first 64 MiB of them were ignored: fields of those "      \
      "events are not shown")                                                                      \
    X(time_backwards, INFO,                                                                        \
      "records whose time is before their predecessor's in the same buffer: their provider sets "  \
      "it; they count at the time they name")                                                      \
    X(time_before_start, DAMAGE,                                                                   \
      "heap or VirtualAlloc events whose time is more than a minute before the session began: "    \
      "the time stamp is wrong, and they count at the session's beginning; copy the file again")   \
    X(cpu_index_invalid, DAMAGE,                                                                   \
      "buffers naming a CPU that the session does not have; their events were used")               \
    X(log_header_extra, INFO, "log-file headers after the first: appended or joined files")        \
    X(clock_mismatch, LIMIT,                                                                       \
      "files with different clocks were joined by wall time: order and stacks across them are "    \
      "good to milliseconds only")                                                                 \
    X(stack_unmatched, INFO,                                                                       \
      "stack walks whose event is not in the trace: it was lost, or is of a kind that was not "    \
      "recorded")                                                                                  \
    X(stack_key_unresolved, LOSS,                                                                  \
      "stack keys without a definition (lost buffers, or the session was not stopped): those "     \
      "stacks are unknown")                                                                        \
    X(stack_too_deep, LIMIT, "stacks deeper than we keep were cut at their outer end")             \
    X(alloc_without_stack, INFO,                                                                   \
      "allocations without a stack; enable stacks for HeapAlloc, HeapRealloc and VirtualAlloc "    \
      "(xperf -stackwalk HeapAlloc+HeapRealloc, wpr heap profile)")                                \
    X(stack_wait_limited, LIMIT,                                                                   \
      "allocations whose stack did not come within the next 1,048,576 memory events: one that "    \
      "came later was dropped; record fewer processes")                                            \
    X(free_without_alloc, INFO, "frees of memory allocated before the trace began")                \
    X(alloc_over_live, LOSS,                                                                       \
      "allocations at an address that was still in use: a free was lost; it was taken as freed "   \
      "at that moment")                                                                            \
    X(reserve_over_live, LOSS,                                                                     \
      "VirtualAlloc reservations over memory that was still committed: a release was lost; the "   \
      "memory was taken as freed at that moment")                                                  \
    X(rundown_size_differs, INFO,                                                                  \
      "regions of which the rundown at the end of the recording tells another committed size "     \
      "than their events add up to: VirtualAlloc or VirtualFree events were lost, or Windows "     \
      "committed pages without one, as for the stack of a thread; their rows may be wrong by the " \
      "difference")                                                                                \
    X(rundown_range_unseen, INFO,                                                                  \
      "committed regions in the rundown at the end of the recording that no event made: "          \
      "VirtualAlloc events were lost, or Windows made them itself, as for a new thread; "          \
      "outstanding sizes lack those of processes that started in the trace")                       \
    X(realloc_synthesized, LOSS,                                                                   \
      "moving reallocs whose own alloc or free is missing; it was supplied from the realloc")      \
    X(pairing_guessed, INFO,                                                                       \
      "frees and reallocs that more than one block explains, because records are missing or out "  \
      "of order: the likelier block was chosen, so single lifetimes may be wrong; record with "    \
      "larger buffers")                                                                            \
    X(process_unknown, INFO,                                                                       \
      "processes without a name: record the kernel session too (xperf -on PROC_THREAD+LOADER)")    \
    X(process_start_missing, INFO,                                                                 \
      "processes that took over a process id whose former owner's end is not in the trace")        \
    X(heap_recreated, INFO,                                                                        \
      "heaps that got the handle of a destroyed one: the rows of such a handle add up all of its " \
      "heaps")                                                                                     \
    X(marks_left_out, LIMIT,                                                                       \
      "marks after the first 65,536, which were left out: record fewer, or select fewer events")   \
    X(mark_name_cut, LIMIT, "names of marks that were cut after 255 bytes; use shorter ones")      \
    X(trace_without_memory_events, INFO,                                                           \
      "the trace has no heap and no VirtualAlloc events; record with: wpr -start Heap, or xperf "  \
      "-start HeapSession -heap -pids PID -stackwalk HeapAlloc+HeapRealloc")                       \
    X(trace_without_modules, INFO,                                                                 \
      "no image events: stacks are bare addresses; record the kernel session with LOADER")         \
    X(module_guessed, LIMIT,                                                                       \
      "call stacks with frames in modules that were not loaded at that moment: they are named "    \
      "after the module that was there before or later, which may be another one; record with "    \
      "LOADER, from before the program starts, and without losing events")                         \
    X(method_size_odd, DAMAGE,                                                                     \
      "methods of .NET that claim 16 MiB of code or more: they name no frames")                    \
    X(symbol_missing, INFO, "modules without symbols: their frames are module+offset")             \
    X(symbol_exports_only, INFO,                                                                   \
      "modules without a PDB: their frames are named after the nearest exported function, which "  \
      "may be another one")                                                                        \
    X(snapshot_lines_skipped, DAMAGE,                                                              \
      "lines of a log that are of no known form; their blocks, if they are any, are missing")      \
    X(symbol_unidentified, INFO,                                                                   \
      "modules of which the trace does not say the build, so that no PDB can be chosen; merge "    \
      "the trace on the machine it was recorded on (wpr -stop, xperf -d)")                         \
    X(symbol_file_damaged, DAMAGE,                                                                 \
      "symbol files that are damaged in places: the functions there have no names")                \
    X(symbol_mismatch, INFO,                                                                       \
      "symbol files of the right name that belong to another build (GUID, age or time stamp "      \
      "differ); they were not used")                                                               \
    X(symbol_loose, INFO,                                                                          \
      "symbol files of another build that were accepted all the same: names and lines from them "  \
      "may be wrong")                                                                              \
    X(symbol_file_unusable, DAMAGE,                                                                \
      "symbol files that are damaged or of a kind we do not read; they were passed over")          \
    X(symbol_cabinet_invalid, DAMAGE,                                                              \
      "compressed symbol files (.pd_, .dl_) that do not expand; they were passed over")            \
    X(symbol_folder_missing, INFO,                                                                 \
      "folders of the symbol path that do not exist or cannot be read")                            \
    X(symbol_withheld, INFO,                                                                       \
      "symbol files whose store says, in a file.ptr, that they are not available")                 \
    X(symbol_pointer_unreachable, INFO,                                                            \
      "symbol files whose store points (file.ptr) to a place that cannot be reached from here, "   \
      "such as a Windows share")                                                                   \
    X(symbol_cache_unwritable, INFO,                                                               \
      "symbol files that could not be kept in a cache folder of the symbol path; check its "       \
      "permissions and free space")                                                                \
    X(symbol_server_unreachable, INFO,                                                             \
      "symbol servers that did not answer and were given up for this run; run again")              \
    X(symbol_server_unasked, INFO,                                                                 \
      "symbol servers that were not asked: libcurl, which fetches from them, is not installed, "   \
      "too old or does not start (on Debian: package libcurl4)")                                   \
    X(symbol_server_denied, INFO,                                                                  \
      "requests that a symbol server refused without a login (HTTP 401 or 403); check the "        \
      "address and the access token in the symbol path")                                           \
    X(symbol_answer_rejected, INFO,                                                                \
      "answers of a symbol server that were no symbol files (often the page of a login or "        \
      "proxy); they were thrown away")                                                             \
    X(symbol_download_failed, INFO,                                                                \
      "downloads that were cut off again and again; the part received is kept and the next run "   \
      "resumes it")                                                                                \
    X(symbol_too_large, LIMIT,                                                                     \
      "symbol files larger than the limit for downloads; they were not fetched")

typedef enum etl_diag {
#define ETL_DIAG_ENUM(name, severity, sentence) ETL_DIAG_##name,
    ETL_DIAGNOSTICS(ETL_DIAG_ENUM)
#undef ETL_DIAG_ENUM
        ETL_DIAG_COUNT
} etl_diag;

/* Room for diagnostics: the size of the counts stays as it is when one is added. */
#define ETL_DIAG_CAPACITY 128

static_assert((int)ETL_DIAG_COUNT <= ETL_DIAG_CAPACITY, "a diagnostic has a counter");

/* One counter per diagnostic, owned by whoever counts; sums saturate. What is beyond the
 * last enumerator is 0. */
typedef struct etl_diag_counts {
    u64 of[ETL_DIAG_CAPACITY];
} etl_diag_counts;

typedef struct etl_diag_info {
    const char *name; /* "events_lost" */
    etl_severity severity;
    const char *advice; /* one sentence: what it means and what to do */
} etl_diag_info;

/* The table's row; NULL for what is no diagnostic. */
const etl_diag_info *etl_diag_describe(etl_diag diag);

/* What would help with it, if a program has something for that; else ETL_HINT_NONE. */
etl_hint etl_diag_hint(etl_diag diag);

/* "info", "loss", "damage", "limit"; "unknown" for what is none. */
const char *etl_severity_name(etl_severity severity);

static inline void etl_diag_add(etl_diag_counts *counts, etl_diag diag, u64 n)
{
    if ((unsigned)diag < ETL_DIAG_COUNT)
        counts->of[diag] = etl_sat_add_u64(counts->of[diag], n);
}

static inline void etl_diag_merge(etl_diag_counts *into, const etl_diag_counts *from)
{
    for (int i = 0; i < ETL_DIAG_COUNT; i++)
        into->of[i] = etl_sat_add_u64(into->of[i], from->of[i]);
}

#ifdef __cplusplus
}
#endif

#endif
