/*
 * fuzz_described.c - any bytes as the description of an event and as its payload.
 *
 * Byte 0: how the event is described (TraceLogging, EventInfo, EventInfo with a map) and the
 * width of a pointer. Bytes 1 and 2: how many of the rest are the description; byte 3 the
 * same for the map. All three parts have memory of their own, so that reading past one is
 * found out. The walk must end, close what it opened, and leave nothing out of the payload
 * twice; every value is made text, as `dump` does.
 */
#include "formats/io/text_buffer.h"
#include "formats/parts/described_view.h"
#include "fuzz.h"
#include "parser/etl/layout.h"
#include "parser/parser.h"

#include <stdlib.h>

#define CHOICE_BYTES  4u
#define STEPS_MAX     (1u << 21)
#define ITEM_ALIGNED  8u
#define DATA_SIZE_MAX 60000u

typedef struct part {
    u8 *at;
    size_t size;
} part;

static part take(const u8 **data, size_t *left, size_t size)
{
    part taken = { .size = size < *left ? size : *left };
    taken.at = malloc(taken.size + (taken.size == 0));
    if (taken.at == NULL)
        abort();
    memcpy(taken.at, *data, taken.size);
    *data += taken.size;
    *left -= taken.size;
    return taken;
}

/* The bytes as the only item of a record. */
static part item_of(const part *data)
{
    const size_t padded = (data->size + ITEM_ALIGNED - 1) / ITEM_ALIGNED * ITEM_ALIGNED;
    part item = { .size = ETL_ITEM_HEADER_BYTES + padded };
    item.at = calloc(1, item.size);
    if (item.at == NULL)
        abort();
    const u16 words[4] = { (u16)item.size, ETL_ITEM_SCHEMA_TL, 0, (u16)data->size };
    memcpy(item.at, words, sizeof words);
    memcpy(item.at + sizeof words, data->at, data->size);
    return item;
}

static void show(const etl_record *record, const etl_description *description)
{
    etl_diag_counts diag = { { 0 } };
    etlheap_text text = { 0 };
    etl_walk walk;
    etl_step step;
    size_t open = 0, steps = 0;
    etl_walk_begin(&walk, record, description, &diag);
    while (etl_walk_next(&walk, &step)) {
        if (step.kind == ETL_STEP_CLOSE && open-- == 0)
            __builtin_trap();
        open += step.kind == ETL_STEP_ARRAY || step.kind == ETL_STEP_STRUCT;
        if (++steps > STEPS_MAX || open >= ETL_WALK_DEPTH_MAX)
            __builtin_trap();
        etlheap_text_clear(&text);
        etlheap_text_add_label(&text, step.name);
        if (step.kind == ETL_STEP_VALUE) {
            etlheap_text_add_value(&text, &step.value);
            etlheap_text_add_map_names(&text, &step.value);
        }
    }
    if (open != 0 || walk.left.size != 0 ||
        diag.of[ETL_DIAG_description_invalid] + diag.of[ETL_DIAG_description_mismatch] > 1)
        __builtin_trap();
    etl_value value;
    etlheap_text_add_event(&text, record, description);
    (void)etl_described_value(record, description, "a.b", &value);
    etlheap_text_free(&text);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
    static const u8 provider[ETL_GUID_BYTES] = { 1 };
    if (size < CHOICE_BYTES || size > DATA_SIZE_MAX)
        return 0;
    const u8 *const choice = data;
    size_t left = size - CHOICE_BYTES;
    data += CHOICE_BYTES;
    const part told = take(&data, &left, choice[1] | (size_t)choice[2] << 8);
    const part map_bytes = take(&data, &left, choice[0] % 3 == 2 ? choice[3] : 0);
    const part payload = take(&data, &left, left);
    const part item = item_of(&told);
    etl_record record = { .header = ETL_HEADER_EVENT64,
                          .pointer_bytes = choice[0] >= 128 ? 4 : 8,
                          .provider = provider,
                          .payload = { payload.at, payload.size } };
    etl_diag_counts diag = { { 0 } };
    etl_description description;
    etl_value_map map;
    etl_event_id id;
    if (choice[0] % 3 == 0) {
        record.items = (etl_bytes){ item.at, item.size };
        if (etl_description_of_record(&record, &description, &diag))
            show(&record, &description);
    } else if (etl_description_of_info((etl_bytes){ told.at, told.size }, &id, &description)) {
        if (etl_value_map_of_info((etl_bytes){ map_bytes.at, map_bytes.size }, &map)) {
            record.provider = map.provider;
            description.maps = (etl_value_maps){ &map, 1 };
        }
        show(&record, &description);
    }
    free(told.at);
    free(map_bytes.at);
    free(payload.at);
    free(item.at);
    return 0;
}
