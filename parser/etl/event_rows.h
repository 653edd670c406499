/*
 * event_rows.h - all decoded events, as data (private to the parser).
 *
 * An event is one block: a row with its key, its kind (events.h), the newest known version, how its
 * payload is read, and its name; and for a regular payload the list of its values, in the order of
 * the bytes. Rows and lists make up the decoder table (decode.c), the fields that `dump` shows
 * (describe.c) and the names (names.c). To add an event, write its block here with its source, its
 * kind in events.h, and one vector in the tests.
 *
 * Rows, X(key, kind, newest version, payload, name), are in one list per class, for which decode.c
 * has one page. The payload is one of
 *
 *     LAYOUT(list)  read and shown by the list ETL_LAYOUT_<list>
 *     CODED(body)   read by etl_decode_<body> of a decode_*.c, shown by <body>_fields of
 *                   describe.c: frequent records, and those that no list can describe
 *
 * ALSO() is X() for further keys of a kind that has a row: read in the same way, with another name.
 *
 * Values, V(since, bytes, member, shown, label):
 *
 *     since   the version that added the value; in older records it is 0 or empty
 *     bytes   what is on disk, an ETL_BYTES_* below; its member has that type
 *     shown   the etl_field_type to show it with
 *     label   its name in output: as the member, without the unit
 *
 * GAP(since, bytes) is a value that is skipped. LATE() is V() for a value that newer builds of
 * Windows append without a new version: all LATE values are read if the payload has room for all of
 * them. Values before the first text or LATE value must be present; texts, and what follows one,
 * are empty if missing, because writers leave them off.
 */
#ifndef ETL_EVENT_ROWS_H
#define ETL_EVENT_ROWS_H

#include "layout_descriptions.h"
#include "layout_events.h"
#include "layout_handle.h"
#include "layout_heap_pages.h"
#include "layout_mapped.h"
#include "layout_pool.h"

/* The type of a value on disk, and of its member. */
typedef enum etl_bytes_type {
    ETL_BYTES_U8,     /* u8 */
    ETL_BYTES_U16,    /* u16 */
    ETL_BYTES_U32,    /* u32 */
    ETL_BYTES_U64,    /* u64 */
    ETL_BYTES_PTR,    /* a pointer or size_t; u64 */
    ETL_BYTES_PTRS8,  /* eight of these, kept as their sum; u64 */
    ETL_BYTES_GUID,   /* 16 bytes; etl_guid */
    ETL_BYTES_TEXT8,  /* 8-bit text with a NUL; etl_bytes */
    ETL_BYTES_TEXT16, /* UTF-16 with a NUL; etl_bytes */
} etl_bytes_type;

/* --- heaps: see layout_events.h for the classes' common ground ----------------- */

/* Source: phnt, MOF and TE agree. The sizes came with version 3. */
#define ETL_LAYOUT_HEAP_CREATE(V, GAP, LATE)                                                       \
    V(0, PTR, heap_create.heap_handle, HEX64, "heap_handle")                                       \
    V(0, U32, heap_create.heap_flags, HEX32, "heap_flags")                                         \
    V(3, PTR, heap_create.reserved_space_bytes, U64, "reserved_space")                             \
    V(3, PTR, heap_create.committed_space_bytes, U64, "committed_space")                           \
    V(3, PTR, heap_create.allocated_space_bytes, U64, "allocated_space")

/* Heap/Destroy and HeapRange/Destroy. Source: phnt, MOF, TE. */
#define ETL_LAYOUT_HEAP_HANDLE(V, GAP, LATE)                                                       \
    V(0, PTR, heap_handle.heap_handle, HEX64, "heap_handle")

/* Expand, and Contract with what is decommitted. Source: phnt, MOF, TE. */
#define ETL_LAYOUT_HEAP_EXTENT(V, GAP, LATE)                                                       \
    V(0, PTR, heap_extent.heap_handle, HEX64, "heap_handle")                                       \
    V(0, PTR, heap_extent.size_bytes, U64, "size")                                                 \
    V(0, PTR, heap_extent.address, HEX64, "address")                                               \
    V(0, PTR, heap_extent.free_space_bytes, U64, "free_space")                                     \
    V(0, PTR, heap_extent.committed_space_bytes, U64, "committed_space")                           \
    V(0, PTR, heap_extent.reserved_space_bytes, U64, "reserved_space")                             \
    V(0, U32, heap_extent.ucr_count, U32, "ucr_count")                                             \
    V(3, PTR, heap_extent.allocated_space_bytes, U64, "allocated_space")

#define ETL_ROWS_HEAP(X, ALSO)                                                                     \
    X(HOOK_HEAP_CREATE, HEAP_CREATE, 3, LAYOUT(HEAP_CREATE), "Heap/Create")                        \
    X(HOOK_HEAP_ALLOC, HEAP_ALLOC, 3, CODED(heap_alloc), "Heap/Alloc")                             \
    X(HOOK_HEAP_REALLOC, HEAP_REALLOC, 3, CODED(heap_realloc), "Heap/ReAlloc")                     \
    X(HOOK_HEAP_DESTROY, HEAP_DESTROY, 3, LAYOUT(HEAP_HANDLE), "Heap/Destroy")                     \
    X(HOOK_HEAP_FREE, HEAP_FREE, 3, CODED(heap_free), "Heap/Free")                                 \
    X(HOOK_HEAP_EXPAND, HEAP_EXPAND, 3, LAYOUT(HEAP_EXTENT), "Heap/Expand")                        \
    X(HOOK_HEAP_CONTRACT, HEAP_CONTRACT, 3, LAYOUT(HEAP_EXTENT), "Heap/Contract")                  \
    X(HOOK_HEAP_SNAPSHOT, HEAP_SNAPSHOT, 4, CODED(heap_snapshot), "Heap/SnapShot")                 \
    ETL_ROWS_HEAP_PAGES(X, ALSO)

/* --- memory: VirtualAlloc, heap ranges, samples of the physical memory -------- */

/* Source: MOF, TE, for Create and for Reserve and Release. */
#define ETL_LAYOUT_HEAP_RANGE_CREATE(V, GAP, LATE)                                                 \
    V(0, PTR, heap_range_create.heap_handle, HEX64, "heap_handle")                                 \
    V(0, PTR, heap_range_create.first_range_size_bytes, U64, "first_range_size")                   \
    V(0, U32, heap_range_create.flags, HEX32, "flags")

#define ETL_LAYOUT_HEAP_RANGE(V, GAP, LATE)                                                        \
    V(0, PTR, heap_range.heap_handle, HEX64, "heap_handle")                                        \
    V(0, PTR, heap_range.address, HEX64, "address")                                                \
    V(0, PTR, heap_range.size_bytes, U64, "size")

/* Like VirtualAlloc, with CommitSizeInBytes added. Source: MOF, TE. */
#define ETL_LAYOUT_VIRTUAL_RUNDOWN(V, GAP, LATE)                                                   \
    V(0, PTR, virtual_memory.base_address, HEX64, "base_address")                                  \
    V(0, PTR, virtual_memory.region_size_bytes, U64, "region_size")                                \
    V(0, U32, virtual_memory.process_id, U32, "process_id")                                        \
    V(0, U32, virtual_memory.flags, HEX32, "flags")                                                \
    V(0, PTR, virtual_memory.commit_size_bytes, U64, "commit_size")

/* Page counts. Source: phnt; the order of the last four is from the same event of the manifest
 * provider. */
#define ETL_LAYOUT_MEMINFO(V, GAP, LATE)                                                           \
    V(0, PTR, meminfo.zero_pages, U64, "zero_pages")                                               \
    V(0, PTR, meminfo.free_pages, U64, "free_pages")                                               \
    V(0, PTR, meminfo.modified_pages, U64, "modified_pages")                                       \
    V(0, PTR, meminfo.modified_no_write_pages, U64, "modified_no_write_pages")                     \
    V(0, PTR, meminfo.bad_pages, U64, "bad_pages")                                                 \
    V(0, PTRS8, meminfo.standby_pages, U64, "standby_pages")                                       \
    V(0, PTRS8, meminfo.repurposed_pages, U64, "repurposed_pages")                                 \
    V(0, PTR, meminfo.modified_page_file_pages, U64, "modified_page_file_pages")                   \
    LATE(0, PTR, meminfo.paged_pool_commit_pages, U64, "paged_pool_commit_pages")                  \
    LATE(0, PTR, meminfo.non_paged_pool_pages, U64, "non_paged_pool_pages")                        \
    LATE(0, PTR, meminfo.mdl_pages, U64, "mdl_pages")                                              \
    LATE(0, PTR, meminfo.commit_pages, U64, "commit_pages")

#define ETL_ROWS_MEMORY(X, ALSO)                                                                   \
    X(HOOK_VIRTUAL_ALLOC, VIRTUAL_ALLOC, 2, CODED(virtual_memory), "PageFault/VirtualAlloc")       \
    X(HOOK_VIRTUAL_FREE, VIRTUAL_FREE, 2, CODED(virtual_memory), "PageFault/VirtualFree")          \
    X(HOOK_VIRTUAL_ALLOC_DCSTART, VIRTUAL_ALLOC_DCSTART, 2, LAYOUT(VIRTUAL_RUNDOWN),               \
      "PageFault/VirtualAllocDCStart")                                                             \
    X(HOOK_VIRTUAL_ALLOC_DCEND, VIRTUAL_ALLOC_DCEND, 2, LAYOUT(VIRTUAL_RUNDOWN),                   \
      "PageFault/VirtualAllocDCEnd")                                                               \
    X(HOOK_HEAP_RANGE_RUNDOWN, HEAP_RANGE_RUNDOWN, 3, CODED(heap_range_rundown),                   \
      "HeapRange/Rundown")                                                                         \
    X(HOOK_HEAP_RANGE_CREATE, HEAP_RANGE_CREATE, 3, LAYOUT(HEAP_RANGE_CREATE), "HeapRange/Create") \
    X(HOOK_HEAP_RANGE_RESERVE, HEAP_RANGE_RESERVE, 3, LAYOUT(HEAP_RANGE), "HeapRange/Reserve")     \
    X(HOOK_HEAP_RANGE_RELEASE, HEAP_RANGE_RELEASE, 3, LAYOUT(HEAP_RANGE), "HeapRange/Release")     \
    X(HOOK_HEAP_RANGE_DESTROY, HEAP_RANGE_DESTROY, 3, LAYOUT(HEAP_HANDLE), "HeapRange/Destroy")    \
    X(HOOK_MEMINFO, MEMINFO, 2, LAYOUT(MEMINFO), "PageFault/MemInfo")                              \
    X(HOOK_MEMINFO_WS, MEMINFO_WS, 2, CODED(meminfo_ws), "PageFault/MemInfoWS")                    \
    X(HOOK_MEMINFO_SESSION_WS, MEMINFO_SESSION_WS, 2, CODED(meminfo_ws),                           \
      "PageFault/MemInfoSessionWS")                                                                \
    ETL_ROWS_SECTION(X, ALSO)

/* --- processes and threads ----------------------------------------------------- */

/* Source: MOF. */
#define ETL_LAYOUT_PROCESS_TERMINATE(V, GAP, LATE) V(0, U32, process.process_id, U32, "process_id")

#define ETL_ROWS_PROCESS(X, ALSO)                                                                  \
    X(HOOK_PROCESS_START, PROCESS_START, 5, CODED(process), "Process/Start")                       \
    X(HOOK_PROCESS_END, PROCESS_END, 5, CODED(process), "Process/End")                             \
    X(HOOK_PROCESS_DCSTART, PROCESS_DCSTART, 5, CODED(process), "Process/DCStart")                 \
    X(HOOK_PROCESS_DCEND, PROCESS_DCEND, 5, CODED(process), "Process/DCEnd")                       \
    X(HOOK_PROCESS_DEFUNCT, PROCESS_DEFUNCT, 5, CODED(process_defunct), "Process/Defunct")         \
    X(HOOK_PROCESS_TERMINATE, PROCESS_TERMINATE, 2, LAYOUT(PROCESS_TERMINATE),                     \
      "Process/Terminate")                                                                         \
    X(HOOK_IMAGE_LOAD, IMAGE_LOAD, 3, CODED(image), "Image/Load")

/* Source: MOF, TE. Seen 57. */
#define ETL_LAYOUT_THREAD_NAME(V, GAP, LATE)                                                       \
    V(0, U32, thread.process_id, U32, "process_id")                                                \
    V(0, U32, thread.thread_id, U32, "thread_id")                                                  \
    V(0, TEXT16, thread.name, TEXT16, "name")

#define ETL_ROWS_THREAD(X, ALSO)                                                                   \
    X(HOOK_THREAD_START, THREAD_START, 4, CODED(thread), "Thread/Start")                           \
    X(HOOK_THREAD_END, THREAD_END, 4, CODED(thread), "Thread/End")                                 \
    X(HOOK_THREAD_DCSTART, THREAD_DCSTART, 4, CODED(thread), "Thread/DCStart")                     \
    X(HOOK_THREAD_DCEND, THREAD_DCEND, 4, CODED(thread), "Thread/DCEnd")                           \
    X(HOOK_THREAD_SET_NAME, THREAD_SET_NAME, 2, LAYOUT(THREAD_NAME), "Thread/SetName")

/* --- the machine, and marks ----------------------------------------------------- */

/* Source: MOF, phnt. Seen 3. */
#define ETL_LAYOUT_CONFIG_PLATFORM(V, GAP, LATE)                                                   \
    V(0, TEXT16, config_platform.manufacturer, TEXT16, "manufacturer")                             \
    V(0, TEXT16, config_platform.product, TEXT16, "product")                                       \
    V(0, TEXT16, config_platform.bios_date, TEXT16, "bios_date")                                   \
    V(0, TEXT16, config_platform.bios_version, TEXT16, "bios_version")

/* Source: MOF, TE; what version 3 adds: MOF. Seen: 480 of version 3. */
#define ETL_LAYOUT_CONFIG_SERVICE(V, GAP, LATE)                                                    \
    V(0, U32, config_service.process_id, U32, "process_id")                                        \
    V(0, U32, config_service.state, U32, "state")                                                  \
    V(0, U32, config_service.sub_process_tag, U32, "sub_process_tag")                              \
    V(0, TEXT16, config_service.service_name, TEXT16, "service_name")                              \
    V(0, TEXT16, config_service.display_name, TEXT16, "display_name")                              \
    V(0, TEXT16, config_service.process_name, TEXT16, "process_name")                              \
    V(3, TEXT16, config_service.load_order_group, TEXT16, "load_order_group")                      \
    V(3, TEXT16, config_service.host_group, TEXT16, "host_group")

#define ETL_ROWS_CONFIG(X, ALSO)                                                                   \
    X(HOOK_CONFIG_CPU, CONFIG_CPU, 3, CODED(config_cpu), "SystemConfig/CPU")                       \
    X(HOOK_CONFIG_SERVICE, CONFIG_SERVICE, 3, LAYOUT(CONFIG_SERVICE), "SystemConfig/Services")     \
    X(HOOK_CONFIG_PLATFORM, CONFIG_PLATFORM, 2, LAYOUT(CONFIG_PLATFORM), "SystemConfig/Platform")  \
    X(HOOK_CONFIG_DEVICE_FAMILY, CONFIG_DEVICE_FAMILY, 2, CODED(device_family),                    \
      "SystemConfig/DeviceFamily")

/* Source: MOF, TE. */
#define ETL_LAYOUT_MARK(V, GAP, LATE) V(0, TEXT8, mark.text, TEXT8, "text")

#define ETL_ROWS_PERFINFO(X, ALSO) X(HOOK_MARK, MARK, 2, LAYOUT(MARK), "PerfInfo/Mark")

/* By GUID only, written by merges. Source: TE. Seen: 5, 5, 8, 47, and 5 families. */
#define ETL_LAYOUT_BUILD_INFO(V, GAP, LATE)                                                        \
    V(0, U64, build_info.install_date_filetime, U64, "install_date")                               \
    V(0, TEXT16, build_info.build_lab, TEXT16, "build_lab")                                        \
    V(0, TEXT16, build_info.product_name, TEXT16, "product_name")

#define ETL_LAYOUT_SYSTEM_PATHS(V, GAP, LATE)                                                      \
    V(0, TEXT16, system_paths.system_directory, TEXT16, "system_directory")                        \
    V(0, TEXT16, system_paths.windows_directory, TEXT16, "windows_directory")

#define ETL_LAYOUT_VOLUME_UNKNOWN(V, GAP, LATE)                                                    \
    V(0, TEXT16, volume_mapping.nt_path, TEXT16, "nt_path")

#define ETL_LAYOUT_VOLUME_MAPPING(V, GAP, LATE)                                                    \
    V(0, TEXT16, volume_mapping.nt_path, TEXT16, "nt_path")                                        \
    V(0, TEXT16, volume_mapping.dos_path, TEXT16, "dos_path")

#define ETL_ROWS_SYSCONFIG_EX(X, ALSO)                                                             \
    X(KEY_BUILD_INFO, BUILD_INFO, 0, LAYOUT(BUILD_INFO), "SysConfigEx/BuildInfo")                  \
    X(KEY_SYSTEM_PATHS, SYSTEM_PATHS, 0, LAYOUT(SYSTEM_PATHS), "SysConfigEx/SystemPaths")          \
    X(KEY_VOLUME_UNKNOWN, VOLUME_UNKNOWN, 0, LAYOUT(VOLUME_UNKNOWN), "SysConfigEx/UnknownVolume")  \
    X(KEY_VOLUME_MAPPING, VOLUME_MAPPING, 2, LAYOUT(VOLUME_MAPPING), "SysConfigEx/VolumeMapping")  \
    ALSO(KEY_DEVICE_FAMILY, CONFIG_DEVICE_FAMILY, 0, CODED(device_family),                         \
         "SysConfigEx/DeviceFamily")

#define ETL_ROWS_LOST_EVENT(X, ALSO)                                                               \
    X(KEY_LOST_EVENT, LOST_EVENT, 2, CODED(lost_event), "Lost_Event/RTLostEvent")                  \
    ALSO(KEY_LOST_BUFFER, LOST_EVENT, 2, CODED(lost_event), "Lost_Event/RTLostBuffer")             \
    ALSO(KEY_LOST_FILE, LOST_EVENT, 2, CODED(lost_event), "Lost_Event/RTLostFile")

/* See layout_descriptions.h. */
#define ETL_ROWS_METADATA(X, ALSO)                                                                 \
    X(KEY_EVENT_INFO, EVENT_DESCRIPTION, 0, CODED(event_description), "MetaData/EventInfo")        \
    X(KEY_EVENT_MAP, EVENT_MAP, 0, CODED(event_map), "MetaData/EventMapInfo")

/* --- stack walks ------------------------------------------------------------------ */

#define ETL_ROWS_STACKWALK(X, ALSO)                                                                \
    X(HOOK_STACK, STACK, 2, CODED(stack), "StackWalk/Stack")                                       \
    ALSO(HOOK_STACK_KEY_CREATE, STACK_DEFINITION, 2, CODED(stack_definition),                      \
         "StackWalk/KeyCreate")                                                                    \
    ALSO(HOOK_STACK_KEY_DELETE, STACK_DEFINITION, 2, CODED(stack_definition),                      \
         "StackWalk/KeyDelete")                                                                    \
    X(HOOK_STACK_KEY_RUNDOWN, STACK_DEFINITION, 2, CODED(stack_definition),                        \
      "StackWalk/KeyRundown")                                                                      \
    X(HOOK_STACK_KEY_KERNEL, STACK_KEY_KERNEL, 2, CODED(stack_key), "StackWalk/KeyKernel")         \
    X(HOOK_STACK_KEY_USER, STACK_KEY_USER, 2, CODED(stack_key), "StackWalk/KeyUser")

/* --- modules ---------------------------------------------------------------------- */

/* Source: MOF. Seen 3. */
#define ETL_LAYOUT_IMAGE_KERNEL_BASE(V, GAP, LATE)                                                 \
    V(0, PTR, image_kernel_base.image_base, HEX64, "image_base")

#define ETL_ROWS_IMAGE(X, ALSO)                                                                    \
    X(HOOK_IMAGE_UNLOAD, IMAGE_UNLOAD, 3, CODED(image), "Image/UnLoad")                            \
    X(HOOK_IMAGE_DCSTART, IMAGE_DCSTART, 3, CODED(image), "Image/DCStart")                         \
    X(HOOK_IMAGE_DCEND, IMAGE_DCEND, 3, CODED(image), "Image/DCEnd")                               \
    X(HOOK_IMAGE_KERNEL_BASE, IMAGE_KERNEL_BASE, 2, LAYOUT(IMAGE_KERNEL_BASE), "Image/KernelBase")

/*
 * ImageID, by GUID only: what a merge found in the image files. The record has the time, process
 * and thread of the image event that follows it. Source: TE; DbgFile, EmbeddedPdb and Error derived
 * from bytes in traces that are not available. Seen, with 8-byte pointers: Info 19,013, None 359,
 * RSDS 18,610, IL 1,726, PortablePdb 14,154, Deterministic 13,054, FileVersion 3,310.
 */
#define ETL_LAYOUT_IMAGE_ID(V, GAP, LATE)                                                          \
    V(0, PTR, image_id.image_base, HEX64, "image_base")                                            \
    V(0, PTR, image_id.image_size_bytes, U64, "image_size")                                        \
    V(0, U32, image_id.process_id, U32, "process_id")                                              \
    V(0, U32, image_id.time_date_stamp, U32, "time_date_stamp")                                    \
    V(0, TEXT16, image_id.original_file_name, TEXT16, "original_file_name")

/* None and Deterministic. */
#define ETL_LAYOUT_IMAGE_DEBUG(V, GAP, LATE)                                                       \
    V(0, PTR, image_debug.image_base, HEX64, "image_base")                                         \
    V(0, U32, image_debug.process_id, U32, "process_id")

#define ETL_LAYOUT_IMAGE_DBG_FILE(V, GAP, LATE)                                                    \
    V(0, PTR, image_dbg_file.image_base, HEX64, "image_base")                                      \
    V(0, U32, image_dbg_file.process_id, U32, "process_id")                                        \
    V(0, U32, image_dbg_file.image_checksum, U32, "image_checksum")                                \
    V(0, U32, image_dbg_file.time_date_stamp, U32, "time_date_stamp")                              \
    V(0, U32, image_dbg_file.image_size_bytes, U32, "image_size")                                  \
    V(0, TEXT16, image_dbg_file.file_name, TEXT16, "file_name")

/* Native and IL. */
#define ETL_LAYOUT_IMAGE_RSDS(V, GAP, LATE)                                                        \
    V(0, PTR, image_rsds.image_base, HEX64, "image_base")                                          \
    V(0, U32, image_rsds.process_id, U32, "process_id")                                            \
    V(0, GUID, image_rsds.guid, GUID, "guid")                                                      \
    V(0, U32, image_rsds.age, U32, "age")                                                          \
    V(0, TEXT8, image_rsds.pdb_file_name, TEXT8, "pdb_file_name")

#define ETL_LAYOUT_IMAGE_PORTABLE_PDB(V, GAP, LATE)                                                \
    V(0, PTR, image_portable_pdb.image_base, HEX64, "image_base")                                  \
    V(0, U32, image_portable_pdb.process_id, U32, "process_id")                                    \
    V(0, U32, image_portable_pdb.time_date_stamp, U32, "time_date_stamp")                          \
    V(0, U16, image_portable_pdb.major_version, U16, "major_version")                              \
    V(0, U16, image_portable_pdb.minor_version, U16, "minor_version")

#define ETL_LAYOUT_IMAGE_EMBEDDED_PDB(V, GAP, LATE)                                                \
    V(0, PTR, image_embedded_pdb.image_base, HEX64, "image_base")                                  \
    V(0, U32, image_embedded_pdb.process_id, U32, "process_id")                                    \
    V(0, U16, image_embedded_pdb.major_version, U16, "major_version")                              \
    V(0, U16, image_embedded_pdb.minor_version, U16, "minor_version")                              \
    V(0, GUID, image_embedded_pdb.guid, GUID, "guid")                                              \
    V(0, U32, image_embedded_pdb.age, U32, "age")

#define ETL_LAYOUT_IMAGE_ID_ERROR(V, GAP, LATE) V(0, TEXT16, image_id_error.text, TEXT16, "text")

#define ETL_LAYOUT_IMAGE_FILE_VERSION(V, GAP, LATE)                                                \
    V(0, U32, image_file_version.image_size_bytes, U32, "image_size")                              \
    V(0, U32, image_file_version.time_date_stamp, U32, "time_date_stamp")                          \
    V(0, TEXT16, image_file_version.original_file_name, TEXT16, "original_file_name")              \
    V(0, TEXT16, image_file_version.file_description, TEXT16, "file_description")                  \
    V(0, TEXT16, image_file_version.file_version, TEXT16, "file_version")                          \
    V(0, TEXT16, image_file_version.binary_file_version, TEXT16, "binary_file_version")            \
    V(0, TEXT16, image_file_version.version_language, TEXT16, "version_language")                  \
    V(0, TEXT16, image_file_version.product_name, TEXT16, "product_name")                          \
    V(0, TEXT16, image_file_version.company_name, TEXT16, "company_name")                          \
    V(0, TEXT16, image_file_version.product_version, TEXT16, "product_version")                    \
    V(0, TEXT16, image_file_version.file_id, TEXT16, "file_id")                                    \
    V(0, TEXT16, image_file_version.program_id, TEXT16, "program_id")

#define ETL_ROWS_IMAGE_ID(X, ALSO)                                                                 \
    X(KEY_IMAGE_ID, IMAGE_ID, 2, LAYOUT(IMAGE_ID), "ImageID/Info")                                 \
    X(KEY_IMAGE_NONE, IMAGE_DBG_NONE, 2, LAYOUT(IMAGE_DEBUG), "ImageID/None")                      \
    X(KEY_IMAGE_DBG_FILE, IMAGE_DBG_FILE, 2, LAYOUT(IMAGE_DBG_FILE), "ImageID/DbgID_DBG")          \
    X(KEY_IMAGE_RSDS, IMAGE_RSDS, 2, LAYOUT(IMAGE_RSDS), "ImageID/DbgID_RSDS")                     \
    X(KEY_IMAGE_IL_RSDS, IMAGE_IL_RSDS, 2, LAYOUT(IMAGE_RSDS), "ImageID/DbgID_ILRSDS")             \
    X(KEY_IMAGE_PORTABLE_PDB, IMAGE_PORTABLE_PDB, 2, LAYOUT(IMAGE_PORTABLE_PDB),                   \
      "ImageID/DbgPPDB")                                                                           \
    X(KEY_IMAGE_EMBEDDED_PDB, IMAGE_EMBEDDED_PDB, 1, LAYOUT(IMAGE_EMBEDDED_PDB),                   \
      "ImageID/DbgEmbeddedPDB")                                                                    \
    X(KEY_IMAGE_DETERMINISTIC, IMAGE_DETERMINISTIC, 1, LAYOUT(IMAGE_DEBUG), "ImageID/DbgDeterm")   \
    X(KEY_IMAGE_ERROR, IMAGE_ID_ERROR, 1, LAYOUT(IMAGE_ID_ERROR), "ImageID/Error")                 \
    X(KEY_IMAGE_FILE_VERSION, IMAGE_FILE_VERSION, 0, LAYOUT(IMAGE_FILE_VERSION),                   \
      "ImageID/FileVersion")

/* --- providers with a manifest ------------------------------------------------------- */

/* Like PageFault/MemInfo, preceded by the number of priorities, which is 8. Pages of the whole
 * system. Source: the manifest, as dissect.etl has it; tested only with built bytes. */
#define ETL_LAYOUT_KERNEL_MEMINFO(V, GAP, LATE)                                                    \
    GAP(0, U8)                                                                                     \
    ETL_LAYOUT_MEMINFO(V, GAP, V)

#define ETL_ROWS_KERNEL_MEMORY(X, ALSO)                                                            \
    ALSO(KEY_KERNEL_MEMINFO, MEMINFO, 1, LAYOUT(KERNEL_MEMINFO),                                   \
         "Microsoft-Windows-Kernel-Memory/MemInfo")                                                \
    ALSO(KEY_KERNEL_MEMINFO_WS, MEMINFO_WS, 2, CODED(meminfo_ws),                                  \
         "Microsoft-Windows-Kernel-Memory/MemInfoWS")                                              \
    ALSO(KEY_KERNEL_MEMINFO_SESSION_WS, MEMINFO_SESSION_WS, 2, CODED(meminfo_ws),                  \
         "Microsoft-Windows-Kernel-Memory/MemInfoSessionWS")

/* Load, unload and rundowns of a method. The ids are 64-bit numbers in 32-bit processes too.
 * Source: the manifests, TE. Seen in 64-bit
 * processes: load 290, unload 288, DCStop 16,702. */
#define ETL_LAYOUT_METHOD(V, GAP, LATE)                                                            \
    V(0, U64, method.method_id, HEX64, "method_id")                                                \
    V(0, U64, method.module_id, HEX64, "module_id")                                                \
    V(0, U64, method.start_address, HEX64, "start_address")                                        \
    V(0, U32, method.size_bytes, U32, "size")                                                      \
    V(0, U32, method.token, HEX32, "token")                                                        \
    V(0, U32, method.flags, HEX32, "flags")                                                        \
    V(0, TEXT16, method.name_space, TEXT16, "namespace")                                           \
    V(0, TEXT16, method.name, TEXT16, "name")                                                      \
    V(0, TEXT16, method.signature_text, TEXT16, "signature")                                       \
    V(1, U16, method.clr_instance_id, U16, "clr_instance_id")                                      \
    V(2, U64, method.rejit_id, U64, "rejit_id")

/* A file with methods, by the id that methods refer to. The rest, about its PDBs, is not read.
 * Source: Microsoft's page on loader events, TE. Seen: load 2, unload 2, DCStop 27. */
#define ETL_LAYOUT_ASSEMBLY(V, GAP, LATE)                                                          \
    V(0, U64, assembly.module_id, HEX64, "module_id")                                              \
    V(0, U64, assembly.assembly_id, HEX64, "assembly_id")                                          \
    V(0, U32, assembly.flags, HEX32, "flags")                                                      \
    GAP(0, U32)                                                                                    \
    V(0, TEXT16, assembly.il_path, TEXT16, "il_path")                                              \
    V(0, TEXT16, assembly.native_path, TEXT16, "native_path")

#define ETL_ROWS_DOTNET(X, ALSO)                                                                   \
    X(KEY_METHOD_LOAD, METHOD_LOAD, 2, LAYOUT(METHOD),                                             \
      "Microsoft-Windows-DotNETRuntime/Method/LoadVerbose")                                        \
    X(KEY_METHOD_UNLOAD, METHOD_UNLOAD, 2, LAYOUT(METHOD),                                         \
      "Microsoft-Windows-DotNETRuntime/Method/UnloadVerbose")                                      \
    X(KEY_ASSEMBLY_LOAD, ASSEMBLY_LOAD, 2, LAYOUT(ASSEMBLY),                                       \
      "Microsoft-Windows-DotNETRuntime/Loader/ModuleLoad")                                         \
    X(KEY_ASSEMBLY_UNLOAD, ASSEMBLY_UNLOAD, 2, LAYOUT(ASSEMBLY),                                   \
      "Microsoft-Windows-DotNETRuntime/Loader/ModuleUnload")

#define ETL_ROWS_DOTNET_RUNDOWN(X, ALSO)                                                           \
    X(KEY_METHOD_DCSTART, METHOD_DCSTART, 2, LAYOUT(METHOD),                                       \
      "Microsoft-Windows-DotNETRuntimeRundown/Method/DCStartVerbose")                              \
    X(KEY_METHOD_DCEND, METHOD_DCEND, 2, LAYOUT(METHOD),                                           \
      "Microsoft-Windows-DotNETRuntimeRundown/Method/DCStopVerbose")                               \
    X(KEY_ASSEMBLY_DCSTART, ASSEMBLY_DCSTART, 2, LAYOUT(ASSEMBLY),                                 \
      "Microsoft-Windows-DotNETRuntimeRundown/Loader/ModuleDCStart")                               \
    X(KEY_ASSEMBLY_DCEND, ASSEMBLY_DCEND, 2, LAYOUT(ASSEMBLY),                                     \
      "Microsoft-Windows-DotNETRuntimeRundown/Loader/ModuleDCStop")

/* --- all of them -------------------------------------------------------------------- */

/* C(class, rows): one page of the decoder table each. */
#define ETL_ROW_CLASSES(C)                                                                         \
    C(HEAP)                                                                                        \
    C(MEMORY)                                                                                      \
    C(POOL)                                                                                        \
    C(FILE)                                                                                        \
    C(OBJECT)                                                                                      \
    C(PROCESS)                                                                                     \
    C(THREAD)                                                                                      \
    C(CONFIG)                                                                                      \
    C(PERFINFO)                                                                                    \
    C(IMAGE)                                                                                       \
    C(STACKWALK)                                                                                   \
    C(IMAGE_ID)                                                                                    \
    C(SYSCONFIG_EX)                                                                                \
    C(METADATA)                                                                                    \
    C(LOST_EVENT)                                                                                  \
    C(KERNEL_MEMORY)                                                                               \
    C(DOTNET)                                                                                      \
    C(DOTNET_RUNDOWN)

#endif
