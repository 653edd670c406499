/*
 * store.c - the allocation store: lifetimes as columns, in segments of up to 64 Ki rows.
 *
 * In: lifetimes one by one. Out: segments, as views of columns. Invariant: rows never move and full
 * segments never change, so threads may read segments while others are appended.
 */
#include "store.h"

#include <stdlib.h>

#define SEGMENT_ROWS_MIN 1024u

static bool add_segment(lifetime_table *store, size_t wanted);
static void put(store_segment *segment, const lifetime *row);

bool store_append(lifetime_table *store, const lifetime *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        store_segment *last =
            store->segments.count == 0 ? NULL : &store->segments.at[store->segments.count - 1];
        if (last == NULL || last->rows == last->capacity) {
            if (!add_segment(store, count - i))
                return false;
            last = &store->segments.at[store->segments.count - 1];
        }
        put(last, &rows[i]);
    }
    store->rows += count;
    return true;
}

/* Small traces get small segments: as many rows as are known to come. */
static bool add_segment(lifetime_table *store, size_t wanted)
{
    size_t rows = wanted < SEGMENT_ROWS_MIN ? SEGMENT_ROWS_MIN : wanted;
    if (rows > ETLHEAP_SEGMENT_ROWS || store->segments.count >= 16)
        rows = ETLHEAP_SEGMENT_ROWS;
    return store_add_segment(store, (u32)rows) != NULL;
}

store_segment *store_add_segment(lifetime_table *store, u32 rows)
{
    const size_t row_bytes = 5 * sizeof(u64) + 5 * sizeof(u32) + 3 * sizeof(u8);
    u8 *const memory = malloc(rows * row_bytes + 1);
    if (memory == NULL)
        return NULL;
    store_segment fresh = { .capacity = rows, .memory = memory };
    u64 *const wide = (u64 *)(void *)memory;
    u32 *const narrow = (u32 *)(void *)(memory + (size_t)rows * 5 * sizeof(u64));
    u8 *const bytes = memory + rows * (5 * sizeof(u64) + 5 * sizeof(u32));
    fresh.alloc_ticks = (i64 *)wide;
    fresh.free_ticks = (i64 *)wide + rows;
    fresh.address = wide + 2 * rows;
    fresh.size_bytes = wide + 3 * rows;
    fresh.heap_handle = wide + 4 * rows;
    fresh.process = narrow;
    fresh.stack = narrow + rows;
    fresh.thread = narrow + 2 * rows;
    fresh.free_stack = narrow + 3 * rows;
    fresh.free_thread = narrow + 4 * rows;
    fresh.kind = bytes;
    fresh.free_type = bytes + rows;
    fresh.is_realloc = bytes + 2 * rows;
    if (ETLHEAP_PUSH(&store->segments, fresh))
        return &store->segments.at[store->segments.count - 1];
    free(memory);
    return NULL;
}

static void put(store_segment *segment, const lifetime *row)
{
    const u32 at = segment->rows++;
    segment->alloc_ticks[at] = row->alloc_ticks;
    segment->free_ticks[at] = row->free_ticks;
    segment->address[at] = row->address;
    segment->size_bytes[at] = row->size;
    segment->heap_handle[at] = row->heap;
    segment->process[at] = row->process;
    segment->stack[at] = row->stack;
    segment->thread[at] = row->thread;
    segment->free_stack[at] = row->free_stack;
    segment->free_thread[at] = row->free_thread;
    segment->kind[at] = row->kind;
    segment->free_type[at] = row->free_type;
    segment->is_realloc[at] = row->is_realloc;
}

void store_free(lifetime_table *store)
{
    for (size_t i = 0; i < store->segments.count; i++)
        free(store->segments.at[i].memory);
    ETLHEAP_VECTOR_FREE(&store->segments);
    store->rows = 0;
}

etlheap_segment store_view(const store_segment *segment)
{
    return (etlheap_segment){ .rows = segment->rows,
                              .alloc_ticks = segment->alloc_ticks,
                              .free_ticks = segment->free_ticks,
                              .address = segment->address,
                              .size_bytes = segment->size_bytes,
                              .heap_handle = segment->heap_handle,
                              .process = segment->process,
                              .stack = segment->stack,
                              .thread = segment->thread,
                              .kind = segment->kind,
                              .free_type = segment->free_type,
                              .is_realloc = segment->is_realloc,
                              .free_stack = segment->free_stack,
                              .free_thread = segment->free_thread };
}
