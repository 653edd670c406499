/*
 * etl_build_memory.c - payloads of heap and memory events.
 *
 * In: calls with values. Out: payload bytes in the builder's record. P is the pointer width of the
 * record; structures are byte packed. Invariant: layouts are written from their sources, never from
 * the parser, so that a misreading in one shows as a difference.
 * Sources: kernel MOF and phnt ntwmi.h (ETW_HEAP_EVENT_*, PERFINFO_*), which agree; no recording
 * with these events was at hand when this was written.
 */
#include "etl_build_inside.h"

#define HOOK_HEAP_CREATE   0x1020u
#define HOOK_HEAP_ALLOC    0x1021u
#define HOOK_HEAP_REALLOC  0x1022u
#define HOOK_HEAP_DESTROY  0x1023u
#define HOOK_HEAP_FREE     0x1024u
#define HOOK_HEAP_EXPAND   0x1025u
#define HOOK_HEAP_SNAPSHOT 0x1026u
#define HOOK_HEAP_CONTRACT 0x102Au
#define HOOK_RANGE_RUNDOWN 0x0264u
#define HOOK_VIRTUAL_ALLOC 0x0262u
#define HOOK_VIRTUAL_FREE  0x0263u
#define HOOK_RUNDOWN_START 0x0280u
#define HOOK_RUNDOWN_END   0x0281u
#define HOOK_MEMINFO       0x0270u
#define HOOK_MEMINFO_WS    0x027Du

#define HEAP_GROWABLE 0x2u
#define SOURCE_LFH    2u
#define SOURCE_MAIN   3u
#define LFH_BYTES_MAX 16384u

static u32 source_of(u64 size);

void etl_build_heap_create(etl_build *b, etl_build_at at, u64 heap)
{
    etl_build_heap_create_of(b, at, heap, (etl_build_heap_sizes){ 0x2000, 0x100000 });
}

void etl_build_heap_create_of(etl_build *b, etl_build_at at, u64 heap, etl_build_heap_sizes sizes)
{
    if (!build_ok(b))
        return;
    build_begin(b, &at, HOOK_HEAP_CREATE, ETL_BUILD_HEADER_SYSTEM, 3);
    build_put_pointer(b, heap);
    build_put_u32(b, HEAP_GROWABLE);
    if (build_version(&at, 3) >= 3) {
        build_put_pointer(b, sizes.reserved);
        build_put_pointer(b, sizes.committed);
        build_put_pointer(b, 0x6D0); /* allocated */
    }
    build_end(b, &at);
}

void etl_build_heap_alloc(etl_build *b, etl_build_at at, u64 heap, u64 address, u64 size)
{
    if (!build_ok(b))
        return;
    build_begin(b, &at, HOOK_HEAP_ALLOC, ETL_BUILD_HEADER_SYSTEM, 2);
    build_put_pointer(b, heap);
    build_put_pointer(b, size);
    build_put_pointer(b, address);
    build_put_u32(b, source_of(size));
    build_end(b, &at);
}

static u32 source_of(u64 size)
{
    return size < LFH_BYTES_MAX ? SOURCE_LFH : SOURCE_MAIN;
}

void etl_build_heap_free(etl_build *b, etl_build_at at, u64 heap, u64 address)
{
    if (!build_ok(b))
        return;
    build_begin(b, &at, HOOK_HEAP_FREE, ETL_BUILD_HEADER_SYSTEM, 2);
    build_put_pointer(b, heap);
    build_put_pointer(b, address);
    build_put_u32(b, SOURCE_LFH);
    build_end(b, &at);
}

void etl_build_heap_realloc(etl_build *b, etl_build_at at, u64 heap,
                            const etl_build_realloc *change)
{
    if (!build_ok(b))
        return;
    build_begin(b, &at, HOOK_HEAP_REALLOC, ETL_BUILD_HEADER_SYSTEM, 2);
    build_put_pointer(b, heap);
    build_put_pointer(b, change->new_address);
    build_put_pointer(b, change->old_address);
    build_put_pointer(b, change->new_size);
    build_put_pointer(b, change->old_size);
    build_put_u32(b, source_of(change->new_size));
    build_end(b, &at);
}

void etl_build_heap_destroy(etl_build *b, etl_build_at at, u64 heap)
{
    if (!build_ok(b))
        return;
    build_begin(b, &at, HOOK_HEAP_DESTROY, ETL_BUILD_HEADER_SYSTEM, 2);
    build_put_pointer(b, heap);
    build_end(b, &at);
}

void etl_build_heap_expand(etl_build *b, etl_build_at at, u64 heap, u64 address, u64 size)
{
    etl_build_heap_resize(
        b, at, HOOK_HEAP_EXPAND & 0xFF,
        &(etl_build_heap_extent){ heap, address, size, { size + 0x2000, 0x100000 } });
}

void etl_build_heap_contract(etl_build *b, etl_build_at at, u64 heap, u64 address, u64 size)
{
    etl_build_heap_resize(
        b, at, HOOK_HEAP_CONTRACT & 0xFF,
        &(etl_build_heap_extent){ heap, address, size, { size + 0x2000, 0x100000 } });
}

/* The size comes before the address here. */
void etl_build_heap_resize(etl_build *b, etl_build_at at, u8 type,
                           const etl_build_heap_extent *extent)
{
    if (!build_ok(b))
        return;
    build_begin(b, &at, (u16)(HOOK_HEAP_CREATE & 0xFF00) | type, ETL_BUILD_HEADER_SYSTEM, 3);
    build_put_pointer(b, extent->heap);
    build_put_pointer(b, extent->size);
    build_put_pointer(b, extent->address);
    build_put_pointer(b, 0x1800); /* free */
    build_put_pointer(b, extent->sizes.committed);
    build_put_pointer(b, extent->sizes.reserved);
    build_put_u32(b, 1); /* uncommitted ranges */
    if (build_version(&at, 3) >= 3)
        build_put_pointer(b, extent->size);
    build_end(b, &at);
}

void etl_build_heap_snapshot(etl_build *b, etl_build_at at, u64 heap, u32 owner_pid,
                             u64 committed_bytes)
{
    if (!build_ok(b))
        return;
    build_begin(b, &at, HOOK_HEAP_SNAPSHOT, ETL_BUILD_HEADER_SYSTEM, 3);
    build_put_pointer(b, heap);
    build_put_pointer(b, committed_bytes / 4); /* free space */
    build_put_pointer(b, committed_bytes);
    build_put_pointer(b, committed_bytes * 2); /* reserved space */
    build_put_u32(b, HEAP_GROWABLE);
    build_put_u32(b, owner_pid);
    build_put_pointer(b, 0); /* large uncommitted space */
    build_put_u32(b, 17);    /* lengths of the free list and the uncommitted list */
    build_put_u32(b, 1);
    if (build_version(&at, 3) >= 3)
        build_put_pointer(b, committed_bytes - committed_bytes / 4);
    build_end(b, &at);
}

void etl_build_heap_other(etl_build *b, etl_build_at at, u8 type, u64 heap)
{
    /* Bytes after the handle, as (pointers, others); a type not listed has none. */
    static const struct {
        u8 type;
        u8 pointers;
        u8 others;
    } rests[] = {
        { 0x27, 0, 4 }, { 0x29, 5, 4 }, { 0x2F, 3, 0 }, { 0x30, 3, 0 }, { 0x31, 3, 0 },
        { 0x32, 3, 0 }, { 0x33, 2, 4 }, { 0x34, 2, 4 }, { 0x35, 3, 4 }, { 0x36, 0, 4 },
        { 0x38, 1, 0 }, { 0x39, 1, 4 }, { 0x3A, 1, 4 },
    };
    if (!build_ok(b))
        return;
    build_begin(b, &at, (u16)(0x1000u | type), ETL_BUILD_HEADER_SYSTEM, 2);
    build_put_pointer(b, heap);
    for (size_t i = 0; i < ETL_COUNT_OF(rests); i++) {
        if (rests[i].type == type)
            build_put_zeros(b, (size_t)rests[i].pointers * b->put.pointer_bytes + rests[i].others);
    }
    build_end(b, &at);
}

void etl_build_heap_range_rundown(etl_build *b, etl_build_at at, u64 heap,
                                  const etl_build_range *ranges, u32 count)
{
    if (!build_ok(b))
        return;
    build_begin(b, &at, HOOK_RANGE_RUNDOWN, ETL_BUILD_HEADER_SYSTEM, 3);
    build_put_pointer(b, heap);
    build_put_u32(b, HEAP_GROWABLE);
    build_put_u32(b, at.pid);
    build_put_u32(b, count);
    if (build_version(&at, 3) >= 3)
        build_put_u32(b, 0); /* reserved; version 2 has no such field */
    for (u32 i = 0; i < count; i++) {
        build_put_pointer(b, ranges[i].address);
        build_put_pointer(b, ranges[i].size);
    }
    build_end(b, &at);
}

void etl_build_heap_range(etl_build *b, etl_build_at at, u8 type, u64 heap, etl_build_range range)
{
    if (!build_ok(b))
        return;
    build_begin(b, &at, (u16)(0x0200u | type), ETL_BUILD_HEADER_SYSTEM, 2);
    build_put_pointer(b, heap);
    if (type == 0x65) {
        build_put_pointer(b, range.size);
        build_put_u32(b, HEAP_GROWABLE);
    } else if (type == 0x66 || type == 0x67) {
        build_put_pointer(b, range.address);
        build_put_pointer(b, range.size);
    }
    build_end(b, &at);
}

void etl_build_virtual_alloc(etl_build *b, etl_build_at at, u64 base, u64 size, u32 flags)
{
    etl_build_virtual(b, at,
                      &(etl_build_virtual_spec){ .hook = HOOK_VIRTUAL_ALLOC,
                                                 .base = base,
                                                 .size = size,
                                                 .flags = flags,
                                                 .owner_pid = at.pid });
}

void etl_build_virtual_free(etl_build *b, etl_build_at at, u64 base, u64 size, u32 flags)
{
    etl_build_virtual(b, at,
                      &(etl_build_virtual_spec){ .hook = HOOK_VIRTUAL_FREE,
                                                 .base = base,
                                                 .size = size,
                                                 .flags = flags,
                                                 .owner_pid = at.pid });
}

void etl_build_virtual(etl_build *b, etl_build_at at, const etl_build_virtual_spec *spec)
{
    if (!build_ok(b))
        return;
    const bool is_rundown = spec->hook == HOOK_RUNDOWN_START || spec->hook == HOOK_RUNDOWN_END;
    const bool tidless = is_rundown || b->session.options.virtual_alloc_without_tid;
    build_begin(b, &at, spec->hook, tidless ? ETL_BUILD_HEADER_PERFINFO : ETL_BUILD_HEADER_SYSTEM,
                2);
    build_put_pointer(b, spec->base);
    build_put_pointer(b, spec->size);
    build_put_u32(b, spec->owner_pid);
    build_put_u32(b, spec->flags);
    if (is_rundown)
        build_put_pointer(b, spec->commit_bytes);
    build_end(b, &at);
}

void etl_build_meminfo(etl_build *b, etl_build_at at, const u64 *values, u32 count)
{
    if (!build_ok(b))
        return;
    build_begin(b, &at, HOOK_MEMINFO, ETL_BUILD_HEADER_PERFINFO, 2);
    for (u32 i = 0; i < count; i++)
        build_put_pointer(b, values[i]);
    build_end(b, &at);
}

void etl_build_meminfo_ws(etl_build *b, etl_build_at at, const etl_build_working_set *rows,
                          u32 count)
{
    if (!build_ok(b))
        return;
    build_begin(b, &at, HOOK_MEMINFO_WS, ETL_BUILD_HEADER_PERFINFO, 2);
    build_put_u32(b, count);
    for (u32 i = 0; i < count; i++) {
        build_put_u32(b, rows[i].pid);
        build_put_pointer(b, rows[i].working_set_pages);
        build_put_pointer(b, rows[i].commit_pages);
        build_put_pointer(b, rows[i].virtual_pages);
        build_put_pointer(b, rows[i].private_pages);
        if (build_version(&at, 2) >= 2)
            build_put_zeros(b, (size_t)4 * b->put.pointer_bytes); /* store, commit debt, shared */
    }
    build_end(b, &at);
}
