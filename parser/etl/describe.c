/*
 * describe.c - lists the fields of every event, for output.
 *
 * In: the lists of values in event_rows.h. Out: for each kind of event, an array of etl_field:
 * label, offset in etl_event, and how the value is shown. `dump` prints an event from that array
 * alone.
 *
 * Regular events take their fields from the lists. This file lists the fields of all others, in
 * arrays named <reader>_fields, which event_rows.h names. A label is the name of the member, mostly
 * without its unit (_bytes, _filetime). Addresses, handles and flags are shown in hexadecimal.
 * Invariant: each FIELD names the type of its member in etl_event, and nothing checks that.
 */
#include "event_rows.h"
#include "parser/parser.h"

#define FIELD(member, label, field_type)                                                           \
    {                                                                                              \
        label, (u16)offsetof(etl_event, as.member), ETL_FIELD_##field_type                         \
    }

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

static const etl_field heap_free_fields[] = {
    FIELD(heap_free.heap_handle, "heap_handle", HEX64),
    FIELD(heap_free.free_address, "free_address", HEX64),
    FIELD(heap_free.source_id, "source_id", U32),
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

static const etl_field virtual_memory_fields[] = {
    FIELD(virtual_memory.base_address, "base_address", HEX64),
    FIELD(virtual_memory.region_size_bytes, "region_size", U64),
    FIELD(virtual_memory.process_id, "process_id", U32),
    FIELD(virtual_memory.flags, "flags", HEX32),
};

static const etl_field meminfo_ws_fields[] = {
    FIELD(meminfo_ws.count, "count", U32),
    FIELD(meminfo_ws, "entries", WS_ROWS),
};

#define PROCESS_FIELDS                                                                             \
    FIELD(process.unique_process_key, "unique_process_key", HEX64),                                \
        FIELD(process.process_id, "process_id", U32), FIELD(process.parent_id, "parent_id", U32),  \
        FIELD(process.session_id, "session_id", U32),                                              \
        FIELD(process.exit_status, "exit_status", I32), FIELD(process.flags, "flags", HEX32),      \
        FIELD(process.image_file_name, "image_file_name", TEXT8),                                  \
        FIELD(process.command_line, "command_line", TEXT16),                                       \
        FIELD(process.package_full_name, "package_full_name", TEXT16),                             \
        FIELD(process.application_id, "application_id", TEXT16)

static const etl_field process_fields[] = { PROCESS_FIELDS };

static const etl_field process_defunct_fields[] = {
    PROCESS_FIELDS,
    FIELD(process.exit_time_filetime, "exit_time", U64),
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

static const etl_field image_fields[] = {
    FIELD(image.image_base, "image_base", HEX64),
    FIELD(image.image_size_bytes, "image_size", U64),
    FIELD(image.process_id, "process_id", U32),
    FIELD(image.image_checksum, "image_checksum", U32),
    FIELD(image.time_date_stamp, "time_date_stamp", U32),
    FIELD(image.file_name, "file_name", TEXT16),
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

static const etl_field device_family_fields[] = {
    FIELD(config_device_family.os_major, "os_major", U16),
    FIELD(config_device_family.os_minor, "os_minor", U16),
    FIELD(config_device_family.os_build, "os_build", U16),
    FIELD(config_device_family.os_revision, "os_revision", U16),
    FIELD(config_device_family.device_family, "device_family", U32),
    FIELD(config_device_family.device_form, "device_form", U32),
};

static const etl_field lost_event_fields[] = {
    FIELD(lost_event.type, "type", U32),
};

static const etl_field event_description_fields[] = {
    FIELD(event_description.provider, "described_provider", GUID),
    FIELD(event_description.id, "described_id", U16),
    FIELD(event_description.version, "described_version", U16),
    FIELD(event_description.opcode, "described_opcode", U16),
    FIELD(event_description.provider_name, "provider_name", TEXT16),
    FIELD(event_description.event_name, "event_name", TEXT16),
    FIELD(event_description.opcode_name, "opcode_name", TEXT16),
    FIELD(event_description.property_count, "property_count", U32),
};

static const etl_field event_map_fields[] = {
    FIELD(event_map.provider, "described_provider", GUID),
    FIELD(event_map.name, "map_name", TEXT16),
    FIELD(event_map.entry_count, "entry_count", U32),
};

/* Fields of custom events, which have no row: custom_events.c reads them by its own
 * descriptions. */
static const etl_field custom_fields[] = {
    FIELD(custom.allocator, "allocator", TEXT8),
    FIELD(custom.heap, "heap", U64),
    FIELD(custom.address, "address", HEX64),
    FIELD(custom.size_bytes, "size", U64),
};

/* Expands a list of values into fields, and skips its gaps. */
#define LIST_FIELD(since, type, member, shown, label) FIELD(member, label, shown),
#define NO_FIELD(since, type)
#define FIELDS_OF(list)                                                                            \
    (const etl_field[])                                                                            \
    {                                                                                              \
        ETL_LAYOUT_##list(LIST_FIELD, NO_FIELD, LIST_FIELD)                                        \
    }

#define CODED(body)  body##_fields, ETL_COUNT_OF(body##_fields)
#define LAYOUT(list) FIELDS_OF(list), sizeof(FIELDS_OF(list)) / sizeof(etl_field)

#define KIND_ROW(key, kind, version_max, payload, name) [ETL_EVENT_##kind] = { payload },
#define NO_ROW(key, kind, version_max, payload, name)
#define KINDS_OF_CLASS(rows) ETL_ROWS_##rows(KIND_ROW, NO_ROW)
static const etl_event_info events[ETL_EVENT_KIND_COUNT] = {
    [ETL_EVENT_NONE] = { NULL, 0 },
    [ETL_EVENT_CUSTOM_ALLOC] = { CODED(custom) },
    [ETL_EVENT_CUSTOM_FREE] = { CODED(custom) },
    ETL_ROW_CLASSES(KINDS_OF_CLASS)
};

const etl_event_info *etl_event_describe(etl_event_kind kind)
{
    return (unsigned)kind < ETL_COUNT_OF(events) ? &events[kind] : &events[ETL_EVENT_NONE];
}
