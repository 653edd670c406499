/*
 * lean.h - a fast path for the most frequent records of a heap trace.
 *
 * Nearly all records of a heap trace are of a few kinds: an allocation, a free, and the stack of an
 * allocation, as frames or as a key. record.c and decode.c read them like all others, into an
 * etl_record and then into an etl_event, which costs several times what the few fields need. The
 * functions here recognize such a record by its first 8 bytes and read the fields directly from the
 * buffer:
 *
 *     etl_cursor c = etl_lean_begin(&buffer);
 *     for (u64 prefix; (prefix = etl_lean_prefix(c)) != 0; etl_lean_step(&c, prefix)) {
 *         if (!etl_lean_is_heap(prefix) || !etl_lean_read_heap(c, prefix, &heap))
 *             break;
 *         ticks = heap.ticks;
 *     }
 *     etl_lean_end(&buffer, c, ticks);    // continue with etl_record_next()
 *
 * They accept only plain records: with the header that these events have on a 64-bit system, no
 * extra words, a known version, a complete payload, and not at the very end of a buffer. They leave
 * all others to etl_record_next() and etl_decode(), which give the same result for plain records.
 * Because those two count times that go back, the caller must leave such records to them.
 */
#ifndef ETL_LEAN_H
#define ETL_LEAN_H

#include "parser/cursor.h"
#include "layout.h"
#include "layout_events.h"

/*
 * A kind of record, as its first 8 bytes without size and version (layout.h): hook id, marker and
 * header type. Of the version word, the flags and all but the two lowest bits of the version
 * remain, and must be 0.
 */
#define ETL_LEAN_VERSION_MASK 0x0003u
#define ETL_LEAN_SORT_MASK    (~((u64)0xffff << 32 | ETL_LEAN_VERSION_MASK))
#define ETL_LEAN_SORT(hook, type)                                                                  \
    ((u64)(hook) << 48 | (u64)ETL_MARKER_EVENT << 24 | (u64)(type) << 16)

#define ETL_LEAN_ALLOC     ETL_LEAN_SORT(ETL_HOOK_HEAP_ALLOC, ETL_TYPE_SYSTEM64)
#define ETL_LEAN_FREE      ETL_LEAN_SORT(ETL_HOOK_HEAP_FREE, ETL_TYPE_SYSTEM64)
#define ETL_LEAN_STACK     ETL_LEAN_SORT(ETL_HOOK_STACK, ETL_TYPE_PERFINFO64)
#define ETL_LEAN_STACK_KEY ETL_LEAN_SORT(ETL_HOOK_STACK_KEY_USER, ETL_TYPE_PERFINFO64)

/* The newest versions: 3 for heap events, which the mask allows; 2 for the others. */
#define ETL_LEAN_STACK_VERSION_MAX 2u

/* The smallest sizes: the header, the 8-byte pointers of the payload, and the rest of it. */
#define ETL_LEAN_ALLOC_BYTES     (ETL_SYSTEM_BYTES + 3 * 8 + 4)
#define ETL_LEAN_FREE_BYTES      (ETL_SYSTEM_BYTES + 2 * 8 + 4)
#define ETL_LEAN_STACK_BYTES     (ETL_PERFINFO_BYTES + 16 + 8)
#define ETL_LEAN_STACK_KEY_BYTES ETL_LEAN_STACK_BYTES

/* If fewer bytes are left in the buffer, no record counts as plain. So every kind can be read with
 * the loads of the longest, and its padding exists. */
#define ETL_LEAN_LEFT_MIN 80u

static_assert(ETL_LEAN_LEFT_MIN >= ETL_LEAN_ALLOC_BYTES + ETL_RECORD_ALIGNMENT, "room for all");

/* Prefetch distance: far enough for memory to keep up, near enough to stay in the cache. */
#define ETL_LEAN_AHEAD_BYTES 1024u

/* Heap/Alloc or Heap/Free. */
typedef struct etl_lean_heap {
    i64 ticks;
    u64 heap_handle;
    u64 address;
    u64 size_bytes; /* 0 for a free */
    u32 pid, tid;
    bool is_alloc;
} etl_lean_heap;

/* A stack walk, or the key of a user part. */
typedef struct etl_lean_stack {
    i64 ticks;
    i64 event_ticks;
    const u8 *frames; /* 8 bytes each, at least one; NULL for a key */
    u64 key;          /* for a key */
    u32 frame_count;
    u32 pid, tid;
} etl_lean_stack;

/* A cursor over the rest of the buffer. */
static inline etl_cursor etl_lean_begin(const etl_buffer *buffer)
{
    return (etl_cursor){ buffer->base + buffer->at, buffer->end - buffer->at };
}

/* Moves the buffer to the cursor; `ticks` is the time of the last record. */
static inline void etl_lean_end(etl_buffer *buffer, etl_cursor c, i64 ticks)
{
    buffer->at = buffer->end - (u32)c.left;
    buffer->ticks_previous = ticks;
}

/* The first 8 bytes of the next record; 0, which is not a kind, near the end of the buffer. */
static inline u64 etl_lean_prefix(etl_cursor c)
{
    return c.left < ETL_LEAN_LEFT_MIN ? 0 : etl_u64(&c);
}

static inline u32 etl_lean_size(u64 prefix)
{
    return (u16)(prefix >> 32);
}

/* Moves past a record that was read, and prefetches. */
static inline void etl_lean_step(etl_cursor *c, u64 prefix)
{
    etl_skip(c, (etl_lean_size(prefix) + ETL_RECORD_ALIGNMENT - 1) & ~(ETL_RECORD_ALIGNMENT - 1));
    if (c->left > ETL_LEAN_AHEAD_BYTES)
        __builtin_prefetch(c->at + ETL_LEAN_AHEAD_BYTES);
}

static inline bool etl_lean_is_alloc(u64 prefix)
{
    return (prefix & ETL_LEAN_SORT_MASK) == ETL_LEAN_ALLOC;
}

/* True for allocations and frees, whose order a branch could not predict. */
static inline bool etl_lean_is_heap(u64 prefix)
{
    const bool is_free = (prefix & ETL_LEAN_SORT_MASK) == ETL_LEAN_FREE;
    return etl_lean_is_alloc(prefix) | is_free;
}

static inline bool etl_lean_is_stack(u64 prefix)
{
    return (prefix & ETL_LEAN_SORT_MASK) == ETL_LEAN_STACK &&
           (prefix & ETL_LEAN_VERSION_MASK) <= ETL_LEAN_STACK_VERSION_MAX;
}

static inline bool etl_lean_is_stack_key(u64 prefix)
{
    return (prefix & ETL_LEAN_SORT_MASK) == ETL_LEAN_STACK_KEY &&
           (prefix & ETL_LEAN_VERSION_MASK) <= ETL_LEAN_STACK_VERSION_MAX;
}

/* True if the record has at least `least` bytes, and it and its padding are in the buffer. One
 * comparison, because a size below `least` wraps around to a huge one. */
static inline bool etl_lean_fits(etl_cursor c, u64 prefix, u32 least)
{
    return (u64)etl_lean_size(prefix) - least <= c.left - least - (ETL_RECORD_ALIGNMENT - 1);
}

/* Reads both kinds on one path without branches. For a free, which is 8 bytes shorter, the bytes
 * after it are read too and ignored. False: not plain. */
static inline bool etl_lean_read_heap(etl_cursor c, u64 prefix, etl_lean_heap *out)
{
    const bool is_alloc = etl_lean_is_alloc(prefix);
    const u32 least = ETL_LEAN_FREE_BYTES + (ETL_LEAN_ALLOC_BYTES - ETL_LEAN_FREE_BYTES) * is_alloc;
    if (!etl_need(&c, ETL_LEAN_LEFT_MIN) || !etl_lean_fits(c, prefix, least))
        return false;
    etl_skip(&c, ETL_RECORD_PREFIX_BYTES);
    out->tid = etl_u32(&c);
    out->pid = etl_u32(&c);
    out->ticks = (i64)etl_u64(&c);
    etl_skip(&c, ETL_SYSTEM_BYTES - ETL_COMPACT_BYTES); /* processor times */
    out->heap_handle = etl_u64(&c);
    const u64 first = etl_u64(&c);  /* the size; for a free: the address */
    const u64 second = etl_u64(&c); /* the address */
    const u64 alloc_bits = 0 - (u64)is_alloc;
    out->size_bytes = first & alloc_bits;
    out->address = (second & alloc_bits) | (first & ~alloc_bits);
    out->is_alloc = is_alloc;
    return true;
}

/* Reads the common part of both kinds, and moves the cursor past it. */
static inline bool etl_lean_read_stack_head(etl_cursor *c, u64 prefix, etl_lean_stack *out)
{
    if (!etl_need(c, ETL_LEAN_LEFT_MIN) || !etl_lean_fits(*c, prefix, ETL_LEAN_STACK_BYTES))
        return false;
    etl_skip(c, ETL_RECORD_PREFIX_BYTES);
    out->ticks = (i64)etl_u64(c);
    out->event_ticks = (i64)etl_u64(c);
    out->pid = etl_u32(c);
    out->tid = etl_u32(c);
    return true;
}

/* Reads the frames, including zeros at the outer end, which etl_decode() leaves out. False: not
 * plain. */
static inline bool etl_lean_read_stack(etl_cursor c, u64 prefix, etl_lean_stack *out)
{
    if (!etl_lean_read_stack_head(&c, prefix, out))
        return false;
    out->frame_count = (etl_lean_size(prefix) - (ETL_LEAN_STACK_BYTES - 8)) / 8;
    out->frames = etl_take(&c, (size_t)out->frame_count * 8);
    out->key = 0;
    return true;
}

static inline bool etl_lean_read_stack_key(etl_cursor c, u64 prefix, etl_lean_stack *out)
{
    if (!etl_lean_read_stack_head(&c, prefix, out))
        return false;
    out->key = etl_u64(&c);
    out->frames = NULL;
    out->frame_count = 0;
    return true;
}

#endif
