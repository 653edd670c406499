/*
 * custom_events.c - allocations and frees of allocators that are not Windows' own.
 *
 * The built-in rows have the same form as those that users write (custom_parse.c), and all are read
 * by one function.
 * Source: mimalloc's manifest src/prim/windows/etw.man; the manifest PIXETW.man of the
 * WinPixEventRuntime. Built bytes only: no recorded trace with such events was at hand.
 */
#include "parser/custom_events.h"

#include "parser/cursor.h"

#define AT(offset, kind)                                                                           \
    {                                                                                              \
        .offset_bytes = (offset), .type = ETL_CUSTOM_##kind                                        \
    }
#define BEHIND_POINTER(offset, kind)                                                               \
    {                                                                                              \
        (offset), 1, ETL_CUSTOM_##kind                                                             \
    }

static const etl_custom_allocator allocators_built_in[] = {
    /* The size in a free is what the block could hold, which may be more than was asked
     * for, so it is not read: a free gives back the block. */
    { .provider.bytes = { 0xbb, 0x4d, 0x8f, 0x13, 0x04, 0xee, 0x99, 0x48, 0xaa, 0x0a, 0x57, 0x2a,
                          0xd4, 0x47, 0x57, 0x79 },
      .name = "mimalloc",
      .alloc = { .id = 100, .address = AT(0, U64), .size = AT(8, U64) },
      .free = { .id = 101, .address = AT(0, U64) } },
    /* Several frees may give back one allocation. */
    { .provider.bytes = { 0x17, 0xca, 0x19, 0x88, 0xaa, 0x7f, 0x84, 0x41, 0xaf, 0xb7, 0xa4, 0x12,
                          0x0c, 0xa7, 0x93, 0xcd },
      .name = "PIX",
      .alloc = { .id = 16,
                 .heap = AT(0, U16),
                 .address = AT(2, PTR),
                 .size = BEHIND_POINTER(2, U64) },
      .free = { .id = 17,
                .heap = AT(0, U16),
                .address = AT(2, PTR),
                .size = BEHIND_POINTER(2, U64) } },
};

u32 etl_custom_allocator_count(void)
{
    return (u32)ETL_COUNT_OF(allocators_built_in);
}

const etl_custom_allocator *etl_custom_allocator_at(u32 index)
{
    return index < ETL_COUNT_OF(allocators_built_in) ? &allocators_built_in[index] : NULL;
}

static const etl_custom_allocator *find(const etl_custom_allocator *allocators, u32 count,
                                        const etl_record *record)
{
    for (u32 i = 0; i < count; i++) {
        const etl_custom_allocator *const one = &allocators[i];
        if ((record->id == one->alloc.id || record->id == one->free.id) &&
            memcmp(one->provider.bytes, record->provider, sizeof one->provider.bytes) == 0)
            return one;
    }
    return NULL;
}

/* A value that the event does not have is 0. */
static u64 read_value(const etl_record *record, const etl_custom_value *value, bool *is_read)
{
    const unsigned width = record->pointer_bytes == 4 ? 4 : 8;
    etl_cursor c = etl_cursor_of(record->payload);
    u64 number = 0;
    if (value->type == ETL_CUSTOM_NONE)
        return 0;
    etl_skip(&c, value->offset_bytes + (size_t)value->pointers * width);
    switch ((etl_custom_type)value->type) {
    case ETL_CUSTOM_U16:
        number = etl_u16(&c);
        break;
    case ETL_CUSTOM_U32:
        number = etl_u32(&c);
        break;
    case ETL_CUSTOM_U64:
        number = etl_u64(&c);
        break;
    case ETL_CUSTOM_PTR:
        number = etl_pointer(&c, width);
        break;
    case ETL_CUSTOM_NONE:
        break;
    }
    *is_read &= etl_ok(&c);
    return number;
}

bool etl_custom_decode(const etl_custom_allocator *allocators, u32 count, const etl_record *record,
                       etl_event *out, etl_diag_counts *diag)
{
    out->kind = ETL_EVENT_NONE;
    const bool has_provider =
        record->header == ETL_HEADER_EVENT32 || record->header == ETL_HEADER_EVENT64;
    if (!has_provider || record->provider == NULL)
        return false;
    const etl_custom_allocator *found = find(allocators, count, record);
    if (found == NULL)
        found = find(allocators_built_in, etl_custom_allocator_count(), record);
    if (found == NULL)
        return false;
    const bool is_alloc = record->id == found->alloc.id;
    const etl_custom_layout *const layout = is_alloc ? &found->alloc : &found->free;
    bool is_read = true;
    const etl_custom_event event = {
        .address = read_value(record, &layout->address, &is_read),
        .size_bytes = read_value(record, &layout->size, &is_read),
        .heap = read_value(record, &layout->heap, &is_read),
        .has_heap = layout->heap.type != ETL_CUSTOM_NONE,
        .allocator = { (const u8 *)found->name, strlen(found->name) },
    };
    if (!is_read) {
        etl_diag_add(diag, ETL_DIAG_event_truncated, 1);
        return false;
    }
    out->kind = is_alloc ? ETL_EVENT_CUSTOM_ALLOC : ETL_EVENT_CUSTOM_FREE;
    out->pointer_bytes = record->pointer_bytes;
    out->as.custom = event;
    return true;
}
