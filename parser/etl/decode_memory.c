/*
 * decode_memory.c - VirtualAlloc, and the memory events that hold lists.
 *
 * Layouts with their sources are in layout_events.h. A list stands behind a count; a
 * count that promises more than the payload holds makes the record too short, so the
 * lists published are as long as they say.
 */
#include "decode_internal.h"

static inline size_t meminfo_ws_entry_bytes(const etl_payload *p, u32 count);

ETL_DECODER(virtual_memory)
ETL_DECODER(heap_range_rundown)
ETL_DECODER(meminfo_ws)

static inline bool read_virtual_memory(etl_payload p, etl_event *out)
{
    if (!etl_need(&p.c, 2 * p.width + 8))
        return false;
    etl_virtual_memory *const event = &out->as.virtual_memory;
    event->base_address = etl_pointer(&p.c, p.width);
    event->region_size_bytes = etl_pointer(&p.c, p.width);
    event->process_id = etl_u32(&p.c);
    event->flags = etl_u32(&p.c);
    event->commit_size_bytes = 0;
    return true;
}

/*
 * Version 3 has a Reserved field before the ranges. One source has it in all
 * versions, so an older record is read with it when its length fits no other
 * way: the ranges are pairs of pointers and the field is 4 bytes, so a length
 * cannot fit both.
 */
static inline bool read_heap_range_rundown(etl_payload p, etl_event *out)
{
    if (!etl_need(&p.c, p.width + 12))
        return false;
    etl_heap_range_rundown event = { 0 };
    event.heap_handle = etl_pointer(&p.c, p.width);
    event.flags = etl_u32(&p.c);
    event.process_id = etl_u32(&p.c);
    event.range_count = etl_u32(&p.c);
    const u64 ranges_size = (u64)event.range_count * 2 * p.width;
    if (p.version >= 3 || p.c.left == ranges_size + 4)
        etl_skip(&p.c, 4);
    if (ranges_size > p.c.left)
        return false;
    event.ranges = etl_view(&p.c, (size_t)ranges_size);
    if (!etl_ok(&p.c))
        return false;
    out->as.heap_range_rundown = event;
    return true;
}

static inline bool read_meminfo_ws(etl_payload p, etl_event *out)
{
    if (!etl_need(&p.c, 4))
        return false;
    const u32 count = etl_u32(&p.c);
    const size_t entry_bytes = meminfo_ws_entry_bytes(&p, count);
    if (count > p.c.left / entry_bytes)
        return false;
    etl_meminfo_ws *const event = &out->as.meminfo_ws;
    event->count = count;
    event->entry_bytes = (u32)entry_bytes;
    event->entries = etl_view(&p.c, count * entry_bytes);
    return true;
}

bool etl_meminfo_ws_entry(const etl_meminfo_ws *event, u8 pointer_bytes, u32 i,
                          etl_meminfo_ws_row *out)
{
    if (i >= event->count)
        return false;
    etl_cursor c = etl_cursor_of(event->entries);
    etl_skip(&c, (size_t)i * event->entry_bytes);
    if (!etl_need(&c, 4 + ETL_MEMINFO_WS_VALUES_V0 * (size_t)pointer_bytes))
        return false;
    out->process_id = etl_u32(&c);
    out->working_set_pages = etl_pointer(&c, pointer_bytes);
    out->commit_pages = etl_pointer(&c, pointer_bytes);
    out->virtual_size_pages = etl_pointer(&c, pointer_bytes);
    out->private_working_set_pages = etl_pointer(&c, pointer_bytes);
    return true;
}

/* A version we do not know may have longer entries; then the length tells. */
static inline size_t meminfo_ws_entry_bytes(const etl_payload *p, u32 count)
{
    const size_t values = p->version < 2 ? ETL_MEMINFO_WS_VALUES_V0 : ETL_MEMINFO_WS_VALUES_V2;
    const size_t known = 4 + values * p->width;
    if (p->version <= 2 || count == 0 || p->c.left % count != 0)
        return known;
    return etl_max_u64(known, p->c.left / count);
}
