/*
 * decode.c - the decoder table, made of the rows of event_rows.h.
 *
 * A record is looked up by class and type in two const levels: pages[class] is
 * a table of 256 row numbers, 0 where we decode nothing, and the row says how
 * to read it. Hook records, nearly all of a memory trace, reach their row without
 * a search; records that carry a GUID look up its class first.
 */
#include "event_layout.h"

enum {
    ROW_NONE,
#define ROW_ENUM(key, kind, version_max, payload, name) ROW_##key,
#define ROWS_OF_CLASS(rows)                             ETL_ROWS_##rows(ROW_ENUM, ROW_ENUM)
    ETL_ROW_CLASSES(ROWS_OF_CLASS)
#undef ROWS_OF_CLASS
#undef ROW_ENUM
        ROW_COUNT
};
static_assert(ROW_COUNT <= UINT8_MAX, "pages hold row numbers in a byte");

#define CODED(body)  .decode = etl_decode_##body
#define LAYOUT(list) .layout = ETL_LAYOUT_OF(list)
#define DECODER_ROW(key, row_kind, newest, payload, label)                                         \
    [ROW_##key] = { .kind = ETL_EVENT_##row_kind, .version_max = newest, .name = label, payload },
#define DECODERS_OF_CLASS(rows) ETL_ROWS_##rows(DECODER_ROW, DECODER_ROW)
static const etl_decoder decoders[ROW_COUNT] = { ETL_ROW_CLASSES(DECODERS_OF_CLASS) };

#define TYPES                                             256
#define PAGE_ENTRY(key, kind, version_max, payload, name) [ETL_##key & 0xff] = ROW_##key,
#define PAGE_OF_CLASS(rows)                                                                        \
    [ETL_CLASS_##rows] = (const u8[TYPES]){ ETL_ROWS_##rows(PAGE_ENTRY, PAGE_ENTRY) },
static const u8 *const pages[ETL_CLASS_COUNT] = { ETL_ROW_CLASSES(PAGE_OF_CLASS) };

const etl_decoder *etl_decoder_of_key(u16 key)
{
    const u8 *const page = key != ETL_KEY_NONE ? pages[key >> 8] : NULL;
    const u8 row = page != NULL ? page[key & 0xff] : ROW_NONE;
    return row != ROW_NONE ? &decoders[row] : NULL;
}

etl_event_kind etl_record_kind(const etl_record *record)
{
    const etl_decoder *const row = etl_decoder_of_key(etl_record_key(record));
    return row == NULL ? ETL_EVENT_NONE : (etl_event_kind)row->kind;
}

bool etl_decode(const etl_record *record, etl_event *out, etl_diag_counts *diag)
{
    out->kind = ETL_EVENT_NONE;
    const etl_decoder *const row = etl_decoder_of_key(etl_record_key(record));
    if (row == NULL)
        return false;
    out->pointer_bytes = record->pointer_bytes;
    const bool is_read = row->decode != NULL ? row->decode(record, out, diag)
                                             : etl_layout_read(&row->layout, record, out);
    if (!is_read) {
        etl_diag_add(diag, ETL_DIAG_event_truncated, 1);
        return false;
    }
    if (record->version > row->version_max)
        etl_diag_add(diag, ETL_DIAG_event_version_newer, 1);
    out->kind = (etl_event_kind)row->kind;
    return true;
}
