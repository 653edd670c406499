/*
 * events.h - the events that etl_decode understands, as plain structures.
 *
 * Included by parser.h. Each structure is the payload of the kinds that name it in ETL_EVENT_KINDS.
 * Values are raw: times are in the etl_record, as ticks; pointers are widened to 64 bits; strings
 * and arrays are views that borrow from the record. Field names are the kernel's MOF names in our
 * spelling; etl_event_describe() lists them for output. The on-disk layouts with their sources are
 * in etl/layout.h.
 */
#ifndef ETL_EVENTS_H
#define ETL_EVENTS_H

#include "heap_events.h"
#include "memory_events.h"
#include "parser.h"

#ifdef __cplusplus
extern "C" {
#endif

/* X(enumerator, member of etl_event.as): one row per kind of event. */
#define ETL_EVENT_KINDS(X)                                                                         \
    X(HEAP_CREATE, heap_create)                                                                    \
    X(HEAP_ALLOC, heap_alloc)                                                                      \
    X(HEAP_REALLOC, heap_realloc)                                                                  \
    X(HEAP_DESTROY, heap_handle)                                                                   \
    X(HEAP_FREE, heap_free)                                                                        \
    X(HEAP_EXPAND, heap_extent)                                                                    \
    X(HEAP_CONTRACT, heap_extent)                                                                  \
    X(HEAP_SNAPSHOT, heap_snapshot)                                                                \
    X(HEAP_RANGE_RUNDOWN, heap_range_rundown)                                                      \
    X(HEAP_RANGE_CREATE, heap_range_create)                                                        \
    X(HEAP_RANGE_RESERVE, heap_range)                                                              \
    X(HEAP_RANGE_RELEASE, heap_range)                                                              \
    X(HEAP_RANGE_DESTROY, heap_handle)                                                             \
    X(HEAP_COMMIT, heap_commit)                                                                    \
    X(HEAP_DECOMMIT, heap_commit)                                                                  \
    X(HEAP_SUBSEGMENT_ALLOC, heap_subsegment)                                                      \
    X(HEAP_SUBSEGMENT_FREE, heap_subsegment)                                                       \
    X(HEAP_SUBSEGMENT_INIT, heap_subsegment)                                                       \
    X(HEAP_SUBSEGMENT_USE, heap_subsegment)                                                        \
    X(HEAP_BUCKET, heap_subsegment)                                                                \
    X(VIRTUAL_ALLOC, virtual_memory)                                                               \
    X(VIRTUAL_FREE, virtual_memory)                                                                \
    X(VIRTUAL_ALLOC_DCSTART, virtual_memory)                                                       \
    X(VIRTUAL_ALLOC_DCEND, virtual_memory)                                                         \
    X(MEMINFO, meminfo)                                                                            \
    X(MEMINFO_WS, meminfo_ws)                                                                      \
    X(MEMINFO_SESSION_WS, meminfo_ws)                                                              \
    X(PROCESS_START, process)                                                                      \
    X(PROCESS_END, process)                                                                        \
    X(PROCESS_DCSTART, process)                                                                    \
    X(PROCESS_DCEND, process)                                                                      \
    X(PROCESS_DEFUNCT, process)                                                                    \
    X(PROCESS_TERMINATE, process)                                                                  \
    X(THREAD_START, thread)                                                                        \
    X(THREAD_END, thread)                                                                          \
    X(THREAD_DCSTART, thread)                                                                      \
    X(THREAD_DCEND, thread)                                                                        \
    X(THREAD_SET_NAME, thread)                                                                     \
    X(IMAGE_LOAD, image)                                                                           \
    X(IMAGE_UNLOAD, image)                                                                         \
    X(IMAGE_DCSTART, image)                                                                        \
    X(IMAGE_DCEND, image)                                                                          \
    X(IMAGE_KERNEL_BASE, image_kernel_base)                                                        \
    X(IMAGE_ID, image_id)                                                                          \
    X(IMAGE_RSDS, image_rsds)                                                                      \
    X(IMAGE_IL_RSDS, image_rsds)                                                                   \
    X(IMAGE_FILE_VERSION, image_file_version)                                                      \
    X(IMAGE_DBG_NONE, image_debug)                                                                 \
    X(IMAGE_DBG_FILE, image_dbg_file)                                                              \
    X(IMAGE_PORTABLE_PDB, image_portable_pdb)                                                      \
    X(IMAGE_EMBEDDED_PDB, image_embedded_pdb)                                                      \
    X(IMAGE_DETERMINISTIC, image_debug)                                                            \
    X(IMAGE_ID_ERROR, image_id_error)                                                              \
    X(STACK, stack)                                                                                \
    X(STACK_KEY_KERNEL, stack_key)                                                                 \
    X(STACK_KEY_USER, stack_key)                                                                   \
    X(STACK_DEFINITION, stack_definition)                                                          \
    X(CONFIG_CPU, config_cpu)                                                                      \
    X(CONFIG_PLATFORM, config_platform)                                                            \
    X(CONFIG_DEVICE_FAMILY, config_device_family)                                                  \
    X(CONFIG_SERVICE, config_service)                                                              \
    X(BUILD_INFO, build_info)                                                                      \
    X(SYSTEM_PATHS, system_paths)                                                                  \
    X(VOLUME_MAPPING, volume_mapping)                                                              \
    X(VOLUME_UNKNOWN, volume_mapping)                                                              \
    X(LOST_EVENT, lost_event)                                                                      \
    X(MARK, mark)                                                                                  \
    X(EVENT_DESCRIPTION, event_description)                                                        \
    X(EVENT_MAP, event_map)                                                                        \
    X(METHOD_LOAD, method)                                                                         \
    X(METHOD_UNLOAD, method)                                                                       \
    X(METHOD_DCSTART, method)                                                                      \
    X(METHOD_DCEND, method)                                                                        \
    X(ASSEMBLY_LOAD, assembly)                                                                     \
    X(ASSEMBLY_UNLOAD, assembly)                                                                   \
    X(ASSEMBLY_DCSTART, assembly)                                                                  \
    X(ASSEMBLY_DCEND, assembly)                                                                    \
    X(POOL_ALLOC, pool_block)                                                                      \
    X(POOL_ALLOC_SESSION, pool_block)                                                              \
    X(POOL_FREE, pool_block)                                                                       \
    X(POOL_FREE_SESSION, pool_block)                                                               \
    X(POOL_PAGE, pool_block)                                                                       \
    X(POOL_PAGE_SESSION, pool_block)                                                               \
    X(POOL_DCSTART, pool_block)                                                                    \
    X(POOL_DCEND, pool_block)                                                                      \
    X(POOL_SESSION_DCSTART, pool_block)                                                            \
    X(POOL_SESSION_DCEND, pool_block)                                                              \
    X(FILE_NAME, file_name)                                                                        \
    X(FILE_CREATE, file_name)                                                                      \
    X(FILE_DELETE, file_name)                                                                      \
    X(FILE_RUNDOWN, file_name)                                                                     \
    X(MAP_FILE, file_view)                                                                         \
    X(UNMAP_FILE, file_view)                                                                       \
    X(MAP_FILE_DCSTART, file_view)                                                                 \
    X(MAP_FILE_DCEND, file_view)                                                                   \
    X(SECTION_RUNDOWN, section)                                                                    \
    X(SECTION_CREATE, section)                                                                     \
    X(SECTION_DELETE, section)                                                                     \
    X(SECTION_OBJECT_CREATE, section)                                                              \
    X(SECTION_OBJECT_DELETE, section)                                                              \
    X(VIRTUAL_ROTATE, virtual_memory)                                                              \
    X(MEM_RESET, virtual_memory)                                                                   \
    X(HANDLE_CREATE, handle)                                                                       \
    X(HANDLE_CLOSE, handle)                                                                        \
    X(HANDLE_DUPLICATE, handle_duplicate)                                                          \
    X(HANDLE_DCSTART, handle)                                                                      \
    X(HANDLE_DCEND, handle)                                                                        \
    X(OBJECT_TYPE_DCSTART, object_type)                                                            \
    X(OBJECT_TYPE_DCEND, object_type)                                                              \
    X(OBJECT_CREATE, object)                                                                       \
    X(OBJECT_DELETE, object)                                                                       \
    X(CUSTOM_ALLOC, custom)                                                                        \
    X(CUSTOM_FREE, custom)

typedef enum etl_event_kind {
    ETL_EVENT_NONE,
#define ETL_EVENT_ENUM(name, member) ETL_EVENT_##name,
    ETL_EVENT_KINDS(ETL_EVENT_ENUM)
#undef ETL_EVENT_ENUM
        ETL_EVENT_KIND_COUNT
} etl_event_kind;

/* Flags of VirtualAlloc and VirtualFree. Check the kind of event first: 0x4000 is a decommit in a
 * VirtualFree, and replaces a placeholder in a VirtualAlloc. */
#define ETL_MEM_COMMIT              0x00001000u /* VirtualAlloc */
#define ETL_MEM_RESERVE             0x00002000u
#define ETL_MEM_REPLACE_PLACEHOLDER 0x00004000u
#define ETL_MEM_RESERVE_PLACEHOLDER 0x00040000u
#define ETL_MEM_RESET               0x00080000u
#define ETL_MEM_TOP_DOWN            0x00100000u
#define ETL_MEM_WRITE_WATCH         0x00200000u
#define ETL_MEM_PHYSICAL            0x00400000u
#define ETL_MEM_RESET_UNDO          0x01000000u
#define ETL_MEM_LARGE_PAGES         0x20000000u
#define ETL_MEM_DECOMMIT            0x00004000u /* VirtualFree */
#define ETL_MEM_RELEASE             0x00008000u
#define ETL_MEM_STAYS_RESERVED      0x00000003u /* coalesces or preserves a placeholder */

/* Bits of etl_process_event.flags. */
#define ETL_PROCESS_PACKAGE_ID 0x1u
#define ETL_PROCESS_WOW64      0x2u
#define ETL_PROCESS_PROTECTED  0x4u
#define ETL_PROCESS_PACKAGED   0x8u

/* The largest number of frames kept of a stack. The kernel collects up to 256, and the deepest
 * stack seen has 140; by its size a record could hold 16,000. */
#define ETL_STACK_FRAMES_MAX 1024u

/* A block of the kernel's pools; of a rundown, the first one (etl_pool_block_at). */
typedef struct etl_pool_block {
    uint64_t entry; /* its address */
    uint64_t size_bytes;
    uint32_t pool_type; /* POOL_TYPE; odd: paged */
    uint32_t tag;
    uint32_t session_id; /* of allocations and frees in a session */
} etl_pool_block;

typedef struct etl_process_event {
    uint64_t unique_process_key;
    uint32_t process_id;
    uint32_t parent_id;
    uint32_t session_id;
    int32_t exit_status;
    uint32_t flags;              /* ETL_PROCESS_*; version 4 */
    etl_bytes image_file_name;   /* 8-bit text */
    etl_bytes command_line;      /* UTF-16; version 2 */
    etl_bytes package_full_name; /* UTF-16; version 4 */
    etl_bytes application_id;    /* UTF-16; version 4 */
    uint64_t exit_time_filetime; /* PROCESS_DEFUNCT, version 5 */
} etl_process_event;

typedef struct etl_thread_event {
    uint32_t process_id;
    uint32_t thread_id;
    uint64_t user_stack_base; /* this and the four below: 0 in older versions */
    uint64_t user_stack_limit;
    uint64_t win32_start_address;
    uint64_t teb_base;
    uint32_t sub_process_tag;
    etl_bytes name; /* UTF-16, newer builds */
} etl_thread_event;

typedef struct etl_image_event {
    uint64_t image_base;
    uint64_t image_size_bytes;
    uint32_t process_id; /* version 0: taken from the record header */
    uint32_t image_checksum;
    uint32_t time_date_stamp; /* 0 in user-mode rundowns; see IMAGE_ID */
    etl_bytes file_name;      /* UTF-16, NT path */
} etl_image_event;

typedef struct etl_image_kernel_base {
    uint64_t image_base;
} etl_image_kernel_base;

typedef struct etl_image_id {
    uint64_t image_base;
    uint64_t image_size_bytes;
    uint32_t process_id;
    uint32_t time_date_stamp;
    etl_bytes original_file_name; /* UTF-16 */
} etl_image_id;

typedef struct etl_image_rsds {
    uint64_t image_base;
    uint32_t process_id;
    uint32_t age;
    etl_guid guid;
    etl_bytes pdb_file_name; /* 8-bit text */
} etl_image_rsds;

typedef struct etl_image_file_version {
    uint32_t image_size_bytes;
    uint32_t time_date_stamp;
    etl_bytes original_file_name; /* UTF-16, all ten; any may be empty */
    etl_bytes file_description;
    etl_bytes file_version;
    etl_bytes binary_file_version;
    etl_bytes version_language;
    etl_bytes product_name;
    etl_bytes company_name;
    etl_bytes product_version;
    etl_bytes file_id;
    etl_bytes program_id;
} etl_image_file_version;

/* An image without debug information, or one that was built reproducibly. */
typedef struct etl_image_debug {
    uint64_t image_base;
    uint32_t process_id;
} etl_image_debug;

/* An image with symbols in a DBG file. */
typedef struct etl_image_dbg_file {
    uint64_t image_base;
    uint32_t process_id;
    uint32_t image_checksum;
    uint32_t time_date_stamp;
    uint32_t image_size_bytes;
    etl_bytes file_name; /* UTF-16 */
} etl_image_dbg_file;

typedef struct etl_image_portable_pdb {
    uint64_t image_base;
    uint32_t process_id;
    uint32_t time_date_stamp;
    uint16_t major_version;
    uint16_t minor_version;
} etl_image_portable_pdb;

typedef struct etl_image_embedded_pdb {
    uint64_t image_base;
    uint32_t process_id;
    uint32_t age;
    uint16_t major_version;
    uint16_t minor_version;
    etl_guid guid;
} etl_image_embedded_pdb;

/* The reason why a merge could not read an image. */
typedef struct etl_image_id_error {
    etl_bytes text; /* UTF-16 */
} etl_image_id_error;

/* frames: frame_count addresses, each frame_bytes (4 or 8) wide, innermost first; read them with
 * etl_frame_at. Trailing zero frames are not counted. */
typedef struct etl_stack_event {
    int64_t event_ticks; /* raw time of the event that the stack belongs to */
    uint32_t process_id;
    uint32_t thread_id;
    uint32_t frame_count;
    uint32_t frame_bytes;
    const uint8_t *frames;
} etl_stack_event;

typedef struct etl_stack_key_event {
    int64_t event_ticks;
    uint32_t process_id;
    uint32_t thread_id;
    uint64_t stack_key;
} etl_stack_key_event;

typedef struct etl_stack_definition {
    uint64_t stack_key;
    uint32_t frame_count;
    uint32_t frame_bytes;
    const uint8_t *frames;
} etl_stack_definition;

typedef struct etl_config_cpu {
    uint32_t mhz;
    uint32_t cpu_count;
    uint32_t memory_mib;
    uint32_t page_size_bytes;
    uint32_t allocation_granularity_bytes;
    uint32_t memory_speed_mhz;       /* version 3; 0 before */
    uint16_t processor_architecture; /* version 3; 9 AMD64, 0 x86, 12 ARM64 */
    etl_bytes computer_name;         /* UTF-16 */
    etl_bytes domain_name;
} etl_config_cpu;

typedef struct etl_config_platform {
    etl_bytes manufacturer; /* UTF-16, all four */
    etl_bytes product;
    etl_bytes bios_date;
    etl_bytes bios_version;
} etl_config_platform;

/* A Windows service of the computer, running or not. */
typedef struct etl_config_service {
    uint32_t process_id; /* 0: not running */
    uint32_t state;      /* 1 stopped, 4 running */
    uint32_t sub_process_tag;
    etl_bytes service_name; /* UTF-16, all five */
    etl_bytes display_name;
    etl_bytes process_name;
    etl_bytes load_order_group; /* this and the next: version 3 */
    etl_bytes host_group;       /* of svchost */
} etl_config_service;

typedef struct etl_config_device_family {
    uint16_t os_major, os_minor, os_build, os_revision;
    uint32_t device_family;
    uint32_t device_form;
} etl_config_device_family;

typedef struct etl_build_info {
    uint64_t install_date_filetime;
    etl_bytes build_lab; /* UTF-16 */
    etl_bytes product_name;
} etl_build_info;

typedef struct etl_system_paths {
    etl_bytes system_directory; /* UTF-16 */
    etl_bytes windows_directory;
} etl_system_paths;

typedef struct etl_volume_mapping {
    etl_bytes nt_path;  /* UTF-16 */
    etl_bytes dos_path; /* empty if unknown, as always for VOLUME_UNKNOWN */
} etl_volume_mapping;

typedef struct etl_lost_event {
    uint32_t type; /* 32 events, 33 buffers, 34 files of a real-time session */
} etl_lost_event;

typedef struct etl_mark {
    etl_bytes text; /* 8-bit text */
} etl_mark;

/* The description of an event, added by a merge: MetaData/EventInfo. Read its fields with
 * described.h. */
typedef struct etl_event_description {
    etl_guid provider; /* class GUID of a classic event */
    uint16_t id;
    uint16_t version;
    uint16_t opcode;
    uint32_t property_count;
    etl_bytes provider_name; /* UTF-16, all three; any may be empty */
    etl_bytes event_name;
    etl_bytes opcode_name;
} etl_event_description;

/* Names of numbers: MetaData/EventMapInfo. described.h reads the entries. */
typedef struct etl_event_map {
    etl_guid provider;
    uint32_t entry_count;
    etl_bytes name; /* UTF-16 */
} etl_event_map;

/* A .NET method and its compiled code, compiled just in time or ahead of time. */
typedef struct etl_method_event {
    uint64_t method_id;
    uint64_t module_id;
    uint64_t start_address;
    uint64_t rejit_id; /* version 2; 0 in older ones, and for code compiled for the first time */
    uint32_t size_bytes;
    uint32_t token;
    uint32_t flags;
    uint16_t clr_instance_id; /* version 1 */
    etl_bytes name_space;     /* UTF-16, including the type: "System.Text.StringBuilder" */
    etl_bytes name;           /* UTF-16 */
    etl_bytes signature_text; /* UTF-16 */
} etl_method_event;

/* An allocation or free that an allocator logs itself; see custom_events.h. */
typedef struct etl_custom_event {
    uint64_t address;
    uint64_t size_bytes; /* of a free: bytes freed; 0: the whole block */
    uint64_t heap;       /* the allocator's own number of the heap; 0 without has_heap */
    bool has_heap;
    etl_bytes allocator; /* 8-bit text */
} etl_custom_event;

/* A .NET module: the file that contains the methods with this module_id. */
typedef struct etl_assembly_event {
    uint64_t module_id;
    uint64_t assembly_id;
    uint32_t flags;
    etl_bytes il_path;     /* UTF-16; of a dynamic module: its name */
    etl_bytes native_path; /* UTF-16: the precompiled image; empty: none, or unknown */
} etl_assembly_event;

typedef struct etl_event {
    etl_event_kind kind;
    uint8_t pointer_bytes; /* of the payload as it was read: 4 or 8 */
    union {
        etl_heap_create heap_create;
        etl_heap_alloc heap_alloc;
        etl_heap_realloc heap_realloc;
        etl_heap_free heap_free;
        etl_heap_handle heap_handle;
        etl_heap_extent heap_extent;
        etl_heap_snapshot heap_snapshot;
        etl_heap_range_rundown heap_range_rundown;
        etl_heap_range_create heap_range_create;
        etl_heap_range heap_range;
        etl_heap_commit heap_commit;
        etl_heap_subsegment heap_subsegment;
        etl_virtual_memory virtual_memory;
        etl_pool_block pool_block;
        etl_file_name file_name;
        etl_file_view file_view;
        etl_section section;
        etl_handle_event handle;
        etl_handle_duplicate handle_duplicate;
        etl_object_type object_type;
        etl_object object;
        etl_meminfo meminfo;
        etl_meminfo_ws meminfo_ws;
        etl_process_event process;
        etl_thread_event thread;
        etl_image_event image;
        etl_image_kernel_base image_kernel_base;
        etl_image_id image_id;
        etl_image_rsds image_rsds;
        etl_image_file_version image_file_version;
        etl_image_debug image_debug;
        etl_image_dbg_file image_dbg_file;
        etl_image_portable_pdb image_portable_pdb;
        etl_image_embedded_pdb image_embedded_pdb;
        etl_image_id_error image_id_error;
        etl_stack_event stack;
        etl_stack_key_event stack_key;
        etl_stack_definition stack_definition;
        etl_config_cpu config_cpu;
        etl_config_platform config_platform;
        etl_config_device_family config_device_family;
        etl_config_service config_service;
        etl_build_info build_info;
        etl_system_paths system_paths;
        etl_volume_mapping volume_mapping;
        etl_lost_event lost_event;
        etl_mark mark;
        etl_event_description event_description;
        etl_event_map event_map;
        etl_method_event method;
        etl_custom_event custom;
        etl_assembly_event assembly;
    } as;
} etl_event;

/* How many blocks a rundown of pools lists, 0 if its length does not fit; reads one of them. */
uint32_t etl_pool_block_count(const etl_record *record);
bool etl_pool_block_at(const etl_record *record, uint32_t i, etl_pool_block *out);

/* Reads entry i of a MEMINFO_WS or MEMINFO_SESSION_WS event. False if the entry does not exist. */
bool etl_meminfo_ws_entry(const etl_meminfo_ws *event, uint8_t pointer_bytes, uint32_t i,
                          etl_meminfo_ws_row *out);

/* The kind that etl_decode would return; reads only the header. ETL_EVENT_NONE: no decoder. */
etl_event_kind etl_record_kind(const etl_record *record);

#ifdef __cplusplus
}
#endif

#include "event_fields.h"

#endif
