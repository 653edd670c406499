/*
 * decode_heap.c - heap events: blocks, extents and whole heaps.
 *
 * Layouts with their sources are in layout_events.h. Alloc, Free and their
 * stacks are nearly all records of a heap trace, so these bodies write only the
 * members they read.
 */
#include "decode_internal.h"

ETL_DECODER(heap_alloc)
ETL_DECODER(heap_realloc)
ETL_DECODER(heap_free)
ETL_DECODER(heap_snapshot)

static inline bool read_heap_alloc(etl_payload p, etl_event *out)
{
    if (!etl_need(&p.c, 3 * p.width + 4))
        return false;
    etl_heap_alloc *const event = &out->as.heap_alloc;
    event->heap_handle = etl_pointer(&p.c, p.width);
    event->alloc_size_bytes = etl_pointer(&p.c, p.width);
    event->alloc_address = etl_pointer(&p.c, p.width);
    event->source_id = etl_u32(&p.c);
    return true;
}

static inline bool read_heap_realloc(etl_payload p, etl_event *out)
{
    if (!etl_need(&p.c, 5 * p.width + 4))
        return false;
    etl_heap_realloc *const event = &out->as.heap_realloc;
    event->heap_handle = etl_pointer(&p.c, p.width);
    event->new_alloc_address = etl_pointer(&p.c, p.width);
    event->old_alloc_address = etl_pointer(&p.c, p.width);
    event->new_alloc_size_bytes = etl_pointer(&p.c, p.width);
    event->old_alloc_size_bytes = etl_pointer(&p.c, p.width);
    event->source_id = etl_u32(&p.c);
    return true;
}

static inline bool read_heap_free(etl_payload p, etl_event *out)
{
    if (!etl_need(&p.c, 2 * p.width + 4))
        return false;
    etl_heap_free *const event = &out->as.heap_free;
    event->heap_handle = etl_pointer(&p.c, p.width);
    event->free_address = etl_pointer(&p.c, p.width);
    event->source_id = etl_u32(&p.c);
    return true;
}

/*
 * The first form ends after HeapFlags and no version tells it from the later
 * one, only the length does: either is taken, what lies between is too short.
 * Version 4 has eight more bytes at the end, whose meaning is unknown.
 */
static inline bool read_heap_snapshot(etl_payload p, etl_event *out)
{
    const size_t short_size = 4 * p.width + 4;
    const bool is_long = p.c.left != short_size;
    const bool has_allocated = is_long && p.version >= 3;
    const size_t long_size = 5 * p.width + 16 + (has_allocated ? p.width : 0);
    if (!etl_need(&p.c, is_long ? long_size : short_size))
        return false;
    etl_heap_snapshot event = { 0 };
    event.heap_handle = etl_pointer(&p.c, p.width);
    event.free_space_bytes = etl_pointer(&p.c, p.width);
    event.committed_space_bytes = etl_pointer(&p.c, p.width);
    event.reserved_space_bytes = etl_pointer(&p.c, p.width);
    event.heap_flags = etl_u32(&p.c);
    if (is_long) {
        event.process_id = etl_u32(&p.c);
        event.large_ucr_space_bytes = etl_pointer(&p.c, p.width);
        event.free_list_length = etl_u32(&p.c);
        event.ucr_length = etl_u32(&p.c);
    }
    if (has_allocated)
        event.allocated_space_bytes = etl_pointer(&p.c, p.width);
    out->as.heap_snapshot = event;
    return true;
}
