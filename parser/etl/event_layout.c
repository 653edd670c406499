/*
 * event_layout.c - reads a payload by a list of values.
 *
 * The list is walked twice: once for the bytes that must be there, those before the
 * first text or late value; and once to read, which cannot fail any more. What is not
 * read stays as the event begins, empty.
 */
#include "event_layout.h"

#define POINTERS_OF_PTRS8 8u

/* Bytes on disk, and pointers beside them. A text says itself where it ends. */
static const struct {
    u8 bytes;
    u8 pointers;
} sizes[] = {
    [ETL_BYTES_U8] = { 1, 0 },
    [ETL_BYTES_U16] = { 2, 0 },
    [ETL_BYTES_U32] = { 4, 0 },
    [ETL_BYTES_U64] = { 8, 0 },
    [ETL_BYTES_PTR] = { 0, 1 },
    [ETL_BYTES_PTRS8] = { 0, POINTERS_OF_PTRS8 },
    [ETL_BYTES_GUID] = { sizeof(etl_guid), 0 },
    [ETL_BYTES_TEXT8] = { 0, 0 },
    [ETL_BYTES_TEXT16] = { 0, 0 },
};

static size_t fixed_bytes(const etl_layout *layout, u16 version, unsigned width);
static size_t late_bytes(const etl_layout *layout, u16 version, unsigned width);
static void read_value(etl_cursor *c, u8 type, unsigned width, u8 *member);
static u64 sum_pointers(etl_cursor *c, unsigned width, u32 count);

static inline bool is_text(const etl_layout_item *item)
{
    return item->type == ETL_BYTES_TEXT8 || item->type == ETL_BYTES_TEXT16;
}

static inline size_t item_bytes(const etl_layout_item *item, unsigned width)
{
    return sizes[item->type].bytes + (size_t)sizes[item->type].pointers * width;
}

bool etl_layout_read(const etl_layout *layout, const etl_record *record, etl_event *out)
{
    const unsigned width = record->pointer_bytes == 4 ? 4 : 8;
    const u16 version = record->version;
    etl_cursor c = etl_cursor_of(record->payload);
    const size_t fixed = fixed_bytes(layout, version, width);
    if (!etl_need(&c, fixed))
        return false;
    memset(&out->as, 0, sizeof out->as);
    const bool has_late = c.left - fixed >= late_bytes(layout, version, width);
    for (size_t i = 0; i < layout->count; i++) {
        const etl_layout_item *const item = &layout->items[i];
        if (item->since > version || (item->is_late && !has_late))
            continue;
        if (item->is_gap)
            etl_skip(&c, item_bytes(item, width));
        else
            read_value(&c, item->type, width, (u8 *)out + item->member);
    }
    return true;
}

static size_t fixed_bytes(const etl_layout *layout, u16 version, unsigned width)
{
    size_t bytes = 0;
    for (size_t i = 0; i < layout->count; i++) {
        const etl_layout_item *const item = &layout->items[i];
        if (is_text(item) || item->is_late)
            break;
        bytes += item->since <= version ? item_bytes(item, width) : 0;
    }
    return bytes;
}

static size_t late_bytes(const etl_layout *layout, u16 version, unsigned width)
{
    size_t bytes = 0;
    for (size_t i = 0; i < layout->count; i++) {
        const etl_layout_item *const item = &layout->items[i];
        bytes += item->is_late && item->since <= version ? item_bytes(item, width) : 0;
    }
    return bytes;
}

/* Behind a text the payload may end before the value: then it is empty too. */
static void read_value(etl_cursor *c, u8 type, unsigned width, u8 *member)
{
    if (type == ETL_BYTES_TEXT8 || type == ETL_BYTES_TEXT16) {
        const etl_bytes text = type == ETL_BYTES_TEXT8 ? etl_string8(c) : etl_string16(c);
        memcpy(member, &text, sizeof text);
        return;
    }
    if (type == ETL_BYTES_PTR || type == ETL_BYTES_PTRS8) {
        const u64 sum = sum_pointers(c, width, type == ETL_BYTES_PTR ? 1 : POINTERS_OF_PTRS8);
        memcpy(member, &sum, sizeof sum);
        return;
    }
    /* The rest is kept as it stands: a little-endian number, or the bytes of a GUID. */
    const u8 *const bytes = etl_take(c, sizes[type].bytes);
    if (bytes != NULL)
        memcpy(member, bytes, sizes[type].bytes);
}

static u64 sum_pointers(etl_cursor *c, unsigned width, u32 count)
{
    u64 sum = 0;
    for (u32 i = 0; i < count; i++)
        sum = etl_sat_add_u64(sum, etl_pointer(c, width));
    return sum;
}
