/*
 * decode.c - the decoder table.
 *
 * A record is looked up by class and type in two const levels: pages[class] is
 * a table of 256 row numbers, 0 where we decode nothing, and the row says what
 * to call. Hook records, nearly all of a memory trace, reach their row without
 * a search; classic records look up the GUID of their class first.
 *
 * To add an event: its layout in layout_events.h, a body in a decode_*.c, a row
 * in the list of its class below, its fields in describe.c, a vector in the
 * tests.
 */
#include "decode_internal.h"

typedef struct decoder {
    etl_decode_fn *decode;
    u8 kind;
    u8 version_max; /* the newest version we know the layout of */
} decoder;

/* X(hook or key, event kind, newest version, row function) per class. */
#define HEAP_ROWS(X)                                                                               \
    X(HOOK_HEAP_CREATE, HEAP_CREATE, 3, heap_create)                                               \
    X(HOOK_HEAP_ALLOC, HEAP_ALLOC, 3, heap_alloc)                                                  \
    X(HOOK_HEAP_REALLOC, HEAP_REALLOC, 3, heap_realloc)                                            \
    X(HOOK_HEAP_DESTROY, HEAP_DESTROY, 3, heap_handle)                                             \
    X(HOOK_HEAP_FREE, HEAP_FREE, 3, heap_free)                                                     \
    X(HOOK_HEAP_EXPAND, HEAP_EXPAND, 3, heap_extent)                                               \
    X(HOOK_HEAP_CONTRACT, HEAP_CONTRACT, 3, heap_extent)                                           \
    X(HOOK_HEAP_SNAPSHOT, HEAP_SNAPSHOT, 3, heap_snapshot)

#define MEMORY_ROWS(X)                                                                             \
    X(HOOK_VIRTUAL_ALLOC, VIRTUAL_ALLOC, 2, virtual_memory)                                        \
    X(HOOK_VIRTUAL_FREE, VIRTUAL_FREE, 2, virtual_memory)                                          \
    X(HOOK_VIRTUAL_ALLOC_DCSTART, VIRTUAL_ALLOC_DCSTART, 2, virtual_rundown)                       \
    X(HOOK_VIRTUAL_ALLOC_DCEND, VIRTUAL_ALLOC_DCEND, 2, virtual_rundown)                           \
    X(HOOK_HEAP_RANGE_RUNDOWN, HEAP_RANGE_RUNDOWN, 3, heap_range_rundown)                          \
    X(HOOK_HEAP_RANGE_CREATE, HEAP_RANGE_CREATE, 3, heap_range_create)                             \
    X(HOOK_HEAP_RANGE_RESERVE, HEAP_RANGE_RESERVE, 3, heap_range)                                  \
    X(HOOK_HEAP_RANGE_RELEASE, HEAP_RANGE_RELEASE, 3, heap_range)                                  \
    X(HOOK_HEAP_RANGE_DESTROY, HEAP_RANGE_DESTROY, 3, heap_handle)                                 \
    X(HOOK_MEMINFO, MEMINFO, 2, meminfo)                                                           \
    X(HOOK_MEMINFO_WS, MEMINFO_WS, 2, meminfo_ws)

#define PROCESS_ROWS(X)                                                                            \
    X(HOOK_PROCESS_START, PROCESS_START, 5, process)                                               \
    X(HOOK_PROCESS_END, PROCESS_END, 5, process)                                                   \
    X(HOOK_PROCESS_DCSTART, PROCESS_DCSTART, 5, process)                                           \
    X(HOOK_PROCESS_DCEND, PROCESS_DCEND, 5, process)                                               \
    X(HOOK_PROCESS_DEFUNCT, PROCESS_DEFUNCT, 5, process)                                           \
    X(HOOK_PROCESS_TERMINATE, PROCESS_TERMINATE, 2, process_terminate)                             \
    X(HOOK_IMAGE_LOAD, IMAGE_LOAD, 3, image)

#define THREAD_ROWS(X)                                                                             \
    X(HOOK_THREAD_START, THREAD_START, 4, thread)                                                  \
    X(HOOK_THREAD_END, THREAD_END, 4, thread)                                                      \
    X(HOOK_THREAD_DCSTART, THREAD_DCSTART, 4, thread)                                              \
    X(HOOK_THREAD_DCEND, THREAD_DCEND, 4, thread)                                                  \
    X(HOOK_THREAD_SET_NAME, THREAD_SET_NAME, 2, thread_name)

#define CONFIG_ROWS(X)                                                                             \
    X(HOOK_CONFIG_CPU, CONFIG_CPU, 3, config_cpu)                                                  \
    X(HOOK_CONFIG_PLATFORM, CONFIG_PLATFORM, 2, config_platform)                                   \
    X(HOOK_CONFIG_DEVICE_FAMILY, CONFIG_DEVICE_FAMILY, 2, device_family)

#define PERFINFO_ROWS(X) X(HOOK_MARK, MARK, 2, mark)

#define IMAGE_ROWS(X)                                                                              \
    X(HOOK_IMAGE_UNLOAD, IMAGE_UNLOAD, 3, image)                                                   \
    X(HOOK_IMAGE_DCSTART, IMAGE_DCSTART, 3, image)                                                 \
    X(HOOK_IMAGE_DCEND, IMAGE_DCEND, 3, image)                                                     \
    X(HOOK_IMAGE_KERNEL_BASE, IMAGE_KERNEL_BASE, 2, image_kernel_base)

#define STACKWALK_ROWS(X)                                                                          \
    X(HOOK_STACK, STACK, 2, stack)                                                                 \
    X(HOOK_STACK_KEY_CREATE, STACK_DEFINITION, 2, stack_definition)                                \
    X(HOOK_STACK_KEY_DELETE, STACK_DEFINITION, 2, stack_definition)                                \
    X(HOOK_STACK_KEY_RUNDOWN, STACK_DEFINITION, 2, stack_definition)                               \
    X(HOOK_STACK_KEY_KERNEL, STACK_KEY_KERNEL, 2, stack_key)                                       \
    X(HOOK_STACK_KEY_USER, STACK_KEY_USER, 2, stack_key)

#define IMAGE_ID_ROWS(X)                                                                           \
    X(KEY_IMAGE_ID, IMAGE_ID, 2, image_id)                                                         \
    X(KEY_IMAGE_NONE, IMAGE_DBG_NONE, 2, image_debug)                                              \
    X(KEY_IMAGE_DBG_FILE, IMAGE_DBG_FILE, 2, image_dbg_file)                                       \
    X(KEY_IMAGE_RSDS, IMAGE_RSDS, 2, image_rsds)                                                   \
    X(KEY_IMAGE_IL_RSDS, IMAGE_IL_RSDS, 2, image_rsds)                                             \
    X(KEY_IMAGE_PORTABLE_PDB, IMAGE_PORTABLE_PDB, 2, image_portable_pdb)                           \
    X(KEY_IMAGE_EMBEDDED_PDB, IMAGE_EMBEDDED_PDB, 1, image_embedded_pdb)                           \
    X(KEY_IMAGE_DETERMINISTIC, IMAGE_DETERMINISTIC, 1, image_debug)                                \
    X(KEY_IMAGE_ERROR, IMAGE_ID_ERROR, 1, image_error)                                             \
    X(KEY_IMAGE_FILE_VERSION, IMAGE_FILE_VERSION, 0, image_file_version)

#define SYSCONFIG_EX_ROWS(X)                                                                       \
    X(KEY_BUILD_INFO, BUILD_INFO, 0, build_info)                                                   \
    X(KEY_SYSTEM_PATHS, SYSTEM_PATHS, 0, system_paths)                                             \
    X(KEY_VOLUME_UNKNOWN, VOLUME_UNKNOWN, 0, volume)                                               \
    X(KEY_VOLUME_MAPPING, VOLUME_MAPPING, 2, volume)                                               \
    X(KEY_DEVICE_FAMILY, CONFIG_DEVICE_FAMILY, 0, device_family)

#define LOST_EVENT_ROWS(X)                                                                         \
    X(KEY_LOST_EVENT, LOST_EVENT, 2, lost_event)                                                   \
    X(KEY_LOST_BUFFER, LOST_EVENT, 2, lost_event)                                                  \
    X(KEY_LOST_FILE, LOST_EVENT, 2, lost_event)

#define ALL_ROWS(X)                                                                                \
    HEAP_ROWS(X)                                                                                   \
    MEMORY_ROWS(X)                                                                                 \
    PROCESS_ROWS(X)                                                                                \
    THREAD_ROWS(X)                                                                                 \
    CONFIG_ROWS(X)                                                                                 \
    PERFINFO_ROWS(X)                                                                               \
    IMAGE_ROWS(X)                                                                                  \
    STACKWALK_ROWS(X)                                                                              \
    IMAGE_ID_ROWS(X)                                                                               \
    SYSCONFIG_EX_ROWS(X)                                                                           \
    LOST_EVENT_ROWS(X)

enum {
    ROW_NONE,
#define ROW_ENUM(key, kind, version_max, function) ROW_##key,
    ALL_ROWS(ROW_ENUM)
#undef ROW_ENUM
        ROW_COUNT
};
static_assert(ROW_COUNT <= UINT8_MAX, "pages hold row numbers in a byte");

#define DECODER_ROW(key, kind, version_max, function)                                              \
    [ROW_##key] = { etl_decode_##function, ETL_EVENT_##kind, version_max },
static const decoder decoders[ROW_COUNT] = { ALL_ROWS(DECODER_ROW) };
#undef DECODER_ROW

#define TYPES                                        256
#define PAGE_ENTRY(key, kind, version_max, function) [ETL_##key & 0xff] = ROW_##key,
static const u8 heap_page[TYPES] = { HEAP_ROWS(PAGE_ENTRY) };
static const u8 memory_page[TYPES] = { MEMORY_ROWS(PAGE_ENTRY) };
static const u8 process_page[TYPES] = { PROCESS_ROWS(PAGE_ENTRY) };
static const u8 thread_page[TYPES] = { THREAD_ROWS(PAGE_ENTRY) };
static const u8 config_page[TYPES] = { CONFIG_ROWS(PAGE_ENTRY) };
static const u8 perfinfo_page[TYPES] = { PERFINFO_ROWS(PAGE_ENTRY) };
static const u8 image_page[TYPES] = { IMAGE_ROWS(PAGE_ENTRY) };
static const u8 stackwalk_page[TYPES] = { STACKWALK_ROWS(PAGE_ENTRY) };
static const u8 image_id_page[TYPES] = { IMAGE_ID_ROWS(PAGE_ENTRY) };
static const u8 sysconfig_ex_page[TYPES] = { SYSCONFIG_EX_ROWS(PAGE_ENTRY) };
static const u8 lost_event_page[TYPES] = { LOST_EVENT_ROWS(PAGE_ENTRY) };
#undef PAGE_ENTRY

static const u8 *const pages[ETL_CLASS_COUNT] = {
    [ETL_CLASS_MEMORY] = memory_page,         [ETL_CLASS_PROCESS] = process_page,
    [ETL_CLASS_THREAD] = thread_page,         [ETL_CLASS_CONFIG] = config_page,
    [ETL_CLASS_PERFINFO] = perfinfo_page,     [ETL_CLASS_HEAP] = heap_page,
    [ETL_CLASS_IMAGE] = image_page,           [ETL_CLASS_STACKWALK] = stackwalk_page,
    [ETL_CLASS_IMAGE_ID] = image_id_page,     [ETL_CLASS_SYSCONFIG_EX] = sysconfig_ex_page,
    [ETL_CLASS_LOST_EVENT] = lost_event_page,
};

bool etl_decode(const etl_record *record, etl_event *out, etl_diag_counts *diag)
{
    out->kind = ETL_EVENT_NONE;
    const u16 key = etl_record_key(record);
    const u8 *const page = key != ETL_KEY_NONE ? pages[key >> 8] : NULL;
    if (page == NULL || page[key & 0xff] == ROW_NONE)
        return false;
    const decoder *const row = &decoders[page[key & 0xff]];
    out->pointer_bytes = record->pointer_bytes;
    if (!row->decode(record, out, diag)) {
        etl_diag_add(diag, ETL_DIAG_event_truncated, 1);
        return false;
    }
    if (record->version > row->version_max)
        etl_diag_add(diag, ETL_DIAG_event_version_newer, 1);
    out->kind = (etl_event_kind)row->kind;
    return true;
}
