/*
 * scenario_heap_pages.c - writes heaps that commit and decommit pages; scenario_heap_pages.h says
 * what the scenario holds.
 *
 * In: nothing. Out: calls of the builder. Invariant: what a snapshot or an Expand states is what
 * the commits before it add up to, except for the one that contradicts.
 */
#include "scenario_heap_pages.h"

#include "etl_build_inside.h"

#define MS          UINT64_C(1000000)
#define SERVER_PID  900u
#define SERVER_BASE UINT64_C(0x7ff640000000)

/* A heap as it is written. */
typedef struct paged_heap {
    u64 handle, committed, next; /* the next page to commit */
    u32 site;                    /* offset of the function that allocates from it */
} paged_heap;

static etl_build_at at_time(etl_build *b, u64 ns)
{
    return (etl_build_at){ .ticks = etl_build_ticks_at(b, ns),
                           .pid = SERVER_PID,
                           .tid = SERVER_PID + 4 };
}

static void introduce(etl_build *b)
{
    const etl_build_process_spec process = { .pid = SERVER_PID, .name = "server.exe" };
    const etl_build_image_spec image = { .pid = SERVER_PID,
                                         .base = SERVER_BASE,
                                         .size = 0x10000,
                                         .path = "\\Device\\HarddiskVolume3\\app\\server.exe" };
    etl_build_process(b, at_time(b, 1000), ETL_BUILD_DCSTART, &process);
    etl_build_image(b, at_time(b, 2000), ETL_BUILD_DCSTART, &image);
}

static paged_heap create(etl_build *b, u64 handle, u32 site)
{
    etl_build_heap_create_of(b, at_time(b, 10 * MS), handle,
                             (etl_build_heap_sizes){ PAGES_FIRST_BYTES, PAGES_RESERVED });
    return (paged_heap){ handle, PAGES_FIRST_BYTES, handle + PAGES_FIRST_BYTES, site };
}

/* Commit (0x33) or Decommit (0x34) of pages, for the reason `caller`. */
static void put_pages(etl_build *b, u64 ns, u8 type, u64 heap, u64 address, u64 bytes, u32 caller)
{
    if (!build_ok(b))
        return;
    const etl_build_at at = at_time(b, ns);
    build_begin(b, &at, (u16)(0x1000u | type), ETL_BUILD_HEADER_SYSTEM, 2);
    build_put_pointer(b, heap);
    build_put_pointer(b, address);
    build_put_pointer(b, bytes);
    build_put_u32(b, caller);
    build_end(b, &at);
}

/* Version 4: 72 bytes, of which the last eight are unknown. */
static void put_snapshot(etl_build *b, u64 ns, u64 heap, u64 committed)
{
    if (!build_ok(b))
        return;
    const etl_build_at at = at_time(b, ns);
    build_begin(b, &at, 0x1026, ETL_BUILD_HEADER_SYSTEM, 4);
    build_put_pointer(b, heap);
    build_put_pointer(b, committed / 4); /* free */
    build_put_pointer(b, committed);
    build_put_pointer(b, PAGES_RESERVED);
    build_put_u32(b, 2); /* growable */
    build_put_u32(b, SERVER_PID);
    build_put_pointer(b, 0);
    build_put_u32(b, 5); /* lengths of the free list and the uncommitted list */
    build_put_u32(b, 1);
    build_put_pointer(b, committed - committed / 4);
    build_put_u64(b, 0);
    build_end(b, &at);
}

static void put_stack(etl_build *b, etl_build_at at, const paged_heap *heap)
{
    const u64 user[] = { SERVER_BASE + heap->site, SERVER_BASE + 0x1020 };
    etl_build_stack_walk(b, at,
                         &(etl_build_stack){ .user = user, .user_count = ETL_COUNT_OF(user) });
}

static void allocate(etl_build *b, u64 ns, const paged_heap *heap, u64 address)
{
    const etl_build_at at = at_time(b, ns);
    etl_build_heap_alloc(b, at, heap->handle, address, PAGES_BLOCK_BYTES);
    put_stack(b, at, heap);
}

static void put_expand(etl_build *b, u64 ns, const paged_heap *heap, u64 address, u64 committed)
{
    etl_build_heap_resize(
        b, at_time(b, ns), 0x25,
        &(etl_build_heap_extent){
            heap->handle, address, PAGES_COMMIT_BYTES, { committed, PAGES_RESERVED } });
    put_stack(b, at_time(b, ns), heap);
}

static u64 commit(etl_build *b, u64 ns, paged_heap *heap, u64 bytes)
{
    const u64 address = heap->next;
    put_pages(b, ns, 0x33, heap->handle, address, bytes, 2);
    heap->next += bytes;
    heap->committed += bytes;
    return address;
}

static void write_cache(etl_build *b, paged_heap *heap)
{
    for (u32 i = 0; i < 64; i++) {
        const u64 ns = (100 + 20 * i) * MS;
        if (i == 20) /* the Expand comes first */
            put_expand(b, ns - 1000, heap, heap->next, heap->committed + PAGES_COMMIT_BYTES);
        const u64 address = commit(b, ns, heap, PAGES_COMMIT_BYTES);
        if (i == 40)
            put_expand(b, ns + 1000, heap, address, heap->committed);
        for (u32 k = 0; k < 16; k++)
            allocate(b, ns + (k + 2) * 1000, heap, address + k * PAGES_BLOCK_BYTES);
    }
    put_snapshot(b, 1900 * MS, heap->handle, heap->committed);
    for (u32 i = 0; i < 1024; i++) {
        if (i % 16 != 0)
            etl_build_heap_free(b, at_time(b, 2000 * MS + i * 1000), heap->handle,
                                heap->handle + PAGES_FIRST_BYTES + i * PAGES_BLOCK_BYTES);
    }
}

static void write_sessions(etl_build *b, paged_heap *heap)
{
    for (u32 i = 0; i < 48; i++) {
        const u64 ns = (110 + 50 * i) * MS;
        const u64 address = commit(b, ns, heap, PAGES_COMMIT_BYTES);
        for (u32 k = 0; k < 15; k++)
            allocate(b, ns + (k + 2) * 1000, heap, address + k * PAGES_BLOCK_BYTES);
    }
    put_snapshot(b, 2700 * MS, heap->handle, heap->committed + PAGES_UNSEEN_BYTES);
}

static void write_requests(etl_build *b, paged_heap *heap)
{
    allocate(b, 20 * MS, heap, heap->handle);
    for (u32 i = 0; i < 10; i++) {
        const u64 ns = (120 + 250 * i) * MS;
        const u64 address = heap->handle + PAGES_FIRST_BYTES;
        heap->next = address;
        commit(b, ns, heap, PAGES_ROUND_BYTES);
        for (u32 k = 0; k < 20; k++)
            allocate(b, ns + (k + 2) * 1000, heap, address + k * PAGES_BLOCK_BYTES);
        for (u32 k = 0; k < 20; k++)
            etl_build_heap_free(b, at_time(b, ns + 100 * MS + k * 1000), heap->handle,
                                address + k * PAGES_BLOCK_BYTES);
        put_pages(b, ns + 101 * MS, 0x34, heap->handle, address, PAGES_ROUND_BYTES, 13);
        heap->committed -= PAGES_ROUND_BYTES;
    }
}

void scenario_heap_pages(const scenario_run *run, etl_build *b)
{
    (void)run;
    introduce(b);
    /* The pages that Create includes. */
    put_pages(b, 9 * MS, 0x33, PAGES_CACHE, PAGES_CACHE, PAGES_FIRST_BYTES, 1);
    paged_heap cache = create(b, PAGES_CACHE, 0x1180);
    paged_heap sessions = create(b, PAGES_SESSIONS, 0x1280);
    paged_heap requests = create(b, PAGES_REQUESTS, 0x1380);
    write_cache(b, &cache);
    write_sessions(b, &sessions);
    write_requests(b, &requests);
}
