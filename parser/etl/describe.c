/*
 * describe.c - the fields of every event, for output.
 *
 * One const list per event struct and one row per kind. A field is called as its
 * member is, without the unit behind it; addresses, handles and flags are shown
 * in hexadecimal.
 */
#include "parser/parser.h"

#define FIELD(member, label, field_type)                                                           \
    {                                                                                              \
        label, (u16)offsetof(etl_event, as.member), ETL_FIELD_##field_type                         \
    }

static const etl_field heap_create_fields[] = {
    FIELD(heap_create.heap_handle, "heap_handle", HEX64),
    FIELD(heap_create.heap_flags, "heap_flags", HEX32),
    FIELD(heap_create.reserved_space_bytes, "reserved_space", U64),
    FIELD(heap_create.committed_space_bytes, "committed_space", U64),
    FIELD(heap_create.allocated_space_bytes, "allocated_space", U64),
};

static const etl_field heap_alloc_fields[] = {
    FIELD(heap_alloc.heap_handle, "heap_handle", HEX64),
    FIELD(heap_alloc.alloc_size_bytes, "alloc_size", U64),
    FIELD(heap_alloc.alloc_address, "alloc_address", HEX64),
    FIELD(heap_alloc.source_id, "source_id", U32),
};

static const etl_field heap_realloc_fields[] = {
    FIELD(heap_realloc.heap_handle, "heap_handle", HEX64),
    FIELD(heap_realloc.new_alloc_address, "new_alloc_address", HEX64),
    FIELD(heap_realloc.old_alloc_address, "old_alloc_address", HEX64),
    FIELD(heap_realloc.new_alloc_size_bytes, "new_alloc_size", U64),
    FIELD(heap_realloc.old_alloc_size_bytes, "old_alloc_size", U64),
    FIELD(heap_realloc.source_id, "source_id", U32),
};

static const etl_field heap_handle_fields[] = {
    FIELD(heap_handle.heap_handle, "heap_handle", HEX64),
};

static const etl_field heap_free_fields[] = {
    FIELD(heap_free.heap_handle, "heap_handle", HEX64),
    FIELD(heap_free.free_address, "free_address", HEX64),
    FIELD(heap_free.source_id, "source_id", U32),
};

static const etl_field heap_extent_fields[] = {
    FIELD(heap_extent.heap_handle, "heap_handle", HEX64),
    FIELD(heap_extent.size_bytes, "size", U64),
    FIELD(heap_extent.address, "address", HEX64),
    FIELD(heap_extent.free_space_bytes, "free_space", U64),
    FIELD(heap_extent.committed_space_bytes, "committed_space", U64),
    FIELD(heap_extent.reserved_space_bytes, "reserved_space", U64),
    FIELD(heap_extent.ucr_count, "ucr_count", U32),
    FIELD(heap_extent.allocated_space_bytes, "allocated_space", U64),
};

static const etl_field heap_snapshot_fields[] = {
    FIELD(heap_snapshot.heap_handle, "heap_handle", HEX64),
    FIELD(heap_snapshot.free_space_bytes, "free_space", U64),
    FIELD(heap_snapshot.committed_space_bytes, "committed_space", U64),
    FIELD(heap_snapshot.reserved_space_bytes, "reserved_space", U64),
    FIELD(heap_snapshot.heap_flags, "heap_flags", HEX32),
    FIELD(heap_snapshot.process_id, "process_id", U32),
    FIELD(heap_snapshot.large_ucr_space_bytes, "large_ucr_space", U64),
    FIELD(heap_snapshot.free_list_length, "free_list_length", U32),
    FIELD(heap_snapshot.ucr_length, "ucr_length", U32),
    FIELD(heap_snapshot.allocated_space_bytes, "allocated_space", U64),
};

static const etl_field heap_range_rundown_fields[] = {
    FIELD(heap_range_rundown.heap_handle, "heap_handle", HEX64),
    FIELD(heap_range_rundown.flags, "flags", HEX32),
    FIELD(heap_range_rundown.process_id, "process_id", U32),
    FIELD(heap_range_rundown.range_count, "range_count", U32),
    FIELD(heap_range_rundown.ranges, "ranges", RANGES),
};

static const etl_field heap_range_create_fields[] = {
    FIELD(heap_range_create.heap_handle, "heap_handle", HEX64),
    FIELD(heap_range_create.first_range_size_bytes, "first_range_size", U64),
    FIELD(heap_range_create.flags, "flags", HEX32),
};

static const etl_field heap_range_fields[] = {
    FIELD(heap_range.heap_handle, "heap_handle", HEX64),
    FIELD(heap_range.address, "address", HEX64),
    FIELD(heap_range.size_bytes, "size", U64),
};

/* VirtualAlloc and VirtualFree have all but the last. */
static const etl_field virtual_memory_fields[] = {
    FIELD(virtual_memory.base_address, "base_address", HEX64),
    FIELD(virtual_memory.region_size_bytes, "region_size", U64),
    FIELD(virtual_memory.process_id, "process_id", U32),
    FIELD(virtual_memory.flags, "flags", HEX32),
    FIELD(virtual_memory.commit_size_bytes, "commit_size", U64),
};

static const etl_field meminfo_fields[] = {
    FIELD(meminfo.zero_pages, "zero_pages", U64),
    FIELD(meminfo.free_pages, "free_pages", U64),
    FIELD(meminfo.modified_pages, "modified_pages", U64),
    FIELD(meminfo.modified_no_write_pages, "modified_no_write_pages", U64),
    FIELD(meminfo.bad_pages, "bad_pages", U64),
    FIELD(meminfo.standby_pages, "standby_pages", U64),
    FIELD(meminfo.repurposed_pages, "repurposed_pages", U64),
    FIELD(meminfo.modified_page_file_pages, "modified_page_file_pages", U64),
    FIELD(meminfo.paged_pool_commit_pages, "paged_pool_commit_pages", U64),
    FIELD(meminfo.non_paged_pool_pages, "non_paged_pool_pages", U64),
    FIELD(meminfo.mdl_pages, "mdl_pages", U64),
    FIELD(meminfo.commit_pages, "commit_pages", U64),
};

static const etl_field meminfo_ws_fields[] = {
    FIELD(meminfo_ws.count, "count", U32),
    FIELD(meminfo_ws, "entries", WS_ROWS),
};

/* Only Defunct has the last. */
static const etl_field process_fields[] = {
    FIELD(process.unique_process_key, "unique_process_key", HEX64),
    FIELD(process.process_id, "process_id", U32),
    FIELD(process.parent_id, "parent_id", U32),
    FIELD(process.session_id, "session_id", U32),
    FIELD(process.exit_status, "exit_status", I32),
    FIELD(process.flags, "flags", HEX32),
    FIELD(process.image_file_name, "image_file_name", TEXT8),
    FIELD(process.command_line, "command_line", TEXT16),
    FIELD(process.package_full_name, "package_full_name", TEXT16),
    FIELD(process.application_id, "application_id", TEXT16),
    FIELD(process.exit_time_filetime, "exit_time", U64),
};

static const etl_field process_terminate_fields[] = {
    FIELD(process.process_id, "process_id", U32),
};

static const etl_field thread_fields[] = {
    FIELD(thread.process_id, "process_id", U32),
    FIELD(thread.thread_id, "thread_id", U32),
    FIELD(thread.user_stack_base, "user_stack_base", HEX64),
    FIELD(thread.user_stack_limit, "user_stack_limit", HEX64),
    FIELD(thread.win32_start_address, "win32_start_address", HEX64),
    FIELD(thread.teb_base, "teb_base", HEX64),
    FIELD(thread.sub_process_tag, "sub_process_tag", U32),
    FIELD(thread.name, "name", TEXT16),
};

static const etl_field thread_name_fields[] = {
    FIELD(thread.process_id, "process_id", U32),
    FIELD(thread.thread_id, "thread_id", U32),
    FIELD(thread.name, "name", TEXT16),
};

static const etl_field image_fields[] = {
    FIELD(image.image_base, "image_base", HEX64),
    FIELD(image.image_size_bytes, "image_size", U64),
    FIELD(image.process_id, "process_id", U32),
    FIELD(image.image_checksum, "image_checksum", U32),
    FIELD(image.time_date_stamp, "time_date_stamp", U32),
    FIELD(image.file_name, "file_name", TEXT16),
};

static const etl_field image_kernel_base_fields[] = {
    FIELD(image_kernel_base.image_base, "image_base", HEX64),
};

static const etl_field image_id_fields[] = {
    FIELD(image_id.image_base, "image_base", HEX64),
    FIELD(image_id.image_size_bytes, "image_size", U64),
    FIELD(image_id.process_id, "process_id", U32),
    FIELD(image_id.time_date_stamp, "time_date_stamp", U32),
    FIELD(image_id.original_file_name, "original_file_name", TEXT16),
};

static const etl_field image_rsds_fields[] = {
    FIELD(image_rsds.image_base, "image_base", HEX64),
    FIELD(image_rsds.process_id, "process_id", U32),
    FIELD(image_rsds.guid, "guid", GUID),
    FIELD(image_rsds.age, "age", U32),
    FIELD(image_rsds.pdb_file_name, "pdb_file_name", TEXT8),
};

static const etl_field image_file_version_fields[] = {
    FIELD(image_file_version.image_size_bytes, "image_size", U32),
    FIELD(image_file_version.time_date_stamp, "time_date_stamp", U32),
    FIELD(image_file_version.original_file_name, "original_file_name", TEXT16),
    FIELD(image_file_version.file_description, "file_description", TEXT16),
    FIELD(image_file_version.file_version, "file_version", TEXT16),
    FIELD(image_file_version.binary_file_version, "binary_file_version", TEXT16),
    FIELD(image_file_version.version_language, "version_language", TEXT16),
    FIELD(image_file_version.product_name, "product_name", TEXT16),
    FIELD(image_file_version.company_name, "company_name", TEXT16),
    FIELD(image_file_version.product_version, "product_version", TEXT16),
    FIELD(image_file_version.file_id, "file_id", TEXT16),
    FIELD(image_file_version.program_id, "program_id", TEXT16),
};

static const etl_field image_debug_fields[] = {
    FIELD(image_debug.image_base, "image_base", HEX64),
    FIELD(image_debug.process_id, "process_id", U32),
};

static const etl_field image_dbg_file_fields[] = {
    FIELD(image_dbg_file.image_base, "image_base", HEX64),
    FIELD(image_dbg_file.process_id, "process_id", U32),
    FIELD(image_dbg_file.image_checksum, "image_checksum", U32),
    FIELD(image_dbg_file.time_date_stamp, "time_date_stamp", U32),
    FIELD(image_dbg_file.image_size_bytes, "image_size", U32),
    FIELD(image_dbg_file.file_name, "file_name", TEXT16),
};

static const etl_field image_portable_pdb_fields[] = {
    FIELD(image_portable_pdb.image_base, "image_base", HEX64),
    FIELD(image_portable_pdb.process_id, "process_id", U32),
    FIELD(image_portable_pdb.time_date_stamp, "time_date_stamp", U32),
    FIELD(image_portable_pdb.major_version, "major_version", U16),
    FIELD(image_portable_pdb.minor_version, "minor_version", U16),
};

static const etl_field image_embedded_pdb_fields[] = {
    FIELD(image_embedded_pdb.image_base, "image_base", HEX64),
    FIELD(image_embedded_pdb.process_id, "process_id", U32),
    FIELD(image_embedded_pdb.major_version, "major_version", U16),
    FIELD(image_embedded_pdb.minor_version, "minor_version", U16),
    FIELD(image_embedded_pdb.guid, "guid", GUID),
    FIELD(image_embedded_pdb.age, "age", U32),
};

static const etl_field image_id_error_fields[] = {
    FIELD(image_id_error.text, "text", TEXT16),
};

static const etl_field stack_fields[] = {
    FIELD(stack.event_ticks, "event_ticks", I64),
    FIELD(stack.process_id, "process_id", U32),
    FIELD(stack.thread_id, "thread_id", U32),
    FIELD(stack.frame_count, "frames", FRAMES),
};

static const etl_field stack_key_fields[] = {
    FIELD(stack_key.event_ticks, "event_ticks", I64),
    FIELD(stack_key.process_id, "process_id", U32),
    FIELD(stack_key.thread_id, "thread_id", U32),
    FIELD(stack_key.stack_key, "stack_key", HEX64),
};

static const etl_field stack_definition_fields[] = {
    FIELD(stack_definition.stack_key, "stack_key", HEX64),
    FIELD(stack_definition.frame_count, "frames", FRAMES),
};

static const etl_field config_cpu_fields[] = {
    FIELD(config_cpu.mhz, "mhz", U32),
    FIELD(config_cpu.cpu_count, "cpu_count", U32),
    FIELD(config_cpu.memory_mib, "memory_mib", U32),
    FIELD(config_cpu.page_size_bytes, "page_size", U32),
    FIELD(config_cpu.allocation_granularity_bytes, "allocation_granularity", U32),
    FIELD(config_cpu.computer_name, "computer_name", TEXT16),
    FIELD(config_cpu.domain_name, "domain_name", TEXT16),
    FIELD(config_cpu.processor_architecture, "processor_architecture", U16),
    FIELD(config_cpu.memory_speed_mhz, "memory_speed_mhz", U32),
};

static const etl_field config_platform_fields[] = {
    FIELD(config_platform.manufacturer, "manufacturer", TEXT16),
    FIELD(config_platform.product, "product", TEXT16),
    FIELD(config_platform.bios_date, "bios_date", TEXT16),
    FIELD(config_platform.bios_version, "bios_version", TEXT16),
};

static const etl_field config_device_family_fields[] = {
    FIELD(config_device_family.os_major, "os_major", U16),
    FIELD(config_device_family.os_minor, "os_minor", U16),
    FIELD(config_device_family.os_build, "os_build", U16),
    FIELD(config_device_family.os_revision, "os_revision", U16),
    FIELD(config_device_family.device_family, "device_family", U32),
    FIELD(config_device_family.device_form, "device_form", U32),
};

static const etl_field build_info_fields[] = {
    FIELD(build_info.install_date_filetime, "install_date", U64),
    FIELD(build_info.build_lab, "build_lab", TEXT16),
    FIELD(build_info.product_name, "product_name", TEXT16),
};

static const etl_field system_paths_fields[] = {
    FIELD(system_paths.system_directory, "system_directory", TEXT16),
    FIELD(system_paths.windows_directory, "windows_directory", TEXT16),
};

/* An unknown volume has the first only. */
static const etl_field volume_mapping_fields[] = {
    FIELD(volume_mapping.nt_path, "nt_path", TEXT16),
    FIELD(volume_mapping.dos_path, "dos_path", TEXT16),
};

static const etl_field lost_event_fields[] = {
    FIELD(lost_event.type, "type", U32),
};

static const etl_field mark_fields[] = {
    FIELD(mark.text, "text", TEXT8),
};

#define EVENT(kind, name, list) [ETL_EVENT_##kind] = { name, list, ETL_COUNT_OF(list) }
#define EVENT_WITHOUT_LAST(kind, name, list)                                                       \
    [ETL_EVENT_##kind] = { name, list, ETL_COUNT_OF(list) - 1 }

static const etl_event_info events[ETL_EVENT_KIND_COUNT] = {
    [ETL_EVENT_NONE] = { "", NULL, 0 },
    EVENT(HEAP_CREATE, "Heap/Create", heap_create_fields),
    EVENT(HEAP_ALLOC, "Heap/Alloc", heap_alloc_fields),
    EVENT(HEAP_REALLOC, "Heap/ReAlloc", heap_realloc_fields),
    EVENT(HEAP_DESTROY, "Heap/Destroy", heap_handle_fields),
    EVENT(HEAP_FREE, "Heap/Free", heap_free_fields),
    EVENT(HEAP_EXPAND, "Heap/Expand", heap_extent_fields),
    EVENT(HEAP_CONTRACT, "Heap/Contract", heap_extent_fields),
    EVENT(HEAP_SNAPSHOT, "Heap/SnapShot", heap_snapshot_fields),
    EVENT(HEAP_RANGE_RUNDOWN, "HeapRange/Rundown", heap_range_rundown_fields),
    EVENT(HEAP_RANGE_CREATE, "HeapRange/Create", heap_range_create_fields),
    EVENT(HEAP_RANGE_RESERVE, "HeapRange/Reserve", heap_range_fields),
    EVENT(HEAP_RANGE_RELEASE, "HeapRange/Release", heap_range_fields),
    EVENT(HEAP_RANGE_DESTROY, "HeapRange/Destroy", heap_handle_fields),
    EVENT_WITHOUT_LAST(VIRTUAL_ALLOC, "PageFault/VirtualAlloc", virtual_memory_fields),
    EVENT_WITHOUT_LAST(VIRTUAL_FREE, "PageFault/VirtualFree", virtual_memory_fields),
    EVENT(VIRTUAL_ALLOC_DCSTART, "PageFault/VirtualAllocDCStart", virtual_memory_fields),
    EVENT(VIRTUAL_ALLOC_DCEND, "PageFault/VirtualAllocDCEnd", virtual_memory_fields),
    EVENT(MEMINFO, "PageFault/MemInfo", meminfo_fields),
    EVENT(MEMINFO_WS, "PageFault/MemInfoWS", meminfo_ws_fields),
    EVENT_WITHOUT_LAST(PROCESS_START, "Process/Start", process_fields),
    EVENT_WITHOUT_LAST(PROCESS_END, "Process/End", process_fields),
    EVENT_WITHOUT_LAST(PROCESS_DCSTART, "Process/DCStart", process_fields),
    EVENT_WITHOUT_LAST(PROCESS_DCEND, "Process/DCEnd", process_fields),
    EVENT(PROCESS_DEFUNCT, "Process/Defunct", process_fields),
    EVENT(PROCESS_TERMINATE, "Process/Terminate", process_terminate_fields),
    EVENT(THREAD_START, "Thread/Start", thread_fields),
    EVENT(THREAD_END, "Thread/End", thread_fields),
    EVENT(THREAD_DCSTART, "Thread/DCStart", thread_fields),
    EVENT(THREAD_DCEND, "Thread/DCEnd", thread_fields),
    EVENT(THREAD_SET_NAME, "Thread/SetName", thread_name_fields),
    EVENT(IMAGE_LOAD, "Image/Load", image_fields),
    EVENT(IMAGE_UNLOAD, "Image/UnLoad", image_fields),
    EVENT(IMAGE_DCSTART, "Image/DCStart", image_fields),
    EVENT(IMAGE_DCEND, "Image/DCEnd", image_fields),
    EVENT(IMAGE_KERNEL_BASE, "Image/KernelBase", image_kernel_base_fields),
    EVENT(IMAGE_ID, "ImageID/Info", image_id_fields),
    EVENT(IMAGE_RSDS, "ImageID/DbgID_RSDS", image_rsds_fields),
    EVENT(IMAGE_IL_RSDS, "ImageID/DbgID_ILRSDS", image_rsds_fields),
    EVENT(IMAGE_FILE_VERSION, "ImageID/FileVersion", image_file_version_fields),
    EVENT(IMAGE_DBG_NONE, "ImageID/None", image_debug_fields),
    EVENT(IMAGE_DBG_FILE, "ImageID/DbgID_DBG", image_dbg_file_fields),
    EVENT(IMAGE_PORTABLE_PDB, "ImageID/DbgPPDB", image_portable_pdb_fields),
    EVENT(IMAGE_EMBEDDED_PDB, "ImageID/DbgEmbeddedPDB", image_embedded_pdb_fields),
    EVENT(IMAGE_DETERMINISTIC, "ImageID/DbgDeterm", image_debug_fields),
    EVENT(IMAGE_ID_ERROR, "ImageID/Error", image_id_error_fields),
    EVENT(STACK, "StackWalk/Stack", stack_fields),
    EVENT(STACK_KEY_KERNEL, "StackWalk/KeyKernel", stack_key_fields),
    EVENT(STACK_KEY_USER, "StackWalk/KeyUser", stack_key_fields),
    EVENT(STACK_DEFINITION, "StackWalk/Definition", stack_definition_fields),
    EVENT(CONFIG_CPU, "SystemConfig/CPU", config_cpu_fields),
    EVENT(CONFIG_PLATFORM, "SystemConfig/Platform", config_platform_fields),
    EVENT(CONFIG_DEVICE_FAMILY, "SystemConfig/DeviceFamily", config_device_family_fields),
    EVENT(BUILD_INFO, "SysConfigEx/BuildInfo", build_info_fields),
    EVENT(SYSTEM_PATHS, "SysConfigEx/SystemPaths", system_paths_fields),
    EVENT(VOLUME_MAPPING, "SysConfigEx/VolumeMapping", volume_mapping_fields),
    EVENT_WITHOUT_LAST(VOLUME_UNKNOWN, "SysConfigEx/UnknownVolume", volume_mapping_fields),
    EVENT(LOST_EVENT, "Lost_Event/Lost", lost_event_fields),
    EVENT(MARK, "PerfInfo/Mark", mark_fields),
};

const etl_event_info *etl_event_describe(etl_event_kind kind)
{
    return (unsigned)kind < ETL_COUNT_OF(events) ? &events[kind] : &events[ETL_EVENT_NONE];
}
