/*
 * diag.h - diagnostics: names, sentences and counters for damage, loss and guesses.
 *
 * A diagnostic never stops a run. The reader and the engine count it in an etl_diag_counts; reports
 * end with the diagnostics that are not zero. Get the counts from etl_trace_diagnostics or
 * etlheap_result_diagnostics, and their texts from etl_diag_describe.
 *
 *     INFO     normal in a recording
 *     LOSS     events were lost while recording
 *     DAMAGE   the file is damaged
 *     LIMIT    a limit of etlheap applied
 *
 * To add a diagnostic, add one row to the table. All functions may be called from any thread.
 */
#ifndef ETL_DIAG_H
#define ETL_DIAG_H

#include <assert.h>
#include <stdint.h>

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
      "the session lost events: totals may be too low (lost allocations) or too high (lost "       \
      "frees); record with more or larger buffers (xperf -BufferSize 1024 -MinBuffers 512, wpr "   \
      "profile Buffers)")                                                                          \
    X(buffers_lost, LOSS,                                                                          \
      "the session lost whole buffers: totals may be too low (lost allocations) or too high "      \
      "(lost frees); record with more buffers or to a faster disk")                                \
    X(realtime_lost, LOSS,                                                                         \
      "a real-time session reported lost events, buffers or files; record to a file instead")      \
    X(sequence_gaps, LOSS,                                                                         \
      "buffer sequence numbers have gaps: that many buffers are missing in the middle of the "     \
      "recording, with all their events; record with more buffers or to a faster disk")            \
    X(buffers_overwritten, INFO,                                                                   \
      "older buffers were overwritten, as in a circular or memory recording, or lie in an "        \
      "earlier file: the recording is complete only in its recorded span, and memory allocated "   \
      "before it may have been freed unseen")                                                      \
    X(session_not_closed, LOSS,                                                                    \
      "the session was not stopped when the file was copied, so its last buffers are "             \
      "missing; stop it (wpr -stop, xperf -stop) before copying")                                  \
    X(file_truncated, DAMAGE,                                                                      \
      "the file ends inside a buffer: at least that many bytes are missing; copy it again")        \
    X(buffers_missing, DAMAGE,                                                                     \
      "the file has fewer buffers than its header counts: it was cut off between two "             \
      "buffers, or some were overwritten; copy it again")                                          \
    X(file_changed, DAMAGE,                                                                        \
      "files were written to while etlheap read them, so results may mix old and new data; "       \
      "wait until nobody writes to them, or copy them, and run again")                             \
    X(buffer_header_invalid, DAMAGE,                                                               \
      "a buffer header is invalid: its buffer was skipped, or read only as far as the header "     \
      "is plausible; totals may lack its events; copy the file again")                             \
    X(bytes_skipped, DAMAGE,                                                                       \
      "bytes of the file are in no valid buffer: totals lack the events in them; copy the "        \
      "file again")                                                                                \
    X(bytes_unused, INFO, "zero bytes follow the last buffer (a preallocated or unfinished file)") \
    X(buffer_compression_invalid, DAMAGE,                                                          \
      "a compressed buffer is damaged: records before the damage were used, totals lack the "      \
      "rest; copy the file again")                                                                 \
    X(buffer_compression_unsupported, LIMIT,                                                       \
      "a buffer is compressed in a format other than XPRESS: it was skipped, and totals lack "     \
      "its events; merge the recording again without compression (wpr -stop, xperf -d, "           \
      "without -compress)")                                                                        \
    X(buffer_type_unknown, DAMAGE,                                                                 \
      "a buffer of unknown type was skipped: totals lack its events, if it has any")               \
    X(record_invalid, DAMAGE,                                                                      \
      "a record header is invalid: the rest of its buffer was skipped, and totals lack its "       \
      "events; copy the file again")                                                               \
    X(record_bytes_skipped, DAMAGE,                                                                \
      "bytes after an invalid record were skipped; totals lack the events in them")                \
    X(record_kind_unknown, INFO,                                                                   \
      "records with an unknown kind of header were counted but not read")                          \
    X(items_invalid, DAMAGE,                                                                       \
      "extended items of an event are longer than the event: they were ignored, and the "          \
      "event's stack with them")                                                                   \
    X(event_truncated, DAMAGE,                                                                     \
      "an event is shorter than its layout: it was ignored, and totals lack it")                   \
    X(event_version_newer, INFO,                                                                   \
      "events of a newer version than etlheap knows were read like the newest known version; "     \
      "compare a total with WPA's, and look for a newer etlheap")                                  \
    X(description_invalid, DAMAGE,                                                                 \
      "the description of an event's fields contradicts itself: the remaining fields are "         \
      "shown in hexadecimal; totals do not depend on them")                                        \
    X(description_mismatch, INFO,                                                                  \
      "events are shorter than the description of their fields: the missing fields were left "     \
      "out")                                                                                       \
    X(descriptions_limited, LIMIT,                                                                 \
      "descriptions of events after the first 64 MiB were ignored: fields of those events "        \
      "are not shown")                                                                             \
    X(time_backwards, INFO,                                                                        \
      "records have an earlier time than the record before them in the same buffer, because "      \
      "their provider sets the time; they count at the time they state")                           \
    X(clock_set_back, INFO,                                                                        \
      "the clock was set back during the recording, so later buffers have earlier times: their "   \
      "order on each processor was kept, but lifetimes and windows across the step are wrong; "    \
      "record with the performance counter as clock")                                              \
    X(ties_reordered, INFO,                                                                        \
      "frees have the same time as the allocation of their block on another processor, because "   \
      "the clock is coarse: each was put behind its allocation; record with the performance "      \
      "counter as clock")                                                                          \
    X(ties_limited, LIMIT,                                                                         \
      "addresses with more than 64 events at one time were left in the order of processors, so "   \
      "some frees there may match no block; record with the performance counter as clock")         \
    X(time_before_start, DAMAGE,                                                                   \
      "heap or VirtualAlloc events are stamped more than a minute before the session began: "      \
      "their time is wrong, and they count at the session's start; copy the file again")           \
    X(cpu_index_invalid, DAMAGE,                                                                   \
      "buffers name a CPU that the session does not have; their events were used")                 \
    X(log_header_extra, INFO,                                                                      \
      "the file has further log-file headers: files were appended or joined")                      \
    X(clock_mismatch, LIMIT,                                                                       \
      "files with different clocks were joined by wall time: order and stacks across them "        \
      "are good to milliseconds only")                                                             \
    X(stack_unmatched, INFO,                                                                       \
      "stack walks belong to events that are not in the trace: the event was lost, or its "        \
      "kind was not recorded")                                                                     \
    X(stack_key_unresolved, LOSS,                                                                  \
      "stack keys have no definition (buffers were lost, or the session was not stopped): "        \
      "those stacks are unknown")                                                                  \
    X(stack_too_deep, LIMIT, "stacks deeper than the limit were cut at their outer end")           \
    X(alloc_without_stack, INFO,                                                                   \
      "allocations have no stack; record the stacks of what you ask about: xperf -stackwalk "      \
      "HeapAlloc+HeapRealloc, VirtualAlloc, PoolAlloc or HandleCreate, or a wpr profile")          \
    X(stack_wait_limited, LIMIT,                                                                   \
      "stacks that came more than 1,048,576 memory events after their allocation were "            \
      "dropped; record fewer processes")                                                           \
    X(free_without_alloc, INFO, "frees of memory that was allocated before the trace began")       \
    X(alloc_over_live, LOSS,                                                                       \
      "allocations at an address that was still in use: a free was lost, and the older block "     \
      "counts as freed at that moment")                                                            \
    X(key_over_live, LOSS,                                                                         \
      "pool was allocated or a view mapped at an address, or a handle opened with a value, that "  \
      "was still in use: its end was lost, and the older one counts as ended at that moment")      \
    X(create_over_live, INFO,                                                                      \
      "blocks were in a heap whose handle HeapCreate then returned again: the trace lacks the "    \
      "destruction of the heap, and the blocks count as outstanding, or ended later than they "    \
      "did; record with larger buffers")                                                           \
    X(address_in_two_heaps, INFO,                                                                  \
      "outstanding blocks have the address of an outstanding block of another heap: the trace "    \
      "lacks a free or the destruction of a heap, and outstanding sizes are too high; record "     \
      "with larger buffers")                                                                       \
    X(reserve_over_live, LOSS,                                                                     \
      "VirtualAlloc reservations over memory that was still committed: a release was lost, "       \
      "and the memory counts as freed at that moment")                                             \
    X(rundown_size_differs, INFO,                                                                  \
      "the rundown at the end of the recording states other committed sizes for regions than "     \
      "their events add up to: VirtualAlloc or VirtualFree events were lost, or Windows "          \
      "committed pages without an event, as for a thread's stack; sizes may be wrong by the "      \
      "difference")                                                                                \
    X(rundown_range_unseen, INFO,                                                                  \
      "the rundown at the end of the recording lists committed regions that no event made: "       \
      "VirtualAlloc events were lost, or Windows made the regions itself, as for a new "           \
      "thread; outstanding sizes lack them if their process started in the trace")                 \
    X(block_size_differs, INFO,                                                                    \
      "frees or rundowns state another size of a block than its allocation: the size of the "      \
      "allocation counts; events between them were lost")                                          \
    X(rundown_block_unseen, INFO,                                                                  \
      "the rundown at the end of the recording lists blocks that no event made: allocations were " \
      "lost, and the blocks count as allocated before the trace")                                  \
    X(rundown_block_missing, INFO,                                                                 \
      "outstanding blocks are not in the rundown at the end of the recording: their frees were "   \
      "lost, and outstanding sizes are too high")                                                  \
    X(pool_rundown_unknown, INFO,                                                                  \
      "rundowns of kernel pools have a length that fits no known layout, and were skipped: older " \
      "pool blocks may be missing")                                                                \
    X(section_range_unknown, INFO,                                                                 \
      "sections of the page file have a range that tells no size, and were skipped")               \
    X(handle_process_unknown, LOSS,                                                                \
      "handle events name no process, neither in their header nor by a call stack, and were "      \
      "skipped: handles are missing; record the call stacks of handles")                           \
    X(realloc_synthesized, LOSS,                                                                   \
      "moving reallocs lack their own alloc or free event; it was taken from the realloc")         \
    X(pairing_guessed, INFO,                                                                       \
      "frees and reallocs match more than one block, because records are missing or out of "       \
      "order: the likelier block was chosen, so single lifetimes may be wrong; record with "       \
      "larger buffers")                                                                            \
    X(process_unknown, INFO,                                                                       \
      "processes have no name; record the kernel session too (xperf -on PROC_THREAD+LOADER)")      \
    X(process_start_missing, INFO,                                                                 \
      "processes took over a process id whose former owner's end is not in the trace")             \
    X(heap_recreated, INFO,                                                                        \
      "heaps got the handle of a destroyed heap: a row of such a handle adds up all heaps "        \
      "that had it")                                                                               \
    X(heap_size_differs, INFO,                                                                     \
      "events state another committed size of a heap than its commits and decommits add up to: "   \
      "the stated size counts, and sizes between such events may be wrong")                        \
    X(marks_left_out, LIMIT,                                                                       \
      "marks after the first 65,536 were left out; record fewer, or select fewer events")          \
    X(mark_name_cut, LIMIT, "names of marks were cut after 255 bytes; use shorter names")          \
    X(trace_without_memory_events, INFO,                                                           \
      "the trace has no heap and no VirtualAlloc events; record with: wpr -start Heap, or "        \
      "xperf -start HeapSession -heap -pids PID -stackwalk HeapAlloc+HeapRealloc")                 \
    X(trace_without_modules, INFO,                                                                 \
      "the trace has no image events, so stacks are bare addresses; record the kernel "            \
      "session with LOADER")                                                                       \
    X(module_guessed, LIMIT,                                                                       \
      "call stacks have frames in modules that were not loaded at that moment: they have the "     \
      "name of the module that was loaded there before or later, which may be wrong; record "      \
      "with LOADER, from before the program starts, and without losing events")                    \
    X(method_size_odd, DAMAGE,                                                                     \
      "methods of .NET claim 16 MiB of code or more; they name no frames")                         \
    X(symbol_missing, INFO, "modules have no symbols: their frames are module+offset")             \
    X(symbol_exports_only, INFO,                                                                   \
      "modules have no PDB: their frames carry the name of the nearest exported function, "        \
      "which may be wrong")                                                                        \
    X(snapshot_lines_skipped, DAMAGE,                                                              \
      "lines of a log have an unknown form: if they describe blocks, those are missing")           \
    X(symbol_unidentified, INFO,                                                                   \
      "the trace does not state the build of modules, so no PDB can be chosen; merge the "         \
      "trace on the machine that recorded it (wpr -stop, xperf -d)")                               \
    X(symbol_file_damaged, DAMAGE,                                                                 \
      "symbol files are partly damaged: the functions there have no names")                        \
    X(symbol_mismatch, INFO,                                                                       \
      "symbol files have the right name but belong to another build (GUID, age or time stamp "     \
      "differ); they were not used")                                                               \
    X(symbol_loose, INFO,                                                                          \
      "symbol files of another build were accepted: names and lines from them may be wrong")       \
    X(symbol_file_unusable, DAMAGE,                                                                \
      "symbol files are damaged or of an unsupported kind; they were not used")                    \
    X(symbol_cabinet_invalid, DAMAGE,                                                              \
      "compressed symbol files (.pd_, .dl_) cannot be expanded; they were not used")               \
    X(symbol_folder_missing, INFO, "folders of the symbol path do not exist or cannot be read")    \
    X(symbol_withheld, INFO,                                                                       \
      "a file.ptr in the symbol store says that symbol files are not available")                   \
    X(symbol_pointer_unreachable, INFO,                                                            \
      "the symbol store points (file.ptr) to a place that cannot be reached from here, such "      \
      "as a Windows share")                                                                        \
    X(symbol_cache_unwritable, INFO,                                                               \
      "symbol files could not be kept in a cache folder of the symbol path; check its "            \
      "permissions and free space")                                                                \
    X(symbol_server_unreachable, INFO,                                                             \
      "symbol servers did not answer and were skipped for the rest of this run; run again")        \
    X(symbol_server_unasked, INFO,                                                                 \
      "symbol servers were not asked, because libcurl, which fetches from them, is not "           \
      "installed, too old or does not start (on Debian: package libcurl4)")                        \
    X(symbol_server_denied, INFO,                                                                  \
      "a symbol server wants a login, or refused the one that it got (HTTP 401 or 403)")           \
    X(symbol_answer_rejected, INFO,                                                                \
      "a symbol server answered with something other than a symbol file (often the page of a "     \
      "login or proxy); the answer was discarded")                                                 \
    X(symbol_download_failed, INFO,                                                                \
      "downloads were interrupted repeatedly; the received part is kept, and the next run "        \
      "resumes it")                                                                                \
    X(symbol_too_large, LIMIT,                                                                     \
      "symbol files are larger than the limit for downloads; they were not fetched")               \
    X(symbol_too_slow, LIMIT,                                                                      \
      "downloads of symbol files took longer than the time limit; what can be resumed is kept")    \
    X(symbol_login_unsent, INFO,                                                                   \
      "a login was not sent to a symbol server, because the address does not begin with https "    \
      "or the token contains control characters")                                                  \
    X(symbol_proxy_denied, INFO,                                                                   \
      "the proxy wants a login, or refused the one that it got (HTTP 407)")                        \
    X(symbol_server_untrusted, INFO,                                                               \
      "the certificate of a symbol server is not trusted on this computer, or cannot be checked; " \
      "install the certificate of its authority, or of the proxy that opens TLS connections")      \
    X(symbol_redirect_refused, INFO,                                                               \
      "a symbol server redirected in a way that is not followed: to a private address, from "      \
      "https to http, in circles, or at all if libcurl is older than 7.80")

typedef enum etl_diag {
#define ETL_DIAG_ENUM(name, severity, sentence) ETL_DIAG_##name,
    ETL_DIAGNOSTICS(ETL_DIAG_ENUM)
#undef ETL_DIAG_ENUM
        ETL_DIAG_COUNT
} etl_diag;

/* The length of counts. It is larger than the number of diagnostics, so that etl_diag_counts keeps
 * its size when one is added. */
#define ETL_DIAG_CAPACITY 128

static_assert((int)ETL_DIAG_COUNT <= ETL_DIAG_CAPACITY, "a diagnostic has a counter");

/* One counter per diagnostic, indexed by etl_diag. Start from {0}. Counters stop at UINT64_MAX.
 * Elements beyond the last enumerator are 0. */
typedef struct etl_diag_counts {
    uint64_t of[ETL_DIAG_CAPACITY];
} etl_diag_counts;

/* Facts about a diagnostic. Static. */
typedef struct etl_diag_info {
    const char *name; /* "events_lost" */
    etl_severity severity;
    const char *advice; /* one sentence: what it means, and what to do */
} etl_diag_info;

/* [stable] Name, severity and sentence; NULL for a number out of range. Static. */
const etl_diag_info *etl_diag_describe(etl_diag diag);

/* [stable] The hint of a diagnostic (hint.h), or ETL_HINT_NONE. */
etl_hint etl_diag_hint(etl_diag diag);

/* [stable] "info", "loss", "damage", "limit"; "unknown" for a number out of range. Static text. */
const char *etl_severity_name(etl_severity severity);

/* Counts a diagnostic n times. Numbers out of range are ignored. */
static inline void etl_diag_add(etl_diag_counts *counts, etl_diag diag, uint64_t n)
{
    if ((unsigned)diag < ETL_DIAG_COUNT)
        counts->of[diag] = n < UINT64_MAX - counts->of[diag] ? counts->of[diag] + n : UINT64_MAX;
}

/* Adds all counters of `from` to `into`. */
static inline void etl_diag_merge(etl_diag_counts *into, const etl_diag_counts *from)
{
    for (int i = 0; i < ETL_DIAG_COUNT; i++)
        etl_diag_add(into, (etl_diag)i, from->of[i]);
}

#ifdef __cplusplus
}
#endif

#endif
