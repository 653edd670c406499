/*
 * fuzz_decode.c - any bytes as the payload of an event that we decode. The first four
 * bytes choose hook or class, version and pointer width; the payload has memory of its
 * own, so that reading past it is found out. All fields of what is decoded are read, as
 * `dump` does.
 */
#include "formats/parts/record_view.h"
#include "formats/io/text_buffer.h"
#include "fuzz.h"
#include "parser/etl/layout_events.h"
#include "parser/parser.h"

#include <stdlib.h>

#define CHOICE_BYTES 4u
#define GUID_BYTES   16u

/* Classes of hooks, and those that have records with their GUID only. */
static const u8 hook_classes[] = { ETL_CLASS_HEADER,    ETL_CLASS_MEMORY, ETL_CLASS_PROCESS,
                                   ETL_CLASS_THREAD,    ETL_CLASS_CONFIG, ETL_CLASS_HEAP,
                                   ETL_CLASS_STACKWALK, ETL_CLASS_IMAGE };
/* Classes that came later. They have choices of their own, so that inputs found before keep their
 * meaning. */
#define LATER_FROM 0xF0u
static const u8 later_classes[] = { ETL_CLASS_POOL, ETL_CLASS_OBJECT, ETL_CLASS_FILE };
static const u8 guids[][GUID_BYTES] = {
    /* ImageID, SysConfigEx, Lost_Event */
    { 0xd7, 0x75, 0xe6, 0xb3, 0x54, 0x25, 0x18, 0x4f, 0x83, 0x0b, 0x27, 0x62, 0x73, 0x25, 0x60,
      0xde },
    { 0x91, 0xee, 0x79, 0x9b, 0xfd, 0xb5, 0xc0, 0x41, 0xa2, 0x43, 0x42, 0x48, 0xe2, 0x66, 0xe9,
      0xd0 },
    { 0xe0, 0x9a, 0x39, 0x6a, 0xc6, 0x4b, 0xe9, 0x4d, 0x87, 0x0b, 0x36, 0x57, 0xf8, 0x94, 0x7e,
      0x7e },
};

static etl_record choose(const u8 *choice, etl_bytes payload)
{
    const u32 which = choice[0] % (ETL_COUNT_OF(hook_classes) + ETL_COUNT_OF(guids));
    const bool is_later = choice[0] >= LATER_FROM;
    const bool has_hook = is_later || which < ETL_COUNT_OF(hook_classes);
    const u8 hook_class = is_later   ? later_classes[choice[0] % ETL_COUNT_OF(later_classes)]
                          : has_hook ? hook_classes[which]
                                     : 0;
    const bool is_narrow = choice[3] % 2 != 0;
    etl_record record = { .ticks = 1,
                          .tid = 1,
                          .pid = 1,
                          .opcode = choice[1],
                          .version = choice[2] % 8,
                          .header = is_narrow ? ETL_HEADER_SYSTEM32 : ETL_HEADER_SYSTEM64,
                          .pointer_bytes = is_narrow ? 4 : 8,
                          .has_hook = has_hook,
                          .has_time = true,
                          .payload = payload };
    if (has_hook) {
        record.hook = (u16)(hook_class << 8 | choice[1]);
    } else {
        record.provider = guids[which - ETL_COUNT_OF(hook_classes)];
        record.header = is_narrow ? ETL_HEADER_FULL32 : ETL_HEADER_FULL64;
    }
    return record;
}

static u64 read_members(const etlheap_value *value)
{
    u64 sum = 0, address, size_bytes;
    for (u32 i = 0; i < value->count; i++) {
        etl_meminfo_ws_row row;
        if (value->kind == ETLHEAP_VALUE_FRAMES) {
            sum += etlheap_value_frame(value, i);
        } else if (value->kind == ETLHEAP_VALUE_RANGES) {
            etlheap_value_range(value, i, &address, &size_bytes);
            sum += address ^ size_bytes;
        } else if (value->kind == ETLHEAP_VALUE_WORKING_SETS &&
                   etl_meminfo_ws_entry(value->working_sets, (u8)value->width, i, &row)) {
            sum += row.commit_pages;
        }
    }
    return sum;
}

static void read_fields(const etl_event *event)
{
    const etl_event_info *const info = etl_event_describe(event->kind);
    etlheap_text text = { 0 };
    volatile u64 sum = 0;
    for (size_t i = 0; i < info->field_count; i++) {
        const etlheap_value value = etlheap_value_of(event, &info->fields[i], &text);
        sum = read_members(&value);
    }
    (void)sum;
    etlheap_text_free(&text);
}

/* Rundowns of pool list as many blocks as they say, and no byte is read twice or left. */
static void read_pool_blocks(const etl_record *record)
{
    const u32 count = etl_pool_block_count(record);
    const size_t bytes = 8 + 2 * (size_t)record->pointer_bytes;
    etl_pool_block block;
    if (count != 0 && count * bytes != record->payload.size)
        __builtin_trap();
    for (u32 i = 0; i < count; i++) {
        if (!etl_pool_block_at(record, i, &block))
            __builtin_trap();
    }
    if (etl_pool_block_at(record, count, &block))
        __builtin_trap();
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
    if (size < CHOICE_BYTES)
        return 0;
    const size_t left = size - CHOICE_BYTES;
    u8 *const payload = malloc(left + (left == 0));
    if (payload == NULL)
        abort();
    memcpy(payload, data + CHOICE_BYTES, left);
    const etl_record record = choose(data, (etl_bytes){ payload, left });
    etl_diag_counts diag = { 0 };
    etl_event event;
    if (data[0] >= LATER_FROM)
        read_pool_blocks(&record);
    if (etl_decode(&record, &event, &diag)) {
        if (event.kind == ETL_EVENT_NONE || etl_record_name(&record) == NULL)
            __builtin_trap();
        read_fields(&event);
    }
    free(payload);
    return 0;
}
